/**
 * A first signal stops the command, and a second one ends the process. Signals within half a second after the first are
 * ignored, because npm, systemd, and a terminal may each deliver the same signal. The exit status is 128 + the signal's
 * number, or 0 for a command that runs until it is stopped, such as `serve`.
 */
import { Cause, Effect, Exit, Option, Queue } from "effect"
import * as SteadyClock from "../io/SteadyClock.ts"
import * as Stop from "../pipeline/Stop.ts"
import * as ExitStatus from "./output/ExitStatus.ts"
import { say } from "./output/Text.ts"

export const signals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const

export type Signal = keyof typeof signals

export const supervise = Effect.fnUntraced(function* <E, R>(
  command: Effect.Effect<number, E, R>,
  received: Queue.Dequeue<Signal>,
): Effect.fn.Return<number, E, R> {
  const options = Stop.makeOptions()
  let status: number = ExitStatus.done
  let stoppedAt = 0
  const first = Effect.gen(function* () {
    const signal = yield* Queue.take(received)
    stoppedAt = yield* SteadyClock.now
    status = options.isNormalEnd ? ExitStatus.done : 128 + signals[signal]
    return signal
  })
  const second = Effect.gen(function* () {
    let signal: Signal
    do signal = yield* Queue.take(received)
    while ((yield* SteadyClock.now) - stoppedAt < 500)
    yield* say(`${signal}: ended immediately; ${yield* Stop.describeUnfinished(options)}`)
  })
  const { exit, reason } = yield* Stop.until(Effect.provideService(command, Stop.CurrentOptions, options), {
    stop: first,
    options,
    announce: (message) =>
      say(message.startsWith("SIG") ? `${message}; a second signal ends the process immediately` : message, "info"),
    abandon: second,
  })
  if (exit === undefined) return status
  if (Option.isNone(reason) || Exit.isSuccess(exit) || !Cause.hasInterruptsOnly(exit.cause)) return yield* exit
  yield* say(status === ExitStatus.done ? "stopped" : "stopped; the next run continues where this one stopped", "info")
  return status
})
