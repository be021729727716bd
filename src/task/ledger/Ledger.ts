/**
 * The durable record of every prompt item, task, and result: the source of truth of a job. When an effect that changes
 * the ledger succeeds, the change is on disk, even after a loss of power. A task is `submitting` before its request is
 * sent. Requests and responses are stored unchanged, so resuming and exporting need no input file. At any time, one
 * process writes to a job, or several workers do. Each worker sends and polls only the tasks of its own parts
 * (`Parts`).
 */
import { Context, Effect, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as FileLock from "../../node/FileLock.ts"
import * as PostgresClient from "../../node/PostgresClient.ts"
import type * as PostgresUrl from "../../node/PostgresUrl.ts"
import * as SqliteClient from "../../node/SqliteClient.ts"
import * as GroupCommit from "../../sql/GroupCommit.ts"
import * as Snapshot from "../../sql/Snapshot.ts"
import * as Readiness from "../../telemetry/Readiness.ts"
import { readBudget, writeBudget } from "./writes/Budget.ts"
import * as BodyCache from "./schema/BodyCache.ts"
import { readEarlierRuns } from "./reads/EarlierRuns.ts"
import { readFingerprint } from "./Fingerprint.ts"
import { readFurtherVotes, writeFurtherVotes } from "./writes/FurtherVotes.ts"
import { readHints, writeHints } from "./writes/Hints.ts"
import { readItems, writeItems } from "./writes/Items.ts"
import * as Jobs from "./schema/Jobs.ts"
import type { LedgerContext } from "./schema/Model.ts"
import type * as LedgerIds from "./LedgerIds.ts"
import * as Parts from "./writes/Parts.ts"
import { readAttempts, writeDecisions } from "./writes/Resolve.ts"
import * as ReaderLock from "./writes/ReaderLock.ts"
import { ensureExpertKey, readRuns, writeRuns } from "./writes/Runs.ts"
import { readSpending } from "./writes/Spending.ts"
import { readStatus } from "./reads/Status.ts"
import { readStreams } from "./reads/Streams.ts"
import { checkVersion, migrate } from "./schema/Tables.ts"
import { readTasks, writeTasks } from "./writes/Tasks.ts"

export interface LedgerOptions {
  /** Name of the job in its database: 1 to 100 letters, digits, and `. _ -`. Default: `default`. */
  readonly job?: string | undefined
}

/** A process that shares a job with other processes. */
export interface LedgerSharer {
  /** Whether the process is a worker, or a command that runs alongside workers. */
  readonly by: "worker" | "command"
  readonly name: string
}

export interface LedgerSharingOptions {
  /** Describes this process if several processes write to the job. By default, no other process can write to it. */
  readonly shared?: LedgerSharer | undefined
  /** Number of parts of a new job; default `Jobs.defaultPartCount`. An existing job must have this number. */
  readonly parts?: number | undefined
}

export interface LedgerPostgresOptions extends LedgerOptions, PostgresUrl.Login {}

/** New items change database pages all over the item index. A small cache would make SQLite write each page often. */
const sqliteOptions = {
  cacheBytes: 32 * 1024 * 1024,
  walBytes: 64 * 1024 * 1024,
  pageBytes: 16 * 1024,
  syncInBackground: true,
}

export const defaultJob = "default"

const readerOf = (context: LedgerContext, jobName: string) => ({
  jobName,
  ...readRuns(context),
  ...readItems(context),
  ...readTasks(context),
  ...readHints(context),
  ...readAttempts(context),
  ...readSpending(context),
  ...readFurtherVotes(context),
  ...readStatus(context),
  ...readStreams(context),
  ...readEarlierRuns(context),
  ...readFingerprint(context),
  ...Parts.readParts(context),
  ...readBudget(context),
  /** The `seq` of tasks with unusable results. A task in this set is not logged again. */
  leftOut: new Set<number>(),
  /** Reads one snapshot of the ledger, even while others write. The effect must not write. */
  snapshot: Snapshot.make(context.sql),
})

type Reader = ReturnType<typeof readerOf>

const makeReader = Effect.fnUntraced(function* ({ job = defaultJob }: LedgerOptions = {}) {
  const sql = yield* SqlClient.SqlClient
  return readerOf({ sql, write: sql.withTransaction, bodies: BodyCache.make(0), ...(yield* Jobs.find(job)) }, job)
})

const make = Effect.fnUntraced(function* ({
  job: name = defaultJob,
  parts,
  shared,
}: LedgerOptions & LedgerSharingOptions = {}) {
  const sql = yield* SqlClient.SqlClient
  const job = yield* Jobs.findOrCreate(name, parts)
  const owned = Parts.make({ job: job.job, sql }, shared?.name)
  const { channel, isShared, tell } = owned
  const context = {
    sql,
    write: yield* GroupCommit.make(sql),
    bodies: BodyCache.make(isShared ? 0 : undefined),
    owned,
    tell,
    ...job,
  }
  yield* ensureExpertKey(context)
  const planned = yield* Latch.make()
  const submitted = yield* Latch.make()
  const hinted = yield* Latch.make()
  const reader = readerOf(context, name)
  const hints = writeHints(context, hinted)
  return {
    ...reader,
    ...writeRuns(context, reader),
    ...writeItems(context, planned, reader),
    ...writeTasks(context, submitted, hints, reader),
    ...hints,
    ...writeDecisions(context, planned, reader),
    ...writeFurtherVotes(context, planned, reader),
    ...Parts.writeParts(context, { planned, submitted, hinted }, hints),
    ...writeBudget(context),
    channel,
    isShared,
    /** Fails with `DatabaseTooNew` if a newer version of prefstream has meanwhile changed the tables. */
    checkVersion: Effect.provideService(checkVersion, SqlClient.SqlClient, sql),
    /** If another process reads the input, a command fails with `FileLockError`, but a worker waits. */
    readAlone: shared === undefined ? Effect.void : ReaderLock.acquire(sql, name, shared.by),
    /** This latch opens when tasks are planned, so that `Send` need not poll the database. */
    planned,
    submitted,
    hinted,
  }
})

const readerLayer = (options?: LedgerOptions) =>
  Layer.effect(Reading, Effect.andThen(checkVersion, makeReader(options)))

const ledgerLayer = (options?: LedgerOptions & LedgerSharingOptions) =>
  Layer.effectContext(
    Effect.andThen(migrate, make(options)).pipe(
      Effect.tap(Readiness.requireDatabase),
      Effect.map((ledger) => Context.make(Writing, ledger).pipe(Context.add(Reading, ledger))),
    ),
  )

export type LedgerReader = LedgerIds.LedgerReader
const Reading = Context.Service<LedgerReader, Reader>("prefstream/task/LedgerReader")

export const LedgerReader = Object.assign(Reading, {
  snapshot: <A, E, R>(effect: Effect.Effect<A, E, R>) => Reading.use((ledger) => ledger.snapshot(effect)),

  layer: readerLayer,

  /** Reads an existing file, even while another process runs the job. */
  layerFile: (filename: string, options?: LedgerOptions) =>
    readerLayer(options).pipe(Layer.provide(SqliteClient.layer({ filename, readonly: true }))),
})

export type Ledger = LedgerIds.Ledger
const Writing = Context.Service<Ledger, Effect.Success<ReturnType<typeof make>>>("prefstream/task/Ledger")

export const Ledger = Object.assign(Writing, {
  /** Opens a ledger in SQLite or PostgreSQL. Creates missing tables, and also provides `LedgerReader`. */
  layer: ledgerLayer,

  /** Creates the file if it is missing, and locks it against a second process. */
  layerFile: (filename: string, options?: LedgerOptions) =>
    ledgerLayer(options).pipe(
      Layer.provide(SqliteClient.layer({ ...sqliteOptions, filename })),
      Layer.provide(Layer.effectDiscard(FileLock.acquire(filename))),
    ),

  /**
   * The database's schema must not contain other tables. Without `shared`, this process is the only one that can write
   * to the job. If several processes write to a job, each must set `shared`.
   */
  layerPostgres: ({ job = defaultJob, parts, shared, ...options }: LedgerPostgresOptions & LedgerSharingOptions) =>
    ledgerLayer({ job, parts, shared }).pipe(
      Layer.provide(PostgresClient.layer({ ...options, lock: job, sharedBy: shared?.by })),
    ),
})
