/**
 * The durable record of the annotation service: every task, its request, its results.
 *
 * Guarantees: what an effect has changed is committed when it succeeds, so a task
 * outlives the process as soon as its creation has been answered; the same
 * organization and idempotency key name the same task, also after a restart and
 * even over a new store; an organization sees its own tasks only.
 *
 * Not checked here: what a request asks for; see `TaskLimits`. One process at a
 * time works a store; the file's lock sees to it.
 */
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { type ResultItem, type TaskRequest, TaskRequestText } from "../domain/Task.ts"
import * as Sha256 from "../node/Sha256.ts"
import * as Zstd from "../node/Zstd.ts"
import * as GroupCommit from "../sql/GroupCommit.ts"
import { migrate } from "./TaskStoreSchema.ts"

/**
 * ```
 * pending → in_progress → completed
 *    ↑           │
 *    └───────────┘ given back: the service stopped before the results were stored
 * ```
 * `cancelled` is reserved: no operation leads there yet.
 */
export type TaskStatus = "pending" | "in_progress" | "completed" | "cancelled"

export interface TaskState {
  readonly taskId: string
  readonly status: TaskStatus
}

export interface NewTask {
  readonly organization: string
  readonly idempotencyKey: string | undefined
  /** The request body as it came. It has to be a valid `TaskRequest`. */
  readonly body: Uint8Array
}

/** The results of one task, one per prompt, in the order of its prompts. */
export interface TaskResults {
  readonly taskId: string
  readonly results: ReadonlyArray<ResultItem>
}

