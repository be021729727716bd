/**
 * The counts of a run: `read = submitted + not_submitted + imported + duplicates + rejected`. An item counts once, and
 * is rejected only if all its tasks are refused or given up. Gold items that were mixed in are not counted.
 */
import { DateTime, Duration, Effect, Option, Stream, Struct } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { DatasetInfo } from "../dataset/Dataset.ts"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import type { FunnelStep } from "../domain/QualityReport.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import { lostStates, nothingRead, type StateCounts, type TaskState, type Issue } from "../task/ledger/schema/Model.ts"
import type { Progress } from "../task/ledger/reads/Status.ts"
import { parseLimit, type RejectLimit } from "../task/plan/RejectLimit.ts"
import type { RejectCount } from "./RejectCounts.ts"
import * as RoutingReport from "./RoutingReport.ts"
import * as SpendingReport from "./SpendingReport.ts"

/** The state of a job, by its most severe problem. */
export type RunStatus =
  | "thresholds_exceeded"
  | "done"
  /** There are results, but they gave no pair, so no dataset was written. */
  | "no_pairs"
  /** Everything that the budget allows is done, but work is left. */
  | "over_budget"
  | "results_invalid"
  | "all_rejected"
  | "unfinished"
  | "waiting"
  | "stopped"
  | "in_doubt"

/** Counts of the runs before this run. */
export interface EarlierCounts {
  /** Records that earlier runs read. A run does not count if a later run has read one of its files again. */
  readonly read: number
  /** Rejected records of earlier runs, except from files that were read again later. `rejects.jsonl` lists them. */
  readonly rejected: number
}

export const earlierThan = Effect.fnUntraced(function* (run: number) {
  const ledger = yield* LedgerReader
  const runs = yield* ledger.earlierRuns(run, Option.none())
  return {
    read: runs.reduce((sum, { read }) => sum + read, 0),
    rejected: yield* Stream.runCount(ledger.earlierRejects(run, Option.none())),
  } satisfies EarlierCounts
})

/** The content of `run --json`: counts of a run, and the states of its tasks. */
export interface RunReport {
  /** The overall state. It determines the exit status of the command line. */
  readonly status: RunStatus
  /** The run's campaign. Items are counted only in this campaign. */
  readonly campaign: number | null
  /** Records of this run's input. */
  readonly read: number
  /** Items whose tasks were sent, in this run or before. */
  readonly submitted: number
  /** Items of this run's input that an earlier run had read. */
  readonly known: number
  /** Items of this input that were not sent, because their task still waits or the budget does not suffice. */
  readonly not_submitted: number
  /** Records of votes that were given elsewhere; 0 for a run that submits. */
  readonly imported: number
  /** Records that repeat an item of this input. In an import, records whose votes were already imported. */
  readonly duplicates: number
  /** Number of duplicates with the same completions as another item, in another order. */
  readonly reordered: number
  /** Records that the source or the service refused, or whose task was given up. */
  readonly rejected: number
  /** Counts of earlier runs. No other count includes them. */
  readonly earlier: EarlierCounts
  /** The rejected records by reason; null if this command did not write the rejects file. */
  readonly rejects: ReadonlyArray<RejectCount> | null
  /** The limit of rejected records, above which the run fails: a number, or a share of the records read (`1%`). */
  readonly max_rejects: RejectLimit | null
  /** Tasks and items by state, over all campaigns, with gold items. An item with n requested votes counts n times. */
  readonly tasks: StateCounts
  /** Maximum number of votes per item. */
  readonly votes: number
  /** Number of gold items that were mixed in, over all campaigns. A gold item that was mixed in twice counts twice. */
  readonly gold: number
  /** Number of items that need another vote. Limited by the votes left in the budget. Updated when items are chosen. */
  readonly wanted_votes: number
  /** The cost of the votes; null without a price. */
  readonly spending: SpendingReport.SpendingReport | null
  /** Items that went to people because judges were uncertain, over all campaigns. Null if no run used `peopleWhen`. */
  readonly routing: RoutingReport.RoutingReport | null
  /** Items whose results `ledger prune` removed. Datasets written later do not contain them. */
  readonly pruned: number
  /** Tasks that need attention, at most 10; those in the state `in_doubt` come first. */
  readonly issues: ReadonlyArray<IssueReport>
  /** The dataset that the command wrote; null if it wrote none. */
  readonly dataset: DatasetInfo | null
  /** Items that have results but give no pair, by reason. Null if this command did not read the results. */
  readonly left_out: FunnelStep["lost"] | null
  /** The first pair of the dataset. */
  readonly example: PreferencePair | null
  /** Whether this command only reads the input, while workers send and poll the tasks. */
  readonly shared_with_workers: boolean
  /** Duration of the command; null for `status`. */
  readonly seconds: number | null
}

