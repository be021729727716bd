/**
 * Fleiss' kappa: how far raters agree beyond chance, where every subject has equally many ratings.
 *
 * κ = (P − Pe) / (1 − Pe): P is the mean share of pairs of ratings of a subject that agree, Pe what it
 * would be if ratings were drawn from all of them. Source: J. L. Fleiss, 1971, "Measuring nominal scale
 * agreement among many raters".
 *
 * Guarantees: the same subjects in any order give the same number; takes memory for the categories
 * alone. Raters may be other ones for each subject. Of votes for completions, the category is the index
 * in the input, and chance is pooled over all items: what `KrippendorffAlpha` says of that holds here too.
 */

export interface FleissKappa {
  /**
   * Adds a subject.
   *
   * @param counts how many of its ratings are in each category, by the category's index; categories
   * that are absent at the end have none
   */
  readonly add: (counts: ReadonlyArray<number>) => void
  /**
   * Of the subjects so far; null where they don't all have the same number of ratings, or fewer than
   * two, or where all ratings are in one category.
   */
  readonly kappa: () => number | null
}

export const make = (): FleissKappa => {
  const totals: Array<number> = []
  let subjects = 0
  let raters: number | undefined
  let isEqual = true
  let agreeing = 0

  return {
    add: (counts) => {
      const ratings = counts.reduce((total, count) => total + count, 0)
      raters ??= ratings
      isEqual &&= ratings === raters
      subjects++
      for (const [category, count] of counts.entries()) {
        totals[category] = (totals[category] ?? 0) + count
        agreeing += count * (count - 1)
      }
    },
    kappa: () => {
      if (raters === undefined || raters < 2 || !isEqual) return null
      const all = subjects * raters
      // 1 − P and 1 − Pe, from whole numbers: exactly 0 where all ratings are in one category.
      const disagreement = (all * (raters - 1) - agreeing) / (all * (raters - 1))
      const expected = totals.reduce((pairs, count) => pairs + count * (all - count), 0) / all / all
      return expected === 0 ? null : 1 - disagreement / expected
    },
  }
}

/** Of subjects as counts by category. */
export const ofSubjects = (subjects: Iterable<ReadonlyArray<number>>): number | null => {
  const { add, kappa } = make()
  for (const counts of subjects) add(counts)
  return kappa()
}
