/**
 * How well the scores of a reward model match the preferences in a dataset. `pair/evaluation` computes the numbers; the
 * command line and the report show them.
 *
 * Guarantees: null means that a number does not exist. Each item counts once, however many pairs it has.
 */
import type { AuditEstimate } from "./Audit.ts"

/** The accuracy on a part of the pairs. A random choice has 0.5. */
export interface EvaluationSlice {
  /** `length`, `models`, `strength`, `agreement`, or for the option `by`, `metadata.` and the field. */
  readonly by: string
  /** The value of this part, such as `a / b` or `similar`; null for items without the metadata field. */
  readonly value: string | null
  /** Share of pairs whose chosen completion has the higher score. Equal scores count as half. */
  readonly accuracy: AuditEstimate
  /** Share of pairs whose chosen completion is the longer one, in code points. Equal lengths count as half. */
  readonly longer: AuditEstimate
}

/** Pairs by the probability that the scores give to the completion with the higher score. */
export interface CalibrationBin {
  /** Lower bound of the probability, from 0.5. The bin ends 0.1 above it. */
  readonly from: number
  /** Number of pairs. */
  readonly pairs: number
  /** Mean probability. */
  readonly predicted: number
  /** Share of the pairs whose chosen completion has the higher score. */
  readonly observed: number
}

/** A pair whose rejected completion has the higher score. */
export interface Disagreement {
  readonly item_id: string
  readonly chosen_index: number
  readonly rejected_index: number
  /** Score of the rejected completion minus that of the chosen one. */
  readonly difference: number
  /** Share of the votes for the item's best completion; null if there is one vote. */
  readonly agreement: number | null
}

/** The result of an evaluation. */
export interface Evaluation {
  /** Number of pairs with scores. */
  readonly pairs: number
  /** Number of items of these pairs. */
  readonly items: number
  /** Number of pairs without scores. They do not count. */
  readonly unscored: number
  /** Items of the file with scores that no pair is of: their number, and the first ids. Absent if there are none. */
  readonly unmatched?: { readonly items: number; readonly first: ReadonlyArray<string> }
  /** Number of pairs with two equal scores. */
  readonly ties: number
  /** All pairs; null if none has scores. */
  readonly overall: Omit<EvaluationSlice, "by" | "value"> | null
  /** Items with several votes, each of which prefers one completion of a pair; null if there are none. */
  readonly votes: {
    /** Probability that the scores prefer the same completion as one vote. */
    readonly scores: AuditEstimate
    /** Probability that two votes on a pair prefer the same completion: the human ceiling. */
    readonly people: AuditEstimate
  } | null
  /**
   * Number of pairs with several votes that do not count in `votes`, because the dataset has no column `decided_votes`:
   * a prefstream before that column wrote it. Absent if there are none.
   */
  readonly unknown_ties?: number
  /** The accuracy on parts of the pairs. */
  readonly slices: ReadonlyArray<EvaluationSlice>
  /** Probabilities by the Bradley-Terry model: the logistic function of the difference of two scores. */
  readonly calibration: {
    readonly bins: ReadonlyArray<CalibrationBin>
    /** Mean distance between predicted and observed, weighted by pairs (expected calibration error). */
    readonly error: number | null
    /** Mean negative log-likelihood, in nats. Without knowledge: 0.693. */
    readonly log_loss: number | null
  }
  /** Number of pairs whose rejected completion has the higher score, of their items, and of those with tools. */
  readonly disputed: { readonly pairs: number; readonly items: number; readonly with_tools: number }
  /** These pairs, the greatest differences first, at most 100. */
  readonly disagreements: ReadonlyArray<Disagreement>
}
