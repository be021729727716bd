/**
 * Decisions of leads on items, and the results that they make.
 *
 * Guarantees: a decided item's result names the completion that the lead chose, who decided, and when, in
 * `annotations.decision`; its votes stay in it. `agreement` is the share of their first choices for that completion, and
 * the assessment is what they say with it as the best: nobody's edit of another completion.
 */
import { DateTime, Effect, Struct } from "effect"
import type { SqlClient } from "effect/sql"
import * as Assessment from "../../domain/Assessment.ts"
import type { Flag } from "../../domain/Flag.ts"
import * as Tally from "../../domain/Tally.ts"
import type { ResultItem } from "../../domain/Task.ts"
import type { Vote } from "../../domain/Vote.ts"
import * as VotedResult from "../../domain/VotedResult.ts"
import type { RequestedPrompt } from "./TaskRequests.ts"

export interface Decision {
  readonly item_id: number
  readonly choice: number
  readonly rationale: string
  readonly operator: string
  readonly at: number
}

/** Those on a range of items, by item. */
export const readFrom = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (from: number, to: number) {
    const rows = yield* sql<Decision>`SELECT item_id, choice, rationale, operator, at FROM decision
      WHERE item_id BETWEEN ${from} AND ${to}`
    return new Map(rows.map((row) => [row.item_id, row]))
  })

const recordOf = ({ at, operator }: Decision) => ({ by: operator, at: DateTime.formatIso(DateTime.makeUnsafe(at)) })

/** The share of first choices for the completion's text; a vote with several at the top gives each an equal part. */
export const agreementWith = (
  choice: number,
  completions: ReadonlyArray<string>,
  votes: ReadonlyArray<Pick<Vote, "choice" | "ranking">>,
): number => {
  const first = Tally.firstOfText(completions)
  const parts = votes.map((vote) => {
    const top = Tally.topOf(Tally.withFirstIndices(vote, first))
    return top.includes(first[choice]!) ? 1 / top.length : 0
  })
  return parts.reduce((sum, part) => sum + part, 0) / votes.length
}

/** The result of an item's votes, as the lead decided. What only holds of the votes' best completion is left out. */
export const decided = <A extends ResultItem>(
  result: A,
  { completions }: RequestedPrompt,
  votes: ReadonlyArray<Vote>,
  decision: Decision,
): A => {
  const annotations = Struct.omit(result.annotations ?? {}, ["ranking", "tie", ...Assessment.names])
  return {
    ...result,
    best_completion_index: decision.choice,
    annotations: {
      ...annotations,
      rationale: decision.rationale,
      agreement: agreementWith(decision.choice, completions, votes),
      ...VotedResult.assess(completions, decision.choice, votes),
      decision: recordOf(decision),
    },
  }
}

export const resultWithoutVotes = (
  { metadata, prompt }: RequestedPrompt,
  decision: Decision,
  flags: ReadonlyArray<Flag>,
) => ({
  prompt,
  best_completion_index: decision.choice,
  annotations: {
    rationale: decision.rationale,
    expert: decision.operator,
    decision: recordOf(decision),
    ...(flags.length > 0 && { flags }),
  },
  ...(metadata !== undefined && { metadata }),
})
