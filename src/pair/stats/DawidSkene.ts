/**
 * What is true and how reliable each observer is, both from their votes alone: expectation
 * maximisation of A. P. Dawid and A. M. Skene, 1979, "Maximum likelihood estimation of observer
 * error-rates using the EM algorithm".
 *
 * Two models:
 * - `oneCoin` for votes on completions, which prefstream uses: one reliability for each expert. An
 *   index of a completion means another thing in each item, so that a matrix of errors by index would
 *   mean nothing;
 * - `confusion`, the model of 1979: classes that are the same for all items, and for each observer a
 *   matrix of which class is taken for which.
 *
 * Guarantees: deterministic; iterations are bounded; both start from the shares of votes (their
 * equation 3.1), hence from the majority, and what they maximise never falls from there: they end at a
 * maximum near the majority, which need not be the highest.
 *
 * Does not know what is true: where most experts err in the same way, they are taken to be right.
 * Votes on an item count as independent of each other once the truth is given.
 */
import * as NumberList from "./NumberList.ts"

export interface Limits {
  readonly maxIterations?: number
  /** The largest change of a probability by an iteration at which to stop. */
  readonly tolerance?: number
}

/** How an estimate ended. */
export interface Ended {
  readonly iterations: number
  readonly converged: boolean
}

/** The expert from 0 on; the choice by any number of its own. Votes that no expert is known of can share one index: they are then taken for one expert's. */
export type ExpertVote = readonly [expert: number, choice: number]

export interface OneCoin {
  /**
   * Adds an item; the first has index 0. An expert may vote for it more than once.
   *
   * @param completions how many there are to choose from
   * @param votes at least one
   */
  readonly add: (completions: number, votes: ReadonlyArray<ExpertVote>) => void
  /** Of the items so far. */
  readonly fit: (limits?: Limits) => OneCoinFit
}

export interface OneCoinFit extends Ended {
  /** By item: of the completions that have a vote, the most probable; of several, the one voted for first. */
  readonly choice: Uint32Array
  /** By item: how probable it is that this choice is the best of all completions, 0 to 1. */
  readonly probability: Float64Array
  /** By expert: the probability that a vote of theirs is right, above 0 and below 1. */
  readonly reliability: Float64Array
  /** By expert: votes on items with two votes or more, from which the reliability is known. Without any it is 2/3. */
  readonly shared: Uint32Array
}

/** Votes that each expert is taken to have given beforehand. */
const rightBefore = 2
const wrongBefore = 1

/**
 * One reliability r for each expert: a vote is right with probability r, and otherwise for each of
 * the other K − 1 completions with the same probability. Before the votes, each completion is equally
 * probable. Items may differ in K.
 *
 * The estimate maximises the posterior of r with a Beta(3, 2) prior, as if each expert had given two
 * right votes and a wrong one before. So r is never 0 or 1, whatever few votes say, and of two mirror
 * images with two completions (all are right, all are wrong) the first is more probable. On such a
 * prior: Q. Liu, J. Peng and A. Ihler, 2012, "Variational inference for crowdsourcing".
 *
 * An expert who is right less often than chance counts against what they vote for. Items with one vote
 * say nothing of their expert and take no part in the estimate; the vote is as probable as the expert
 * is reliable. Takes 8 bytes a vote and 8 an item, up to three times that for a moment when it grows.
 */
export const oneCoin = (): OneCoin => {
  const completions = NumberList.make(Uint32Array)
  const ends = NumberList.make(Uint32Array)
  const experts = NumberList.make(Uint32Array)
  const choices = NumberList.make(Uint32Array)
  let expertCount = 0
  let mostVotes = 0

  return {
    add: (count, votes) => {
      completions.push(count)
      for (const [expert, choice] of votes) {
        experts.push(expert)
        choices.push(choice)
        expertCount = Math.max(expertCount, expert + 1)
      }
      ends.push(choices.length())
      mostVotes = Math.max(mostVotes, votes.length)
    },
    fit: (limits) =>
      fitOneCoin(
        {
          completions: completions.view(),
          ends: ends.view(),
          experts: experts.view(),
          choices: choices.view(),
          expertCount,
          mostVotes,
        },
        limits,
      ),
  }
}

