/**
 * Adapter: commits of an SQLite file in WAL mode that do not block the main thread, since libuv syncs the write-ahead log.
 *
 * Guarantees: a transaction is on disk when `withTransaction` succeeds, and a statement outside of one when it has run.
 * Other statements run while a sync is under way, and can read what was committed before it is on disk. After a sync
 * failed, each later transaction or statement fails: what was not written may be lost, and the system reports it once.
 * SQLite itself syncs the log before a checkpoint, its header when it begins anew, and its folder when it is created.
 */
import { closeSync, fdatasync, openSync } from "node:fs"
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { Effect, Option } from "effect"
import type { Scope } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

/** Begins the transactions whose commit waits for `Sync.sync` instead of SQLite. It takes the write lock immediately. */
export const begin = "BEGIN IMMEDIATE"

export interface Sync {
  /** Succeeds when all that was committed before is on disk. */
  readonly sync: Effect.Effect<void, SqlError>
  /** Must be called before each statement of the connection. Throws an `SqlError` after a sync failed. */
  readonly prepareFor: (statement: StatementSync) => void
}

/** SQLite's result codes for a full disk and for a sync that failed. */
const [full, failedSync] = [13, 1034]

const isFull = ({ code }: NodeJS.ErrnoException): boolean => code === "ENOSPC" || code === "EDQUOT"

/** Whether the database is in WAL mode, which some file systems do not allow. */
export const isPossible = (db: DatabaseSync): boolean => db.prepare("PRAGMA journal_mode").get()?.journal_mode === "wal"

/**
 * The log of a connection, which must be in WAL mode and close after the scope. SQLite keeps the log's file until the last
 * connection closes, and takes no locks on it that closing another descriptor would release.
 *
 * @param toError gets the system's error, with SQLite's result code at `errcode`
 */
export const make = Effect.fnUntraced(function* (
  db: DatabaseSync,
  toError: (cause: Error) => SqlError,
): Effect.fn.Return<Sync, never, Scope.Scope> {
  /** Opened by the first sync: SQLite creates the file with its first write. */
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

  /** One at a time: of several, only one would get the error. Transactions that are committed meanwhile share the next. */
  const startSync = () => {
    const all = waiting
    waiting = []
    try {
      // Beside the database itself, where the path that was given is a link to it.
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
    // SQLite allows the change only outside of a transaction.
    if (db.isTransaction) return
    if (failure !== undefined) throw failure
    const next = statement.sourceSQL === begin ? "NORMAL" : "FULL"
    if (next === synchronous) return
    db.exec(`PRAGMA synchronous = ${next}`)
    synchronous = next
  }

  return { sync, prepareFor }
})

/** A client's `withTransaction` that succeeds when the transaction is on disk. The connection is free meanwhile. */
export const withSync =
  (
    { transactionService, withTransaction }: Pick<SqlClient.SqlClient, "transactionService" | "withTransaction">,
    sync: Sync["sync"],
  ): SqlClient.SqlClient["withTransaction"] =>
  (effect) =>
    Effect.flatMap(Effect.serviceOption(transactionService), (outer) =>
      Option.isSome(outer) ? withTransaction(effect) : Effect.tap(withTransaction(effect), sync),
    )