/** A task that needs attention. */
export interface IssueReport {
  /** The task's number for `prefstream resolve`. */
  readonly task: number
  /** The state of the task in the ledger. */
  readonly state: TaskState
  /** The campaign's number. */
  readonly campaign: number
  /** Number of the attempt, from 1. It increases when the task's items are planned again. */
  readonly attempt: number
  /** The service's id of the task; null if it is unknown. */
  readonly task_id: string | null
  /** The idempotency key of the request that created the task. */
  readonly idempotency_key: string
  /** The number of items in the task. */
  readonly items: number
  /** The reason for the state, as the service or the client gave it; null if there is none. */
  readonly reason: string | null
  /** When the first request for the task began: ISO 8601, UTC. */
  readonly sent_at: string | null
}

export const isoOf = (millis: number): string => DateTime.formatIso(DateTime.makeUnsafe(millis))

export const issueReport = (issue: Issue): IssueReport => ({
  task: issue.number,
  state: issue.state,
  campaign: issue.campaign,
  attempt: issue.attempt,
  task_id: issue.taskId,
  idempotency_key: issue.idempotencyKey,
  items: issue.items,
  reason: issue.reason,
  sent_at: issue.sentAt === null ? null : isoOf(issue.sentAt),
})

const maxIssues = 10

const unsentStates: ReadonlyArray<TaskState> = ["planned", "submitting", "superseded"]

const waitingFor = (tasks: StateCounts): number => tasks.planned.tasks + tasks.submitting.tasks + tasks.submitted.tasks

export const outstanding = LedgerReader.use((ledger) => Effect.map(ledger.counts, waitingFor))

/** In other campaigns, open tasks and tasks in doubt affect the status, but failed and invalid tasks do not. */
const statusOf = (
  tasks: StateCounts,
  { failed, invalid }: StateCounts,
  run: {
    readonly readFinished: boolean
    readonly isRunning: boolean
    readonly allRejected: boolean
    readonly stopped: boolean
    readonly noPairs: boolean
    readonly overBudget: boolean
    readonly wantsVotes: boolean
  },
): RunStatus => {
  if (tasks.in_doubt.tasks > 0) return "in_doubt"
  const unusable = invalid.tasks + failed.tasks > 0
  // Unusable results determine the status even while other tasks are open, because open tasks may take weeks.
  if (run.stopped) return unusable ? "results_invalid" : "stopped"
  if (waitingFor(tasks) > 0) return unusable ? "results_invalid" : "waiting"
  if (!run.readFinished) return run.isRunning ? "waiting" : "unfinished"
  if (run.allRejected) return "all_rejected"
  if (unusable) return "results_invalid"
  if (run.wantsVotes) return "waiting"
  return run.noPairs ? "no_pairs" : run.overBudget ? "over_budget" : "done"
}

