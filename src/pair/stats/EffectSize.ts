/**
 * How far two groups of numbers lie apart, in units of their spread.
 *
 * Does not correct for small samples (Hedges' g does), which matters below some twenty numbers.
 */
import type { Moments } from "./Moments.ts"

/**
 * Cohen's d: the first mean less the second, over the pooled standard deviation of the two samples.
 * Source: J. Cohen, 1988, "Statistical power analysis for the behavioral sciences", 2nd edition, 2.5.
 *
 * Null where a group is empty, both have one number, or nothing varies.
 */
export const cohensD = (one: Moments, other: Moments): number | null => {
  const [oneMean, otherMean] = [one.mean(), other.mean()]
  const degrees = one.count() + other.count() - 2
  if (oneMean === null || otherMean === null || degrees < 1) return null
  const pooled = Math.sqrt((one.squares() + other.squares()) / degrees)
  return pooled === 0 ? null : (oneMean - otherMean) / pooled
}
