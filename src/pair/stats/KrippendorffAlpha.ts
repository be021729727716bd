/**
 * Krippendorff's alpha: α = 1 − Do / De, where Do is the mean difference of pairs of values within a unit, De that of pairs of
 * any two values. 1 is perfect agreement, 0 is chance. Nominal: values differ (1) or not (0). Interval: (a − b)².
 * Source: K. Krippendorff, 2011, "Computing Krippendorff's Alpha-Reliability", sections C and D.
 *
 * Guarantees: independent of the order of units; for interval data, but for rounding. Units with fewer than two values don't
 * count. Categories are places in the input: if each place is one model, and one is mostly better, alpha is low. `FreeMarginalKappa` avoids that.
 */
import { Number } from "effect"
import * as Moments from "./Moments.ts"

export interface KrippendorffAlpha {
  /**
   * Adds a unit.
   *
   * @param unit of nominal data, how many of its values are in each category, by the category's index (categories that
   * are absent at the end have none); of interval data, its values
   */
  readonly add: (unit: ReadonlyArray<number>) => void
  /** Of the units so far; null if there are no pairs, or all values are in one category. */
  readonly alpha: () => number | null
}

export const make = (): KrippendorffAlpha => {
  /** Pairable values by category. */
  const totals: Array<number> = []
  /** By the number of values in a unit: ordered pairs of different values. Whole numbers, hence exact in any order. */
  const different = new Map<number, number>()

  return {
    add: (counts) => {
      const values = Number.sumAll(counts)
      if (values < 2) return
      let unequal = 0
      for (const [category, count] of counts.entries()) {
        totals[category] = (totals[category] ?? 0) + count
        unequal += count * (values - count)
      }
      different.set(values, (different.get(values) ?? 0) + unequal)
    },
    alpha: () => {
      const all = Number.sumAll(totals)
      const expected = totals.reduce((pairs, count) => pairs + count * (all - count), 0)
      if (expected === 0) return null
      const observed = [...different]
        .toSorted(([one], [other]) => one - other)
        .reduce((pairs, [values, unequal]) => pairs + unequal / (values - 1), 0)
      return 1 - ((all - 1) * observed) / expected
    },
  }
}

/** For interval data, in constant memory. `add` takes a unit's values; `alpha` is null if there are no pairs, or nothing varies. */
export const makeInterval = (): KrippendorffAlpha => {
  const all = Moments.make()
  /** Half the sum, over the units, of squared differences of ordered pairs, each divided by one less than the unit's values. */
  let within = 0
  return {
    add: (values) => {
      if (values.length < 2) return
      const unit = Moments.make()
      for (const value of values) {
        unit.add(value)
        all.add(value)
      }
      // Squared differences of all ordered pairs of n values sum to 2 n times the squares around their mean.
      within += (values.length * unit.squares()) / (values.length - 1)
    },
    alpha: () => (all.squares() === 0 ? null : 1 - ((all.count() - 1) * within) / (all.count() * all.squares())),
  }
}
