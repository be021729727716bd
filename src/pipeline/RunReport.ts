/**
 * What a run did, in numbers: for the summary on the terminal and for machines.
 *
 * Guarantees: `read = submitted + duplicates + rejected`, where `submitted` counts
 * the items of this run's input that stand in a task, `already_submitted` of them by
 * an earlier run, and `rejected` the records that the source or the service refused.
 */
import { Duration, Effect, Option } from "effect"
import type { DatasetInfo } from "../dataset/Dataset.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import { Ledger } from "../task/Ledger.ts"
import type { StateCounts, Trouble } from "../task/LedgerModel.ts"

/** How a run ended, by the severest of what is left. */
export type RunStatus = "done" | "results_invalid" | "in_doubt" | "waiting"

export interface RunReport {
  readonly status: RunStatus
  readonly read: number
  readonly submitted: number
  readonly already_submitted: number
  readonly duplicates: number
  readonly rejected: number
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

const statusOf = (tasks: StateCounts): RunStatus => {
  if (waitingFor(tasks) > 0) return "waiting"
  if (tasks.in_doubt.tasks > 0) return "in_doubt"
  return tasks.invalid.tasks + tasks.failed.tasks > 0 ? "results_invalid" : "done"
}

/** The state of the ledger, with what the last run has read. */
export const make = Effect.fn("RunReport.make")(function* (options: {
  readonly elapsed: Option.Option<Duration.Duration>
  readonly dataset: Option.Option<DatasetInfo>
  readonly example: Option.Option<PreferencePair>
}): Effect.fn.Return<RunReport, Effect.Error<Ledger["Service"]["counts"]>, Ledger> {
  const ledger = yield* Ledger
  const tasks = yield* ledger.counts
  const run = yield* ledger.lastRun
  const refused = Option.isSome(run) && tasks.refused.tasks > 0 ? yield* ledger.refusedItems(run.value.run) : 0
  const counts = Option.match(run, {
    onNone: () => ({ read: 0, new: 0, known: 0, duplicates: 0, rejected: 0 }),
    onSome: ({ counts }) => counts,
  })
  return {
    status: statusOf(tasks),
    read: counts.read,
    submitted: counts.new + counts.known - refused,
    already_submitted: counts.known,
    duplicates: counts.duplicates,
    rejected: counts.rejected + refused,
    tasks,
    troubles: yield* ledger.troubles(troublesShown),
    dataset: Option.getOrNull(options.dataset),
    example: Option.getOrNull(options.example),
    seconds: Option.getOrNull(Option.map(options.elapsed, Duration.toSeconds)),
  }
})
