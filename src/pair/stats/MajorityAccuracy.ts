/**
 * Computes two probabilities from the experts' accuracies: that the majority is right, and that two votes agree.
 * - Votes are independent, and all wrong completions are equally likely to get a wrong vote (jury theorem: Condorcet,
 *   1785; C. List and R. E. Goodin, 2001, "Epistemic democracy").
 * - An item's experts are drawn without replacement. The probability of drawing a group of experts is proportional to
 *   the product of their weights (S. X. Chen, A. P. Dempster, and J. S. Liu, 1994, "Weighted finite population sampling
 *   to maximize entropy").
 * - The earliest vote decides a tie, so each of t tied completions wins with probability 1 / t.
 * Harder items and common errors are not modeled; both usually make a majority less accurate.
 */

export interface Voter {
  readonly accuracy: number
  /** Weight for drawing experts: above 0, in any unit. */
  readonly weight: number
}

export type RightVotes = ReadonlyArray<number>

/**
 * Returns the probabilities of 0, 1, 2, … right votes. Needs at least one voter. If there are more votes than voters,
 * all voters vote once before any of them votes a second time.
 */
export const rightVotes = (voters: ReadonlyArray<Voter>, votes: number): RightVotes => {
  const size = Math.min(votes, voters.length)
  const total = voters.reduce((sum, { weight }) => sum + weight, 0)
  /** `sums[n][k]` adds up, over all sets of n experts, the set's weight times the probability of k right votes. */
  const sums = Array.from({ length: size + 1 }, (_, n) => Array.from({ length: n + 1 }, () => Number(n === 0)))
  for (const { accuracy, weight } of voters) {
    for (let n = size; n > 0; n--) {
      const [without, more] = [sums[n - 1]!, sums[n]!]
      for (let right = 0; right <= n; right++) {
        const chance = (without[right] ?? 0) * (1 - accuracy) + (without[right - 1] ?? 0) * accuracy
        more[right]! += (weight / total) * chance
      }
    }
  }
  const all = sums[size]!.reduce((sum, each) => sum + each, 0)
  const drawn = sums[size]!.map((each) => each / all)
  return votes > size ? product(drawn, rightVotes(voters, votes - size), votes) : drawn
}

/** Probability that the majority is right. Needs at least one vote and two completions. */
export const accuracyOf = (rights: RightVotes, completions: number): number =>
  rights.reduce((sum, chance, right) => sum + chance * winning(right, rights.length - 1 - right, completions - 1), 0)

/** Probability that two votes agree. If all accuracies are p, it is p² + (1 − p)² / (K − 1) for K completions. */
export const agreementOf = (rights: RightVotes, completions: number): number => {
  const votes = rights.length - 1
  const pairs = (n: number) => (n * (n - 1)) / (votes * (votes - 1))
  return rights.reduce(
    (sum, chance, right) => sum + chance * (pairs(right) + pairs(votes - right) / (completions - 1)),
    0,
  )
}

/** Probability that the right completion wins, if each wrong vote goes to a wrong completion chosen at random. */
const winning = (rightCount: number, wrongCount: number, wrongCompletions: number): number => {
  if (rightCount === 0) return 0
  const term = (load: number) => wrongCompletions ** -load / factorial(load)
  const fewer = Array.from({ length: Math.min(rightCount, wrongCount + 1) }, (_, load) => term(load))
  const same = [...Array.from({ length: rightCount }, () => 0), term(rightCount)]
  let chance = 0
  let ways = 1
  for (let tied = 0; tied <= wrongCompletions && tied * rightCount <= wrongCount; tied++) {
    const spread = product(power(same, tied, wrongCount), power(fewer, wrongCompletions - tied, wrongCount), wrongCount)
    chance += (ways * (spread[wrongCount] ?? 0)) / (tied + 1)
    ways *= (wrongCompletions - tied) / (tied + 1)
  }
  return chance * factorial(wrongCount)
}

const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1))

const product = (a: ReadonlyArray<number>, b: ReadonlyArray<number>, degree: number): ReadonlyArray<number> => {
  const terms = Array.from({ length: Math.min(a.length + b.length - 1, degree + 1) }, () => 0)
  for (const [i, x] of a.entries()) for (const [j, y] of b.entries()) if (i + j < terms.length) terms[i + j]! += x * y
  return terms
}

const power = (base: ReadonlyArray<number>, exponent: number, degree: number): ReadonlyArray<number> => {
  let result: ReadonlyArray<number> = [1]
  for (let i = 0; i < exponent; i++) result = product(result, base, degree)
  return result
}
