/**
 * Counts and times of tasks and items, and the tasks that wait for a person. Run several queries in one snapshot
 * (`LedgerReader.snapshot`), so that their counts are from the same moment.
 */
import { Duration, Effect, Option, Record } from "effect"
import * as SteadyClock from "../../../io/SteadyClock.ts"
import { inCampaign, isAskedBy } from "../schema/Rows.ts"
import { votesOfTask } from "./Charges.ts"
import { type Issue, type LedgerContext, type StateCounts, TaskState } from "../schema/Model.ts"

export const issueStates = ["in_doubt", "failed", "invalid", "refused"] as const satisfies ReadonlyArray<TaskState>

/** `items` counts an item once per vote. */
interface CountRow {
  readonly campaign: number
  readonly state: TaskState
  readonly tasks: number
  readonly items: number
}

const countsOf = (rows: ReadonlyArray<CountRow>): StateCounts => {
  const of = (state: TaskState) =>
    rows
      .filter((row) => row.state === state)
      .reduce((sum, { items, tasks }) => ({ tasks: sum.tasks + tasks, items: sum.items + items }), {
        tasks: 0,
        items: 0,
      })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a key for each state
  return Record.fromIterableWith(TaskState.literals, (state) => [state, of(state)]) as StateCounts
}

/** Outcomes of items. If an item's tasks have different outcomes, the outcome that comes first in this list counts. */
export const itemOutcomes = [
  "judged",
  "pruned",
  "waiting",
  "not_submitted",
  "in_doubt",
  "invalid",
  "failed",
  "refused",
  "given_up",
] as const
export type ItemOutcome = (typeof itemOutcomes)[number]

export type OutcomeCounts = (outcome: ItemOutcome) => number

export interface Arrivals {
  readonly tasks: number
  readonly items: number
}

export interface Progress {
  readonly counts: StateCounts
  readonly countsOf: (campaign: number) => StateCounts
  /** Items of the input, by the state of the task for the item's first vote. Mixed-in gold items do not count. */
  readonly inputOf: (campaign: number) => StateCounts
  readonly votes: number
  readonly gold: number
  /** Items that wait for an expert, and tasks with such items. Tasks for language models are in `waitingForJudges`. */
  readonly waiting: Arrivals
  readonly waitingForJudges: Arrivals
  readonly firstSubmittedAt: Option.Option<number>
  readonly oldestOutstanding: Option.Option<{
    readonly number: number
    readonly taskId: string
    readonly submittedAt: number
  }>
  /** Time of the next poll, in epoch milliseconds. It is in the past if the poll is overdue. */
  readonly nextPollAt: Option.Option<number>
  readonly lastResultAt: Option.Option<number>
  readonly lastHour: Arrivals
  readonly lastDay: Arrivals
  /**
   * Results of the last 24 hours, in campaigns with tasks that are `planned`, `submitting`, or `submitted`. A result
   * counts if it arrived after the oldest outstanding task was submitted. If no task is outstanding, a result counts if
   * it arrived after the first task was submitted.
   */
  readonly pace: Option.Option<Arrivals & { readonly since: number; readonly lastAt: number }>
}

const optional = (values: ReadonlyArray<number | null>, choose: (...values: Array<number>) => number) => {
  const numbers = values.flatMap((value) => (value === null ? [] : [value]))
  return numbers.length === 0 ? Option.none<number>() : Option.some(choose(...numbers))
}

export const issueColumns = `seq + 1 AS number, seq, campaign, state, attempt, task_id AS "taskId",
  idempotency_key AS "idempotencyKey", item_count AS items, reason, sent_at AS "sentAt"`

