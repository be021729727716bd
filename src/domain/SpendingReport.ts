/**
 * The cost of a job's votes: spent, committed, and what is left of the budget. It is part of the run's report and of
 * the dataset's report.
 *
 * Guarantees: as exact decimals, `spent + committed + left = budget`. `left` is negative if a person resubmitted tasks
 * beyond the budget, the budget was lowered after tasks were sent, or the service replaced results by more expensive
 * ones.
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
  /**
   * Mean cost of a right vote of this kind: the kind's mean cost per vote, times the number of the kind's results on
   * items with a known answer, divided by `gold_right`. Null if there are no right votes.
   */
  readonly cost_per_right_vote: string | null
  /**
   * Token cost of language models' votes in the dataset, as the service reports it; not part of `cost`. Null if no
   * dataset was written, or no vote has a token cost.
   */
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
  /** The votes and the money that remain of the budget; null without a budget. */
  readonly left: VotesCost | null
  /**
   * Votes that the budget does not allow. These are votes on new items of the last run, votes of planned tasks that
   * were not sent because of the budget, and further votes that items need.
   */
  readonly over_budget: VotesCost & { readonly items: number }
  /**
   * The money spent per pair of the dataset; null if no dataset was written, or if the dataset covers only one of
   * several campaigns.
   */
  readonly cost_per_pair: string | null
  /**
   * Mean cost of a right vote on items with a known answer: the cost of the results, each at the mean price of its
   * kind, divided by the number of right votes. Null if no dataset was written, or no vote is right.
   */
  readonly cost_per_right_vote: string | null
  /** The money spent by kind of expert, the kind with the most votes first. */
  readonly kinds: ReadonlyArray<KindCost>
}
