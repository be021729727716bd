/**
 * Prompts as text or as conversations, and the tool calls of messages. A decoded conversation has no lone surrogate. A
 * call's arguments remain JSON text, which preserves the digits of numbers and the order of members.
 */
import { Option, Predicate, Schema } from "effect"
import { NonBlankText, WellFormedText } from "./Text.ts"

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

export const isJsonObject = (text: string): boolean => Option.exists(decodeJson(text), Predicate.isObject)

const ArgumentsText = WellFormedText.check(
  Schema.makeFilter((text) =>
    isJsonObject(text) ? undefined : "expected a JSON object, or the JSON text of an object, found other text",
  ),
)

/** A function call, in the format of OpenAI and TRL. */
export const ToolCall = Schema.Struct({
  /** The id by which a result refers to the call. */
  id: Schema.optionalKey(NonBlankText),
  /** The only kind of tool. */
  type: Schema.Literal("function"),
  /** The function that is called. */
  function: Schema.Struct({
    name: NonBlankText,
    /** The text of a JSON object, unchanged from the input. */
    arguments: ArgumentsText,
  }),
})
export interface ToolCall extends Schema.Schema.Type<typeof ToolCall> {}

/** One turn of a conversation. Usual roles: `system`, `user`, `assistant`, `tool`. */
export const Message = Schema.Struct({
  /** Any name, unchanged from the input. */
  role: WellFormedText,
  /** The content can be blank, but at least one message of a prompt must have text or tool calls. */
  content: WellFormedText,
  /** The tool calls of the assistant. */
  tool_calls: Schema.optionalKey(Schema.NonEmptyArray<Schema.Codec<ToolCall>>(ToolCall)),
  /** The tool that returned this result; only in messages with the role `tool`. */
  name: Schema.optionalKey(NonBlankText),
  /** The call that this message answers; only in messages with the role `tool`. */
  tool_call_id: Schema.optionalKey(NonBlankText),
}).check(
  Schema.makeFilter(({ name, role, tool_call_id, tool_calls }) => {
    if (tool_calls !== undefined && role !== "assistant")
      return "expected tool calls only in messages with the role assistant"
    return (name !== undefined || tool_call_id !== undefined) && role !== "tool"
      ? "expected the fields `name` and `tool_call_id` only in messages with the role tool"
      : undefined
  }),
)
export type Message = typeof Message.Type

export const usesTools = ({ name, tool_call_id, tool_calls }: Message): boolean =>
  tool_calls !== undefined || name !== undefined || tool_call_id !== undefined

/** Plain text, or a conversation whose next turn is the completion. */
export const Prompt = Schema.Union([WellFormedText, Schema.NonEmptyArray(Message)])
export type Prompt = typeof Prompt.Type
