/**
 * Sends planned tasks until the input is read and no planned task is left. A task is claimed just before its request is
 * sent. A task that the service may have created is sent again only if the service still remembers its key.
 *
 * After a 400, 413, 422, or 451, a task of several items is split in two, so that only the item at fault is refused.
 * The run ends if a failure would affect every task, or the service refuses the run's first tasks (`FailureStreak`).
 */
import { Data, Deferred, Duration, Effect, type Latch, Option } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as SteadyClock from "../io/SteadyClock.ts"
import { ServiceProfile } from "../api/ServiceProfile.ts"
import { TaskClient } from "./client/AnnotationClient.ts"
import { AnnotationClientError, TooLarge } from "./client/AnnotationClientError.ts"
import * as FailureStreak from "./client/FailureStreak.ts"
import { firstPollDelay } from "./Collect.ts"
import { Ledger } from "./ledger/Ledger.ts"
import type { PlannedTask, StoredRequest } from "./ledger/schema/Model.ts"
import type * as RejectLimit from "./plan/RejectLimit.ts"
import { halve } from "./plan/TaskRequests.ts"
import * as TaskTrace from "../telemetry/TaskTrace.ts"
import { plural } from "../io/Values.ts"
import * as TaskPool from "./TaskPool.ts"

/** Another fiber has sent or split the task, or another worker has taken over its part of the job (see `Parts`). */
class AlreadyClaimed extends Data.TaggedError("AlreadyClaimed") {}

/** The task may exist, but the service may have forgotten the old idempotency key. */
class KeyExpired extends Data.TaggedError("KeyExpired") {}

/** The task may exist. The service ignores idempotency keys, so another request could create a second task. */
class KeyIgnored extends Data.TaggedError("KeyIgnored") {}

const stoppedBetween = "the run was stopped after a request that may have created the task"

/** A claim that took longer than this is extended: the machine may have slept, and the claim may soon expire. */
const maxClaimTime = Duration.toMillis("2 seconds")

/** If a service answers with one of these statuses, it may have refused a whole task because of one item. */
const mayBeOneItem: ReadonlySet<number> = new Set([400, 422, 451])

export type SendError = SqlError | AnnotationClientError

export interface SendOptions {
  /** Failure counts of the last run. If failures ended that run, one task at a time is sent until one is accepted. */
  readonly earlier?: FailureStreak.FailureStreak | undefined
  /** A latch. It is opened whenever no planned task is left, while the input is still being read. */
  readonly starved?: Latch.Latch | undefined
}

