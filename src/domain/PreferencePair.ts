/**
 * One row of the dataset: a prompt with the preferred and the other of two completions.
 *
 * Guarantees: `chosen` and `rejected` differ; `chosen_index` and `rejected_index` refer to the input's order, whatever
 * order the experts saw; the weights of an item's rows add up to 1.
 *
 * A new member is a new column: `dataset/Columns` has its type and place.
 */
import { Schema } from "effect"
import { Message, Prompt } from "./Message.ts"

/** A row of a dataset: a prompt, a completion that was preferred, and one that was not. */
export const PreferencePair = Schema.Struct({
  /** Plain text, or messages; a completion is the assistant's next turn. */
  prompt: Prompt,
  /** The completion that the votes prefer, unchanged. */
  chosen: Schema.String,
  /** The other completion, unchanged. */
  rejected: Schema.String,
  /** The expert's rationale; null if none was given. */
  rationale: Schema.NullOr(Schema.String),
  /** The user's id of the item, or the hash of its content. */
  item_id: Schema.String,
  /** The task that was judged; of several votes, the first. */
  task_id: Schema.String,
  /** Zero-based index of `chosen` among the item's completions. */
  chosen_index: Schema.Int,
  /** Zero-based index of `rejected` among the item's completions. */
  rejected_index: Schema.Int,
  /** The model of `chosen`; null if the input names none. */
  chosen_model: Schema.NullOr(Schema.String),
  /** The model of `rejected`; null if the input names none. */
  rejected_model: Schema.NullOr(Schema.String),
  /** 1 divided by the number of the item's pairs. */
  weight: Schema.Finite,
  /** Number of votes on the item. */
  votes: Schema.Int,
  /** Share of the votes for the best completion, 0 to 1; null if there is one vote. */
  agreement: Schema.NullOr(Schema.Finite),
  /**
   * Share of the votes that prefer `chosen` to `rejected`, minus the share that prefer `rejected`: −1 to 1; null if
   * there is one vote.
   */
  vote_margin: Schema.NullOr(Schema.Finite),
  /** How much better `chosen` is, from 1 for the least: the mean over the votes for it; null if none says so, or it is not the best. */
  strength: Schema.NullOr(Schema.Finite),
  /** Whether experts say that no completion is good enough, `chosen` included; null if they were not asked. */
  all_bad: Schema.NullOr(Schema.Boolean),
  /** Ratings by aspect as the text of a JSON object: `{"helpfulness":{"chosen":4,"rejected":2}}`; null if there are none. */
  aspects: Schema.NullOr(Schema.String),
  /** `chosen` as an expert would have it; null if nobody edited it, or it is not the best. */
  edited: Schema.NullOr(Schema.String),
  /** The item's flags as the text of a JSON array of `Flag`s; null if there are none. */
  flags: Schema.NullOr(Schema.String),
  /** The item's metadata as the text of a JSON object; null if there is none. */
  metadata: Schema.NullOr(Schema.String),
  /** The messages of `chosen`, if it calls tools; `chosen` is then their text. No column of its own. */
  chosen_messages: Schema.optionalKey(Schema.NonEmptyArray(Message)),
  /** The messages of `rejected`, if it calls tools; `rejected` is then their text. No column of its own. */
  rejected_messages: Schema.optionalKey(Schema.NonEmptyArray(Message)),
  /** The definitions of the tools that the model had, as the text of a JSON array; absent if there are none. */
  tools: Schema.optionalKey(Schema.String),
})
export type PreferencePair = typeof PreferencePair.Type
