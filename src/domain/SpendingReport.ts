/**
 * What a job's votes cost so far, and what the rest would cost: a part of the run's report and of the dataset's.
 *
 * Guarantees: `spent + committed + left = budget`, exactly, as decimals in texts; `left` is negative where a person had
 * tasks sent again beyond the budget, the budget was lowered after they were sent, or the service replaced results by dearer ones.
 */

/** Votes and what they cost. */
export interface VotesCost {
  readonly votes: number
  readonly cost: string
}

/** What was spent on votes of one kind of expert. */
export interface KindCost extends VotesCost {
  /** As the service tells it; null where it tells none, or the task ended without a result. */
  readonly kind: string | null
  /** Votes on items with a known answer, and how many of these are right; 0 where no dataset was written. */
  readonly gold_votes: number
  readonly gold_right: number
  /** What the results on gold items cost, at the mean price of this kind, divided by its right votes in them; null if there is none. */
  readonly cost_per_right_vote: string | null
}

/** Of all runs and campaigns of the job. */
export interface SpendingReport {
  /** Of a vote that is planned now, unless its kind has another one. */
  readonly price: string
  /** Prices by kind of expert, where they are others. */
  readonly prices: { readonly [kind: string]: string }
  /** What all votes may cost; null without a limit. */
  readonly budget: string | null
  /** Votes of tasks that the service created and that ended, also without a result. Canceled ones do not count. */
  readonly spent: VotesCost
  /** Votes that are planned, outstanding, or in doubt, at the highest price. */
  readonly committed: VotesCost
  /** How many votes are left, and what is left of the budget; null without one. */
  readonly left: VotesCost | null
  /** What the budget does not allow: new items of the last run, those of tasks that are held back, and further votes. */
  readonly over_budget: VotesCost & { readonly items: number }
  /** What was spent for each pair of the dataset; null where none was written, or it is of one of several campaigns. */
  readonly cost_per_pair: string | null
  /** What the results on gold items cost, at the mean price, divided by the right votes in them; null where no dataset was written, or there are none. */
  readonly cost_per_right_vote: string | null
  /** What was spent, by the kind of expert, most votes first. */
  readonly kinds: ReadonlyArray<KindCost>
}
