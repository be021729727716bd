/**
 * Mean and variance of numbers that arrive one at a time, and Cohen's d. A large mean does not make the variance
 * inexact (B. P. Welford, 1962, "Note on a method for calculating corrected sums of squares and products").
 */

export const make = () => {
  let count = 0
  let mean = 0
  let squares = 0

  return {
    /** @param value a finite number @param weight above 0; a weight of 2 is like adding the value twice */
    add: (value: number, weight = 1): void => {
      count += weight
      const distance = value - mean
      mean += (distance * weight) / count
      squares += weight * distance * (value - mean)
    },
    count: (): number => count,
    mean: (): number | null => (count === 0 ? null : mean),
    squares: (): number => squares,
    standardDeviation: (): number | null => (count < 2 ? null : Math.sqrt(squares / (count - 1))),
  }
}

export type Moments = ReturnType<typeof make>

/**
 * Cohen's d: the difference of the means divided by the pooled standard deviation (J. Cohen, 1988, "Statistical power
 * analysis for the behavioral sciences", 2nd edition, 2.5), not corrected for small samples. Null if this is undefined.
 */
export const cohensD = (one: Moments, other: Moments): number | null => {
  const [oneMean, otherMean] = [one.mean(), other.mean()]
  const degrees = one.count() + other.count() - 2
  if (oneMean === null || otherMean === null || degrees < 1) return null
  const pooled = Math.sqrt((one.squares() + other.squares()) / degrees)
  return pooled === 0 ? null : (oneMean - otherMean) / pooled
}
