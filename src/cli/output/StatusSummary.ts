/** The text of `prefstream status`. */
import { DateTime, Option } from "effect"
import type { PaidRequests } from "../../domain/JudgeUsage.ts"
import { count, excerpt, number, plural } from "../../io/Values.ts"
import type { Estimate, JobStatus } from "../../pipeline/JobStatus.ts"
import * as JudgeCosts from "./JudgeCosts.ts"
import * as Summary from "./Summary.ts"
import { duration, type Rows, rowsOf } from "./Text.ts"

export const text = (
  status: JobStatus & { readonly judges?: ReadonlyArray<PaidRequests> },
  options: Summary.TextOptions,
): string =>
  Summary.text(status, options, [
    ...JudgeCosts.rows(status.judges ?? []),
    ...campaigns(status),
    ...workers(status),
    ["unsettled", interrupted(status, options)],
    ["oldest", waiting(status)],
    ["waiting", waitingForExperts(status)],
    ["waiting", waitingForJudges(status)],
    ...results(status),
    ["webhooks", webhooks(status)],
  ])

const minute = (iso: string): string => `${iso.slice(0, 16).replace("T", " ")} UTC`

const second = (iso: string): string => `${iso.slice(0, 19).replace("T", " ")} UTC`

const millisOf = (iso: string): number =>
  Option.match(DateTime.make(iso), { onNone: () => 0, onSome: DateTime.toEpochMillis })

const campaigns = (status: JobStatus): Rows => {
  const rows = status.campaigns.map(
    ({ campaign, guidelines, started_at, tasks, task_type }) =>
      `${campaign}${campaign === status.campaign ? " (last run)" : ""}: started ${minute(started_at)}, ` +
      `${count(tasks.completed.items, Summary.unit(status))} ${status.votes === 1 ? "judged" : "given"}, ${number(tasks.submitted.items)} outstanding; ` +
      (guidelines === null ? task_type : JSON.stringify(excerpt(guidelines, 50))),
  )
  return rows.length > 1 ? rowsOf("campaigns", rows) : []
}

const lateAfter = 15

/** In seconds. A worker without progress may be stuck, or may be waiting for the service. */
const stuckAfter = 120

const workers = (status: JobStatus): Rows => {
  if (status.workers.length === 0 || status.running_process === null) return [["process", worker(status)]]
  const rows = status.workers.map(({ last_progress_at, last_seen_at, name, parts, reads_input, tasks_due }) => {
    const secondsSince = (time: string) => (millisOf(status.at) - millisOf(time)) / 1000
    const [seen, moved] = [secondsSince(last_seen_at), secondsSince(last_progress_at)]
    const stuck = moved > stuckAfter ? `; the service has not answered for ${duration(moved)}` : ""
    const late = seen > lateAfter ? `; not seen for ${duration(seen)}` : stuck
    const due = tasks_due > 0 ? `, ${count(tasks_due, "task")} due` : ""
    return `${name}: ${count(parts, "part")}${reads_input ? ", reads the input" : ""}${due}${late}`
  })
  const { paused_until = null, rate_share = 1, reserved_seconds = 0 } = status.request_budget ?? {}
  return [
    ...rowsOf("workers", rows),
    [
      "requests",
      status.request_budget !== null &&
        `a new request waits ${duration(reserved_seconds)}: until then, the workers' planned requests use the whole rate limit`,
    ],
    ["paused", paused_until !== null && `until ${second(paused_until)}: the service asked to wait`],
    [
      "rate",
      rate_share < 1 &&
        `reduced to ${Math.ceil(rate_share * 100)}% of the rate limit, because the service received too many requests or was overloaded`,
    ],
  ]
}

const worker = ({ last_run, running_process }: JobStatus): string | false => {
  if (running_process === "unknown") return "another process"
  if (running_process !== null) {
    return `process ${running_process.pid} on ${running_process.host}, since ${minute(running_process.since)}`
  }
  return last_run !== null && `idle; run ${last_run.run}${endOf(last_run)}`
}

