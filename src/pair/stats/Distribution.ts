/**
 * Summary of a set of numbers: mean, spread, exact quantiles, histogram.
 *
 * Guarantees: quantiles interpolate between the two nearest ranks (type 7 of Hyndman and Fan, 1996, the default of
 * NumPy and R). The standard deviation is the sample's, null for fewer than two numbers. Memory: 4 bytes per number
 * while all are integers below 2^31, then 8; up to three times that while growing.
 */
import type { Distribution } from "../../domain/QualityReport.ts"
import * as Histogram from "./Histogram.ts"
import * as Moments from "./Moments.ts"
import * as NumberList from "./NumberList.ts"

export interface Summary {
  /** @param value finite */
  readonly add: (value: number) => void
  /** Of the numbers so far. */
  readonly distribution: () => Distribution
}

export const make = (): Summary => {
  const moments = Moments.make()
  let numbers: NumberList.NumberList<Int32Array<ArrayBuffer> | Float64Array<ArrayBuffer>> = NumberList.make(Int32Array)
  let isWhole = true

  const widen = () => {
    const wide = NumberList.make(Float64Array)
    for (const number of numbers.view()) wide.push(number)
    numbers = wide
    isWhole = false
  }

  return {
    add: (value) => {
      moments.add(value)
      if (isWhole && (value | 0) !== value) widen()
      numbers.push(value)
    },
    distribution: () => {
      // oxlint-disable-next-line unicorn/no-array-sort -- in place: the order means nothing, a copy costs memory
      const sorted = numbers.view().sort()
      return {
        count: sorted.length,
        mean: moments.mean(),
        standard_deviation: moments.standardDeviation(),
        min: sorted[0] ?? null,
        p05: quantile(sorted, 0.05),
        p50: quantile(sorted, 0.5),
        p95: quantile(sorted, 0.95),
        p99: quantile(sorted, 0.99),
        max: sorted.at(-1) ?? null,
        histogram: Histogram.ofSorted(sorted),
      }
    },
  }
}

/**
 * The value below which a share of the numbers lies, interpolated; null where there are none.
 *
 * @param sorted in ascending order
 * @param share 0 to 1
 */
export const quantile = (sorted: Histogram.Sorted, share: number): number | null => {
  if (sorted.length === 0) return null
  const rank = (sorted.length - 1) * share
  const lower = sorted[Math.floor(rank)]!
  const upper = sorted[Math.ceil(rank)]!
  return lower + (upper - lower) * (rank - Math.floor(rank))
}
