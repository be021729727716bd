/**
 * The columns of the dataset, one per member of `PreferencePair`: their order and types in every file.
 *
 * In the `standard` shape, prompt, chosen and rejected are text, and conversations are rendered
 * (`Conversation.toText`); in the `conversational` shape they are lists of messages, and a text prompt is one user
 * message. A pair with a lone surrogate, which UTF-8 cannot represent, has no row.
 */
import * as Conversation from "../domain/Conversation.ts"
import type { Message } from "../domain/Message.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import * as PairTexts from "./format/PairTexts.ts"
import type { Feature } from "./file/Features.ts"

export type Shape = "standard" | "conversational"

type PairFeatures = { readonly [Column in keyof PreferencePair]: Feature }

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

export const featuresOf = (shape: Shape): PairFeatures => (shape === "standard" ? standard : conversational)

type Text = string | ReadonlyArray<Message>

/** A pair as the files hold it: its members in the columns' order. */
export type PairRow = Omit<PreferencePair, "prompt" | "chosen" | "rejected"> & {
  readonly prompt: Text
  readonly chosen: Text
  readonly rejected: Text
}

export const toRow = (pair: PreferencePair, shape: Shape): PairRow => ({
  ...(shape === "standard" ? standardTexts(pair) : conversationalTexts(pair)),
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
})

const standardTexts = ({ chosen, prompt, rejected }: PreferencePair) => ({
  prompt: Conversation.toText(prompt),
  chosen,
  rejected,
})

const conversationalTexts = ({ chosen, prompt, rejected }: PreferencePair) => ({
  prompt: PairTexts.toMessages(prompt),
  chosen: PairTexts.answer(chosen),
  rejected: PairTexts.answer(rejected),
})

/** The first member of the pair that contains a lone surrogate. */
export const findLoneSurrogate = (pair: PreferencePair): keyof PreferencePair | undefined => {
  for (const column of textColumns) if (!isWellFormed(pair[column])) return column
  return undefined
}

const textColumns = [
  "prompt",
  "chosen",
  "rejected",
  "rationale",
  "item_id",
  "task_id",
  "chosen_model",
  "rejected_model",
  "aspects",
  "edited",
  "flags",
  "metadata",
] as const

const isWellFormed = (value: Text | null): boolean =>
  value === null ||
  (typeof value === "string"
    ? value.isWellFormed()
    : value.every(({ content, role }) => role.isWellFormed() && content.isWellFormed()))
