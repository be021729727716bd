/**
 * Decodes conversations into messages of `role` and `content`: also ShareGPT's `{from, value}`, and contents that are
 * lists of text parts.
 *
 * Guarantees: a message with content besides its text (`tool_calls`, `name`, an image) is refused, unless that member
 * is empty or known to be metadata (`KnownNames.aboutMessages`).
 */
import { Array as Arr, Result } from "effect"
import type { Message, Prompt } from "../../domain/Message.ts"
import * as FieldPath from "../../io/FieldPath.ts"
import * as KnownNames from "../record/KnownNames.ts"
import { describeValue, isObject } from "../../io/Values.ts"

type Messages = Arr.NonEmptyReadonlyArray<Message>

/** Whether a value is meant as a list of messages, though they may be faulty. */
export const isList = (value: unknown): value is ReadonlyArray<unknown> =>
  Array.isArray(value) && value.length > 0 && value.every(isMessageLike)

export const isMessageLike = (value: unknown): boolean =>
  isObject(value) &&
  ((Object.hasOwn(value, "role") && Object.hasOwn(value, "content")) ||
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
  const role = member(value, roleName)
  if (typeof role !== "string") return Result.fail(`${path}.${roleName}: expected text, found ${describeValue(role)}`)
  for (const [name, other] of Object.entries(value)) {
    if (name !== roleName && name !== contentName && !isSilent(name, other)) {
      return Result.fail(
        `${path}${FieldPath.formatTail([name])}: expected messages of ${roleName} and ${contentName} alone, found ${describeValue(other)}`,
      )
    }
  }
  return Result.map(decodeContent(member(value, contentName), `${path}.${contentName}`), (content) => ({
    role: isShareGpt ? (shareGptRoles.get(role) ?? role) : role,
    content,
  }))
}

const member = (object: { readonly [member: string]: unknown }, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined

const shareGptRoles = new Map([
  ["human", "user"],
  ["gpt", "assistant"],
  ["function", "tool"],
  ["observation", "tool"],
])

const isSilent = (name: string, value: unknown): boolean =>
  KnownNames.aboutMessages.has(name) ||
  value == null ||
  value === "" ||
  (typeof value === "object" && Object.keys(value).length === 0)

const decodeContent = (content: unknown, path: string): Result.Result<string, string> => {
  if (typeof content === "string") return Result.succeed(content)
  if (!Array.isArray(content)) return Result.fail(`${path}: expected text, found ${describeValue(content)}`)
  let text = ""
  for (const [i, part] of content.entries()) {
    if (!isObject(part)) return Result.fail(`${path}[${i}]: expected a part of type text, found ${describeValue(part)}`)
    if (part["type"] !== "text") {
      return Result.fail(`${path}[${i}].type: expected "text", found ${describeValue(part["type"])}`)
    }
    if (typeof part["text"] !== "string") {
      return Result.fail(`${path}[${i}].text: expected text, found ${describeValue(part["text"])}`)
    }
    text += part["text"]
  }
  return Result.succeed(text)
}

/**
 * The text of a completion that is given as messages: the assistant's one turn, or the whole
 * conversation, that is the prompt and this turn. A prompt that is text is then its user's one message.
 */
export const decodeCompletion = (
  values: ReadonlyArray<unknown>,
  prompt: Prompt | undefined,
  path: string,
): Result.Result<string, string> =>
  Result.flatMap(decode(values, path), (messages) => {
    const last = Arr.lastNonEmpty(messages)
    const before = messages.slice(0, -1)
    if (last.role !== "assistant") {
      return Result.fail(
        `${path}[${before.length}]: expected a message of the assistant, found one of ${describeValue(last.role)}`,
      )
    }
    if (before.length === 0 || (prompt !== undefined && isSame(before, prompt))) return Result.succeed(last.content)
    return Result.fail(
      `${path}: expected the prompt's messages and one of the assistant, or the latter alone, found ${messages.length} messages that begin otherwise`,
    )
  })

const isSame = (messages: ReadonlyArray<Message>, prompt: Prompt): boolean => {
  const expected = typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt
  return messages.length === expected.length && messages.every((message, i) => isEqual(message, expected[i]))
}

export const isEqual = (one: Message, other: Message | undefined): boolean =>
  one.role === other?.role && one.content === other.content
