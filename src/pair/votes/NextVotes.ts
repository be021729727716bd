/**
 * Selects the items for which another vote helps most: those whose right choice is least certain (uncertainty sampling;
 * V. Sheng, F. Provost, and P. Ipeirotis, 2008, "Get another label?", KDD). The probabilities come from
 * `stats/DawidSkene`.
 *
 * Guarantees: the same votes in the same order give the same items. The number of items with another vote outstanding
 * is limited to a quarter of the uncertain items, and to a sixteenth of the remaining budget. If the limit is below 50,
 * it is 50. The reason for the limits is that each vote also measures its expert's reliability, and so makes other
 * items certain.
 *
 * `test/pair/votes/NextVotes.test.ts` simulates experts of known accuracy. Results:
 * - If all uncertain items got votes at once, 2.4 votes per item were needed. If a quarter got votes at once, 1.95
 *   votes per item had the same accuracy.
 * - For 30 seeds, an average of 2.1 votes per item was compared with three weighted votes per item. If a quarter of the
 *   items got votes at once, the 2.1 votes were less accurate for 8 seeds. With the limit of a sixteenth of the budget,
 *   the 2.1 votes were less accurate for at most one seed.
 * - Selection by expected gain in accuracy was not better. Stronger priors, estimated priors, and more votes on gold
 *   were not better.
 */
import * as DawidSkene from "../stats/DawidSkene.ts"

const shareAtOnce = 1 / 4
const shareOfBudgetAtOnce = 1 / 16
const leastAtOnce = 50

export const defaultConfidence = 0.95

export interface OpenItem {
  /** Whether the item can get no further vote now, for example because another vote is outstanding. */
  readonly isSettled: boolean
  readonly completions: number
  readonly votes: ReadonlyArray<DawidSkene.ExpertVote>
  readonly truth?: number | undefined
}

/**
 * Returns the items that are not settled, each with the probability of its most probable completion. The model also
 * contains the settled items, because their votes measure the experts.
 */
export const unsettled = <Item extends OpenItem>(items: ReadonlyArray<Item>) => {
  const model = DawidSkene.make()
  for (const { completions, truth, votes } of items) model.add(completions, votes, truth)
  const confidences = model.fit().confidence()
  return items.map((item, i) => ({ item, confidence: confidences[i]! })).filter(({ item }) => !item.isSettled)
}

/**
 * @param confidence if an item's best completion has at least this probability, the item needs no more votes
 * @param waiting number of items with another vote outstanding
 * @param votesLeft number of votes left in the budget. Default: no limit
 * @returns all items that need another vote, and how many of them can get one now
 */
export const choose = <Item extends OpenItem>(
  items: ReadonlyArray<Item>,
  {
    confidence,
    votesLeft = Infinity,
    waiting,
  }: { readonly confidence: number; readonly waiting: number; readonly votesLeft?: number | undefined },
): { readonly wanted: ReadonlyArray<Item>; readonly atOnce: number } => {
  const uncertain = unsettled(items)
    .filter((each) => each.confidence < confidence)
    .toSorted((a, b) => a.confidence - b.confidence)
  return { wanted: uncertain.map(({ item }) => item), atOnce: atOnceOf(uncertain.length, { votesLeft, waiting }) }
}

/** The number of uncertain items that can get another vote now. */
export const atOnceOf = (
  uncertain: number,
  { votesLeft = Infinity, waiting }: { readonly waiting: number; readonly votesLeft?: number | undefined },
): number => {
  const most = Math.min((uncertain + waiting) * shareAtOnce, (votesLeft + waiting) * shareOfBudgetAtOnce)
  return Math.max(0, Math.max(leastAtOnce, Math.ceil(most)) - waiting)
}
