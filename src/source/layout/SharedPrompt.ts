/**
 * The prompt of completions that are whole conversations: the messages with which all of them begin.
 *
 * Guarantees: one turn of the assistant is left of each: one message or, where it calls tools, all from its first one on.
 * Conversations that differ earlier are refused. A conversation is
 * a list of messages or a transcript as in Anthropic's hh-rlhf (`\n\nHuman: …\n\nAssistant: …`; Bai et al. 2022, Training a
 * Helpful and Harmless Assistant with Reinforcement Learning from Human Feedback). Other text is refused, where TRL's
 * `extract_prompt` splits at the first character that differs.
 */
import { Array as Arr, Option, Result } from "effect"
import type { Message, Prompt } from "../../domain/Message.ts"
import { describeValue } from "../../io/Values.ts"
import * as CellText from "../item/CellText.ts"
import * as Messages from "../item/Messages.ts"

export interface Shared {
  readonly prompt: Arr.NonEmptyReadonlyArray<Message>
  /** Text, or the messages of one that calls tools. */
  readonly completions: ReadonlyArray<Prompt>
}

/**
 * The failure is the reason, and names one of the conversations.
 *
 * @param names of the conversations, in their order
 */
export const split = (
  conversations: ReadonlyArray<unknown>,
  names: ReadonlyArray<string>,
  isTextual = false,
): Result.Result<Shared, string> => {
  const all: Array<ReadonlyArray<Message>> = []
  for (const [i, conversation] of conversations.entries()) {
    const messages = Result.flatMap(CellText.read(conversation, names[i]!, isTextual), (said) =>
      decode(said, names[i]!),
    )
    if (Result.isFailure(messages)) return Result.fail(messages.failure)
    const { length } = messages.success
    const last = messages.success[length - 1]
    if (last?.role !== "assistant") {
      return Result.fail(
        `${names[i]}: expected the assistant's message at the end, found one of ${describeValue(last?.role)}`,
      )
    }
    all.push(messages.success)
  }
  const [first = [], ...others] = all
  const shortest = all.reduce((least, { length }) => Math.min(least, length), Infinity)
  let shared = 0
  while (shared < shortest - 1 && others.every((other) => Messages.isEqual(first[shared]!, other[shared]))) shared++
  // A turn begins with what the assistant says, not with the result of its call.
  while (shared > 0 && all.some((messages) => messages[shared]?.role === "tool")) shared--
  const prompt = first.slice(0, shared)
  if (!Arr.isReadonlyArrayNonEmpty(prompt)) {
    return Result.fail(`${names.join(", ")}: expected conversations with the same beginning, found different ones`)
  }
  const turns = all.map((messages) => Messages.toTurn(messages.slice(prompt.length)))
  const later = turns.findIndex(Option.isNone)
  return later === -1
    ? Result.succeed({ prompt, completions: Arr.getSomes(turns) })
    : Result.fail(
        `${names[later]}: expected conversations that differ in the last message alone, found a difference in message ${prompt.length + 1} of ${all[later]!.length}`,
      )
}

const decode = (value: unknown, name: string): Result.Result<ReadonlyArray<Message>, string> => {
  if (Array.isArray(value)) return Messages.decode(value, name)
  const messages = typeof value === "string" ? parseTranscript(value) : undefined
  return messages === undefined
    ? Result.fail(`${name}: expected a whole conversation, since no prompt is set, found ${describeValue(value)}`)
    : Result.succeed(messages)
}

export const isConversation = (value: unknown): boolean =>
  Messages.isList(value) ? value.length > 1 : typeof value === "string" && transcriptBegins.test(value)

/** The first two speakers decide. */
const transcriptBegins = /^\s*(?:Human|Assistant):[^]*?\n\n(?:Human|Assistant):/

/** Nothing where the text is no transcript: where it does not begin with a speaker. */
const parseTranscript = (text: string): ReadonlyArray<Message> | undefined => {
  if (!transcriptBegins.test(text)) return undefined
  const parts = `\n\n${text.trimStart()}`.split(/\n\n(Human|Assistant): ?/)
  const messages: Array<Message> = []
  for (let i = 1; i < parts.length; i += 2) {
    messages.push({ role: parts[i] === "Human" ? "user" : "assistant", content: parts[i + 1]! })
  }
  return messages
}
