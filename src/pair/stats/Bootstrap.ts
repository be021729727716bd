/**
 * Percentile intervals by the bootstrap over items, because votes on one item depend on each other (B. Efron and R. J.
 * Tibshirani, 1993, "An introduction to the bootstrap", 13.3). All statistics use the same resamples. With fewer than
 * `minItems` items, shares have Wilson's interval, and other values have none.
 */
import { Record } from "effect"
import type { AuditEstimate } from "../../domain/Audit.ts"
import * as Interval from "../../domain/Interval.ts"
import * as Distribution from "./Distribution.ts"
import * as Random from "./Random.ts"

export const defaultResamples = 1000

export const minItems = 10

type Range = readonly [lowest: number, highest: number]

export const share: Range = [0, 1]
export const difference: Range = [-1, 1]

const rounding = 1e-12

/** `counts` says how often each item was drawn. A value that cannot be computed is null. */
export type Statistic<Name extends string> = (counts: Uint32Array) => { readonly [name in Name]: number | null }

export const make = (length: number, resamples: number, seed: number) => {
  const all = new Uint32Array(length).fill(1)
  const samplers: Array<(counts: Uint32Array) => void> = []
  const finish: Array<() => void> = []

  /** @param ranges the lowest and the highest possible value, for each statistic that is a mean */
  const estimate = <Name extends string>(
    statistic: Statistic<Name>,
    items: number,
    ranges: { readonly [name in NoInfer<Name>]?: Range },
  ): { readonly [name in Name]: AuditEstimate | null } => {
    const estimates: Array<readonly [name: Name, values: Distribution.Summary]> = []
    const results = Record.map(statistic(all), (value: number | null, name): AuditEstimate | null => {
      if (value === null) return null
      const result = { items, value, low: null as number | null, high: null as number | null }
      const range: Range | undefined = ranges[name]
      if (items < minItems)
        return range === share ? { ...result, ...Interval.wilsonInterval(value * items, items) } : result
      const values = Distribution.make()
      estimates.push([name, values])
      finish.push(() => {
        const [low, high] = [values.quantile(0.025)!, values.quantile(0.975)!]
        if (high - low > rounding) Object.assign(result, { low, high })
        else if (range !== undefined) {
          // All sampled items have equal values. A share of up to `unseenShare` of all items may have an extreme value.
          const unseenShare = Interval.wilsonInterval(0, items)!.high
          result.low = value - unseenShare * (value - range[0])
          result.high = value + unseenShare * (range[1] - value)
        }
      })
      return result
    })
    if (estimates.length === 0) return results
    samplers.push((counts) => {
      const resample = statistic(counts)
      for (const [name, values] of estimates) {
        const value = resample[name]
        if (value !== null) values.add(value)
      }
    })
    return results
  }

  return {
    estimate,
    mean: (values: ReadonlyArray<readonly [item: number, value: number]>, range = share): AuditEstimate | null => {
      const statistic: Statistic<"mean"> = (counts) => {
        let [sum, total] = [0, 0]
        for (const [item, value] of values) {
          sum += value * counts[item]!
          total += counts[item]!
        }
        return { mean: total === 0 ? null : sum / total }
      }
      return estimate(statistic, values.length, { mean: range }).mean
    },
    run: (): void => {
      const random = Random.make(seed)
      const counts = new Uint32Array(length)
      for (let resample = 0; resample < resamples; resample++) {
        counts.fill(0)
        for (let i = 0; i < length; i++) counts[random.below(length)]!++
        for (const add of samplers) add(counts)
      }
      for (const addInterval of finish) addInterval()
    },
  }
}

export type Bootstrap = ReturnType<typeof make>
