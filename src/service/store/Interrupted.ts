/**
 * Runs when the service starts. It puts the items that automatic experts had claimed back into the queue, and
 * reopens tasks that were canceled because no expert had an answer. If a reopened task already has all its votes, the
 * service completes the task.
 */
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { itemsOf, maxPrompts } from "../database/TaskTables.ts"
import type { Task, Voting } from "./Voting.ts"

/** Call this inside one `Database.write`. */
export const release = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, voting: Voting) {
  const now = yield* Clock.currentTimeMillis
  const claims = yield* sql<{ seq: number }>`DELETE FROM claim RETURNING seq`
  for (const { seq } of claims) {
    const items = yield* sql<{ item_id: number }>`UPDATE item SET open = open + claimed, claimed = 0
      WHERE ${itemsOf(sql, seq)} AND claimed > 0 RETURNING item_id`
    yield* voting.putBack(items.map((item) => item.item_id))
  }
  type Unanswered = Pick<Task, "seq" | "votes_required" | "organization" | "group_id">
  const tasks = yield* sql<Unanswered>`
    UPDATE task SET status = 'in_progress', unanswered = 0, finished_at = NULL
    WHERE status = 'cancelled' AND unanswered = 1 RETURNING seq, votes_required, organization, group_id`
  for (const { group_id, organization, seq, votes_required } of tasks) {
    yield* voting.lanes.rejoin({ organization, group_id, seq })
    const items = yield* sql<{
      item_id: number
      open: number
    }>`UPDATE item SET open = ${votes_required} + extra_votes - votes
      WHERE ${itemsOf(sql, seq)} AND NOT EXISTS (SELECT 1 FROM decision WHERE decision.item_id = item.item_id)
      RETURNING item_id, open`
    yield* voting.putBack(items.flatMap((item) => (item.open > 0 ? [item.item_id] : [])))
    // `AutomaticQueue` assumes that a `pending` task has no votes, `extra_votes`, or decisions. It does not read them.
    yield* sql`UPDATE task SET status = 'pending' WHERE seq = ${seq} AND votes_given = 0
      AND NOT EXISTS (SELECT 1 FROM item WHERE ${itemsOf(sql, seq)} AND extra_votes <> 0)
      AND NOT EXISTS (SELECT 1 FROM decision WHERE ${itemsOf(sql, seq)})`
    const due = yield* sql`UPDATE task SET completes_at = ${now} WHERE seq = ${seq} AND prompts_done = prompts
      RETURNING seq`
    if (due.length > 0) yield* voting.completing.open
    yield* sql`UPDATE task_group SET open = open + 1 WHERE organization = ${organization} AND group_id = ${group_id}`
    yield* voting.withdraw(organization, group_id)
  }
  yield* sql`DELETE FROM set_aside WHERE expert_no IN (SELECT expert_no FROM expert WHERE kind <> 'person')
    AND (SELECT finished_at IS NULL FROM task WHERE seq = item_id / ${maxPrompts})`
})
