/**
 * Logs deliveries that were refused: at most one line a minute, since anybody who finds the port can cause them. Those in
 * between are counted by kind, and logged when the minute is over, or at the end.
 */
import { Clock, Duration, Effect } from "effect"

const sayEvery = Duration.toMillis("1 minute")

/** @returns a function that says that a delivery was refused. */
export const make = Effect.gen(function* () {
  let lastSaid = Number.NEGATIVE_INFINITY
  const suppressed = new Map<string, number>()

  /** What was not said, in words. */
  const takeSuppressed = () => {
    const kinds = [...suppressed].toSorted(([, a], [, b]) => b - a).map(([kind, count]) => `${count} ${kind}`)
    suppressed.clear()
    return kinds.join(", ")
  }

  const saySuppressed = Effect.suspend(() =>
    suppressed.size === 0
      ? Effect.void
      : Effect.logWarning(`more webhook deliveries were refused since the last was told: ${takeSuppressed()}`),
  )
  const scope = yield* Effect.scope
  yield* Effect.addFinalizer(() => saySuppressed)

  /** Once the minute is over; not where a delivery that came just then has told it, and begun another. */
  const sayLater = Effect.gen(function* () {
    yield* Effect.sleep(lastSaid + sayEvery - (yield* Clock.currentTimeMillis))
    const now = yield* Clock.currentTimeMillis
    if (suppressed.size === 0 || now - lastSaid < sayEvery) return
    lastSaid = now
    yield* saySuppressed
  })

  return Effect.fnUntraced(function* (kind: string, why: string) {
    const now = yield* Clock.currentTimeMillis
    if (now - lastSaid < sayEvery) {
      const isFirst = suppressed.size === 0
      suppressed.set(kind, (suppressed.get(kind) ?? 0) + 1)
      if (isFirst) yield* Effect.forkIn(sayLater, scope)
      return
    }
    lastSaid = now
    const others = takeSuppressed()
    yield* Effect.logWarning(
      `a webhook delivery was refused: ${why}${others === "" ? "" : ` (and before it, since the last was told: ${others})`}`,
    )
  })
})
