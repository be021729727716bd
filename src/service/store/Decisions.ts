/**
 * Leads' decisions on items, withdrawn prompts, and the results of both.
 *
 * Guarantees: results follow `domain/Decision`. If an item has no votes, the decision counts as its only vote. The
 * result of a withdrawn prompt says that it is withdrawn and contains no votes.
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
  /** Null if the prompt is withdrawn. */
  readonly choice: number | null
  readonly rationale: string
  readonly operator: string
  readonly at: number
}

/** Reads the decisions on a range of items, keyed by item. */
export const readFrom = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (from: number, to: number) {
    const rows = yield* sql<StoredDecision>`SELECT item_id, choice, rationale, operator, at FROM decision
      WHERE item_id BETWEEN ${from} AND ${to}`
    return new Map(rows.map((row) => [row.item_id, row]))
  })

/** A decision that chooses a completion. */
export type Chosen = StoredDecision & { readonly choice: number }
export const isChosen = (decision: StoredDecision): decision is Chosen => decision.choice !== null

export const recordOf = ({ at, operator }: StoredDecision) => ({
  by: operator,
  at: DateTime.formatIso(DateTime.makeUnsafe(at)),
})

/** Changes the result of an item's votes to the lead's decision. */
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

/** Builds the result of a withdrawn prompt. It leaves the votes out, since clients would count them. */
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
