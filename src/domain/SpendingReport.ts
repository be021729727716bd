/**
 * The cost of a job's votes in exact decimals: `spent + committed + left = budget`. `left` is negative if tasks were
 * resubmitted beyond the budget, the budget was lowered, or results were replaced by more expensive ones.
 */

/** A number of votes and their cost. */
export interface VotesCost {
  /** The number of votes. */
  readonly votes: number
  /** The cost as an exact decimal, such as `12.50`, in the currency of the price. */
  readonly cost: string
}

/** The votes of one kind of expert and their cost. */
export interface KindCost extends VotesCost {
  /** The kind that the service reports; null if it reports none, or if the task ended without a result. */
  readonly kind: string | null
  /** Votes that prefer one completion, on items with a known answer; 0 if no dataset was written. */
  readonly gold_votes: number
  /** Votes among `gold_votes` that prefer the known answer; 0 if no dataset was written. */
  readonly gold_right: number
  /** Cost of this kind's results on items with a known answer, divided by `gold_right`. Null if `gold_right` is 0. */
  readonly cost_per_right_vote: string | null
  /** Token cost of language models' votes in the dataset, as reported; not part of `cost`. Null if there is none. */
  readonly token_cost: string | null
}

/** The costs of all runs and campaigns of the job. */
export interface SpendingReport {
  /** The current price of a vote whose kind has no price of its own. */
  readonly price: string
  /** Prices of the kinds of expert that have their own price. */
  readonly prices: { readonly [kind: string]: string }
  /** The budget for all votes; null without a limit. */
  readonly budget: string | null
  /** Votes of tasks that the service created and that ended, with or without a result. Canceled tasks do not count. */
  readonly spent: VotesCost
  /** Votes that are planned, outstanding, or in doubt (perhaps sent), at the highest price of the allowed experts. */
  readonly committed: VotesCost
  /** The number of votes and the money that the budget still allows. Null without a budget. */
  readonly left: VotesCost | null
  /** Votes that exceed the budget: votes for unsent tasks, items with too few votes, and new items of the last run. */
  readonly over_budget: VotesCost & { readonly items: number }
  /** The money spent per pair; null without a dataset, or if the dataset covers one of several campaigns. */
  readonly cost_per_pair: string | null
  /**
   * Estimated cost of the results on items with a known answer, divided by the number of right votes. For each
   * kind of expert, such as `judge`, a result is assumed to cost the mean price of this kind's votes. Null if no vote
   * is right.
   */
  readonly cost_per_right_vote: string | null
  /** Spending by kind of expert, the kind with the most votes first. */
  readonly kinds: ReadonlyArray<KindCost>
}
