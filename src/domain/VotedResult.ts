/** The result of one prompt, made from its votes. The built-in service returns it, and an import records it. */
import { Schema } from "effect"
import * as Assessment from "./Assessment.ts"
import { described } from "./Described.ts"
import { Flag } from "./Flag.ts"
import * as Tally from "./Tally.ts"
import type { ResultItem, TaskPrompt } from "./Task.ts"
import { Ranking, rankingText } from "./Ranking.ts"
import { type ImportedVote, onePerExpert, Vote } from "./Vote.ts"

const Action = Schema.Struct({
  by: described("The lead's name.", Schema.String),
  at: described("The time, in ISO 8601.", Schema.String),
})

/** Annotations of the built-in service. Other services may send other members; see `Annotations`. */
export const VotedAnnotations = Schema.Struct({
  rationale: described(
    "The first rationale among the votes for the best completion; empty if no such vote has a rationale. If a lead (a person who may overrule votes) chose the completion or withdrew the prompt, the rationale is the lead's.",
    Schema.String,
  ),
  agreement: Schema.optionalKey(
    described("Share of the first-choice votes that went to the best completion, 0 to 1.", Schema.Finite),
  ),
  tie: Schema.optionalKey(
    described("True if several completions had the most first-choice votes; otherwise absent.", Schema.Boolean),
  ),
  ranking: Schema.optionalKey(described(`${rankingText} Present if every vote has a ranking.`, Ranking)),
  ...Assessment.Assessment.fields,
  flags: Schema.optionalKey(described("Problems that experts reported; absent if there are none.", Schema.Array(Flag))),
  votes: Schema.optionalKey(described("The votes, in the order in which they were submitted.", Schema.Array(Vote))),
  expert: Schema.optionalKey(
    described("The lead's name; present if a lead decided a prompt that had no votes.", Schema.String),
  ),
  decision: Schema.optionalKey(
    described(
      "Present if a lead chose the best completion in place of the votes. `best_completion_index` is then the lead's choice, and `rationale` is the lead's rationale.",
      Action,
    ),
  ),
  unanswered: Schema.optionalKey(
    described(
      "True if none of the experts who may vote on the prompt could judge it. There is no judgment, and `best_completion_index` is null. Another task may ask other experts.",
      Schema.Literal(true),
    ),
  ),
  kind: Schema.optionalKey(
    described(
      "The kind of expert, `judge` or `person`, who must give the missing votes. Present if votes are missing, and experts of only one kind may give these votes.",
      Schema.String,
    ),
  ),
  withdrawn: Schema.optionalKey(
    described(
      "Present if a lead withdrew the prompt: there is no judgment, `best_completion_index` is null, and there are no votes.",
      Action,
    ),
  ),
})
export type VotedAnnotations = typeof VotedAnnotations.Type

export const assess = (
  completions: ReadonlyArray<string>,
  best: number,
  votes: ReadonlyArray<Vote | ImportedVote>,
): Assessment.Assessment =>
  Assessment.combine(
    completions,
    best,
    votes.map(({ choice, ranking, ...members }) => ({
      choice,
      ranking,
      ...Assessment.read(members, choice, completions.length),
    })),
  )

export const flagsOf = (votes: ReadonlyArray<Vote | ImportedVote>, flags: ReadonlyArray<Flag>): ReadonlyArray<Flag> => [
  ...flags,
  ...votes.flatMap(({ expert, flags = [] }) => flags.map((kind) => ({ expert, kind }))),
]

interface VotedResult<V> extends ResultItem {
  readonly best_completion_index: number
  readonly annotations: Omit<VotedAnnotations, "votes"> & { readonly votes: ReadonlyArray<V> }
}

/** @param votes in order; at least one. The result keeps all of them, but only the first of each expert counts */
export const of = <V extends Vote | ImportedVote>(
  { completions, prompt }: TaskPrompt,
  votes: ReadonlyArray<V>,
  flags: ReadonlyArray<Flag>,
): VotedResult<V> => {
  const counted = onePerExpert(votes)
  const { agreement, best, ranking, rationale, tie } = Tally.tally(completions, counted)
  const all = flagsOf(votes, flags)
  return {
    prompt,
    best_completion_index: best,
    annotations: {
      rationale: rationale ?? "",
      votes,
      agreement,
      ...(tie && { tie }),
      ...(ranking !== undefined && { ranking }),
      ...assess(completions, best, counted),
      ...(all.length > 0 && { flags: all }),
    },
  }
}
