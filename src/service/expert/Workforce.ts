/**
 * Runs the automatic experts: claims items, asks the experts in order, and records their votes. Experts that fail are
 * retried with backoff. If the experts cannot give all votes on a task, the task stays open, or `cancelUnanswered` ends
 * the task. Some tasks are for language models alone. If a model has no answer to a prompt of such a task, the prompt
 * is complete when all other models have voted.
 */
import { Cause, Clock, Duration, Effect, FiberSet, Latch, Layer, Result } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as FullDisk from "../database/FullDisk.ts"
import type { Expert } from "./Expert.ts"
import * as Judging from "./Judging.ts"
import { retryForever } from "../database/Database.ts"
import { Experts } from "../store/Experts.ts"
import { TaskStore } from "../store/TaskStore.ts"
import { VoteQueue } from "../store/VoteQueue.ts"
import type { Claim, Claims, Judged, LackingTask } from "../store/VoteQueueModel.ts"

export interface WorkforceOptions {
  readonly experts: ReadonlyArray<Expert>
  /** How long experts wait after a task's creation, which simulates slow experts. Default 0. */
  readonly turnaround?: Duration.Input | undefined
  readonly cancelUnanswered?: boolean | undefined
}

const maxClaimed = 32
/** Maximum number of claimed tasks if an expert needs time to answer. Only such experts have a `concurrency`. */
const maxTasksOfSlow = 8
/** An expert with a higher `concurrency` sends batches. Its `concurrency` is also the limit on claimed items. */
const maxUnbatchedConcurrency = 1_000

const limitsOf = (experts: ReadonlyArray<Expert>) => {
  const items = Math.max(0, ...experts.map(({ concurrency = 0 }) => concurrency))
  if (items > maxUnbatchedConcurrency) return { tasks: items, items }
  return { tasks: items === 0 ? maxClaimed : maxTasksOfSlow, items: Infinity }
}

const maxReported = 1_000

const lackingReason = ({ lacking, prompts, voters }: LackingTask, failed: string | undefined, outcome: string) =>
  `more votes are needed on ${lacking} of ${prompts} prompts, but no ${voters === "judges" ? "language model" : "automatic expert"} can give them${failed === undefined ? "" : ` (${failed})`}; ` +
  (outcome === "cancelled"
    ? "the next run asks the automatic experts again"
    : outcome === "shortened"
      ? "these prompts are completed with fewer votes"
      : voters === "judges"
        ? "only language models may vote on this task, so start the service with more of them (--expert judge:MODEL)"
        : "people can still vote, and a restart of the service asks the automatic experts again")

