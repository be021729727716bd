/**
 * How work is stopped from outside, by a timeout or a signal: it starts nothing new, and what is under way has a grace
 * time to finish. When that is over, it is left behind as it stands, for the next run to settle.
 *
 * Guarantees: what is waited for longer than half a second is announced, and so is what is left behind. Work that is
 * left behind records nothing once the ledger is closed.
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
export interface Terms {
  /** How long what is under way may take to finish. */
  grace: Duration.Duration
  /** What is under way, such as `3 requests`. */
  underWay: Effect.Effect<Option.Option<string>>
  /** Whether to be stopped is the normal end of the work. */
  isNormalEnd: boolean
}

export const makeTerms = (): Terms => ({ grace: defaultGrace, underWay: Effect.succeedNone, isNormalEnd: false })

/** The terms that a supervisor provides, for the work to change. */
export const CurrentTerms = Context.Reference<Terms>("prefstream/pipeline/StopTerms", { defaultValue: makeTerms })

/** Sets some of the terms while an effect runs. */
export const withTerms =
  (terms: Partial<Terms>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(CurrentTerms, (current) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const before = { ...current }
          Object.assign(current, terms)
          return before
        }),
        () => effect,
        (before) => Effect.sync(() => void Object.assign(current, before)),
      ),
    )

/** Work that ends sooner than this once it is stopped is not announced. */
const shortWait = Duration.millis(500)

/** What is under way; asked for at most a second, since things may be going wrong. */
const describe = (terms: Terms): Effect.Effect<Option.Option<string>> =>
  Effect.suspend(() => terms.underWay).pipe(
    Effect.timeoutOption("1 second"),
    Effect.map(Option.flatten),
    Effect.catchCause(() => Effect.succeedNone),
  )

/** What is left behind, and how it goes on. */
export const leftBehind = (terms: Terms): Effect.Effect<string> =>
  Effect.map(
    describe(terms),
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
  options: {
    readonly stop: Effect.Effect<string>
    readonly terms: Terms
    readonly announce: (message: string) => Effect.Effect<void>
    readonly abandon?: Effect.Effect<void>
  },
): Effect.fn.Return<{ readonly reason: Option.Option<string>; readonly exit: Exit.Exit<A, E> | undefined }, never, R> {
  const { abandon = Effect.never, announce, stop, terms } = options
  // Detached: when its grace time is over, nobody waits for it.
  const fiber = yield* Effect.forkDetach(effect)
  const ended = Fiber.await(fiber)
  const interrupt = Fiber.interrupt(fiber)
  const reason = yield* Effect.raceFirst(Effect.as(ended, Option.none<string>()), Effect.asSome(stop)).pipe(
    Effect.onInterrupt(() => interrupt),
  )
  if (Option.isNone(reason)) return { reason, exit: yield* ended }
  const { grace } = terms
  yield* Effect.forkChild(interrupt, { startImmediately: true })
  const graceOver = Effect.gen(function* () {
    yield* Effect.sleep(Duration.min(shortWait, grace))
    const what = Option.getOrElse(yield* describe(terms), () => "work under way")
    const limit = Duration.isFinite(grace) ? `, at most ${Duration.format(grace)}` : ""
    yield* announce(`${reason.value}: waiting for ${what} to finish${limit}`)
    yield* Effect.sleep(Duration.max(Duration.subtract(grace, shortWait), Duration.zero))
    yield* announce(`the grace time is over; ${yield* leftBehind(terms)}`)
  })
  yield* Effect.raceAllFirst([Effect.asVoid(ended), graceOver, abandon]).pipe(
    Effect.onInterrupt(() => interrupt),
    Readiness.unreadyDuring,
  )
  return { reason, exit: fiber.pollUnsafe() }
})
