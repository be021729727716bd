/**
 * A steady clock, for due times, pauses and durations: the wall clock of a machine may be set back at any time.
 *
 * Guarantees: it shows epoch milliseconds and never goes back. Where the wall clock is set back, it goes on with the time
 * that elapses; where that is set forward, or the machine slept, it follows. Another process may have another time.
 */
import { Clock, Effect } from "effect"

/** Of each clock, by how many milliseconds the wall clock was ahead of the monotonic one at most. */
const leads = new WeakMap<Clock.Clock, number>()

const nanosPerMilli = 1_000_000n

export const now: Effect.Effect<number> = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const elapsed = Number(clock.monotonicTimeNanosUnsafe() / nanosPerMilli)
  const lead = Math.max(leads.get(clock) ?? -Infinity, (yield* clock.currentTimeMillis) - elapsed)
  leads.set(clock, lead)
  return elapsed + lead
})
