/**
 * What experts said besides their choices, where a rubric asked for it: a part of `report.json` that is absent if no vote has
 * such an answer.
 *
 * Guarantees: all is of judged items, whether or not they made pairs, except the two sides of an aspect. Flags are in
 * `QualityReport`, since they come without a rubric, too.
 */
import type { Distribution } from "./Distribution.ts"

export interface StrengthReport {
  /** As votes say it. */
  readonly votes: Distribution
  /** Of the items, by what became of their votes. Their strength is that of the dataset: the mean of the votes for the best. */
  readonly by_outcome: ReadonlyArray<{
    /**
     * `one_vote`: there is no other; `unanimous`: all are for the same completion; `divided`: not all; `tie`: several
     * completions have most.
     */
    readonly outcome: "one_vote" | "unanimous" | "divided" | "tie"
    readonly items: number
    readonly mean: number
  }>
  /** Krippendorff's alpha, interval, of the strengths of votes for the same best completion; null where no item has two. */
  readonly krippendorff_alpha: number | null
}

export interface AspectReport {
  readonly aspect: string
  /** Ratings, each of one expert, of completions that are chosen in a pair of the dataset; of those that are rejected in one. */
  readonly chosen: Distribution
  readonly rejected: Distribution
  /** Krippendorff's alpha, interval, of ratings of the same completion; null where none has two. */
  readonly krippendorff_alpha: number | null
  /** Ratings of all completions by the model that wrote them: the 100 models with most; empty if the input names none. */
  readonly models: ReadonlyArray<{ readonly model: string; readonly ratings: number; readonly mean: number }>
}

/** The answers to a rubric. */
export interface RubricReport {
  /** Judged items with an answer of at least one vote. */
  readonly items: number
  /** Votes with an answer. */
  readonly votes: number
  /** Null if no vote says one. */
  readonly strength: StrengthReport | null
  /** Items whose votes say whether all completions are bad, and those of which more than half of the votes say yes. */
  readonly all_bad: { readonly answered: number; readonly items: number }
  /** Items whose best completion an expert edited, and what that added to its length in characters. */
  readonly edited: { readonly items: number; readonly length_change: Distribution }
  /** How many aspects there are. */
  readonly aspect_count: number
  /** The 50 with most ratings, by name. */
  readonly aspects: ReadonlyArray<AspectReport>
}
