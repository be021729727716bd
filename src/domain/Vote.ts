/**
 * One expert's judgment of one prompt, as it stands in `annotations.votes` of a result.
 *
 * Guarantees: indices are zero-based and point into the prompt's completions as the
 * task sent them, whatever order the expert saw; a ranking holds each index once.
 */
import { Schema } from "effect"

const Index = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/**
 * Completions as groups, best first: `[[2], [0, 1]]` says that 2 is best and that
 * 0 and 1 are equally good. No group is empty.
 */
export const Ranking = Schema.Array(Schema.NonEmptyArray(Index))
export type Ranking = typeof Ranking.Type

/** One element of `annotations.votes`. */
export const Vote = Schema.Struct({
  /** Who judged: `expert_…` for a person, the name of a scripted expert or of a language model. */
  expert: Schema.String,
  /** The completion that the expert prefers; of several that tie for best, the first in the order shown. */
  choice: Index,
  /** All completions, where the expert ranked them. */
  ranking: Schema.optionalKey(Ranking),
  /** The order in which the completions were shown, as indices. */
  order: Schema.Array(Index),
  /** Time from showing to submitting, in seconds, less the time in which the page was not looked at. */
  seconds: Schema.Finite,
  rationale: Schema.optionalKey(Schema.String),
  /** What else an automatic expert says of its vote, such as the answers of a language model in both orders. */
  details: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
})
export type Vote = typeof Vote.Type
