/**
 * Polls tasks that came to nothing once more, before they are paid for again.
 *
 * Guarantees: a task counts as dead only by the service's word: it failed, its result does not fit, or it is unknown. What has
 * come to life is recorded as that. No answer, or one that cannot be read, leaves the task as it is.
 */
import { Duration, Effect, Result } from "effect"
import { ServiceProfile } from "../api/ServiceProfile.ts"
import { AnnotationClient } from "./client/AnnotationClient.ts"
import { type AnnotationClientError, asksTooMuch } from "./client/AnnotationClientError.ts"
import { matchAnswer } from "./ledger/ResultMatch.ts"
import { Ledger } from "./ledger/Ledger.ts"
import type { Issue } from "./ledger/Model.ts"

/** Why a task counts as failed that the service says it does not know (any more). */
export const vanished = (failure: AnnotationClientError): string => `vanished: ${failure.message}`

/** Why a task counts as failed whose status says so. */
export const reported = (status: string): string => `the service reports the status ${status}`

/** The numbers in order (`seq`) of those that are dead by the service's word; what never was there needs none. */
export const dead = Effect.fn("Recheck.dead")(function* (tasks: ReadonlyArray<Issue>) {
  const ledger = yield* Ledger
  const client = yield* AnnotationClient
  const profile = yield* ServiceProfile
  const patience = Duration.fromInputUnsafe(profile.patience)
  const found = new Set<number>()
  let unanswered = 0

  /** Notes what is new, and that the task is dead. */
  const isDead = Effect.fnUntraced(function* <E>(task: Issue, news: boolean, note: Effect.Effect<void, E>) {
    if (news) yield* note
    found.add(task.seq)
  })

  const failed = (task: Issue, taskId: string, reason: string) =>
    isDead(task, task.state !== "failed" || task.reason !== reason, ledger.markFailed(task.seq, reason, taskId))

  const lookAt = Effect.fnUntraced(function* (task: Issue, taskId: string) {
    const view = yield* client.poll(taskId, profile.retries + 1)
    switch (view._tag) {
      case "Open":
        return yield* ledger.markOpen(task.seq, taskId)
      case "Failed":
        return yield* failed(task, taskId, reported(view.status))
      case "Completed": {
        const judgments = yield* matchAnswer(ledger, task.seq, taskId, view)
        if (Result.isSuccess(judgments)) return yield* ledger.markCompleted(task.seq, view.body, taskId)
        const reason = judgments.failure
        const news = task.state !== "invalid" || task.reason !== reason
        return yield* isDead(task, news, ledger.markInvalid(task.seq, view.body, reason, taskId))
      }
    }
  })

  const settle = Effect.fnUntraced(function* (task: Issue, taskId: string, failure: AnnotationClientError) {
    switch (failure.reason._tag) {
      case "TaskUnknown":
        return yield* failed(task, taskId, vanished(failure))
      case "Down":
      case "AccessDenied":
      case "ServiceBlocked":
      case "TasksRefused":
      case "NoSuchService":
        return yield* failure
      default:
        if (asksTooMuch(failure, patience)) return yield* failure
        unanswered++
    }
  })

  yield* Effect.forEach(
    tasks,
    (task) => {
      const { taskId } = task
      if (taskId === null) return Effect.sync(() => void found.add(task.seq))
      return lookAt(task, taskId).pipe(
        Effect.catchTag("AnnotationClientError", (failure) => settle(task, taskId, failure)),
      )
    },
    { concurrency: profile.concurrency, discard: true },
  )
  if (unanswered > 0) {
    yield* Effect.logWarning(
      `not sent again: ${unanswered === 1 ? "a task" : `${unanswered} tasks`} about which the service gave no answer that can be used`,
    )
  }
  return found
})
