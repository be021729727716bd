/** A pair's texts as formats need them: the prompt as messages, or as a system prompt and turns, if possible. */
import { Option, Result, Schema } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import type { Message, Prompt } from "../../domain/Message.ts"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import type { JsonRow } from "../file/Features.ts"
import { type Checked, refuse } from "./TrainerFormat.ts"
import { describeValue } from "../../io/Values.ts"

/** A completion as the one message that it is. */
export const answer = (content: string) => [{ role: "assistant", content }]

type Side = "chosen" | "rejected"

/** A side of the pair as messages: a completion, with its calls of tools if there are any. */
export const sideOf = (
  { chosen, chosen_messages, rejected, rejected_messages }: PreferencePair,
  side: Side,
): ReadonlyArray<Message> =>
  side === "chosen" ? (chosen_messages ?? answer(chosen)) : (rejected_messages ?? answer(rejected))

/** A pair as messages that a chat template takes: an answer may follow the prompt, and arguments of calls are objects. */
export const toConversation = (pair: PreferencePair): Checked<Record<Side | "prompt", ReadonlyArray<JsonRow>>> =>
  Result.gen(function* () {
    return {
      prompt: yield* withObjects(yield* toOpenMessages(pair.prompt), "prompt"),
      chosen: yield* withObjects(sideOf(pair, "chosen"), "chosen"),
      rejected: yield* withObjects(sideOf(pair, "rejected"), "rejected"),
    }
  })

/** The edit of chosen as messages, if chosen has calls of tools and the edit is not text alone. */
export const editedMessages = ({ chosen_messages, edited }: PreferencePair) =>
  chosen_messages === undefined || edited === null ? Option.none() : Conversation.parse(edited)

/** Messages whose arguments of calls are objects. */
export const withObjects = (messages: ReadonlyArray<Message>, field: string): Checked<ReadonlyArray<JsonRow>> =>
  Result.all(
    messages.map(({ tool_calls, ...message }, i): Checked<JsonRow> => {
      if (tool_calls === undefined) return Result.succeed(message)
      const large = tool_calls.findIndex((call) => losesDigits(call.function.arguments))
      if (large !== -1) {
        const path = `${field}[${i}].tool_calls[${large}].function.arguments`
        return refuse(
          path,
          "numbers that an object keeps, up to 2^53 (write larger ones as text, or use openai-preference, which keeps arguments as text)",
          describeValue(tool_calls[large]!.function.arguments),
        )
      }
      const calls = tool_calls.map(({ function: of, ...call }) => ({
        ...call,
        function: { ...of, arguments: parseJson(of.arguments) },
      }))
      return Result.succeed({ ...message, tool_calls: calls })
    }),
  )

/**
 * Whether a parsed JSON text has other integers. Fractions may have other digits: readers of JSON, Python's among them,
 * take both for the same double, while integers of any size are exact in Python.
 */
const losesDigits = (text: string): boolean =>
  (
    text
      .replaceAll(/\\./g, "")
      .replaceAll(/"[^"]*"/g, "")
      .match(/-?\d[-+.\deE]*/g) ?? []
  )
    .map(Number)
    .some((number) => !Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number)))

/** Such as arguments and definitions, which are JSON. */
export const parseJson = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Json))

/** A text prompt is one user message. */
export const toMessages = (prompt: Prompt): ReadonlyArray<Message> =>
  typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt

/** Messages that an answer of the assistant may follow: the last one is the user's, or a tool's. */
export const toOpenMessages = (prompt: Prompt): Checked<ReadonlyArray<Message>> => {
  const messages = toMessages(prompt)
  const last = messages.at(-1)?.role
  return last === "user" || last === "tool"
    ? Result.succeed(messages)
    : refuse(`prompt[${messages.length - 1}].role`, "user or tool last", describeValue(last))
}

/** Messages whose roles are all among `roles`. */
export const withRoles = (
  messages: ReadonlyArray<Message>,
  roles: ReadonlyArray<string>,
): Checked<ReadonlyArray<Message>> => {
  const other = messages.findIndex(({ role }) => !roles.includes(role))
  return other === -1
    ? Result.succeed(messages)
    : refuse(`prompt[${other}].role`, listed(roles), describeValue(messages[other]!.role))
}

export interface Turns {
  /** Empty where there is none. */
  readonly system: string
  /** Asked and answered in turn; the last one asks. */
  readonly turns: ReadonlyArray<Message>
}

/** A first system message apart from the rest, which must be turns of these roles. */
export const toTurns = (
  prompt: Prompt,
  roles: { readonly asks: ReadonlyArray<string>; readonly answers: ReadonlyArray<string> },
): Checked<Turns> => {
  const messages = toMessages(prompt)
  const system = messages[0]?.role === "system" ? messages[0].content : undefined
  // Trainers take an empty system prompt for none, and put their own in its place.
  if (system === "") return refuse("prompt[0].content", "text", "an empty string")
  const first = system === undefined ? 0 : 1
  const turns = messages.slice(first)
  for (const [i, { role }] of turns.entries()) {
    const expected = i % 2 === 0 ? roles.asks : roles.answers
    if (!expected.includes(role))
      return refuse(`prompt[${first + i}].role`, `${listed(expected)} in its turn`, describeValue(role))
  }
  return turns.length % 2 === 1
    ? Result.succeed({ system: system ?? "", turns })
    : refuse(`prompt[${messages.length - 1}].role`, `${listed(roles.asks)} last`, describeValue(messages.at(-1)?.role))
}

/** A system prompt and one question of the user: all that formats without turns have a place for. */
export const toQuestion = (prompt: Prompt): Checked<{ readonly system: string; readonly question: string }> =>
  Result.flatMap(toTurns(prompt, { asks: ["user"], answers: ["assistant"] }), ({ system, turns }) => {
    const [{ content } = { content: "" }, ...more] = turns
    if (more.length > 0) return refuse("prompt", "one question", `a conversation of ${turns.length} turns`)
    return content === ""
      ? refuse(`prompt[${system === "" ? 0 : 1}].content`, "text", "an empty string")
      : Result.succeed({ system, question: content })
  })

const listed = (words: ReadonlyArray<string>): string => words.join(" or ")
