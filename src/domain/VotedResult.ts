/**
 * The result of one prompt, made from its votes: what the built-in service answers, and what an import records.
 *
 * Guarantees: the best completion, the agreement and the ranking are those of `Tally`, the assessment is that of `Assessment`;
 * flags include the problems that experts marked in their votes.
 */
import * as Assessment from "./Assessment.ts"
import type { Flag } from "./Flag.ts"
import * as Tally from "./Tally.ts"
import type { ResultItem, TaskPrompt } from "./Task.ts"
import { type ImportedVote, onePerExpert, type Vote } from "./Vote.ts"

/** What votes say besides their choices, where `best` is the item's. */
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

/** The problems that experts reported, with those that they marked in their votes. */
export const flagsOf = (votes: ReadonlyArray<Vote | ImportedVote>, flags: ReadonlyArray<Flag>): ReadonlyArray<Flag> => [
  ...flags,
  ...votes.flatMap((vote) =>
    "flags" in vote ? (vote.flags ?? []).map((kind) => ({ expert: vote.expert, kind })) : [],
  ),
]

/** @param votes in the order in which they were given; at least one. All are kept; of each expert, the first counts */
export const of = (
  { completions, prompt }: TaskPrompt,
  votes: ReadonlyArray<Vote | ImportedVote>,
  flags: ReadonlyArray<Flag>,
): ResultItem => {
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
