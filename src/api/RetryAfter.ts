/**
 * What the header `Retry-After` asks for, in either of its forms: seconds, or a date.
 *
 * Guarantees: never more than the caller lets it ask for, never less than nothing; a date that
 * has passed asks for nothing.
 */
import { Clock, Duration, Effect, Result } from "effect"
import { Headers } from "effect/http"

/** Whole milliseconds from now; undefined where the header is absent or malformed. */
export const millis = Effect.fnUntraced(function* (header: string | undefined, longest: Duration.Duration) {
  if (header === undefined) return undefined
  const now = yield* Clock.currentTimeMillis
  return Result.match(Headers.parseRetryAfter(header), {
    onFailure: () => undefined,
    onSuccess: (parsed) => Math.ceil(Duration.toMillis(Duration.min(Headers.retryAfterDelay(parsed, now), longest))),
  })
})
