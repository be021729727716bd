/**
 * Krippendorff's alpha for nominal data: how far observers agree beyond chance.
 *
 * α = 1 − Do / De: Do is the share of pairs of values within a unit that differ, De that of pairs of
 * any two values. 1 is perfect agreement, 0 is what chance gives, below 0 is less than that.
 * Source: K. Krippendorff, 2011, "Computing Krippendorff's Alpha-Reliability", section C.
 *
 * Guarantees: the same units in any order give the same number; takes memory for the categories and
 * for the numbers of values that units have, not for the units. A value may be missing; units with
 * fewer than two values have no pairs and count for nothing.
 *
 * Of votes for completions, a unit is a prompt item, a value a vote, and its category the index of the
 * completion in the input. Do asks only whether two votes on one item are for the same completion.
 * De takes an index to mean the same in every item: votes of all items are pooled by index. So
 * - where each index is one model, alpha counts only agreement beyond what the models' shares of all
 *   votes explain: if one model is nearly always better, alpha is low for experts who all see it;
 * - where the order of completions is arbitrary, De is near 1 − 1/K of items with K completions;
 * - where K differs between items, De is one number for all, higher than items with few completions
 *   have of their own and lower than those with many, so that alpha flatters the agreement on the
 *   former. To compare, take `FreeMarginalKappa`.
 */

export interface KrippendorffAlpha {
  /**
   * Adds a unit.
   *
   * @param counts how many of its values are in each category, by the category's index; categories
   * that are absent at the end have none
   */
  readonly add: (counts: ReadonlyArray<number>) => void
  /** Of the units so far; null where there are no pairs, or all values are in one category: nothing then tells agreement from chance. */
  readonly alpha: () => number | null
}

export const make = (): KrippendorffAlpha => {
  /** Pairable values by category. */
  const totals: Array<number> = []
  /** By the number of values in a unit: ordered pairs of different values. Whole numbers, hence exact in any order. */
  const different = new Map<number, number>()

  return {
    add: (counts) => {
      const values = sum(counts)
      if (values < 2) return
      let unequal = 0
      for (const [category, count] of counts.entries()) {
        totals[category] = (totals[category] ?? 0) + count
        unequal += count * (values - count)
      }
      different.set(values, (different.get(values) ?? 0) + unequal)
    },
    alpha: () => {
      const all = sum(totals)
      const expected = totals.reduce((pairs, count) => pairs + count * (all - count), 0)
      if (expected === 0) return null
      const observed = [...different]
        .toSorted(([one], [other]) => one - other)
        .reduce((pairs, [values, unequal]) => pairs + unequal / (values - 1), 0)
      return 1 - ((all - 1) * observed) / expected
    },
  }
}

/** Of units as counts by category. */
export const ofUnits = (units: Iterable<ReadonlyArray<number>>): number | null => {
  const { add, alpha } = make()
  for (const counts of units) add(counts)
  return alpha()
}

/**
 * Of a table with a row for each observer and a column for each unit.
 *
 * @param table null or absent where an observer has no value for a unit
 */
export const ofTable = (table: ReadonlyArray<ReadonlyArray<string | number | null>>): number | null => {
  const categories = [...new Set(table.flat())].filter((value) => value !== null)
  const units = Math.max(0, ...table.map((row) => row.length))
  return ofUnits(
    Array.from({ length: units }, (_, unit) =>
      categories.map((category) => table.filter((row) => row[unit] === category).length),
    ),
  )
}

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, number) => total + number, 0)
