/**
 * One row of the dataset: of two completions of a prompt, which one is preferred.
 *
 * Guarantees: `chosen` and `rejected` differ, and are the completions at `chosen_index` and
 * `rejected_index` as the input had them, whatever order the experts saw; the weights of an
 * item's rows add up to 1.
 */
import { Schema } from "effect"
import { Prompt } from "./Message.ts"

export const PreferencePair = Schema.Struct({
  /** Plain text, or the messages that a completion, which is the assistant's next turn, goes on with. */
  prompt: Prompt,
  chosen: Schema.String,
  rejected: Schema.String,
  /** The expert's justification, null where none was given. */
  rationale: Schema.NullOr(Schema.String),
  /** The user's id of the item, or the hash of its content. */
  item_id: Schema.String,
  task_id: Schema.String,
  /** Zero-based index of `chosen` among the item's completions. */
  chosen_index: Schema.Int,
  /** Zero-based index of `rejected` among the item's completions. */
  rejected_index: Schema.Int,
  /** Who wrote `chosen`, null where the input does not say. */
  chosen_model: Schema.NullOr(Schema.String),
  /** Who wrote `rejected`, null where the input does not say. */
  rejected_model: Schema.NullOr(Schema.String),
  /** 1 divided by the number of the item's pairs. */
  weight: Schema.Finite,
  /** How many votes the item has. */
  votes: Schema.Int,
  /** The share of the votes that went to the best completion, 0 to 1; null where there is one vote. */
  agreement: Schema.NullOr(Schema.Finite),
  /**
   * The share of the votes that prefer `chosen` to `rejected`, less the share that prefer
   * `rejected`: −1 to 1; null where there is one vote.
   */
  vote_margin: Schema.NullOr(Schema.Finite),
  /** What experts flagged of the item, as the text of a JSON list of `Flag`s; null where nobody did. */
  flags: Schema.NullOr(Schema.String),
  /** The item's metadata as the text of a JSON object, null where there is none. */
  metadata: Schema.NullOr(Schema.String),
})
export type PreferencePair = typeof PreferencePair.Type
