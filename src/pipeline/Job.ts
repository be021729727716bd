/**
 * Reads and maintains a job between its runs, without its source or service. A decision applies to all given tasks or
 * to none. `layerReadonly` never changes the ledger. A program can use this layer while another process runs the job,
 * for example to read the results with `Tasks.judgments`.
 */
import { Effect, Layer } from "effect"
import * as IdLimit from "../domain/IdLimit.ts"
import * as Kinds from "../io/SettingKinds.ts"
import { describeValue } from "../io/Values.ts"
import { Ledger } from "../task/ledger/Ledger.ts"
import { TaskIdInvalid } from "../task/ledger/schema/NotResolved.ts"
import * as LedgerMaintenance from "../task/ledger/care/LedgerMaintenance.ts"
import * as LedgerLocation from "../task/ledger/LedgerLocation.ts"
import * as JobStatus from "./JobStatus.ts"
import * as LostLedger from "./LostLedger.ts"
import { issueReport } from "./RunReport.ts"
import { SettingInvalid } from "../io/SettingInvalid.ts"
import type { Settings } from "./Settings.ts"

export type { VoteRow } from "../domain/VoteRow.ts"
export { FileLocked, FileLockError, LockUnavailable } from "../node/FileLock.ts"
export type { CheckReport, IntegrityIssue } from "../task/ledger/care/LedgerCheck.ts"
export {
  BackupDamaged,
  BackupExists,
  BackupFailed,
  type BackupReport,
  NotForPostgres,
  type PruneOptions,
  type PruneReport,
} from "../task/ledger/care/LedgerMaintenance.ts"
export { type LedgerLocation, LedgerLocationError, LedgerMissing } from "../task/ledger/LedgerLocation.ts"
export { PartsDiffer } from "../task/ledger/schema/Jobs.ts"
export { NoSuchTask, NotResolvable, TaskIdInvalid, TaskIdTaken } from "../task/ledger/schema/NotResolved.ts"
export type { CampaignStatus, Estimate, JobStatus } from "./JobStatus.ts"
export { issues, type ListedTask } from "./Issues.ts"
export { LedgerLost } from "./LostLedger.ts"
export { rejects } from "./RejectsFile.ts"
export type { IssueReport } from "./RunReport.ts"
export { rows as votes, type TableSettings, text as voteTable } from "./VoteTable.ts"

/** The settings that locate a job: its folder and its ledger. A pipeline's settings are also accepted. */
export type JobSettings = Pick<Settings, "directory" | "ledger" | "job">

const located = <A, E, R>(
  settings: JobSettings,
  open: (location: LedgerLocation.LedgerLocation) => Layer.Layer<A, E, R>,
) => Layer.unwrap(Effect.map(LostLedger.locate(settings), open))

/** Opens only an existing ledger, so that a mistyped folder does not create one. */
const existing =
  <A, E, R>(open: (location: LedgerLocation.LedgerLocation) => Layer.Layer<A, E, R>) =>
  (location: LedgerLocation.LedgerLocation) =>
    Layer.unwrap(Effect.as(Effect.scoped(Layer.build(LedgerLocation.layerReadonly(location))), open(location)))

/**
 * Opens the job's ledger for exclusive use. Fails with `FileLockError` while another process runs the job. Fails with
 * `LedgerMissing` if there is no ledger.
 */
export const layer = (settings: JobSettings) => located(settings, existing(LedgerLocation.layer))

/** Like `layer`, but also opens a ledger in PostgreSQL that workers use at the same time. */
export const layerAlongsideWorkers = (settings: JobSettings) =>
  located(settings, existing(LedgerLocation.layerAlongsideWorkers))

/** Opens the job's ledger for reading. Fails with `LedgerMissing` if there is none. */
export const layerReadonly = (settings: JobSettings) => located(settings, LedgerLocation.layerReadonly)

/** The status of the job, as `prefstream status` prints it. It names the process that runs the job, if any. */
export const status = Effect.fn("Job.status")(function* (settings: JobSettings) {
  const location = yield* LostLedger.locate(settings)
  return yield* JobStatus.make(yield* LedgerLocation.holder(location)).pipe(
    Effect.provide(LedgerLocation.layerReadonly(location)),
  )
})

type Decisions = Pick<(typeof Ledger)["Service"], "adopt" | "sendAgain" | "giveUp">

const decide = Effect.fnUntraced(function* <E>(
  tasks: ReadonlyArray<number>,
  decision: (ledger: Decisions) => Effect.Effect<unknown, E>,
) {
  if (!Array.isArray(tasks) || !tasks.every(Number.isSafeInteger)) {
    const tasksText = describeValue(tasks)
    return yield* new SettingInvalid({ setting: "tasks", expected: "a list of task numbers", found: tasksText })
  }
  const ledger = yield* Ledger
  if (!ledger.isShared) yield* ledger.holdInterrupted
  yield* decision(ledger)
  return (yield* ledger.tasksOf(tasks)).map(issueReport)
})

/** Links a task to the service's task with the id `taskId`. From then on, the service's task is polled. */
export const adopt = (task: number, taskId: string) =>
  decide(
    [task],
    Effect.fnUntraced(function* (ledger) {
      const problem = IdLimit.problemOf(taskId)
      if (problem !== undefined) return yield* new TaskIdInvalid({ taskId: String(taskId), problem })
      return yield* ledger.adopt([task], [taskId])
    }),
  )

/** Plans tasks again, to be sent by the next run. If the service already has a task, the task may be paid for twice. */
export const sendAgain = (tasks: ReadonlyArray<number>) => decide(tasks, (ledger) => ledger.sendAgain(tasks))

/** Gives tasks up: they are neither sent nor polled again. An item without votes in other tasks is rejected. */
export const giveUp = (tasks: ReadonlyArray<number>) => decide(tasks, (ledger) => ledger.giveUp(tasks))

const at = <A, E, R>(settings: JobSettings, use: (location: LedgerLocation.LedgerLocation) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(LostLedger.locate(settings), use)

/** Checks the ledger for integrity errors, and also lists damaged pages. `quick` skips requests and results. */
export const check = (settings: JobSettings, options?: { readonly quick?: boolean | undefined }) =>
  at(settings, (location) => LedgerMaintenance.check(location, options))

/** Copies a ledger in an SQLite file to the new file `to`, and checks the copy. */
export const backup = (settings: JobSettings, to: string) =>
  at(settings, (location) =>
    Effect.andThen(Kinds.check({ to }, { to: Kinds.text }, ["to"]), LedgerMaintenance.backup(location, to)),
  )

/** Compresses the ledger's SQLite file. Returns its size in bytes `before` and `after`. */
export const compact = (settings: JobSettings) => at(settings, LedgerMaintenance.compact)

/** Removes old rejects and deliveries, and with `results` also requests and results. */
export const prune = (settings: JobSettings, options: LedgerMaintenance.PruneOptions) =>
  at(settings, (location) =>
    Effect.andThen(Kinds.check(options, pruneKinds), LedgerMaintenance.prune(location, options)),
  )

const pruneKinds: Kinds.Kinds = { results: Kinds.flag, dryRun: Kinds.flag }
