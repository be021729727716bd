/**
 * Decodes conversations into messages of `role` and `content`, with calls and results of tools: also ShareGPT's
 * `{from, value}`, with LLaMA-Factory's `function_call`, and contents that are lists of text parts.
 *
 * Guarantees: a message with other content (an image, a member `function_call`) is refused, unless that member is
 * empty or known to be metadata (`KnownNames.aboutMessages`).
 */
import { Array as Arr, Option, Result } from "effect"
import { type Message, type Prompt, usesTools } from "../../domain/Message.ts"
import * as FieldPath from "../../io/FieldPath.ts"
import * as KnownNames from "../record/KnownNames.ts"
import { describeValue, isObject } from "../../io/Values.ts"
import { describeJsonProblem } from "../../io/JsonProblem.ts"
import * as ToolCalls from "./ToolCalls.ts"
import { isNothing } from "./ToolCalls.ts"

type Messages = Arr.NonEmptyReadonlyArray<Message>

/** Whether a value is meant as a list of messages, though they may be faulty. */
export const isList = (value: unknown): value is ReadonlyArray<unknown> =>
  Array.isArray(value) && value.length > 0 && value.every(isMessageLike)

export const isMessageLike = (value: unknown): boolean =>
  isObject(value) &&
  ((Object.hasOwn(value, "role") && (Object.hasOwn(value, "content") || Object.hasOwn(value, "tool_calls"))) ||
    (Object.hasOwn(value, "from") && Object.hasOwn(value, "value")))

/** The failure is the reason, and names `path`. */
export const decode = (values: ReadonlyArray<unknown>, path: string): Result.Result<Messages, string> => {
  const messages: Array<Message> = []
  for (const [i, value] of values.entries()) {
    const message = decodeMessage(value, `${path}[${i}]`)
    if (Result.isFailure(message)) return Result.fail(message.failure)
    messages.push(message.success)
  }
  return Arr.isReadonlyArrayNonEmpty(messages)
    ? Result.succeed(messages)
    : Result.fail(`${path}: expected text or a list of messages, found an empty array`)
}

const decodeMessage = (value: unknown, path: string): Result.Result<Message, string> => {
  if (!isObject(value)) return Result.fail(`${path}: expected a message, found ${describeValue(value)}`)
  const isShareGpt = !Object.hasOwn(value, "role") && Object.hasOwn(value, "from")
  const [roleName, contentName] = isShareGpt ? ["from", "value"] : ["role", "content"]
  const said = member(value, roleName)
  if (typeof said !== "string") return Result.fail(`${path}.${roleName}: expected text, found ${describeValue(said)}`)
  const role = isShareGpt ? (shareGptRoles.get(said) ?? said) : said
  const known = [roleName, contentName, ...(membersOfRole.get(role) ?? [])]
  for (const [name, other] of Object.entries(value)) {
    if (known.includes(name) || isSilent(name, other)) continue
    return Result.fail(
      `${path}${FieldPath.formatTail([name])}: expected messages of ${roleName} and ${contentName} alone, found ${describeValue(other)}`,
    )
  }
  return Result.gen(function* () {
    if (isShareGpt && said === callRole) {
      const calls = yield* ToolCalls.decodeOneOrMore(member(value, contentName), `${path}.${contentName}`)
      return { role, content: "", tool_calls: calls }
    }
    const given = member(value, "tool_calls")
    const calls =
      role === "assistant" && !isNothing(given) ? yield* ToolCalls.decode(given, `${path}.tool_calls`) : undefined
    const content = decodeContent(member(value, contentName), role, `${path}.${contentName}`, calls !== undefined)
    const name = role === "tool" ? yield* ToolCalls.decodeName(member(value, "name"), `${path}.name`) : undefined
    const id =
      role === "tool" ? yield* ToolCalls.decodeName(member(value, "tool_call_id"), `${path}.tool_call_id`) : undefined
    return {
      role,
      content: yield* content,
      ...(calls !== undefined && { tool_calls: calls }),
      ...(name !== undefined && { name }),
      ...(id !== undefined && { tool_call_id: id }),
    }
  })
}

/** What messages of a role may have besides their content. */
const membersOfRole = new Map([
  ["assistant", ["tool_calls"]],
  ["tool", ["name", "tool_call_id"]],
])

