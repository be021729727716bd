/**
 * Krippendorff's alpha: α = 1 − Do / De, with the mean difference Do of pairs of values within a unit, and De of any
 * pairs: 0 or 1 for nominal data, (a − b)² for interval data (K. Krippendorff, 2011, "Computing Krippendorff's
 * Alpha-Reliability", C and D). Categories are positions: alpha is low if one belongs to a usually better model.
 */
import { Number } from "effect"
import * as Moments from "./Moments.ts"

/** For nominal data. */
export const make = () => {
  /** Values by category, in units with at least two values. */
  const totals: Array<number> = []
  /** Ordered pairs of different values, by the unit's number of values: exact sums, whatever the order of the units. */
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
    /** Null if there are no pairs, or all values are in one category. */
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

/** For interval data, in constant memory. */
export const makeInterval = () => {
  const all = Moments.make()
  /**
   * The sum of n S / (n − 1) over units, with the sum S of squares around the unit's mean: 2 n S is the sum of the
   * squared differences of all ordered pairs.
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
    /** Null if there are no pairs, or all values are equal. */
    alpha: (): number | null =>
      all.squares() === 0 ? null : 1 - ((all.count() - 1) * within) / (all.count() * all.squares()),
  }
}
