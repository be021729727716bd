/**
 * Completes tasks that have all their votes, after a grace time in which people can undo their last vote. During the
 * grace time, the task stays in progress, so an undo never changes a published result. A restart does not extend the
 * grace time. If only automatic experts voted, the last vote completes the task immediately.
 */
import { Clock, Duration, Effect } from "effect"
import * as FullDisk from "../database/FullDisk.ts"
import { Database, retryForever } from "../database/Database.ts"
import type { Voting } from "./Voting.ts"

/** The clock is read at least this often, because the system time may change. */
const maxSleep = Duration.toMillis("10 minutes")

export const make = Effect.fnUntraced(function* (voting: Voting) {
  const { write } = yield* Database

  const completeDue = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    voting.writeEnding(voting.completeDue(now), (completed) => completed > 0),
  ).pipe(Effect.repeat({ until: (completed) => completed === 0 }))

  const round = Effect.gen(function* () {
    yield* voting.completing.close
    yield* completeDue
    // This read is inside `write`, so that it sees the changes that opened the latch.
    const next = yield* write(voting.nextCompletion)
    if (next === undefined) return yield* voting.completing.await
    const wait = Math.min(next - (yield* Clock.currentTimeMillis), maxSleep)
    return yield* Effect.asVoid(Effect.timeoutOption(voting.completing.await, Math.max(1, wait)))
  })

  yield* round.pipe(
    Effect.tapCause((cause) =>
      FullDisk.logError("Tasks that have all their votes could not be completed; retrying", cause),
    ),
    Effect.retry(retryForever),
    Effect.forever,
    Effect.forkScoped,
  )
})
