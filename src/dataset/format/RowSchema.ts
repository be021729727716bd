/**
 * Schemas for parts of rows that several formats share: what the trainers need, written independently of the code that
 * writes rows. The message of a filter is the expected value, as a noun.
 */
import { Schema } from "effect"
import { isJsonObject } from "../../domain/Message.ts"

export const Text = Schema.String.check(
  Schema.makeFilter<string>((text) => (text.isWellFormed() ? undefined : "well-formed Unicode")),
)

export const NonEmptyText = Text.check(Schema.makeFilter<string>((text) => (text === "" ? "text" : undefined)))

const toolCall = <Arguments extends Schema.Top>(of: Arguments) =>
  Schema.Struct({
    id: Schema.optionalKey(NonEmptyText),
    type: Schema.Literal("function"),
    function: Schema.Struct({ name: NonEmptyText, arguments: of }),
  })

/** Arguments as an object, as most chat templates need them. */
export const ToolCall = toolCall(Schema.Record(Schema.String, Schema.Unknown))

/** Arguments as JSON text, and an id that a result has, too. */
export const OpenAiToolCall = toolCall(
  NonEmptyText.check(Schema.makeFilter((text) => (isJsonObject(text) ? undefined : "the text of a JSON object"))),
).check(Schema.makeFilter(({ id }) => (id === undefined ? issueAt(["id"], "text") : undefined)))

const result = { name: Schema.optionalKey(NonEmptyText), tool_call_id: Schema.optionalKey(NonEmptyText) }

/** As the chat templates of transformers take it. */
export const Message = Schema.Struct({
  role: NonEmptyText,
  content: Text,
  tool_calls: Schema.optionalKey(Schema.NonEmptyArray(ToolCall)),
  ...result,
})

/** Definitions of tools, as JSON text. */
export const toolsText = Schema.optionalKey(Schema.NullOr(NonEmptyText))

/** The column type of a list of messages, which may have calls of tools besides. */
export const messages = { list: { struct: { role: "string", content: "string" } } } as const

export const Assistant = Schema.Struct({ role: Schema.Literal("assistant"), content: NonEmptyText })

/** The messages of a completion. */
interface TurnMessage {
  readonly role: string
  readonly content?: string
  readonly tool_calls?: ReadonlyArray<unknown>
}

const completionProblem = (messages: ReadonlyArray<TurnMessage>) => {
  const other = messages.findIndex(({ role }) => role !== "assistant" && role !== "tool")
  if (other !== -1) return issueAt([other, "role"], "assistant or tool")
  const empty = messages.findIndex(
    ({ content, role, tool_calls }) => role === "assistant" && (content ?? "") === "" && tool_calls === undefined,
  )
  if (empty !== -1) return issueAt([empty, "content"], "text")
  for (const i of [0, messages.length - 1]) {
    if (messages[i]?.role !== "assistant")
      return i === 0 && messages.length === 0 ? "at least one message" : issueAt([i, "role"], "assistant")
  }
  return messages.length > 1 && messages.every(({ tool_calls }) => tool_calls === undefined)
    ? "one message, or calls of tools with what follows them"
    : undefined
}

/** A completion as a list: one message, or calls of tools with their results and what follows them. */
export const turnOf = <M extends Schema.Codec<TurnMessage, unknown>>(message: M) =>
  Schema.Array(message).check(Schema.makeFilter<ReadonlyArray<M["Type"]>>(completionProblem))

export const AssistantTurn = turnOf(Message)

type Messages = ReadonlyArray<typeof Message.Type>

/** An issue of a filter, at a path below the value that is checked. */
export const issueAt = (path: ReadonlyArray<PropertyKey>, issue: string) => ({ path, issue })

const openProblem = (messages: ReadonlyArray<TurnMessage>) => {
  const last = messages.at(-1)?.role
  if (last === undefined) return "at least one message"
  return last === "user" || last === "tool"
    ? undefined
    : issueAt([messages.length - 1, "role"], "user or tool in the last message")
}

/** Messages that an answer may follow. */
export const openOf = <M extends Schema.Codec<TurnMessage, unknown>>(message: M) =>
  Schema.Array(message).check(Schema.makeFilter<ReadonlyArray<M["Type"]>>(openProblem))

export const OpenMessages = openOf(Message)

/** The first role out of turn, if any: `asks` and `answers` alternate, `before` may come first, and `asks` is last. */
export const findRoleViolation = (
  roles: ReadonlyArray<string>,
  { asks, answers, before }: { readonly [part in "asks" | "answers" | "before"]: ReadonlyArray<string> },
): { readonly index: number; readonly expected: string } | undefined => {
  const first = before.includes(roles[0] ?? "") ? 1 : 0
  const index = roles.findIndex((role, i) => i >= first && !((i - first) % 2 === 0 ? asks : answers).includes(role))
  if (index !== -1)
    return { index, expected: `${((index - first) % 2 === 0 ? asks : answers).join(" or ")} in its turn` }
  return (roles.length - first) % 2 === 1
    ? undefined
    : { index: Math.max(roles.length - 1, 0), expected: `${asks.join(" or ")} last` }
}

/** Identical sides carry no preference. */
export const requireDifferent = (chosen: string, rejected: string) =>
  chosen === rejected ? issueAt(["rejected"], "another text than chosen's") : undefined

type Turn = ReadonlyArray<TurnMessage>

/** Whether two completions say the same. */
export const isSameTurn = (one: Turn, other: Turn): boolean => JSON.stringify(one) === JSON.stringify(other)

type Columns = { readonly [column: string]: Schema.Codec<unknown, unknown> }

/** Rows with both sides as text, and other columns. */
export const textPair = (columns: Columns): Schema.Codec<unknown, unknown> =>
  Schema.Struct({ ...columns, chosen: NonEmptyText, rejected: NonEmptyText }).check(
    Schema.makeFilter(({ chosen, rejected }) => requireDifferent(chosen, rejected)),
  )

/** Rows with both sides as the messages of a completion, and other columns. */
export const messagePair = (columns: Columns): Schema.Codec<unknown, unknown> =>
  Schema.Struct({ ...columns, chosen: AssistantTurn, rejected: AssistantTurn }).check(
    Schema.makeFilter(({ chosen, rejected }) =>
      isSameTurn(chosen, rejected) ? issueAt(["rejected"], "another text than chosen's") : undefined,
    ),
  )

/** Messages that an answer may follow, with roles among these. */
export const openMessagesOf = (roles: ReadonlyArray<string>) =>
  OpenMessages.check(
    Schema.makeFilter<Messages>((prompt) => {
      const other = prompt.findIndex(({ role }) => !roles.includes(role))
      return other === -1 ? undefined : issueAt([other, "role"], `${roles.slice(0, -1).join(", ")} or ${roles.at(-1)}`)
    }),
  )
