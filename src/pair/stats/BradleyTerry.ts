/**
 * Estimates abilities λ of players from contests with covariates x. For η = λ_one − λ_other + β·x, the probabilities of
 * a win of `one`, a win of `other`, and a tie are proportional to e^(η/2), e^(−η/2), and ν. Newton's method with step
 * halving maximizes the concave log-likelihood. A normal prior of λ and β around 0 ensures that a maximum exists.
 * Without a prior, the caller must check that no group of players wins all its contests against the rest. Sources: R.
 * A. Bradley and M. E. Terry, 1952; R. R. Davidson, 1970, "On extending the Bradley-Terry model to accommodate ties";
 * T. Leonard, 1977 (prior); L. R. Ford, 1957 (existence of a maximum).
 */
import * as Components from "./Components.ts"

/** Contests with the same players and covariates may share a row. */
export interface Design {
  readonly players: number
  /** The first of the two different players in each row. The second one is in `other`. */
  readonly one: ArrayLike<number>
  readonly other: ArrayLike<number>
  /** For each covariate, one value per row, such as 1 if player `one` plays at home, and −1 if `other` does. */
  readonly covariates: ReadonlyArray<ArrayLike<number>>
}

export interface Fit {
  /** The abilities λ. The mean of each group of connected players is 0. */
  readonly abilities: Float64Array
  readonly coefficients: Float64Array
  /** The tie parameter ν: 0 without ties, `Infinity` if all contests are ties. */
  readonly tie: number
  readonly converged: boolean
}

export interface FitOptions {
  /** The fit to start from. A fit of similar counts saves iterations. Default: all players are equal. */
  readonly start?: Fit | undefined
  /** Maximum change of a parameter in the last step. Default: 1e-6. */
  readonly tolerance?: number | undefined
}

const maxIterations = 60

/**
 * @param prior standard deviation of the normal prior of the abilities λ and the coefficients β; `Infinity`: no prior
 * @returns a function that takes three counts for each row: wins of `one`, ties, and wins of `other`
 */
