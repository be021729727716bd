/**
 * Which items another vote is worth most for: those whose right choice is the least certain (uncertainty sampling; V. Sheng,
 * F. Provost and P. Ipeirotis, 2008, "Get another label?", KDD), with the probabilities of `stats/DawidSkene`.
 *
 * Guarantees: the same votes in the same order give the same items. At most a quarter of the uncertain items have another vote
 * outstanding at once, and at most a sixteenth of what the budget has left, or 50, since each vote also tells how reliable its
 * expert is, which settles other items.
 *
 * Simulations with planted experts are in `test/pair/votes/NextVotes.test.ts`. All uncertain items at once took 2.4 votes
 * where a quarter at once took 1.95, for the same accuracy. A budget of 2.1 votes per item, spent on quarters of the items, was
 * less accurate than three weighted votes on each item in 8 of 30 seeds; in sixteenths of itself, in at most one. A choice by
 * expected gain in accuracy was no better, nor were reliabilities with stronger or estimated priors, or more votes on gold.
 */
import * as DawidSkene from "../stats/DawidSkene.ts"

const shareAtOnce = 1 / 4
const shareOfBudgetAtOnce = 1 / 16
const leastAtOnce = 50

export const defaultConfidence = 0.95

/** An item that may have another vote, with the votes that it has. */
export interface OpenItem {
  /** Whether it is known, has all of its votes, or waits for one. */
  readonly isSettled: boolean
  readonly completions: number
  readonly votes: ReadonlyArray<DawidSkene.ExpertVote>
  /** The right choice, where it is known. */
  readonly truth?: number | undefined
}

/**
 * @param confidence probability of an item's best completion from which no more votes are needed
 * @param waiting items that have another vote outstanding
 * @param votesLeft how many votes the budget has left; default any number
 * @returns all that want another vote, and how many of them may have it now
 */
export const choose = <Item extends OpenItem>(
  items: ReadonlyArray<Item>,
  {
    confidence,
    votesLeft = Infinity,
    waiting,
  }: { readonly confidence: number; readonly waiting: number; readonly votesLeft?: number | undefined },
): { readonly wanted: ReadonlyArray<Item>; readonly atOnce: number } => {
  const model = DawidSkene.make()
  for (const { completions, truth, votes } of items) model.add(completions, votes, truth)
  const found = model.fit().confidence()
  const uncertain = items
    .map((item, i) => ({ item, confidence: found[i]! }))
    .filter((each) => !each.item.isSettled && each.confidence < confidence)
    .toSorted((a, b) => a.confidence - b.confidence)
  const most = Math.min((uncertain.length + waiting) * shareAtOnce, (votesLeft + waiting) * shareOfBudgetAtOnce)
  const atOnce = Math.max(leastAtOnce, Math.ceil(most)) - waiting
  return { wanted: uncertain.map(({ item }) => item), atOnce: Math.max(0, atOnce) }
}