/** The idempotency key was used before with another body. */
export class IdempotencyKeyConflict extends Schema.TaggedError<IdempotencyKeyConflict>()("IdempotencyKeyConflict", {
  taskId: Schema.String,
}) {}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  yield* migrate
  const write = yield* GroupCommit.make(sql)

  /**
   * 128 bits: of the hash of organization and key where a key was given, so that
   * a client that has lost its answer, or a service that has lost its store, comes
   * to the same id; random otherwise.
   */
  const makeTaskId = (organization: string, idempotencyKey: string | undefined) =>
    (idempotencyKey === undefined
      ? Effect.map(random.randomBytes(16), Hex.encode)
      : Effect.succeed(Sha256.hex(JSON.stringify([organization, idempotencyKey])).slice(0, 32))
    ).pipe(Effect.map((id) => `task_${id}`))

  /**
   * Stores a task, once per organization and idempotency key. A repeated creation
   * answers with the task that the first one stored, as it stands now.
   */
  const create = Effect.fnUntraced(function* (task: NewTask) {
    const task_id = yield* makeTaskId(task.organization, task.idempotencyKey)
    const body_hash = Sha256.hex(task.body)
    const created_at = yield* Clock.currentTimeMillis
    const row = {
      task_id,
      organization: task.organization,
      idempotency_key: task.idempotencyKey ?? null,
      body_hash,
      status: "pending" as TaskStatus,
      created_at,
    }
    const body = Zstd.compress(task.body)
    const stored = yield* write(
      Effect.gen(function* () {
        const inserted = yield* sql`INSERT INTO task ${sql.insert(row)} ON CONFLICT DO NOTHING RETURNING task_id`
        if (inserted.length === 1) {
          yield* sql`INSERT INTO task_request ${sql.insert({ task_id, body })}`
          return row
        }
        const rows = yield* sql<{ body_hash: string; status: TaskStatus }>`
          SELECT body_hash, status FROM task WHERE task_id = ${task_id}`
        return rows[0]!
      }),
    )
    if (stored.body_hash !== body_hash) return yield* new IdempotencyKeyConflict({ taskId: task_id })
    return { taskId: task_id, status: stored.status } satisfies TaskState
  })

  /** One task, and its results as JSON text (an array of `ResultItem`) once it is completed. */
  const find = Effect.fnUntraced(function* (organization: string, taskId: string) {
    const rows = yield* sql<{ status: TaskStatus; results: Uint8Array | null }>`
      SELECT task.status, task_result.results FROM task
      LEFT JOIN task_result ON task_result.task_id = task.task_id
      WHERE task.task_id = ${taskId} AND task.organization = ${organization}`
    return Option.map(Option.fromUndefinedOr(rows[0]), ({ status, results }) => ({
      taskId,
      status,
      results: Option.map(Option.fromNullOr(results), Zstd.decompressText),
    }))
  })

  /** What a task asks for. */
  const request = Effect.fnUntraced(function* (taskId: string) {
    const rows = yield* sql<{ body: Uint8Array }>`SELECT body FROM task_request WHERE task_id = ${taskId}`
    return yield* Effect.orDie(decodeRequest(Zstd.decompressText(rows[0]!.body)))
  })

  /** Takes up to `limit` pending tasks that were created at `createdBefore` (epoch milliseconds) or earlier, oldest first. */
  const claim = Effect.fnUntraced(function* (limit: number, createdBefore: number) {
    const rows = yield* sql<{ task_id: string }>`
      UPDATE task SET status = 'in_progress' WHERE task_id IN (
        SELECT task_id FROM task WHERE status = 'pending' AND created_at <= ${createdBefore}
        ORDER BY created_at, task_id LIMIT ${limit}
      ) RETURNING task_id`
    return rows.map((row) => row.task_id)
  })

  /** Gives back the tasks that were taken or cancelled, and not completed. */
  const giveBack = Effect.asVoid(
    sql`UPDATE task SET status = 'pending' WHERE ${sql.in("status", ["in_progress", "cancelled"])}`,
  )

  /** Says that a task will get no results. */
  const cancel = (taskId: string) =>
    Effect.asVoid(write(sql`UPDATE task SET status = 'cancelled' WHERE task_id = ${taskId}`))

  /** When the oldest pending task was created, in epoch milliseconds. */
  const oldestPending = Effect.map(
    sql<{ created_at: number }>`
      SELECT created_at FROM task WHERE status = 'pending' ORDER BY created_at, task_id LIMIT 1`,
    (rows) => Option.map(Option.fromUndefinedOr(rows[0]), (row) => Number(row.created_at)),
  )

  /** Stores the results of several tasks in one commit. */
  const complete = Effect.fnUntraced(function* (tasks: ReadonlyArray<TaskResults>) {
    const now = yield* Clock.currentTimeMillis
    yield* write(
      Effect.forEach(
        tasks,
        ({ taskId: task_id, results }) =>
          Effect.andThen(
            sql`INSERT INTO task_result ${sql.insert({ task_id, results: Zstd.compress(JSON.stringify(results)) })}`,
            sql`UPDATE task SET status = 'completed', completed_at = ${now} WHERE task_id = ${task_id}`,
          ),
        { discard: true },
      ),
    )
  })

  return { create, find, request, claim, giveBack, cancel, oldestPending, complete }
})

const decodeRequest = Schema.decodeEffect(TaskRequestText)

export class TaskStore extends Context.Service<
  TaskStore,
  {
    readonly create: (task: NewTask) => Effect.Effect<TaskState, IdempotencyKeyConflict | SqlError>
    readonly find: (
      organization: string,
      taskId: string,
    ) => Effect.Effect<Option.Option<TaskState & { readonly results: Option.Option<string> }>, SqlError>
    readonly request: (taskId: string) => Effect.Effect<TaskRequest, SqlError>
    readonly claim: (limit: number, createdBefore: number) => Effect.Effect<ReadonlyArray<string>, SqlError>
    readonly giveBack: Effect.Effect<void, SqlError>
    readonly cancel: (taskId: string) => Effect.Effect<void, SqlError>
    readonly oldestPending: Effect.Effect<Option.Option<number>, SqlError>
    readonly complete: (tasks: ReadonlyArray<TaskResults>) => Effect.Effect<void, SqlError>
  }
>()("prefstream/service/TaskStore") {
  static readonly layer = Layer.effect(TaskStore, make).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}