export const make = (design: Design, prior: number) => {
  const { covariates, one, other, players } = design
  const rows = one.length
  const precision = prior === Infinity ? 0 : 1 / (prior * prior)
  const penalized = players + covariates.length
  const group = Components.weak(
    players,
    Array.from({ length: rows }, (_, row) => [one[row]!, other[row]!] as const),
  )
  const size = penalized + 1
  /** The abilities λ, then the coefficients β, and ln ν at the end. */
  const parameters = new Float64Array(size)
  const gradient = new Float64Array(size)
  const step = new Float64Array(size)
  /** The lower triangle of the negated second derivatives. */
  const information = new Float64Array(size * size)

  const evaluate = (counts: Float64Array, used: number): number => {
    gradient.fill(0)
    information.fill(0)
    const hasTies = used === size
    const nu = hasTies ? Math.exp(parameters[penalized]!) : 0
    let value = 0
    for (let row = 0; row < rows; row++) {
      const [won, tied, lost] = [counts[3 * row]!, counts[3 * row + 1]!, counts[3 * row + 2]!]
      const n = won + tied + lost
      if (n === 0) continue
      const [a, b] = [one[row]!, other[row]!]
      let eta = parameters[a]! - parameters[b]!
      for (let k = 0; k < covariates.length; k++) eta += parameters[players + k]! * covariates[k]![row]!
      // The terms e^(η/2), e^(−η/2), and ν are divided by the larger of the first two, to prevent overflow.
      const root = Math.exp(-Math.abs(eta) / 2)
      const total = 1 + root * root + nu * root
      value -= n * Math.log(total) + Math.abs(eta) * ((eta > 0 ? lost : won) + tied / 2)
      if (tied > 0) value += tied * parameters[penalized]!
      const difference = ((eta > 0 ? 1 : -1) * (1 - root * root)) / total
      const tie = (nu * root) / total
      const slope = (won - lost - n * difference) / 2
      const curve = (n * (1 - tie - difference * difference)) / 4
      gradient[a]! += slope
      gradient[b]! -= slope
      information[a * size + a]! += curve
      information[b * size + b]! += curve
      information[a > b ? a * size + b : b * size + a]! -= curve
      for (let k = 0; k < covariates.length; k++) {
        const x = covariates[k]![row]!
        const at = (players + k) * size
        gradient[players + k]! += slope * x
        information[at + a]! += curve * x
        information[at + b]! -= curve * x
        for (let j = 0; j <= k; j++) information[at + players + j]! += curve * x * covariates[j]![row]!
      }
      if (!hasTies) continue
      const mixed = (-n * tie * difference) / 2
      const at = penalized * size
      gradient[penalized]! += tied - n * tie
      information[at + a]! += mixed
      information[at + b]! -= mixed
      for (let k = 0; k < covariates.length; k++) information[at + players + k]! += mixed * covariates[k]![row]!
      information[at + penalized]! += n * tie * (1 - tie)
    }
    for (let i = 0; i < penalized; i++) {
      value -= (precision * parameters[i]! * parameters[i]!) / 2
      gradient[i]! -= precision * parameters[i]!
      information[i * size + i]! += precision
    }
    if (precision === 0) {
      // The matrix is singular. Adding 1 makes it invertible, and keeps the solution: a group's gradients sum to 0.
      for (let i = 0; i < players; i++)
        for (let j = 0; j <= i; j++) if (group[i] === group[j]) information[i * size + j]! += 1
    }
    return value
  }

  return (counts: Float64Array, { start, tolerance = 1e-6 }: FitOptions = {}): Fit => {
    let ties = 0
    let decided = 0
    for (let row = 0; row < rows; row++) {
      ties += counts[3 * row + 1]!
      decided += counts[3 * row]! + counts[3 * row + 2]!
    }
    parameters.fill(0)
    if (decided === 0) {
      return { ...split(parameters, players, penalized), tie: ties > 0 ? Infinity : 0, converged: true }
    }
    if (start !== undefined) {
      parameters.set(start.abilities)
      parameters.set(start.coefficients, players)
    }
    const used = ties > 0 ? size : penalized
    if (ties > 0) {
      const hasFiniteTie = start !== undefined && start.tie > 0 && start.tie < Infinity
      parameters[penalized] = Math.log(hasFiniteTie ? start.tie : (2 * ties) / decided)
    }
    let value = evaluate(counts, used)
    let converged = false
    for (let iteration = 0; iteration < maxIterations && !converged; iteration++) {
      solve(information, gradient, step, used, size)
      let length = 0
      for (let i = 0; i < used; i++) length = Math.max(length, Math.abs(step[i]!))
      for (let i = 0; i < used; i++) parameters[i]! += step[i]!
      converged = length <= tolerance
      if (converged) break
      let next = evaluate(counts, used)
      for (let halvings = 0; !(next >= value - 1e-9 * Math.abs(value)) && halvings < 40; halvings++) {
        for (let i = 0; i < used; i++) parameters[i]! -= step[i]! /= 2
        next = evaluate(counts, used)
      }
      value = next
    }
    return {
      ...split(parameters, players, penalized),
      tie: ties > 0 ? Math.exp(parameters[penalized]!) : 0,
      converged,
    }
  }
}

const split = (parameters: Float64Array, players: number, penalized: number) => ({
  abilities: parameters.slice(0, players),
  coefficients: parameters.slice(players, penalized),
})

/** Solves A x = b in place by Cholesky's method, in A's lower triangle. For a pivot of 0, the element of x is 0. */
const solve = (a: Float64Array, b: Float64Array, x: Float64Array, used: number, size: number): void => {
  for (let i = 0; i < used; i++) {
    const [row, diagonal] = [i * size, a[i * size + i]!]
    for (let j = 0; j < i; j++) {
      const other = j * size
      let sum = a[row + j]!
      for (let k = 0; k < j; k++) sum -= a[row + k]! * a[other + k]!
      a[row + j] = over(sum, a[other + j]!)
    }
    let left = diagonal
    for (let k = 0; k < i; k++) left -= a[row + k]! * a[row + k]!
    a[row + i] = left > 1e-12 * diagonal ? Math.sqrt(left) : 0
    let sum = b[i]!
    for (let k = 0; k < i; k++) sum -= a[row + k]! * x[k]!
    x[i] = over(sum, a[row + i]!)
  }
  for (let i = used - 1; i >= 0; i--) {
    let sum = x[i]!
    for (let k = i + 1; k < used; k++) sum -= a[k * size + i]! * x[k]!
    x[i] = over(sum, a[i * size + i]!)
  }
}

const over = (sum: number, pivot: number): number => (pivot === 0 ? 0 : sum / pivot)
