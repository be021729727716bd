/**
 * How a command is stopped from outside: by SIGINT, SIGTERM or SIGHUP.
 *
 * Guarantees: the first signal interrupts the command, which finishes what is under way and
 * starts nothing new; when its grace time is over, and at a second signal, the process ends
 * as it stands, and whatever was under way is settled by the next run. What is waited for is
 * said. A signal that comes right after the first is taken for the same one: npm, systemd and
 * a terminal's Ctrl+C may each deliver it once more.
 *
 * The status is 128 + the signal's number, as a shell tells it, unless the command had ended
 * by itself, or being stopped is its normal end.
 */
import { Cause, Clock, Context, Duration, Effect, Exit, Fiber, Option, Queue } from "effect"
import { defaultGrace } from "../../pipeline/Pipeline.ts"
import * as ExitStatus from "./ExitStatus.ts"
import { duration } from "./Summary.ts"
import { say } from "./Messages.ts"

/** The signals that stop a command, with their numbers. */
export const signals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const

export type Signal = keyof typeof signals

/** Signals closer together than this are one. */
const sameSignal = Duration.millis(500)

/** A command that ends sooner than this says nothing of waiting. */
const shortWait = Duration.millis(500)

/** What the running command says of how it is to be stopped. */
export interface Stop {
  /** How long what is under way may take to finish. */
  grace: Duration.Duration
  /** What is under way, in words. */
  underWay: Effect.Effect<Option.Option<string>>
  /** Whether to be stopped is the normal end of what the command is doing. */
  isNormalEnd: boolean
}

const make = (): Stop => ({ grace: defaultGrace, underWay: Effect.succeedNone, isNormalEnd: false })

export const Stop = Context.Reference<Stop>("prefstream/cli/Stop", { defaultValue: make })

/** Sets one of the values of `Stop` while an effect runs. */
const during =
  <Name extends keyof Stop>(name: Name, value: Stop[Name]) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Stop, (stop) =>
      Effect.suspend(() => {
        const before = stop[name]
        stop[name] = value
        return Effect.ensuring(
          effect,
          Effect.sync(() => void (stop[name] = before)),
        )
      }),
    )

/** Gives what is under way this time to finish when the effect is stopped. */
export const withGrace = (grace: Duration.Duration) => during("grace", grace)

/** Tells what is under way when the effect is stopped. */
export const waitingFor = (underWay: Effect.Effect<Option.Option<string>>) => during("underWay", underWay)

/** To stop this effect is its normal end, with the status 0. */
export const isNormalEnd = during("isNormalEnd", true)

/** To stop this effect breaks off what it does, also within one whose normal end is to be stopped. */
export const breaksOff = during("isNormalEnd", false)

/** Runs a command to its exit status, or until it is stopped by one of the signals. */
export const supervise = Effect.fnUntraced(function* <E, R>(
  command: Effect.Effect<number, E, R>,
  received: Queue.Dequeue<Signal>,
): Effect.fn.Return<number, E, R> {
  const stop = make()
  // Detached: when its grace time is over, nobody waits for it.
  const fiber = yield* Effect.forkDetach(Effect.provideService(command, Stop, stop))
  const first = yield* Effect.raceFirst(
    Effect.asSome(Queue.take(received)),
    Effect.as(Fiber.await(fiber), Option.none<Signal>()),
  )
  if (Option.isNone(first)) return yield* Fiber.join(fiber)

  const signal = first.value
  const { grace, isNormalEnd } = stop
  const status = isNormalEnd ? ExitStatus.done : 128 + signals[signal]
  const goesOn = isNormalEnd ? "stopped" : "stopped; the same command goes on from here"
  yield* Effect.forkChild(Fiber.interrupt(fiber))
  const at = yield* Clock.currentTimeMillis
  const second = Effect.gen(function* () {
    let next: Signal
    do next = yield* Queue.take(received)
    while ((yield* Clock.currentTimeMillis) - at < Duration.toMillis(sameSignal))
    yield* say(`${next}: ended at once; ${yield* whatIs(stop)}the same command goes on from here`)
  })
  const graceOver = Effect.gen(function* () {
    yield* Effect.sleep(Duration.min(shortWait, grace))
    const limit = Duration.isFinite(grace) ? `, for ${duration(Duration.toSeconds(grace))} at most` : ""
    const what = yield* described(stop)
    yield* say(
      `${signal}: waiting for ${Option.getOrElse(what, () => "what is under way")} to end${limit}; a second signal ends at once`,
    )
    yield* Effect.sleep(Duration.max(Duration.subtract(grace, shortWait), Duration.zero))
    yield* say(`the grace time is over; ${yield* whatIs(stop)}the same command goes on from here`)
  })
  yield* Effect.raceAllFirst([Fiber.await(fiber), second, graceOver])
  const exit = fiber.pollUnsafe()
  if (exit === undefined) return status
  // It may have ended in the very moment.
  if (Exit.isSuccess(exit)) return exit.value
  if (!Cause.hasInterruptsOnly(exit.cause)) return yield* exit
  yield* say(goesOn)
  return status
})

/** What is under way; not waited for long, since it is asked when things go wrong. */
const described = (stop: Stop): Effect.Effect<Option.Option<string>> =>
  Effect.suspend(() => stop.underWay).pipe(
    Effect.timeoutOption("1 second"),
    Effect.map(Option.flatten),
    Effect.catchCause(() => Effect.succeedNone),
  )

const whatIs = (stop: Stop) =>
  Effect.map(described(stop), Option.match({ onNone: () => "", onSome: (what) => `left unfinished: ${what}; ` }))
