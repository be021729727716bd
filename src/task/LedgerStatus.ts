/**
 * How the ledger's tasks stand: counted, and those that wait for a person.
 *
 * Guarantees: what is counted together was true at one moment. One pass over the tasks'
 * small rows tells everything, so that a look stays quick at a hundred thousand tasks.
 */
import { Clock, Duration, Effect, Option } from "effect"
import type { LedgerContext, StateCounts, TaskState, Trouble } from "./LedgerModel.ts"

/** States in which nothing more happens until a person says what is to be done. */
export const troubled = ["in_doubt", "failed", "invalid", "refused"] as const satisfies ReadonlyArray<TaskState>
export type TroubledState = (typeof troubled)[number]

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
  /** When the first task was submitted, in epoch milliseconds. */
  readonly firstSubmittedAt: Option.Option<number>
  /** When the outstanding task that waits longest was submitted. */
  readonly oldestOutstandingAt: Option.Option<number>
  /** When an outstanding task is to be looked at next; in the past where that is due. */
  readonly nextLookAt: Option.Option<number>
  readonly lastResultAt: Option.Option<number>
  readonly lastHour: Arrivals
  readonly lastDay: Arrivals
}

const optional = (values: ReadonlyArray<number | null>, choose: (...values: Array<number>) => number) => {
  const found = values.flatMap((value) => (value === null ? [] : [Number(value)]))
  return found.length === 0 ? Option.none<number>() : Option.some(choose(...found))
}

export interface TroubleRow {
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

  const counts = Effect.gen(function* () {
    const rows = yield* sql<CountRow>`SELECT 0 AS campaign, state, COUNT(*) AS tasks, SUM(item_count) AS items
      FROM task WHERE ${here} GROUP BY state`
    return countsOf(rows)
  }).pipe(Effect.withSpan("Ledger.counts"))

  /** The counts, with times and what came in of late. */
  const progress = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const since = (span: Duration.Input) => now - Duration.toMillis(span)
    const came = (span: Duration.Input) => sql`state = 'completed' AND completed_at > ${since(span)}`
    const rows = yield* sql<
      CountRow & {
        readonly [Name in "first_at" | "oldest_at" | "next_at" | "last_at"]: number | null
      } & { readonly [Name in "hour_tasks" | "hour_items" | "day_tasks" | "day_items"]: number }
    >`SELECT campaign, state, COUNT(*) AS tasks, SUM(item_count) AS items,
        MIN(submitted_at) AS first_at,
        MIN(CASE WHEN state = 'submitted' THEN submitted_at END) AS oldest_at,
        MIN(CASE WHEN state = 'submitted' THEN due_at END) AS next_at,
        MAX(CASE WHEN state = 'completed' THEN completed_at END) AS last_at,
        SUM(CASE WHEN ${came("1 hour")} THEN 1 ELSE 0 END) AS hour_tasks,
        SUM(CASE WHEN ${came("1 hour")} THEN item_count ELSE 0 END) AS hour_items,
        SUM(CASE WHEN ${came("1 day")} THEN 1 ELSE 0 END) AS day_tasks,
        SUM(CASE WHEN ${came("1 day")} THEN item_count ELSE 0 END) AS day_items
      FROM task WHERE ${here} GROUP BY campaign, state`
    const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + Number(of(row)), 0)
    return {
      counts: countsOf(rows),
      countsOf: (campaign) => countsOf(rows.filter((row) => Number(row.campaign) === campaign)),
      firstSubmittedAt: optional(
        rows.map((row) => row.first_at),
        Math.min,
      ),
      oldestOutstandingAt: optional(
        rows.map((row) => row.oldest_at),
        Math.min,
      ),
      nextLookAt: optional(
        rows.map((row) => row.next_at),
        Math.min,
      ),
      lastResultAt: optional(
        rows.map((row) => row.last_at),
        Math.max,
      ),
      lastHour: { tasks: sum((row) => row.hour_tasks), items: sum((row) => row.hour_items) },
      lastDay: { tasks: sum((row) => row.day_tasks), items: sum((row) => row.day_items) },
    } satisfies Progress
  }).pipe(Effect.withSpan("Ledger.progress"))

  /** Tasks that wait for a person, those in doubt first; or those in the states that are named. */
  const troubles = Effect.fn("Ledger.troubles")(function* (limit: number, states: ReadonlyArray<TaskState> = troubled) {
    const rows = yield* sql<TroubleRow>`
      SELECT ${sql.literal(troubleColumns)} FROM task
      WHERE ${here} AND ${sql.in("state", states)}
      ORDER BY CASE WHEN state = 'in_doubt' THEN 0 ELSE 1 END, seq LIMIT ${limit}`
    return rows.map(troubleOf)
  })

  /** How many items' results were removed to save space. */
  const prunedItems = Effect.suspend(
    () => sql<{ items: number | null }>`SELECT SUM(item_count) AS items FROM task
      WHERE ${here} AND state = 'completed' AND pruned_at IS NOT NULL`,
  ).pipe(
    Effect.map((rows) => Number(rows[0]?.items ?? 0)),
    Effect.withSpan("Ledger.prunedItems"),
  )

  return { counts, progress, troubles, prunedItems }
}

export const troubleColumns = "seq, campaign, state, attempt, task_id, idempotency_key, item_count, reason, sent_at"

export const troubleOf = (row: TroubleRow): Trouble => ({
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
