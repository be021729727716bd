/**
 * Logs refused deliveries, at most one line per minute, because anybody who finds the port can cause them. Further
 * refusals are counted by kind. Their counts are logged after the minute, or at shutdown.
 */
import { Duration, Effect } from "effect"
import * as SteadyClock from "../../io/SteadyClock.ts"

const logInterval = Duration.toMillis("1 minute")

export const make = Effect.gen(function* () {
  let lastLogged = Number.NEGATIVE_INFINITY
  const suppressed = new Map<string, number>()

  const takeSuppressed = () => {
    const kinds = [...suppressed].toSorted(([, a], [, b]) => b - a).map(([kind, count]) => `${count} ${kind}`)
    suppressed.clear()
    return kinds.join(", ")
  }

  const logSuppressed = Effect.suspend(() =>
    suppressed.size === 0
      ? Effect.void
      : Effect.logWarning(`more webhook deliveries were refused since the last message: ${takeSuppressed()}`),
  )
  const scope = yield* Effect.scope
  yield* Effect.addFinalizer(() => logSuppressed)

  const logLater = Effect.gen(function* () {
    yield* Effect.sleep(lastLogged + logInterval - (yield* SteadyClock.now))
    const now = yield* SteadyClock.now
    if (suppressed.size === 0 || now - lastLogged < logInterval) return
    lastLogged = now
    yield* logSuppressed
  })

  return Effect.fnUntraced(function* (kind: string, why: string) {
    const now = yield* SteadyClock.now
    if (now - lastLogged < logInterval) {
      const isFirst = suppressed.size === 0
      suppressed.set(kind, (suppressed.get(kind) ?? 0) + 1)
      if (isFirst) yield* Effect.forkIn(logLater, scope)
      return
    }
    lastLogged = now
    const others = takeSuppressed()
    yield* Effect.logWarning(
      `a webhook delivery was refused: ${why}${others === "" ? "" : ` (also refused since the last message: ${others})`}`,
    )
  })
})
