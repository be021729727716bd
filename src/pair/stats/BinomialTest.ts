/**
 * Exact two-sided binomial test: like R's `binom.test`, it sums the probabilities of all outcomes that are at most as
 * probable as the observed one, with a tolerance of 1e-7. Probabilities follow C. Loader, 2000, "Fast and Accurate
 * Computation of Binomial Probabilities": at ten million trials, about twelve digits are exact.
 */

const tolerance = 1e-7

export const twoSided = (successes: number, trials: number, probability = 0.5): number => {
  const q = 1 - probability
  const expected = trials * probability
  if (successes === expected) return 1
  return successes < expected
    ? fromBelow(successes, trials, probability, q, Math.ceil(expected))
    : fromBelow(trials - successes, trials, q, probability, trials - Math.floor(expected))
}

/** Call this only if `successes` is below the expected number. The upper tail begins at or above `otherTail`. */
const fromBelow = (successes: number, trials: number, p: number, q: number, otherTail: number): number => {
  const limit = logProbability(successes, trials, p, q) + Math.log1p(tolerance)
  let [low, high] = [otherTail, trials + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (logProbability(middle, trials, p, q) <= limit) high = middle
    else low = middle + 1
  }
  return Math.min(1, lowerTail(successes, trials, p, q) + lowerTail(trials - low, trials, q, p))
}

const lowerTail = (successes: number, trials: number, p: number, q: number): number => {
  if (successes < 0) return 0
  let term = 1
  let terms = 1
  for (let k = successes; k > 0 && term > terms * Number.EPSILON; k--) {
    term *= (k / (trials - k + 1)) * (q / p)
    terms += term
  }
  return Math.exp(logProbability(successes, trials, p, q)) * terms
}

const logProbability = (k: number, n: number, p: number, q: number): number => {
  if (p === 0 || q === 0) return k === (p === 0 ? 0 : n) ? 0 : -Infinity
  if (k === 0) return p < 0.1 ? n * Math.log1p(-p) : n * Math.log(q)
  if (k === n) return q < 0.1 ? n * Math.log1p(-q) : n * Math.log(p)
  const deviations = deviance(k, n * p) + deviance(n - k, n * q)
  const corrections = stirlingError(n) - stirlingError(k) - stirlingError(n - k)
  return corrections - deviations - (Math.log(2 * Math.PI * k) + Math.log1p(-k / n)) / 2
}

const stirlingError = (n: number): number => {
  if (n <= 15) {
    let factorial = 1
    for (let i = 2; i <= n; i++) factorial *= i
    return Math.log(factorial) - (n + 0.5) * Math.log(n) + n - Math.log(2 * Math.PI) / 2
  }
  const square = n * n
  return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / n
}

/** x ln(x / mean) + mean − x. It is computed by a series if cancellation would lose digits. */
const deviance = (x: number, mean: number): number => {
  if (Math.abs(x - mean) >= 0.1 * (x + mean)) return x * Math.log(x / mean) + mean - x
  const v = (x - mean) / (x + mean)
  let result = (x - mean) * v
  let power = 2 * x * v
  for (let j = 1; ; j++) {
    power *= v * v
    const next = result + power / (2 * j + 1)
    if (next === result) return result
    result = next
  }
}