/** Votes one item after the other: those of item i end before `ends[i]`. */
interface FlatVotes {
  readonly completions: Uint32Array
  readonly ends: Uint32Array
  readonly experts: Uint32Array
  readonly choices: Uint32Array
  readonly expertCount: number
  readonly mostVotes: number
}

const fitOneCoin = (
  { choices, completions, ends, expertCount, experts, mostVotes }: FlatVotes,
  { maxIterations = 500, tolerance = 1e-6 }: Limits = {},
): OneCoinFit => {
  const items = ends.length
  const reliability = new Float64Array(expertCount)
  const logOdds = new Float64Array(expertCount)
  const right = new Float64Array(expertCount)
  const shared = new Uint32Array(expertCount)

  // Of the item at hand: the completions voted for, in the order of their first vote.
  const voted = new Uint32Array(mostVotes)
  const score = new Float64Array(mostVotes)
  const slotOf = new Uint32Array(mostVotes)

  /** Puts the posterior probabilities of what was voted for into `score`, and tells how many these are. */
  const weigh = (start: number, end: number, count: number): number => {
    const others = count > 1 ? Math.log(count - 1) : 0
    let slots = 0
    for (let vote = start; vote < end; vote++) {
      let slot = 0
      while (slot < slots && voted[slot] !== choices[vote]) slot++
      if (slot === slots) {
        voted[slot] = choices[vote]!
        score[slot] = 0
        slots++
      }
      score[slot]! += logOdds[experts[vote]!]! + others
      slotOf[vote - start] = slot
    }
    // What nobody voted for has a score of 0.
    let top = slots < count ? 0 : -Infinity
    for (let slot = 0; slot < slots; slot++) top = Math.max(top, score[slot]!)
    let total = (count - slots) * Math.exp(-top)
    for (let slot = 0; slot < slots; slot++) total += score[slot] = Math.exp(score[slot]! - top)
    for (let slot = 0; slot < slots; slot++) score[slot]! /= total
    return slots
  }

  /** Takes the expected number of right votes for the truth; gives the largest change. */
  const update = (): number => {
    let change = 0
    for (let expert = 0; expert < expertCount; expert++) {
      const r = (right[expert]! + rightBefore) / (shared[expert]! + rightBefore + wrongBefore)
      change = Math.max(change, Math.abs(r - reliability[expert]!))
      reliability[expert] = r
      logOdds[expert] = Math.log(r / (1 - r))
    }
    return change
  }

  const isInformative = (start: number, end: number, count: number) => end - start > 1 && count > 1

  for (let item = 0, start = 0; item < items; start = ends[item++]!) {
    const end = ends[item]!
    if (!isInformative(start, end, completions[item]!)) continue
    for (let vote = start; vote < end; vote++) {
      let same = 0
      for (let other = start; other < end; other++) if (choices[other] === choices[vote]) same++
      right[experts[vote]!]! += same / (end - start)
      shared[experts[vote]!]!++
    }
  }
  update()

  let iterations = 0
  let change = Infinity
  while (change > tolerance && iterations < maxIterations) {
    right.fill(0)
    for (let item = 0, start = 0; item < items; start = ends[item++]!) {
      const end = ends[item]!
      if (!isInformative(start, end, completions[item]!)) continue
      weigh(start, end, completions[item]!)
      for (let vote = start; vote < end; vote++) right[experts[vote]!]! += score[slotOf[vote - start]!]!
    }
    change = update()
    iterations++
  }

  const choice = new Uint32Array(items)
  const probability = new Float64Array(items)
  for (let item = 0, start = 0; item < items; start = ends[item++]!) {
    const slots = weigh(start, ends[item]!, completions[item]!)
    let best = 0
    for (let slot = 1; slot < slots; slot++) if (score[slot]! > score[best]!) best = slot
    choice[item] = voted[best]!
    probability[item] = score[best]!
  }
  return { choice, probability, reliability, shared, iterations, converged: change <= tolerance }
}

