/** Leads' decisions and their results (`domain/Decision`). */
import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as Decision from "../../domain/Decision.ts"
import type { Flag } from "../../domain/Flag.ts"
import type { ResultItem } from "../../domain/Task.ts"
import type { Vote } from "../../domain/Vote.ts"
import type { VotedAnnotations } from "../../domain/VotedResult.ts"
import type { RequestedPrompt } from "./TaskRequests.ts"

export interface StoredDecision {
  readonly item_id: number
  readonly choice: number | null
  readonly rationale: string
  readonly operator: string
  readonly at: number
}

export const readFrom = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (from: number, to: number) {
    const rows = yield* sql<StoredDecision>`SELECT item_id, choice, rationale, operator, at FROM decision
      WHERE item_id BETWEEN ${from} AND ${to}`
    return new Map(rows.map((row) => [row.item_id, row]))
  })

export type Chosen = StoredDecision & { readonly choice: number }
export const isChosen = (decision: StoredDecision): decision is Chosen => decision.choice !== null

export const recordOf = ({ at, operator }: StoredDecision) => ({
  by: operator,
  at: DateTime.formatIso(DateTime.makeUnsafe(at)),
})

export const decided = <A extends ResultItem>(
  result: A,
  { completions }: RequestedPrompt,
  votes: ReadonlyArray<Vote>,
  decision: Chosen,
): A => {
  const { choice, rationale } = decision
  return Decision.decided(result, completions, votes, { chosen_index: choice, rationale, ...recordOf(decision) })
}

const resultOf = (
  { metadata, prompt }: RequestedPrompt,
  { choice, rationale }: Pick<StoredDecision, "choice" | "rationale">,
  flags: ReadonlyArray<Flag>,
  annotations: Pick<typeof VotedAnnotations.Type, "expert" | "decision" | "kind" | "unanswered" | "withdrawn">,
) => ({
  prompt,
  best_completion_index: choice,
  annotations: { rationale, ...annotations, ...(flags.length > 0 && { flags }) },
  ...(metadata !== undefined && { metadata }),
})

export const resultWithoutVotes = (prompt: RequestedPrompt, decision: Chosen, flags: ReadonlyArray<Flag>) =>
  resultOf(prompt, decision, flags, { expert: decision.operator, decision: recordOf(decision) })

/** Makes the result of a prompt without votes. @param kind set if all experts who may vote are of this kind */
export const unanswered = (prompt: RequestedPrompt, flags: ReadonlyArray<Flag>, kind: string | undefined) =>
  resultOf(prompt, { choice: null, rationale: "" }, flags, { unanswered: true, ...(kind !== undefined && { kind }) })

/** Makes the result of a withdrawn prompt. It contains no votes, because clients would count them. */
export const withdrawn = (prompt: RequestedPrompt, decision: StoredDecision, flags: ReadonlyArray<Flag>) =>
  resultOf(prompt, decision, flags, { withdrawn: recordOf(decision) })
