/**
 * Decisions of leads on items, prompts that they withdrew, and the results that come of both.
 *
 * Guarantees: results are those of `domain/Decision`; of an item without votes, the decision is the one vote. A withdrawn
 * prompt's result says so, and nothing of its votes.
 */
import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as Decision from "../../domain/Decision.ts"
import type { Flag } from "../../domain/Flag.ts"
import type { ResultItem } from "../../domain/Task.ts"
import type { Vote } from "../../domain/Vote.ts"
import type { RequestedPrompt } from "./TaskRequests.ts"

export interface StoredDecision {
  readonly item_id: number
  /** Null where the prompt is withdrawn. */
  readonly choice: number | null
  readonly rationale: string
  readonly operator: string
  readonly at: number
}

/** Those on a range of items, by item. */
export const readFrom = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (from: number, to: number) {
    const rows = yield* sql<StoredDecision>`SELECT item_id, choice, rationale, operator, at FROM decision
      WHERE item_id BETWEEN ${from} AND ${to}`
    return new Map(rows.map((row) => [row.item_id, row]))
  })

/** A decision for a completion. */
export type Chosen = StoredDecision & { readonly choice: number }
export const isChosen = (decision: StoredDecision): decision is Chosen => decision.choice !== null

export const recordOf = ({ at, operator }: StoredDecision) => ({
  by: operator,
  at: DateTime.formatIso(DateTime.makeUnsafe(at)),
})

/** The result of an item's votes, as the lead decided. */
export const decided = <A extends ResultItem>(
  result: A,
  { completions }: RequestedPrompt,
  votes: ReadonlyArray<Vote>,
  decision: Chosen,
): A => {
  const { choice, rationale } = decision
  return Decision.decided(result, completions, votes, { chosen_index: choice, rationale, ...recordOf(decision) })
}

export const resultWithoutVotes = (
  { metadata, prompt }: RequestedPrompt,
  decision: Chosen,
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

/** No judgment. The votes are left out, since clients would count them. */
export const withdrawn = (
  { metadata, prompt }: RequestedPrompt,
  decision: StoredDecision,
  flags: ReadonlyArray<Flag>,
) => ({
  prompt,
  best_completion_index: null,
  annotations: {
    rationale: decision.rationale,
    withdrawn: recordOf(decision),
    ...(flags.length > 0 && { flags }),
  },
  ...(metadata !== undefined && { metadata }),
})
