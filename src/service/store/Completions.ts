/**
 * Completes tasks that have all their votes, when the grace time is over in which people can take
 * back theirs.
 *
 * Guarantees: until then the task is in progress, for whoever asks: nothing that was published
 * changes. A vote that is taken back ends the wait, which begins anew with the last vote; a restart
 * does not. Where only automatic experts have voted, the task is completed with the last vote.
 */
import { Clock, Duration, Effect } from "effect"
import { Database, untilItWorks } from "../database/Database.ts"
import type { Voting } from "./Voting.ts"

/** The longest wait without a look at the clock, which may be set meanwhile. */
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
    Effect.tapCause((cause) => Effect.logError("Tasks that have all their votes could not be completed", cause)),
    Effect.retry(untilItWorks),
    Effect.forever,
    Effect.forkScoped,
  )
})
