/**
 * What a job's votes cost so far, and what the rest would cost.
 *
 * Guarantees: `spent + committed + left = budget`, exactly, as decimals in texts; `left` is negative where a person had
 * tasks sent again beyond the budget, or the budget was lowered after they were sent.
 */
import { Option } from "effect"
import * as Cost from "../domain/Cost.ts"
import type { Spending } from "../task/ledger/Spending.ts"

/** Votes and what they cost. */
export interface VotesCost {
  readonly votes: number
  readonly cost: string
}

export interface SpendingReport {
  /** Of a vote. */
  readonly price: string
  /** What all votes may cost; null without a limit. */
  readonly budget: string | null
  /** Votes of tasks that the service created and that ended, also without a result. Canceled ones do not count. */
  readonly spent: VotesCost
  /** Votes that are planned, outstanding, or in doubt. */
  readonly committed: VotesCost
  /** How many votes are left, and what is left of the budget; null without one. */
  readonly left: VotesCost | null
  /** What the budget does not allow: new items of the last run, those of tasks that are held back, and further votes. */
  readonly over_budget: VotesCost & { readonly items: number }
  /** What was spent for each pair of the dataset; null where none was written. */
  readonly cost_per_pair: string | null
  /** The price of a vote divided by the share of right votes on gold items; null where no dataset was written, or none has gold items. */
  readonly cost_per_right_vote: string | null
}

/** Right votes on items with a known answer. */
export interface GoldVotes {
  readonly votes: number
  readonly right: number
}

export const costOf = (price: Cost.Decimal, votes: number): VotesCost => ({
  votes,
  cost: Cost.format(Cost.times(price, votes)),
})

/** @param over new items of the last run that were not planned, and the votes that each would have had */
export const make = (
  { budget, committed, held, heldItems, price, spent }: Spending,
  over: { readonly items: number; readonly votes: number },
  { gold, pairs = 0 }: { readonly pairs?: number | undefined; readonly gold?: GoldVotes | undefined },
): SpendingReport => {
  const used = spent + committed
  return {
    price: Cost.format(price),
    budget: Option.getOrNull(Option.map(budget, Cost.format)),
    spent: costOf(price, spent),
    committed: costOf(price, committed),
    left: Option.getOrNull(
      Option.map(budget, (budget) => ({
        votes: Math.max(0, Cost.votesWithin(budget, price) - used),
        cost: Cost.format(Cost.minus(budget, Cost.times(price, used))),
      })),
    ),
    over_budget: { items: over.items + heldItems, ...costOf(price, over.items * over.votes + held) },
    cost_per_pair: Cost.among(Cost.times(price, spent), pairs),
    cost_per_right_vote: gold === undefined ? null : Cost.among(Cost.times(price, gold.votes), gold.right),
  }
}

/** Whether something is left that the budget does not allow. */
export const isOver = ({ over_budget }: SpendingReport): boolean => over_budget.votes > 0
