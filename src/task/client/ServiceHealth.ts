/**
 * Decides whether the service is up. After `downAfter` consecutive failures, all requests wait. Probes then poll one
 * task at a time, every 1 to 30 seconds, or later if `Retry-After` asks for this. After `patience`, the waiting
 * requests fail with `Down`. Some probes poll an id that does not exist. Even a healthy service may answer such a probe
 * with status 500. After such a response, the waiting requests are sent as a test: one at a time, first a poll.
 */
import { Duration, Effect, Result } from "effect"
import * as Backoff from "../../io/Backoff.ts"
import * as SteadyClock from "../../io/SteadyClock.ts"
import type { ServiceSettings } from "../../api/ServiceProfile.ts"
import { shorten } from "../../io/Values.ts"
import { AnnotationClientError, Down, instant, seemsDown } from "./AnnotationClientError.ts"
import type { Throttle } from "./Throttle.ts"

export interface ServiceHealth {
  readonly answered: Effect.Effect<void>
  readonly failed: (failure: AnnotationClientError) => Effect.Effect<void>
}

export interface Probe {
  readonly ask: Effect.Effect<unknown, AnnotationClientError>
  readonly isMadeUp: boolean
}

/** The latest valid date (ECMA-262, 21.4.1.1). */
const latest = 8.64e15

const minProbeDelay = Duration.toMillis("1 second")
const maxWait = Duration.toMillis("30 seconds")

const maxCauseCharacters = 80

const isInconclusive = ({ reason }: AnnotationClientError): boolean =>
  reason._tag === "Unavailable" && reason.status !== undefined && ![502, 503, 504].includes(reason.status)

export const make = Effect.fnUntraced(function* (
  profile: Pick<ServiceSettings, "baseUrl" | "patience" | "downAfter" | "idempotencyKey">,
  throttle: Throttle<AnnotationClientError>,
  probeAfter: (failed: number) => Probe,
) {
  const scope = yield* Effect.scope
  const patience = Duration.fromInputUnsafe(profile.patience)
  let failures = 0
  let since: number | undefined
  let isDown = false
  let isSaid = false
  let probes = 0

  const reset = () => {
    isDown = false
    isSaid = false
    failures = 0
    probes = 0
    since = undefined
  }

  const recovered = Effect.suspend(() => {
    const downSince = since
    const wasSaid = isSaid
    reset()
    if (!wasSaid || downSince === undefined) return Effect.void
    return Effect.flatMap(SteadyClock.now, (now) => {
      const seconds = Duration.seconds(Math.round((now - downSince) / 1000))
      return Effect.logWarning(`${profile.baseUrl} answers again, after ${Duration.format(seconds)}`)
    })
  })

  const end = Effect.fnUntraced(function* (downSince: number, last: AnnotationClientError) {
    reset()
    const reason = new Down({ since: downSince, patience, detail: wordsOf(last) })
    yield* throttle.end(new AnnotationClientError({ baseUrl: profile.baseUrl, reason }))
    yield* throttle.resume()
  })

  const recover = Effect.fnUntraced(function* (downSince: number, failure: AnnotationClientError) {
    const deadline = downSince + Duration.toMillis(patience)
    let last = failure
    const logDown = Effect.suspend(() => {
      if (isSaid) return Effect.void
      isSaid = true
      return Effect.logWarning(
        `${profile.baseUrl} has been down since ${instant(downSince)} (${wordsOf(last)}): waiting ${deadline > latest ? "without a time limit" : `until ${instant(deadline)} at the latest`}`,
      )
    })
    if (probes > 0) yield* logDown
    while (true) {
      const now = yield* SteadyClock.now
      const pauseMillis = (yield* throttle.pausedUntil) - now
      const isOver = now >= deadline || now + pauseMillis > deadline
      if (isOver) {
        // Waits until there is a request. If this takes at least `maxWait`, the service may be up again, and another
        // probe is sent.
        yield* throttle.wanted
        const then = yield* SteadyClock.now
        if (then - now < maxWait || then < (yield* throttle.pausedUntil)) return yield* end(downSince, last)
      } else {
        const wait = Math.max(
          yield* Backoff.jittered(Backoff.millisAfter(probes + 1, minProbeDelay, maxWait)),
          pauseMillis,
        )
        // Whole milliseconds: a small fraction would not advance the clock, and the next probe would follow at once.
        yield* Effect.sleep(Duration.millis(Math.ceil(Math.min(wait, deadline - now))))
      }
      yield* throttle.count
      const probe = probeAfter(probes)
      const outcome = yield* Effect.result(probe.ask)
      if (Result.isSuccess(outcome) || !seemsDown(outcome.failure)) {
        yield* recovered
        return yield* throttle.resume()
      }
      last = outcome.failure
      probes++
      // Without idempotency keys, only a poll may test the service: a `create` that fails may leave a task `in_doubt`.
      const mayTry = profile.idempotencyKey === "honored" || throttle.isPollWaiting()
      if (probe.isMadeUp && isInconclusive(last) && !isOver && mayTry) {
        isDown = false
        failures = profile.downAfter - 1
        return yield* throttle.resume(true)
      }
      yield* logDown
    }
  })

  const answered = Effect.suspend(() => {
    if (isDown) return Effect.void
    if (isSaid) return recovered
    failures = 0
    probes = 0
    since = undefined
    return Effect.void
  })

  const countFailure = Effect.fnUntraced(function* (failure: AnnotationClientError) {
    const now = yield* SteadyClock.now
    since ??= now
    if (++failures < profile.downAfter) return
    isDown = true
    yield* throttle.hold
    const release = Effect.suspend(() => {
      reset()
      return throttle.resume()
    })
    // Requests wait until `recover` ends. If it fails, `release` lets them continue.
    yield* Effect.forkIn(
      Effect.onError(recover(since, failure), () => release),
      scope,
    )
  })

  const failed = (failure: AnnotationClientError) =>
    Effect.suspend(() => {
      if (isDown) return Effect.void
      if (seemsDown(failure)) return countFailure(failure)
      // A rate limit, or a 503 with `Retry-After`, does not show whether the service is up.
      return failure.reason._tag === "Unavailable" ? Effect.void : answered
    })

  return { answered, failed } satisfies ServiceHealth
})

const wordsOf = ({ reason }: AnnotationClientError): string => {
  const what =
    reason._tag === "UnusableAnswer" && reason.found !== undefined ? `not JSON: ${reason.found}` : reason.detail
  const words = "status" in reason && reason.status !== undefined ? `${reason.status}: ${what}` : what
  return shorten(words, maxCauseCharacters)
}
