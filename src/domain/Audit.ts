/**
 * How far automatic judges agree with people, and what it would cost to use them. `pair/audit` computes the audit; the
 * command line shows it.
 *
 * Guarantees: `null` means that a number does not exist, for example an interval of kappa from too few items.
 */
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
  /** Cohen's kappa; null if both always give the same answer. */
  readonly kappa: AuditEstimate | null
}

/** Agreement on a part of the votes. */
export interface AuditSlice extends AuditAgreement {
  /** `models`, `length`, `position`, or for the option `by`, `metadata.` and the field. */
  readonly by: string
  /** The value of this part, such as `a / b`, `longer`, or `first`; null for items without the metadata field. */
  readonly value: string | null
}

/** The results of one judge, of all judges together (the jury), or of people. */
export interface AuditRater {
  /** The judge's name, `jury`, or `people`. */
  readonly rater: string
  /** The role of the rater. */
  readonly role: "judge" | "jury" | "people"
  /** Number of votes; for the jury, of items on which several judges voted. */
  readonly votes: number
  /** Agreement with a person; for people, that of a person with another one, which is the human ceiling. */
  readonly agreement: AuditAgreement | null
  /** Agreement by parts of the votes. */
  readonly slices: ReadonlyArray<AuditSlice>
  /** Share of comparisons with the same answer in both orders of the completions. */
  readonly swap_consistency: AuditEstimate | null
  /** Share of choices of the longer completion, if lengths differ. */
  readonly chose_longer: AuditEstimate | null
  /** Share of choices of the completion that was shown first. */
  readonly chose_first: AuditEstimate | null
  /** Share of right choices on items with a known answer. A tie of k completions counts 1/k if one of them is right. */
  readonly gold_accuracy: AuditEstimate | null
}

/** A way to judge items, its accuracy, and its votes per item. */
export interface AuditPolicy {
  /** The name, such as `judge:a`, `jury`, `jury, people below 0.9`, `one person`, or `people`. */
  readonly policy: string
  /** Share of answers that are those of the reference. */
  readonly accuracy: AuditEstimate
  /** The accuracy minus that of people on the same items. */
  readonly difference: AuditEstimate
  /** Mean number of judges' votes per item. */
  readonly judge_votes: number
  /** Mean number of people's votes per item. */
  readonly people_votes: number
  /** The cost per item as a decimal, rounded to two more decimal places than the sum of its votes; null without prices. */
  readonly cost: string | null
}

/** Policies, compared on the items with a reference on which both judges and people voted. */
export interface AuditPolicies {
  /** The reference: known answers, or for each person, the majority of the other people on the item. */
  readonly reference: "gold" | "people"
  /** Number of compared items. Below 10, differences have no interval. */
  readonly items: number
  /** The accepted loss of accuracy against people. */
  readonly within: number
  /** The policy with the lowest cost (without prices, the fewest votes of people) that loses at most this. */
  readonly cheapest: string | null
  /** The policies. The last one is people alone. */
  readonly policies: ReadonlyArray<AuditPolicy>
}

/** An audit of judges by the votes of people. */
export interface Audit {
  /** Items with votes. */
  readonly items: number
  /** Items on which both a judge and a person voted. */
  readonly compared: number
  /** Number of people with a name who voted. */
  readonly people: number
  /** Number of bootstrap resamples for the intervals. */
  readonly resamples: number
  /** Seed for drawing the resamples. */
  readonly seed: number
  /** Each judge by name, then the jury, then people. */
  readonly raters: ReadonlyArray<AuditRater>
  /** The policies by known answers, then by people; without a reference that no compared item has. */
  readonly policies: ReadonlyArray<AuditPolicies>
}
