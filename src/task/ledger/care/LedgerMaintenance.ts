/**
 * Checks, backs up, compacts, and prunes a ledger. `check` and `backup` work while a process writes; `compact` and
 * `prune` need exclusive access. `backup` and `compact` support only SQLite, because PostgreSQL has its own tools. A
 * backup either is complete, synced, and checked, or does not exist. Pruning keeps the ids of items, so that no item is
 * submitted again. It removes the results of all votes on an item together.
 */
import { Array as Arr, Clock, Effect, FileSystem, Path, Record, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { causeMessage } from "../../../io/Values.ts"
import * as PostgresUrl from "../../../node/PostgresUrl.ts"
import * as PrivateFile from "../../../node/PrivateFile.ts"
import * as Sync from "../../../node/Sync.ts"
import * as Jobs from "../schema/Jobs.ts"
import * as LedgerCheck from "./LedgerCheck.ts"
import { rememberedMillis } from "../writes/Hints.ts"
import * as LedgerLocation from "../LedgerLocation.ts"
import { lostStates } from "../schema/Model.ts"
import * as Payload from "../schema/Payload.ts"

/** The operation only supports ledgers in an SQLite file. PostgreSQL has its own tools. */
export class NotForPostgres extends Schema.TaggedError<NotForPostgres>()("NotForPostgres", {
  /** The requested operation. */
  verb: Schema.Literals(["backup", "compact"]),
  /** The ledger's URL without its password. */
  location: Schema.String,
}) {
  override get message() {
    return this.verb === "backup"
      ? `only SQLite ledgers are supported. Back up PostgreSQL with pg_dump --format=custom --file=ledger.dump '${this.location}'`
      : `PostgreSQL reuses free space automatically; to return it to the operating system, have the owner of the ledger's tables run VACUUM FULL in ${this.location}`
  }
}

/** The backup's path already exists. */
export class BackupExists extends Schema.TaggedError<BackupExists>()("BackupExists", {
  /** The existing file, which stays unchanged. */
  path: Schema.String,
}) {
  override get message() {
    return `${this.path} already exists: name another file for the backup`
  }
}

/** The backup could not be written, and its partial copy was removed. */
export class BackupFailed extends Schema.TaggedError<BackupFailed>()("BackupFailed", {
  /** The file that the backup would have written. */
  path: Schema.String,
  /** The error of SQLite or of the file system. */
  cause: Schema.Defect(),
}) {
  override get message() {
    return `${this.path} could not be written: ${causeMessage(this.cause)}`
  }
}

/** The copy has integrity errors, and was removed. */
export class BackupDamaged extends Schema.TaggedError<BackupDamaged>()("BackupDamaged", {
  /** The file that the backup would have written. */
  path: Schema.String,
  /** The messages of the findings in `CheckReport`. */
  findings: Schema.Array(Schema.String),
}) {
  override get message() {
    return `the backup has integrity errors, and was removed (${this.findings[0] ?? ""}): run \`prefstream ledger check\` to find the errors in the ledger`
  }
}

const requireFile = (location: LedgerLocation.LedgerLocation, verb: NotForPostgres["verb"]) =>
  location._tag === "File"
    ? Effect.succeed(location)
    : Effect.fail(new NotForPostgres({ verb, location: PostgresUrl.redact(location.url) }))

/** Reports the integrity errors of a ledger, including damaged pages. `quick` skips requests and results. */
export const check = Effect.fn("LedgerMaintenance.check")(
  (location: LedgerLocation.LedgerLocation, options: { readonly quick?: boolean | undefined } = {}) =>
    LedgerCheck.check({ ...options, job: location.job }).pipe(
      Effect.provide(LedgerLocation.existingClient(location)),
      Effect.catchIf(LedgerCheck.isCorrupt, (error) =>
        LedgerCheck.damageReport(error, LedgerLocation.readonlyClient(location)),
      ),
    ),
)

/** A backup's size, with its numbers of items, results, and tasks. */
export interface BackupReport extends Pick<LedgerCheck.CheckReport, "items" | "results" | "tasks"> {
  /** The written file. */
  readonly path: string
  /** Size of the file in bytes, with its write-ahead log. */
  readonly bytes: number
}

/** Copies and checks a SQLite ledger. Fails with `NotForPostgres`, `BackupExists`, `BackupFailed`, `BackupDamaged`. */
export const backup = Effect.fn("LedgerMaintenance.backup")(function* (
  location: LedgerLocation.LedgerLocation,
  to: string,
) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const file = yield* requireFile(location, "backup")
  if (yield* fs.exists(to)) return yield* new BackupExists({ path: to })
  const partial = `${to}.partial`
  const remove = Effect.ignore(
    Effect.forEach(
      ["", "-journal", "-wal", "-shm"].map((suffix) => `${partial}${suffix}`),
      (path) => fs.remove(path, { force: true }),
    ),
  )
  return yield* Effect.gen(function* () {
    yield* remove
    yield* Effect.sync(() => PrivateFile.create(partial))
    yield* copy(partial).pipe(
      Effect.provide(LedgerLocation.existingClient(file)),
      Effect.catchTag("BackupFailed", ({ cause }) => Effect.fail(new BackupFailed({ path: to, cause }))),
    )
    const report = yield* check({ ...file, path: partial })
    if (report.findings.length > 0) {
      return yield* new BackupDamaged({ path: to, findings: report.findings.map(({ message }) => message) })
    }
    yield* Sync.file(partial)
    yield* fs.rename(partial, to)
    yield* Sync.folder(paths.dirname(to))
    const { items, results, tasks } = report
    const backedUp: BackupReport = { path: to, bytes: yield* sizeOf(to), items, results, tasks }
    return backedUp
  }).pipe(Effect.ensuring(remove))
})

