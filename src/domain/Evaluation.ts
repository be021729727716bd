/**
 * Describes how well the scores of a reward model match a dataset's preferences. In shares and probabilities, each item
 * counts once. In the calibration, each pair counts once. A value that cannot be computed is null.
 */
import type { AuditEstimate } from "./Audit.ts"

/** The accuracy on a part of the pairs. Random scores have an accuracy of 0.5. */
export interface EvaluationSlice {
  /** How the pairs are divided: by `length`, `models`, `strength`, `agreement`, or a field such as `metadata.topic`. */
  readonly by: string
  /** The value that these pairs share, such as `similar` if `by` is `length`; null if the metadata field is absent. */
  readonly value: string | null
  /** Share of pairs whose chosen completion has the higher score. Equal scores count as half. */
  readonly accuracy: AuditEstimate
  /** Share of pairs whose chosen completion is the longer one, in code points. Equal lengths count as half. */
  readonly longer: AuditEstimate
}

/** The pairs whose predicted probability is between `from` and `from` + 0.1. */
export interface CalibrationBin {
  /** Lower bound of the probability, at least 0.5. The upper bound is 0.1 higher. */
  readonly from: number
  readonly pairs: number
  /** Mean of the pairs' predicted probabilities. */
  readonly predicted: number
  /** Share of the pairs whose chosen completion has the higher score. */
  readonly observed: number
}

/** A pair whose rejected completion has the higher score. */
export interface Disagreement {
  readonly item_id: string
  readonly chosen_index: number
  readonly rejected_index: number
  /** Score of the rejected completion minus the score of the chosen one. */
  readonly difference: number
  /** Share of the item's votes that prefer its best completion; null if there is one vote. */
  readonly agreement: number | null
}

/** The result of an evaluation. */
export interface Evaluation {
  /** Number of pairs with scores. */
  readonly pairs: number
  /** Number of items that these pairs come from. */
  readonly items: number
  /** Number of pairs without scores. No other number includes them. */
  readonly unscored: number
  /** Counts the items in the scores file that have no pair, and lists the first ids. Absent if there are none. */
  readonly unmatched?: { readonly items: number; readonly first: ReadonlyArray<string> }
  /** Number of pairs with two equal scores. */
  readonly ties: number
  /** The accuracy on all pairs; null if no pair has scores. */
  readonly overall: Omit<EvaluationSlice, "by" | "value"> | null
  /** Agreement on pairs with several votes that each prefer one of the two completions. Null if there are none. */
  readonly votes: {
    /** Probability that the scores and a random vote on a pair prefer the same completion. */
    readonly scores: AuditEstimate
    /** Probability that two distinct votes on the same pair prefer the same completion. */
    readonly people: AuditEstimate
  } | null
  /** Number of pairs with several votes but no `decided_votes`. The member `votes` leaves them out. Absent if 0. */
  readonly unknown_ties?: number
  /** The accuracy on parts of the pairs. */
  readonly slices: ReadonlyArray<EvaluationSlice>
  /** A pair's predicted probability is the logistic function of the difference of its scores (Bradley-Terry model). */
  readonly calibration: {
    readonly bins: ReadonlyArray<CalibrationBin>
    /** Expected calibration error: the mean of |`predicted` − `observed`| over the bins, weighted by their pairs. */
    readonly error: number | null
    /** The mean of −ln p, where p is the predicted probability of a pair's chosen completion. A coin toss has 0.693. */
    readonly log_loss: number | null
  }
  /** Counts the pairs whose rejected completion has the higher score, their items, and those items that have tools. */
  readonly disputed: { readonly pairs: number; readonly items: number; readonly with_tools: number }
  /** At most 100 of the disputed pairs, those with the greatest differences, the greatest first. */
  readonly disagreements: ReadonlyArray<Disagreement>
}
