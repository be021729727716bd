/**
 * Stops work after a timeout or a signal. Requests in flight get a grace time to finish. After the grace time, the work
 * is abandoned, and the next run continues or repeats the work. Nothing is recorded once the ledger is closed.
 */
import { Context, Duration, Effect, type Exit, Fiber, Option } from "effect"
import { defaults, ServiceProfile } from "../api/ServiceProfile.ts"
import * as Readiness from "../telemetry/Readiness.ts"

/** The default grace time is longer than a request can take. A request that is cut off may have created a task. */
const longerThan = (requestTimeout: Duration.Input) =>
  Duration.sum(Duration.fromInputUnsafe(requestTimeout), Duration.seconds(5))

export const defaultGrace = longerThan(defaults.requestTimeout)

export const graceOf = (grace: Duration.Input | undefined) =>
  grace === undefined
    ? ServiceProfile.useSync(({ requestTimeout }) => longerThan(requestTimeout))
    : Effect.succeed(Duration.fromInputUnsafe(grace))

export interface StopOptions {
  grace: Duration.Duration
  inFlight: Effect.Effect<Option.Option<string>>
  /** Whether a stop is the normal end of the work, as for a worker or a server. */
  isNormalEnd: boolean
}

export const makeOptions = (): StopOptions => ({
  grace: defaultGrace,
  inFlight: Effect.succeedNone,
  isNormalEnd: false,
})

export const CurrentOptions = Context.Reference<StopOptions>("prefstream/pipeline/StopOptions", {
  defaultValue: makeOptions,
})

export const withOptions =
  (options: Partial<StopOptions>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(CurrentOptions, (current) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const before = { ...current }
          Object.assign(current, options)
          return before
        }),
        () => effect,
        (before) => Effect.sync(() => void Object.assign(current, before)),
      ),
    )

const shortWait = Duration.millis(500)

/** Returns none if the ledger fails, or does not respond within one second. */
const describeInFlight = (options: StopOptions): Effect.Effect<Option.Option<string>> =>
  Effect.suspend(() => options.inFlight).pipe(
    Effect.timeoutOption("1 second"),
    Effect.map(Option.flatten),
    Effect.catchCause(() => Effect.succeedNone),
  )

export const describeUnfinished = (options: StopOptions): Effect.Effect<string> =>
  Effect.map(
    describeInFlight(options),
    Option.match({
      onNone: () => "the next run continues where this one stopped",
      onSome: (what) => `left unfinished: ${what}; the next run continues where this one stopped`,
    }),
  )

/**
 * Runs `effect`, and interrupts it when `stop` succeeds. Waits for work that cannot be interrupted, at most until the
 * grace time is over or `abandon` succeeds. If the effect has not ended by this time, `exit` is undefined.
 */
export const until = Effect.fnUntraced(function* <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  {
    abandon = Effect.never,
    announce,
    options,
    stop,
  }: {
    readonly stop: Effect.Effect<string>
    readonly options: StopOptions
    readonly announce: (message: string) => Effect.Effect<void>
    readonly abandon?: Effect.Effect<void>
  },
): Effect.fn.Return<{ readonly reason: Option.Option<string>; readonly exit: Exit.Exit<A, E> | undefined }, never, R> {
  // The fiber is detached, because nothing waits for it after the grace time.
  const fiber = yield* Effect.forkDetach(effect)
  const ended = Fiber.await(fiber)
  const interrupt = Fiber.interrupt(fiber)
  const reason = yield* Effect.raceFirst(Effect.as(ended, Option.none<string>()), Effect.asSome(stop)).pipe(
    Effect.onInterrupt(() => interrupt),
  )
  if (Option.isNone(reason)) return { reason, exit: yield* ended }
  const { grace } = options
  yield* Effect.forkChild(interrupt, { startImmediately: true })
  const graceOver = Effect.gen(function* () {
    yield* Effect.sleep(Duration.min(shortWait, grace))
    const what = Option.getOrElse(yield* describeInFlight(options), () => "work in flight")
    const limit = Duration.isFinite(grace) ? `, at most ${Duration.format(grace)}` : ""
    yield* announce(`${reason.value}: waiting for ${what} to finish${limit}`)
    yield* Effect.sleep(Duration.max(Duration.subtract(grace, shortWait), Duration.zero))
    yield* announce(`the grace period is over; ${yield* describeUnfinished(options)}`)
  })
  yield* Effect.raceAllFirst([Effect.asVoid(ended), graceOver, abandon]).pipe(
    Effect.onInterrupt(() => interrupt),
    Readiness.unreadyDuring,
  )
  return { reason, exit: fiber.pollUnsafe() }
})
