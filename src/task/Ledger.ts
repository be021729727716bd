/**
 * The durable record of every prompt item, task and result: the only truth of a job.
 *
 * Guarantees: a change is on disk when its effect succeeds; a task is `submitting`
 * before its request leaves, so that no crash can hide a request that may have
 * arrived; an item belongs to one task at the most, and the items of a task become
 * known together with it. What is kept of a task are the request as it was sent and
 * the answer as it came, compressed, so neither resuming nor exporting needs the
 * input files again.
 *
 * One process at a time works a partition; `layerFile` sees to it with a lock.
 * Readers (`status`, `export`) may look at the same time.
 */
import { Array as Arr, Clock, Context, Effect, Latch, Layer, Option, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Gold, Metadata, Origin } from "../domain/PromptItem.ts"
import { Reject } from "../domain/Reject.ts"
import * as FileLock from "../node/FileLock.ts"
import * as SqliteClient from "../node/SqliteClient.ts"
import * as Zstd from "../node/Zstd.ts"
import type { BatchItem } from "./Batch.ts"
import * as GroupCommit from "./GroupCommit.ts"
import { migrate } from "./LedgerSchema.ts"

/**
 * ```
 * planned → submitting → submitted → completed
 *    ↑          │            ├─────→ invalid   the result does not fit the task; asked for again by the next run
 *    └──────────┤            └─────→ failed    the service gave the task up
 *               ├→ refused                     the service refused it; it was not created
 *               └→ in_doubt                    it may have been created; never sent again by itself
 * ```
 */
export const TaskState = Schema.Literals([
  "planned",
  "submitting",
  "submitted",
  "completed",
  "invalid",
  "failed",
  "refused",
  "in_doubt",
])
export type TaskState = typeof TaskState.Type

/** What is kept of an item beside its prompt and completions, which stand in the request. */
export const ItemDetails = Schema.Struct({
  item_id: Schema.String,
  origin: Origin,
  metadata: Schema.optionalKey(Metadata),
  gold: Schema.optionalKey(Gold),
})
export type ItemDetails = typeof ItemDetails.Type

export interface NewTask {
  readonly idempotencyKey: string
  /** The body of `POST /tasks`. */
  readonly body: string
  readonly items: Arr.NonEmptyReadonlyArray<BatchItem>
}

export interface PlannedTask {
  readonly seq: number
  readonly idempotencyKey: string
}

export interface OpenTask {
  readonly seq: number
  readonly taskId: string
  /** Epoch milliseconds. */
  readonly submittedAt: number
}

/** What was asked: the body of the request, and the items' details in the order of its prompts. */
export interface TaskQuestion {
  readonly body: string
  readonly items: ReadonlyArray<ItemDetails>
}

export interface CompletedTask extends TaskQuestion {
  readonly seq: number
  readonly taskId: string
  /** The body of the answer to `GET /tasks/{task_id}`. */
  readonly result: string
}

/** A task that needs somebody's attention. */
export interface Trouble {
  readonly seq: number
  readonly state: TaskState
  readonly taskId: string | null
  readonly items: number
  readonly reason: string | null
}

export type StateCounts = { readonly [State in TaskState]: { readonly tasks: number; readonly items: number } }

/** How a record of the input stands to what the ledger has seen. */
export type Sighting = "new" | "known" | "duplicate" | "conflict"

/** What a run has read. `read = new + known + duplicates + rejected`. */
export interface ReadCounts {
  readonly read: number
  /** Items that no earlier run had seen. */
  readonly new: number
  /** Items that an earlier run over this ledger had planned. */
  readonly known: number
  /** Items that stood in this run's input before. */
  readonly duplicates: number
  readonly rejected: number
}

const pageSize = 64

const decodeItems = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(ItemDetails)))
const decodeReject = Schema.decodeUnknownSync(Schema.fromJsonString(Reject))

