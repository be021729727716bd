/** Decodes messages: `{role, content}`, ShareGPT's `{from, value}`, and LLaMA-Factory's role `function_call`. */
import { Array as Arr, Option, Result } from "effect"
import { type Message, type Prompt, usesTools } from "../../domain/Message.ts"
import * as FieldPath from "../../io/FieldPath.ts"
import * as KnownNames from "../record/KnownNames.ts"
import { describeValue, isObject, memberOf } from "../../io/Values.ts"
import { describeJsonProblem } from "../../io/JsonProblem.ts"
import * as ToolCalls from "./ToolCalls.ts"
import { isBlankValue } from "./ToolCalls.ts"

type Messages = Arr.NonEmptyReadonlyArray<Message>

export const isList = (value: unknown): value is ReadonlyArray<unknown> =>
  Array.isArray(value) && value.length > 0 && value.every(isMessageLike)

export const isMessageLike = (value: unknown): boolean =>
  isObject(value) &&
  ((Object.hasOwn(value, "role") && (Object.hasOwn(value, "content") || Object.hasOwn(value, "tool_calls"))) ||
    (Object.hasOwn(value, "from") && Object.hasOwn(value, "value")))

export const decode = (values: ReadonlyArray<unknown>, path: string): Result.Result<Messages, string> =>
  Result.filterOrFail(
    Result.all(values.map((value, i) => decodeMessage(value, `${path}[${i}]`))),
    Arr.isArrayNonEmpty,
    () => `${path}: expected text or a list of messages, found an empty array`,
  )

const decodeMessage = (value: unknown, path: string): Result.Result<Message, string> => {
  if (!isObject(value)) return Result.fail(`${path}: expected a message, found ${describeValue(value)}`)
  const isShareGpt = !Object.hasOwn(value, "role") && Object.hasOwn(value, "from")
  const [roleName, contentName] = isShareGpt ? ["from", "value"] : ["role", "content"]
  const author = memberOf(value, roleName)
  if (typeof author !== "string")
    return Result.fail(`${path}.${roleName}: expected text, found ${describeValue(author)}`)
  const role = isShareGpt ? (shareGptRoles.get(author) ?? author) : author
  const knownMembers = [roleName, contentName, ...(membersOfRole.get(role) ?? [])]
  for (const [name, other] of Object.entries(value)) {
    if (knownMembers.includes(name) || isIgnorable(name, other)) continue
    return Result.fail(
      `${path}${FieldPath.formatTail([name])}: expected no members besides ${roleName} and ${contentName}, found ${describeValue(other)}`,
    )
  }
  return Result.gen(function* () {
    if (isShareGpt && author === callRole) {
      const calls = yield* ToolCalls.decodeOneOrMore(memberOf(value, contentName), `${path}.${contentName}`)
      return { role, content: "", tool_calls: calls }
    }
    const rawCalls = memberOf(value, "tool_calls")
    const calls =
      role === "assistant" && !isBlankValue(rawCalls)
        ? yield* ToolCalls.decode(rawCalls, `${path}.tool_calls`)
        : undefined
    const content = decodeContent(memberOf(value, contentName), role, `${path}.${contentName}`, calls !== undefined)
    const name = role === "tool" ? yield* ToolCalls.decodeName(memberOf(value, "name"), `${path}.name`) : undefined
    const id =
      role === "tool" ? yield* ToolCalls.decodeName(memberOf(value, "tool_call_id"), `${path}.tool_call_id`) : undefined
    return {
      role,
      content: yield* content,
      ...(calls !== undefined && { tool_calls: calls }),
      ...(name !== undefined && { name }),
      ...(id !== undefined && { tool_call_id: id }),
    }
  })
}

const membersOfRole = new Map([
  ["assistant", ["tool_calls"]],
  ["tool", ["name", "tool_call_id"]],
])

/** In LLaMA-Factory, the role of a turn that only calls tools. Its content is JSON text: a call, or a list of calls. */
const callRole = "function_call"

const shareGptRoles = new Map([
  [callRole, "assistant"],
  ["human", "user"],
  ["gpt", "assistant"],
  ["function", "tool"],
  ["observation", "tool"],
])

const isIgnorable = (name: string, value: unknown): boolean => KnownNames.aboutMessages.has(name) || isBlankValue(value)

