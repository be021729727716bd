/**
 * The retry schedule of Standard Webhooks 1.0.0: ten attempts over three days.
 *
 * Guarantees: a delay is at least the receiver's `Retry-After`, up to a day; `Retry-After` never shortens a delay or
 * extends the schedule.
 */
import { Duration, Effect } from "effect"
import * as Backoff from "../../io/Backoff.ts"
import * as RateLimit from "../../api/RateLimit.ts"

/** The delay before each attempt, from the end of the one before. The first is that of the first attempt. */
export type RetrySchedule = ReadonlyArray<Duration.Input>

/**
 * Its number of attempts and its days are also named in `README.md` of the service, `Webhooks`, `http/ApiGuide`,
 * `http/ApiDocument`, and `pages/dashboard/Webhook`.
 */
export const standardSchedule: RetrySchedule = [
  "0 seconds",
  "5 seconds",
  "5 minutes",
  "30 minutes",
  "2 hours",
  "5 hours",
  "10 hours",
  "14 hours",
  "20 hours",
  "24 hours",
]

const maxRetryAfter = Duration.hours(24)
/** How long all deliveries wait when the receiver is overloaded, in milliseconds. */
const maxPause = Duration.hours(1)

/** Milliseconds that a `Retry-After` header asks for, in either of its forms, at most a day; 0 where it is absent or malformed. */
export const retryAfter = (header: string | undefined): Effect.Effect<number> =>
  Effect.map(RateLimit.retryAfter(header, maxRetryAfter), (millis) => millis ?? 0)

/** Milliseconds from a failed attempt to the one at `step` of the schedule (0 is the first); undefined where there is none. */
export const delayTo = Effect.fnUntraced(function* (schedule: RetrySchedule, step: number, retryAfter: number) {
  const delay = schedule[step]
  if (delay === undefined) return undefined
  return Math.max(Math.round(yield* Backoff.jittered(Duration.toMillis(Duration.fromInputUnsafe(delay)))), retryAfter)
})

/** Milliseconds for which nothing is sent to a receiver, by the status and the `Retry-After` of its answer. */
export const pause = (status: number, retryAfter: number): number =>
  status === 429 || status === 503 ? Math.min(retryAfter, Duration.toMillis(maxPause)) : 0
