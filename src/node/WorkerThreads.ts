/**
 * Adapter: functions that run in threads of their own, through `node:worker_threads`.
 *
 * Guarantees: no thread is started before there is work for it; all end with the scope, also
 * with work under way. A thread that breaks down fails what it was given.
 *
 * Input and output are copied as `structuredClone` does it, but for the buffers that are handed over.
 */
import { availableParallelism } from "node:os"
import { parentPort, Worker } from "node:worker_threads"
import { Deferred, Effect, Schema } from "effect"

/** A thread broke down. */
export class ThreadFailure extends Schema.TaggedError<ThreadFailure>()("ThreadFailure", { cause: Schema.Defect() }) {}

export interface Threads<Input, Output> {
  /** How many there are at the most. With none, there is nobody to `start` anything. */
  readonly size: number
  /**
   * Gives the input to a thread, at once; the effect inside waits for the output. The buffers are
   * those parts of the input that are handed over instead of copied, and are empty here after it.
   */
  readonly start: (
    input: Input,
    buffers: ReadonlyArray<ArrayBuffer>,
  ) => Effect.Effect<Effect.Effect<Output, ThreadFailure>>
}

/**
 * Threads that run the module at `url`, which calls `serve`: as many as there are processors
 * besides the one that this runs on, but not more than `most`.
 */
export const make = Effect.fnUntraced(function* <Input, Output>(url: URL, most: number) {
  const size = Math.min(availableParallelism() - 1, most)
  const threads: Array<ReturnType<typeof startThread<Output>>> = []
  yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all(threads.map(({ end }) => end()))))
  let next = 0
  const result: Threads<Input, Output> = {
    size,
    start: (input, buffers) =>
      Effect.sync(() => {
        const at = next++ % size
        threads[at] ??= startThread(url)
        return threads[at].run(input, buffers)
      }),
  }
  return result
})

const startThread = <Output>(url: URL) => {
  const worker = new Worker(url)
  // In the order in which the thread answers.
  const waiting: Array<Deferred.Deferred<Output, ThreadFailure>> = []
  let failure: ThreadFailure | undefined
  worker.on("message", (output: Output) => {
    const first = waiting.shift()
    if (first !== undefined) Deferred.doneUnsafe(first, Effect.succeed(output))
  })
  worker.on("error", (cause) => {
    failure = new ThreadFailure({ cause })
    for (const deferred of waiting.splice(0)) Deferred.doneUnsafe(deferred, Effect.fail(failure))
  })
  return {
    run: (input: unknown, buffers: ReadonlyArray<ArrayBuffer>): Effect.Effect<Output, ThreadFailure> => {
      if (failure !== undefined) return Effect.fail(failure)
      const deferred = Deferred.makeUnsafe<Output, ThreadFailure>()
      waiting.push(deferred)
      worker.postMessage(input, buffers)
      return Deferred.await(deferred)
    },
    end: () => worker.terminate(),
  }
}

/** In a thread: answers each input with the function's output, whose buffers are handed over. */
export const serve = <Output>(
  handle: (input: never) => Output,
  buffersOf: (output: Output) => ReadonlyArray<ArrayBuffer>,
): void => {
  parentPort?.on("message", (input: unknown) => {
    const output = handle(input as never)
    parentPort?.postMessage(output, buffersOf(output))
  })
}
