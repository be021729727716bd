/**
 * Percentile intervals by the bootstrap over items (B. Efron and R. J. Tibshirani, 1993, "An introduction to the
 * bootstrap", 13.3). Whole items are drawn, because votes on one item depend on each other.
 *
 * Guarantees: the same statistics, items, and seed give the same intervals. All statistics are computed on the same
 * resamples. With fewer than `minItems` items, or if a share is 0 or 1, resamples would not show how uncertain a value
 * is. Shares then have Wilson's interval with one trial per item (`domain/Interval`), and other values have none.
 */
import { Record } from "effect"
import type { AuditEstimate } from "../../domain/Audit.ts"
import * as Interval from "../../domain/Interval.ts"
import * as Distribution from "./Distribution.ts"
import * as Random from "./Random.ts"

export const defaultResamples = 1000

const minItems = 10

/** Computes values from the number of times that each item was drawn. A value that does not exist is null. */
export type Statistic<Name extends string> = (drawn: Uint32Array) => { readonly [name in Name]: number | null }

/** @param length the number of items */
export const make = (length: number, resamples: number, seed: number) => {
  const all = new Uint32Array(length).fill(1)
  const pending: Array<(drawn: Uint32Array) => void> = []
  const finish: Array<() => void> = []

  /**
   * Returns the values for all items. `run` adds their intervals.
   *
   * @param items the number of items that count
   * @param shares the names of the values that are shares
   */
  const estimate = <Name extends string>(
    statistic: Statistic<Name>,
    items: number,
    shares: ReadonlyArray<NoInfer<Name>>,
  ): { readonly [name in Name]: AuditEstimate | null } => {
    const resampled: Array<readonly [name: Name, values: Distribution.Summary]> = []
    const results = Record.map(statistic(all), (value: number | null, name): AuditEstimate | null => {
      if (value === null) return null
      const result = { items, value, low: null as number | null, high: null as number | null }
      if (shares.includes(name) && (items < minItems || value === 0 || value === 1)) {
        return { ...result, ...Interval.wilsonInterval(value * items, items) }
      }
      if (items < minItems || value === 1) return result
      const values = Distribution.make()
      resampled.push([name, values])
      finish.push(() => {
        result.low = values.quantile(0.025)
        result.high = values.quantile(0.975)
      })
      return result
    })
    if (resampled.length === 0) return results
    pending.push((drawn) => {
      const drawnValues = statistic(drawn)
      for (const [name, values] of resampled) {
        const value = drawnValues[name]
        if (value !== null) values.add(value)
      }
    })
    return results
  }

  return {
    estimate,
    /** The mean of values, at most one per item. */
    mean: (values: ReadonlyArray<readonly [item: number, value: number]>, isShare = true): AuditEstimate | null => {
      const statistic: Statistic<"mean"> = (drawn) => {
        let [sum, total] = [0, 0]
        for (const [item, value] of values) {
          sum += value * drawn[item]!
          total += drawn[item]!
        }
        return { mean: total === 0 ? null : sum / total }
      }
      return estimate(statistic, values.length, isShare ? ["mean"] : []).mean
    },
    run: (): void => {
      const random = Random.make(seed)
      const drawn = new Uint32Array(length)
      for (let resample = 0; resample < resamples; resample++) {
        drawn.fill(0)
        for (let i = 0; i < length; i++) drawn[random.below(length)]!++
        for (const add of pending) add(drawn)
      }
      for (const addInterval of finish) addInterval()
    },
  }
}

export type Bootstrap = ReturnType<typeof make>
