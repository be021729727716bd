/**
 * Estimates the reliability of each expert from votes by expectation maximization (A. P. Dawid and A. M. Skene, 1979,
 * "Maximum likelihood estimation of observer error-rates using the EM algorithm"), in the one-coin model of `make`. If
 * the right choice of an item is known, it is fixed as the item's class (W. Tang and M. Lease, 2011, "Semi-supervised
 * consensus labeling for crowdsourcing", SIGIR workshop on crowdsourcing for information retrieval).
 *
 * Guarantees: deterministic. The number of iterations is bounded. An iteration can decrease the posterior only if a
 * jury is evenly split on an item with more than two completions, because `weightOf` is then an approximation. One
 * estimate starts with each expert's agreement with the other votes. If right choices are known, another estimate
 * starts with each expert's share of right votes on these items. The result is the estimate with the higher posterior.
 * Not guaranteed: the global maximum. If most experts make the same errors, the estimate considers their choices right,
 * unless known choices contradict them.
 */
import * as NumberList from "./NumberList.ts"

export interface Limits {
  readonly maxIterations?: number
  /** The estimate stops when no reliability changes by more than this. */
  readonly tolerance?: number
}

/**
 * If several parties of a jury vote (`votes/Jury`), each party is an expert. `parties` is the number of these parties,
 * and is equal in all votes of an expert. Default 1. `expert` is a zero-based number. `choice` is any number that
 * identifies the choice.
 */
export type ExpertVote = readonly [expert: number, choice: number, parties?: number | undefined]

export interface Fit {
  /** For each expert, the probability that a vote is right, above 0 and below 1. */
  readonly reliability: Float64Array
  /**
   * For each item, in the order added, the probability of the most probable completion. 1 if the right choice is known.
   */
  readonly confidence: () => Float64Array
  /**
   * For each expert, the number of votes on items with several votes or a known answer. If 0, the reliability is that
   * of the prior. The votes of a jury's parties count as one vote.
   */
  readonly shared: Uint32Array
  readonly iterations: number
  readonly converged: boolean
}

/** The prior assumes that each expert has given this many votes, of which `rightBefore` were right. */
const votesBefore = 3
const rightBefore = (parties: number): number => (parties === 1 ? 2 : votesBefore / parties)

/** An expert's most probable reliability by the prior, before any votes. */
export const priorOf = (parties = 1): number => rightBefore(parties) / votesBefore

/**
 * The weight of a vote. For two parties and two completions, one vote follows from the other, so each counts half. For
 * more parties or completions, the weight is an approximation.
 */
const weightOf = (parties: number): number => (parties === 1 ? 1 : 1 - 1 / parties)

/** Minimum gain in log density. With less, the estimate that starts from the majority is preferred. */
const minGain = 1e-6

/**
 * For each completion, returns the probability that it is right, in the model of `make`. The probabilities add up to 1.
 *
 * @param isCandidate for each completion, whether it may be right; true for at least one
 * @param votes the votes on the item: the expert's reliability, the index of the choice (a candidate), and `parties`
 * @param texts the number of different completions
 */
export const posterior = (
  isCandidate: ReadonlyArray<boolean>,
  votes: ReadonlyArray<readonly [reliability: number, choice: number, parties?: number | undefined]>,
  texts: number,
): ReadonlyArray<number> => {
  const scores = isCandidate.map((may) => (may ? 0 : -Infinity))
  for (const [r, choice, parties = 1] of votes) {
    scores[choice]! += weightOf(parties) * (Math.log(r / (1 - r)) + Math.log(texts - 1))
  }
  const top = Math.max(...scores)
  const weights = scores.map((score) => Math.exp(score - top))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => weight / total)
}

/**
 * Makes an estimator for the one-coin model. A vote is right with probability r, the expert's reliability. A wrong vote
 * is equally likely for each of the other K − 1 completions. (The error matrix of Dawid and Skene needs the same
 * classes for all items.) The estimate maximizes the posterior of r with a Beta(3, 2) prior, as if each expert had
 * already given two right votes and one wrong vote. Therefore, r is never 0 or 1. If two solutions differ only by
 * exchanging right and wrong votes, the prior selects the one with more right votes (Q. Liu, J. Peng, and A. Ihler,
 * 2012, "Variational inference for crowdsourcing"). The prior of a jury's parties prefers none of them.
 *
 * Memory: 8 bytes per vote and 12 per item, and up to three times this while the lists grow.
 */
