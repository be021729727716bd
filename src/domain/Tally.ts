/**
 * The votes on one prompt, made into one result.
 *
 * Guarantees: the same votes in the same order give the same result; arithmetic is exact, so
 * that a tie is a tie.
 *
 * The rules:
 * 1. Each vote gives one first-choice vote to its choice. A vote that ranks several completions
 *    together at the top gives each of them an equal part of it. The completion with the most
 *    first-choice votes is best. `agreement` is its share of them, 0 to 1.
 * 2. Of several that have the most, the one with the highest mean Borda score is best, over the
 *    votes that rank. In a ranking of m completions, the completion at rank r (1 to m) scores m − r;
 *    completions that are ranked together share the mean of the ranks that they take up.
 * 3. Of several that are equal in this too, the one that the earliest vote chose is best; last,
 *    the one with the lowest index. Where the first rule did not decide, the result says `tie`.
 *
 * `ranking`, where every vote ranks, orders all completions by the first two rules; equal ones
 * stand together, so that the best is always in the first group. `rationale` is that of the
 * earliest vote whose choice is the best and that has one; a rationale for another choice is not taken.
 */
import type { Ranking } from "./Vote.ts"

/** What is counted of a vote. A ranking names each completion once. */
export interface Ballot {
  readonly choice: number
  readonly ranking?: Ranking | undefined
  readonly rationale?: string | undefined
}

type Choice = Pick<Ballot, "choice" | "ranking">

export interface Tally {
  readonly best: number
  /** The share of first-choice votes that went to the best. */
  readonly agreement: number
  /** Whether the first rule left several. */
  readonly tie: boolean
  /** Where every vote ranks. */
  readonly ranking: Ranking | undefined
  readonly rationale: string | undefined
}

/** @param ballots in the order in which they were given; at least one */
export const tally = (completions: number, ballots: ReadonlyArray<Ballot>): Tally => {
  const whole = ballots.reduce((common, ballot) => leastCommonMultiple(common, BigInt(topOf(ballot).length)), 1n)
  const first = Array.from({ length: completions }, () => 0n)
  const borda = Array.from({ length: completions }, () => 0)
  for (const ballot of ballots) {
    const top = topOf(ballot)
    for (const index of top) first[index]! += whole / BigInt(top.length)
    addBorda(borda, completions, ballot.ranking)
  }

  /** Negative where the first of the two is better by the first two rules. */
  const compare = (a: number, b: number): number =>
    first[a] === first[b] ? borda[b]! - borda[a]! : first[a]! > first[b]! ? -1 : 1

  const order = Array.from({ length: completions }, (_, index) => index).toSorted(compare)
  const groups = groupEqual(order, compare)
  const equal = groups[0]
  const best = ballots.find(({ choice }) => equal.includes(choice))?.choice ?? Math.min(...equal)

  const given = whole * BigInt(ballots.length)
  const divisor = greatestCommonDivisor(first[best]!, given)
  return {
    best,
    agreement: Number(first[best]! / divisor) / Number(given / divisor),
    tie: first.filter((votes) => votes === first[best]).length > 1,
    ranking: ballots.every(({ ranking }) => ranking !== undefined) ? groups : undefined,
    rationale: ballots.find(({ choice, rationale }) => choice === best && hasText(rationale))?.rationale,
  }
}

/** Whether a vote agrees with what came out: its choice is the best, or it ranks the best at the top with others. */
export const agrees = (ballot: Choice, best: number): boolean => ballot.choice === best || topOf(ballot).includes(best)

const hasText = (text: string | undefined): boolean => text !== undefined && text.trim() !== ""

/** What a vote has at the top: its choice, and what it ranks beside it. */
export const topOf = ({ choice, ranking }: Choice): ReadonlyArray<number> => ranking?.[0] ?? [choice]

/**
 * Adds the scores of one ranking, doubled, which makes them whole numbers: twice m less the mean rank is twice
 * the completions ranked below, and one for each that is ranked beside. As each ranking names every completion, the
 * sums order them as the means do.
 */
const addBorda = (scores: Array<number>, completions: number, ranking: Ranking | undefined) => {
  let below = completions
  for (const group of ranking ?? []) {
    below -= group.length
    for (const index of group) scores[index]! += 2 * below + group.length - 1
  }
}

const groupEqual = (
  sorted: ReadonlyArray<number>,
  compare: (a: number, b: number) => number,
): [[number, ...Array<number>], ...Array<[number, ...Array<number>]>] => {
  const [head = 0, ...rest] = sorted
  const groups: [[number, ...Array<number>], ...Array<[number, ...Array<number>]>] = [[head]]
  for (const index of rest) {
    const last = groups.at(-1)!
    if (compare(last[0], index) === 0) last.push(index)
    else groups.push([index])
  }
  return groups
}

const greatestCommonDivisor = (a: bigint, b: bigint): bigint => (b === 0n ? a : greatestCommonDivisor(b, a % b))

const leastCommonMultiple = (a: bigint, b: bigint): bigint => (a / greatestCommonDivisor(a, b)) * b