const copy = Effect.fnUntraced(function* (to: string) {
  const sql = yield* SqlClient.SqlClient
  // The SQL error of a damaged ledger is kept, because its message suggests `prefstream ledger check`.
  yield* Effect.mapError(sql`VACUUM INTO ${to}`, (error) => {
    const { cause } = error.reason
    return LedgerCheck.isCorrupt(error) ? error : new BackupFailed({ path: to, cause })
  })
})

const sizeOf = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const sizes = yield* Effect.forEach([path, `${path}-wal`], (path) =>
    fs.stat(path).pipe(
      Effect.map(({ size }) => Number(size)),
      Effect.orElseSucceed(() => 0),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
})

const packSize = 16

const packPayloads = Effect.fnUntraced(function* (
  table: "task_request" | "task_result",
  columns: ReadonlyArray<string>,
) {
  const sql = yield* SqlClient.SqlClient
  const isOpen = sql.literal(`substr(body, 1, 4) <> x'${Payload.packedPrefix}'`)
  let after = -1
  while (true) {
    const rows = yield* sql<{ readonly rowid: number } & Record<string, Uint8Array>>`
      SELECT rowid, ${sql.csv(columns.map((column) => sql`${sql(column)}`))} FROM ${sql(table)}
      WHERE rowid > ${after} AND ${isOpen} ORDER BY rowid LIMIT ${packSize}`
    const last = rows.at(-1)
    if (last === undefined) return
    yield* sql.withTransaction(
      Effect.forEach(rows, ({ rowid, ...payloads }) => {
        const packed = Record.map(payloads, Payload.pack)
        return sql`UPDATE ${sql(table)} SET ${sql.update(packed)} WHERE rowid = ${rowid}`
      }),
    )
    after = last.rowid
  }
})

/** Compresses requests and results, and shrinks the SQLite file. Needs free disk space of up to twice its size. */
export const compact = Effect.fn("LedgerMaintenance.compact")(function* (location: LedgerLocation.LedgerLocation) {
  const file = yield* requireFile(location, "compact")
  const before = yield* sizeOf(file.path)
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* packPayloads("task_request", ["body", "items"])
    yield* packPayloads("task_result", ["body"])
    yield* sql`VACUUM`
    yield* sql`PRAGMA wal_checkpoint(TRUNCATE)`
  }).pipe(Effect.provide(LedgerLocation.workingClient(file)))
  return { before, after: yield* sizeOf(file.path) }
})

/** Options of `prune`. */
export interface PruneOptions {
  /** Epoch milliseconds. Rejects of runs that started earlier are removed, except for the last run. Default: now. */
  readonly before?: number | undefined
  /**
   * Whether to also remove requests and results of tasks that were completed before the time `before`. Later exports
   * omit their items. Without `before`, no requests or results are removed. Default false.
   */
  readonly results?: boolean | undefined
  /** Whether to count the rows without removing them. Default false. */
  readonly dryRun?: boolean | undefined
}

