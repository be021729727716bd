/**
 * Summary statistics, as `report.json` contains them.
 *
 * Guarantees: a value is `null` if there are no numbers to compute it from.
 */

/** Counts of values in half-open bins: bin i is [edges[i], edges[i + 1]), the last one closed. */
export interface Histogram {
  /** The bounds of the bins: one element more than `counts`; empty if there are no values. */
  readonly edges: ReadonlyArray<number>
  readonly counts: ReadonlyArray<number>
}

/** Summary of a set of numbers. Quantiles are interpolated linearly between the two nearest ranks. */
export interface Distribution {
  readonly count: number
  readonly mean: number | null
  readonly standard_deviation: number | null
  readonly min: number | null
  readonly p05: number | null
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
  readonly max: number | null
  readonly histogram: Histogram
}
