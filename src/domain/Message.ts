/**
 * Prompts: text, or conversations as messages with roles; and what messages say of tools.
 *
 * Guarantees: a decoded conversation has at least one message, and no text with a lone surrogate. The arguments of a call
 * are kept as the text of a JSON object, so that digits and the order of members stay.
 */
import { Schema } from "effect"
import { NonBlankText, WellFormedText } from "./Text.ts"

/** Whether a text is a JSON object. */
export const isJsonObject = (text: string): boolean => {
  const value = parseJson(text)
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

const parseJson = (text: string): unknown => {
  const parsed = decodeJson(text)
  return parsed._tag === "Some" ? parsed.value : undefined
}

const ArgumentsText = WellFormedText.check(
  Schema.makeFilter((text) =>
    isJsonObject(text) ? undefined : "expected a JSON object or its text, found another text",
  ),
)

/** A call of a function, as OpenAI and TRL have it. */
export const ToolCall = Schema.Struct({
  /** By which a result names the call. */
  id: Schema.optionalKey(NonBlankText),
  type: Schema.Literal("function"),
  function: Schema.Struct({
    name: NonBlankText,
    /** The text of a JSON object, as the input has it. */
    arguments: ArgumentsText,
  }),
})
export type ToolCall = typeof ToolCall.Type

/** One turn. Usual roles: `system`, `user`, `assistant`, `tool`. */
export const Message = Schema.Struct({
  /** Any name, as the input has it. */
  role: WellFormedText,
  /** May be blank, but not all messages of a prompt. */
  content: WellFormedText,
  /** What the assistant calls. */
  tool_calls: Schema.optionalKey(Schema.NonEmptyArray(ToolCall)),
  /** Of a message with the role `tool`: which tool it is the result of. */
  name: Schema.optionalKey(NonBlankText),
  /** Of a message with the role `tool`: which call it is the result of. */
  tool_call_id: Schema.optionalKey(NonBlankText),
}).check(
  Schema.makeFilter(({ name, role, tool_call_id, tool_calls }) => {
    if (tool_calls !== undefined && role !== "assistant") return "expected calls of the assistant alone"
    return (name !== undefined || tool_call_id !== undefined) && role !== "tool"
      ? "expected name and tool_call_id in messages of a tool alone"
      : undefined
  }),
)
export type Message = typeof Message.Type

/** Whether a message says more than its role and its content. */
export const usesTools = ({ name, tool_call_id, tool_calls }: Message): boolean =>
  tool_calls !== undefined || name !== undefined || tool_call_id !== undefined

/** Plain text, or a conversation whose next turn is the completion. */
export const Prompt = Schema.Union([WellFormedText, Schema.NonEmptyArray(Message)])
export type Prompt = typeof Prompt.Type
