import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { PromptItem } from "../../src/domain/PromptItem.ts"
import * as Source from "../../src/source/Source.ts"
import { collect, summary } from "./support.ts"

const good: PromptItem = { prompt: "p", completions: ["a", "b"] }

describe("fromIterable, fromStream", () => {
  it.effect("items pass the same gate as those from files", () =>
    Effect.gen(function* () {
      const loop: Record<string, unknown> = {}
      loop["loop"] = loop
      const { records, rejects } = yield* collect(
        Source.fromIterable([
          good,
          { ...good, completions: ["a"] },
          { ...good, metadata: { n: 1n } },
          { ...good, metadata: loop },
          { ...good, id: "last" },
        ]),
      )
      assert.deepStrictEqual(summary(records), [
        "1 item p",
        "2 invalid_shape completions: expected at least two distinct completions, found 1",
        "3 invalid_shape metadata.n: expected values that JSON has, found a bigint",
        "4 invalid_shape metadata: expected at most 100 levels of nesting, found more",
        "5 item last",
      ])
      assert.strictEqual(rejects[0]!.raw, '{"prompt":"p","completions":["a"]}')
      assert.isUndefined(rejects[1]!.raw)
      assert.strictEqual(rejects[0]!.file, "memory")
    }),
  )

  it.effect("the ordinal goes on from array to array, and the program's own error comes through", () =>
    Effect.gen(function* () {
      const items = Stream.make(good, good, good).pipe(Stream.rechunk(2))
      const { items: read } = yield* collect(Source.fromStream(items))
      assert.deepStrictEqual(
        read.map(({ origin }) => origin),
        [1, 2, 3].map((line) => ({ file: "memory", line })),
      )
      const failing = Source.fromStream(Stream.concat(items, Stream.fail("theirs" as const)))
      assert.strictEqual(yield* Effect.flip(collect(failing)), "theirs")
    }),
  )
})
