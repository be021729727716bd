/** Runs a stream for a caller that gathers values. If the stream fails, the caller still processes what it gathered. */
import { Effect, Stream } from "effect"

/**
 * Runs `flush` after the stream has ended or failed. If the stream failed, `hasFailed` is true. The effect then fails
 * with the stream's error, even if `flush` also fails. After a failed `take` or an interruption, `flush` does not run.
 */
export const runAndFlush = <A, E, R, E2, R2>(
  stream: Stream.Stream<A, E, R>,
  take: (values: ReadonlyArray<A>) => Effect.Effect<void, E2, R2>,
  flush: (hasFailed: boolean) => Effect.Effect<void, E2, R2>,
): Effect.Effect<void, E | E2, R | R2> =>
  Effect.suspend(() => {
    let failure: Effect.Effect<never, E> | undefined
    return stream.pipe(
      Stream.catch((error) => {
        failure = Effect.fail(error)
        return Stream.empty
      }),
      Stream.runForEachArray(take),
      Effect.andThen(
        Effect.suspend((): Effect.Effect<void, E | E2, R2> =>
          failure === undefined ? flush(false) : Effect.andThen(Effect.ignore(flush(true)), failure),
        ),
      ),
    )
  })
