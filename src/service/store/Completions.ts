/**
 * Completes tasks that have all their votes, after the grace time in which people can undo theirs.
 *
 * Guarantees: until then the task is in progress, so published results never change. An undone vote cancels the wait,
 * which restarts with the last vote; a restart of the service does not. With votes of automatic experts only, the task
 * is completed with the last vote.
 */
import { Clock, Duration, Effect } from "effect"
import * as FullDisk from "../database/FullDisk.ts"
import { Database, retryForever } from "../database/Database.ts"
import type { Voting } from "./Voting.ts"

/** Maximum wait before the clock is read again, since it may be set. */
const maxSleep = Duration.toMillis("10 minutes")

/** Works until its scope closes. */
export const make = Effect.fnUntraced(function* (voting: Voting) {
  const { write } = yield* Database

  const completeDue = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    voting.writeEnding(voting.completeDue(now), (completed) => completed > 0),
  ).pipe(Effect.repeat({ until: (completed) => completed === 0 }))

  const round = Effect.gen(function* () {
    yield* voting.completing.close
    yield* completeDue
    // A write, so that it comes after those that have opened the latch.
    const next = yield* write(voting.nextCompletion)
    if (next === undefined) return yield* voting.completing.await
    const wait = Math.min(next - (yield* Clock.currentTimeMillis), maxSleep)
    return yield* Effect.asVoid(Effect.timeoutOption(voting.completing.await, Math.max(1, wait)))
  })

  yield* round.pipe(
    Effect.tapCause((cause) => FullDisk.logError("Tasks that have all their votes could not be completed", cause)),
    Effect.retry(retryForever),
    Effect.forever,
    Effect.forkScoped,
  )
})
