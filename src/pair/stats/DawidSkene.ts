/**
 * How reliable each expert is, from votes alone, where what is right is not known: expectation maximization of
 * A. P. Dawid and A. M. Skene, 1979, "Maximum likelihood estimation of observer error-rates using the EM algorithm".
 *
 * One coin: a vote is right with the expert's reliability r, and otherwise for each of the other K − 1 completions
 * with the same probability. (A matrix of errors, as in 1979, needs classes that are the same for all items.) The
 * estimate maximizes the posterior of r with a Beta(3, 2) prior, as if each expert had given two right votes and a
 * wrong one before: r is never 0 or 1, and of two mirror images the one in which experts are right is more probable
 * (Q. Liu, J. Peng and A. Ihler, 2012, "Variational inference for crowdsourcing").
 *
 * Guarantees: deterministic; iterations are bounded; it starts from the majority, and the posterior never falls.
 * Not guaranteed: the highest maximum. Where most experts err in the same way, they are taken to be right.
 */
import * as NumberList from "./NumberList.ts"

export interface Limits {
  readonly maxIterations?: number
  /** The largest change of a reliability by an iteration at which to stop. */
  readonly tolerance?: number
}

/** The expert from 0 on, and the choice by any number of its own. */
export type ExpertVote = readonly [expert: number, choice: number]

export interface DawidSkene {
  /**
   * Adds an item. Votes that name nobody can share one expert, who then votes several times.
   *
   * @param completions how many there are to choose from
   */
  readonly add: (completions: number, votes: ReadonlyArray<ExpertVote>) => void
  /** Of the items so far. */
  readonly fit: (limits?: Limits) => Fit
}

export interface Fit {
  /** By expert: the probability that a vote of theirs is right, above 0 and below 1. */
  readonly reliability: Float64Array
  /** By expert: votes on items of several votes, which alone tell the reliability. Without any it is 2/3. */
  readonly shared: Uint32Array
  readonly iterations: number
  readonly converged: boolean
}

/** Votes that each expert is taken to have given beforehand. */
const rightBefore = 2
const wrongBefore = 1

/** Takes 8 bytes a vote and 8 an item, up to three times that for a moment when it grows. */
export const make = (): DawidSkene => {
  const counts = NumberList.make(Uint32Array)
  const itemEnds = NumberList.make(Uint32Array)
  const voters = NumberList.make(Uint32Array)
  const choiceList = NumberList.make(Uint32Array)
  let expertCount = 0
  let maxVotes = 0

  const fit = ({ maxIterations = 500, tolerance = 1e-6 }: Limits = {}): Fit => {
    const [completions, ends, experts, choices] = [counts.view(), itemEnds.view(), voters.view(), choiceList.view()]
    const reliability = new Float64Array(expertCount)
    const logOdds = new Float64Array(expertCount)
    const right = new Float64Array(expertCount)
    const shared = new Uint32Array(expertCount)

    // Of the item at hand: the completions voted for, in the order of their first vote.
    const voted = new Uint32Array(maxVotes)
    const score = new Float64Array(maxVotes)
    const slotOf = new Uint32Array(maxVotes)

    /** Puts the posterior probability of each completion voted for into `score`. */
    const weigh = (start: number, end: number, count: number): void => {
      let slots = 0
      for (let vote = start; vote < end; vote++) {
        let slot = 0
        while (slot < slots && voted[slot] !== choices[vote]) slot++
        if (slot === slots) {
          voted[slot] = choices[vote]!
          score[slot] = 0
          slots++
        }
        score[slot]! += logOdds[experts[vote]!]! + Math.log(count - 1)
        slotOf[vote - start] = slot
      }
      // What nobody voted for has a score of 0.
      let top = slots < count ? 0 : -Infinity
      for (let slot = 0; slot < slots; slot++) top = Math.max(top, score[slot]!)
      let total = (count - slots) * Math.exp(-top)
      for (let slot = 0; slot < slots; slot++) total += score[slot] = Math.exp(score[slot]! - top)
      for (let slot = 0; slot < slots; slot++) score[slot]! /= total
    }

    const forEachInformative = (visit: (start: number, end: number, completions: number) => void): void => {
      for (let item = 0, start = 0; item < ends.length; start = ends[item++]!) {
        if (ends[item]! - start > 1 && completions[item]! > 1) visit(start, ends[item]!, completions[item]!)
      }
    }

    /** Takes the expected number of right votes for the truth; returns the largest change. */
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

    forEachInformative((start, end) => {
      for (let vote = start; vote < end; vote++) {
        let same = 0
        for (let other = start; other < end; other++) if (choices[other] === choices[vote]) same++
        right[experts[vote]!]! += same / (end - start)
        shared[experts[vote]!]!++
      }
    })
    update()

    let iterations = 0
    let change = Infinity
    while (change > tolerance && iterations < maxIterations) {
      right.fill(0)
      forEachInformative((start, end, count) => {
        weigh(start, end, count)
        for (let vote = start; vote < end; vote++) right[experts[vote]!]! += score[slotOf[vote - start]!]!
      })
      change = update()
      iterations++
    }
    return { reliability, shared, iterations, converged: change <= tolerance }
  }

  return {
    add: (completions, votes) => {
      counts.push(completions)
      for (const [expert, choice] of votes) {
        voters.push(expert)
        choiceList.push(choice)
        expertCount = Math.max(expertCount, expert + 1)
      }
      itemEnds.push(choiceList.length())
      maxVotes = Math.max(maxVotes, votes.length)
    },
    fit,
  }
}
