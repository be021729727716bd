/**
 * The second of the two loops over the ledger: outstanding tasks are looked at
 * until their results are there. It may be broken off at any point and started
 * again; looking costs nothing and changes nothing at the service.
 *
 * Guarantees: a result is stored as it came before its task counts as completed; a
 * result that does not fit its task is kept, named, and yields nothing else than
 * its own loss.
 *
 * The time between two looks at a task grows with its age, between the bounds of
 * the profile's `pollInterval`, with jitter; the due times stand in the ledger.
 */
import { Clock, Duration, Effect, type Latch, Option, Random, Result } from "effect"
import { ServiceProfile, type ServiceSettings } from "../api/ServiceProfile.ts"
import { AnnotationClient, type AnnotationClientError } from "./AnnotationClient.ts"
import { match } from "./Judgments.ts"
import { Ledger } from "./Ledger.ts"
import type { OpenTask } from "./LedgerModel.ts"

/** Milliseconds from the submission of a task to the first look at it. */
export const firstLook = (profile: ServiceSettings): number => Duration.toMillis(profile.pollInterval.min)

/** Milliseconds until the next look at a task of the given age: half its age, within the bounds. */
export const nextLook = (profile: ServiceSettings, age: number): number =>
  Math.min(Math.max(age / 2, firstLook(profile)), Duration.toMillis(profile.pollInterval.max))

/** Tasks taken from the ledger together. */
const pageSize = 256

/** Looks that may fail one after another before the run ends with the last failure. */
const failuresInARow = 5

/** Another process may submit tasks to the same ledger; no longer than this passes before it is asked again. */
const longestWait = Duration.seconds(30)

export interface CollectOptions {
  /** Open when no more tasks will be submitted by this process. */
  readonly submittingDone: Latch.Latch
  /** Whether to look at each outstanding task once and leave the rest for later. */
  readonly once?: boolean | undefined
}

/** Looks at outstanding tasks until none is left. */
export const collect = Effect.fn("Collect.collect")(function* (options: CollectOptions) {
  const ledger = yield* Ledger
  const client = yield* AnnotationClient
  const profile = yield* ServiceProfile
  const started = yield* Clock.currentTimeMillis
  let failures = 0

  const later = Effect.fnUntraced(function* (task: OpenTask) {
    const now = yield* Clock.currentTimeMillis
    const jitter = yield* Random.nextBetween(0.8, 1.2)
    yield* ledger.postpone(task.seq, nextLook(profile, now - task.submittedAt) * jitter)
  })

  const lookAt = Effect.fnUntraced(
    function* (task: OpenTask) {
      const view = yield* client.look(task.taskId)
      failures = 0
      switch (view._tag) {
        case "Open":
          return yield* later(task)
        case "Failed":
          return yield* ledger.markFailed(task.seq, `the service reports the status ${view.status}`)
        case "Completed": {
          const question = yield* ledger.question(task.seq)
          const judgments = match(task.taskId, question, view.body)
          if (Result.isSuccess(judgments)) return yield* ledger.markCompleted(task.seq, view.body)
          yield* Effect.logWarning(`the result of ${task.taskId} does not fit its task: ${judgments.failure}`)
          return yield* ledger.markInvalid(task.seq, view.body, judgments.failure)
        }
      }
    },
    (effect, task) => Effect.catchTag(effect, "AnnotationClientError", (failure) => settle(task, failure)),
  )

  const settle = Effect.fnUntraced(function* (task: OpenTask, failure: AnnotationClientError) {
    switch (failure.reason._tag) {
      case "TaskUnknown":
        return yield* ledger.markFailed(task.seq, failure.message)
      case "UnusableAnswer":
        return yield* ledger.markInvalid(task.seq, "", failure.message)
      case "Unavailable":
      case "Refused":
      case "TooLarge":
        failures++
        if (failures >= failuresInARow) return yield* failure
        yield* Effect.logWarning(`could not look at ${task.taskId}, will try again: ${failure.message}`)
        return yield* later(task)
      case "AccessDenied":
      case "NoSuchService":
        return yield* failure
    }
  })

  yield* ledger.bindService(profile.identity ?? profile.baseUrl, profile.moved ?? false)
  yield* ledger.reopen
  if (options.once === true) yield* ledger.makeDue
  const horizon = options.once === true ? Option.some(started) : Option.none()
  while (true) {
    const done = options.submittingDone.isOpen()
    yield* ledger.submitted.close
    const { tasks, wait } = yield* ledger.due(pageSize, horizon)
    if (tasks.length > 0) {
      yield* Effect.forEach(tasks, lookAt, { concurrency: profile.concurrency, discard: true })
    } else if (options.once === true) {
      return
    } else if (Option.isNone(wait)) {
      if (done) return
      yield* Effect.raceFirst(ledger.submitted.await, options.submittingDone.await)
    } else {
      const pause = Effect.sleep(Duration.min(Duration.millis(wait.value), longestWait))
      yield* done ? pause : Effect.raceFirst(pause, ledger.submitted.await)
    }
  }
})
