/**
 * Mean, spread, exact quantiles, and histogram of numbers. Quantiles interpolate between the two nearest ranks (type 7
 * of Hyndman and Fan, 1996, the default of NumPy and R). Memory: at most 40 bytes per different number.
 */
import type { Distribution } from "../../domain/Distribution.ts"
import * as Histogram from "./Histogram.ts"
import * as Moments from "./Moments.ts"
import * as SortedNumbers from "./SortedNumbers.ts"

const firstWaiting = 64
const minWaiting = 4096

export const make = () => {
  const moments = Moments.make()
  let sorted = SortedNumbers.empty
  let waiting = new Float64Array(firstWaiting)
  let count = 0

  const sort = (): SortedNumbers.SortedNumbers => {
    if (count > 0) sorted = sorted.with(waiting.subarray(0, count))
    count = 0
    return sorted
  }

  const quantile = (share: number): number | null => quantileOf(sort(), share)

  return {
    add: (value: number): void => {
      moments.add(value)
      if (count === waiting.length) {
        const { different } = sort()
        if (waiting.length < Math.max(minWaiting, different)) waiting = new Float64Array(2 * waiting.length)
      }
      waiting[count++] = value
    },
    distribution: (): Distribution => {
      const { length } = sort()
      return {
        count: length,
        mean: moments.mean(),
        standard_deviation: moments.standardDeviation(),
        min: length === 0 ? null : sorted.at(0),
        p05: quantile(0.05),
        p50: quantile(0.5),
        p95: quantile(0.95),
        p99: quantile(0.99),
        max: length === 0 ? null : sorted.at(length - 1),
        histogram: Histogram.ofSorted(sorted),
      }
    },
    quantile,
  }
}

export type Summary = ReturnType<typeof make>

const quantileOf = (sorted: SortedNumbers.SortedNumbers, share: number): number | null => {
  if (sorted.length === 0) return null
  const rank = (sorted.length - 1) * share
  const lower = sorted.at(Math.floor(rank))
  const upper = sorted.at(Math.ceil(rank))
  return lower + (upper - lower) * (rank - Math.floor(rank))
}
