/** A machine's clock whose wall time a test sets, while timers and the elapsed time go on. */
import { Clock, Effect } from "effect"

export const make = Effect.map(Clock.Clock, (clock) => {
  let step = 0
  const now = () => clock.currentTimeMillisUnsafe() + step
  const settable: Clock.Clock = Object.assign(Object.create(clock) as Clock.Clock, {
    currentTimeMillisUnsafe: now,
    currentTimeMillis: Effect.sync(now),
  })
  return {
    provide: Effect.provideService(Clock.Clock, settable),
    setBack: (millis: number) => void (step -= millis),
    setForward: (millis: number) => void (step += millis),
  }
})
