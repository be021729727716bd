/** Fails if, during `limit`, a worker with due tasks sends no request, or gets no answer while others get answers. */
import { Duration, Effect, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as SteadyClock from "../io/SteadyClock.ts"

/** A worker made no progress although its tasks were due, so it stopped. */
export class WorkerStalled extends Schema.TaggedError<WorkerStalled>()("WorkerStalled", {
  /** How long the worker made no progress, in milliseconds. */
  millis: Schema.Number,
  /** True if the worker sent requests, but got no expected answer. False if the worker sent no requests. */
  hasSent: Schema.Boolean,
}) {
  override get message() {
    const time = Duration.format(Duration.seconds(Math.round(this.millis / 1000)))
    const what = this.hasSent
      ? `the service has not answered this worker for ${time}, but has answered other workers`
      : `for ${time}, nothing was sent or polled, although tasks are due`
    return `${what}: this worker exits, and other workers take over its part of the job`
  }
}

/** If a worker with due tasks makes no progress, it fails after this time plus the timeout of a request. */
export const stallLimit = Duration.minutes(10)

const interval = Duration.seconds(20)
const maxCheckInterval = 2 * Duration.toMillis(interval)

// Minimum time from this worker's last answer to a later answer that another worker got. Without such an answer, the
// service may be down, so this worker does not fail.
const minLeadMillis = 60_000

export const watch = Effect.fnUntraced(function* (worker: {
  readonly done: { readonly requests: number; readonly answers: number }
  readonly isDue: Effect.Effect<boolean, SqlError>
  readonly othersAnsweredWithin: (millis: number) => Effect.Effect<boolean, SqlError>
  /** Maximum time without progress. It must be longer than a request can take. */
  readonly limit: Duration.Duration
  /** Called after each check, with `SteadyClock` times in milliseconds. While no task is due, progress is assumed. */
  readonly onCheck: (answeredAt: number, progressedAt: number) => void
}) {
  const limit = Duration.toMillis(worker.limit)
  let seen = { ...worker.done }
  let last = yield* SteadyClock.now
  let answeredAt = 0
  let progressedAt = last
  let silent = 0
  let unanswered = 0
  while (true) {
    yield* Effect.sleep(interval)
    const due = yield* worker.isDue.pipe(
      Effect.timeoutOrElse({ duration: interval, orElse: () => Effect.succeed(true) }),
    )
    const now = yield* SteadyClock.now
    const passed = Math.min(now - last, maxCheckInterval)
    const { answers, requests } = worker.done
    silent = due && requests === seen.requests ? silent + passed : 0
    unanswered = due && answers === seen.answers ? unanswered + passed : 0
    if (answers !== seen.answers) answeredAt = now
    if (unanswered === 0) progressedAt = now
    seen = { requests, answers }
    last = now
    worker.onCheck(answeredAt, progressedAt)
    if (silent > limit) return yield* new WorkerStalled({ millis: silent, hasSent: false })
    if (unanswered > limit && (yield* worker.othersAnsweredWithin(unanswered - minLeadMillis))) {
      return yield* new WorkerStalled({ millis: unanswered, hasSent: true })
    }
  }
})
