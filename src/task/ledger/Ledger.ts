/**
 * The durable record of every prompt item, task and result: the only truth of a job.
 *
 * Guarantees: a change is on disk when its effect succeeds, also after a loss of power; a
 * task is `submitting` before its request leaves, so that no crash can hide a request that may
 * have arrived; an item belongs to one task at the most in each campaign, and the items of a
 * task become known together with it. What is kept of a task are the request as it was sent and
 * the answer as it came, so neither resuming nor exporting needs the input files again.
 *
 * One process at a time works a partition; `layerFile` and `layerPostgres` see to it with a lock.
 * Readers (`status`, `export`) may look at the same time, and see one state (`snapshot`).
 */
import { Context, Effect, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as FileLock from "../../node/FileLock.ts"
import * as PostgresClient from "../../node/PostgresClient.ts"
import * as SqliteClient from "../../node/SqliteClient.ts"
import * as GroupCommit from "../../sql/GroupCommit.ts"
import * as Snapshot from "../../sql/Snapshot.ts"
import * as LedgerCampaigns from "./Runs.ts"
import * as LedgerDeliveries from "./Hints.ts"
import * as LedgerInput from "./Items.ts"
import * as LedgerInputs from "./Inputs.ts"
import * as LedgerItems from "./ItemOutcomes.ts"
import * as LedgerResolve from "./Resolve.ts"
import type { ParsedRequest } from "./Model.ts"
import { checkVersion, migrate } from "./Tables.ts"
import * as LedgerStatus from "./Status.ts"
import * as LedgerStreams from "./Streams.ts"
import * as LedgerTasks from "./Tasks.ts"
import * as RequestCache from "./RequestCache.ts"

export interface LedgerOptions {
  /** A ledger may hold several partitions, each worked by one process. */
  readonly partition?: string | undefined
}

export interface LedgerPostgresOptions
  extends LedgerOptions, Pick<PostgresClient.PostgresClientConfig, "url" | "password"> {}

/**
 * The index of the items is written all over its pages: with SQLite's own 2 MB of memory each is
 * written many times. With these, 100,000 items in tasks of 50 took half of SQLite's time.
 */
const sqliteMemory = { cacheBytes: 32 * 1024 * 1024, walBytes: 64 * 1024 * 1024 }

export const defaultPartition = "default"

const make = Effect.fnUntraced(function* (options: LedgerOptions = {}) {
  const sql = yield* SqlClient.SqlClient
  const write = yield* GroupCommit.make(sql)
  const planned = yield* Latch.make()
  const submitted = yield* Latch.make()
  const hints = LedgerDeliveries.hintsOf(yield* Latch.make())
  const questions = RequestCache.make<ParsedRequest>()
  const context = { sql, write, questions, partition: options.partition ?? defaultPartition }
  return {
    ...LedgerCampaigns.make(context),
    ...LedgerInput.make(context, planned),
    ...LedgerInputs.make(context),
    ...LedgerItems.make(context),
    ...LedgerTasks.make(context, submitted, hints),
    ...LedgerDeliveries.make(context, hints),
    ...LedgerResolve.make(context, planned),
    ...LedgerStatus.make(context),
    ...LedgerStreams.make(context),
    /** What an effect reads of the ledger is of one moment, also while others write. The effect must not write. */
    snapshot: Snapshot.make(sql),
    /** Opened when tasks were planned, so that a submitter in this process need not look again and again. */
    planned,
    /** Opened when a task was submitted. */
    submitted,
    /** Opened when a webhook delivery made tasks due. */
    hinted: hints.hinted,
  }
})

export class Ledger extends Context.Service<Ledger, Effect.Success<ReturnType<typeof make>>>()(
  "prefstream/task/Ledger",
) {
  /** `snapshot` of the ledger in context. */
  static readonly snapshot = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Ledger.use((ledger) => ledger.snapshot(effect))

  /** Over any SQL client that the statements fit: SQLite or PostgreSQL. Creates its tables. */
  static readonly layer = (options?: LedgerOptions) => Layer.effect(Ledger, Effect.andThen(migrate, make(options)))

  /** In an SQLite file, which is created if need be, and locked against a second process that would work it. */
  static readonly layerFile = (filename: string, options?: LedgerOptions) =>
    Ledger.layer(options).pipe(
      Layer.provide(SqliteClient.layer({ ...sqliteMemory, filename })),
      Layer.provide(Layer.effectDiscard(FileLock.acquire(filename))),
    )

  /** In a PostgreSQL database, or a schema of one, that holds nothing else; its partition is locked against a second process. */
  static readonly layerPostgres = ({ partition = defaultPartition, ...options }: LedgerPostgresOptions) =>
    Ledger.layer({ partition }).pipe(Layer.provide(PostgresClient.layer({ ...options, lock: partition })))

  /** Over tables that are there, to look at: creates and changes nothing. */
  static readonly layerExisting = (options?: LedgerOptions) =>
    Layer.effect(Ledger, Effect.andThen(checkVersion, make(options)))

  /** An existing SQLite file, to look at: also while another process works it. */
  static readonly layerReadonly = (filename: string, options?: LedgerOptions) =>
    Ledger.layerExisting(options).pipe(Layer.provide(SqliteClient.layer({ filename, readonly: true })))
}