export const readStatus = ({ job, sql }: LedgerContext) => {
  const here = sql`job = ${job}`
  const votes = sql.literal(votesOfTask)

  // The condition on `seq` makes the database use the primary key, which is the fastest index for all rows.
  const all = sql`${here} AND seq >= 0`

  const counts = Effect.gen(function* () {
    const rows = yield* sql<CountRow>`SELECT 0 AS campaign, state, COUNT(*) AS tasks, SUM(${votes}) AS items
      FROM task WHERE ${all} GROUP BY state`
    return countsOf(rows)
  }).pipe(Effect.withSpan("Ledger.counts"))

  const progress = Effect.gen(function* () {
    const now = yield* SteadyClock.now
    const hour = now - Duration.toMillis("1 hour")
    const day = now - Duration.toMillis("1 day")
    const rows = yield* sql<
      CountRow & {
        readonly newItems: number
        readonly votes: number
        readonly gold: number
        readonly waitingItems: number
        readonly waitingTasks: number
        readonly judgesItems: number
        readonly judgesTasks: number
        readonly firstAt: number | null
        readonly lastAt: number | null
      }
    >`SELECT campaign, state, COUNT(*) AS tasks, SUM(${votes}) AS items, SUM(new_items) AS "newItems", MAX(votes) AS votes,
        SUM(CASE WHEN vote = 1 THEN item_count - new_items ELSE 0 END) AS gold,
        SUM(waiting_items) AS "waitingItems", SUM(CASE WHEN waiting_items > 0 THEN 1 ELSE 0 END) AS "waitingTasks",
        SUM(CASE WHEN voters = 'judges' THEN waiting_items ELSE 0 END) AS "judgesItems",
        SUM(CASE WHEN voters = 'judges' AND waiting_items > 0 THEN 1 ELSE 0 END) AS "judgesTasks",
        MIN(submitted_at) AS "firstAt", MAX(completed_at) AS "lastAt"
      FROM task WHERE ${all} GROUP BY campaign, state`
    const next = yield* sql<{ at: number }>`SELECT due_at AS at FROM task
      WHERE ${here} AND state = 'submitted' ORDER BY due_at, seq LIMIT 1`
    const waitingSince = rows.filter(({ state }) => state === "submitted").map((row) => row.firstAt)
    const oldestAt = optional(waitingSince, Math.min)
    const oldest = yield* Option.match(oldestAt, {
      onNone: () => Effect.succeed([]),
      onSome: (at) => sql<{ number: number; taskId: string; submittedAt: number }>`SELECT seq + 1 AS number,
        task_id AS "taskId", submitted_at AS "submittedAt" FROM task WHERE ${all} AND state = 'submitted' AND submitted_at = ${at} ORDER BY seq LIMIT 1`,
    })
    const firstSubmittedAt = optional(
      rows.map((row) => row.firstAt),
      Math.min,
    )
    const paceSince = Option.map(
      Option.orElse(oldestAt, () => firstSubmittedAt),
      (at) => Math.max(at, day),
    )
    const waiting = rows.filter(({ state }) => state === "planned" || state === "submitting" || state === "submitted")
    const ofWaiting = sql.in(
      "campaign",
      waiting.map(({ campaign }) => campaign),
    )
    const inPace = sql`${ofWaiting} AND completed_at > ${Option.getOrElse(paceSince, () => now)}`
    const [recent] = yield* sql<{
      readonly [Name in "tasks" | "items" | "hourTasks" | "hourItems" | "paceTasks" | "paceItems" | "paceLastAt"]:
        | number
        | null
    }>`
      SELECT COUNT(*) AS tasks, SUM(${votes}) AS items,
        SUM(CASE WHEN completed_at > ${hour} THEN 1 ELSE 0 END) AS "hourTasks",
        SUM(CASE WHEN completed_at > ${hour} THEN ${votes} ELSE 0 END) AS "hourItems",
        SUM(CASE WHEN ${inPace} THEN 1 ELSE 0 END) AS "paceTasks",
        SUM(CASE WHEN ${inPace} THEN ${votes} ELSE 0 END) AS "paceItems",
        MAX(CASE WHEN ${inPace} THEN completed_at END) AS "paceLastAt"
      FROM task WHERE ${all} AND state = 'completed' AND completed_at > ${day}`
    const sumOf = (value: (row: (typeof rows)[number]) => number) =>
      rows.reduce((sum, row) => (row.state === "submitted" ? sum + value(row) : sum), 0)
    return {
      counts: countsOf(rows),
      countsOf: (campaign) => countsOf(rows.filter((row) => row.campaign === campaign)),
      inputOf: (campaign) =>
        countsOf(
          rows
            .filter((row) => row.campaign === campaign)
            .map(({ newItems, state, tasks }) => ({ campaign, state, tasks, items: newItems })),
        ),
      votes: Math.max(1, ...rows.map(({ votes }) => votes)),
      gold: rows.reduce((sum, { gold }) => sum + gold, 0),
      waiting: {
        tasks: sumOf(({ judgesTasks, waitingTasks }) => waitingTasks - judgesTasks),
        items: sumOf(({ judgesItems, waitingItems }) => waitingItems - judgesItems),
      },
      waitingForJudges: {
        tasks: sumOf(({ judgesTasks }) => judgesTasks),
        items: sumOf(({ judgesItems }) => judgesItems),
      },
      firstSubmittedAt,
      oldestOutstanding: Option.fromNullishOr(oldest[0]),
      nextPollAt: Option.map(Option.fromNullishOr(next[0]), ({ at }) => at),
      lastResultAt: optional(
        rows.filter(({ state }) => state === "completed").map((row) => row.lastAt),
        Math.max,
      ),
      lastHour: { tasks: recent?.hourTasks ?? 0, items: recent?.hourItems ?? 0 },
      lastDay: { tasks: recent?.tasks ?? 0, items: recent?.items ?? 0 },
      pace: Option.map(paceSince, (since) => ({
        since,
        tasks: recent?.paceTasks ?? 0,
        items: recent?.paceItems ?? 0,
        lastAt: recent?.paceLastAt ?? since,
      })),
    } satisfies Progress
  }).pipe(Effect.withSpan("Ledger.progress"))

  /** Tasks in these states, those in doubt first. Default: the states that wait for a decision. */
  const issues = Effect.fn("Ledger.issues")(
    (limit: number, states: ReadonlyArray<TaskState> = issueStates) =>
      sql<Issue>`SELECT ${sql.literal(issueColumns)} FROM task WHERE ${here} AND ${sql.in("state", states)}
        ORDER BY CASE WHEN state = 'in_doubt' THEN 0 ELSE 1 END, seq LIMIT ${limit}`,
  )

  const prunedItems = Effect.suspend(
    () => sql<{ items: number | null }>`SELECT SUM(new_items) AS items FROM task
      WHERE ${all} AND state = 'completed' AND pruned_at IS NOT NULL`,
  ).pipe(
    Effect.map((rows) => rows[0]?.items ?? 0),
    Effect.withSpan("Ledger.prunedItems"),
  )

  const itemsByOutcome = Effect.fn("Ledger.itemsByOutcome")(function* (campaign: Option.Option<number>) {
    const rows = yield* sql<{ outcome: number; items: number }>`SELECT outcome, COUNT(*) AS items FROM (
        SELECT item.seq, MIN(CASE t.state
          WHEN 'completed' THEN CASE WHEN t.pruned_at IS NULL THEN 0 ELSE 1 END
          WHEN 'submitted' THEN 2 WHEN 'in_doubt' THEN 4 WHEN 'invalid' THEN 5 WHEN 'failed' THEN 6
          WHEN 'refused' THEN 7 WHEN 'given_up' THEN 8 ELSE 3 END) AS outcome
        FROM task t JOIN item ON item.job = t.job AND ${sql.literal(isAskedBy("t"))}
        WHERE t.job = ${job} AND ${inCampaign(sql, campaign)}
        GROUP BY item.seq) AS items GROUP BY outcome`
    const counts = new Map(rows.map(({ items, outcome }) => [outcome, items]))
    const itemsOf: OutcomeCounts = (outcome) => counts.get(itemOutcomes.indexOf(outcome)) ?? 0
    return itemsOf
  })

  return { counts, progress, issues, prunedItems, itemsByOutcome }
}
