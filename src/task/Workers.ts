/**
 * A fixed number of workers that share one supply of tasks.
 *
 * Guarantees: one worker at a time asks for the next task; an interruption waits for each worker, so that the ledger is
 * still open for what the last request brings (`Stream.mapEffect` does not wait for a worker that it starts while it is
 * being interrupted).
 */
import { Array as Arr, Effect, Option, Semaphore } from "effect"

/** Works until `next` gives none. */
export const run = Effect.fnUntraced(function* <A, E, R, E2, R2>(
  concurrency: number,
  next: Effect.Effect<Option.Option<A>, E, R>,
  work: (task: A) => Effect.Effect<unknown, E2, R2>,
) {
  const oneAtATime = yield* Semaphore.make(1)
  const taken = oneAtATime.withPermit(next)
  const worker = Effect.gen(function* () {
    for (let task = yield* taken; Option.isSome(task); task = yield* taken) yield* work(task.value)
  })
  yield* Effect.all(Arr.replicate(worker, concurrency), { concurrency: "unbounded", discard: true })
})
