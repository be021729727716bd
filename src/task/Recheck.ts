/**
 * Polls each failed or invalid task once more, before the job pays for it again. A task is resubmitted only if
 * the service never accepted it, does not know it, reports that it failed, or returns a result that does not fit.
 * Without a usable response, the task stays as it is.
 */
import { Duration, Effect, Result } from "effect"
import { ServiceProfile } from "../api/ServiceProfile.ts"
import { plural } from "../io/Values.ts"
import { TaskClient } from "./client/AnnotationClient.ts"
import { type AnnotationClientError, endsPolling } from "./client/AnnotationClientError.ts"
import { isCanceled } from "./client/Protocol.ts"
import { checkAnswer } from "./ledger/reads/ResultMatch.ts"
import * as VoteKinds from "./ledger/schema/VoteKinds.ts"
import { Ledger } from "./ledger/Ledger.ts"
import type { Issue } from "./ledger/schema/Model.ts"

export const failedStatusReason = (status: string): string => `the service reports the status ${status}`

export const findResubmittable = Effect.fn("Recheck.findResubmittable")(function* (tasks: ReadonlyArray<Issue>) {
  const ledger = yield* Ledger
  const client = yield* TaskClient
  const profile = yield* ServiceProfile
  const patience = Duration.fromInputUnsafe(profile.patience)
  const kindsIn = VoteKinds.reader(profile.kindPath)
  const resubmittable = new Set<number>()
  let unanswered = 0

  const addResubmittable = Effect.fnUntraced(function* <E>(
    task: Issue,
    state: "failed" | "invalid",
    reason: string,
    mark: Effect.Effect<void, E>,
  ) {
    if (task.state !== state || task.reason !== reason) yield* mark
    resubmittable.add(task.seq)
  })

  const failed = (task: Issue, taskId: string, reason: string, status?: string) =>
    addResubmittable(
      task,
      "failed",
      reason,
      ledger.markFailed(task.seq, reason, taskId, status !== undefined && isCanceled(status)),
    )

  const pollTask = Effect.fnUntraced(function* (task: Issue, taskId: string) {
    const view = yield* client.poll(taskId, ledger.requestBody(task.seq), profile.retries + 1)
    switch (view._tag) {
      case "Open":
        return yield* ledger.markOpen(task.seq, taskId)
      case "Failed":
        return yield* failed(task, taskId, failedStatusReason(view.status), view.status)
      case "Completed": {
        const fit = yield* checkAnswer(ledger, task.seq, taskId, view, kindsIn)
        if (Result.isSuccess(fit)) return yield* ledger.markCompleted(task.seq, view.body, taskId, fit.success)
        const reason = fit.failure
        return yield* addResubmittable(task, "invalid", reason, ledger.markInvalid(task.seq, view.body, reason, taskId))
      }
    }
  })

  const settle = Effect.fnUntraced(function* (task: Issue, taskId: string, failure: AnnotationClientError) {
    if (failure.reason._tag === "TaskUnknown") return yield* failed(task, taskId, failure.message)
    if (endsPolling(failure, patience)) return yield* failure
    unanswered++
  })

  yield* Effect.forEach(
    tasks,
    (task) => {
      const { taskId } = task
      if (taskId === null) return Effect.sync(() => void resubmittable.add(task.seq))
      return pollTask(task, taskId).pipe(
        Effect.catchTag("AnnotationClientError", (failure) => settle(task, taskId, failure)),
      )
    },
    { concurrency: profile.concurrency, discard: true },
  )
  if (unanswered > 0) {
    yield* Effect.logWarning(
      `${unanswered} ${plural(unanswered, "task was", "tasks were")} not resubmitted, because the service gave no usable answer about ${plural(unanswered, "its", "their")} status`,
    )
  }
  return resubmittable
})
