/**
 * Randolph's free-marginal kappa: κ = (P − Pe) / (1 − Pe). P is the mean over subjects of the share of equal pairs of
 * ratings. Pe is the mean of 1/K for subjects with K categories (J. J. Randolph, 2005, "Free-marginal multirater
 * kappa"). Subjects with fewer than two ratings or categories do not count.
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
      // Sums of agreement could round a kappa of 1 to another number, so these sums count disagreement.
      const differing = counts.reduce((pairs, count) => pairs + count * (ratings - count), 0)
      disagreement += differing / (ratings * (ratings - 1))
      expected += 1 - 1 / categories
    },
    kappa: (): number | null => (subjects === 0 ? null : 1 - disagreement / expected),
    subjects: (): number => subjects,
  }
}
