/**
 * Fibers in this process that take tasks from one source. An interruption waits for all fibers, so that the ledger is
 * still open for the last response. `Stream.mapEffect` would not wait for a fiber that starts during the interruption.
 */
import { Array as Arr, Effect, Option, Semaphore } from "effect"

export const run = Effect.fnUntraced(function* <A, E, R, E2, R2>(
  concurrency: number,
  next: Effect.Effect<Option.Option<A>, E, R>,
  work: (task: A) => Effect.Effect<unknown, E2, R2>,
) {
  const oneAtATime = yield* Semaphore.make(1)
  const taken = oneAtATime.withPermit(next)
  const fiber = Effect.gen(function* () {
    for (let task = yield* taken; Option.isSome(task); task = yield* taken) yield* work(task.value)
  })
  yield* Effect.all(Arr.replicate(fiber, concurrency), { concurrency: "unbounded", discard: true })
})
