/**
 * The parts of a job that this process owns. A process with exclusive access owns all parts. A worker owns the parts
 * that it has taken. Each takeover of a part increases the part's epoch (a counter). From then on, the earlier owner
 * cannot claim tasks of the part, even if the earlier owner was suspended during the takeover. Requests of the earlier
 * owner may still be in flight. It can record their responses, unless another process has claimed the task.
 */
import { Effect, type Latch } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as SteadyClock from "../../../io/SteadyClock.ts"
import type { LedgerContext, PlannedTask } from "../schema/Model.ts"
import { isAny } from "../schema/Rows.ts"
import * as Metrics from "../../../telemetry/Metrics.ts"

/** One part of a job has no tasks. The worker that owns this part reads the input. */
export const readerPart = -1

/** Milliseconds by which a claim outlasts the timeout of its request. */
const margin = 5_000

/** Epoch milliseconds by a clock that all workers share. */
export const databaseClock = (sql: SqlClient.SqlClient) =>
  sql.literal(
    sql.onDialectOrElse({
      pg: () => "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
      orElse: () => "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    }),
  )

interface OwnedPart {
  epoch: number
}

/**
 * - `planned`: new tasks were added. Their numbers are higher than the numbers of all earlier tasks.
 * - `hinted`: a webhook delivery asks for a poll.
 * - `again`: any tasks may be ready for sending or polling. The sender has to start again at the first task.
 */
export type Change = "planned" | "hinted" | "again"

/** @param worker the worker's name; undefined if this process has exclusive access to the job */
export const make = ({ job, sql }: Pick<LedgerContext, "job" | "sql">, worker: string | undefined) => {
  const here = sql`job = ${job}`
  const always = sql.literal("1 = 1")
  const never = sql.literal("1 = 0")
  const nothing = sql.literal("")
  const clock = databaseClock(sql)
  const parts = new Map<number, OwnedPart>()
  const claims = new Map<number, number>()

  const channel = sql.literal(`'prefstream_' || md5(current_schema() || ' ' || ${job})`)

  const areMine = (task = "task") =>
    worker === undefined ? always : parts.size === 0 ? never : sql.in(`${task}.part`, [...parts.keys()])

  return {
    worker,
    isShared: worker !== undefined,

    /** Notifies other processes of a change when the transaction commits. */
    tell: (change: Change): Effect.Effect<unknown, SqlError> =>
      worker === undefined ? Effect.void : sql`SELECT pg_notify(${channel}, ${change})`,

    channel: Effect.map(sql<{ channel: string }>`SELECT ${channel} AS channel`, (rows) => rows[0]!.channel),

    areMine,

    /** SQL condition for tasks to send. It includes `due_at = 0`, so that the index `task_due` sorts them by `seq`. */
    areToSend: () => sql`${here} AND state = 'planned' AND due_at = 0 AND ${areMine()}`,

    isHeld: (seq: number) =>
      worker === undefined
        ? always
        : sql`state IN ('submitting', 'in_doubt') AND claim_epoch = ${claims.get(seq) ?? 0}`,

    /**
     * SQL that claims a task, so that no other process sends the task for at least `millis` milliseconds. `fence` makes
     * the claim fail if another worker has taken over the part that contains the task. `fence` also locks this part, so
     * that no other worker can take over the part until the transaction ends.
     */
    claiming: ({ part, seq }: Pick<PlannedTask, "part" | "seq">, millis: number) => {
      if (worker === undefined) return { assignments: nothing, fence: nothing, claimed: () => {} }
      const epoch = parts.get(part)?.epoch ?? 0
      return {
        /** Remembers the claim. Call this after the SQL statement has changed the task's row. */
        claimed: () => void claims.set(seq, epoch),
        assignments: sql`, claim_epoch = ${epoch}, claim_until = ${clock} + ${Math.ceil(millis) + margin}`,
        fence: sql`FROM (SELECT epoch FROM part_owner
          WHERE ${here} AND part = ${part} AND epoch = ${epoch} FOR SHARE) AS fence`,
      }
    },
    forget: (seq: number) => void claims.delete(seq),

    /**
     * SQL condition: an earlier owner of the part claimed the task, and the claim has expired. If a claim ends more
     * than `maxMillis + margin` from now, the database's clock was set back. Then the claim counts as expired, too.
     */
    areAbandoned: (maxMillis: number) => sql`${here} AND state = 'submitting'
      AND NOT COALESCE(claim_until, 0) BETWEEN ${clock} AND ${clock} + ${Math.ceil(maxMillis) + margin}
      AND EXISTS (SELECT 1 FROM part_owner WHERE part_owner.job = task.job AND part_owner.part = task.part
        AND owner = ${worker ?? ""} AND COALESCE(claim_epoch, 0) < epoch)`,

    take: Effect.fnUntraced(function* (part: number) {
      const rows = yield* sql<{ epoch: number }>`INSERT INTO part_owner
          (job, part, epoch, owner, renewed_at, progressed_at, answered_at)
        VALUES (${job}, ${part}, 1, ${worker ?? ""}, ${clock}, ${clock}, 0)
        ON CONFLICT (job, part) DO UPDATE SET epoch = part_owner.epoch + 1, owner = excluded.owner,
          renewed_at = excluded.renewed_at, progressed_at = excluded.progressed_at, answered_at = 0 RETURNING epoch`
      return rows[0]!.epoch
    }),

    parts,
  }
}

export type Parts = ReturnType<typeof make>

export interface WorkerStatus {
  readonly name: string
  readonly parts: number
  /** 1 if the worker reads the input, otherwise 0. */
  readonly reads: number
  /** Milliseconds since the worker last renewed its parts. */
  readonly renewedAgo: number
  /** Milliseconds since the worker's last progress: an expected response, or a check that found no due task. */
  readonly progressedAgo: number
  readonly due: number
}

export const readParts = ({ job, sql }: LedgerContext) => ({
  workers: Effect.gen(function* () {
    const now = databaseClock(sql)
    const dueBefore = yield* SteadyClock.now
    return yield* sql<WorkerStatus>`SELECT owner AS name, SUM(CASE WHEN part = ${readerPart} THEN 0 ELSE 1 END) AS parts,
        MAX(CASE WHEN part = ${readerPart} THEN 1 ELSE 0 END) AS reads, ${now} - MAX(renewed_at) AS "renewedAgo",
        ${now} - MAX(progressed_at) AS "progressedAgo", CAST(COALESCE(SUM(due.tasks), 0) AS BIGINT) AS due
      FROM part_owner LEFT JOIN (
        SELECT part AS due_part, COUNT(*) AS tasks FROM task
        WHERE job = ${job} AND due_at <= ${dueBefore} AND state IN ('planned', 'submitted') GROUP BY part
      ) AS due ON due_part = part
      WHERE job = ${job} GROUP BY owner ORDER BY owner`
  }),
})

/** A process that owns no part with tasks gets no share. Division by `Infinity` makes `shareOf` return 0. */
const noWorkers = { count: Infinity, rank: Infinity }

export const writeParts = (
  { job, owned, partCount, sql, write }: LedgerContext & { readonly owned: Parts },
  latches: Readonly<Record<"planned" | "submitted" | "hinted", Latch.Latch>>,
  { delivered, followAgain }: { readonly delivered: Effect.Effect<void>; readonly followAgain: () => void },
) => {
  const here = sql`job = ${job}`
  const clock = databaseClock(sql)
  const disputed = new Map<number, number>()
  const notifyAll = Effect.forEach(Object.values(latches), (latch) => latch.open, { discard: true })
  let workers = noWorkers
  let changes = 0
  const restartSending = Effect.suspend(() => {
    changes++
    return notifyAll
  })
  return {
    job,
    partCount,
    shareOf: (together: number) =>
      Math.floor(together / workers.count) + (workers.rank < together % workers.count ? 1 : 0),
    countWorkers: Effect.gen(function* () {
      const rows = yield* sql<{ name: string }>`SELECT DISTINCT owner AS name FROM part_owner
        WHERE ${here} AND part <> ${readerPart} ORDER BY name`
      const rank = rows.findIndex(({ name }) => name === owned.worker)
      workers = rank === -1 ? noWorkers : { count: rows.length, rank }
    }),
    /** This counter increases whenever the sender has to start again at the first task. */
    changes: () => changes,
    notifyAll,
    restartSending,
    onNotification: (change: string) =>
      change === "planned"
        ? Effect.asVoid(latches.planned.open)
        : change === "hinted"
          ? Effect.andThen(delivered, latches.hinted.open)
          : restartSending,

    takePart: (part: number) =>
      Effect.acquireRelease(
        Effect.gen(function* () {
          const own = { epoch: yield* write(owned.take(part)) }
          owned.parts.set(part, own)
          followAgain()
          yield* write(
            sql`UPDATE task SET due_at = 0 WHERE ${here} AND part = ${part} AND ${sql.in("state", ["failed", "invalid"])}`,
          )
          yield* restartSending
          return own
        }),
        (own) => Effect.sync(() => void (owned.parts.get(part) === own && owned.parts.delete(part))),
      ),

    /**
     * Renews the ownership of this worker's parts. If another worker has taken over a part, the part's renewal fails.
     * After `patience + 1` failures in a row, this worker takes over the part again. Times are in milliseconds.
     */
    renewParts: Effect.fnUntraced(function* (progressedAgo: number, answeredAgo: number, patience: number) {
      if (owned.worker === undefined || owned.parts.size === 0) return
      const rows = yield* write(sql<{ part: number; epoch: number }>`UPDATE part_owner SET renewed_at = ${clock},
          progressed_at = ${clock} - ${progressedAgo}, answered_at = ${clock} - ${answeredAgo}
        WHERE ${here} AND owner = ${owned.worker} AND ${sql.in("part", [...owned.parts.keys()])} RETURNING part, epoch`)
      const epochs = new Map(rows.map(({ epoch, part }) => [part, epoch]))
      for (const [part, own] of owned.parts) {
        const times = epochs.get(part) === own.epoch ? 0 : (disputed.get(part) ?? 0) + 1
        disputed.set(part, times > patience ? 0 : times)
        if (times <= patience) continue
        yield* Effect.logWarning(
          `this worker took over part ${part} of the job from another worker, which is probably suspended`,
        )
        own.epoch = yield* write(owned.take(part))
        yield* restartSending
      }
    }),

    othersAnsweredWithin: (millis: number) =>
      Effect.map(
        sql`SELECT 1 FROM part_owner
          WHERE ${here} AND owner <> ${owned.worker ?? ""} AND answered_at > ${clock} - ${millis} LIMIT 1`,
        (rows) => rows.length > 0,
      ),

    /** Whether a task is due to be sent or polled. False while the service asks for a pause. */
    isDue: Effect.gen(function* () {
      const now = yield* SteadyClock.now
      if (
        (yield* sql`SELECT 1 FROM budget WHERE ${here} AND paused_until > ${clock} AND paused_at <= ${clock}`).length >
        0
      )
        return false
      return (
        (yield* isAny(sql, owned.areToSend())) ||
        (yield* isAny(sql, sql`${here} AND state = 'submitted' AND due_at < ${now} AND ${owned.areMine()}`))
      )
    }),

    settleAbandoned: Effect.fn("Ledger.settleAbandoned")(function* (
      outcome: "planned" | "in_doubt",
      maxMillis: number,
    ) {
      if (owned.parts.size === 0) return 0
      const rows = yield* write(
        outcome === "planned"
          ? sql`UPDATE task SET state = 'planned' WHERE ${owned.areAbandoned(maxMillis)} RETURNING seq`
          : sql`UPDATE task SET state = 'in_doubt', reason = 'its worker was lost, and the request may have been sent'
              WHERE ${owned.areAbandoned(maxMillis)} RETURNING seq`,
      )
      if (outcome === "in_doubt") yield* Metrics.countTasks(outcome, rows.length)
      if (rows.length > 0) yield* restartSending
      return rows.length
    }),
  }
}
