/**
 * Randolph's free-marginal multirater kappa: κ = (P − Pe) / (1 − Pe), with the mean share P of a subject's pairs of
 * ratings that agree, and the mean Pe of 1/K for K categories. Source: J. J. Randolph, 2005, "Free-marginal multirater
 * kappa", Joensuu Learning and Instruction Symposium.
 *
 * Each subject counts once, with its own K; subjects with fewer than two ratings or categories do not. All categories
 * are assumed equally likely, even if one model is better than the others.
 */

export const make = () => {
  let subjects = 0
  let disagreement = 0
  let expected = 0

  return {
    /** @param counts the ratings by category; trailing categories without ratings may be missing */
    add: (categories: number, counts: ReadonlyArray<number>): void => {
      const ratings = counts.reduce((total, count) => total + count, 0)
      if (ratings < 2 || categories < 2) return
      subjects++
      // Sums 1 − P and 1 − Pe, so that kappa is exactly 1 if all ratings of each subject agree.
      const differing = counts.reduce((pairs, count) => pairs + count * (ratings - count), 0)
      disagreement += differing / (ratings * (ratings - 1))
      expected += 1 - 1 / categories
    },
    /** Null if no subject counts. */
    kappa: (): number | null => (subjects === 0 ? null : 1 - disagreement / expected),
    subjects: (): number => subjects,
  }
}
