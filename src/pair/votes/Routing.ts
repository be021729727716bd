/**
 * Selects the items of a jury that go to people, and those on which people vote again.
 *
 * An item goes to people if the certainty of its jury is below `bound`, or if no judge has decided. People vote again
 * on an item until the probability of its best completion reaches `confidence`. The least certain items come first.
 * `stats/DawidSkene` estimates the probabilities, and treats each pattern of votes (`Jury`) as one expert. To estimate
 * a pattern's reliability, a sample of its items goes to people, even if the jury seems certain. The size of the sample
 * is three times the square root of the pattern's number of items. Items with a known answer count in the sample, but
 * never go to people.
 *
 * Guarantees: the same votes give the same items, in any order of the items. Items of one pattern are drawn by a hash
 * of their ids, so that those with people's votes are a random sample of the pattern. Not guaranteed: that a pattern is
 * equally reliable on all its items. If the jury seems certain, people may never see an item that most judges misread.
 *
 * `test/pair/votes/Routing.test.ts` has simulations with correlated judges. When the model assumed independent judges
 * instead, `jury<0.9` ended with 88 to 92% right items, because the model overestimated how certain the judges were.
 */
import * as NextVotes from "./NextVotes.ts"

export interface RoutedItem extends NextVotes.OpenItem {
  /** A number for the jury's pattern. Undefined without a vote by a judge. */
  readonly pattern: number | undefined
  readonly people: "none" | "waiting" | "voted"
  /** A number that depends only on the item's id, for drawing a sample. */
  readonly draw: number
}

interface Pattern {
  items: number
  /** Items with a known answer or a vote by a person. */
  measured: number
  /** Items of the sample: those measured, those that wait for a person, and those that are drawn now. */
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

/**
 * @param bound if the jury is at least this certain, the item does not go to people
 * @returns the same as `NextVotes.choose`
 */
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
    // Without a vote that decides, only people can judge the item.
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