/** All indices from 0. */
export type Observation = readonly [item: number, observer: number, label: number]

export interface ConfusionFit extends Ended {
  /** By class. */
  readonly prevalence: ReadonlyArray<number>
  /**
   * `errorRates[observer][class][label]`: how often the observer gives the label to items of the class.
   * A row of zeros where the observer saw no item that may be of the class.
   */
  readonly errorRates: ReadonlyArray<ReadonlyArray<ReadonlyArray<number>>>
  /** `posterior[item][class]` */
  readonly posterior: ReadonlyArray<ReadonlyArray<number>>
}

/**
 * The maximum of the likelihood, without a prior: rates may be 0 or 1. For items by the thousand: takes
 * 8 bytes for each class of each item, and more for arrays.
 *
 * @param classes how many there are
 * @param observations in any order; of one observer and item there may be several, and every item has one
 */
export const confusion = (
  classes: number,
  observations: ReadonlyArray<Observation>,
  { maxIterations = 500, tolerance = 1e-6 }: Limits = {},
): ConfusionFit => {
  const items = 1 + observations.reduce((most, [item]) => Math.max(most, item), -1)
  const observers = 1 + observations.reduce((most, [, observer]) => Math.max(most, observer), -1)
  const zeros = (length: number) => Array.from({ length }, () => 0)
  const rows = (length: number) => Array.from({ length }, () => zeros(classes))

  const estimateRates = (posterior: ReadonlyArray<ReadonlyArray<number>>) => {
    const prevalence = posterior
      .reduce((sum, row) => sum.map((share, k) => share + row[k]!), zeros(classes))
      .map((share) => share / items)
    const seen = Array.from({ length: observers }, () => rows(classes))
    for (const [item, observer, label] of observations) {
      for (const [k, share] of posterior[item]!.entries()) seen[observer]![k]![label]! += share
    }
    return { prevalence, errorRates: seen.map((matrix) => matrix.map(toShares)) }
  }
  type Rates = ReturnType<typeof estimateRates>

  const estimatePosterior = ({ errorRates, prevalence }: Rates) => {
    const scores = Array.from({ length: items }, () => prevalence.map(Math.log))
    for (const [item, observer, label] of observations) {
      for (let k = 0; k < classes; k++) scores[item]![k]! += Math.log(errorRates[observer]![k]![label]!)
    }
    return scores.map((row) => {
      const top = Math.max(...row)
      return toShares(row.map((score) => Math.exp(score - top)))
    })
  }

  const votes = rows(items)
  for (const [item, , label] of observations) votes[item]![label]!++
  let rates = estimateRates(votes.map(toShares))

  let iterations = 0
  let change = Infinity
  while (change > tolerance && iterations < maxIterations) {
    const before = flat(rates)
    rates = estimateRates(estimatePosterior(rates))
    change = flat(rates).reduce((most, rate, i) => Math.max(most, Math.abs(rate - before[i]!)), 0)
    iterations++
  }
  return { ...rates, posterior: estimatePosterior(rates), iterations, converged: change <= tolerance }
}

const flat = (rates: Pick<ConfusionFit, "prevalence" | "errorRates">): ReadonlyArray<number> => [
  ...rates.prevalence,
  ...rates.errorRates.flat(2),
]

const toShares = (counts: ReadonlyArray<number>): ReadonlyArray<number> => {
  const total = counts.reduce((sum, count) => sum + count, 0)
  return total === 0 ? counts : counts.map((count) => count / total)
}
