/** Retries with exponential backoff and jitter until `again` returns false. Each wait can be interrupted. */
import { Duration, Effect, Result } from "effect"
import * as Backoff from "../../io/Backoff.ts"

const minDelay = Duration.toMillis("500 millis")
const maxDelay = Duration.toMillis("30 seconds")

export const persist = Effect.fnUntraced(function* <A, E, E2>(
  effect: Effect.Effect<A, E>,
  again: (failure: E) => Effect.Effect<boolean, E2>,
): Effect.fn.Return<A, E | E2> {
  for (let failures = 1; ; failures++) {
    const outcome = yield* Effect.result(effect)
    if (Result.isSuccess(outcome)) return outcome.success
    if (!(yield* again(outcome.failure))) return yield* Effect.fail(outcome.failure)
    const delay = yield* Backoff.jittered(Backoff.millisAfter(failures, minDelay, maxDelay))
    yield* Effect.interruptible(Effect.sleep(delay))
  }
})
