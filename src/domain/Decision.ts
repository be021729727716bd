/**
 * A lead's decision, which may overrule the votes. The votes stay in the result. `agreement` is the share of the votes
 * for the lead's choice.
 */
import { Option, Predicate, Schema, Struct } from "effect"
import * as Assessment from "./Assessment.ts"
import { firstOfText } from "./CompletionTexts.ts"
import * as Tally from "./Tally.ts"
import type { Annotations, ResultItem } from "./Task.ts"
import type { ImportedVote, Vote } from "./Vote.ts"
import * as VotedResult from "./VotedResult.ts"

/** Members are null if the service does not give them. */
export const Decision = Schema.Struct({
  chosen_index: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  rationale: Schema.NullOr(Schema.String),
  by: Schema.NullOr(Schema.String),
  at: Schema.NullOr(Schema.Union([Schema.String, Schema.Finite])),
  /** True if the service, not a person (a lead), chose a completion that did not win the votes. Otherwise absent. */
  is_service: Schema.optionalKey(Schema.Boolean),
})
export type Decision = typeof Decision.Type

export const isIn = (annotations: Annotations): boolean => Predicate.isObject(annotations["decision"])

export const readIn = (annotations: Annotations, best: number): Decision | undefined => {
  const { decision } = annotations
  if (!Predicate.isObject(decision)) return undefined
  const { at = null, by = null } = { at: undefined, by: undefined, ...decision }
  const leadDecision = { chosen_index: best, rationale: annotations.rationale ?? null, by, at }
  return Option.getOrElse(asDecision(leadDecision), () => ({ ...leadDecision, by: null, at: null }))
}

/**
 * Returns the service's choice as a decision if the votes have another winner. Otherwise, returns undefined. Call this
 * function only if `readIn` finds no decision by a lead. If a lead decided, `best` is the lead's choice.
 */
export const ofService = (
  { rationale }: Annotations,
  best: number,
  completions: ReadonlyArray<string>,
  votes: ReadonlyArray<Tally.Ballot>,
): Decision | undefined =>
  completions[Tally.tally(completions, votes).best] === completions[best]
    ? undefined
    : { chosen_index: best, rationale: rationale ?? null, by: null, at: null, is_service: true }

const asDecision = Schema.decodeUnknownOption(Decision)

/** Share of the votes for `choice`. A vote with several first choices is split equally among them. */
const agreementWith = (
  choice: number,
  completions: ReadonlyArray<string>,
  votes: ReadonlyArray<Pick<Vote, "choice" | "ranking">>,
): number => {
  const first = firstOfText(completions)
  const parts = votes.map((vote) => {
    const top = Tally.topOf(Tally.withFirstIndices(vote, first))
    return top.includes(first[choice]!) ? 1 / top.length : 0
  })
  return parts.reduce((sum, part) => sum + part, 0) / votes.length
}

export const decided = <A extends ResultItem>(
  result: A,
  completions: ReadonlyArray<string>,
  votes: ReadonlyArray<Vote | ImportedVote>,
  { at, by, chosen_index, is_service = false, rationale }: Decision,
): A => {
  const annotations = Struct.omit(result.annotations ?? {}, ["ranking", "tie", ...Assessment.names])
  return {
    ...result,
    best_completion_index: chosen_index,
    annotations: {
      ...annotations,
      rationale: rationale ?? "",
      agreement: agreementWith(chosen_index, completions, votes),
      ...VotedResult.assess(completions, chosen_index, votes),
      ...(!is_service && { decision: { by, at } }),
    },
  }
}
