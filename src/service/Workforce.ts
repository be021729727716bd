/**
 * The experts at work: pending tasks are taken from the store, judged, completed.
 *
 * Guarantees: each task is judged, whether it was created a moment ago or before a
 * restart; a task is completed with one result per prompt, or not at all; results
 * follow the order of the prompts, and each index points into its completions. Of
 * several experts the first that has an answer counts, prompt by prompt. A task
 * with a prompt that nobody can answer stays open, and is named once in the log;
 * it is tried again at the next start.
 *
 * Memory is bounded by `batchSize` tasks, however many are pending.
 */
import { Cause, Clock, Context, Duration, Effect, Latch, Layer, Option, Schedule } from "effect"
import type { ResultItem, TaskPrompt } from "../domain/Task.ts"
import type { Expert } from "./Expert.ts"
import { type TaskResults, TaskStore } from "./TaskStore.ts"

export interface WorkforceOptions {
  /** Asked in this order. */
  readonly experts: ReadonlyArray<Expert>
  /** Time from a task's creation to its judgment, for trying out how it is to wait. None by default. */
  readonly turnaround?: Duration.Input | undefined
  /** Whether a task that no expert has an answer to is cancelled, rather than left open for others. It is tried again at the next start. */
  readonly cancelUnanswered?: boolean | undefined
}

const batchSize = 32
const judgedAtOnce = 8

const make = Effect.fnUntraced(function* (options: WorkforceOptions) {
  const store = yield* TaskStore
  const turnaround = Duration.toMillis(options.turnaround ?? 0)
  const work = yield* Latch.make(false)
  const reported = new Set<string>()

  const judgePrompt = Effect.fnUntraced(function* (prompt: TaskPrompt, guidelines: string | undefined) {
    for (const expert of options.experts) {
      const vote = yield* expert.judge(prompt, guidelines)
      if (Option.isNone(vote)) continue
      const { best_completion_index, rationale } = vote.value
      if (prompt.completions[best_completion_index] === undefined) {
        return yield* Effect.die(
          `expert ${expert.name} chose index ${best_completion_index} of ${prompt.completions.length}`,
        )
      }
      return { prompt: prompt.prompt, best_completion_index, annotations: { rationale } } satisfies ResultItem
    }
    return undefined
  })

  /** The task's results; none where it stays open. */
  const judgeTask = Effect.fnUntraced(
    function* (taskId: string) {
      const request = yield* store.request(taskId)
      const results: Array<ResultItem> = []
      for (const prompt of request.prompts) {
        const result = yield* judgePrompt(prompt, request.guidelines)
        if (result !== undefined) results.push(result)
      }
      const unanswered = request.prompts.length - results.length
      if (unanswered === 0) return Option.some<TaskResults>({ taskId, results })
      const reason = `no expert has an answer to ${unanswered} of ${request.prompts.length} prompts`
      yield* report(taskId, reason)
      if (options.cancelUnanswered === true) yield* store.cancel(taskId)
      return Option.none<TaskResults>()
    },
    // An expert that breaks down leaves its task open; the others' work goes on.
    (effect, taskId) =>
      Effect.catchDefect(effect, (defect) => Effect.as(report(taskId, Cause.pretty(Cause.die(defect))), Option.none())),
  )

  const report = (taskId: string, reason: string) =>
    Effect.suspend(() => {
      if (reported.has(taskId)) return Effect.void
      reported.add(taskId)
      return Effect.logWarning(
        `Task ${taskId} ${options.cancelUnanswered === true ? "is cancelled" : "stays open"}: ${reason}`,
      )
    })

  const judgeBatch = Effect.gen(function* () {
    yield* work.close
    const now = yield* Clock.currentTimeMillis
    const claimed = yield* store.claim(batchSize, now - turnaround)
    if (claimed.length > 0) {
      const judged = yield* Effect.forEach(claimed, judgeTask, { concurrency: judgedAtOnce })
      return yield* store.complete(judged.filter(Option.isSome).map((task) => task.value))
    }
    // A task that is created now becomes due after those that wait already.
    const oldest = yield* store.oldestPending
    yield* Option.isSome(oldest) ? Effect.sleep(Math.max(1, oldest.value + turnaround - now)) : work.await
  })

  yield* store.giveBack.pipe(
    Effect.andThen(Effect.forever(judgeBatch)),
    Effect.tapError((error) => Effect.logError("The experts can't reach the task store; trying again", error)),
    // Without end: the store may come back, and nothing else would judge the tasks.
    Effect.retry(Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("30 seconds")])),
    Effect.forkScoped,
  )

  return { wake: Effect.asVoid(work.open) }
})

export class Workforce extends Context.Service<
  Workforce,
  {
    /** Says that a task was created. */
    readonly wake: Effect.Effect<void>
  }
>()("prefstream/service/Workforce") {
  static readonly layer = (options: WorkforceOptions) => Layer.effect(Workforce, make(options))
}