const member = (object: { readonly [member: string]: unknown }, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined

/** LLaMA-Factory's turn of calls alone: the JSON text of one, or of a list. */
const callRole = "function_call"

const shareGptRoles = new Map([
  [callRole, "assistant"],
  ["human", "user"],
  ["gpt", "assistant"],
  ["function", "tool"],
  ["observation", "tool"],
])

const isSilent = (name: string, value: unknown): boolean => KnownNames.aboutMessages.has(name) || isNothing(value)

/** Next to calls, there may be none. The result of a tool may be any JSON, which is then its text. */
const decodeContent = (
  content: unknown,
  role: string,
  path: string,
  hasCalls: boolean,
): Result.Result<string, string> => {
  if (typeof content === "string") return Result.succeed(content)
  if (hasCalls && isNothing(content)) return Result.succeed("")
  if (role === "tool" && content !== undefined && content !== null && !isParts(content)) {
    const problem = describeJsonProblem(content, path)
    return problem === undefined ? Result.succeed(JSON.stringify(content)) : Result.fail(problem)
  }
  if (!Array.isArray(content)) return Result.fail(`${path}: expected text, found ${describeValue(content)}`)
  let text = ""
  for (const [i, part] of content.entries()) {
    if (!isObject(part)) return Result.fail(`${path}[${i}]: expected a part of type text, found ${describeValue(part)}`)
    if (part["type"] !== "text") {
      const advice = partTypes.has(part["type"]) ? "; experts are not shown pictures, sound, video or files" : ""
      return Result.fail(`${path}[${i}].type: expected "text", found ${describeValue(part["type"])}${advice}`)
    }
    const other = Object.entries(part).find(
      ([name, value]) =>
        name !== "type" && name !== "text" && KnownNames.media.test(KnownNames.plain(name)) && !isNothing(value),
    )
    if (other !== undefined) {
      const [name, value] = other
      return Result.fail(
        `${path}[${i}]${FieldPath.formatTail([name])}: expected no value, since experts are not shown pictures, sound or video, found ${describeValue(value)}`,
      )
    }
    if (typeof part["text"] !== "string") {
      return Result.fail(`${path}[${i}].text: expected text, found ${describeValue(part["text"])}`)
    }
    text += part["text"]
  }
  return Result.succeed(text)
}

/** A completion that is given as messages, or as one; undefined where it is not. */
export const ofCompletion = (value: unknown): ReadonlyArray<unknown> | undefined =>
  isList(value) ? value : isMessageLike(value) ? [value] : undefined

/** A list of parts of a content, as `{type: "text", text: …}`. */
const isParts = (content: unknown): boolean =>
  Array.isArray(content) && content.length > 0 && content.every((part) => isObject(part) && partTypes.has(part["type"]))

const partTypes: ReadonlySet<unknown> = new Set(
  "text image image_url input_text input_image input_audio audio audio_url video video_url file refusal".split(" "),
)

/**
 * A completion that is given as messages: the assistant's one turn, or the whole conversation, that is the prompt and
 * this turn. A prompt that is text is then its user's one message. The turn is text or, where it calls tools, messages:
 * the calls, with their results and what follows them.
 */
export const decodeCompletion = (
  values: ReadonlyArray<unknown>,
  prompt: Prompt | undefined,
  path: string,
): Result.Result<string | Messages, string> =>
  Result.flatMap(decode(values, path), (messages) => {
    const last = Arr.lastNonEmpty(messages)
    if (last.role !== "assistant") {
      return Result.fail(
        `${path}[${messages.length - 1}]: expected a message of the assistant, found one of ${describeValue(last.role)}`,
      )
    }
    const own = prompt === undefined ? messages : after(prompt, messages)
    return Option.match(toTurn(own), {
      onSome: (turn) => Result.succeed(turn),
      onNone: () =>
        Result.fail(
          `${path}: expected the prompt's messages and one of the assistant, or the latter alone, found ${messages.length} messages that begin otherwise`,
        ),
    })
  })

/** The messages without those of the prompt, if they begin with these. */
const after = (prompt: Prompt, messages: Messages): ReadonlyArray<Message> => {
  const { length } = typeof prompt === "string" ? [prompt] : prompt
  return isSame(messages.slice(0, length), prompt) ? messages.slice(length) : messages
}

/** The assistant's turn: text or, where it calls tools, messages. None where the messages are more than a turn. */
export const toTurn = (messages: ReadonlyArray<Message>): Option.Option<string | Messages> => {
  const [first, ...others] = messages
  if (first === undefined || first.role !== "assistant") return Option.none()
  if (others.length === 0 && first.tool_calls === undefined) return Option.some(first.content)
  const isTurn = messages.every(({ role }) => role === "assistant" || role === "tool") && messages.some(usesTools)
  return isTurn && messages.at(-1)!.role === "assistant" ? Option.some([first, ...others]) : Option.none()
}

const isSame = (messages: ReadonlyArray<Message>, prompt: Prompt): boolean => {
  const expected = typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt
  return messages.length === expected.length && messages.every((message, i) => isEqual(message, expected[i]))
}

export const isEqual = (one: Message, other: Message | undefined): boolean =>
  one.role === other?.role &&
  one.content === other.content &&
  one.name === other.name &&
  one.tool_call_id === other.tool_call_id &&
  (one.tool_calls === other.tool_calls || JSON.stringify(one.tool_calls) === JSON.stringify(other.tool_calls))
