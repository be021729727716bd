/**
 * Runs several fibers that take tasks from one source. After an interruption, `run` waits until all fibers have ended,
 * so that they can still write the last responses to the ledger. `Stream.mapEffect` does not wait for every fiber: a
 * fiber may start while the stream is being interrupted.
 */
import { Array as Arr, Effect, Option, Semaphore } from "effect"

export const run = Effect.fnUntraced(function* <A, E, R, E2, R2>(
  concurrency: number,
  next: Effect.Effect<Option.Option<A>, E, R>,
  work: (task: A) => Effect.Effect<unknown, E2, R2>,
) {
  const oneAtATime = yield* Semaphore.make(1)
  const takeNext = oneAtATime.withPermit(next)
  const fiber = Effect.gen(function* () {
    for (let task = yield* takeNext; Option.isSome(task); task = yield* takeNext) yield* work(task.value)
  })
  yield* Effect.all(Arr.replicate(fiber, concurrency), { concurrency: "unbounded", discard: true })
})
