/**
 * Percentile intervals by the bootstrap over items (B. Efron and R. J. Tibshirani, 1993, "An introduction to the
 * bootstrap", 13.3). Whole items are drawn, because votes on one item depend on each other.
 *
 * Guarantees: the same statistics, items, and seed give the same intervals. All statistics are computed on the same
 * resamples. With fewer than `minItems` items, or if a share is 0 or 1, resamples would not show how uncertain a value
 * is. Shares then have Wilson's interval with one trial per item (`domain/Interval`), and other values have none.
 */
import type { AuditEstimate } from "../../domain/Audit.ts"
import * as Interval from "../../domain/Interval.ts"
import * as Distribution from "./Distribution.ts"
import * as Random from "./Random.ts"

export const defaultResamples = 1000

const minItems = 10

/** Computes a value from the number of times that each item was drawn. Null if the value does not exist. */
export type Statistic = (drawn: Uint32Array) => number | null

/** @param length the number of items */
export const make = (length: number, resamples: number, seed: number) => {
  const all = new Uint32Array(length).fill(1)
  const pending: Array<{
    readonly statistic: Statistic
    readonly values: Distribution.Summary
    readonly result: { low: number | null; high: number | null }
  }> = []

  /** Returns the value for all items. `run` adds the interval. @param items the number of items that count */
  const estimate = (statistic: Statistic, items: number, isShare: boolean): AuditEstimate | null => {
    const value = statistic(all)
    if (value === null) return null
    const result = { items, value, low: null, high: null }
    if (isShare && (items < minItems || value === 0 || value === 1)) {
      return { ...result, ...Interval.wilsonInterval(value * items, items) }
    }
    if (items >= minItems && value !== 1) pending.push({ statistic, values: Distribution.make(), result })
    return result
  }

  return {
    estimate,
    /** The mean of values, at most one per item. */
    mean: (values: ReadonlyArray<readonly [item: number, value: number]>, isShare = true): AuditEstimate | null => {
      const statistic: Statistic = (drawn) => {
        let [sum, total] = [0, 0]
        for (const [item, value] of values) {
          sum += value * drawn[item]!
          total += drawn[item]!
        }
        return total === 0 ? null : sum / total
      }
      return estimate(statistic, values.length, isShare)
    },
    run: (): void => {
      const random = Random.make(seed)
      const drawn = new Uint32Array(length)
      for (let resample = 0; resample < resamples; resample++) {
        drawn.fill(0)
        for (let i = 0; i < length; i++) drawn[random.below(length)]!++
        for (const { statistic, values } of pending) {
          const value = statistic(drawn)
          if (value !== null) values.add(value)
        }
      }
      for (const { result, values } of pending) {
        result.low = values.quantile(0.025)
        result.high = values.quantile(0.975)
      }
    },
  }
}

export type Bootstrap = ReturnType<typeof make>
