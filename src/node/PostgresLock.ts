/** Adapter: PostgreSQL's advisory locks, which end with the holder's session. */
import { hostname } from "node:os"
import { Duration, Effect, Option, Schedule } from "effect"
import type { SqlClient } from "effect/sql"
import { FileLocked, FileLockError, type LockHolder } from "./FileLock.ts"

/** PostgreSQL keeps 63 bytes of an `application_name`. */
export const sessionName = (isWorker: boolean) =>
  `prefstream ${isWorker ? "worker " : ""}${process.pid} ${hostname()}`.slice(0, 63)

const holderOf = ({ name, since }: { readonly name: string | null; readonly since: string }) => {
  const [, worker, pid, host = ""] = /^prefstream (worker )?(\d+) (.*)$/.exec(name ?? "") ?? []
  return pid === undefined
    ? ("unknown" as const)
    : ({ pid: Number(pid), host, since, ...(worker !== undefined && { worker: true }) } satisfies LockHolder)
}

const keyOf = (sql: SqlClient.SqlClient, lock: string) =>
  sql`hashtextextended('prefstream ' || current_schema() || ' ' || ${lock}::text, 0)`

const holders = (sql: SqlClient.SqlClient, lock: string) => sql`
  FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND granted AND objsubid = 1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32) | objid::bigint = ${keyOf(sql, lock)}`

export const holder = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, lock: string) {
  const rows = yield* sql<{ name: string | null; since: string }>`
    SELECT application_name AS name, to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS since
    ${holders(sql, lock)} ORDER BY application_name LIKE 'prefstream worker %' DESC LIMIT 1`
  return Option.map(Option.fromNullishOr(rows[0]), holderOf)
})

/** The lock and the transactions share a session, so a process that loses the lock cannot commit. */
export const tryTake = (sql: SqlClient.SqlClient, lock: string) =>
  Effect.map(
    sql.withTransaction(sql<{ taken: boolean }>`SELECT pg_try_advisory_lock(${keyOf(sql, lock)}) AS taken`),
    (rows) => rows[0]!.taken,
  )

export const release = (sql: SqlClient.SqlClient, lock: string) =>
  Effect.asVoid(sql.withTransaction(sql`SELECT pg_advisory_unlock(${keyOf(sql, lock)})`))

export const endWorker = (sql: SqlClient.SqlClient, lock: string) =>
  sql`SELECT pg_terminate_backend(pid) ${holders(sql, lock)} AND application_name LIKE 'prefstream worker %'`

/** Waits up to a second, because the session of a process that just died may still hold the lock. */
export const take = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  lock: string,
  shared: boolean,
  path: string,
) {
  const waitFor = (time: string) => sql`SELECT set_config('lock_timeout', ${time}, false)`
  yield* waitFor("1s")
  const take = sql.literal(shared ? "pg_advisory_lock_shared" : "pg_advisory_lock")
  const isTaken = yield* sql`SELECT ${take}(${keyOf(sql, lock)})`.pipe(
    Effect.as(true),
    Effect.catchReason("SqlError", "LockTimeoutError", () => Effect.succeed(false)),
  )
  yield* waitFor("0")
  if (isTaken) return
  const by = Option.filter(yield* holder(sql, lock), (holder) => holder !== "unknown")
  return yield* new FileLockError({ reason: new FileLocked({ path, ...(Option.isSome(by) && { holder: by.value }) }) })
})

/** All users of a schema's tables share this lock. Its name has a space, so that no job has the same name. */
const tablesLock = "the tables"

const tries = 20
const interval = Duration.millis(100)

export const shareTables = (sql: SqlClient.SqlClient) =>
  sql.withTransaction(sql`SELECT pg_advisory_lock_shared(${keyOf(sql, tablesLock)})`)

/**
 * Runs `change` as soon as no other process uses the tables. Waits at most 2 seconds, and stops early if `isDone`
 * returns true. If the tables stay in use, returns the names of up to 5 processes that use them; otherwise, none.
 */
export const changeTables = Effect.fnUntraced(function* <E, R, E2, R2>(
  sql: SqlClient.SqlClient,
  change: Effect.Effect<unknown, E, R>,
  isDone: Effect.Effect<boolean, E2, R2>,
) {
  const key = keyOf(sql, tablesLock)
  // If two processes want to change the tables and both keep their shared locks, each waits for the other.
  const [own] = yield* sql.withTransaction(sql<{ shared: boolean }>`SELECT pg_advisory_unlock_shared(${key}) AS shared`)
  const tried = sql.withTransaction(
    Effect.gen(function* () {
      const [lock] = yield* sql<{ free: boolean }>`SELECT pg_try_advisory_xact_lock(${key}) AS free`
      if (lock?.free === true) yield* change
      return lock?.free === true
    }),
  )
  const done = yield* Effect.repeat(
    Effect.flatMap(tried, (done) => (done ? Effect.succeed(true) : isDone)),
    { until: (done) => done, times: tries, schedule: Schedule.spaced(interval) },
  )
  const users = done
    ? []
    : yield* sql<{ name: string }>`SELECT DISTINCT
        regexp_replace(application_name, '^prefstream (worker )?(\\d+) ', 'process \\2 on ') AS name
        ${holders(sql, tablesLock)} ORDER BY 1 LIMIT 5`
  if (own?.shared === true) yield* shareTables(sql)
  return users.map(({ name }) => name)
})
