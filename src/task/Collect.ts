/**
 * Polls outstanding tasks until their results have arrived. It can be stopped at any point and started again. A result
 * is stored as received before its task counts as completed. A result that does not fit its task is kept as well, and
 * affects no other task. A task that a webhook names is polled at once. While webhooks arrive, other polls are less
 * frequent, but they never stop. While the service is down, all polls wait (`ServiceHealth`).
 */
import { Duration, Effect, Latch, Option, Result } from "effect"
import * as Backoff from "../io/Backoff.ts"
import * as Kinds from "../io/SettingKinds.ts"
import * as SteadyClock from "../io/SteadyClock.ts"
import { count, plural } from "../io/Values.ts"
import { ServiceProfile, type ServiceSettings } from "../api/ServiceProfile.ts"
import { TaskClient } from "./client/AnnotationClient.ts"
import { type AnnotationClientError, endsPolling } from "./client/AnnotationClientError.ts"
import { isCanceled } from "./client/Protocol.ts"
import { checkAnswer, isUsable } from "./ledger/reads/ResultMatch.ts"
import * as VoteKinds from "./ledger/schema/VoteKinds.ts"
import { Ledger } from "./ledger/Ledger.ts"
import type { OpenTask, StateCounts } from "./ledger/schema/Model.ts"
import * as TaskTrace from "../telemetry/TaskTrace.ts"
import * as Recheck from "./Recheck.ts"
import * as RepeatedExperts from "./RepeatedExperts.ts"
import * as TaskPool from "./TaskPool.ts"

type Polling = Pick<ServiceSettings, "pollInterval">

export const firstPollDelay = (profile: Polling): number => Duration.toMillis(profile.pollInterval.min)

/** For this many milliseconds after a webhook, tasks are polled less often, because more webhooks may follow. */
const hintedSpan = Duration.toMillis("1 hour")

export const pollDelay = (profile: Polling, age: number, hinted = false): number => {
  const max = Duration.toMillis(profile.pollInterval.max)
  return hinted
    ? Math.min(Math.max(age / 2, max), Math.max(max, hintedSpan))
    : Math.min(Math.max(age / 2, firstPollDelay(profile)), max)
}

const maxHintedRetryDelay = Duration.toMillis("2 seconds")

const pageSize = 256

/** After this many unusable responses, a task is `invalid`, or `failed` if the service does not know it. */
const maxUselessAnswers = 3

/** For this many milliseconds after creating a task, a service may answer that it does not know the task. */
const settlingTime = Duration.toMillis("1 minute")

const minDelayToReport = Duration.toMillis("10 seconds")

const maxWarnings = 20

/** Maximum time of one sleep, so that polling continues soon after a suspended machine wakes up. */
const maxWait = Duration.seconds(30)

/** If a person or a webhook asked for a poll, `dueAt` is 0. */
const isDueByAge = ({ dueAt }: OpenTask): boolean => dueAt > 0

/** Options of `collect`. */
export interface CollectOptions {
  /** A latch that opens when this process has no more tasks to submit. Default: an open latch. */
  readonly submittingDone?: Latch.Latch | undefined
  /** Whether to poll each outstanding task once, and then end. */
  readonly once?: boolean | undefined
  /** Whether to poll completed tasks once more, because results may have changed. Webhooks also cause such polls. */
  readonly recheckCompleted?: boolean | undefined
}

/** The result of `collect`. */
export interface Collected {
  /** All tasks of the ledger by state. Tasks with results are `completed`. */
  readonly tasks: StateCounts
}

const kinds = Kinds.all(Kinds.flag, "once recheckCompleted")