export const make = Effect.fn("RunReport.make")(function* (options: {
  /** Number of the run to report on. Default: the last run that has read anything. */
  readonly run?: number | undefined
  readonly stopped?: boolean | undefined
  readonly isRunning?: boolean
  readonly sharedWithWorkers?: boolean
  readonly progress?: Progress
  readonly elapsed?: Duration.Duration
  readonly rejects?: ReadonlyArray<RejectCount>
  readonly dataset?: Option.Option<DatasetInfo>
  readonly leftOut?: FunnelStep["lost"] | undefined
  readonly example?: Option.Option<PreferencePair>
  readonly measured?: Pick<SpendingReport.ExportCounts, "gold" | "experts"> | undefined
}): Effect.fn.Return<RunReport, SqlError, LedgerReader> {
  const ledger = yield* LedgerReader
  const progress = options.progress ?? (yield* ledger.progress)
  const tasks = progress.counts
  const last = yield* options.run === undefined ? ledger.lastRun : ledger.runOf(options.run)
  const newest = options.run === undefined ? yield* ledger.newestRun : Option.none()
  const hasFinishedReading = Option.match(newest, {
    onNone: () => options.run !== undefined,
    onSome: (run) => run.readFinished,
  })
  const { campaign, counts, maxRejects, overBudget, readFinished, run, voters, votes } = Option.getOrElse(last, () => ({
    run: 0,
    campaign: null,
    readFinished: true,
    votes: 1,
    voters: null,
    overBudget: 0,
    maxRejects: Option.none<string>(),
    counts: nothingRead,
  }))
  const inCampaign = campaign === null ? tasks : progress.countsOf(campaign)
  const input = campaign === null ? tasks : progress.inputOf(campaign)
  const itemsOf = (states: ReadonlyArray<TaskState>) => states.reduce((sum, state) => sum + input[state].items, 0)
  // If the run read all items of its campaign, and each item has one vote, the campaign's counts in `input` are also
  // the run's counts. In this case, the slow query `count` is not needed.
  const coversCampaign =
    readFinished && progress.votes === 1 && counts.new + counts.known === itemsOf(Struct.keys(input))
  const counted = <E>(states: ReadonlyArray<TaskState>, count: Effect.Effect<number, E>) =>
    coversCampaign || states.every((state) => inCampaign[state].tasks === 0) ? Effect.succeed(itemsOf(states)) : count
  const isImport = yield* ledger.isImport(run)
  const dropped = isImport ? 0 : yield* counted(lostStates, ledger.itemsLost(run))
  const notSubmitted = isImport ? 0 : yield* counted(unsentStates, ledger.itemsIn(run, unsentStates))
  const itemsRead = counts.new + counts.known
  const rejected = counts.rejected + dropped
  const dataset = options.dataset ?? Option.none()
  const wanted = Math.min(yield* ledger.wantedVotes, yield* ledger.votesLeft)
  const spending = yield* SpendingReport.read(
    {
      ...options.measured,
      pairs: Option.getOrUndefined(dataset)?.rows,
      ofCampaign: campaign ?? undefined,
    },
    { items: overBudget, votes, voters },
  )
  return {
    status: statusOf(tasks, inCampaign, {
      readFinished: readFinished && hasFinishedReading,
      isRunning: options.isRunning === true,
      allRejected: counts.read > 0 && rejected === counts.read,
      stopped: options.stopped === true,
      noPairs: tasks.completed.items > 0 && options.leftOut !== undefined && Option.isNone(dataset),
      wantsVotes: wanted > 0 || (yield* ledger.hasUnseenVotes),
      overBudget: Option.exists(spending, SpendingReport.isOver),
    }),
    campaign,
    read: counts.read,
    submitted: isImport ? 0 : itemsRead - notSubmitted - dropped,
    known: isImport ? 0 : counts.known,
    not_submitted: notSubmitted + overBudget,
    imported: isImport ? itemsRead : 0,
    duplicates: counts.duplicates,
    reordered: counts.reordered,
    rejected,
    earlier: yield* earlierThan(run),
    rejects: options.rejects ?? null,
    max_rejects: Option.getOrNull(Option.flatMap(maxRejects, parseLimit)),
    tasks,
    votes: progress.votes,
    gold: progress.gold,
    wanted_votes: wanted,
    spending: Option.getOrNull(spending),
    routing: yield* RoutingReport.read,
    pruned: yield* ledger.prunedItems,
    issues: (yield* ledger.issues(maxIssues)).map(issueReport),
    dataset: Option.getOrNull(dataset),
    left_out: options.leftOut ?? null,
    example: Option.getOrNull(options.example ?? Option.none()),
    shared_with_workers: options.sharedWithWorkers === true,
    seconds: options.elapsed === undefined ? null : Duration.toSeconds(options.elapsed),
  }
}, LedgerReader.snapshot)
