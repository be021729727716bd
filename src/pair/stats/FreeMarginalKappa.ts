/**
 * Randolph's free-marginal multirater kappa: κ = (P − Pe) / (1 − Pe), where P is the mean share of pairs of ratings of a
 * subject that agree, and Pe the mean of 1/K of K categories. 1 is perfect agreement, 0 is what chance gives.
 * Source: J. J. Randolph, 2005, "Free-marginal multirater kappa", Joensuu Learning and Instruction Symposium.
 *
 * Guarantees: each subject counts once, with its own K; those with fewer than two ratings or categories don't count.
 * Chance takes no account of one model being better than the others.
 */

export interface FreeMarginalKappa {
  /**
   * Adds a subject.
   *
   * @param categories how many there are to choose from
   * @param counts how many of its ratings are in each category; those that are absent have none
   */
  readonly add: (categories: number, counts: ReadonlyArray<number>) => void
  /** Of the subjects so far; null where none counts. */
  readonly kappa: () => number | null
  /** How many count. */
  readonly subjects: () => number
}

export const make = (): FreeMarginalKappa => {
  let subjects = 0
  let disagreement = 0
  let expected = 0

  return {
    add: (categories, counts) => {
      const ratings = counts.reduce((total, count) => total + count, 0)
      if (ratings < 2 || categories < 2) return
      subjects++
      // 1 − P and 1 − Pe: exactly 0 where all ratings of each subject are in one category.
      const differing = counts.reduce((pairs, count) => pairs + count * (ratings - count), 0)
      disagreement += differing / (ratings * (ratings - 1))
      expected += 1 - 1 / categories
    },
    kappa: () => (subjects === 0 ? null : 1 - disagreement / expected),
    subjects: () => subjects,
  }
}
