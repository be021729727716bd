/** Counts the votes on one prompt and decides its result. Arithmetic is exact: rounding never breaks a tie. */
import { Array as Arr, Order } from "effect"
import { firstOfText } from "./CompletionTexts.ts"
import type { Ranking } from "./Ranking.ts"

/** One vote. A ranking contains each completion once. */
export interface Ballot {
  readonly choice: number
  readonly ranking?: Ranking | undefined
  readonly rationale?: string | undefined
}

type Choice = Pick<Ballot, "choice" | "ranking">

export interface Tally {
  /** Index of the best completion. If several completions have its text, the one that the earliest vote chose. */
  readonly best: number
  /** Share of the first-choice votes that chose the best text, 0 to 1. */
  readonly agreement: number
  /** Whether two or more texts share the highest number of first-choice votes. */
  readonly tie: boolean
  /** The completions from best to worst. Equal completions share a group. Undefined if a vote has no ranking. */
  readonly ranking: Ranking | undefined
  /** The first rationale among the votes for the best text. */
  readonly rationale: string | undefined
}

export const rankTexts = (ranking: Ranking, first: ReadonlyArray<number>): Ranking => {
  const seen = new Set<number>()
  return ranking.flatMap((group) => {
    const texts = group.map((index) => first[index]!).filter((text) => !seen.has(text) && seen.add(text))
    return Arr.isArrayNonEmpty(texts) ? [texts] : []
  })
}

/**
 * Counts votes by these rules:
 * 1. Completions with the same text are one choice, at the best rank among them.
 * 2. The text with the most first choices is best. A vote that ranks several texts first is split equally among them.
 * 3. If several texts have the most first choices, the one with the highest mean Borda score is best. In a ranking of m
 *    texts, rank r (1 to m) scores m − r. Texts with the same rank get the mean of their scores.
 * 4. If several texts are equal by rules 2 and 3, the earliest vote that chose one of them decides. If no vote chose
 *    one of them, the lowest index is best.
 *
 * @param ballots in the order in which they were cast; at least one
 */
export const tally = (completions: ReadonlyArray<string>, ballots: ReadonlyArray<Ballot>): Tally => {
  const first = firstOfText(completions)
  const distinct = new Set(first).size
  const ofTexts = ballots.map((ballot) => withFirstIndices(ballot, first))
  const { votes, unitsPerVote } = firstChoices(completions.length, ofTexts.map(topOf))
  const borda = first.map(() => 0)
  for (const { ranking } of ofTexts) addBorda(borda, distinct, ranking)

  const compare: Order.Order<number> = (a, b) => {
    const [one, other] = [first[a]!, first[b]!]
    return Order.BigInt(votes[other]!, votes[one]!) || Order.Number(borda[other]!, borda[one]!)
  }

  const order = Arr.sort(Arr.range(0, completions.length - 1), compare)
  const groups = Arr.groupWith(order, (a, b) => compare(a, b) === 0)
  const equal = groups[0]
  const best = ballots.find(({ choice }) => equal.includes(choice))?.choice ?? Math.min(...equal)
  const most = votes[first[best]!]!

  const allUnits = unitsPerVote * BigInt(ballots.length)
  const divisor = greatestCommonDivisor(most, allUnits)
  return {
    best,
    agreement: Number(most / divisor) / Number(allUnits / divisor),
    tie: votes.filter((count) => count === most).length > 1,
    ranking: ballots.every(({ ranking }) => ranking !== undefined) ? groups : undefined,
    rationale: ballots.find(({ choice, rationale }) => first[choice] === first[best] && hasText(rationale))?.rationale,
  }
}

/** Whether each vote chose the winner of the others. Undefined if they tie, or this vote ranks several texts first. */
export const agreesWithOthers = (
  completions: ReadonlyArray<string>,
  ballots: ReadonlyArray<Choice>,
): ReadonlyArray<boolean | undefined> => {
  if (ballots.length === 1) return [undefined]
  const first = firstOfText(completions)
  const tops = ballots.map((ballot) => topOf(withFirstIndices(ballot, first)))
  const { votes, unitsPerVote } = firstChoices(completions.length, tops)
  return tops.map((top) => {
    const own = unitsPerVote / BigInt(top.length)
    const others = votes.map((count, index) => (top.includes(index) ? count - own : count))
    const most = others.reduce((most, count) => (count > most ? count : most), 0n)
    const isTied = most === 0n || others.indexOf(most) !== others.lastIndexOf(most)
    return isTied || top.length > 1 ? undefined : others[top[0]!] === most
  })
}

/** @param tops for each vote, the indices that it ranks first */
export const leadersOf = (tops: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<number> => {
  const { votes } = firstChoices(Math.max(-1, ...tops.flat()) + 1, tops)
  const most = votes.reduce((most, count) => (count > most ? count : most), 0n)
  return votes.flatMap((count, index) => (count === most ? [index] : []))
}

const firstChoices = (completions: number, tops: ReadonlyArray<ReadonlyArray<number>>) => {
  const unitsPerVote = tops.reduce((common, top) => leastCommonMultiple(common, BigInt(top.length)), 1n)
  const votes = Array.from({ length: completions }, () => 0n)
  for (const top of tops) for (const index of top) votes[index]! += unitsPerVote / BigInt(top.length)
  return { votes, unitsPerVote }
}

export const withFirstIndices = <Vote extends Choice>(vote: Vote, first: ReadonlyArray<number>): Vote => ({
  ...vote,
  choice: first[vote.choice]!,
  ...(vote.ranking === undefined ? {} : { ranking: rankTexts(vote.ranking, first) }),
})

const hasText = (text: string | undefined): boolean => text !== undefined && text.trim() !== ""

export const topOf = ({ choice, ranking }: Choice): ReadonlyArray<number> => ranking?.[0] ?? [choice]

/** Adds doubled Borda scores, so that all scores are integers. */
const addBorda = (scores: Array<number>, completions: number, ranking: Ranking | undefined) => {
  let below = completions
  for (const group of ranking ?? []) {
    below -= group.length
    for (const index of group) scores[index]! += 2 * below + group.length - 1
  }
}

const greatestCommonDivisor = (a: bigint, b: bigint): bigint => (b === 0n ? a : greatestCommonDivisor(b, a % b))

const leastCommonMultiple = (a: bigint, b: bigint): bigint => (a / greatestCommonDivisor(a, b)) * b