const endOf = ({ ended_at, failure, read_finished, started_at }: NonNullable<JobStatus["last_run"]>): string => {
  if (ended_at === null) return ` started at ${minute(started_at)}, and did not finish`
  if (failure !== null) return ` failed at ${minute(ended_at)}: ${failure}`
  return read_finished
    ? ` finished reading at ${minute(ended_at)}`
    : ` was stopped at ${minute(ended_at)}, before it finished reading`
}

const interrupted = ({ tasks, running_process }: JobStatus, { given }: Summary.TextOptions): string | false =>
  running_process === null &&
  tasks.submitting.tasks > 0 &&
  `${count(tasks.submitting.tasks, "task")} may or may not have reached the service: start the next run, or decide what to do with each task (prefstream resolve ${given})`

const waiting = ({ at, next_poll_at, oldest_outstanding: oldest }: JobStatus): string | false => {
  if (oldest === null) return false
  const poll =
    next_poll_at === null
      ? ""
      : next_poll_at <= at
        ? "; poll due now"
        : `; next poll in ${duration((millisOf(next_poll_at) - millisOf(at)) / 1000)}`
  return `task ${oldest.task} (${oldest.task_id}) submitted ${minute(oldest.submitted_at)} (${duration(oldest.age_seconds)} ago)${poll}`
}

const waitingForExperts = ({ waiting_for_experts: { items, tasks } }: JobStatus): string | false =>
  items > 0 &&
  `${count(items, "item")} in ${count(tasks, "task")} ${plural(items, "waits", "wait")} at the service for another expert: every expert with permission has already judged ${plural(items, "this item, or an item with the same content", "these items, or items with the same content")}`

const waitingForJudges = ({ waiting_for_judges: { items, tasks } }: JobStatus): string | false =>
  items > 0 &&
  `${count(items, "item")} in ${count(tasks, "task")} ${plural(items, "waits", "wait")} for the vote of a judge (a language model). The service has no judge that can still vote on ${plural(items, "this item", "these items")}`

const results = (status: JobStatus): Rows => {
  const { at, estimate, oldest_outstanding, results, votes } = status
  if (oldest_outstanding === null) return []
  if (results.last_at === null) return [["results", "none yet, so there is no estimate"]]
  const { last_day, last_hour, since } = results
  const isOld = since !== null && millisOf(at) - millisOf(since) > 86_400_000
  const perDay = isOld ? `, ${number(results.items_per_day ?? 0)} per day since the first task` : ""
  return [
    [
      "results",
      `${count(last_hour.items, Summary.unit({ votes }))} arrived in the last hour, ${number(last_day.items)} in the last day${perDay}`,
    ],
    ["estimate", estimate === null ? `none: ${noEstimate(status, results.last_at)}` : ending(estimate, votes)],
  ]
}

const noEstimate = ({ at, oldest_outstanding: oldest, results }: JobStatus, lastAt: string): string => {
  if (results.last_day.items === 0) return "no result arrived in the last day"
  return oldest !== null && lastAt <= oldest.submitted_at
    ? "no result arrived since the oldest task was submitted"
    : `the last result arrived ${duration((millisOf(at) - millisOf(lastAt)) / 1000)} ago`
}

const ending = ({ ends_at, items_left, seconds_left, window_items, window_seconds }: Estimate, votes: number): string =>
  `${count(items_left, Summary.unit({ votes }))} left: about ${duration(seconds_left)}, done at about ${minute(ends_at)} ` +
  `(based on ${count(window_items, Summary.unit({ votes }))} in the last ${duration(window_seconds)})`

const webhooks = ({ at, webhook: { deliveries, last_at } }: JobStatus): string | false =>
  last_at !== null &&
  `${number(deliveries)} received, most recently ${duration(Math.max(0, millisOf(at) - millisOf(last_at)) / 1000)} ago`
