/** Statistics of a rubric's answers on judged items; absent if there are none. Flags are in `QualityReport`. */
import type { Distribution } from "./Distribution.ts"

/** How strongly experts prefer the completion that they chose. */
export interface StrengthReport {
  /** Distribution of the strengths in single votes. */
  readonly votes: Distribution
  /** Mean strength of items by outcome. An item's strength is the mean over its votes for the best completion. */
  readonly by_outcome: ReadonlyArray<{
    /** `divided`: votes prefer different completions, and one is best; `tie`: several are best. */
    readonly outcome: "one_vote" | "unanimous" | "divided" | "tie"
    readonly items: number
    readonly mean: number
  }>
  /** Agreement of strengths: Krippendorff's alpha for interval data, over votes for the best completion, or null. */
  readonly krippendorff_alpha: number | null
}

/** The ratings of completions in one aspect of the rubric. */
export interface AspectReport {
  /** The name of the aspect. */
  readonly aspect: string
  /** Distribution of all ratings of completions that are chosen in a pair of the dataset. */
  readonly chosen: Distribution
  /** Distribution of all ratings of completions that are rejected in a pair of the dataset. */
  readonly rejected: Distribution
  /** Krippendorff's alpha for interval data, over ratings of the same completion; null if none has two ratings. */
  readonly krippendorff_alpha: number | null
  /** Number and mean of ratings, for the 100 models with the most ratings; empty if the input names no models. */
  readonly models: ReadonlyArray<{ readonly model: string; readonly ratings: number; readonly mean: number }>
}

/** The answers to a rubric. */
export interface RubricReport {
  /** Judged items with at least one vote that has an answer. */
  readonly items: number
  /** Number of votes that answer at least one question of the rubric. Only votes on judged items count. */
  readonly votes: number
  /** How strongly experts prefer their choices; null if no vote gives a strength. */
  readonly strength: StrengthReport | null
  /** `answered`: items with an answer to "Are all completions bad?". `items`: items with over 50% of votes for yes. */
  readonly all_bad: { readonly answered: number; readonly items: number }
  /** `items`: items with an edited best completion. `length_change`: new length minus old length, in characters. */
  readonly edited: { readonly items: number; readonly length_change: Distribution }
  /** The number of aspects with an answer; `aspects` lists at most 50 of them. */
  readonly aspect_count: number
  /** The 50 aspects with the most ratings, sorted by name. */
  readonly aspects: ReadonlyArray<AspectReport>
}
