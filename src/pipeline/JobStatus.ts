/** The status of a job: its report, outstanding tasks, rate of results, and expected end. Times are ISO 8601, UTC. */
import { Clock, Duration, Effect, Option } from "effect"
import type { LockHolder } from "../node/FileLock.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import type { Campaign, StateCounts } from "../task/ledger/schema/Model.ts"
import type { Progress } from "../task/ledger/reads/Status.ts"
import * as RunReport from "./RunReport.ts"

/** A campaign, with the number of its tasks in each state. */
export interface CampaignStatus {
  /** The campaign's number, from 1. */
  readonly campaign: number
  /** The contract's `task_type`, such as `rlhf_ranking`. */
  readonly task_type: string
  /** The campaign's guidelines; null if its tasks have none. */
  readonly guidelines: string | null
  /** The start of the campaign: ISO 8601, UTC. */
  readonly started_at: string
  /** Tasks and their items, by state. */
  readonly tasks: StateCounts
}

/** The end of the job if results keep arriving at the rate of a past period. */
export interface Estimate {
  /** The estimated end: ISO 8601, UTC. */
  readonly ends_at: string
  /** Seconds from the time of the status to the estimated end. */
  readonly seconds_left: number
  /** Items that were planned or submitted and are not judged yet. */
  readonly items_left: number
  /** The length of the period that the estimate is based on. */
  readonly window_seconds: number
  /** Items judged in the period. */
  readonly window_items: number
}

/** The content of `status --json`. */
export interface JobStatus extends RunReport.RunReport {
  /** When the ledger was read: ISO 8601, UTC. */
  readonly at: string
  /** The last run. `ended_at` is null while the run reads or submits, or if it was killed. `failure` is its error. */
  readonly last_run: {
    readonly run: number
    readonly started_at: string
    readonly ended_at: string | null
    readonly read_finished: boolean
    readonly failure: string | null
  } | null
  /** The campaigns, oldest first. */
  readonly campaigns: ReadonlyArray<CampaignStatus>
  /** The outstanding task that has waited longest for its result. */
  readonly oldest_outstanding: {
    readonly task: number
    readonly task_id: string
    readonly submitted_at: string
    readonly age_seconds: number
  } | null
  /** Items, and their tasks, for which the last poll found no expert: all experts with permission had judged them. */
  readonly waiting_for_experts: { readonly tasks: number; readonly items: number }
  /** Items that no judge (a language model) of the service could vote on at the last poll, and the items' tasks. */
  readonly waiting_for_judges: { readonly tasks: number; readonly items: number }
  /** When an outstanding task will next be polled; the present time if a poll is due. */
  readonly next_poll_at: string | null
  /** When results arrived, and how many in the last hour and the last day. Times are ISO 8601, UTC. */
  readonly results: {
    /** When the first task was submitted. */
    readonly since: string | null
    readonly last_at: string | null
    readonly last_hour: { readonly tasks: number; readonly items: number }
    readonly last_day: { readonly tasks: number; readonly items: number }
    /** Judged items per day, since the first task was submitted. */
    readonly items_per_day: number | null
  }
  /** The expected end. Null without recent results, or if no items are left. */
  readonly estimate: Estimate | null
  /** Webhook deliveries that the job received. */
  readonly webhook: { readonly deliveries: number; readonly last_at: string | null }
  /** The process that uses the ledger now; `unknown` if it does not identify itself. */
  readonly running_process: LockHolder | "unknown" | null
  /** The owners of parts of the job's tasks. A lost worker is listed until others have taken its parts. */
  readonly workers: ReadonlyArray<{
    readonly name: string
    readonly parts: number
    readonly reads_input: boolean
    readonly last_seen_at: string
    /** When the worker last got an expected response from the service, or had nothing to send or poll. */
    readonly last_progress_at: string
    /** Tasks that are due to be sent or polled, over all parts of the worker. */
    readonly tasks_due: number
  }>
  /** The limits that all workers share for their requests. */
  readonly request_budget: {
    /** Seconds that a further request must wait, because the workers' planned requests use the whole rate limit. */
    readonly reserved_seconds: number
    /** Share of the request rate that is allowed now, 0 to 1. An overloaded service lowers it for half a minute. */
    readonly rate_share: number
    /** The time until which the service asked clients to wait. */
    readonly paused_until: string | null
  } | null
}

const day = Duration.toMillis("1 day")

const stoppedAfterGaps = 10

/** Minimum time without results before the estimate is dropped. Results arrive in bursts, one per round of polls. */
const stoppedAfter = Duration.toMillis("15 minutes")

