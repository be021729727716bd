/**
 * How the ledger's tasks stand: counted, and those that wait for a person.
 *
 * Guarantees: the counts of all states were true at one moment. A look passes over the
 * tasks' small rows once or twice, so that it stays quick at a hundred thousand tasks.
 */
import { Clock, Duration, Effect, Option } from "effect"
import type { LedgerContext, StateCounts, TaskState, Issue } from "./Model.ts"

/** States in which nothing more happens until a person says what is to be done. */
const issueStates = ["in_doubt", "failed", "invalid", "refused"] as const satisfies ReadonlyArray<TaskState>

/** `items` are those of tasks: an item with several votes counts in each. */
interface CountRow {
  readonly campaign: number
  readonly state: TaskState
  readonly tasks: number
  readonly items: number
}

const none = { tasks: 0, items: 0 }

const countsOf = (rows: ReadonlyArray<CountRow>): StateCounts => {
  const of = (state: TaskState) =>
    rows
      .filter((row) => row.state === state)
      .reduce((sum, row) => ({ tasks: sum.tasks + Number(row.tasks), items: sum.items + Number(row.items) }), none)
  return {
    planned: of("planned"),
    submitting: of("submitting"),
    submitted: of("submitted"),
    completed: of("completed"),
    invalid: of("invalid"),
    failed: of("failed"),
    refused: of("refused"),
    in_doubt: of("in_doubt"),
    superseded: of("superseded"),
    given_up: of("given_up"),
  }
}

/** Results that came in. */
export interface Arrivals {
  readonly tasks: number
  readonly items: number
}

export interface Progress {
  readonly counts: StateCounts
  /** Those of one campaign. */
  readonly countsOf: (campaign: number) => StateCounts
  /** Items of the input by the state of their first vote, in one campaign; gold items that were mixed in are none. */
  readonly inputOf: (campaign: number) => StateCounts
  /** How many votes an item has, at the most. */
  readonly votes: number
  /** How often gold items were mixed in. */
  readonly gold: number
  /** When the first task was submitted, in epoch milliseconds. */
  readonly firstSubmittedAt: Option.Option<number>
  /** The outstanding task that waits longest. */
  readonly oldestOutstanding: Option.Option<{
    readonly number: number
    readonly taskId: string
    readonly submittedAt: number
  }>
  /** When an outstanding task is to be looked at next; in the past where that is due. */
  readonly nextPollAt: Option.Option<number>
  readonly lastResultAt: Option.Option<number>
  readonly lastHour: Arrivals
  readonly lastDay: Arrivals
  /** How fast results of the campaigns that are waited for come in: those since what is waited for was submitted, a day at the most. */
  readonly pace: Option.Option<{ readonly since: number; readonly items: number }>
}

const optional = (values: ReadonlyArray<number | null>, choose: (...values: Array<number>) => number) => {
  const found = values.flatMap((value) => (value === null ? [] : [Number(value)]))
  return found.length === 0 ? Option.none<number>() : Option.some(choose(...found))
}

export interface IssueRow {
  readonly seq: number
  readonly campaign: number
  readonly state: TaskState
  readonly attempt: number
  readonly task_id: string | null
  readonly idempotency_key: string
  readonly item_count: number
  readonly reason: string | null
  readonly sent_at: number | null
}

