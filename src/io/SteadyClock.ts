/** Epoch milliseconds that never decrease, even if the wall clock is set back. Clocks of two processes may differ. */
import { Clock, Effect } from "effect"

const leads = new WeakMap<Clock.Clock, number>()

const nanosPerMilli = 1_000_000n

export const now: Effect.Effect<number> = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const elapsed = Number(clock.monotonicTimeNanosUnsafe() / nanosPerMilli)
  const lead = Math.max(leads.get(clock) ?? -Infinity, (yield* clock.currentTimeMillis) - elapsed)
  leads.set(clock, lead)
  return elapsed + lead
})