const estimateOf = ({ counts, pace }: Progress, now: number): Option.Option<Estimate> => {
  const left = counts.planned.items + counts.submitting.items + counts.submitted.items
  if (left === 0 || Option.isNone(pace) || pace.value.items === 0) return Option.none()
  const { items, lastAt, since, tasks } = pace.value
  if (now - lastAt > Math.max(stoppedAfter, (stoppedAfterGaps * (lastAt - since)) / tasks)) return Option.none()
  const window = now - since
  if (window <= 0) return Option.none()
  const millis = left * (window / items)
  return Option.some({
    ends_at: RunReport.isoOf(now + millis),
    seconds_left: Math.round(millis / 1000),
    items_left: left,
    window_seconds: Math.round(window / 1000),
    window_items: items,
  })
}

const itemsPerDay = ({ counts, firstSubmittedAt }: Progress, now: number): number | null =>
  Option.match(firstSubmittedAt, {
    onNone: () => null,
    onSome: (first) => (now > first ? Math.round((counts.completed.items * day) / (now - first)) : null),
  })

const campaignStatus = (campaign: Campaign, tasks: StateCounts): CampaignStatus => ({
  campaign: campaign.campaign,
  task_type: campaign.taskType,
  guidelines: campaign.guidelines ?? null,
  started_at: RunReport.isoOf(campaign.startedAt),
  tasks,
})

const iso = (millis: Option.Option<number>): string | null => Option.getOrNull(Option.map(millis, RunReport.isoOf))

export const make = Effect.fn("JobStatus.make")(function* (holder: Option.Option<LockHolder | "unknown">) {
  const ledger = yield* LedgerReader
  const now = yield* Clock.currentTimeMillis
  const progress = yield* ledger.progress
  const isAlone = Option.exists(holder, (holder) => holder !== "unknown" && holder.worker !== true)
  const workers = isAlone ? [] : yield* ledger.workers
  const budget = yield* ledger.budget
  const isRunning = Option.isSome(holder)
  const report = yield* RunReport.make({ progress, isRunning, sharedWithWorkers: isRunning && workers.length > 0 })
  const campaigns = yield* ledger.campaigns
  const deliveries = yield* ledger.deliveries
  const run = yield* ledger.newestRun
  const status: JobStatus = {
    at: RunReport.isoOf(now),
    ...report,
    last_run: Option.getOrNull(
      Option.map(run, ({ endedAt, failure, readFinished, run, startedAt }) => ({
        run,
        started_at: RunReport.isoOf(startedAt),
        ended_at: iso(endedAt),
        read_finished: readFinished,
        failure: Option.getOrNull(failure),
      })),
    ),
    campaigns: campaigns.map((campaign) => campaignStatus(campaign, progress.countsOf(campaign.campaign))),
    oldest_outstanding: Option.getOrNull(
      Option.map(progress.oldestOutstanding, ({ number, submittedAt, taskId }) => ({
        task: number,
        task_id: taskId,
        submitted_at: RunReport.isoOf(submittedAt),
        age_seconds: Math.max(0, Math.round((now - submittedAt) / 1000)),
      })),
    ),
    waiting_for_experts: progress.waiting,
    waiting_for_judges: progress.waitingForJudges,
    next_poll_at: iso(Option.map(progress.nextPollAt, (at) => Math.max(at, now))),
    results: {
      since: iso(progress.firstSubmittedAt),
      last_at: iso(progress.lastResultAt),
      last_hour: progress.lastHour,
      last_day: progress.lastDay,
      items_per_day: itemsPerDay(progress, now),
    },
    estimate: Option.getOrNull(estimateOf(progress, now)),
    webhook: { deliveries: deliveries.received, last_at: iso(deliveries.last) },
    running_process: Option.getOrNull(holder),
    workers: workers.map(({ due, name, parts, progressedAgo, reads, renewedAgo }) => ({
      name,
      parts,
      reads_input: reads === 1,
      last_seen_at: RunReport.isoOf(now - renewedAgo),
      last_progress_at: RunReport.isoOf(now - progressedAgo),
      tasks_due: due,
    })),
    request_budget: Option.getOrNull(
      Option.map(budget, ({ pausedFor, rateShare, takenFor }) => ({
        reserved_seconds: takenFor / 1000,
        rate_share: rateShare,
        paused_until: pausedFor > 0 ? RunReport.isoOf(now + pausedFor) : null,
      })),
    ),
  }
  return status
}, LedgerReader.snapshot)
