/**
 * What the operator reads of tasks: how many there are, which, and one with its votes.
 *
 * Guarantees: what is read does not grow with what is stored: an overview is four rows, a page
 * of tasks as many as it shows, one task up to 20 items. A page is found by its place, so that it
 * stays the same while new tasks arrive.
 */
import { Effect, Option } from "effect"
import type { TaskPrompt } from "../../domain/Task.ts"
import * as Tally from "../../domain/Tally.ts"
import type { Overview, TaskDetail, TaskItem, TaskSummary } from "../pageApi/DashboardApi.ts"
import { Database } from "../database/Database.ts"
import { itemIdOf, lastItemOf, promptIndexOf } from "../database/TaskTables.ts"
import { voteOf, type Voting } from "./Voting.ts"

const pageSize = 50
const largestPage = 200
const itemsShown = 20
const mostFlags = 100

interface SummaryRow {
  readonly seq: number
  readonly task_id: string
  readonly group_id: string
  readonly status: TaskSummary["status"]
  readonly created_at: number
  readonly completes_at: number | null
  readonly finished_at: number | null
  readonly prompts: number
  readonly prompts_done: number
  readonly votes_required: number
  readonly votes_given: number
}

export const make = Effect.fnUntraced(function* (voting: Voting) {
  const { sql } = yield* Database

  const overview = Effect.gen(function* () {
    const rows = yield* sql<{ status: TaskSummary["status"]; tasks: number; given: number; required: number }>`
      SELECT status, tasks, votes_given AS given, votes_required AS required FROM task_count`
    const count = (status: TaskSummary["status"]) => rows.find((row) => row.status === status)!
    const [pending, in_progress] = [count("pending"), count("in_progress")]
    return {
      tasks: {
        pending: pending.tasks,
        in_progress: in_progress.tasks,
        completed: count("completed").tasks,
        cancelled: count("cancelled").tasks,
      },
      open_votes: {
        given: pending.given + in_progress.given,
        needed: pending.required + in_progress.required,
      },
    } satisfies Overview
  }).pipe(Effect.withSpan("TaskStore.overview"))

  const columns = sql.literal(
    "seq, task_id, group_id, status, created_at, completes_at, finished_at, prompts, prompts_done, votes_required, votes_given",
  )

  /** Items of a task that somebody flagged. */
  const flaggedOf = Effect.fnUntraced(function* (seq: number) {
    const rows = yield* sql<{ item_id: number }>`
      SELECT DISTINCT item_id FROM flag
      WHERE item_id BETWEEN ${itemIdOf(seq, 0)} AND ${lastItemOf(seq)} ORDER BY item_id`
    return rows.map((row) => promptIndexOf(row.item_id))
  })

  const summaryOf = (row: SummaryRow, flagged: number): TaskSummary => ({
    task_id: row.task_id,
    group_id: row.group_id,
    status: row.status,
    created_at: row.created_at,
    completes_at: row.completes_at,
    finished_at: row.finished_at,
    prompts: row.prompts,
    prompts_done: row.prompts_done,
    votes_per_prompt: row.votes_required,
    votes: row.votes_given,
    flagged,
  })

  const list = Effect.fn("TaskStore.list")(function* (page: {
    readonly before?: number | undefined
    readonly limit?: number | undefined
    readonly status?: TaskSummary["status"] | undefined
  }) {
    const limit = Math.min(Math.max(page.limit ?? pageSize, 1), largestPage)
    const before = page.before ?? Number.MAX_SAFE_INTEGER
    const rows = yield* page.status === undefined
      ? sql<SummaryRow>`SELECT ${columns} FROM task WHERE seq < ${before} ORDER BY seq DESC LIMIT ${limit + 1}`
      : sql<SummaryRow>`SELECT ${columns} FROM task INDEXED BY task_status
          WHERE status = ${page.status} AND seq < ${before} ORDER BY seq DESC LIMIT ${limit + 1}`
    const shown = rows.slice(0, limit)
    const tasks = yield* Effect.forEach(shown, (row) =>
      Effect.map(flaggedOf(row.seq), (flagged) => summaryOf(row, flagged.length)),
    )
    return { tasks, next: rows.length > limit ? shown.at(-1)!.seq : null }
  })

  const detail = Effect.fn("TaskStore.detail")(function* (taskId: string, from: number) {
    const rows = yield* sql<SummaryRow>`SELECT ${columns} FROM task WHERE task_id = ${taskId}`
    const row = rows[0]
    if (row === undefined) return Option.none()
    const flagged = yield* flaggedOf(row.seq)
    const { guidelines, prompts } = yield* voting.requests.of(row.seq)
    const start = Math.min(Math.max(Math.trunc(from), 0), prompts.length)
    const end = Math.min(start + itemsShown, prompts.length)
    return Option.some({
      task: summaryOf(row, flagged.length),
      guidelines: guidelines ?? null,
      items: yield* itemsOf(row, prompts, start, end),
      from: start,
      flagged_at: flagged.slice(0, mostFlags),
    } satisfies TaskDetail)
  })

  /** The items from `start` on, `end` not included. */
  const itemsOf = Effect.fnUntraced(function* (
    task: SummaryRow,
    prompts: ReadonlyArray<TaskPrompt>,
    start: number,
    end: number,
  ) {
    const [first, last] = [itemIdOf(task.seq, start), itemIdOf(task.seq, end) - 1]
    const votes = yield* voting.votesOn(first, last)
    const holds = yield* sql<{ item_id: number; name: string }>`
      SELECT item_id, name FROM hold JOIN expert USING (expert_no)
      WHERE item_id BETWEEN ${first} AND ${last} AND held_until IS NOT NULL ORDER BY item_id, expert_no`
    const claims = yield* sql<{ item_id: number; name: string }>`
      SELECT item_id, expert.name FROM claim, json_each(claim.experts) AS asked
      JOIN expert ON expert.expert_id = asked.value
      JOIN item ON item_id BETWEEN ${first} AND ${last} AND claimed > 0
      WHERE claim.seq = ${task.seq}
        AND NOT EXISTS (SELECT 1 FROM vote WHERE vote.item_id = item.item_id AND vote.expert_no = expert.expert_no)
        AND NOT EXISTS (SELECT 1 FROM set_aside WHERE set_aside.item_id = item.item_id AND set_aside.expert_no = expert.expert_no)
      ORDER BY item_id, asked.key`
    const setAside = yield* sql<{ item_id: number; name: string; kind: "skip" | "flag"; reason: string }>`
      SELECT item_id, name, set_aside.kind, reason FROM set_aside JOIN expert USING (expert_no)
      WHERE item_id BETWEEN ${first} AND ${last} ORDER BY item_id, at`

    const flags = yield* voting.flagsOn(first, last)

    return prompts.slice(start, end).map((prompt, i): TaskItem => {
      const here = ({ item_id }: { readonly item_id: number }) => item_id === first + i
      const given = votes.filter(here)
      const done = given.length === task.votes_required
      return {
        index: start + i,
        prompt: prompt.prompt,
        completions: prompt.completions,
        done,
        votes: given.map((row) => ({ ...voteOf(row), expert_name: row.name })),
        held_by: [...holds, ...claims].filter(here).map(({ name }) => name),
        set_aside: setAside.filter(here).map(({ kind, name, reason }) => ({ expert_name: name, kind, reason })),
        flags: flags
          .filter(here)
          .map(({ comment, kind, name }) => ({ expert_name: name, kind, comment: comment ?? "" })),
        result: done ? outcomeOf(Tally.tally(prompt.completions, given.map(voteOf))) : null,
      }
    })
  })

  return { overview, list, detail }
})

const outcomeOf = ({ agreement, best, ranking, rationale, tie }: Tally.Tally): TaskItem["result"] => ({
  best_completion_index: best,
  agreement,
  tie,
  ranking: ranking ?? null,
  rationale: rationale ?? null,
})
