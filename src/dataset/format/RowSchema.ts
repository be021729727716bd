/** Schemas of the parts of rows that trainers accept. A failed filter returns the expected value in words. */
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

export const ToolCall = toolCall(Schema.Record(Schema.String, Schema.Unknown))

export const OpenAiToolCall = toolCall(
  NonEmptyText.check(Schema.makeFilter((text) => (isJsonObject(text) ? undefined : "a JSON object as text"))),
).check(Schema.makeFilter(({ id }) => (id === undefined ? issueAt(["id"], "text") : undefined)))

const result = { name: Schema.optionalKey(NonEmptyText), tool_call_id: Schema.optionalKey(NonEmptyText) }

export const Message = Schema.Struct({
  role: NonEmptyText,
  content: Text,
  tool_calls: Schema.optionalKey(Schema.NonEmptyArray(ToolCall)),
  ...result,
})

export const toolsText = Schema.optionalKey(Schema.NullOr(NonEmptyText))

export const messages = { list: { struct: { role: "string", content: "string" } } } as const

export const Assistant = Schema.Struct({ role: Schema.Literal("assistant"), content: NonEmptyText })

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
    ? "one message (only a completion with tool calls can have several messages)"
    : undefined
}

export const turnOf = <M extends Schema.Codec<TurnMessage, unknown>>(message: M) =>
  Schema.Array(message).check(Schema.makeFilter<ReadonlyArray<M["Type"]>>(completionProblem))

export const AssistantTurn = turnOf(Message)

export const issueAt = (path: ReadonlyArray<PropertyKey>, issue: string) => ({ path, issue })

const openProblem = (messages: ReadonlyArray<TurnMessage>) => {
  const last = messages.at(-1)?.role
  if (last === undefined) return "at least one message"
  return last === "user" || last === "tool"
    ? undefined
    : issueAt([messages.length - 1, "role"], "user or tool as the role of the last message")
}

export const openOf = <M extends Schema.Codec<TurnMessage, unknown>>(message: M) =>
  Schema.Array(message).check(Schema.makeFilter<ReadonlyArray<M["Type"]>>(openProblem))

export const OpenMessages = openOf(Message)

export const findRoleViolation = (
  roles: ReadonlyArray<string>,
  { asks, answers, before }: { readonly [part in "asks" | "answers" | "before"]: ReadonlyArray<string> },
): { readonly index: number; readonly expected: string } | undefined => {
  const first = before.includes(roles[0] ?? "") ? 1 : 0
  const index = roles.findIndex((role, i) => i >= first && !((i - first) % 2 === 0 ? asks : answers).includes(role))
  if (index !== -1)
    return { index, expected: `${((index - first) % 2 === 0 ? asks : answers).join(" or ")} at this position` }
  return (roles.length - first) % 2 === 1
    ? undefined
    : { index: Math.max(roles.length - 1, 0), expected: `${asks.join(" or ")} as the role of the last message` }
}

export const requireDifferent = (chosen: string, rejected: string) =>
  chosen === rejected ? issueAt(["rejected"], "a text that differs from `chosen`") : undefined

type Turn = ReadonlyArray<TurnMessage>

export const isSameTurn = (a: Turn, b: Turn): boolean => JSON.stringify(a) === JSON.stringify(b)

type Columns = { readonly [column: string]: Schema.Codec<unknown, unknown> }

export const textPair = (columns: Columns): Schema.Codec<unknown, unknown> =>
  Schema.Struct({ ...columns, chosen: NonEmptyText, rejected: NonEmptyText }).check(
    Schema.makeFilter(({ chosen, rejected }) => requireDifferent(chosen, rejected)),
  )

export const messagePair = (columns: Columns): Schema.Codec<unknown, unknown> =>
  Schema.Struct({ ...columns, chosen: AssistantTurn, rejected: AssistantTurn }).check(
    Schema.makeFilter(({ chosen, rejected }) =>
      isSameTurn(chosen, rejected) ? issueAt(["rejected"], "a text that differs from `chosen`") : undefined,
    ),
  )

export const openMessagesOf = (roles: ReadonlyArray<string>) =>
  OpenMessages.check(
    Schema.makeFilter<ReadonlyArray<typeof Message.Type>>((prompt) => {
      const other = prompt.findIndex(({ role }) => !roles.includes(role))
      return other === -1 ? undefined : issueAt([other, "role"], `${roles.slice(0, -1).join(", ")}, or ${roles.at(-1)}`)
    }),
  )
