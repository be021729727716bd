/**
 * Estimates experts' reliabilities from votes by expectation maximization (A. P. Dawid and A. M. Skene, 1979, "Maximum
 * likelihood estimation of observer error-rates using the EM algorithm"), in the one-coin model of `make`. A known
 * choice is fixed. The result may be a local maximum. If most experts make the same errors, their choices seem right.
 */
import * as NumberList from "./NumberList.ts"

export interface Limits {
  readonly maxIterations?: number
  /** The iteration ends when no reliability changes by more than this number. */
  readonly tolerance?: number
}

/** `expert` is a number from 0. If the judges' votes tie (`votes/Jury`), `parties` is the number of tied choices. */
export type ExpertVote = readonly [expert: number, choice: number, parties?: number | undefined]

export interface Fit {
  /** For each expert, the probability that a vote is right: above 0 and below 1. */
  readonly reliability: Float64Array
  /** The probability of each item's most probable completion; 1 for a known choice. */
  readonly confidence: () => Float64Array
  /** Each expert's number of votes on items with several votes or a known answer. If 0, `reliability` is `priorOf`. */
  readonly shared: Uint32Array
  readonly iterations: number
  readonly converged: boolean
}

/** The prior is like three earlier votes of each expert. `rightBefore` of these votes are right. */
const votesBefore = 3
const rightBefore = (parties: number): number => (parties === 1 ? 2 : votesBefore / parties)

export const priorOf = (parties = 1): number => rightBefore(parties) / votesBefore

/** If the judges tie, the vote for each tied choice weighs less than 1. For two completions, this weight is exact. */
const weightOf = (parties: number): number => (parties === 1 ? 1 : 1 - 1 / parties)

const minGain = 1e-6

/**
 * @param isCandidate for each completion, whether it can be the best one; if false, its probability is 0
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
 * The one-coin model: all votes of an expert are right with one probability, the reliability. A wrong vote is equally
 * likely for each wrong completion. The prior distribution is Beta(3, 2), like two right votes and one wrong vote. A
 * reliability is therefore never 0 or 1. If two solutions are equally good, the one with more right votes is found (Q.
 * Liu, J. Peng, and A. Ihler, 2012, "Variational inference for crowdsourcing"). Memory: 8 bytes per vote and 12 bytes
 * per item, and three times as much while the lists grow.
 */
export const make = () => {
  const counts = NumberList.make(Uint32Array)
  const itemEnds = NumberList.make(Uint32Array)
  /** The right choice plus 1, or 0 if it is unknown. */
  const truths = NumberList.make(Uint32Array)
  const voters = NumberList.make(Uint32Array)
  const choiceList = NumberList.make(Uint32Array)
  const partiesOf = new Map<number, number>()
  let expertCount = 0
  let maxVotes = 0

  const fit = ({ maxIterations = 500, tolerance = 1e-6 }: Limits = {}): Fit => {
    const [completions, ends, experts, choices] = [counts.view(), itemEnds.view(), voters.view(), choiceList.view()]
    const itemTruths = truths.view()
    const reliability = new Float64Array(expertCount)
    const logOdds = new Float64Array(expertCount)
    const right = new Float64Array(expertCount)
    const shared = new Uint32Array(expertCount)
    const onKnown = new Uint32Array(expertCount)
    const priors = Float64Array.from(reliability, (_, expert) => rightBefore(partiesOf.get(expert) ?? 1))
    const weights = Float64Array.from(reliability, (_, expert) => weightOf(partiesOf.get(expert) ?? 1))

    // The completions of the current item that have votes, in the order of their first votes.
    const voted = new Uint32Array(maxVotes)
    const score = new Float64Array(maxVotes)
    const slotOf = new Uint32Array(maxVotes)

    /**
     * Sets `score[i]` to the posterior probability of the completion `voted[i]`. For `density`, returns ln(L / W). L is
     * the likelihood of the item's votes. W is the likelihood of these votes under the assumption that all are wrong.
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

    const isSeveral = (start: number, end: number): boolean =>
      end - start > 1 && (partiesOf.get(experts[start]!) ?? 1) !== end - start

    const forEachInformative = (
      visit: (start: number, end: number, completions: number, truth: number | undefined) => void,
    ): void => {
      for (let item = 0, start = 0; item < ends.length; start = ends[item++]!) {
        const truth = itemTruths[item] === 0 ? undefined : itemTruths[item]! - 1
        const isInformative = truth !== undefined || isSeveral(start, ends[item]!)
        if (isInformative && completions[item]! > 1) visit(start, ends[item]!, completions[item]!, truth)
      }
    }

    const check = (start: number, end: number, truth: number): void => {
      for (let vote = start; vote < end; vote++) if (choices[vote] === truth) right[experts[vote]!]!++
    }

    const update = (voteCounts: Uint32Array): number => {
      let change = 0
      for (let expert = 0; expert < expertCount; expert++) {
        const r = (right[expert]! + priors[expert]!) / (voteCounts[expert]! + votesBefore)
        change = Math.max(change, Math.abs(r - reliability[expert]!))
        reliability[expert] = r
        logOdds[expert] = Math.log(r / (1 - r))
      }
      return change
    }

    /** The log posterior density of the reliabilities, except for a constant. */
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
      if (density() > before + minGain) outcome = fromKnown
      else {
        reliability.set(fromMajority)
        for (const [expert, r] of reliability.entries()) logOdds[expert] = Math.log(r / (1 - r))
      }
    }

    const confidence = (): Float64Array => {
      const confidences = new Float64Array(ends.length)
      for (let item = 0, start = 0; item < ends.length; start = ends[item++]!) {
        const count = completions[item]!
        if (itemTruths[item] !== 0 || count === 1) {
          confidences[item] = 1
          continue
        }
        confidences[item] = 1 / count
        weigh(start, ends[item]!, count)
        for (let vote = start; vote < ends[item]!; vote++) {
          confidences[item] = Math.max(confidences[item]!, score[slotOf[vote - start]!]!)
        }
      }
      return confidences
    }
    return { reliability, shared, ...outcome, confidence }
  }

  return {
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
