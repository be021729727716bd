/**
 * Combines the votes on an item into one judgment: by counting votes (`byMajority`), or by the experts' reliability
 * (`byProbability`; Dawid & Skene, 1979). A lead, who is a person with the right to decide, may overrule the votes. The
 * votes then give only the agreement, the assessment, and perhaps a ranking.
 */
import { Array as Arr, Option, Struct } from "effect"
import * as Assessment from "../../domain/Assessment.ts"
import * as Decision from "../../domain/Decision.ts"
import { flagsIn } from "../../domain/Flag.ts"
import type { JudgedItem, Judgment } from "../../domain/Judgment.ts"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import { firstOfText } from "../../domain/CompletionTexts.ts"
import * as PairBytes from "../../domain/PairBytes.ts"
import { type Ballot, type Tally, tally, topOf } from "../../domain/Tally.ts"
import type { Ranking } from "../../domain/Ranking.ts"
import { type ItemVote, marginOf, votesOf } from "./ItemVotes.ts"
import { rankingOf } from "./Ranking.ts"

export const aggregations = ["majority", "dawid-skene", "jury"] as const
export type Aggregation = (typeof aggregations)[number]
export const defaultAggregation: Aggregation = "majority"

export const defaults = { minAgreement: 0, minVotes: 1, ties: "drop" } as const

/** One judgment of an item, with the votes that it combines. */
export interface Consensus {
  /** Based on a lead's judgment, if any, otherwise on the item's first judgment. Has the flags of all judgments. */
  readonly judgment: Judgment
  /** The votes, at least one. */
  readonly votes: ReadonlyArray<ItemVote>
  /** The share of votes for the best completion, 0 to 1. A vote for n completions counts as 1/n. Null for one vote. */
  readonly agreement: number | null
  /** How the choice was made: by the majority, by reliability, by a service against the majority, or by a lead. */
  readonly by: "majority" | "reliability" | "service" | "lead"
  /** Whether the chosen completion has more first choices than any other. */
  readonly isMajority: boolean
  /** Whether several completions tie for best in the votes. False if there is only one vote, or if a lead decided. */
  readonly isTie: boolean
}

const ballotOf = ({ choice, ranking, rationale }: ItemVote): Ballot => ({
  choice,
  ranking,
  rationale: rationale ?? undefined,
})

const byDecision = (item: JudgedItem, votes: ReadonlyArray<ItemVote>): Consensus | undefined => {
  const decided = item.judgments.findLast(({ annotations }) => Decision.isIn(annotations))
  if (decided === undefined) return undefined
  const judgment = { ...decided, taskId: item.judgments[0].taskId }
  const best = firstOfText(item.completions)[judgment.bestCompletionIndex]!
  const counted = tally(item.completions, votes.map(ballotOf))
  return {
    judgment: withAssessment(withFlags(withRanking(judgment, counted.ranking, "lead"), item), votes),
    votes,
    agreement: votes.length === 1 ? null : shareOf(best, votes),
    by: "lead",
    isMajority: isMajority(item, counted, best),
    isTie: false,
  }
}

const isMajority = ({ completions }: JudgedItem, counted: Tally, best: number): boolean =>
  !counted.tie && areSame(completions, counted.best, best)

const areSame = (completions: ReadonlyArray<string>, one: number, other: number): boolean => {
  const first = firstOfText(completions)
  return first[one] === first[other]
}

const chosenIndexOf = (text: number, votes: ReadonlyArray<ItemVote>): number | undefined =>
  votes.find(({ choice }) => choice === text)?.chosenIndex

/** Combines the votes by counting. If exactly one task judged the item, this task's own result decides the choice. */
export const byMajority = (item: JudgedItem, votes = votesOf(item)): Consensus => {
  const decided = byDecision(item, votes)
  if (decided !== undefined) return decided
  const [first] = item.judgments
  const best = firstOfText(item.completions)[first.bestCompletionIndex]!
  const chosenIndex = chosenIndexOf(best, votes)
  const judgment = chosenIndex === undefined ? first : { ...first, bestCompletionIndex: chosenIndex }
  const [vote] = votes
  if (item.judgments.length === 1 && votes.length === 1 && vote?.ranking === undefined && vote?.choice === best) {
    const combined = withAssessment(judgment, votes)
    return { judgment: combined, votes, agreement: null, by: "majority", isMajority: true, isTie: false }
  }
  const counted = tally(item.completions, votes.map(ballotOf))
  const isTie = votes.length > 1 && counted.tie
  if (item.judgments.length === 1) {
    return {
      judgment: withAssessment(withRanking(judgment, counted.ranking, votes), votes),
      votes,
      agreement: votes.length === 1 ? null : shareOf(best, votes),
      by: areSame(item.completions, counted.best, best) ? "majority" : "service",
      isMajority: isMajority(item, counted, best),
      isTie,
    }
  }
  return {
    judgment: judged(item, counted.best, counted, votes),
    votes,
    agreement: votes.length === 1 ? null : counted.agreement,
    by: "majority",
    isMajority: !counted.tie,
    isTie,
  }
}

const withAssessment = (judgment: Judgment, votes: ReadonlyArray<ItemVote>): Judgment => {
  const combined = Assessment.combine(judgment.completions, judgment.bestCompletionIndex, votes)
  return Struct.keys(combined).length === 0
    ? judgment
    : { ...judgment, annotations: { ...Struct.omit(judgment.annotations, Assessment.names), ...combined } }
}

