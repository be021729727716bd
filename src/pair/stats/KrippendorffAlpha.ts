/**
 * Krippendorff's alpha for nominal data: α = 1 − Do / De, where Do is the share of pairs of values within a unit that
 * differ, De that of pairs of any two values. 1 is perfect agreement, 0 is chance.
 * Source: K. Krippendorff, 2011, "Computing Krippendorff's Alpha-Reliability", section C.
 *
 * Guarantees: independent of the order of units. Units with fewer than two values don't count. Categories are places in
 * the input: if each place is one model, and one is mostly better, alpha is low. `FreeMarginalKappa` avoids that.
 */
import { Number } from "effect"

export interface KrippendorffAlpha {
  /**
   * Adds a unit.
   *
   * @param counts how many of its values are in each category, by the category's index; categories
   * that are absent at the end have none
   */
  readonly add: (counts: ReadonlyArray<number>) => void
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