const make = Effect.fnUntraced(function* (partition: string) {
  const sql = yield* SqlClient.SqlClient
  const write = yield* GroupCommit.make(sql)
  const planned = yield* Latch.make()
  const submitted = yield* Latch.make()
  const here = sql`partition_id = ${partition}`

  const startRun = Effect.fn("Ledger.startRun")(function* () {
    const now = yield* Clock.currentTimeMillis
    const rows = yield* write(sql<{ run: number }>`INSERT INTO run (partition_id, run, started_at)
      SELECT ${partition}, COALESCE(MAX(run), 0) + 1, ${now} FROM run WHERE ${here} RETURNING run`)
    return Number(rows[0]!.run)
  })

  /** Results that did not fit are asked for again: asking costs nothing, and the service may have mended them. */
  const reopenInvalid = Effect.suspend(() =>
    write(sql`UPDATE task SET state = 'submitted', reason = NULL, due_at = 0 WHERE ${here} AND state = 'invalid'`),
  ).pipe(Effect.asVoid, Effect.withSpan("Ledger.reopenInvalid"))

  const settleInterrupted = Effect.fn("Ledger.settleInterrupted")((outcome: "planned" | "in_doubt") =>
    write(sql`UPDATE task SET state = ${outcome},
        reason = ${outcome === "in_doubt" ? "the process ended after the request may have been sent" : null}
      WHERE ${here} AND state = 'submitting'`),
  )

  const sight = Effect.fnUntraced(function* (run: number, items: ReadonlyArray<Pick<BatchItem, "itemId" | "contentHash">>) {
    if (items.length === 0) return []
    const rows = yield* sql<{ item_id: string; content_hash: string; run: number }>`
      SELECT item_id, content_hash, run FROM item WHERE ${here} AND ${sql.in("item_id", items.map((item) => item.itemId))}`
    const seen = new Map(rows.map((row) => [row.item_id, row]))
    return items.map((item): Sighting => {
      const row = seen.get(item.itemId)
      if (row === undefined) return "new"
      if (row.content_hash !== item.contentHash) return "conflict"
      return Number(row.run) === run ? "duplicate" : "known"
    })
  })

  const markSeen = (run: number, itemIds: ReadonlyArray<string>) =>
    itemIds.length === 0
      ? Effect.void
      : sql`UPDATE item SET run = ${run} WHERE ${here} AND ${sql.in("item_id", itemIds)}`

  const insertTasks = Effect.fnUntraced(function* (run: number, tasks: ReadonlyArray<NewTask>) {
    const now = yield* Clock.currentTimeMillis
    const rows = yield* sql<{ next: number }>`SELECT COALESCE(MAX(seq + item_count), 0) AS next FROM task WHERE ${here}`
    let seq = Number(rows[0]!.next)
    for (const task of tasks) {
      yield* sql`INSERT INTO item ${sql.insert(
        Arr.map(task.items, (item, i) => ({
          partition_id: partition,
          item_id: item.itemId,
          content_hash: item.contentHash,
          seq: seq + i,
          run,
        })),
      )}`
      yield* insertTask(seq, task, now)
      seq += task.items.length
    }
  })

  const insertTask = Effect.fnUntraced(function* (seq: number, task: NewTask, now: number) {
    const items = task.items.map(
      ({ item, itemId, origin }): ItemDetails => ({
        item_id: itemId,
        origin,
        ...(item.metadata === undefined ? {} : { metadata: item.metadata }),
        ...(item.gold === undefined ? {} : { gold: item.gold }),
      }),
    )
    yield* insertRow(seq, task.idempotencyKey, items.length, now)
    yield* insertRequest(seq, task.body, items)
  })

  const insertRow = (seq: number, idempotencyKey: string, items: number, now: number) =>
    sql`INSERT INTO task ${sql.insert({
      partition_id: partition,
      seq,
      item_count: items,
      idempotency_key: idempotencyKey,
      state: "planned",
      planned_at: now,
    })}`

  const insertRequest = (seq: number, body: string, items: ReadonlyArray<ItemDetails>) =>
    sql`INSERT INTO task_request ${sql.insert({
      partition_id: partition,
      seq,
      body: Zstd.compress(body),
      items: Zstd.compress(JSON.stringify(items)),
    })}`

  /** One step of reading: all of it is recorded, or nothing. */
  const record = Effect.fn("Ledger.record")(function* (
    run: number,
    step: {
      readonly tasks: ReadonlyArray<NewTask>
      readonly known: ReadonlyArray<string>
      readonly rejects: ReadonlyArray<Reject>
      readonly counts: ReadCounts
      readonly finished: boolean
    },
  ) {
    yield* write(
      Effect.gen(function* () {
        yield* insertTasks(run, step.tasks)
        yield* markSeen(run, step.known)
        if (Arr.isReadonlyArrayNonEmpty(step.rejects)) {
          yield* sql`INSERT INTO reject ${sql.insert(
            Arr.map(step.rejects, (reject, i) => ({
              partition_id: partition,
              run,
              ordinal: step.counts.rejected - step.rejects.length + i,
              record: JSON.stringify(reject),
            })),
          )}`
        }
        yield* sql`UPDATE run SET read_count = ${step.counts.read}, new_count = ${step.counts.new},
          known_count = ${step.counts.known}, duplicate_count = ${step.counts.duplicates},
          rejected_count = ${step.counts.rejected}, read_finished = ${step.finished ? 1 : 0}
          WHERE ${here} AND run = ${run}`
      }),
    )
    if (step.tasks.length > 0) yield* planned.open
  })

  const plannedAfter = Effect.fn("Ledger.plannedAfter")(function* (seq: number) {
    const rows = yield* sql<{ seq: number; idempotency_key: string }>`SELECT seq, idempotency_key FROM task
      WHERE ${here} AND state = 'planned' AND due_at = 0 AND seq > ${seq} ORDER BY seq LIMIT ${pageSize}`
    return rows.map((row): PlannedTask => ({ seq: Number(row.seq), idempotencyKey: row.idempotency_key }))
  })

  const question = Effect.fnUntraced(function* (seq: number) {
    const rows = yield* sql<{ body: Uint8Array; items: Uint8Array }>`
      SELECT body, items FROM task_request WHERE ${here} AND seq = ${seq}`
    return readQuestion(rows[0]!)
  })

  const setState = (seq: number, state: TaskState, reason: string | null = null) =>
    sql`UPDATE task SET state = ${state}, reason = ${reason} WHERE ${here} AND seq = ${seq}`

  const markSubmitting = (seq: number) => Effect.asVoid(write(setState(seq, "submitting")))
  const markPlanned = (seq: number) => Effect.asVoid(write(setState(seq, "planned")))
  const markRefused = (seq: number, reason: string) => Effect.asVoid(write(setState(seq, "refused", reason)))
  const markInDoubt = (seq: number, reason: string) => Effect.asVoid(write(setState(seq, "in_doubt", reason)))
  const markFailed = (seq: number, reason: string) => Effect.asVoid(write(setState(seq, "failed", reason)))

  const markSubmitted = Effect.fnUntraced(function* (seq: number, taskId: string, firstLook: number) {
    const now = yield* Clock.currentTimeMillis
    yield* write(sql`UPDATE task SET state = 'submitted', reason = NULL, task_id = ${taskId},
      submitted_at = ${now}, due_at = ${Math.ceil(now + firstLook)} WHERE ${here} AND seq = ${seq}`)
    yield* submitted.open
  })

  /** Replaces a task by two that share its items; the first keeps its place. */
  const split = Effect.fnUntraced(function* (
    seq: number,
    halves: ReadonlyArray<{ readonly idempotencyKey: string } & TaskQuestion>,
  ) {
    const now = yield* Clock.currentTimeMillis
    yield* write(
      Effect.gen(function* () {
        yield* sql`DELETE FROM task_request WHERE ${here} AND seq = ${seq}`
        yield* sql`DELETE FROM task WHERE ${here} AND seq = ${seq}`
        let at = seq
        for (const half of halves) {
          yield* insertRow(at, half.idempotencyKey, half.items.length, now)
          yield* insertRequest(at, half.body, half.items)
          at += half.items.length
        }
      }),
    )
  })

  /** Makes every outstanding task due at once. */
  const makeDue = Effect.suspend(() =>
    write(sql`UPDATE task SET due_at = 0 WHERE ${here} AND state = 'submitted'`),
  ).pipe(Effect.asVoid, Effect.withSpan("Ledger.makeDue"))

  /** Outstanding tasks that are due (or were so at `horizon`), longest due first. */
  const due = Effect.fn("Ledger.due")(function* (limit: number, horizon: Option.Option<number>) {
    const now = Option.isSome(horizon) ? horizon.value : yield* Clock.currentTimeMillis
    const rows = yield* sql<{ seq: number; task_id: string; submitted_at: number; due_at: number }>`
      SELECT seq, task_id, submitted_at, due_at FROM task
      WHERE ${here} AND state = 'submitted' ORDER BY due_at, seq LIMIT ${limit}`
    const open = rows.filter((row) => Number(row.due_at) <= now)
    return {
      tasks: open.map(
        (row): OpenTask => ({ seq: Number(row.seq), taskId: row.task_id, submittedAt: Number(row.submitted_at) }),
      ),
      /** Milliseconds until the next task is due, none where nothing is outstanding. */
      wait:
        open.length > 0
          ? Option.some(0)
          : Option.map(Option.fromNullishOr(rows[0]), (row) => Math.max(0, Number(row.due_at) - now)),
    }
  })

  const postpone = Effect.fnUntraced(function* (seq: number, millis: number) {
    const now = yield* Clock.currentTimeMillis
    yield* write(sql`UPDATE task SET due_at = ${Math.ceil(now + millis)} WHERE ${here} AND seq = ${seq}`)
  })

  const storeResult = Effect.fnUntraced(function* (
    seq: number,
    result: string,
    state: "completed" | "invalid",
    reason: string | null,
  ) {
    const now = yield* Clock.currentTimeMillis
    const body = Zstd.compress(result)
    yield* write(
      Effect.gen(function* () {
        yield* sql`DELETE FROM task_result WHERE ${here} AND seq = ${seq}`
        yield* sql`INSERT INTO task_result ${sql.insert({ partition_id: partition, seq, body })}`
        yield* sql`UPDATE task SET state = ${state}, reason = ${reason}, completed_at = ${now}
          WHERE ${here} AND seq = ${seq}`
      }),
    )
  })
  const markCompleted = (seq: number, result: string) => storeResult(seq, result, "completed", null)
  const markInvalid = (seq: number, result: string, reason: string) => storeResult(seq, result, "invalid", reason)

  const counts = Effect.gen(function* () {
    const rows = yield* sql<{ state: TaskState; tasks: number; items: number }>`
      SELECT state, COUNT(*) AS tasks, SUM(item_count) AS items FROM task WHERE ${here} GROUP BY state`
    const of = (state: TaskState) => {
      const row = rows.find((found) => found.state === state)
      return { tasks: Number(row?.tasks ?? 0), items: Number(row?.items ?? 0) }
    }
    return Object.fromEntries(TaskState.literals.map((state) => [state, of(state)])) as StateCounts
  }).pipe(Effect.withSpan("Ledger.counts"))

  const troubles = Effect.fn("Ledger.troubles")(function* (limit: number) {
    const rows = yield* sql<{ seq: number; state: TaskState; task_id: string | null; item_count: number; reason: string | null }>`
      SELECT seq, state, task_id, item_count, reason FROM task
      WHERE ${here} AND state IN ('invalid', 'failed', 'refused', 'in_doubt') ORDER BY seq LIMIT ${limit}`
    return rows.map(
      (row): Trouble => ({
        seq: Number(row.seq),
        state: row.state,
        taskId: row.task_id,
        items: Number(row.item_count),
        reason: row.reason,
      }),
    )
  })

  /** How many items of a run's input stand in tasks that the service refused. */
  const refusedItems = Effect.fn("Ledger.refusedItems")(function* (run: number) {
    const rows = yield* sql<{ items: number }>`SELECT COUNT(*) AS items FROM task
      JOIN item ON item.partition_id = task.partition_id AND item.seq >= task.seq AND item.seq < task.seq + task.item_count
      WHERE task.partition_id = ${partition} AND task.state = 'refused' AND item.run = ${run}`
    return Number(rows[0]!.items)
  })

  const lastRun = Effect.gen(function* () {
    const rows = yield* sql<Record<"run" | "read_count" | "new_count" | "known_count" | "duplicate_count" | "rejected_count" | "read_finished", number>>`
      SELECT * FROM run WHERE ${here} AND read_count > 0 ORDER BY run DESC LIMIT 1`
    return Option.map(Option.fromNullishOr(rows[0]), (row) => ({
      run: Number(row.run),
      /** Whether its input was read to the end. */
      readFinished: Number(row.read_finished) === 1,
      counts: {
        read: Number(row.read_count),
        new: Number(row.new_count),
        known: Number(row.known_count),
        duplicates: Number(row.duplicate_count),
        rejected: Number(row.rejected_count),
      } satisfies ReadCounts,
    }))
  }).pipe(Effect.withSpan("Ledger.lastRun"))

  /** Pages through rows by a growing key, in arrays, in bounded memory. */
  const pages = <Row extends object, A>(
    page: (after: number) => Effect.Effect<ReadonlyArray<Row>, SqlError>,
    keyOf: (row: Row) => number,
    decode: (row: Row) => A,
  ): Stream.Stream<A, SqlError> =>
    Stream.paginate(-1, (after) =>
      Effect.map(page(after), (rows) => {
        const last = rows.at(-1)
        return [rows.map(decode), last === undefined ? Option.none() : Option.some(keyOf(last))] as const
      }),
    )

  const completed: Stream.Stream<CompletedTask, SqlError> = pages(
    (after) => sql<{ seq: number; task_id: string; body: Uint8Array; items: Uint8Array; result: Uint8Array }>`
      SELECT t.seq, t.task_id, q.body, q.items, r.body AS result FROM task t
      JOIN task_request q ON q.partition_id = t.partition_id AND q.seq = t.seq
      JOIN task_result r ON r.partition_id = t.partition_id AND r.seq = t.seq
      WHERE t.partition_id = ${partition} AND t.state = 'completed' AND t.seq > ${after} ORDER BY t.seq LIMIT ${pageSize}`,
    (row) => Number(row.seq),
    (row) => ({ seq: Number(row.seq), taskId: row.task_id, ...readQuestion(row), result: Zstd.decompressText(row.result) }),
  )

  const rejects = (run: number): Stream.Stream<Reject, SqlError> =>
    pages(
      (after) => sql<{ ordinal: number; record: string }>`SELECT ordinal, record FROM reject
        WHERE ${here} AND run = ${run} AND ordinal > ${after} ORDER BY ordinal LIMIT ${pageSize}`,
      (row) => Number(row.ordinal),
      (row) => decodeReject(row.record),
    )

  /** Tasks that the service refused, with what was asked. */
  const refused: Stream.Stream<{ readonly reason: string } & TaskQuestion, SqlError> = pages(
    (after) => sql<{ seq: number; reason: string | null; body: Uint8Array; items: Uint8Array }>`
      SELECT t.seq, t.reason, q.body, q.items FROM task t
      JOIN task_request q ON q.partition_id = t.partition_id AND q.seq = t.seq
      WHERE t.partition_id = ${partition} AND t.state = 'refused' AND t.seq > ${after} ORDER BY t.seq LIMIT ${pageSize}`,
    (row) => Number(row.seq),
    (row) => ({ reason: row.reason ?? "", ...readQuestion(row) }),
  )

  return {
    startRun,
    reopenInvalid,
    settleInterrupted,
    sight,
    record,
    plannedAfter,
    question,
    markSubmitting,
    markPlanned,
    markSubmitted,
    markRefused,
    markInDoubt,
    split,
    makeDue,
    due,
    postpone,
    markCompleted,
    markInvalid,
    markFailed,
    counts,
    troubles,
    refusedItems,
    lastRun,
    completed,
    rejects,
    refused,
    /** Opened when tasks were planned, so that a submitter in this process need not look again and again. */
    planned,
    /** Opened when a task was submitted. */
    submitted,
  }
})

