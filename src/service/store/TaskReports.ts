/** Reports about tasks. Without a filter by text, the number of rows read does not grow with the number of tasks. */
import { Effect, Equal, Option, Struct } from "effect"
import * as Guidelines from "../../api/Guidelines.ts"
import { none } from "../../domain/Rubric.ts"
import type { TaskPrompt } from "../../domain/Task.ts"
import * as Tally from "../../domain/Tally.ts"
import type { Overview, TaskDetail, TaskItem, TaskQuery, TaskSummary } from "../pageApi/TasksApi.ts"
import { Database } from "../database/Database.ts"
import { itemIdOf, itemsOf, maxPrompts, promptIndexOf } from "../database/TaskTables.ts"
import * as Decisions from "./Decisions.ts"
import { type StoredVote, voteOf, type Voting } from "./Voting.ts"

const pageSize = 50
const maxPageSize = 200
const itemsPerPage = 20
const maxFlags = 100

type SummaryRow = Omit<TaskSummary, "paused"> & {
  readonly seq: number
  readonly organization: string
  readonly paused: number
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
      open_votes: { given: pending.given + in_progress.given, needed: pending.required + in_progress.required },
    } satisfies Overview
  }).pipe(Effect.withSpan("TaskStore.overview"))

  const columns = sql`task.seq, organization, task_id, group_id, status, created_at, completes_at, finished_at, prompts, prompts_done,
    votes_required AS votes_per_prompt, extra_votes, votes_spared, votes_given AS votes,
    EXISTS (SELECT 1 FROM lane WHERE lane.organization = task.organization AND lane.group_id = task.group_id
      AND paused = 1) AS paused,
    (SELECT COUNT(DISTINCT item_id) FROM flagged_item
      WHERE item_id BETWEEN task.seq * ${maxPrompts} AND task.seq * ${maxPrompts} + ${maxPrompts - 1}) AS flagged`

  const list = Effect.fn("TaskStore.list")(function* (page: TaskQuery) {
    const limit = Math.min(Math.max(page.limit ?? pageSize, 1), maxPageSize)
    const { before = Number.MAX_SAFE_INTEGER, status, text = "" } = page
    const named =
      text === "" ? sql`1` : sql`(instr(lower(task_id), lower(${text})) OR instr(lower(group_id), lower(${text})))`
    const among = status === undefined ? sql`WHERE` : sql`INDEXED BY task_status WHERE status = ${status} AND`
    const rows = yield* sql<SummaryRow>`SELECT ${columns} FROM task ${among}
      seq < ${before} AND ${named} ORDER BY seq DESC LIMIT ${limit + 1}`
    const shown = rows.slice(0, limit)
    return { tasks: shown.map(summaryOf), next: rows.length > limit ? shown.at(-1)!.seq : null }
  })

  const detail = Effect.fn("TaskStore.detail")(function* (taskId: string, from: number, limit = itemsPerPage) {
    const rows = yield* sql<SummaryRow>`SELECT ${columns} FROM task WHERE task_id = ${taskId}`
    const row = rows[0]
    if (row === undefined) return Option.none()
    const flagged = yield* sql<{ item_id: number }>`
      SELECT DISTINCT item_id FROM flagged_item
      WHERE ${itemsOf(sql, row.seq)} ORDER BY item_id LIMIT ${maxFlags}`
    const { prompts } = yield* voting.requests.of(row.seq)
    const { sent, text, version } = yield* voting.guidelines.current(row)
    const parsed = Guidelines.rubricOf(sent)
    const rubric = Equal.equals(parsed, none) ? null : parsed
    const start = Math.min(Math.max(Math.trunc(from), 0), prompts.length)
    const end = Math.min(start + Math.min(Math.max(Math.trunc(limit), 1), itemsPerPage), prompts.length)
    return Option.some({
      task: summaryOf(row),
      guidelines: text === undefined || (text.trim() === "" && rubric !== null) ? null : text,
      rubric,
      guidelines_version: version,
      items: yield* detailsOf(row, prompts, start, end),
      from: start,
      flagged_at: flagged.map(({ item_id }) => promptIndexOf(item_id)),
    } satisfies TaskDetail)
  })

  const detailsOf = Effect.fnUntraced(function* (
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
    const voided = yield* voting.voidedOn(first, last)
    const replaced = yield* voting.replacedOn(first, last)
    const decisions = yield* voting.decisionsOn(first, last)
    const counts = yield* sql<{ item_id: number; extra_votes: number; missing: number }>`
      SELECT item_id, extra_votes, ${task.votes_per_prompt} + extra_votes - votes AS missing
      FROM item WHERE item_id BETWEEN ${first} AND ${last} ORDER BY item_id`

    return prompts.slice(start, end).map((prompt, i): TaskItem => {
      const isAtIndex = ({ item_id }: { readonly item_id: number }) => item_id === first + i
      const itemVotes = votes.filter(isAtIndex)
      const decision = decisions.get(first + i)
      const { extra_votes, missing } = counts[i]!
      const done = missing === 0 || decision !== undefined
      return {
        index: start + i,
        prompt: prompt.prompt,
        completions: prompt.completions,
        done,
        extra_votes,
        votes: itemVotes.map(namedVoteOf),
        held_by: [...holds, ...claims].filter(isAtIndex).map(({ name }) => name),
        set_aside: setAside.filter(isAtIndex).map(({ kind, name, reason }) => ({ expert_name: name, kind, reason })),
        flags: flags
          .filter(isAtIndex)
          .map(({ comment, kind, name }) => ({ expert_name: name, kind, comment: comment ?? "" })),
        voided: voided.filter(isAtIndex).map(namedVoteOf),
        replaced: replaced.filter(isAtIndex).map(namedVoteOf),
        ...leadOf(decision),
        result: done && itemVotes.length > 0 ? outcomeOf(Tally.tally(prompt.completions, itemVotes.map(voteOf))) : null,
      }
    })
  })

  return { overview, list, detail }
})

const namedVoteOf = (row: StoredVote) => ({ ...voteOf(row), expert_name: row.name })

const summaryOf = (row: SummaryRow): TaskSummary => ({
  ...Struct.omit(row, ["seq", "organization"]),
  paused: row.paused === 1,
})

const leadOf = (decision: Decisions.StoredDecision | undefined): Pick<TaskItem, "decision" | "withdrawal"> => {
  if (decision === undefined) return { decision: null, withdrawal: null }
  const { at, operator: by, rationale } = decision
  return Decisions.isChosen(decision)
    ? { decision: { choice: decision.choice, rationale, by, at }, withdrawal: null }
    : { decision: null, withdrawal: { reason: rationale, by, at } }
}

const outcomeOf = ({ agreement, best, ranking, rationale, tie }: Tally.Tally): TaskItem["result"] => ({
  best_completion_index: best,
  agreement,
  tie,
  ranking: ranking ?? null,
  rationale: rationale ?? null,
})
