/**
 * Randolph's free-marginal multirater kappa: how far raters agree beyond what choosing at random gives.
 *
 * κ = (P − Pe) / (1 − Pe): P is the mean share of pairs of ratings of a subject that agree, Pe the mean of 1/K, where
 * K is the number of categories to choose from. 1 is perfect agreement, 0 is what chance gives, below 0 is less
 * than that. Source: J. J. Randolph, 2005, "Free-marginal multirater kappa (multirater κfree): an alternative to
 * Fleiss' fixed-marginal multirater kappa", Joensuu Learning and Instruction Symposium; there all
 * subjects have the same K and the same number of ratings, in which case this is the same number.
 *
 * Guarantees: chance is that of each subject by itself, so the categories may mean other things in each, and their
 * order makes no difference. Each subject counts once, however many ratings it has; those with fewer than two, or
 * with fewer than two categories, count for nothing.
 *
 * Of votes for completions, a subject is a prompt item, a category a text. Chance takes no account of one model being
 * better than the others: experts who all see it agree beyond chance.
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
  }
}
