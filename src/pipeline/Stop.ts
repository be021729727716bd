/**
 * How work is stopped from outside, by a timeout or a signal: it starts nothing new, and in-flight work has a grace time
 * to finish. What is then unfinished is abandoned, for the next run to settle.
 *
 * Guarantees: a wait of more than half a second is announced, and so is what is left unfinished. Abandoned work records
 * nothing once the ledger is closed.
 */
import { Context, Duration, Effect, type Exit, Fiber, Option } from "effect"
import { defaults, ServiceProfile } from "../api/ServiceProfile.ts"
import * as Readiness from "../telemetry/Readiness.ts"

/** Longer than one request may take: where keys are ignored, a creation that is cut off is in doubt. */
const longerThan = (requestTimeout: Duration.Input) =>
  Duration.sum(Duration.fromInputUnsafe(requestTimeout), Duration.seconds(5))

/** That of a service whose `requestTimeout` is the default. */
export const defaultGrace = longerThan(defaults.requestTimeout)

/** The grace time as it is set, or else that of the service. */
export const graceOf = (grace: Duration.Input | undefined) =>
  grace === undefined
    ? ServiceProfile.useSync(({ requestTimeout }) => longerThan(requestTimeout))
    : Effect.succeed(Duration.fromInputUnsafe(grace))

/** How the running work is to be stopped. */
export interface StopOptions {
  /** How long in-flight work may take to finish. */
  grace: Duration.Duration
  /** The in-flight work, such as `3 requests`. */
  inFlight: Effect.Effect<Option.Option<string>>
  /** Whether to be stopped is the normal end of the work. */
  isNormalEnd: boolean
}

export const makeOptions = (): StopOptions => ({
  grace: defaultGrace,
  inFlight: Effect.succeedNone,
  isNormalEnd: false,
})

/** The options that a supervisor provides, for the work to change. */
export const CurrentOptions = Context.Reference<StopOptions>("prefstream/pipeline/StopOptions", {
  defaultValue: makeOptions,
})

/** Sets some of the options while an effect runs. */
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

/** Work that ends sooner than this once it is stopped is not announced. */
const shortWait = Duration.millis(500)

/** The in-flight work; asked for at most a second, since things may be going wrong. */
const describeInFlight = (options: StopOptions): Effect.Effect<Option.Option<string>> =>
  Effect.suspend(() => options.inFlight).pipe(
    Effect.timeoutOption("1 second"),
    Effect.map(Option.flatten),
    Effect.catchCause(() => Effect.succeedNone),
  )

/** What is left unfinished, and how it continues. */
export const describeUnfinished = (options: StopOptions): Effect.Effect<string> =>
  Effect.map(
    describeInFlight(options),
    Option.match({
      onNone: () => "the next run continues from here",
      onSome: (what) => `left unfinished: ${what}; the next run continues from here`,
    }),
  )

/**
 * Runs an effect to its end, or until `stop` says why it is to be stopped. Then `exit` is undefined if it did not
 * finish within its grace time, or before `abandon`.
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
  // Detached: when its grace time is over, nobody waits for it.
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
    yield* announce(`the grace time is over; ${yield* describeUnfinished(options)}`)
  })
  yield* Effect.raceAllFirst([Effect.asVoid(ended), graceOver, abandon]).pipe(
    Effect.onInterrupt(() => interrupt),
    Readiness.unreadyDuring,
  )
  return { reason, exit: fiber.pollUnsafe() }
})