/** Rows that were removed, or that a dry run would remove. */
export interface PruneReport {
  /** Rejected records of earlier runs. */
  readonly rejects: number
  /** Old webhook deliveries, which are no longer needed to recognize repeated ones. */
  readonly deliveries: number
  /** Tasks whose request and result were removed, and their items. 0 unless `results` is set. */
  readonly results: { readonly tasks: number; readonly items: number }
}

const chunkSize = 500

/** Tasks per page. Pages are large, since a database may scan all tasks for each page. */
const pageSize = 50_000

/** Removes old rejects and deliveries. With the option `results`, also removes old requests and results. */
export const prune = Effect.fn("LedgerMaintenance.prune")(function* (
  location: LedgerLocation.LedgerLocation,
  options: PruneOptions,
) {
  const client =
    options.dryRun === true ? LedgerLocation.existingClient(location) : LedgerLocation.workingClient(location)
  return yield* pruneRows(location.job, options).pipe(Effect.provide(client))
})

const pruneRows = Effect.fnUntraced(function* (name: string, { before, dryRun, results }: PruneOptions) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const { job } = yield* Jobs.find(name)
  const here = sql`job = ${job}`
  // Keeps the rejects of the last run that read records, so that prefstream can write `rejects.jsonl` again.
  const earlier = sql`${here} AND run < (SELECT COALESCE(MAX(run), 0) FROM run WHERE ${here} AND read_count > 0)
    AND run IN (SELECT run FROM run WHERE ${here} AND started_at < ${before ?? now})`
  const forgotten = sql`${here} AND received_at < ${now - rememberedMillis}`
  const oldHints = sql`${here} AND at < ${now - rememberedMillis}`
  // All votes on an item are pruned together. With only some of an item's votes, another completion could win.
  const old = sql`${here} AND state = 'completed' AND pruned_at IS NULL AND completed_at < ${before ?? 0}
    AND NOT EXISTS (SELECT 1 FROM task v WHERE v.job = task.job AND v.batch = task.batch
      AND v.seq >= task.batch AND v.seq < task.batch + task.votes * task.batch_items AND v.vote <> task.vote
      AND NOT ${sql.in("v.state", lostStates)} AND NOT (v.state = 'completed' AND v.completed_at < ${before ?? 0}))`

  const countOf = (table: string, condition: typeof here) =>
    Effect.map(sql<{ n: number }>`SELECT COUNT(*) AS n FROM ${sql(table)} WHERE ${condition}`, (rows) => rows[0]!.n)
  const [task] =
    results === true
      ? yield* sql<{ tasks: number; items: number }>`
    SELECT COUNT(*) AS tasks, COALESCE(SUM(new_items), 0) AS items FROM task WHERE ${old}`
      : []
  const report: PruneReport = {
    rejects: yield* countOf("reject", earlier),
    deliveries: yield* countOf("delivery", forgotten),
    results: { tasks: task?.tasks ?? 0, items: task?.items ?? 0 },
  }
  if (dryRun === true) return report

  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`DELETE FROM reject WHERE ${earlier}`
      yield* sql`DELETE FROM delivery WHERE ${forgotten}`
      yield* sql`DELETE FROM hint WHERE ${oldHints}`
    }),
  )
  if (results !== true) return report
  let after = -1
  while (true) {
    const rows = yield* sql<{ seq: number }>`
      SELECT seq FROM task WHERE ${old} AND seq > ${after} ORDER BY seq LIMIT ${pageSize}`
    const seqs = rows.map(({ seq }) => seq)
    const last = seqs.at(-1)
    if (last === undefined) return report
    after = last
    for (const some of Arr.chunksOf(seqs, chunkSize)) {
      const these = sql`${here} AND ${sql.in("seq", some)}`
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`DELETE FROM task_request WHERE ${these}`
          yield* sql`DELETE FROM task_result WHERE ${these}`
          yield* sql`UPDATE task SET pruned_at = ${now} WHERE ${these}`
        }),
      )
    }
  }
})
