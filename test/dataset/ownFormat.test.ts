import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem, Result, Schema, Stream } from "effect"
import * as Dataset from "../../src/dataset/Dataset.ts"
import { refuse, rowPerPair, type TrainerFormat } from "../../src/dataset/format/TrainerFormats.ts"
import { pair } from "../support/pairs.ts"
import { columns } from "../support/columns.ts"
import { test, written } from "./support.ts"

const own = new Error("no such table")

/** Only the better completion, in upper case. */
const shouted: TrainerFormat = {
  name: "shouted",
  description: "The better completion, in upper case",
  container: "jsonl",
  features: () => ({ text: "string" }),
  encoder: rowPerPair(({ chosen }) =>
    chosen.includes("?")
      ? refuse("chosen", "a text without a question mark", chosen)
      : Result.succeed({ text: chosen.toUpperCase() }),
  ),
  row: Schema.Struct({ text: Schema.String }),
}

/** Why these formats cannot be written, which leaves no folder. */
const refusal = Effect.fnUntraced(function* (formats: Dataset.Options["formats"]) {
  const fs = yield* FileSystem.FileSystem
  const directory = `${yield* fs.makeTempDirectoryScoped()}/dataset`
  const writing = Stream.run(Stream.make(pair(0, { chosen: "yes" })), Dataset.write({ directory, formats }))
  const { reason } = yield* Effect.flip(writing)
  assert.isFalse(yield* fs.exists(directory))
  return reason
})

describe("a trainer format of the user's own", () => {
  test("is written beside those of the package, with what it can't hold", function* () {
    const pairs = [pair(0, { chosen: "yes" }), pair(1, { chosen: "why?" })]
    const { directory, info, read } = yield* written(pairs, { formats: [shouted, "trl"] })
    assert.strictEqual(yield* read("formats/shouted/train.jsonl"), '{"text":"YES"}\n')
    assert.deepStrictEqual(
      info.formats.map(({ format, omitted, rows }) => [format, rows, omitted.first.map(({ reason }) => reason)]),
      [
        ["shouted", 1, ["expected a text without a question mark, found why?"]],
        ["trl", 2, []],
      ],
    )
    assert.include(yield* read("README.md"), shouted.description)
    assert.deepStrictEqual((yield* Dataset.verify(directory)).findings.map(Dataset.formatFinding), [
      "formats/shouted: expected a built-in format, or a custom format in the option `formats`, found an unknown format, so the rows in this folder were not checked",
    ])
    assert.deepStrictEqual((yield* Dataset.verify(directory, { formats: [shouted, "trl"] })).findings, [])
    const whispered: TrainerFormat = { ...shouted, row: Schema.Struct({ text: Schema.Literal("yes") }) }
    const { findings } = yield* Dataset.verify(directory, { formats: [whispered] })
    assert.deepStrictEqual(columns(findings, "file", "row", "field", "severity"), [
      ["formats/shouted/train.jsonl", 1, "text", "error"],
    ])
  })

  test.each<readonly [problem: string, format: Partial<TrainerFormat>, message: string]>([
    [
      "a text in a column of numbers",
      { container: "parquet", features: () => ({ text: "int32" }) },
      'formats.shouted.rows[0].text: expected int32 (as declared in `features`), found "YES".',
    ],
    [
      "a column that is not declared",
      { container: "parquet", features: () => ({}) },
      'formats.shouted.rows[0].text: expected no value, because the format\'s `features` do not declare this name, found "YES".',
    ],
    [
      "another member in a list",
      {
        container: "parquet",
        features: () => ({ all: { list: { struct: { a: "bool" } } } }),
        encoder: rowPerPair(() => Result.succeed({ all: [{ a: null }, { a: true }, { a: 1 }] })),
      },
      "formats.shouted.rows[0].all[2].a: expected bool (as declared in `features`), found 1.",
    ],
    [
      "an exception",
      {
        encoder: rowPerPair(() => {
          throw own
        }),
      },
      'the trainer format shouted failed for item "item-0": no such table',
    ],
    [
      "an exception at the end",
      {
        encoder: () => ({
          encode: () => [],
          end: () => {
            throw own
          },
        }),
      },
      "the trainer format shouted failed at the end of the file: no such table",
    ],
  ])("fails with its name and the place: %s", function* ([, format, message]) {
    const reason = yield* refusal([{ ...shouted, ...format }])
    assert.strictEqual(reason.message, `The dataset cannot be written: ${message}`)
    if (reason._tag === "FormatFailed") assert.strictEqual(reason.cause, own)
  })

  test("has the members that each row has, also null and __proto__, whichever rows are beside it", function* () {
    const rows = ['{"note":null}', "{}", '{"note":{"__proto__":1,"x":2}}']
    const noted: TrainerFormat = {
      ...shouted,
      name: "noted",
      features: () => ({}),
      encoder: rowPerPair(({ chosen }) => Result.succeed(JSON.parse(chosen))),
      row: Schema.Record(Schema.String, Schema.Unknown),
    }
    const write = Effect.fnUntraced(function* (lines: ReadonlyArray<string>) {
      const pairs = lines.map((chosen, i) => pair(i, { chosen }))
      const { read } = yield* written(pairs, { formats: [noted] })
      return (yield* read("formats/noted/train.jsonl")).trimEnd().split("\n")
    })
    assert.deepStrictEqual(yield* write(rows.slice(0, 2)), rows.slice(0, 2))
    assert.deepStrictEqual((yield* write(rows)).toSorted(), rows.toSorted())
  })

  test.each([
    ["../outside", [{ ...shouted, name: "../outside" }]],
    ["trl", ["trl" as const, { ...shouted, name: "trl" }]],
  ] satisfies ReadonlyArray<readonly [string, NonNullable<Dataset.Options["formats"]>]>)(
    "must have a name of its own that is a folder's: %s",
    function* ([name, formats]) {
      const reason = yield* refusal(formats)
      assert.strictEqual(reason._tag, "OptionInvalid")
      assert.include(reason.message, name)
    },
  )
})
