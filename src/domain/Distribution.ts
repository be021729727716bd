/** Summary statistics, as `report.json` contains them. A value is `null` if there are no numbers to compute it from. */

/** Counts of values in bins. Bin i is [edges[i], edges[i + 1]); the last bin includes its upper edge. */
export interface Histogram {
  /** The bounds of the bins: one element more than `counts`; empty if there are no values. */
  readonly edges: ReadonlyArray<number>
  /** The number of values in each bin. */
  readonly counts: ReadonlyArray<number>
}

/** Summary of a set of numbers. Quantiles are interpolated linearly between the two nearest ranks. */
export interface Distribution {
  /** The number of values. */
  readonly count: number
  /** The arithmetic mean; null without values. */
  readonly mean: number | null
  /** The sample standard deviation (divisor: `count` − 1); null for fewer than two values. */
  readonly standard_deviation: number | null
  /** The smallest value; null without values. */
  readonly min: number | null
  /** The 5% quantile; null without values. */
  readonly p05: number | null
  /** The median; null without values. */
  readonly p50: number | null
  /** The 95% quantile; null without values. */
  readonly p95: number | null
  /** The 99% quantile; null without values. */
  readonly p99: number | null
  /** The largest value; null without values. */
  readonly max: number | null
  /** Counts of the values by bin. */
  readonly histogram: Histogram
}
