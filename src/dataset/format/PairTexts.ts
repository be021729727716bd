/** Converts a pair's texts to the messages or turns of a format. Fails if the format cannot express them. */
import { Option, Result, Schema } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import type { Message, Prompt } from "../../domain/Message.ts"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import type { JsonRow } from "../file/Features.ts"
import { type Checked, refuse } from "./TrainerFormat.ts"
import { describeValue } from "../../io/Values.ts"

export const answer = (content: string) => [{ role: "assistant", content }]

type Side = "chosen" | "rejected"

export const sideOf = (
  { chosen, chosen_messages, rejected, rejected_messages }: PreferencePair,
  side: Side,
): ReadonlyArray<Message> =>
  side === "chosen" ? (chosen_messages ?? answer(chosen)) : (rejected_messages ?? answer(rejected))

export const toConversation = (pair: PreferencePair): Checked<Record<Side | "prompt", ReadonlyArray<JsonRow>>> =>
  Result.gen(function* () {
    return {
      prompt: yield* withObjects(yield* toOpenMessages(pair.prompt), "prompt"),
      chosen: yield* withObjects(sideOf(pair, "chosen"), "chosen"),
      rejected: yield* withObjects(sideOf(pair, "rejected"), "rejected"),
    }
  })

export const editedMessages = ({ chosen_messages, edited }: PreferencePair) =>
  chosen_messages === undefined || edited === null ? Option.none() : Conversation.parse(edited)

export const withObjects = (messages: ReadonlyArray<Message>, field: string): Checked<ReadonlyArray<JsonRow>> =>
  Result.all(
    messages.map(({ tool_calls, ...message }, i): Checked<JsonRow> => {
      if (tool_calls === undefined) return Result.succeed(message)
      const large = tool_calls.findIndex((call) => losesDigits(call.function.arguments))
      if (large !== -1) {
        const path = `${field}[${i}].tool_calls[${large}].function.arguments`
        return refuse(
          path,
          "integers up to 2^53 (larger ones lose digits: write them as text, or use the format openai-preference, which keeps arguments as text)",
          describeValue(tool_calls[large]!.function.arguments),
        )
      }
      const calls = tool_calls.map(({ function: definition, ...call }) => ({
        ...call,
        function: { ...definition, arguments: parseJson(definition.arguments) },
      }))
      return Result.succeed({ ...message, tool_calls: calls })
    }),
  )

/** Python reads integers of any size exactly, JavaScript does not. Both read fractions with the same precision. */
const losesDigits = (text: string): boolean =>
  (
    text
      .replaceAll(/\\./g, "")
      .replaceAll(/"[^"]*"/g, "")
      .match(/-?\d[-+.\deE]*/g) ?? []
  )
    .map(Number)
    .some((number) => !Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number)))

export const parseJson = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Json))

export const toMessages = (prompt: Prompt): ReadonlyArray<Message> =>
  typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt

export const toOpenMessages = (prompt: Prompt): Checked<ReadonlyArray<Message>> => {
  const messages = toMessages(prompt)
  const last = messages.at(-1)?.role
  return last === "user" || last === "tool"
    ? Result.succeed(messages)
    : refuse(`prompt[${messages.length - 1}].role`, "user or tool as the role of the last message", describeValue(last))
}

export const withRoles = (
  messages: ReadonlyArray<Message>,
  roles: ReadonlyArray<string>,
): Checked<ReadonlyArray<Message>> => {
  const other = messages.findIndex(({ role }) => !roles.includes(role))
  return other === -1
    ? Result.succeed(messages)
    : refuse(`prompt[${other}].role`, joinOr(roles), describeValue(messages[other]!.role))
}

export interface Turns {
  readonly system: string
  readonly turns: ReadonlyArray<Message>
}

export const toTurns = (
  prompt: Prompt,
  roles: { readonly asks: ReadonlyArray<string>; readonly answers: ReadonlyArray<string> },
): Checked<Turns> => {
  const messages = toMessages(prompt)
  const system = messages[0]?.role === "system" ? messages[0].content : undefined
  // An empty system prompt is refused, because trainers replace it with their own.
  if (system === "") return refuse("prompt[0].content", "text", "an empty string")
  const first = system === undefined ? 0 : 1
  const turns = messages.slice(first)
  for (const [i, { role }] of turns.entries()) {
    const expected = i % 2 === 0 ? roles.asks : roles.answers
    if (!expected.includes(role))
      return refuse(`prompt[${first + i}].role`, `${joinOr(expected)} at this position`, describeValue(role))
  }
  return turns.length % 2 === 1
    ? Result.succeed({ system: system ?? "", turns })
    : refuse(
        `prompt[${messages.length - 1}].role`,
        `${joinOr(roles.asks)} as the role of the last message`,
        describeValue(messages.at(-1)?.role),
      )
}

export const toQuestion = (prompt: Prompt): Checked<{ readonly system: string; readonly question: string }> =>
  Result.flatMap(toTurns(prompt, { asks: ["user"], answers: ["assistant"] }), ({ system, turns }) => {
    const [{ content } = { content: "" }, ...more] = turns
    if (more.length > 0) return refuse("prompt", "one question", `a conversation of ${turns.length} turns`)
    return content === ""
      ? refuse(`prompt[${system === "" ? 0 : 1}].content`, "text", "an empty string")
      : Result.succeed({ system, question: content })
  })

const joinOr = (words: ReadonlyArray<string>): string => words.join(" or ")
