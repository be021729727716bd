/**
 * Randolph's free-marginal multirater kappa: κ = (P − Pe) / (1 − Pe). P is the mean share of a subject's pairs of
 * ratings that agree. Pe is the mean of 1/K for K categories. 1 is perfect agreement, and 0 is agreement by chance.
 * Source: J. J. Randolph, 2005, "Free-marginal multirater kappa", Joensuu Learning and Instruction Symposium.
 *
 * Guarantees: each subject counts once, with its own K. Subjects with fewer than two ratings or categories do not
 * count. The chance term assumes that all categories are equally likely, even if one model is better than the others.
 */

export const make = () => {
  let subjects = 0
  let disagreement = 0
  let expected = 0

  return {
    /**
     * Adds a subject with the number of ratings in each category. Categories beyond the end of `counts` have no
     * ratings.
     */
    add: (categories: number, counts: ReadonlyArray<number>): void => {
      const ratings = counts.reduce((total, count) => total + count, 0)
      if (ratings < 2 || categories < 2) return
      subjects++
      // Sums 1 − P and 1 − Pe, so that kappa is exactly 1 if all ratings of each subject agree.
      const differing = counts.reduce((pairs, count) => pairs + count * (ratings - count), 0)
      disagreement += differing / (ratings * (ratings - 1))
      expected += 1 - 1 / categories
    },
    /** Returns kappa of the subjects so far. Null if no subject counts. */
    kappa: (): number | null => (subjects === 0 ? null : 1 - disagreement / expected),
    subjects: (): number => subjects,
  }
}
