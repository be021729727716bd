/**
 * Computes mean and variance of numbers that arrive one at a time, in constant memory, and Cohen's d.
 *
 * Guarantees: no cancellation if the mean is large compared with the spread (B. P. Welford, 1962, "Note on a method for
 * calculating corrected sums of squares and products").
 */

export const make = () => {
  let count = 0
  let mean = 0
  let squares = 0

  return {
    /**
     * @param value finite
     * @param weight above 0; a weight of 2 counts as adding the value twice
     */
    add: (value: number, weight = 1): void => {
      count += weight
      const distance = value - mean
      mean += (distance * weight) / count
      squares += weight * distance * (value - mean)
    },
    count: (): number => count,
    mean: (): number | null => (count === 0 ? null : mean),
    /** The sum of squared distances from the mean. */
    squares: (): number => squares,
    /** Returns the sample's standard deviation, which divides by the count minus 1. Null for fewer than two numbers. */
    standardDeviation: (): number | null => (count < 2 ? null : Math.sqrt(squares / (count - 1))),
  }
}

export type Moments = ReturnType<typeof make>

/**
 * Returns Cohen's d: the difference of the means divided by the pooled standard deviation of the two samples (J. Cohen,
 * 1988, "Statistical power analysis for the behavioral sciences", 2nd edition, 2.5). Does not correct for small
 * samples. Null if a group is empty, if both groups have one number, or if all numbers in each group are equal.
 */
export const cohensD = (one: Moments, other: Moments): number | null => {
  const [oneMean, otherMean] = [one.mean(), other.mean()]
  const degrees = one.count() + other.count() - 2
  if (oneMean === null || otherMean === null || degrees < 1) return null
  const pooled = Math.sqrt((one.squares() + other.squares()) / degrees)
  return pooled === 0 ? null : (oneMean - otherMean) / pooled
}
