import { assert, describe } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import type { PromptItem } from "../../src/domain/PromptItem.ts"
import * as Source from "../../src/source/Source.ts"
import { collect, summary, test } from "./support.ts"
import { column } from "../support/columns.ts"

const good: PromptItem = { prompt: "p", completions: ["a", "b"] }

describe("make", () => {
  test("items pass the same gate as those from files", function* () {
    const loop: Record<string, unknown> = {}
    loop["loop"] = loop
    const { records, rejects } = yield* collect(
      Source.make([
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
      "3 invalid_shape metadata.n: expected a JSON value, found a bigint",
      "4 invalid_shape metadata: expected at most 100 levels of nesting, found more",
      "5 item last",
    ])
    assert.strictEqual(rejects[0]!.raw, '{"prompt":"p","completions":["a"]}')
    assert.isUndefined(rejects[1]!.raw)
    assert.strictEqual(rejects[0]!.file, "memory")
  })

  test("an option that no source has is refused with the nearest known one, also of files and joins; so is a bad layout", function* () {
    const failureOf = <E, R>({ records }: { readonly records: Stream.Stream<unknown, E, R> }) =>
      Effect.map(Effect.flip(Stream.runDrain(records)), String)
    const misspelled: object = { promt: "question" }
    assert.include(yield* failureOf(Source.make([good], misspelled)), "`promt`: no such option (did you mean prompt?)")
    assert.include(
      yield* failureOf(Source.files("absent.jsonl", { maxLineByte: 1 } as object)),
      "`maxLineByte`: no such option (did you mean maxLineBytes?)",
    )
    const join = { prompts: "absent.jsonl", completions: ["a", "b"], completionsPath: "x" }
    assert.include(
      yield* failureOf(Source.join(join)),
      "`completionsPath`: no such option (did you mean completionPath?)",
    )
    const { reason } = yield* Effect.flip(collect(Source.make([good], { prompt: "a..b" })))
    assert.strictEqual(reason._tag, "InvalidOption")
    const unset: object = { promt: undefined }
    assert.lengthOf((yield* collect(Source.make([good], unset))).items, 1)
  })

  test("the ordinal goes on from array to array, and the program's own error comes through", function* () {
    const items = Stream.make(good, good, good).pipe(Stream.rechunk(2))
    const { items: read } = yield* collect(Source.make(items))
    assert.deepStrictEqual(
      column(read, "origin"),
      [1, 2, 3].map((line) => ({ file: "memory", line })),
    )
    const failing = Source.make(Stream.concat(items, Stream.fail("theirs" as const)))
    assert.strictEqual(yield* Effect.flip(collect(failing)), "theirs")
  })

  test("records of any layout make items, and each is in one of them or in a reject", function* () {
    const rows = [
      { q: "one", answer: "a", by: "m" },
      { q: "two", answer: "a", by: "m" },
      { q: "one", answer: "b", by: "n" },
    ]
    const long = Source.make(rows, { layout: "long", prompt: "q", completion: "answer", model: "by", name: "rows" })
    const { items, rejects } = yield* collect(long)
    assert.deepStrictEqual(
      items.map(({ completionOrigins, item }) => [item.completions, item.models, completionOrigins]),
      [[["a", "b"], ["m", "n"], [1, 3].map((line) => ({ file: "rows", line }))]],
    )
    assert.deepStrictEqual(summary(rejects.map(Result.fail)), [
      '2 invalid_shape expected at least two distinct completions for key "two", found 1 in 1 record',
    ])
    const [one, two] = ["one", "two"].map((q) => ({ q, x: "a", y: "b" }))
    const options = { layout: "wide", prompt: "q", completions: ["x", "y"] } as const
    const wide = yield* collect(Source.make([{ id: "i", ...one }, two], options))
    assert.deepStrictEqual(
      wide.items.map(({ item }) => [item.id, item.completions]),
      ["i", undefined].map((id) => [id, ["a", "b"]]),
    )
  })
})
