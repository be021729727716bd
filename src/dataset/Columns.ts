/**
 * The columns of the dataset, one per member of `PreferencePair`: their order and types in every file.
 *
 * In the `standard` shape, prompt, chosen and rejected are text, and conversations are rendered
 * (`Conversation.toText`); in the `conversational` shape they are lists of messages, and a text prompt is one user
 * message. Where tools are used, messages have calls, their ids and names, and there is a column `tools`; arguments and
 * definitions are JSON text, since no type of a column fits all. Members that a message lacks are absent in JSON Lines,
 * and null in Parquet. A pair with a lone surrogate, which UTF-8 cannot represent, has no row.
 */
import * as Conversation from "../domain/Conversation.ts"
import { type Message, usesTools } from "../domain/Message.ts"
import * as PairBytes from "../domain/PairBytes.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import * as PairTexts from "./format/PairTexts.ts"
import type { Feature } from "./file/Features.ts"

export type Shape = "standard" | "conversational"

/** What columns there are. */
export interface Form {
  readonly shape: Shape
  /** Whether there are columns for what tools are and do. */
  readonly tools?: true
}

type PairColumn = Exclude<keyof PreferencePair, "chosen_messages" | "rejected_messages" | "tools">
type PairFeatures = { readonly [Column in PairColumn]: Feature } & { readonly tools?: Feature }

const standard: PairFeatures = {
  prompt: "string",
  chosen: "string",
  rejected: "string",
  rationale: "string",
  item_id: "string",
  task_id: "string",
  chosen_index: "int32",
  rejected_index: "int32",
  chosen_model: "string",
  rejected_model: "string",
  weight: "float64",
  votes: "int32",
  agreement: "float64",
  vote_margin: "float64",
  strength: "float64",
  all_bad: "bool",
  aspects: "string",
  edited: "string",
  flags: "string",
  metadata: "string",
}

const messages: Feature = { list: { struct: { role: "string", content: "string" } } }

const conversational: PairFeatures = { ...standard, prompt: messages, chosen: messages, rejected: messages }

const toolMessages: Feature = {
  list: {
    struct: {
      role: "string",
      content: "string",
      tool_calls: {
        list: {
          struct: { id: "string", type: "string", function: { struct: { name: "string", arguments: "string" } } },
        },
      },
      name: "string",
      tool_call_id: "string",
    },
  },
}

export const featuresOf = ({ shape, tools }: Form): PairFeatures => {
  const features = shape === "standard" ? standard : conversational
  if (tools === undefined) return features
  const sides = shape === "standard" ? {} : { prompt: toolMessages, chosen: toolMessages, rejected: toolMessages }
  return { ...features, ...sides, tools: "string" }
}

type Text = string | ReadonlyArray<Message>

/** A pair as the files hold it: its members in the columns' order. */
export type PairRow = Pick<PreferencePair, Exclude<PairColumn, keyof Texts>> &
  Texts & { readonly tools?: string | null }

type Texts = { readonly [Side in "prompt" | "chosen" | "rejected"]: RowText }

type RowText = string | ReadonlyArray<RowMessage>
type RowMessage = ReturnType<typeof toRowMessage> | Pick<Message, "role" | "content">

export const toRow = (pair: PreferencePair, form: Form): PairRow => ({
  ...(form.shape === "standard" ? standardTexts(pair) : conversationalTexts(pair, form.tools)),
  ...restOfRow(pair, form),
})

/** The row without its texts. */
export const restOfRow = (pair: PreferencePair, { tools }: Form): Omit<PairRow, keyof Texts> => ({
  rationale: pair.rationale,
  item_id: pair.item_id,
  task_id: pair.task_id,
  chosen_index: pair.chosen_index,
  rejected_index: pair.rejected_index,
  chosen_model: pair.chosen_model,
  rejected_model: pair.rejected_model,
  weight: pair.weight,
  votes: pair.votes,
  agreement: pair.agreement,
  vote_margin: pair.vote_margin,
  strength: pair.strength,
  all_bad: pair.all_bad,
  aspects: pair.aspects,
  edited: pair.edited,
  flags: pair.flags,
  metadata: pair.metadata,
  ...(tools === true && { tools: pair.tools ?? null }),
})

const standardTexts = ({ chosen, prompt, rejected }: PreferencePair) => ({
  prompt: Conversation.toText(prompt),
  chosen,
  rejected,
})

const conversationalTexts = (pair: PreferencePair, tools: true | undefined): Texts => {
  const rowOf = (messages: ReadonlyArray<Message>) => (tools === undefined ? messages : messages.map(toRowMessage))
  return {
    prompt: rowOf(PairTexts.toMessages(pair.prompt)),
    chosen: rowOf(PairTexts.sideOf(pair, "chosen")),
    rejected: rowOf(PairTexts.sideOf(pair, "rejected")),
  }
}

const toRowMessage = ({ content, name, role, tool_call_id, tool_calls }: Message) => ({
  role,
  content,
  ...(tool_calls !== undefined && {
    tool_calls: tool_calls.map(({ function: of, id, type }) => ({
      ...(id !== undefined && { id }),
      type,
      function: of,
    })),
  }),
  ...(name !== undefined && { name }),
  ...(tool_call_id !== undefined && { tool_call_id }),
})

/** Whether messages of the pair say more than columns without tools have a place for. */
export const needsTools = ({ chosen_messages, prompt, rejected_messages }: PreferencePair): boolean =>
  chosen_messages !== undefined ||
  rejected_messages !== undefined ||
  (typeof prompt !== "string" && prompt.some(usesTools))

/** The first member of the pair that contains a lone surrogate. */
export const findLoneSurrogate = (pair: PreferencePair): keyof PreferencePair | undefined => {
  // Bytes have none.
  const columns = PairBytes.of(pair) === undefined ? textColumns : otherColumns
  for (const column of columns) if (!isWellFormed(pair[column])) return column
  return undefined
}

const otherColumns = [
  "rationale",
  "item_id",
  "task_id",
  "chosen_model",
  "rejected_model",
  "aspects",
  "edited",
  "flags",
  "metadata",
  "chosen_messages",
  "rejected_messages",
  "tools",
] as const

const textColumns = ["prompt", "chosen", "rejected", ...otherColumns] as const

const isWellFormed = (value: Text | null | undefined): boolean =>
  value === null ||
  value === undefined ||
  (typeof value === "string" ? value.isWellFormed() : value.every((message) => textsOf(message).every(isWellFormed)))

const textsOf = ({ content, name, role, tool_call_id, tool_calls }: Message): ReadonlyArray<string | undefined> => [
  role,
  content,
  name,
  tool_call_id,
  ...(tool_calls ?? []).flatMap(({ function: of, id }) => [id, of.name, of.arguments]),
]
