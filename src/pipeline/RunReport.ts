/**
 * What a run did, in numbers: for the summary on the terminal and for machines.
 *
 * Guarantees: `read = submitted + not_submitted + duplicates + rejected`, where
 * `submitted` counts the items of this run's input whose tasks were sent, `known` of
 * them and of those not sent yet by an earlier run, and `rejected` the records that the
 * source or the service refused. Once a run is through, `not_submitted` is 0.
 */
import { Duration, Effect, Option } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { DatasetInfo } from "../dataset/Dataset.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import { Ledger } from "../task/Ledger.ts"
import type { StateCounts, Trouble } from "../task/LedgerModel.ts"
import type { RejectCount } from "./RejectsFile.ts"

/** How a job stands, by the severest of what is left. */
export type RunStatus = "done" | "results_invalid" | "all_rejected" | "unfinished" | "waiting" | "in_doubt"

export interface RunReport {
  readonly status: RunStatus
  readonly read: number
  readonly submitted: number
  /** Items of this run's input that an earlier run had read. */
  readonly known: number
  readonly not_submitted: number
  readonly duplicates: number
  readonly rejected: number
  /** The rejected records by reason, where this command wrote the rejects file. */
  readonly rejects: ReadonlyArray<RejectCount> | null
  /** Tasks and their items by state. */
  readonly tasks: StateCounts
  /** The first of the tasks that need attention. */
  readonly troubles: ReadonlyArray<Trouble>
  readonly dataset: DatasetInfo | null
  /** The first pair of the dataset. */
  readonly example: PreferencePair | null
  /** How long the command took; null where it only looked. */
  readonly seconds: number | null
}

const troublesShown = 10

const waitingFor = (tasks: StateCounts): number => tasks.planned.tasks + tasks.submitting.tasks + tasks.submitted.tasks

/** How many tasks are on their way: planned, being submitted, or waiting for results. */
export const outstanding = Ledger.use((ledger) => Effect.map(ledger.counts, waitingFor))

const statusOf = (tasks: StateCounts, readFinished: boolean, allRejected: boolean): RunStatus => {
  if (tasks.in_doubt.tasks > 0) return "in_doubt"
  if (waitingFor(tasks) > 0) return "waiting"
  if (!readFinished) return "unfinished"
  if (allRejected) return "all_rejected"
  return tasks.invalid.tasks + tasks.failed.tasks > 0 ? "results_invalid" : "done"
}

/** The state of the ledger, with what the last run has read. */
export const make = Effect.fn("RunReport.make")(function* (options: {
  /** The run that is reported; the last one that has read anything, where none is named. */
  readonly run?: number | undefined
  readonly elapsed?: Duration.Duration
  readonly rejects?: ReadonlyArray<RejectCount>
  readonly dataset?: Option.Option<DatasetInfo>
  readonly example?: Option.Option<PreferencePair>
}): Effect.fn.Return<RunReport, SqlError, Ledger> {
  const ledger = yield* Ledger
  const tasks = yield* ledger.counts
  const last = yield* options.run === undefined ? ledger.lastRun : ledger.runOf(options.run)
  const { counts, readFinished, run } = Option.getOrElse(last, () => ({
    run: 0,
    readFinished: true,
    counts: { read: 0, new: 0, known: 0, duplicates: 0, rejected: 0 },
  }))
  const refused = tasks.refused.tasks === 0 ? 0 : yield* ledger.itemsIn(run, ["refused"])
  const inTasks = readFinished ? counts.new + counts.known : yield* ledger.itemsSeenBy(run)
  const unsent =
    tasks.planned.tasks + tasks.submitting.tasks === 0 ? 0 : yield* ledger.itemsIn(run, ["planned", "submitting"])
  const notSubmitted = unsent + counts.new + counts.known - inTasks
  const rejected = counts.rejected + refused
  return {
    status: statusOf(tasks, readFinished, counts.read > 0 && rejected === counts.read),
    read: counts.read,
    submitted: counts.new + counts.known - notSubmitted - refused,
    known: counts.known,
    not_submitted: notSubmitted,
    duplicates: counts.duplicates,
    rejected,
    rejects: options.rejects ?? null,
    tasks,
    troubles: yield* ledger.troubles(troublesShown),
    dataset: Option.getOrNull(options.dataset ?? Option.none()),
    example: Option.getOrNull(options.example ?? Option.none()),
    seconds: options.elapsed === undefined ? null : Duration.toSeconds(options.elapsed),
  }
})
