/**
 * Selects the items whose right choice is least certain (uncertainty sampling; V. Sheng et al., 2008). A vote also
 * makes other items more certain. Therefore, only a few items get a vote at the same time.
 */
import * as DawidSkene from "../stats/DawidSkene.ts"

const shareAtOnce = 1 / 4
const shareOfBudgetAtOnce = 1 / 16
const leastAtOnce = 50

export const defaultConfidence = 0.95

export interface OpenItem {
  /** True if the item gets no vote now: it needs none, or an earlier vote on the item is outstanding. */
  readonly isSettled: boolean
  readonly completions: number
  readonly votes: ReadonlyArray<DawidSkene.ExpertVote>
  readonly truth?: number | undefined
}

/** Uses the votes on settled items, too, because all votes help to estimate the reliability of experts. */
export const unsettled = <Item extends OpenItem>(items: ReadonlyArray<Item>) => {
  const model = DawidSkene.make()
  for (const { completions, truth, votes } of items) model.add(completions, votes, truth)
  const confidences = model.fit().confidence()
  return items.map((item, i) => ({ item, confidence: confidences[i]! })).filter(({ item }) => !item.isSettled)
}

/** `waiting` is the number of items with an outstanding vote. The budget allows `votesLeft` more votes. */
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

export const atOnceOf = (
  uncertain: number,
  { votesLeft = Infinity, waiting }: { readonly waiting: number; readonly votesLeft?: number | undefined },
): number => {
  const most = Math.min((uncertain + waiting) * shareAtOnce, (votesLeft + waiting) * shareOfBudgetAtOnce)
  return Math.max(0, Math.max(leastAtOnce, Math.ceil(most)) - waiting)
}
