/**
 * Count, mean and variance of numbers that come one at a time, in constant memory.
 *
 * Guarantees: no cancellation where the mean is large beside the spread. Sources: B. P. Welford, 1962,
 * "Note on a method for calculating corrected sums of squares and products"; for merging, T. F. Chan,
 * G. H. Golub and R. J. LeVeque, 1979, "Updating formulae and a pairwise algorithm for computing
 * sample variances". Another order of the same numbers may change the last digits.
 */

export interface Moments {
  /**
   * @param value finite
   * @param weight how much it counts, above 0: with 2 as if it were added twice. Default 1
   */
  readonly add: (value: number, weight?: number) => void
  /** Adds all that another one was given. */
  readonly merge: (other: Moments) => void
  /** The sum of the weights. */
  readonly count: () => number
  readonly mean: () => number | null
  /** The sum of squared distances from the mean. */
  readonly squares: () => number
  /** Of the sample: divided by one less than the count. Null for fewer than two numbers. */
  readonly standardDeviation: () => number | null
}

export const make = (): Moments => {
  let count = 0
  let mean = 0
  let squares = 0

  return {
    add: (value, weight = 1) => {
      count += weight
      const distance = value - mean
      mean += (distance * weight) / count
      squares += weight * distance * (value - mean)
    },
    merge: (other) => {
      const added = other.count()
      const otherMean = other.mean()
      if (otherMean === null) return
      const all = count + added
      const distance = otherMean - mean
      squares += other.squares() + distance * distance * ((count * added) / all)
      mean += (distance * added) / all
      count = all
    },
    count: () => count,
    mean: () => (count === 0 ? null : mean),
    squares: () => squares,
    standardDeviation: () => (count < 2 ? null : Math.sqrt(squares / (count - 1))),
  }
}
