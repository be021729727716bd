/** The schedule of Standard Webhooks 1.0.0: ten attempts in three days. `Retry-After` can raise a delay to a day. */
import { Duration, Effect } from "effect"
import * as Backoff from "../../io/Backoff.ts"
import * as RateLimit from "../../api/RateLimit.ts"

/** The delays before the attempts. Each delay begins when the previous attempt ends. */
export type RetrySchedule = ReadonlyArray<Duration.Input>

/** The service's `README.md`, `ApiGuide`, `ApiDocument`, and `pages/dashboard/Webhook` also describe this schedule. */
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
const maxPause = Duration.hours(1)

/** Returns the delay in milliseconds, at most a day. 0: the header is absent or malformed. */
export const retryAfter = (header: string | undefined): Effect.Effect<number> =>
  Effect.map(RateLimit.retryAfter(header, maxRetryAfter), (millis) => millis ?? 0)

/** The delay in milliseconds before the attempt at `step` (0 is the first). Undefined: the schedule has ended. */
export const delayTo = Effect.fnUntraced(function* (schedule: RetrySchedule, step: number, retryAfter: number) {
  const delay = schedule[step]
  if (delay === undefined) return undefined
  return Math.max(Math.round(yield* Backoff.jittered(Duration.toMillis(Duration.fromInputUnsafe(delay)))), retryAfter)
})

/** Returns for how many milliseconds to pause all deliveries, given the receiver's status and `Retry-After`. */
export const pause = (status: number, retryAfter: number): number =>
  status === 429 || status === 503 ? Math.min(retryAfter, Duration.toMillis(maxPause)) : 0
