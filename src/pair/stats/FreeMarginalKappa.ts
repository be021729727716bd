/**
 * Randolph's free-marginal multirater kappa: κ = (P − Pe) / (1 − Pe). P is the mean share of a subject's pairs of
 * ratings that agree; Pe is the mean of 1/K for K categories. 1 is perfect agreement, 0 is chance agreement. Source: J.
 * J. Randolph, 2005, "Free-marginal multirater kappa", Joensuu Learning and Instruction Symposium.
 *
 * Guarantees: each subject counts once, with its own K; subjects with fewer than two ratings or categories do not
 * count. The chance term ignores that one model may be better than the others.
 */

export const make = () => {
  let subjects = 0
  let disagreement = 0
  let expected = 0

  return {
    /** Adds a subject with the number of ratings in each category. Missing categories at the end have no ratings. */
    add: (categories: number, counts: ReadonlyArray<number>): void => {
      const ratings = counts.reduce((total, count) => total + count, 0)
      if (ratings < 2 || categories < 2) return
      subjects++
      // The sums are of 1 − P and 1 − Pe, so that kappa is exactly 1 if all ratings of each subject agree.
      const differing = counts.reduce((pairs, count) => pairs + count * (ratings - count), 0)
      disagreement += differing / (ratings * (ratings - 1))
      expected += 1 - 1 / categories
    },
    /** Kappa of the subjects so far; null if no subject counts. */
    kappa: (): number | null => (subjects === 0 ? null : 1 - disagreement / expected),
    subjects: (): number => subjects,
  }
}
