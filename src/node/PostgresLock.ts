/**
 * Adapter: advisory locks of PostgreSQL, which sessions hold, and the processes that hold them.
 *
 * Guarantees: a lock is that of a schema and a name. The session of a process that has ended releases it; that of a worker can
 * be ended, too.
 */
import { hostname } from "node:os"
import { Effect, Option } from "effect"
import type { SqlClient } from "effect/sql"
import { FileLocked, FileLockError, type LockHolder } from "./FileLock.ts"

/** The `application_name` of this process's sessions, of which PostgreSQL keeps 63 bytes. */
export const sessionName = (isWorker: boolean) =>
  `prefstream ${isWorker ? "worker " : ""}${process.pid} ${hostname()}`.slice(0, 63)

const holderOf = (row: { readonly name: string | null; readonly since: string } | undefined) => {
  const [, pid, host = ""] = /^prefstream (?:worker )?(\d+) (.*)$/.exec(row?.name ?? "") ?? []
  return pid === undefined || row === undefined
    ? Option.none()
    : Option.some<LockHolder>({ pid: Number(pid), host, since: row.since })
}

const keyOf = (sql: SqlClient.SqlClient, lock: string) =>
  sql`hashtextextended('prefstream ' || current_schema() || ' ' || ${lock}::text, 0)`

/** The sessions that hold a lock. pg_locks has a 64-bit key in two halves. */
const holders = (sql: SqlClient.SqlClient, lock: string) => sql`
  FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND granted AND objsubid = 1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32) | objid::bigint = ${keyOf(sql, lock)}`

/** The process that holds a lock; none if it is free. */
export const holder = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, lock: string) {
  const rows = yield* sql<{ name: string | null; since: string }>`
    SELECT application_name AS name, to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS since
    ${holders(sql, lock)}`
  return Option.map(Option.fromNullishOr(rows[0]), (row) => Option.getOrElse(holderOf(row), () => "unknown" as const))
})

/** Takes another lock in the session of the transactions, if it is free: whoever loses it commits nothing more. */
export const tryTake = (sql: SqlClient.SqlClient, lock: string) =>
  Effect.map(
    sql.withTransaction(sql<{ taken: boolean }>`SELECT pg_try_advisory_lock(${keyOf(sql, lock)}) AS taken`),
    (rows) => rows[0]!.taken,
  )

export const release = (sql: SqlClient.SqlClient, lock: string) =>
  Effect.asVoid(sql.withTransaction(sql`SELECT pg_advisory_unlock(${keyOf(sql, lock)})`))

/** Ends the session of a worker that holds a lock, which releases it, even if that worker is suspended or disconnected. */
export const endWorker = (sql: SqlClient.SqlClient, lock: string) =>
  sql`SELECT pg_terminate_backend(pid) ${holders(sql, lock)} AND application_name LIKE 'prefstream worker %'`

/** Takes a lock in the session of `sql`, for as long as that lasts; waits for a second. */
export const take = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  lock: string,
  shared: boolean,
  path: string,
) {
  const waitFor = (time: string) => sql`SELECT set_config('lock_timeout', ${time}, false)`
  // The server ends a dead process's session a moment after its death.
  yield* waitFor("1s")
  const take = sql.literal(shared ? "pg_advisory_lock_shared" : "pg_advisory_lock")
  const taken = yield* sql`SELECT ${take}(${keyOf(sql, lock)})`.pipe(
    Effect.as(true),
    Effect.catchReason("SqlError", "LockTimeoutError", () => Effect.succeed(false)),
  )
  yield* waitFor("0")
  if (taken) return
  const by = Option.filter(yield* holder(sql, lock), (holder) => holder !== "unknown")
  return yield* new FileLockError({
    reason: new FileLocked({ path, ...(Option.isSome(by) && { holder: by.value }) }),
  })
})
