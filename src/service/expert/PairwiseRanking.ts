/**
 * Ranks completions by pairwise comparisons in both orders. A completion wins only if both answers prefer it. If not,
 * the two are tied (Zheng et al. 2023, arXiv:2306.05685, 3.4; for position bias see arXiv:2305.17926 and
 * arXiv:2406.07791). More than two completions are compared as in Qin et al. 2023 (arXiv:2306.17563). `allPairs` asks
 * n(n-1) questions and counts wins; a tie is half a win for both. `slidingPass` asks 2(n-1) questions. It begins with
 * the last pair, and keeps the earlier of two tied completions.
 */
import { Effect } from "effect"

/** Up to this number of completions, `rank` compares all pairs. Above it, `rank` finds only the best completion. */
const maxAllPairs = 4

/** The answer about two completions in the order in which they were shown. Numbers are indices of completions. */
export interface Answer {
  readonly order: readonly [number, number]
  /** Undefined if the model found both equally good. */
  readonly choice: number | undefined
  readonly rationale: string
}

export type Comparison = readonly [Answer, Answer]

export interface Ranked {
  /** The best completion. If several are equally good, it is the first of them in the given order. */
  readonly best: number
  /** Groups of equally good completions, best first. Undefined if only the best was determined. */
  readonly ranking: ReadonlyArray<readonly [number, ...ReadonlyArray<number>]> | undefined
  readonly comparisons: ReadonlyArray<Comparison>
  /** Whether another completion could be the best if the inconsistent comparisons had a different outcome. */
  readonly isUncertain: boolean
}

/** Compares two completions in both orders. Returns the answer for `[first, second]`, then for `[second, first]`. */
export type Compare<E> = (first: number, second: number) => Effect.Effect<Comparison, E>

export const winner = ([one, other]: Comparison): number | undefined =>
  one.choice === other.choice ? one.choice : undefined

export const isConsistent = ([one, other]: Comparison): boolean => one.choice === other.choice

export const isOf = ([{ order }]: Comparison, index: number): boolean => order.includes(index)

export const allPairs = Effect.fnUntraced(function* <E>(
  order: readonly [number, ...ReadonlyArray<number>],
  compare: Compare<E>,
): Effect.fn.Return<Ranked, E> {
  const pairs = order.flatMap((first, place) => order.slice(place + 1).map((second) => [first, second] as const))
  const comparisons = yield* Effect.forEach(pairs, ([first, second]) => compare(first, second), {
    concurrency: "unbounded",
  })
  // All scores are doubled, so that they are integers.
  const scores = new Map(order.map((index) => [index, 0]))
  for (const comparison of comparisons) {
    const won = winner(comparison)
    for (const index of comparison[0].order) {
      scores.set(index, scores.get(index)! + (won === undefined ? 1 : won === index ? 2 : 0))
    }
  }
  const groups = new Map<number, [number, ...Array<number>]>()
  for (const [index, score] of scores) {
    const group = groups.get(score)
    if (group === undefined) groups.set(score, [index])
    else group.push(index)
  }
  const ranking = [...groups].toSorted(([one], [other]) => other - one).map(([, group]) => group)
  const best = (ranking[0] ?? order)[0]
  return { best, ranking, comparisons, isUncertain: order.some((rival) => couldPass(rival, best, scores, comparisons)) }
})

const couldPass = (
  rival: number,
  best: number,
  scores: ReadonlyMap<number, number>,
  comparisons: ReadonlyArray<Comparison>,
): boolean => {
  if (rival === best) return false
  // An inconsistent comparison gave 1 point to each of its completions. With another outcome, `rival` could have 1
  // point more, and `best` could have 1 point less. `swing` is the sum of these points.
  const swing = comparisons
    .filter((comparison) => !isConsistent(comparison))
    .reduce((sum, comparison) => sum + (isOf(comparison, rival) ? 1 : 0) + (isOf(comparison, best) ? 1 : 0), 0)
  return scores.get(rival)! + swing > scores.get(best)!
}

export const slidingPass = Effect.fnUntraced(function* <E>(
  order: readonly [number, ...ReadonlyArray<number>],
  compare: Compare<E>,
): Effect.fn.Return<Ranked, E> {
  const comparisons: Array<Comparison> = []
  let best = order.at(-1) ?? order[0]
  for (const earlier of order.slice(0, -1).toReversed()) {
    const comparison = yield* compare(earlier, best)
    comparisons.push(comparison)
    best = winner(comparison) ?? earlier
  }
  return { best, ranking: undefined, comparisons, isUncertain: isOpen(best, comparisons) }
})

export const rank = <E>(order: readonly [number, ...ReadonlyArray<number>], compare: Compare<E>) =>
  order.length <= maxAllPairs ? allPairs(order, compare) : slidingPass(order, compare)

const isOpen = (best: number, comparisons: ReadonlyArray<Comparison>): boolean => {
  let carried = best
  for (const comparison of comparisons.toReversed()) {
    if (!isConsistent(comparison)) return true
    const [earlier, before] = comparison[0].order
    if (carried !== earlier) continue
    if (winner(comparison) === earlier) return false
    carried = before
  }
  return false
}
