/**
 * The votes on one prompt, made into one result.
 *
 * Guarantees: the same votes in the same order give the same result; arithmetic is exact, so
 * that a tie is a tie.
 *
 * The rules:
 * 1. Votes are for texts: completions of the same text are one choice, ranked where the best of them is.
 * 2. Each vote gives one first-choice vote to its choice. A vote that ranks several texts
 *    together at the top gives each of them an equal part of it. The text with the most
 *    first-choice votes is best. `agreement` is its share of them, 0 to 1.
 * 3. Of several that have the most, the one with the highest mean Borda score is best, over the
 *    votes that rank. In a ranking of m texts, the text at rank r (1 to m) scores m − r;
 *    texts that are ranked together share the mean of the ranks that they take up.
 * 4. Of several that are equal in this too, the one that the earliest vote chose is best; last,
 *    the one with the lowest index. Where the second rule did not decide, the result says `tie`.
 *
 * `best` is the completion that the earliest vote for its text chose. `ranking`, where every vote ranks, orders all
 * completions by the second and third rules; equal ones stand together, so that the best is always in the first group.
 * `rationale` is that of the earliest vote for the best text that has one; a rationale for another choice is not taken.
 */
import { Array as Arr } from "effect"
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
  /** Whether the first-choice votes left several. */
  readonly tie: boolean
  /** Where every vote ranks. */
  readonly ranking: Ranking | undefined
  readonly rationale: string | undefined
}

/** For each completion, the first one that has the same text. */
export const firstOfText = (completions: ReadonlyArray<string>): ReadonlyArray<number> =>
  completions.map((text) => completions.indexOf(text))

/** A ranking of texts, each named by one index: that of `first`, where the best of its completions is ranked. */
export const rankTexts = (ranking: Ranking, first: ReadonlyArray<number>): Ranking => {
  const seen = new Set<number>()
  return ranking.flatMap((group) => {
    const texts = group.map((index) => first[index]!).filter((text) => !seen.has(text) && seen.add(text))
    return Arr.isArrayNonEmpty(texts) ? [texts] : []
  })
}

/** @param ballots in the order in which they were given; at least one */
export const tally = (completions: ReadonlyArray<string>, ballots: ReadonlyArray<Ballot>): Tally => {
  const first = firstOfText(completions)
  const distinct = new Set(first).size
  const ofTexts = ballots.map((ballot) => byText(ballot, first))
  const { votes, whole } = firstChoices(completions.length, ofTexts.map(topOf))
  const borda = first.map(() => 0)
  for (const { ranking } of ofTexts) addBorda(borda, distinct, ranking)

  /** Negative where the first of the two is better by votes and Borda scores. */
  const compare = (a: number, b: number): number => {
    const [one, other] = [first[a]!, first[b]!]
    return votes[one] === votes[other] ? borda[other]! - borda[one]! : votes[one]! > votes[other]! ? -1 : 1
  }

  const order = Array.from(first.keys()).toSorted(compare)
  const groups = groupEqual(order, compare)
  const equal = groups[0]
  const best = ballots.find(({ choice }) => equal.includes(choice))?.choice ?? Math.min(...equal)
  const most = votes[first[best]!]!

  const given = whole * BigInt(ballots.length)
  const divisor = greatestCommonDivisor(most, given)
  return {
    best,
    agreement: Number(most / divisor) / Number(given / divisor),
    tie: votes.filter((count) => count === most).length > 1,
    ranking: ballots.every(({ ranking }) => ranking !== undefined) ? groups : undefined,
    rationale: ballots.find(({ choice, rationale }) => first[choice] === first[best] && hasText(rationale))?.rationale,
  }
}

/**
 * For each vote, whether it is for the text that has the most first-choice votes of the others; undefined where these
 * leave several, or the vote itself has several at the top: a tie agrees with nobody.
 */
export const agreesWithOthers = (
  completions: ReadonlyArray<string>,
  ballots: ReadonlyArray<Choice>,
): ReadonlyArray<boolean | undefined> => {
  const first = firstOfText(completions)
  const tops = ballots.map((ballot) => topOf(byText(ballot, first)))
  const { votes, whole } = firstChoices(completions.length, tops)
  return tops.map((top) => {
    const own = whole / BigInt(top.length)
    const others = votes.map((count, index) => (top.includes(index) ? count - own : count))
    const most = others.reduce((most, count) => (count > most ? count : most), 0n)
    const isTied = most === 0n || others.indexOf(most) !== others.lastIndexOf(most)
    return isTied || top.length > 1 ? undefined : others[top[0]!] === most
  })
}

/** First-choice votes by index, in units of which each vote has `whole`. */
const firstChoices = (completions: number, tops: ReadonlyArray<ReadonlyArray<number>>) => {
  const whole = tops.reduce((common, top) => leastCommonMultiple(common, BigInt(top.length)), 1n)
  const votes = Array.from({ length: completions }, () => 0n)
  for (const top of tops) for (const index of top) votes[index]! += whole / BigInt(top.length)
  return { votes, whole }
}

/** A vote of which each index is the first one of its text. */
export const byText = <Vote extends Choice>(vote: Vote, first: ReadonlyArray<number>): Vote => ({
  ...vote,
  choice: first[vote.choice]!,
  ...(vote.ranking === undefined ? {} : { ranking: rankTexts(vote.ranking, first) }),
})

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
