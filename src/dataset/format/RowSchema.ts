/**
 * Schemas for parts of rows that several formats share: what the trainers need, written independently of the code that
 * writes rows. The message of a filter is the expected value, as a noun.
 */
import { Schema } from "effect"

export const Text = Schema.String.check(
  Schema.makeFilter<string>((text) => (text.isWellFormed() ? undefined : "well-formed Unicode")),
)

export const Filled = Text.check(Schema.makeFilter<string>((text) => (text === "" ? "text" : undefined)))

/** As the chat templates of transformers take it. */
export const Message = Schema.Struct({ role: Filled, content: Text })

/** The column type of a list of messages. */
export const messages = { list: { struct: { role: "string", content: "string" } } } as const

export const Assistant = Schema.Struct({ role: Schema.Literal("assistant"), content: Filled })

/** One message, in a list, as completions are. */
export const Answer = Schema.Tuple([Assistant])

type Messages = ReadonlyArray<typeof Message.Type>

/** A failure of a filter at a place below the value that is checked. */
export const at = (path: ReadonlyArray<PropertyKey>, issue: string) => ({ path, issue })

/** Messages that an answer may follow. */
export const OpenMessages = Schema.Array(Message).check(
  Schema.makeFilter<Messages>((messages) => {
    const last = messages.at(-1)
    if (last === undefined) return "at least one message"
    return last.role === "user" || last.role === "tool"
      ? undefined
      : at([messages.length - 1, "role"], "user or tool in the last message")
  }),
)

/** Roles in their turn, with a first one that may stand before them; `asks` is the last one. */
export const inTurn = (
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

/** Two sides that hold the same give nothing to learn. */
export const differ = (chosen: string, rejected: string) =>
  chosen === rejected ? at(["rejected"], "another text than chosen's") : undefined

type Columns = { readonly [column: string]: Schema.Codec<unknown, unknown> }

/** Rows with both sides as text, and other columns. */
export const textPair = (columns: Columns): Schema.Codec<unknown, unknown> =>
  Schema.Struct({ ...columns, chosen: Filled, rejected: Filled }).check(
    Schema.makeFilter(({ chosen, rejected }) => differ(chosen, rejected)),
  )

/** Rows with both sides as a list of one message, and other columns. */
export const messagePair = (columns: Columns): Schema.Codec<unknown, unknown> =>
  Schema.Struct({ ...columns, chosen: Answer, rejected: Answer }).check(
    Schema.makeFilter(({ chosen: [chosen], rejected: [rejected] }) => differ(chosen.content, rejected.content)),
  )

/** Messages that an answer may follow, with roles among these. */
export const openMessagesOf = (roles: ReadonlyArray<string>) =>
  OpenMessages.check(
    Schema.makeFilter<Messages>((prompt) => {
      const other = prompt.findIndex(({ role }) => !roles.includes(role))
      return other === -1 ? undefined : at([other, "role"], `${roles.slice(0, -1).join(", ")} or ${roles.at(-1)}`)
    }),
  )
