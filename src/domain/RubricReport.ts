/**
 * Answers to a rubric, a part of `report.json`. It is absent if no vote has such an answer.
 *
 * Guarantees: all numbers cover judged items, whether or not they made pairs, except `chosen` and `rejected` of an
 * aspect. Flags are in `QualityReport`, because they also occur without a rubric.
 */
import type { Distribution } from "./Distribution.ts"

export interface StrengthReport {
  /** Strengths as the votes give them. */
  readonly votes: Distribution
  /**
   * Mean strength of items, by how their votes ended. An item's strength is the one in the dataset: the mean of the
   * votes for the best completion.
   */
  readonly by_outcome: ReadonlyArray<{
    /**
     * `one_vote`: the item has one vote; `unanimous`: all votes prefer the same completion; `divided`: they do not;
     * `tie`: several completions have the most votes.
     */
    readonly outcome: "one_vote" | "unanimous" | "divided" | "tie"
    readonly items: number
    readonly mean: number
  }>
  /**
   * Krippendorff's alpha, interval, of the strengths of votes for the same best completion; null if no item has two.
   */
  readonly krippendorff_alpha: number | null
}

export interface AspectReport {
  readonly aspect: string
  /**
   * Single ratings of completions that are chosen in a pair of the dataset. `rejected` has those of completions that
   * are rejected in one.
   */
  readonly chosen: Distribution
  readonly rejected: Distribution
  /** Krippendorff's alpha, interval, of ratings of the same completion; null if no completion has two. */
  readonly krippendorff_alpha: number | null
  /**
   * Ratings of all completions, by the model that wrote them. It lists the 100 models with the most ratings; empty if
   * the input names none.
   */
  readonly models: ReadonlyArray<{ readonly model: string; readonly ratings: number; readonly mean: number }>
}

/** The answers to a rubric. */
export interface RubricReport {
  /** Judged items with at least one vote that has an answer. */
  readonly items: number
  readonly votes: number
  /** Null if no vote gives a strength. */
  readonly strength: StrengthReport | null
  /**
   * `answered`: items with a vote that answers whether all completions are bad. `items`: those on which more than half
   * of the votes say yes.
   */
  readonly all_bad: { readonly answered: number; readonly items: number }
  /** Items whose best completion an expert edited, and the change of its length in characters. */
  readonly edited: { readonly items: number; readonly length_change: Distribution }
  readonly aspect_count: number
  /** The 50 aspects with the most ratings, sorted by name. */
  readonly aspects: ReadonlyArray<AspectReport>
}
