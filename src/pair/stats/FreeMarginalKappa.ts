/**
 * Randolph's free-marginal kappa: κ = (P − Pe) / (1 − Pe). For one subject, P is the probability that two ratings are
 * equal. Pe is 1/K for K categories. The formula uses the means over subjects (J. J. Randolph, 2005, "Free-marginal
 * multirater kappa"). A subject needs at least two ratings and two categories to count.
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
      // Sums disagreement, not agreement: if all ratings are equal, the sum is exactly 0, and kappa is exactly 1.
      const differing = counts.reduce((pairs, count) => pairs + count * (ratings - count), 0)
      disagreement += differing / (ratings * (ratings - 1))
      expected += 1 - 1 / categories
    },
    kappa: (): number | null => (subjects === 0 ? null : 1 - disagreement / expected),
    subjects: (): number => subjects,
  }
}
