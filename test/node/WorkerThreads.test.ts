import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { availableParallelism } from "node:os"
import * as WorkerThreads from "../../src/node/WorkerThreads.ts"

const url = new URL("./fixtures/doublingThread.ts", import.meta.url)

/** With one processor there is none besides the one that the test runs on. */
describe.skipIf(availableParallelism() < 2)("threads", () => {
  it.effect("answer each input with its own output, whichever of them is done first", () =>
    Effect.gen(function* () {
      const threads = yield* WorkerThreads.make<Uint8Array<ArrayBuffer>, Uint8Array>(url, 3)
      assert.isAtMost(threads.size, 3)
      const inputs = Array.from({ length: 20 }, (_, i) => new Uint8Array(i % 2 === 0 ? 100_000 : 1).fill(i))
      const started = yield* Effect.forEach(inputs, (input) => threads.start(input, []))
      const outputs = yield* Effect.all(started.toReversed(), { concurrency: "unbounded" })
      outputs.toReversed().forEach((output, i) => {
        assert.strictEqual(output.length, inputs[i]!.length)
        assert.isTrue(output.every((byte) => byte === 2 * i))
      })
    }),
  )

  it.effect("get the buffers that are handed over, which are empty here then", () =>
    Effect.gen(function* () {
      const threads = yield* WorkerThreads.make<Uint8Array<ArrayBuffer>, Uint8Array>(url, 1)
      const input = new Uint8Array([1, 2, 3])
      const output = yield* yield* threads.start(input, [input.buffer])
      assert.deepStrictEqual([...output], [2, 4, 6])
      assert.strictEqual(input.length, 0)
    }),
  )

  it.effect("that break down fail what they were given, and what they are given after that", () =>
    Effect.gen(function* () {
      const threads = yield* WorkerThreads.make<string, never>(url, 1)
      const first = yield* threads.start("no bytes", [])
      const second = yield* threads.start("no bytes", [])
      for (const effect of [first, second, yield* threads.start("no bytes", [])]) {
        const error = yield* Effect.flip(effect)
        assert.strictEqual(error._tag, "ThreadFailure")
        assert.instanceOf(error.cause, Error)
      }
    }),
  )
})