const make = Effect.fnUntraced(function* (options: WorkforceOptions) {
  const queue = yield* VoteQueue
  const store = yield* TaskStore
  const turnaround = Duration.toMillis(options.turnaround ?? 0)
  const cancels = options.cancelUnanswered === true
  const limits = limitsOf(options.experts)
  const judging = yield* Judging.make(options.experts)
  const roomy = yield* Latch.make(true)
  let inFlight = 0
  let itemsInFlight = 0
  const workers = yield* FiberSet.make()
  const experts = yield* Experts
  yield* Effect.forEach(judging.names, (name) => experts.ensure(name, judging.kindOf(name)), { discard: true })
  yield* experts.employ(judging)

  const failing = new Set<string>()
  const lacking = new Set<string>()
  const short = new Set<string>()
  const report = (reported: Set<string>, taskId: string, what: string, reason: string) =>
    Effect.suspend(() => {
      if (reported.has(taskId) || reported.size === maxReported) return Effect.void
      reported.add(taskId)
      return Effect.logWarning(`Task ${taskId} ${what}: ${reason}`)
    })

  const persistently = <A>(effect: Effect.Effect<A, SqlError>) =>
    effect.pipe(
      Effect.tapError((error) => FullDisk.logError("Automatic experts cannot reach the task store; retrying", error)),
      Effect.retry(retryForever),
      Effect.orDie,
    )

  let hasToldOfPeople = false
  const leaveToPeople = (taskId: string) =>
    Effect.suspend(() => {
      if (hasToldOfPeople) return Effect.void
      hasToldOfPeople = true
      return Effect.logInfo(
        `Task ${taskId} needs more votes than automatic experts can give, so it waits for people. Other tasks that wait for people are not logged`,
      )
    })

  const giveUp = Effect.fnUntraced(function* (task: LackingTask, failed?: string, itemIds?: ReadonlyArray<number>) {
    const { taskId } = task
    const outcome = cancels ? yield* persistently(store.endUnanswered(taskId, itemIds)) : "open"
    if (outcome === undefined) return
    const words = { cancelled: "is cancelled", open: "stays open", shortened: "has fewer votes" }[outcome]
    yield* report(lacking, taskId, words, lackingReason(task, failed, outcome))
  })

  const judgeClaim = Effect.fnUntraced(function* (claim: Claim) {
    const { guidelinesVersion, items, prompts, taskId, voters } = claim
    const say = (reason: string) => report(failing, taskId, "waits", reason)
    let unanswered = 0
    const withoutAnswer: Array<number> = []
    let failed: string | undefined
    let unknown: string | undefined
    const judge = (item: Judging.Item) =>
      Effect.map(judging.judge(item, claim, say), (outcome) => {
        const silent = outcome.judged.answers.find(({ vote }) => Result.isFailure(vote))
        // If only language models may vote, the prompt is complete without the vote of a model that has no answer.
        const isDone = voters === "judges" && silent !== undefined
        if (outcome.lacking > 0 && !isDone) {
          unanswered++
          if (silent !== undefined) {
            withoutAnswer.push(item.itemId)
            unknown ??= `${silent.expert} has no answer`
          }
        }
        failed ??= outcome.failed
        return { ...outcome.judged, guidelinesVersion }
      })

    const concurrency = judging.concurrency(items)
    if (concurrency === undefined) {
      yield* persistently(queue.record(yield* Effect.forEach(items, judge)))
    } else {
      const untouched: Array<Judged> = []
      const judgeAndRecord = (item: Judging.Item) =>
        Effect.flatMap(judge(item), (judged) => {
          if (judged.answers.length > 0) return persistently(queue.record([judged]))
          untouched.push(judged)
          return Effect.void
        })
      yield* Effect.forEach(items, judgeAndRecord, { concurrency: concurrency, discard: true })
      if (untouched.length > 0) yield* persistently(queue.record(untouched))
    }
    if (unanswered > 0 && withoutAnswer.length === 0 && !cancels && voters !== "judges")
      return yield* leaveToPeople(taskId)
    if (unanswered > 0) {
      return yield* giveUp({ taskId, voters, lacking: unanswered, prompts }, failed ?? unknown, withoutAnswer)
    }
    if (failed !== undefined) yield* report(failing, taskId, "has a prompt that an expert could not judge", failed)
  })

  const claim = Effect.fnUntraced(function* () {
    const now = yield* Clock.currentTimeMillis
    queue.reconsider(judging.due(now))
    return yield* queue.claim({
      experts: judging.names,
      tasks: Math.min(maxClaimed, limits.tasks - inFlight),
      items: limits.items - itemsInFlight,
      createdBefore: now - turnaround,
      isAvailable: judging.isAvailable(now),
    })
  })

  const awaitNextClaim = Effect.fnUntraced(function* ({ createdAt }: NonNullable<Claims["idle"]>) {
    const now = yield* Clock.currentTimeMillis
    const due = createdAt === undefined ? Infinity : createdAt + turnaround
    const until = Math.min(due, judging.nextChange(now) ?? Infinity)
    if (until === Infinity) return yield* queue.awaitWork
    yield* Effect.timeoutOption(queue.awaitWork, Math.max(1, until - now))
  })

  const begin = Effect.fnUntraced(function* (claim: Claim) {
    inFlight++
    itemsInFlight += claim.items.length
    const ended = Effect.suspend(() => {
      inFlight--
      itemsInFlight -= claim.items.length
      return roomy.open
    })
    const judged = Effect.tapCause(Effect.interruptible(judgeClaim(claim)), (cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.void : FullDisk.logError(`Judging task ${claim.taskId} failed`, cause),
    )
    yield* FiberSet.run(workers, Effect.ensuring(judged, ended))
  })

  // After an interruption between `claim` and `begin`, the claimed items would wait for the next start of the service.
  const claimAndBegin = persistently(
    Effect.uninterruptible(Effect.tap(Effect.suspend(claim), ({ claims }) => Effect.forEach(claims, begin))),
  )

  const takeTasks = Effect.gen(function* () {
    if (inFlight === limits.tasks || itemsInFlight >= limits.items) {
      roomy.closeUnsafe()
      return yield* roomy.await
    }
    const { idle, shortened, unanswered } = yield* claimAndBegin
    for (const { lacking, prompts, taskId } of shortened) {
      yield* report(
        short,
        taskId,
        "has fewer votes",
        `language models have no answer to ${lacking} of ${prompts} prompts; these prompts are completed with fewer votes`,
      )
    }
    for (const task of unanswered) if (cancels || task.voters === "judges") yield* giveUp(task)
    if (idle !== undefined) yield* awaitNextClaim(idle)
  })

  // Without automatic experts, no open task can be answered, so `cancelUnanswered` cancels all of them.
  const cancelAll = Effect.gen(function* () {
    yield* persistently(Effect.suspend(claim))
    const open = yield* Effect.forEach(["pending", "in_progress"] as const, (status) =>
      persistently(store.list({ status })),
    )
    const tasks = open.flatMap((page) => page.tasks)
    for (const { prompts, prompts_done, task_id } of tasks) {
      yield* giveUp({ taskId: task_id, voters: null, lacking: prompts - prompts_done, prompts })
    }
    if (tasks.length === 0) yield* queue.awaitWork
  })

  const work = Effect.catchCause(judging.names.length === 0 && cancels ? cancelAll : takeTasks, (cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.failCause(cause)
      : Effect.andThen(
          FullDisk.logError("Automatic experts failed; retrying in a minute", cause),
          Effect.sleep("1 minute"),
        ),
  )
  yield* Effect.forkScoped(Effect.forever(work))
})

export const layer = (options: WorkforceOptions) => Layer.effectDiscard(make(options))