export const make = ({ partition, sql }: LedgerContext) => {
  const here = sql`partition_id = ${partition}`

  // Of all indexes the primary key gives the rows fastest where all are wanted: said by naming `seq`.
  const all = sql`${here} AND seq >= 0`

  const counts = Effect.gen(function* () {
    const rows = yield* sql<CountRow>`SELECT 0 AS campaign, state, COUNT(*) AS tasks, SUM(item_count) AS items
      FROM task WHERE ${all} GROUP BY state`
    return countsOf(rows)
  }).pipe(Effect.withSpan("Ledger.counts"))

  /** The counts, with times and what came in of late. */
  const progress = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const hour = now - Duration.toMillis("1 hour")
    const day = now - Duration.toMillis("1 day")
    const rows = yield* sql<
      CountRow & {
        readonly new_items: number
        readonly votes: number
        readonly gold: number
        readonly first_at: number | null
        readonly last_at: number | null
      }
    >`SELECT campaign, state, COUNT(*) AS tasks, SUM(item_count) AS items, SUM(new_items) AS new_items, MAX(votes) AS votes,
        SUM(CASE WHEN vote = 1 THEN item_count - new_items ELSE 0 END) AS gold,
        MIN(submitted_at) AS first_at, MAX(completed_at) AS last_at
      FROM task WHERE ${all} GROUP BY campaign, state`
    const next = yield* sql<{ due_at: number }>`SELECT due_at FROM task
      WHERE ${here} AND state = 'submitted' ORDER BY due_at, seq LIMIT 1`
    const waitingSince = rows.filter(({ state }) => state === "submitted").map((row) => row.first_at)
    const oldestAt = optional(waitingSince, Math.min)
    const oldest = yield* Option.match(oldestAt, {
      onNone: () => Effect.succeed([]),
      onSome: (at) => sql<{ seq: number; task_id: string; submitted_at: number }>`SELECT seq, task_id, submitted_at
        FROM task WHERE ${all} AND state = 'submitted' AND submitted_at = ${at} ORDER BY seq LIMIT 1`,
    })
    const firstSubmittedAt = optional(
      rows.map((row) => row.first_at),
      Math.min,
    )
    const paceSince = Option.map(
      Option.orElse(oldestAt, () => firstSubmittedAt),
      (at) => Math.max(at, day),
    )
    const waiting = rows.filter(({ state }) => state === "planned" || state === "submitting" || state === "submitted")
    const ofWaiting = sql.in(
      "campaign",
      waiting.map(({ campaign }) => Number(campaign)),
    )
    const [recent] = yield* sql<{
      readonly [Name in "tasks" | "items" | "hour_tasks" | "hour_items" | "pace_items"]: number | null
    }>`
      SELECT COUNT(*) AS tasks, SUM(item_count) AS items,
        SUM(CASE WHEN completed_at > ${hour} THEN 1 ELSE 0 END) AS hour_tasks,
        SUM(CASE WHEN completed_at > ${hour} THEN item_count ELSE 0 END) AS hour_items,
        SUM(CASE WHEN ${ofWaiting} AND completed_at > ${Option.getOrElse(paceSince, () => now)} THEN item_count ELSE 0 END) AS pace_items
      FROM task WHERE ${all} AND state = 'completed' AND completed_at > ${day}`
    return {
      counts: countsOf(rows),
      countsOf: (campaign) => countsOf(rows.filter((row) => Number(row.campaign) === campaign)),
      inputOf: (campaign) =>
        countsOf(
          rows
            .filter((row) => Number(row.campaign) === campaign)
            .map(({ new_items, state, tasks }) => ({ campaign, state, tasks, items: new_items })),
        ),
      votes: Math.max(1, ...rows.map(({ votes }) => Number(votes))),
      gold: rows.reduce((sum, { gold }) => sum + Number(gold), 0),
      firstSubmittedAt,
      oldestOutstanding: Option.map(Option.fromNullishOr(oldest[0]), (row) => ({
        number: Number(row.seq) + 1,
        taskId: row.task_id,
        submittedAt: Number(row.submitted_at),
      })),
      nextPollAt: Option.map(Option.fromNullishOr(next[0]), (row) => Number(row.due_at)),
      lastResultAt: optional(
        rows.filter(({ state }) => state === "completed").map((row) => row.last_at),
        Math.max,
      ),
      lastHour: { tasks: Number(recent?.hour_tasks ?? 0), items: Number(recent?.hour_items ?? 0) },
      lastDay: { tasks: Number(recent?.tasks ?? 0), items: Number(recent?.items ?? 0) },
      pace: Option.map(paceSince, (since) => ({ since, items: Number(recent?.pace_items ?? 0) })),
    } satisfies Progress
  }).pipe(Effect.withSpan("Ledger.progress"))

  /** Tasks that wait for a person, those in doubt first; or those in the states that are named. */
  const issues = Effect.fn("Ledger.issues")(function* (limit: number, states: ReadonlyArray<TaskState> = issueStates) {
    const rows = yield* sql<IssueRow>`
      SELECT ${sql.literal(issueColumns)} FROM task
      WHERE ${here} AND ${sql.in("state", states)}
      ORDER BY CASE WHEN state = 'in_doubt' THEN 0 ELSE 1 END, seq LIMIT ${limit}`
    return rows.map(issueOf)
  })

  /** How many items' results were removed to save space. */
  const prunedItems = Effect.suspend(
    () => sql<{ items: number | null }>`SELECT SUM(new_items) AS items FROM task
      WHERE ${all} AND state = 'completed' AND pruned_at IS NOT NULL`,
  ).pipe(
    Effect.map((rows) => Number(rows[0]?.items ?? 0)),
    Effect.withSpan("Ledger.prunedItems"),
  )

  return { counts, progress, issues, prunedItems }
}

export const issueColumns = "seq, campaign, state, attempt, task_id, idempotency_key, item_count, reason, sent_at"

export const issueOf = (row: IssueRow): Issue => ({
  number: Number(row.seq) + 1,
  seq: Number(row.seq),
  campaign: Number(row.campaign),
  state: row.state,
  attempt: Number(row.attempt),
  taskId: row.task_id,
  idempotencyKey: row.idempotency_key,
  items: Number(row.item_count),
  reason: row.reason,
  sentAt: row.sent_at === null ? null : Number(row.sent_at),
})
