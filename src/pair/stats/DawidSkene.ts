/**
 * Estimates the reliability of each expert from votes alone, by expectation maximization (A. P. Dawid and A. M. Skene,
 * 1979, "Maximum likelihood estimation of observer error-rates using the EM algorithm"), in the one-coin model of
 * `make`.
 *
 * Guarantees: deterministic; bounded iterations; starts from the majority, and the posterior never decreases.
 * Not guaranteed: the global maximum. If most experts make the same errors, they are considered right.
 */
import * as NumberList from "./NumberList.ts"

export interface Limits {
  readonly maxIterations?: number
  /** Stops when no reliability changes by more than this. */
  readonly tolerance?: number
}

/** Zero-based number of the expert, and any number that identifies the choice. */
export type ExpertVote = readonly [expert: number, choice: number]

export interface DawidSkene {
  /**
   * Adds an item. Votes without a name may share one expert, who then votes several times.
   *
   * @param completions how many there are to choose from
   * @param truth the right choice, where it is known
   */
  readonly add: (completions: number, votes: ReadonlyArray<ExpertVote>, truth?: number) => void
  /** Of the items so far. */
  readonly fit: (limits?: Limits) => Fit
}

export interface Fit {
  /** By expert: the probability that a vote of theirs is right, above 0 and below 1. */
  readonly reliability: Float64Array
  /** By item, in the order of adding: the probability of the most probable completion; 1 where the right one is known. */
  readonly confidence: () => Float64Array
  /** By expert: votes on items with several votes, or with a known answer. Without any, the reliability is 2/3. */
  readonly shared: Uint32Array
  readonly iterations: number
  readonly converged: boolean
}

/** The prior as votes that each expert is assumed to have given. */
const rightBefore = 2
const wrongBefore = 1

/**
 * The one-coin model: a vote is right with the expert's reliability r, and otherwise is for each of the other K − 1
 * completions with the same probability. (The error matrix of 1979 needs classes that are the same for all items.)
 * The estimate maximizes the posterior of r with a Beta(3, 2) prior, as if each expert had given two right votes and
 * one wrong vote before: r is never 0 or 1, and of two mirror images, the one with more right votes is preferred
 * (Q. Liu, J. Peng and A. Ihler, 2012, "Variational inference for crowdsourcing").
 *
 * Where the right choice is known, it stands for the estimated one.
 *
 * Takes 8 bytes per vote and 12 per item, up to three times that while growing.
 */
export const make = (): DawidSkene => {
  const counts = NumberList.make(Uint32Array)
  const itemEnds = NumberList.make(Uint32Array)
  /** The right choice and 1, or 0 where it is not known. */
  const truths = NumberList.make(Uint32Array)
  const voters = NumberList.make(Uint32Array)
  const choiceList = NumberList.make(Uint32Array)
  let expertCount = 0
  let maxVotes = 0

  const fit = ({ maxIterations = 500, tolerance = 1e-6 }: Limits = {}): Fit => {
    const [completions, ends, experts, choices] = [counts.view(), itemEnds.view(), voters.view(), choiceList.view()]
    const known = truths.view()
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
      // Completions without a vote have a score of 0.
      let top = slots < count ? 0 : -Infinity
      for (let slot = 0; slot < slots; slot++) top = Math.max(top, score[slot]!)
      let total = (count - slots) * Math.exp(-top)
      for (let slot = 0; slot < slots; slot++) total += score[slot] = Math.exp(score[slot]! - top)
      for (let slot = 0; slot < slots; slot++) score[slot]! /= total
    }

    const forEachInformative = (
      visit: (start: number, end: number, completions: number, truth: number | undefined) => void,
    ): void => {
      for (let item = 0, start = 0; item < ends.length; start = ends[item++]!) {
        const truth = known[item] === 0 ? undefined : known[item]! - 1
        const isInformative = ends[item]! - start > 1 || truth !== undefined
        if (isInformative && completions[item]! > 1) visit(start, ends[item]!, completions[item]!, truth)
      }
    }

    /** Votes on an item with a known answer. */
    const check = (start: number, end: number, truth: number): void => {
      for (let vote = start; vote < end; vote++) if (choices[vote] === truth) right[experts[vote]!]!++
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

    forEachInformative((start, end, _, truth) => {
      if (truth !== undefined) {
        check(start, end, truth)
        for (let vote = start; vote < end; vote++) shared[experts[vote]!]!++
        return
      }
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
      forEachInformative((start, end, count, truth) => {
        if (truth !== undefined) return check(start, end, truth)
        weigh(start, end, count)
        for (let vote = start; vote < end; vote++) right[experts[vote]!]! += score[slotOf[vote - start]!]!
      })
      change = update()
      iterations++
    }

    const confidence = (): Float64Array => {
      const found = new Float64Array(ends.length)
      for (let item = 0, start = 0; item < ends.length; start = ends[item++]!) {
        const count = completions[item]!
        if (known[item] !== 0 || count === 1) {
          found[item] = 1
          continue
        }
        // Where nobody voted, each is as probable.
        found[item] = 1 / count
        weigh(start, ends[item]!, count)
        for (let vote = start; vote < ends[item]!; vote++) {
          found[item] = Math.max(found[item]!, score[slotOf[vote - start]!]!)
        }
      }
      return found
    }
    return { reliability, shared, iterations, converged: change <= tolerance, confidence }
  }

  return {
    add: (completions, votes, truth) => {
      counts.push(completions)
      truths.push(truth === undefined ? 0 : truth + 1)
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
