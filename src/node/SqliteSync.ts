/**
 * Adapter: `fdatasync`, to commit to an SQLite file in WAL mode without blocking the main thread. When
 * `withTransaction` succeeds, the transaction is on disk. Other connections may see its changes before they are on
 * disk. After a failed sync, all later writes fail, because the system reports the failure only once: another sync
 * would succeed, although the changes are lost.
 */
import { closeSync, fdatasync, openSync } from "node:fs"
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { Effect, Option, type Scope } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

export const begin = "BEGIN IMMEDIATE"

export interface Sync {
  readonly sync: Effect.Effect<void, SqlError>
  /** Call this before each statement. Outside a transaction, throws if an earlier `sync` failed. */
  readonly prepareFor: (statement: StatementSync) => void
}

const [full, failedSync] = [13, 1034]

const isFull = ({ code }: NodeJS.ErrnoException): boolean => code === "ENOSPC" || code === "EDQUOT"

export const isPossible = (db: DatabaseSync): boolean => db.prepare("PRAGMA journal_mode").get()?.journal_mode === "wal"

/** `db` must stay open until the scope closes: SQLite deletes the write-ahead log when the last connection closes. */
export const make = Effect.fnUntraced(function* (
  db: DatabaseSync,
  toError: (cause: Error) => SqlError,
): Effect.fn.Return<Sync, never, Scope.Scope> {
  let log: number | undefined
  let failure: SqlError | undefined
  let isSyncing = false
  let waiting: Array<(exit: Effect.Effect<void, SqlError>) => void> = []

  const fail = (cause: NodeJS.ErrnoException) => {
    failure ??= toError(Object.assign(cause, { errcode: isFull(cause) ? full : failedSync }))
  }
  const end = (all: typeof waiting) => {
    const exit = failure === undefined ? Effect.void : Effect.fail(failure)
    for (const resume of all) resume(exit)
  }

  /** Runs one sync at a time. If several ran at once, the system would report an error to only one of them. */
  const startSync = () => {
    const all = waiting
    waiting = []
    try {
      // The log is next to the database file, even if the configured path is a link to it.
      log ??= openSync(`${db.location()}-wal`, "r+")
    } catch (cause) {
      fail(cause as Error)
    }
    if (log === undefined || failure !== undefined) return end(all)
    isSyncing = true
    fdatasync(log, (cause) => {
      isSyncing = false
      if (cause !== null) fail(cause)
      end(all)
      if (waiting.length > 0 && !isSyncing) startSync()
    })
  }

  const sync = Effect.callback<void, SqlError>((resume) => {
    waiting.push(resume)
    if (!isSyncing) startSync()
  })

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => (isSyncing ? Effect.ignore(sync) : Effect.void)).pipe(
      Effect.andThen(Effect.sync(() => log !== undefined && closeSync(log))),
    ),
  )

  let synchronous = ""
  const prepareFor = (statement: StatementSync) => {
    // SQLite refuses to change `synchronous` in a transaction.
    if (db.isTransaction) return
    if (failure !== undefined) throw failure
    const next = statement.sourceSQL === begin ? "NORMAL" : "FULL"
    if (next === synchronous) return
    db.exec(`PRAGMA synchronous = ${next}`)
    synchronous = next
  }

  return { sync, prepareFor }
})

export const withSync =
  (
    { transactionService, withTransaction }: Pick<SqlClient.SqlClient, "transactionService" | "withTransaction">,
    sync: Sync["sync"],
  ): SqlClient.SqlClient["withTransaction"] =>
  (effect) =>
    Effect.flatMap(Effect.serviceOption(transactionService), (outer) =>
      Option.isSome(outer) ? withTransaction(effect) : Effect.tap(withTransaction(effect), sync),
    )
