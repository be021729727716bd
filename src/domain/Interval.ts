/** Intervals of shares and medians. They assume independent observations; for dependent ones, they are too narrow. */

export const normal95 = 1.959963984540054

/** The score interval of a proportion, within 0 to 1 (E. B. Wilson, 1927). Returns null without trials. */
export const wilsonInterval = (
  successes: number,
  trials: number,
  z = normal95,
): { readonly low: number; readonly high: number } | null => {
  if (trials === 0) return null
  const share = successes / trials
  const center = share + (z * z) / (2 * trials)
  const half = z * Math.sqrt((share * (1 - share)) / trials + (z * z) / (4 * trials * trials))
  const scale = 1 + (z * z) / trials
  return {
    low: successes === 0 ? 0 : (center - half) / scale,
    high: successes === trials ? 1 : (center + half) / scale,
  }
}

/** The median. From 6 values on, it has a 95% interval (David & Nagaraja, 2003, "Order Statistics", 7.1). */
export const medianInterval = (
  values: ReadonlyArray<number>,
): { readonly median: number; readonly low: number | null; readonly high: number | null } | null => {
  const n = values.length
  if (n === 0) return null
  const sorted = values.toSorted((a, b) => a - b)
  // Each value is below the population's median with probability 0.5. `tail` is the probability that at most `k` values
  // are below the median. The loop finds the smallest `k` for which `tail` is above 0.025.
  let [k, term] = [0, 0.5 ** n]
  for (let tail = term; tail <= 0.025; tail += term) {
    k++
    term *= (n - k + 1) / k
  }
  return {
    median: (sorted[(n - 1) >> 1]! + sorted[n >> 1]!) / 2,
    low: k === 0 ? null : sorted[k - 1]!,
    high: k === 0 ? null : sorted[n - k]!,
  }
}
