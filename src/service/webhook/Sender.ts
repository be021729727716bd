/**
 * Delivers each webhook message when the message is due. A receiver may get a message more than once. If the service
 * ends before it has stored the outcome of an attempt, the next start repeats the attempt with the same message id.
 * While the database cannot be written, outcomes wait in memory.
 */
import { Clock, Duration, Effect, FiberSet, Latch, Option, Schedule } from "effect"
import * as FullDisk from "../database/FullDisk.ts"
import type { Write } from "../../sql/GroupCommit.ts"
import { retryForever } from "../database/Database.ts"
import type * as Attempt from "./Attempt.ts"
import type { Endpoint, Target } from "./Endpoint.ts"
import type { Due, Outbox } from "./Outbox.ts"

export interface SenderOptions {
  readonly write: Write
  readonly endpoint: Endpoint
  readonly outbox: Outbox
  readonly send: Effect.Success<ReturnType<typeof Attempt.make>>
  readonly concurrency: number
  readonly keep: Duration.Duration
}

/** The sender reads the clock at least this often, because the system time may change. */
const maxSleepMillis = Duration.toMillis("10 minutes")

export const make = Effect.fnUntraced(function* (options: SenderOptions) {
  const { concurrency, endpoint, keep, outbox, send, write } = options
  const work = yield* Latch.make(false)
  const wake = Effect.asVoid(work.open)
  const attempts = yield* FiberSet.make<void>()
  const inFlight = new Set<number>()

  const sealed = (due: Due) =>
    due.gathering === null
      ? Effect.succeedSome(due)
      : write(outbox.writeSealed(due.sequence)).pipe(
          Effect.tapError((error) =>
            FullDisk.logError(`Webhook message ${due.message_id} could not be prepared; retrying`, error),
          ),
          Effect.retry(retryForever),
        )

  /** A shutdown waits until the outcome of an attempt is stored, unless the database fails. */
  const deliver = ({ secrets, url }: Target, dueMessage: Due) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const current = yield* restore(sealed(dueMessage))
        if (Option.isNone(current)) return
        const due = current.value
        const message = { messageId: due.message_id, payload: due.payload }
        const outcome = yield* restore(send(url, secrets, message))
        const store = write(outbox.writeOutcome(due, url, outcome)).pipe(
          Effect.tapError((error) =>
            FullDisk.logError(`The outcome of delivering ${due.message_id} could not be stored; retrying`, error),
          ),
        )
        yield* store.pipe(Effect.catch(() => restore(Effect.retry(Effect.delay(store, "100 millis"), retryForever))))
      }),
    )

  const attempt = (target: Target, due: Due) =>
    deliver(target, due).pipe(
      // The message counts as in flight during the sleep; otherwise it would be attempted again immediately.
      Effect.catchDefect((defect) =>
        Effect.andThen(
          FullDisk.logError("A webhook delivery failed unexpectedly; retrying in 30 seconds", defect),
          Effect.sleep("30 seconds"),
        ),
      ),
      Effect.ensuring(Effect.sync(() => inFlight.delete(due.sequence))),
      Effect.andThen(wake),
      Effect.ignore,
    )

  const sleepUntil = (until: Option.Option<number>) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const sleep = Option.isNone(until) ? maxSleepMillis : Math.min(maxSleepMillis, Math.max(1, until.value - now))
      return Effect.asVoid(Effect.timeoutOption(work.await, sleep))
    })

  const round = Effect.gen(function* () {
    yield* work.close
    const now = yield* Clock.currentTimeMillis
    const target = yield* endpoint.target(now)
    const free = concurrency - inFlight.size
    if (Option.isNone(target) || free === 0) return yield* sleepUntil(Option.none())
    const { pausedUntil } = target.value
    if (pausedUntil > now) return yield* sleepUntil(Option.some(pausedUntil))
    const due = yield* outbox.due(now, free, [...inFlight])
    for (const message of due) {
      inFlight.add(message.sequence)
      yield* FiberSet.run(attempts, attempt(target.value, message))
    }
    if (due.length === free) return
    return yield* sleepUntil(yield* outbox.nextDue([...inFlight]))
  })

  yield* round.pipe(
    Effect.catchDefect((defect) => Effect.fail(defect)),
    Effect.tapError((error) => FullDisk.logError("Webhook messages could not be read; retrying", error)),
    // The retry is inside `forever`, so that the backoff starts anew after each successful round.
    Effect.retry(retryForever),
    Effect.forever,
    Effect.forkScoped,
  )

  const forget = Effect.gen(function* () {
    const before = (yield* Clock.currentTimeMillis) - Duration.toMillis(keep)
    yield* Effect.repeat(write(outbox.writeForgotten(before)), { while: (more) => more })
  })
  yield* forget.pipe(
    Effect.catch((error) =>
      FullDisk.logError("Old webhook deliveries could not be deleted; trying again in 1 hour", error),
    ),
    Effect.repeat(Schedule.spaced("1 hour")),
    Effect.forkScoped,
  )

  return { wake }
})