const withFlags = (judgment: Judgment, { judgments }: JudgedItem): Judgment => {
  const flags = judgments.flatMap(({ annotations }) => flagsIn(annotations))
  return judgments.length === 1 || flags.length === 0
    ? judgment
    : { ...judgment, annotations: { ...judgment.annotations, flags } }
}

const withRanking = (
  judgment: Judgment,
  ofVotes: Ranking | undefined,
  by: ReadonlyArray<ItemVote> | "lead",
): Judgment => {
  const own = Option.getOrUndefined(rankingOf(judgment))
  const ranking =
    own !== undefined && by === "lead" ? own : withBest(judgment, own ?? ofVotes, judgment.bestCompletionIndex, by)
  return ranking === own ? judgment : { ...judgment, annotations: { ...judgment.annotations, ranking } }
}

const epsilon = 1e-9

/** Combines the votes by reliability. @param probabilities for each completion, the probability that it is the best */
export const byProbability = (
  item: JudgedItem,
  probabilities: ReadonlyArray<number>,
  votes = votesOf(item),
): Consensus => {
  const decided = byDecision(item, votes)
  if (decided !== undefined) return decided
  if (votes.length === 1) return byMajority(item, votes)
  const highest = Math.max(...probabilities)
  const top = probabilities.flatMap((probability, index) => (highest - probability <= epsilon ? [index] : []))
  const counted = tally(item.completions, votes.map(ballotOf))
  const best = top.includes(counted.best) ? counted.best : (top[0] ?? counted.best)
  const rationale = votes.find((vote) => vote.choice === best && vote.rationale !== null)?.rationale ?? undefined
  return {
    judgment: judged(item, best, { ...counted, rationale }, votes),
    votes,
    agreement: shareOf(best, votes),
    by: "reliability",
    isMajority: isMajority(item, counted, best),
    isTie: top.length > 1,
  }
}

const withBest = (
  { completions }: Pick<Judgment, "completions">,
  ranking: Ranking | undefined,
  best: number,
  by: ReadonlyArray<ItemVote> | "lead",
): Ranking | undefined => {
  if (ranking === undefined) return undefined
  const first = firstOfText(completions)
  const [top = [], ...lower]: ReadonlyArray<ReadonlyArray<number>> = ranking
  const isBelow = (index: number) =>
    first[index] !== first[best] &&
    (by === "lead" || by.some((vote) => marginOf([vote], first[best]!, first[index]!) > 0))
  const equals = top.includes(best) ? top.filter((index) => !isBelow(index)) : [best]
  if (equals.length === top.length && top.includes(best)) return ranking
  const rest = [top, ...lower].map((group) => group.filter((index) => !equals.includes(index)))
  return [equals, ...rest].filter(Arr.isArrayNonEmpty)
}

/** The share of first choices that are for `best`. Each first choice of a vote with n first choices counts as 1/n. */
const shareOf = (best: number, votes: ReadonlyArray<ItemVote>): number =>
  votes.reduce((sum, vote) => {
    const top = topOf(vote)
    return top.includes(best) ? sum + 1 / top.length : sum
  }, 0) / votes.length

const judged = (
  { judgments }: JudgedItem,
  text: number,
  { ranking: ofVotes, rationale }: Pick<Tally, "ranking" | "rationale">,
  votes: ReadonlyArray<ItemVote>,
): Judgment => {
  const [judgment] = judgments
  const best = chosenIndexOf(text, votes) ?? text
  const ranking = withBest(judgment, ofVotes, best, votes)
  const { flags: _flags, ranking: _ranking, rationale: _rationale, ...rest } = judgment.annotations
  const annotations = Struct.omit(rest, Assessment.names)
  const flags = judgments.flatMap(({ annotations }) => flagsIn(annotations))
  return withAssessment(
    {
      ...judgment,
      bestCompletionIndex: best,
      annotations: {
        ...annotations,
        ...(ranking === undefined ? {} : { ranking }),
        ...(rationale === undefined ? {} : { rationale }),
        ...(flags.length === 0 ? {} : { flags }),
      },
    },
    votes,
  )
}

/**
 * Adds the number of votes, the agreement, and the margin to each pair. Drops pairs with a negative margin, unless a
 * lead decided, or the votes were weighted by reliability.
 */
export const withVotes = (
  pairs: ReadonlyArray<PreferencePair>,
  { agreement, by, judgment, votes }: Consensus,
): ReadonlyArray<PreferencePair> => {
  const first = firstOfText(judgment.completions)
  const isBound = by === "majority" || by === "service"
  const supported = pairs.flatMap((pair) => {
    const [chosen, rejected] = [first[pair.chosen_index]!, first[pair.rejected_index]!]
    const margin = marginOf(votes, chosen, rejected)
    if (isBound && margin < 0) return []
    const decided = votes.filter((vote) => marginOf([vote], chosen, rejected) !== 0).length
    const ofSeveral = votes.length === 1 ? null : { vote_margin: margin, decided_votes: decided }
    return [withMembers(pair, { votes: votes.length, agreement, ...ofSeveral })]
  })
  return supported.length === pairs.length
    ? supported
    : supported.map((pair) => withMembers(pair, { weight: 1 / supported.length }))
}

/** If the pair's texts are undecoded bytes (`PairBytes`), changes the pair itself. A copy would decode the texts. */
const withMembers = (pair: PreferencePair, members: Partial<PreferencePair>): PreferencePair =>
  PairBytes.of(pair) === undefined ? { ...pair, ...members } : Object.assign(pair, members)
