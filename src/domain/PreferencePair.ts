/**
 * One row of the dataset: of two completions of a prompt, which one is preferred.
 *
 * Guarantees: `chosen` and `rejected` differ, and are the completions at `chosen_index` and
 * `rejected_index` as they were submitted; the weights of an item's rows add up to 1.
 */
import { Schema } from "effect"

export const PreferencePair = Schema.Struct({
  prompt: Schema.String,
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
  /** 1 divided by the number of the item's pairs. */
  weight: Schema.Finite,
  /** The item's metadata as the text of a JSON object, null where there is none. */
  metadata: Schema.NullOr(Schema.String),
})
export type PreferencePair = typeof PreferencePair.Type