export const make = () => {
  const counts = NumberList.make(Uint32Array)
  const itemEnds = NumberList.make(Uint32Array)
  /** The right choice plus 1, or 0 if it is unknown. */
  const truths = NumberList.make(Uint32Array)
  const voters = NumberList.make(Uint32Array)
  const choiceList = NumberList.make(Uint32Array)
  /** Maps each expert whose votes have `parties` above 1 to this number. */
  const partiesOf = new Map<number, number>()
  let expertCount = 0
  let maxVotes = 0

  const fit = ({ maxIterations = 500, tolerance = 1e-6 }: Limits = {}): Fit => {
    const [completions, ends, experts, choices] = [counts.view(), itemEnds.view(), voters.view(), choiceList.view()]
    const known = truths.view()
    const reliability = new Float64Array(expertCount)
    const logOdds = new Float64Array(expertCount)
    const right = new Float64Array(expertCount)
    const shared = new Uint32Array(expertCount)
    const onKnown = new Uint32Array(expertCount)
    const priors = Float64Array.from(reliability, (_, expert) => rightBefore(partiesOf.get(expert) ?? 1))
    const weights = Float64Array.from(reliability, (_, expert) => weightOf(partiesOf.get(expert) ?? 1))

    // Buffers for the current item. They list the completions with votes, in the order of their first votes.
    const voted = new Uint32Array(maxVotes)
    const score = new Float64Array(maxVotes)
    const slotOf = new Uint32Array(maxVotes)

    /**
     * Writes the posterior probability of each completion with votes into `score`. Returns the logarithm of a ratio:
     * the probability of the votes, divided by their probability if all are wrong.
     */
    const weigh = (start: number, end: number, count: number): number => {
      let slots = 0
      for (let vote = start; vote < end; vote++) {
        let slot = 0
        while (slot < slots && voted[slot] !== choices[vote]) slot++
        if (slot === slots) {
          voted[slot] = choices[vote]!
          score[slot] = 0
          slots++
        }
        score[slot]! += weights[experts[vote]!]! * (logOdds[experts[vote]!]! + Math.log(count - 1))
        slotOf[vote - start] = slot
      }
      // A completion without votes has a score of 0.
      let top = slots < count ? 0 : -Infinity
      for (let slot = 0; slot < slots; slot++) top = Math.max(top, score[slot]!)
      let total = (count - slots) * Math.exp(-top)
      for (let slot = 0; slot < slots; slot++) total += score[slot] = Math.exp(score[slot]! - top)
      for (let slot = 0; slot < slots; slot++) score[slot]! /= total
      return top + Math.log(total)
    }

    /** Whether an item has several votes. The votes of a jury's parties count as one. */
    const isSeveral = (start: number, end: number): boolean =>
      end - start > 1 && (partiesOf.get(experts[start]!) ?? 1) !== end - start

    const forEachInformative = (
      visit: (start: number, end: number, completions: number, truth: number | undefined) => void,
    ): void => {
      for (let item = 0, start = 0; item < ends.length; start = ends[item++]!) {
        const truth = known[item] === 0 ? undefined : known[item]! - 1
        const isInformative = truth !== undefined || isSeveral(start, ends[item]!)
        if (isInformative && completions[item]! > 1) visit(start, ends[item]!, completions[item]!, truth)
      }
    }

    const check = (start: number, end: number, truth: number): void => {
      for (let vote = start; vote < end; vote++) if (choices[vote] === truth) right[experts[vote]!]!++
    }

    /** Updates the reliabilities from `right`. `of` has each expert's number of votes. Returns the largest change. */
    const update = (of: Uint32Array): number => {
      let change = 0
      for (let expert = 0; expert < expertCount; expert++) {
        const r = (right[expert]! + priors[expert]!) / (of[expert]! + votesBefore)
        change = Math.max(change, Math.abs(r - reliability[expert]!))
        reliability[expert] = r
        logOdds[expert] = Math.log(r / (1 - r))
      }
      return change
    }

    /** The log of the posterior density of the reliabilities, except for a constant. */
    const density = (): number => {
      let sum = 0
      for (const [expert, r] of reliability.entries()) {
        const before = priors[expert]!
        sum += weights[expert]! * (before * Math.log(r) + (votesBefore - before) * Math.log(1 - r))
      }
      forEachInformative((start, end, count, truth) => {
        if (truth === undefined) sum += weigh(start, end, count)
        for (let vote = start; vote < end; vote++) {
          const expert = experts[vote]!
          sum += weights[expert]! * Math.log(1 - reliability[expert]!)
          if (choices[vote] === truth) sum += weights[expert]! * (logOdds[expert]! + Math.log(count - 1))
        }
      })
      return sum
    }

    const iterate = () => {
      let iterations = 0
      let change = Infinity
      while (change > tolerance && iterations < maxIterations) {
        right.fill(0)
        forEachInformative((start, end, count, truth) => {
          if (truth !== undefined) return check(start, end, truth)
          weigh(start, end, count)
          for (let vote = start; vote < end; vote++) right[experts[vote]!]! += score[slotOf[vote - start]!]!
        })
        change = update(shared)
        iterations++
      }
      return { iterations, converged: change <= tolerance }
    }

    let knownItems = 0
    let otherItems = 0
    forEachInformative((start, end, _, truth) => {
      for (let vote = start; vote < end; vote++) shared[experts[vote]!]!++
      if (truth === undefined) otherItems++
      else {
        knownItems++
        check(start, end, truth)
        for (let vote = start; vote < end; vote++) onKnown[experts[vote]!]!++
      }
    })
    const rightOnKnown = right.slice()

    forEachInformative((start, end, _, truth) => {
      if (truth !== undefined) return
      for (let vote = start; vote < end; vote++) {
        let same = 0
        for (let other = start; other < end; other++) if (choices[other] === choices[vote]) same++
        right[experts[vote]!]! += same / (end - start)
      }
    })
    update(shared)
    let outcome = iterate()

    if (knownItems > 0 && otherItems > 0) {
      const [fromMajority, before] = [reliability.slice(), density()]
      right.set(rightOnKnown)
      update(onKnown)
      const fromKnown = iterate()
      // Both starts usually lead to the same estimate, except for rounding. The majority's estimate is then used.
      if (density() > before + minGain) outcome = fromKnown
      else {
        reliability.set(fromMajority)
        for (const [expert, r] of reliability.entries()) logOdds[expert] = Math.log(r / (1 - r))
      }
    }

    const confidence = (): Float64Array => {
      const found = new Float64Array(ends.length)
      for (let item = 0, start = 0; item < ends.length; start = ends[item++]!) {
        const count = completions[item]!
        if (known[item] !== 0 || count === 1) {
          found[item] = 1
          continue
        }
        // Without votes, all completions are equally probable.
        found[item] = 1 / count
        weigh(start, ends[item]!, count)
        for (let vote = start; vote < ends[item]!; vote++) {
          found[item] = Math.max(found[item]!, score[slotOf[vote - start]!]!)
        }
      }
      return found
    }
    return { reliability, shared, ...outcome, confidence }
  }

  return {
    /**
     * Adds an item. If votes have no name, they may all have the same expert number.
     *
     * @param completions the number of completions to choose from
     * @param truth the right choice, if it is known
     */
    add: (completions: number, votes: ReadonlyArray<ExpertVote>, truth?: number): void => {
      counts.push(completions)
      truths.push(truth === undefined ? 0 : truth + 1)
      for (const [expert, choice, parties = 1] of votes) {
        voters.push(expert)
        if (parties > 1) partiesOf.set(expert, parties)
        choiceList.push(choice)
        expertCount = Math.max(expertCount, expert + 1)
      }
      itemEnds.push(choiceList.length())
      maxVotes = Math.max(maxVotes, votes.length)
    },
    fit,
  }
}
