/**
 * The columns of the dataset: their order and their types, for every format.
 *
 * Guarantees: the columns are the members of `PreferencePair`, each of them.
 */
import * as Conversation from "../domain/Conversation.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"

/** As `datasets` names the types. Every column may be null. */
export const columns = {
  prompt: "string",
  chosen: "string",
  rejected: "string",
  rationale: "string",
  item_id: "string",
  task_id: "string",
  chosen_index: "int32",
  rejected_index: "int32",
  weight: "float64",
  votes: "int32",
  agreement: "float64",
  vote_margin: "float64",
  metadata: "string",
} as const satisfies { readonly [Column in keyof PreferencePair]: "string" | "int32" | "float64" }

/** A pair as the files hold it. */
export interface Row extends Omit<PreferencePair, "prompt"> {
  readonly prompt: string
}

/**
 * The pair as a row: its members in the columns' order, and each lone surrogate,
 * which UTF-8 can't carry, replaced by U+FFFD, so that all formats hold the same text.
 */
export const toRow = (pair: PreferencePair): Row => ({
  prompt: Conversation.render(pair.prompt).toWellFormed(),
  chosen: pair.chosen.toWellFormed(),
  rejected: pair.rejected.toWellFormed(),
  rationale: pair.rationale?.toWellFormed() ?? null,
  item_id: pair.item_id.toWellFormed(),
  task_id: pair.task_id.toWellFormed(),
  chosen_index: pair.chosen_index,
  rejected_index: pair.rejected_index,
  weight: pair.weight,
  votes: pair.votes,
  agreement: pair.agreement,
  vote_margin: pair.vote_margin,
  metadata: pair.metadata?.toWellFormed() ?? null,
})
