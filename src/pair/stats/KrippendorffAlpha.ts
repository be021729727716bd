/**
 * Krippendorff's alpha: α = 1 − Do / De (K. Krippendorff, 2011, "Computing Krippendorff's Alpha-Reliability", C and D).
 * Do is the mean difference of two values within a unit. De is the mean difference of any two values. A difference is 0
 * or 1 for nominal data (`make`), and (a − b)² for interval data. For votes, a value is the position of the choice. If
 * experts usually choose the same position, De is small, and alpha is low.
 */
import { Number } from "effect"
import * as Moments from "./Moments.ts"

export const make = () => {
  const totals: Array<number> = []
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

export const makeInterval = () => {
  const all = Moments.make()
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
    alpha: (): number | null =>
      all.squares() === 0 ? null : 1 - ((all.count() - 1) * within) / (all.count() * all.squares()),
  }
}
