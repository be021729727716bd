/**
 * Krippendorff's alpha: α = 1 − Do / De. Do is the mean difference of two values within a unit, and De that of any two
 * values. A difference is 0 or 1 for nominal data, and (a − b)² for interval data (K. Krippendorff, 2011, "Computing
 * Krippendorff's Alpha-Reliability", C and D). Categories are positions: alpha is low if one position belongs to a
 * usually better model.
 */
import { Number } from "effect"
import * as Moments from "./Moments.ts"

/** Computes alpha for nominal data. */
export const make = () => {
  /** Number of values by category, in units with at least two values. */
  const totals: Array<number> = []
  /**
   * For each number of values in a unit, the number of ordered pairs of different values in such units. These sums are
   * exact, whatever the order of the units.
   */
  const different = new Map<number, number>()

  return {
    /** @param counts the values by category; trailing categories without values may be missing */
    add: (counts: ReadonlyArray<number>): void => {
      const values = Number.sumAll(counts)
      if (values < 2) return
      let unequal = 0
      for (const [category, count] of counts.entries()) {
        totals[category] = (totals[category] ?? 0) + count
        unequal += count * (values - count)
      }
      different.set(values, (different.get(values) ?? 0) + unequal)
    },
    /** Returns null if there are no pairs, or if all values are in one category. */
    alpha: (): number | null => {
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

/** Computes alpha for interval data, in constant memory. */
export const makeInterval = () => {
  const all = Moments.make()
  /**
   * The sum over units of n S / (n − 1), where S is the sum of squares around the mean of the unit's n values. 2 n S is
   * the sum of the squared differences of all ordered pairs.
   */
  let within = 0
  return {
    add: (values: ReadonlyArray<number>): void => {
      if (values.length < 2) return
      const unit = Moments.make()
      for (const value of values) {
        unit.add(value)
        all.add(value)
      }
      within += (values.length * unit.squares()) / (values.length - 1)
    },
    /** Returns null if there are no pairs, or if all values are equal. */
    alpha: (): number | null =>
      all.squares() === 0 ? null : 1 - ((all.count() - 1) * within) / (all.count() * all.squares()),
  }
}