const readQuestion = (row: { readonly body: Uint8Array; readonly items: Uint8Array }): TaskQuestion => ({
  body: Zstd.decompressText(row.body),
  items: decodeItems(Zstd.decompressText(row.items)),
})

export class Ledger extends Context.Service<Ledger, Effect.Success<ReturnType<typeof make>>>()("prefstream/task/Ledger") {
  /** Over any SQL client that the statements fit: SQLite or PostgreSQL. Creates its tables. */
  static readonly layer = (options?: { readonly partition?: string }) =>
    Layer.effect(Ledger, Effect.andThen(migrate, make(options?.partition ?? "default")))

  /** In an SQLite file, which is created if need be, and locked against a second process that would work it. */
  static readonly layerFile = (filename: string, options?: { readonly partition?: string }) =>
    Ledger.layer(options).pipe(
      Layer.provide(SqliteClient.layer({ filename })),
      Layer.provide(Layer.effectDiscard(FileLock.acquire(filename))),
    )

  /** An existing SQLite file, to look at: also while another process works it. */
  static readonly layerReadonly = (filename: string, options?: { readonly partition?: string }) =>
    Layer.effect(Ledger, make(options?.partition ?? "default")).pipe(
      Layer.provide(SqliteClient.layer({ filename, readonly: true })),
    )
}
