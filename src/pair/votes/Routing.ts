/**
 * Selects the items to send to people, the least certain first. Certainty is the probability that the best completion
 * is right. If most judges make the same error, the certainty may be too high, and people may not see the item. Items
 * with a known answer are never selected. Items have the same `pattern` if their judges agree and disagree in the same
 * way (`Jury`).
 * - Of n items with the same pattern, 3 √n are selected first. They show how reliable the judges are.
 * - After that, an item is selected if its certainty is below `bound` (`--people-when`).
 * - An item that has a person's vote is selected again if its certainty is below `confidence`.
 */
import * as NextVotes from "./NextVotes.ts"

export interface RoutedItem extends NextVotes.OpenItem {
  readonly pattern: number | undefined
  readonly people: "none" | "waiting" | "voted"
  readonly draw: number
}

interface Pattern {
  items: number
  /** Number of items with a known answer or a person's vote. */
  measured: number
  /** Number of items that are part of `measured`, that wait for a person's vote, or that `choose` has just selected. */
  sampled: number
}

const sampleSize = (items: number): number => Math.ceil(3 * Math.sqrt(items))

const patternsOf = (items: ReadonlyArray<RoutedItem>): ReadonlyMap<number, Pattern> => {
  const patterns = new Map<number, Pattern>()
  for (const { pattern, people, truth } of items) {
    if (pattern === undefined) continue
    const counts = patterns.get(pattern) ?? { items: 0, measured: 0, sampled: 0 }
    patterns.set(pattern, counts)
    const isMeasured = people === "voted" || truth !== undefined
    counts.items++
    if (isMeasured) counts.measured++
    if (isMeasured || people === "waiting") counts.sampled++
  }
  return patterns
}

export const choose = <Item extends RoutedItem>(
  items: ReadonlyArray<Item>,
  {
    bound,
    confidence,
    ...limits
  }: {
    readonly bound: number
    readonly confidence: number
    readonly waiting: number
    readonly votesLeft?: number | undefined
  },
): { readonly wanted: ReadonlyArray<Item>; readonly atOnce: number } => {
  const patterns = patternsOf(items)
  const isWanted = ({ pattern, people, truth, votes }: Item, certainty: number): boolean => {
    if (truth !== undefined) return false
    if (people !== "none") return certainty < confidence
    const counts = pattern === undefined ? undefined : patterns.get(pattern)
    if (counts === undefined) return votes.length === 0 || certainty < bound
    const needed = sampleSize(counts.items)
    if (counts.measured >= Math.min(needed, counts.items)) return certainty < bound
    return counts.sampled++ < needed
  }
  const wanted = NextVotes.unsettled(items)
    .toSorted((a, b) => a.confidence - b.confidence || a.item.draw - b.item.draw)
    .flatMap(({ confidence, item }) => (isWanted(item, confidence) ? [item] : []))
  return { wanted, atOnce: NextVotes.atOnceOf(wanted.length, limits) }
}
