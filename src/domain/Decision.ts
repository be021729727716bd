/**
 * A lead's decision on an item, which counts instead of its votes; in a table of votes and its import, also the choice of a
 * service whose only result on an item names another completion than its votes.
 *
 * Guarantees: a decided item's result names the completion that the lead chose, who decided, and when, in
 * `annotations.decision`; its votes stay in it. `agreement` is the share of their first choices for that completion, and
 * the assessment is what they say with it as the best: nobody's edit of another completion.
 */
import { Option, Predicate, Schema, Struct } from "effect"
import * as Assessment from "./Assessment.ts"
import { firstOfText } from "./CompletionTexts.ts"
import * as Tally from "./Tally.ts"
import type { Annotations, ResultItem } from "./Task.ts"
import type { ImportedVote, Vote } from "./Vote.ts"
import * as VotedResult from "./VotedResult.ts"

/** As a vote table has it. Members that a service does not give are null. */
export const Decision = Schema.Struct({
  /** Zero-based index of the completion that the lead chose. */
  chosen_index: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  rationale: Schema.NullOr(Schema.String),
  /** The lead's name. */
  by: Schema.NullOr(Schema.String),
  at: Schema.NullOr(Schema.Union([Schema.String, Schema.Finite])),
  /** Whether no lead decided, but the service. Absent counts as false. */
  is_service: Schema.optionalKey(Schema.Boolean),
})
export type Decision = typeof Decision.Type

/** Whether a result says what a lead decided rather than what its votes come to. */
export const isIn = (annotations: Annotations): boolean => Predicate.isObject(annotations["decision"])

/** What a result says of a decision; undefined if nobody decided. */
export const readIn = (annotations: Annotations, best: number): Decision | undefined => {
  const { decision } = annotations
  if (!Predicate.isObject(decision)) return undefined
  const { at = null, by = null } = { at: undefined, by: undefined, ...decision }
  const told = { chosen_index: best, rationale: annotations.rationale ?? null, by, at }
  return Option.getOrElse(asDecision(told), () => ({ ...told, by: null, at: null }))
}

/** The choice of a result that differs from its votes without a decision; undefined if it is theirs. */
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

/** The share of first choices for the completion's text; a vote with several at the top gives each an equal part. */
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

/** The result of an item's votes, as the lead, or the service, decided. What only holds of the votes' best completion is left out. */
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