const decodeContent = (
  content: unknown,
  role: string,
  path: string,
  hasCalls: boolean,
): Result.Result<string, string> => {
  if (typeof content === "string") return Result.succeed(content)
  if (hasCalls && isBlankValue(content)) return Result.succeed("")
  if (role === "tool" && content !== undefined && content !== null && !isParts(content)) {
    const problem = describeJsonProblem(content, path)
    return problem === undefined ? Result.succeed(JSON.stringify(content)) : Result.fail(problem)
  }
  if (!Array.isArray(content)) return Result.fail(`${path}: expected text, found ${describeValue(content)}`)
  let text = ""
  for (const [i, part] of content.entries()) {
    if (!isObject(part)) return Result.fail(`${path}[${i}]: expected a part of type text, found ${describeValue(part)}`)
    if (part["type"] !== "text") {
      const advice = partTypes.has(part["type"]) ? "; experts cannot be shown images, audio, video, or files" : ""
      return Result.fail(`${path}[${i}].type: expected "text", found ${describeValue(part["type"])}${advice}`)
    }
    const other = Object.entries(part).find(
      ([name, value]) =>
        name !== "type" && name !== "text" && KnownNames.media.test(KnownNames.plain(name)) && !isBlankValue(value),
    )
    if (other !== undefined) {
      const [name, value] = other
      return Result.fail(
        `${path}[${i}]${FieldPath.formatTail([name])}: expected no value (experts cannot be shown images, audio, or video), found ${describeValue(value)}`,
      )
    }
    if (typeof part["text"] !== "string") {
      return Result.fail(`${path}[${i}].text: expected text, found ${describeValue(part["text"])}`)
    }
    text += part["text"]
  }
  return Result.succeed(text)
}

export const ofCompletion = (value: unknown): ReadonlyArray<unknown> | undefined =>
  isList(value) ? value : isMessageLike(value) ? [value] : undefined

const isParts = (content: unknown): boolean =>
  Array.isArray(content) && content.length > 0 && content.every((part) => isObject(part) && partTypes.has(part["type"]))

const partTypes: ReadonlySet<unknown> = new Set(
  "text image image_url input_text input_image input_audio audio audio_url video video_url file refusal".split(" "),
)

export const decodeCompletion = (
  values: ReadonlyArray<unknown>,
  prompt: Prompt | undefined,
  path: string,
): Result.Result<string | Messages, string> =>
  Result.flatMap(decode(values, path), (messages) => {
    const last = Arr.lastNonEmpty(messages)
    if (last.role !== "assistant") {
      return Result.fail(
        `${path}[${messages.length - 1}]: expected a message with the role assistant, found the role ${describeValue(last.role)}`,
      )
    }
    const turnMessages = prompt === undefined ? messages : withoutPrompt(prompt, messages)
    return Option.match(toTurn(turnMessages), {
      onSome: (turn) => Result.succeed(turn),
      onNone: () =>
        Result.fail(
          `${path}: expected either the assistant's turn alone, or the prompt followed by the assistant's turn, found ${messages.length} messages that match neither`,
        ),
    })
  })

const withoutPrompt = (prompt: Prompt, messages: Messages): ReadonlyArray<Message> => {
  const first = ofPrompt(prompt)
  return beginsWith(messages, first) ? messages.slice(first.length) : messages
}

export const toTurn = (messages: ReadonlyArray<Message>): Option.Option<string | Messages> => {
  const [first, ...others] = messages
  if (first === undefined || first.role !== "assistant") return Option.none()
  if (others.length === 0 && first.tool_calls === undefined) return Option.some(first.content)
  const isTurn = messages.every(({ role }) => role === "assistant" || role === "tool") && messages.some(usesTools)
  return isTurn && messages.at(-1)!.role === "assistant" ? Option.some([first, ...others]) : Option.none()
}

export const ofPrompt = (prompt: Prompt): Messages =>
  typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt

export const isSamePrompt = (a: Prompt, b: Prompt): boolean =>
  typeof a === "string" || typeof b === "string" ? a === b : a.length === b.length && beginsWith(a, b)

export const beginsWith = (messages: ReadonlyArray<Message>, first: ReadonlyArray<Message>): boolean =>
  messages.length >= first.length && first.every((message, i) => isEqual(message, messages[i]))

export const isEqual = (a: Message, b: Message | undefined): boolean =>
  a.role === b?.role &&
  a.content === b.content &&
  a.name === b.name &&
  a.tool_call_id === b.tool_call_id &&
  (a.tool_calls === b.tool_calls || JSON.stringify(a.tool_calls) === JSON.stringify(b.tool_calls))
