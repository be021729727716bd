/**
 * Splits conversations with the same beginning. The common messages are the prompt. The last turn of each conversation
 * is a completion. A conversation is a list of messages, or a transcript as in hh-rlhf (Bai et al. 2022). Text in
 * another form is refused, although TRL's `extract_prompt` would split the text at the first difference.
 */
import { Array as Arr, Option, Result } from "effect"
import type { Message, Prompt } from "../../domain/Message.ts"
import { describeValue } from "../../io/Values.ts"
import * as CellText from "../item/CellText.ts"
import * as Messages from "../item/Messages.ts"

export interface Shared {
  readonly prompt: Arr.NonEmptyReadonlyArray<Message>
  readonly completions: ReadonlyArray<Prompt>
}

export const split = (
  conversations: ReadonlyArray<unknown>,
  names: ReadonlyArray<string>,
  isTextual = false,
): Result.Result<Shared, string> => {
  const all: Array<ReadonlyArray<Message>> = []
  for (const [i, conversation] of conversations.entries()) {
    const messages = Result.flatMap(CellText.read(conversation, names[i]!, isTextual), (value) =>
      decode(value, names[i]!),
    )
    if (Result.isFailure(messages)) return Result.fail(messages.failure)
    const { length } = messages.success
    const last = messages.success[length - 1]
    if (last?.role !== "assistant") {
      return Result.fail(
        `${names[i]}: expected the last message to have the role assistant, found the role ${describeValue(last?.role)}`,
      )
    }
    all.push(messages.success)
  }
  const [first = [], ...others] = all
  const shortest = all.reduce((minimum, { length }) => Math.min(minimum, length), Infinity)
  let sharedCount = 0
  while (
    sharedCount < shortest - 1 &&
    others.every((other) => Messages.isEqual(first[sharedCount]!, other[sharedCount]))
  )
    sharedCount++
  while (sharedCount > 0 && all.some((messages) => messages[sharedCount]?.role === "tool")) sharedCount--
  const prompt = first.slice(0, sharedCount)
  if (!Arr.isReadonlyArrayNonEmpty(prompt)) {
    return Result.fail(
      `${names.join(", ")}: expected conversations that begin with the same messages (the prompt), found no common prompt`,
    )
  }
  const turns = all.map((messages) => Messages.toTurn(messages.slice(prompt.length)))
  const differing = turns.findIndex(Option.isNone)
  return differing === -1
    ? Result.succeed({ prompt, completions: Arr.getSomes(turns) })
    : Result.fail(
        `${names[differing]}: expected conversations that differ only in the last message, found a difference in message ${prompt.length + 1} of ${all[differing]!.length}`,
      )
}

const decode = (value: unknown, name: string): Result.Result<ReadonlyArray<Message>, string> => {
  if (Array.isArray(value)) return Messages.decode(value, name)
  const messages = typeof value === "string" ? parseTranscript(value) : undefined
  return messages === undefined
    ? Result.fail(`${name}: expected a whole conversation (no prompt is set), found ${describeValue(value)}`)
    : Result.succeed(messages)
}

export const isConversation = (value: unknown): boolean =>
  Messages.isList(value) ? value.length > 1 : typeof value === "string" && transcriptBegins.test(value)

const transcriptBegins = /^\s*(?:Human|Assistant):[^]*?\n\n(?:Human|Assistant):/

const parseTranscript = (text: string): ReadonlyArray<Message> | undefined => {
  if (!transcriptBegins.test(text)) return undefined
  const parts = `\n\n${text.trimStart()}`.split(/\n\n(Human|Assistant): ?/)
  const messages: Array<Message> = []
  for (let i = 1; i < parts.length; i += 2) {
    messages.push({ role: parts[i] === "Human" ? "user" : "assistant", content: parts[i + 1]! })
  }
  return messages
}
