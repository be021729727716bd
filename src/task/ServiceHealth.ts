/**
 * Whether the service is up: while it is down everything waits, and one question at a time
 * finds out whether it is back.
 *
 * Guarantees: after some failures in a row (`downAfter`), whoever met them, nothing is sent but
 * a probe, at growing distances with jitter from one second to half a minute, and no sooner than
 * the service asks for. A probe is a GET, so it can create and cost nothing. When the first one has
 * failed, too, it is said once that the service is down and for how long the job waits, and later
 * that it is back; a service that answers the first one was never down, only some of its tasks are
 * broken. When it was down
 * for longer than `patience`, all that waits fails with `Down`.
 *
 * Effect's `CircuitBreaker` turns calls away, where here they have to wait, and takes the next
 * call for its probe, which here could be one that creates a task.
 */
import { Clock, Duration, Effect, Random, Result } from "effect"
import type { ServiceSettings } from "../api/ServiceProfile.ts"
import { AnnotationClientError, Down, seemsDown } from "./AnnotationClientError.ts"
import { instant, type Throttle } from "./Throttle.ts"

export interface ServiceHealth {
  /** The service answered a request as it should. */
  readonly answered: Effect.Effect<void>
  /** A request failed. */
  readonly failed: (failure: AnnotationClientError) => Effect.Effect<void>
}

const firstProbe = Duration.toMillis("1 second")
const longestWait = Duration.toMillis("30 seconds")

export const make = Effect.fnUntraced(function* (
  profile: Pick<ServiceSettings, "baseUrl" | "patience" | "downAfter">,
  throttle: Throttle<AnnotationClientError>,
  probe: Effect.Effect<unknown, AnnotationClientError>,
) {
  const scope = yield* Effect.scope
  const patience = Duration.fromInputUnsafe(profile.patience)
  let failures = 0
  let since: number | undefined
  let isDown = false

  const recover = Effect.fnUntraced(function* (downSince: number, failure: AnnotationClientError) {
    const deadline = downSince + Duration.toMillis(patience)
    let last = failure
    let isSaid = false
    for (let delay = firstProbe; ; delay = Math.min(2 * delay, longestWait)) {
      const now = yield* Clock.currentTimeMillis
      const asked = (yield* throttle.pausedUntil) - now
      if (now >= deadline || now + asked > deadline) {
        const reason = new Down({ since: downSince, patience, detail: wordsOf(last) })
        return yield* throttle.end(new AnnotationClientError({ baseUrl: profile.baseUrl, reason }))
      }
      const wait = Math.max(delay * (yield* Random.nextBetween(0.8, 1.2)), asked)
      yield* Effect.sleep(Duration.millis(Math.min(wait, deadline - now)))
      yield* throttle.count
      const outcome = yield* Effect.result(probe)
      if (Result.isSuccess(outcome) || !seemsDown(outcome.failure)) break
      last = outcome.failure
      if (isSaid) continue
      isSaid = true
      yield* Effect.logWarning(
        `${profile.baseUrl} has been down since ${instant(downSince)} (${wordsOf(last)}): waiting for it until ${instant(deadline)} at the latest`,
      )
    }
    const seconds = Math.round(((yield* Clock.currentTimeMillis) - downSince) / 1000)
    isDown = false
    failures = 0
    since = undefined
    if (isSaid) {
      yield* Effect.logWarning(`${profile.baseUrl} answers again, after ${Duration.format(Duration.seconds(seconds))}`)
    }
    yield* throttle.resume
  })

  const answered = Effect.sync(() => {
    if (isDown) return
    failures = 0
    since = undefined
  })

  const countFailure = Effect.fnUntraced(function* (failure: AnnotationClientError) {
    const now = yield* Clock.currentTimeMillis
    since ??= now
    if (++failures < profile.downAfter) return
    isDown = true
    yield* throttle.hold
    yield* Effect.forkIn(recover(since, failure), scope)
  })

  /** What was under way when it went down says nothing new. */
  const failed = (failure: AnnotationClientError) =>
    Effect.suspend(() => {
      if (isDown) return Effect.void
      if (seemsDown(failure)) return countFailure(failure)
      // Refused for its number, or to be tried again: that says neither the one nor the other.
      return failure.reason._tag === "Unavailable" ? Effect.void : answered
    })

  return { answered, failed } satisfies ServiceHealth
})

/** What was wrong, without the address, which stands before it. */
const wordsOf = ({ reason }: AnnotationClientError): string =>
  "status" in reason && reason.status !== undefined ? `${reason.status}: ${reason.detail}` : reason.detail