/** Sends tasks until none is left. If a failure would affect every task, `halt` fails, and no further task is sent. */
export const send = Effect.fnUntraced(function* <E>(
  readingDone: Latch.Latch,
  halt: Deferred.Deferred<never, E | SendError | RejectLimit.TooManyRejects>,
  counter: RejectLimit.Counter,
  { earlier, starved }: SendOptions = {},
) {
  const ledger = yield* Ledger
  const client = yield* TaskClient
  const profile = yield* ServiceProfile
  const streak = earlier ?? FailureStreak.make(profile.baseUrl)
  const timeLimit = Duration.toMillis(Duration.fromInputUnsafe(profile.requestTimeout))
  const lifetime = Duration.fromInputUnsafe(profile.idempotencyKeyLifetime)

  /** Sends the task, unless `halt` has failed. If `halt` fails during the request, the answer is still recorded. */
  const sendOne: (task: PlannedTask) => Effect.Effect<void, SqlError> = Effect.fnUntraced(
    function* (task) {
      if (yield* Deferred.isDone(halt)) return
      const body = yield* ledger.requestBody(task.seq)
      // A task is claimed only when its turn comes. A killed process thus leaves no waiting task in doubt.
      let claimed = false
      /** Whether an earlier request with this idempotency key, perhaps in an earlier run, may have created the task. */
      let doubtful = task.sentAt !== undefined
      let sentAt = task.sentAt
      const doubt = Effect.sync(() => void (doubtful = true))
      /** Fails if resending could create the task twice. */
      const checkKey = Effect.gen(function* () {
        if (!doubtful) return
        if (profile.idempotencyKey !== "honored") return yield* new KeyIgnored()
        const now = yield* SteadyClock.now
        if (sentAt !== undefined && now - sentAt > Duration.toMillis(lifetime)) return yield* new KeyExpired()
      })
      const extendClaim = Effect.filterOrFail(ledger.keepClaim(task, timeLimit), Boolean, () => new AlreadyClaimed())
      const beforeRetry = Effect.andThen(checkKey, extendClaim)
      const claim = Effect.gen(function* () {
        const began = yield* SteadyClock.now
        if (!(yield* ledger.claim(task, timeLimit))) return yield* new AlreadyClaimed()
        claimed = true
        yield* checkKey
        const now = yield* SteadyClock.now
        if (now - began > maxClaimTime) yield* extendClaim
        if (doubtful) return
        sentAt = now
        if (task.wasDoubted || task.itemCount === 1 || !isTooLarge(task.itemCount, body.length)) return
        const reason = new TooLarge({ detail: "requests of this size were refused earlier in this run" })
        return yield* new AnnotationClientError({ baseUrl: profile.baseUrl, reason })
      })
      const giveBack = Effect.suspend(() => (doubtful ? ledger.markPlanned(task.seq) : ledger.release(task.seq)))
      const release = Effect.andThen(
        giveBack,
        Effect.sync(() => void (claimed = false)),
      )
      yield* client
        .create(body, task.idempotencyKey, { isDoubtful: task.wasDoubted, claim, beforeRetry, doubt, release })
        .pipe(
          Effect.onInterrupt(() => {
            if (!claimed) return Effect.void
            const isDoubt = doubtful && profile.idempotencyKey !== "honored"
            return Effect.ignore(isDoubt ? ledger.markInDoubt(task.seq, stoppedBetween) : release)
          }),
          Effect.flatMap((taskId) => record(task, taskId)),
          Effect.catchTags({
            AnnotationClientError: (failure) => settle(task, failure, doubtful),
            AlreadyClaimed: () => Effect.void,
            KeyExpired: () => ledger.markKeyExpired(task.seq, lifetime),
            KeyIgnored: () => ledger.markKeyIgnored(task.seq),
          }),
        )
    },
    Effect.uninterruptible,
    (effect, { idempotencyKey, itemCount, seq }) =>
      TaskTrace.span("Send.task", idempotencyKey, { "prefstream.task": seq + 1, "prefstream.items": itemCount })(
        effect,
      ),
  )

  const inFlight = new Set<number>()
  const sendTask = (task: PlannedTask) =>
    Effect.ensuring(
      sendOne(task),
      Effect.sync(() => inFlight.delete(task.seq)),
    )

  const tooLarge: Array<{ readonly items: number; readonly bytes: number }> = []
  const isTooLarge = (items: number, bytes: number) =>
    tooLarge.some((refused) => items >= refused.items && bytes >= refused.bytes)

  let leftFailure: AnnotationClientError | undefined

  const end = (failure: AnnotationClientError | undefined) =>
    failure === undefined ? Effect.void : Effect.asVoid(Deferred.fail(halt, failure))

  const record = Effect.fnUntraced(function* (task: PlannedTask, taskId: string) {
    yield* Effect.annotateCurrentSpan("prefstream.task_id", taskId)
    const shared = yield* ledger.markSubmitted(task.seq, taskId, firstPollDelay(profile))
    yield* Option.match(shared, {
      onNone: () => Effect.sync(streak.accepted),
      onSome: (reason) => end(streak.sharedTaskId(taskId, reason)),
    })
  })

  const sendHalves = Effect.fnUntraced(function* (task: PlannedTask, whole: StoredRequest) {
    const halves = halve(whole, task.vote)
    yield* ledger.split(task.seq, halves)
    let seq = task.seq
    for (const { idempotencyKey, items } of halves) {
      yield* sendOne({
        ...task,
        seq,
        itemCount: items.length,
        idempotencyKey,
        sentAt: undefined,
        wasDoubted: false,
      })
      seq += items.length
    }
  })

  const refuse = Effect.fnUntraced(function* (task: PlannedTask, why: string, status: number, detail: string) {
    yield* ledger.markRefused(task.seq, why)
    const rejected = yield* ledger.itemsLostWith(task.seq)
    yield* counter.add({ read: 0, rejected }).pipe(Effect.catch((tooMany) => Deferred.fail(halt, tooMany)))
    yield* end(streak.refused(status, detail))
  })

  const settle = Effect.fnUntraced(function* (task: PlannedTask, failure: AnnotationClientError, doubtful: boolean) {
    const { reason } = failure
    switch (reason._tag) {
      case "Refused":
        if (task.itemCount === 1 || !mayBeOneItem.has(reason.status)) {
          return yield* refuse(task, failure.message, reason.status, reason.detail)
        }
        // If the run ends after this refusal, the halves of the task are stored as planned tasks, but not sent.
        yield* end(streak.refused(reason.status, reason.detail))
        return yield* sendHalves(task, yield* ledger.request(task.seq))
      case "TooLarge": {
        if (task.itemCount === 1) return yield* refuse(task, `refused (413): ${reason.detail}`, 413, reason.detail)
        const whole = yield* ledger.request(task.seq)
        const bytes = whole.body.length
        if (!isTooLarge(task.itemCount, bytes)) tooLarge.push({ items: task.itemCount, bytes })
        return yield* sendHalves(task, whole)
      }
      case "UnusableAnswer":
        yield* ledger.markInDoubt(task.seq, failure.message)
        return yield* end(streak.lost(failure))
      case "Unavailable":
        // Either no request was sent, or the service did not carry out the last request. In both cases, the run ends.
        if (!reason.maybeDone || !doubtful) break
        if (profile.idempotencyKey !== "honored") {
          yield* ledger.markInDoubt(task.seq, failure.message)
        } else {
          // The run continues, because the service may accept other tasks. The next run resends this task with its key.
          leftFailure = failure
          yield* ledger.markPlanned(task.seq)
          yield* Effect.logWarning(
            `a task with ${task.itemCount} ${plural(task.itemCount, "item")} may have arrived; the next run sends it again with the same key: ${failure.message}`,
          )
        }
        return yield* end(streak.lost(failure))
    }
    yield* doubtful ? ledger.markPlanned(task.seq) : ledger.release(task.seq)
    yield* Deferred.fail(halt, failure)
  })

  let page: ReadonlyArray<PlannedTask> = []
  let seq = -1
  let changes = ledger.changes()
  const next = Effect.gen(function* () {
    while (!(yield* Deferred.isDone(halt))) {
      const [task, ...rest] = page
      if (task !== undefined) {
        page = rest
        seq = task.seq
        if (inFlight.has(seq)) continue
        inFlight.add(seq)
        return Option.some(task)
      }
      const done = readingDone.isOpen()
      yield* ledger.planned.close
      if (changes !== ledger.changes()) seq = -1
      changes = ledger.changes()
      page = yield* ledger.plannedAfter(seq)
      if (page.length > 0) continue
      if (done) break
      if (starved !== undefined) yield* starved.open
      yield* Effect.raceAllFirst([ledger.planned.await, readingDone.await, Effect.exit(Deferred.await(halt))])
    }
    return Option.none<PlannedTask>()
  })

  const oneByOne = Effect.gen(function* () {
    while (streak.hasEnded()) {
      const task = yield* next
      if (Option.isNone(task)) return
      yield* sendTask(task.value)
    }
  })
  // When `halt` fails (which ends the run), tasks that still wait in `Throttle.turn` are interrupted.
  yield* Effect.andThen(oneByOne, TaskPool.run(profile.concurrency, next, sendTask)).pipe(
    Effect.raceFirst(Effect.exit(Deferred.await(halt))),
  )
  if (leftFailure !== undefined) yield* Deferred.fail(halt, leftFailure)
})