/** Polls outstanding tasks until none is left, and returns the counts of the ledger's tasks by state. */
export const collect = Effect.fn("Collect.collect")(function* (options: CollectOptions = {}) {
  yield* Kinds.check(options, kinds)
  const ledger = yield* Ledger
  const client = yield* TaskClient
  const profile = yield* ServiceProfile
  const started = yield* SteadyClock.now
  const submittingDone = options.submittingDone ?? (yield* Latch.make(true))
  const patience = Duration.fromInputUnsafe(profile.patience)
  const kindsIn = VoteKinds.reader(profile.kindPath)
  const knownStatuses = new Set([...profile.openStatuses, ...profile.completedStatuses, ...profile.failedStatuses])
  const maxPollInterval = Duration.toMillis(Duration.fromInputUnsafe(profile.pollInterval.max))
  const failures = new Map<number, { readonly times: number; readonly useless: number; readonly sinceHint: number }>()
  const repeats = RepeatedExperts.make(ledger)
  let warnings = 0
  let undisturbedSince = started
  const reported = { delay: false, waiting: new Set<boolean>() }

  const postponeByAge = Effect.fnUntraced(function* (task: OpenTask, waiting: number) {
    const now = yield* SteadyClock.now
    const lastDelivery = yield* ledger.lastDelivery
    const hinted = Option.exists(lastDelivery, (at) => now - at < hintedSpan)
    const millis = yield* Backoff.jittered(pollDelay(profile, now - task.submittedAt, hinted))
    yield* ledger.postpone(task.seq, millis, task.taskId, waiting)
  })

  const warnOfWaiting = Effect.fnUntraced(function* ({ taskId, voters }: OpenTask, waiting: number) {
    const forJudges = voters === "judges"
    if (waiting === 0 || reported.waiting.has(forJudges)) return
    reported.waiting.add(forJudges)
    if (forJudges) {
      return yield* Effect.logWarning(
        `${count(waiting, "item")} of ${taskId} ${plural(waiting, "waits", "wait")} for the vote of a judge (a language model). The service has no judge that can still vote on ${plural(waiting, "this item", "these items")}. Start the service with more language models. Until their votes have arrived, people get no further items of this job`,
      )
    }
    yield* Effect.logWarning(
      `${count(waiting, "item")} of ${taskId} ${plural(waiting, "waits", "wait")} for another expert: every expert with permission has already judged ${plural(waiting, "this item, or an item with the same content", "these items, or items with the same content")}. Invite another expert, or start the service with \`allowRepeatedVotes\`, so that experts can judge the same content again. For gold items, no other expert is needed: start the service with the job's file of gold items`,
    )
  })

  /** The next poll follows after at most one regular poll interval, because the result may already be available. */
  const retrySoon = Effect.fnUntraced(function* (task: OpenTask, times: number, first = firstPollDelay(profile)) {
    const now = yield* SteadyClock.now
    const delay = Backoff.millisAfter(times, first, pollDelay(profile, now - task.submittedAt))
    yield* ledger.postpone(task.seq, yield* Backoff.jittered(delay), task.taskId)
  })

  const warn = (text: string) =>
    Effect.suspend(() => {
      if (++warnings > maxWarnings) return Effect.void
      return Effect.logWarning(
        warnings === maxWarnings
          ? `${text} (further warnings of this kind are not logged; prefstream resolve lists failed and invalid tasks)`
          : text,
      )
    })

  const warnOfStatus = Effect.fnUntraced(function* (task: OpenTask, status: string) {
    if (!client.mayMisreadStatus || knownStatuses.has(status) || knownStatuses.size > 100) return
    knownStatuses.add(status)
    yield* Effect.logWarning(
      `the service reports the unknown status ${JSON.stringify(status)} for ${task.taskId}, so the task is treated as open; if the status means completed or failed, add the status to the service profile`,
    )
  })

  const warnOfDelay = Effect.fnUntraced(function* (task: OpenTask) {
    if (reported.delay || !isDueByAge(task) || options.once === true) return
    const late = (yield* SteadyClock.now) - Math.max(task.dueAt, undisturbedSince)
    if (late <= Math.max(maxPollInterval, minDelayToReport)) return
    reported.delay = true
    yield* Effect.logWarning(
      `results arrive late, because the limits are too low to poll each unfinished task every ${Duration.format(Duration.fromInputUnsafe(profile.pollInterval.max))} (${profile.requestsPerSecond} requests per second, ${profile.concurrency} concurrent requests). Raise \`requestsPerSecond\`, raise \`pollInterval.max\` to poll less often, or receive webhooks (\`webhook\`)`,
    )
  })

  const pollTask = Effect.fnUntraced(
    function* (task: OpenTask) {
      const tries = options.once === true ? profile.retries + 1 : 1
      const view = yield* client.poll(task.taskId, ledger.requestBody(task.seq), tries)
      failures.delete(task.seq)
      switch (view._tag) {
        case "Open":
          yield* warnOfStatus(task, view.status)
          if (task.hasResult) yield* warn(`the service withdrew the result of ${task.taskId} and reopened the task`)
          if (task.isRecheck) yield* ledger.markOpen(task.seq, task.taskId)
          yield* warnOfWaiting(task, view.waiting ?? 0)
          return yield* postponeByAge(task, view.waiting ?? 0)
        case "Failed":
          if (task.hasResult) return yield* keepResult(task, Recheck.failedStatusReason(view.status))
          return yield* ledger.markFailed(
            task.seq,
            Recheck.failedStatusReason(view.status),
            task.taskId,
            isCanceled(view.status),
          )
        case "Completed": {
          const fit = yield* checkAnswer(ledger, task.seq, task.taskId, view, kindsIn)
          if (Result.isSuccess(fit)) {
            yield* repeats.check(task, view.body)
            return yield* ledger.markCompleted(task.seq, view.body, task.taskId, fit.success)
          }
          if (task.hasResult && (yield* isUsable(ledger, task))) {
            return yield* keepResult(task, `the result does not fit its task: ${fit.failure}`)
          }
          yield* warn(`the result of ${task.taskId} does not fit its task: ${fit.failure}`)
          return yield* ledger.markInvalid(task.seq, view.body, fit.failure, task.taskId)
        }
      }
    },
    (effect, task) => Effect.catchTag(effect, "AnnotationClientError", (failure) => settle(task, failure)),
  )

  /** The task's earlier result was paid for, so it stays until a new result replaces it. */
  const keepResult = Effect.fnUntraced(function* (task: OpenTask, reason: string) {
    failures.delete(task.seq)
    yield* warn(`${task.taskId} keeps its earlier result: ${reason}`)
    yield* ledger.keepResult(task.seq)
  })

  const settle = Effect.fnUntraced(function* (task: OpenTask, failure: AnnotationClientError) {
    const { reason } = failure
    if (endsPolling(failure, patience)) return yield* failure
    const before = failures.get(task.seq) ?? { times: 0, useless: 0, sinceHint: 0 }
    const times = before.times + 1
    const useless = before.useless + (reason._tag === "Unavailable" ? 0 : 1)
    const sinceHint = !isDueByAge(task) ? 1 : before.sinceHint > 0 ? before.sinceHint + 1 : 0
    failures.set(task.seq, { times, useless, sinceHint })
    switch (reason._tag) {
      case "TaskUnknown":
        if (task.hasResult) return yield* keepResult(task, failure.message)
        // A 410 (Gone) is final. After a 404, the task is polled again for a while, because the service may not know a
        // new task yet.
        if (reason.status !== 410) {
          const age = (yield* SteadyClock.now) - task.submittedAt
          if (options.once === true ? age < settlingTime : useless < maxUselessAnswers)
            return yield* retrySoon(task, times)
        }
        failures.delete(task.seq)
        yield* warn(`${task.taskId}: ${failure.message}`)
        return yield* ledger.markFailed(task.seq, failure.message, task.taskId)
      case "UnusableAnswer":
      case "Refused":
      case "TooLarge":
        if (task.hasResult) return yield* keepResult(task, failure.message)
        if (useless < maxUselessAnswers && options.once !== true) return yield* retrySoon(task, times)
        failures.delete(task.seq)
        yield* warn(`the service's answer for ${task.taskId} cannot be used: ${failure.message}`)
        return yield* ledger.markInvalid(task.seq, undefined, failure.message, task.taskId)
      case "Unavailable":
        undisturbedSince = yield* SteadyClock.now
        if (times === maxUselessAnswers)
          yield* warn(`polling ${task.taskId} failed several times and is retried: ${failure.message}`)
        return yield* sinceHint > 0
          ? retrySoon(task, sinceHint, Math.min(maxHintedRetryDelay, firstPollDelay(profile)))
          : retrySoon(task, times)
    }
  })

  yield* ledger.bindService(profile.identity, profile.moved)
  if (submittingDone.isOpen()) {
    yield* profile.idempotencyKey === "honored" ? ledger.planInterrupted : ledger.holdInterrupted
  }
  yield* ledger.recheck
  if (options.recheckCompleted === true) yield* ledger.recheckCompleted
  if (options.once === true) yield* ledger.makeDue
  else yield* ledger.dueWithin(maxPollInterval)
  const horizon = options.once === true ? Option.some(started) : Option.none()

  let page: ReadonlyArray<OpenTask> = []
  const inFlight = new Set<string>()
  const settled = yield* Latch.make()

  const next = Effect.gen(function* () {
    while (true) {
      // `hinted` is open if a webhook has named a task. The due tasks are then read again, and this task comes first.
      const [task, ...rest] = ledger.hinted.isOpen() ? [] : page
      if (task !== undefined) {
        page = rest
        inFlight.add(task.taskId)
        return Option.some(task)
      }
      const done = submittingDone.isOpen()
      yield* ledger.submitted.close
      yield* ledger.hinted.close
      yield* settled.close
      const { tasks, wait } = yield* ledger.due(pageSize + inFlight.size, horizon, inFlight)
      page = tasks.filter(({ taskId }) => !inFlight.has(taskId))
      if (page.length > 0) continue
      if (inFlight.size === 0 && done && (options.once === true || Option.isNone(wait))) return Option.none<OpenTask>()
      // While due tasks are being polled, `millis` is 0. Without a pause, the loop would then run all the time.
      const pause = Option.match(wait, {
        onNone: () => Effect.never,
        onSome: (millis) =>
          Effect.sleep(tasks.length > 0 ? firstPollDelay(profile) : Math.min(millis, Duration.toMillis(maxWait))),
      })
      yield* Effect.raceAllFirst([
        pause,
        ledger.submitted.await,
        ledger.hinted.await,
        settled.await,
        ...(done ? [] : [submittingDone.await]),
      ])
    }
  })

  const collectOne = Effect.fnUntraced(
    function* (task: OpenTask) {
      yield* warnOfDelay(task)
      yield* pollTask(task)
      inFlight.delete(task.taskId)
      yield* settled.open
    },
    (effect, { idempotencyKey, seq, taskId }) =>
      TaskTrace.span("Collect.task", idempotencyKey, { "prefstream.task": seq + 1, "prefstream.task_id": taskId })(
        effect,
      ),
  )

  yield* TaskPool.run(profile.concurrency, next, collectOne)
  yield* repeats.summarize
  const collected: Collected = { tasks: yield* ledger.counts }
  return collected
})
