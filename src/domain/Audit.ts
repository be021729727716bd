/** Compares automatic judges with people by agreement and cost. A value that cannot be computed is `null`. */
import type { Estimate } from "./Leaderboard.ts"

/** A value with its 95% interval, and the number of items that it comes from. */
export interface AuditEstimate extends Estimate {
  /** Number of items. */
  readonly items: number
}

/** Agreement of a rater with people on the same items. */
export interface AuditAgreement {
  /** Probability that the rater and a person give the same answer. A tie is an answer. */
  readonly share: AuditEstimate
  /** Cohen's kappa; null if all answers are the same. */
  readonly kappa: AuditEstimate | null
}

/** Agreement on a part of the votes. */
export interface AuditSlice extends AuditAgreement {
  /** How the votes are divided: by `models`, `length`, `position`, or a metadata field such as `metadata.topic`. */
  readonly by: string
  /** The value that these votes share, such as `longer` if `by` is `length`; null if the metadata field is absent. */
  readonly value: string | null
}

/** The results of one judge, of all judges together (the jury), or of people. */
export interface AuditRater {
  /** The judge's name, `jury`, or `people`. */
  readonly rater: string
  /** The role of the rater. */
  readonly role: "judge" | "jury" | "people"
  /** Number of the rater's votes. The jury has one vote for each item on which several judges voted. */
  readonly votes: number
  /** Agreement of the rater with a person on the same item. If the rater is `people`, two people are compared. */
  readonly agreement: AuditAgreement | null
  /** `agreement` on some of the items, such as those of two models or of one value of a metadata field. */
  readonly slices: ReadonlyArray<AuditSlice>
  /** Share of comparisons with the same answer in both orders of the completions. */
  readonly swap_consistency: AuditEstimate | null
  /** Share of comparisons in which the chosen completion is longer than the other. Equal lengths do not count. */
  readonly chose_longer: AuditEstimate | null
  /** Share of comparisons in which the chosen completion was shown before the other. */
  readonly chose_first: AuditEstimate | null
  /** Share of right choices on items with a known answer. A tie of k completions counts 1/k if one of them is right. */
  readonly gold_accuracy: AuditEstimate | null
}

/** A way to judge items, with its accuracy, its number of votes, and its cost. */
export interface AuditPolicy {
  /** The name, such as `judge:a`, `jury`, `jury, people below 0.9`, `one person`, or `people`. */
  readonly policy: string
  /** Share of answers that match the reference. */
  readonly accuracy: AuditEstimate
  /** Accuracy of this policy minus the accuracy of people on the same items. */
  readonly difference: AuditEstimate
  /** Mean number of judges' votes per item. */
  readonly judge_votes: number
  /** Mean number of people's votes per item. */
  readonly people_votes: number
  /** Mean cost per item, as a decimal; null without prices. */
  readonly cost: string | null
}

/** A comparison of policies. It covers the items that have a reference, a vote of a judge, and a vote of a person. */
export interface AuditPolicies {
  /**
   * The answer that counts as right. `gold`: the known answer of the item. `people`: the answer that most people chose.
   * For `people`, each person is left out in turn, and the majority of the other people is the reference.
   */
  readonly reference: "gold" | "people"
  /** Number of compared items. If there are fewer than 10, differences have no interval. */
  readonly items: number
  /** Tolerance from 0 to 1: with 0.02, a policy may be 0.02 less accurate than people. */
  readonly within: number
  /** The cheapest policy within the tolerance, or null if there is none. Without prices, `people_votes` is the cost. */
  readonly cheapest: string | null
  /** The policies. In the last policy, only people vote. */
  readonly policies: ReadonlyArray<AuditPolicy>
}

/** The result of an audit, which compares the votes of judges with the votes of people. */
export interface Audit {
  /** Items with votes. */
  readonly items: number
  /** Items on which both a judge and a person voted. */
  readonly compared: number
  /** Number of named people who voted. */
  readonly people: number
  /** Number of bootstrap resamples for the intervals. */
  readonly resamples: number
  /** Seed for drawing the resamples. */
  readonly seed: number
  /** The judges in the order of their names, then the jury, then people. */
  readonly raters: ReadonlyArray<AuditRater>
  /** One comparison with known answers, and one with people's votes, in this order. An empty comparison is left out. */
  readonly policies: ReadonlyArray<AuditPolicies>
}
