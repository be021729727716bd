/**
 * The parts (partitions) of a job that this process owns: all, if it has the job's lock, or those that it took.
 *
 * Guarantees: whoever takes a part raises its epoch; from then on nobody claims a task of it for an earlier epoch, however
 * long that owner was suspended or disconnected. The result of a request is recorded whoever owns the part by then, unless
 * the task was claimed again, so a late answer settles a doubt. Claims end by the clock of the database, not of the
 * machines.
 */
import { Effect, type Latch } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as SteadyClock from "../../../io/SteadyClock.ts"
import type { LedgerContext, PlannedTask } from "../schema/Model.ts"
import { isAny } from "../schema/Rows.ts"
import * as Metrics from "../../../telemetry/Metrics.ts"

/** The part that has no tasks: its owner reads the input. */
export const readerPart = -1

/** Beyond the time that a request may take, in milliseconds. */
const margin = 5_000

/** Epoch milliseconds by the clock of the database, which all workers have in common. */
export const databaseClock = (sql: SqlClient.SqlClient) =>
  sql.literal(
    sql.onDialectOrElse({
      pg: () => "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
      orElse: () => "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    }),
  )

/** A part that this process owns. */
interface OwnedPart {
  epoch: number
}

/** A notification to other processes: more tasks, a webhook delivery, or an earlier task that is to be sent or polled. */
export type Change = "planned" | "hinted" | "again"

/** @param worker the name of a process that shares the job with others; undefined for one that has it alone */
export const make = ({ job, sql }: Pick<LedgerContext, "job" | "sql">, worker: string | undefined) => {
  const here = sql`job = ${job}`
  const always = sql.literal("1 = 1")
  const never = sql.literal("1 = 0")
  const nothing = sql.literal("")
  const clock = databaseClock(sql)
  /** The parts that this process owns. */
  const parts = new Map<number, OwnedPart>()
  /** Epochs in which this process claimed the tasks that it is sending. */
  const claims = new Map<number, number>()

  const channel = sql.literal(`'prefstream_' || md5(current_schema() || ' ' || ${job})`)

  const areMine = (task = "task") =>
    worker === undefined ? always : parts.size === 0 ? never : sql.in(`${task}.part`, [...parts.keys()])

  return {
    worker,
    /** Whether other processes own other parts. */
    isShared: worker !== undefined,

    /** Notifies other processes of a change, once it is committed. */
    tell: (change: Change): Effect.Effect<unknown, SqlError> =>
      worker === undefined ? Effect.void : sql`SELECT pg_notify(${channel}, ${change})`,

    /** The channel of the notifications. */
    channel: Effect.map(sql<{ channel: string }>`SELECT ${channel} AS channel`, (rows) => rows[0]!.channel),

    /** Condition for the tasks of this process; of those of `task`, where others are in the statement. */
    areMine,

    /** Condition for those of them that are to be sent. With `due_at`, which is 0 then, the index gives them in order. */
    areToSend: () => sql`${here} AND state = 'planned' AND due_at = 0 AND ${areMine()}`,

    /** Condition for a task that this process is sending. */
    isHeld: (seq: number) =>
      worker === undefined
        ? always
        : sql`state IN ('submitting', 'in_doubt') AND claim_epoch = ${claims.get(seq) ?? 0}`,

    /**
     * Assignments and fence of a statement that claims a task for so many milliseconds, or keeps it claimed. The fence is
     * a row that is locked until the statement is committed, so that a part is not taken meanwhile.
     */
    claiming: ({ part, seq }: Pick<PlannedTask, "part" | "seq">, millis: number) => {
      if (worker === undefined) return { assignments: nothing, fence: nothing, claimed: () => {} }
      const epoch = parts.get(part)?.epoch ?? 0
      return {
        /** It did. */
        claimed: () => void claims.set(seq, epoch),
        assignments: sql`, claim_epoch = ${epoch}, claim_until = ${clock} + ${Math.ceil(millis) + margin}`,
        fence: sql`FROM (SELECT epoch FROM part_owner
          WHERE ${here} AND part = ${part} AND epoch = ${epoch} FOR SHARE) AS fence`,
      }
    },
    /** The task is no longer being sent. */
    forget: (seq: number) => void claims.delete(seq),

    /**
     * Tasks of this process's parts that an earlier owner claimed, for at most so many milliseconds, and had the time to
     * send. A claim that ends later than one can was made before the clock was set back.
     */
    areAbandoned: (maxMillis: number) => sql`${here} AND state = 'submitting'
      AND NOT COALESCE(claim_until, 0) BETWEEN ${clock} AND ${clock} + ${Math.ceil(maxMillis) + margin}
      AND EXISTS (SELECT 1 FROM part_owner WHERE part_owner.job = task.job AND part_owner.part = task.part
        AND owner = ${worker ?? ""} AND COALESCE(claim_epoch, 0) < epoch)`,

    /** Raises the epoch of a part, and gives it: from then on, no other process claims its tasks. */
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

/** A process that owns parts of a job, or did. */
export interface WorkerStatus {
  readonly name: string
  /** How many parts it has. */
  readonly parts: number
  /** Whether it reads the input. */
  readonly reads: number
  /** How many milliseconds ago it last said so. */
  readonly renewedAgo: number
  /** How many milliseconds ago the service last answered one of its requests as expected, or it had none to send. */
  readonly progressedAgo: number
  /** How many tasks of its parts are to be sent or polled now. */
  readonly due: number
}

export const readParts = ({ job, sql }: LedgerContext) => ({
  /** By name. */
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

/** A process without parts has a share of nothing. */
const nobody = { count: Infinity, rank: Infinity }

export const writeParts = (
  { job, owned, partCount, sql, write }: LedgerContext & { readonly owned: Parts },
  latches: Readonly<Record<"planned" | "submitted" | "hinted", Latch.Latch>>,
  { delivered, followAgain }: { readonly delivered: Effect.Effect<void>; readonly followAgain: () => void },
) => {
  const here = sql`job = ${job}`
  const clock = databaseClock(sql)
  /** How often in a row a part was found to be another's, by those who renewed theirs. */
  const disputed = new Map<number, number>()
  const notifyAll = Effect.forEach(Object.values(latches), (latch) => latch.open, { discard: true })
  let crew = nobody
  let changes = 0
  const restartSending = Effect.suspend(() => {
    changes++
    return notifyAll
  })
  return {
    job,
    partCount,
    /** How many of so many this process may have, so that all workers together have as many. */
    shareOf: (together: number) => Math.floor(together / crew.count) + (crew.rank < together % crew.count ? 1 : 0),
    /** Counts the workers. */
    countWorkers: Effect.gen(function* () {
      const rows = yield* sql<{ name: string }>`SELECT DISTINCT owner AS name FROM part_owner
        WHERE ${here} AND part <> ${readerPart} ORDER BY name`
      const rank = rows.findIndex(({ name }) => name === owned.worker)
      crew = rank === -1 ? nobody : { count: rows.length, rank }
    }),
    /** How often there was something new to send that is not new by its number. */
    changes: () => changes,
    /** Has the loops query the ledger, which other processes may have changed. */
    notifyAll,
    /** Has the sender begin anew with the first planned task. */
    restartSending,
    /** Follows a notification of another process, from the channel. */
    onNotification: (change: string) =>
      change === "planned"
        ? Effect.asVoid(latches.planned.open)
        : change === "hinted"
          ? Effect.andThen(delivered, latches.hinted.open)
          : restartSending,

    /** Owns a part until the scope is closed. What is being sent then is finished and recorded. */
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
     * Records that this process still owns its parts, and how many milliseconds ago it last made progress, and got an answer.
     * A part for which the ledger names another worker more than `patience` times in a row, though the cluster still gives it
     * to this process, is reclaimed: its former owner may have taken it late, when it resumed.
     */
    renewParts: Effect.fnUntraced(function* (progressedAgo: number, answeredAgo: number, patience: number) {
      if (owned.worker === undefined || owned.parts.size === 0) return
      const rows = yield* write(sql<{ part: number; epoch: number }>`UPDATE part_owner SET renewed_at = ${clock},
          progressed_at = ${clock} - ${progressedAgo}, answered_at = ${clock} - ${answeredAgo}
        WHERE ${here} AND owner = ${owned.worker} AND ${sql.in("part", [...owned.parts.keys()])} RETURNING part, epoch`)
      const found = new Map(rows.map(({ epoch, part }) => [part, epoch]))
      for (const [part, own] of owned.parts) {
        const times = found.get(part) === own.epoch ? 0 : (disputed.get(part) ?? 0) + 1
        disputed.set(part, times > patience ? 0 : times)
        if (times <= patience) continue
        yield* Effect.logWarning(
          `part ${part} reclaimed: the ledger still named another worker, probably one that had been suspended`,
        )
        own.epoch = yield* write(owned.take(part))
        yield* restartSending
      }
    }),

    /** Whether the service has answered another worker in the last so many milliseconds. */
    othersAnsweredWithin: (millis: number) =>
      Effect.map(
        sql`SELECT 1 FROM part_owner
          WHERE ${here} AND owner <> ${owned.worker ?? ""} AND answered_at > ${clock} - ${millis} LIMIT 1`,
        (rows) => rows.length > 0,
      ),

    /** Whether a task of this process's parts is to be sent or polled now; none is while the service asks to wait. */
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

    /**
     * Settles tasks that an earlier owner was sending when it lost its part, once it has had the time to finish: planned
     * again where the service honors keys, in doubt elsewhere. Gives how many there were.
     */
    settleAbandoned: Effect.fn("Ledger.settleAbandoned")(function* (
      outcome: "planned" | "in_doubt",
      /** How long a request may take. */
      maxMillis: number,
    ) {
      if (owned.parts.size === 0) return 0
      const rows = yield* write(
        outcome === "planned"
          ? sql`UPDATE task SET state = 'planned' WHERE ${owned.areAbandoned(maxMillis)} RETURNING seq`
          : sql`UPDATE task SET state = 'in_doubt', reason = 'its worker was lost after the request may have been sent'
              WHERE ${owned.areAbandoned(maxMillis)} RETURNING seq`,
      )
      if (outcome === "in_doubt") yield* Metrics.countTasks(outcome, rows.length)
      if (rows.length > 0) yield* restartSending
      return rows.length
    }),
  }
}
