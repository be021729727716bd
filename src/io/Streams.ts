/** Running a stream to its end. */
import { Effect, Stream } from "effect"

/** Runs `take` for each array of `stream`, then `flush`. A failure of the stream is passed on after `flush` has run. */
export const runAndFlush = <A, E, R, E2, R2>(
  stream: Stream.Stream<A, E, R>,
  take: (values: ReadonlyArray<A>) => Effect.Effect<void, E2, R2>,
  flush: Effect.Effect<void, E2, R2>,
): Effect.Effect<void, E | E2, R | R2> =>
  Effect.suspend(() => {
    let end: Effect.Effect<void, E> = Effect.void
    return stream.pipe(
      Stream.catch((error) => {
        end = Effect.fail(error)
        return Stream.empty
      }),
      Stream.runForEachArray(take),
      Effect.andThen(flush),
      Effect.andThen(Effect.suspend(() => end)),
    )
  })
