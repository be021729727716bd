/**
 * One expert's vote on one prompt, an element of `annotations.votes` of a result.
 *
 * Guarantees: indices are zero-based and refer to the completions as the task sent them, whatever order the expert saw;
 * a ranking contains each index once.
 */
import { Schema } from "effect"

const Index = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/**
 * Groups of completions, best first: in `[[2], [0, 1]]`, 2 is best, and 0 and 1 are equally good. No group is empty.
 */
export const Ranking = Schema.Array(Schema.NonEmptyArray(Index))
export type Ranking = typeof Ranking.Type

/** What an expert may say besides the choice, where the task's rubric asks for it. */
export const assessment = {
  /** How much better the best is than the rest: from 1 for the least. */
  strength: Schema.optionalKey(Schema.Finite),
  /** Whether no completion is good enough, the best included. */
  all_bad: Schema.optionalKey(Schema.Boolean),
  /** The best completion as the expert would have it. */
  edited: Schema.optionalKey(Schema.String),
  /** Ratings by name: one per completion, null where it was not rated. */
  aspects: Schema.optionalKey(Schema.Record(Schema.String, Schema.Array(Schema.NullOr(Schema.Finite)))),
}

/** One element of `annotations.votes`. */
export const Vote = Schema.Struct({
  /** The expert's name: `expert_…` for a person, else that of a scripted expert or of a language model. */
  expert: Schema.String,
  /** The kind of expert: `person` or `automatic`. */
  kind: Schema.optionalKey(Schema.String),
  /** The completion that the expert prefers; of several that tie for best, the first in the order shown. */
  choice: Index,
  /** All completions, where the expert ranked them. */
  ranking: Schema.optionalKey(Ranking),
  /** The order in which the completions were shown, as indices. */
  order: Schema.Array(Index),
  /** Seconds from showing to submitting, without the time in which the page was hidden or idle. */
  seconds: Schema.Finite,
  rationale: Schema.optionalKey(Schema.String),
  ...assessment,
  /** Problems that the expert marked, by the names that the rubric gives. */
  flags: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The version of the guidelines that the expert saw, where they were changed; 1 is as the task was sent. */
  guidelines_version: Schema.optionalKey(Schema.Int),
  /** Whether the person had voted on the same prompt and completions, under the same guidelines, in another task. */
  repeated: Schema.optionalKey(Schema.Boolean),
  /** More data about the vote of an automatic expert, such as the answers of a language model in both orders. */
  details: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
})
export type Vote = typeof Vote.Type

/** The first vote of each named expert, and all votes without a name: those that count. */
export const onePerExpert = <V extends { readonly expert: string | null }>(
  votes: ReadonlyArray<V>,
): ReadonlyArray<V> => {
  const seen = new Set<string>()
  return votes.filter(({ expert }) => expert === null || (!seen.has(expert) && seen.add(expert)))
}

/** A vote that was given elsewhere, as an element of `annotations.votes` of an imported result. */
export interface ImportedVote extends Pick<
  Vote,
  "choice" | "kind" | "ranking" | "rationale" | "all_bad" | "edited" | "aspects"
> {
  /** Null if the file names none. */
  readonly expert: string | null
  readonly order?: ReadonlyArray<number>
  readonly seconds?: number
  /** As the file has it. */
  readonly strength?: string | number
  /** When the vote was given, as the file has it. */
  readonly judged_at?: string | number
}
