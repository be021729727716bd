/**
 * Reads the votes on an item from `annotations.votes`. Only `expert` and `choice` are required. The first vote of each
 * named expert counts. Without a list of votes, the task's result is one vote.
 */
import { Option, Predicate, Schema } from "effect"
import * as Assessment from "../../domain/Assessment.ts"
import * as ExpertKind from "../../domain/ExpertKind.ts"
import type { JudgedItem, Judgment } from "../../domain/Judgment.ts"
import type { Annotations } from "../../domain/Task.ts"
import { firstOfText } from "../../domain/CompletionTexts.ts"
import { topOf, withFirstIndices } from "../../domain/Tally.ts"
import { Ranking } from "../../domain/Ranking.ts"
import { type ImportedVote, listedIn, onePerExpert } from "../../domain/Vote.ts"
import { rankingOf } from "./Ranking.ts"

/** A vote with its assessment. Ratings are in the order of the completions. */
export interface ItemVote extends Assessment.Assessment {
  /** The expert's name at the service. Null if the service does not name the expert. */
  readonly expert: string | null
  /** The kind of the expert, if the service reports it. */
  readonly kind?: string
  /** The index of the preferred completion. If several completions have the same text, their lowest index. */
  readonly choice: number
  /** The index of the completion that the expert chose. Present only if another completion has the same text. */
  readonly chosenIndex?: number
  /** Groups of equal rank, best first, as indices like `choice`. Undefined if the service sends no ranking. */
  readonly ranking: Ranking | undefined
  /** Zero-based position of the choice in `order`. Null if several texts are at the top, or the text occurs twice. */
  readonly position: number | null
  /** The order in which the completions were shown, as indices. If it is unknown, the order in which they were sent. */
  readonly order: ReadonlyArray<number>
  /** The duration of the vote in seconds, if the service reports it. */
  readonly seconds: number | null
  /** The rationale; null if it is missing or blank. */
  readonly rationale: string | null
  /** The vote's `details`, as the service sent them. */
  readonly details?: unknown
  /** The path of a list in the result that looks like votes but cannot be read. Absent if there is no such list. */
  readonly unread?: string
}

const maxSeconds = 1e9

const asRanking = Schema.decodeUnknownOption(Ranking)

export const textOf = (rationale: string | null | undefined): string | null =>
  rationale === undefined || rationale === null || rationale.trim() === "" ? null : rationale

type Given = Omit<ItemVote, "position">

const nameSeveral = /^(votes|annotations|annotators|judge?ments|labels|ratings|responses)$/i

const severalIn = (annotations: Annotations): string | undefined =>
  Object.keys(annotations).find((name) => {
    const value = annotations[name]
    if (!Array.isArray(value) || value.length < 2 || !value.every(Predicate.isObject)) return false
    return nameSeveral.test(name) || value.every((one) => "choice" in one || "best_completion_index" in one)
  })

const kindOf = (kind: string | null): Pick<Given, "kind"> => (kind === null ? {} : { kind })

const votesIn = (judgment: Judgment): ReadonlyArray<ItemVote> => {
  const { annotations, bestCompletionIndex, completions, order } = judgment
  const first = firstOfText(completions)
  const ofTexts = (vote: Given): ItemVote => {
    const byText = withFirstIndices(vote, first)
    const copies = first.filter((text) => text === byText.choice).length
    if (copies > 1) return { ...byText, position: null, chosenIndex: vote.choice }
    return { ...byText, position: isDecided(byText) ? vote.order.indexOf(byText.choice) : null }
  }
  const listed = listedIn(annotations, completions.length)
  return Option.match(listed, {
    onSome: (votes) =>
      votes.map(({ choice, expert, kind, order: shown = order, ranking, rationale, seconds = -1, ...members }) =>
        ofTexts({
          ...Assessment.read(members, choice, completions.length),
          ...(members["details"] !== undefined && { details: members["details"] }),
          expert,
          ...kindOf(ExpertKind.of(kind) ?? ExpertKind.of(annotations["kind"])),
          choice,
          ranking,
          order: shown,
          seconds: seconds >= 0 && seconds <= maxSeconds ? seconds : null,
          rationale: textOf(rationale),
        }),
      ),
    onNone: () => {
      const several = severalIn(annotations)
      const unread = judgment.unread ?? (several === undefined ? undefined : `annotations.${several}`)
      const vote = ofTexts({
        ...Assessment.read(annotations, bestCompletionIndex, completions.length),
        expert: typeof annotations["expert"] === "string" ? annotations["expert"] : null,
        ...kindOf(ExpertKind.of(annotations["kind"])),
        choice: bestCompletionIndex,
        ranking: Option.getOrUndefined(rankingOf(judgment)),
        order,
        seconds: null,
        rationale: textOf(annotations.rationale),
      })
      return [unread === undefined ? vote : { ...vote, unread }]
    },
  })
}

export const recordedIn = ({
  annotations,
  bestCompletionIndex,
  completions,
}: Judgment): ReadonlyArray<ImportedVote> => {
  const listed = listedIn(annotations, completions.length)
  if (Option.isSome(listed)) return listed.value
  const rationale = textOf(annotations.rationale)
  const ranking = Option.getOrUndefined(asRanking(annotations["ranking"]))
  return [
    {
      expert: typeof annotations["expert"] === "string" ? annotations["expert"] : null,
      choice: bestCompletionIndex,
      ...(ranking !== undefined && { ranking }),
      ...(rationale !== null && { rationale }),
      ...Assessment.read(annotations, bestCompletionIndex, completions.length),
    },
  ]
}

export const allVotesOf = ({ judgments }: Pick<JudgedItem, "judgments">): ReadonlyArray<ItemVote> =>
  judgments.flatMap(votesIn)

export const votesOf = (item: Pick<JudgedItem, "judgments">): ReadonlyArray<ItemVote> => onePerExpert(allVotesOf(item))

/** Whether the vote has a single best text. In a tie, `choice` is the best text that the expert saw first. */
export const isDecided = (vote: Pick<ItemVote, "choice" | "ranking">): boolean => topOf(vote).length === 1

export const isUnanimous = (votes: ReadonlyArray<ItemVote>): boolean =>
  votes.every((vote) => isDecided(vote) && vote.choice === votes[0]!.choice)

/** Share of votes that prefer `chosen` minus the share for `rejected`. A vote without a ranking prefers its choice. */
export const marginOf = (votes: ReadonlyArray<ItemVote>, chosen: number, rejected: number): number =>
  votes.reduce((sum, vote) => sum + preference(vote, chosen, rejected), 0) / votes.length

/** 1 if the vote prefers `a`, −1 for `b`, 0 for a tie. Undefined if the vote neither chose one nor ranked both. */
export const comparisonOf = (vote: ItemVote, a: number, b: number): number | undefined => {
  const { choice, ranking } = vote
  const isRanked = (index: number) => ranking?.some((group) => group.includes(index)) === true
  if (isRanked(a) && isRanked(b)) return preference(vote, a, b)
  return choice === a ? 1 : choice === b ? -1 : undefined
}

const preference = ({ choice, ranking }: ItemVote, a: number, b: number): number => {
  if (ranking === undefined) return choice === a ? 1 : choice === b ? -1 : 0
  const rank = (index: number) => ranking.findIndex((group) => group.includes(index))
  return Math.sign(rank(b) - rank(a))
}
