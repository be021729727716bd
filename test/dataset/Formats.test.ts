import { assert, describe, it } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Record, Schema, Stream } from "effect"
import * as Dataset from "../../src/dataset/Dataset.ts"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"
import * as readers from "../support/datasetReaders.ts"
import { difficultPairs, difficultTexts, pair } from "../support/pairs.ts"

/** Writes the pairs to a directory that goes away with the test. */
const written = Effect.fnUntraced(function* <E, R>(pairs: Stream.Stream<PreferencePair, E, R>) {
  const fs = yield* FileSystem.FileSystem
  const directory = `${yield* fs.makeTempDirectoryScoped()}/dataset`
  const info = yield* Dataset.write(pairs, { directory })
  return {
    info,
    parquet: `${directory}/data/train-00000-of-00001.parquet`,
    jsonl: `${directory}/jsonl/train-00000-of-00001.jsonl`,
  }
})

const Text = Schema.Union([Schema.Literals(difficultTexts), Schema.String])
const Index = Schema.Literals([0, 1, 7, 2 ** 31 - 1])
const AnyPair = Schema.Struct({
  prompt: Text,
  chosen: Text,
  rejected: Text,
  rationale: Schema.NullOr(Text),
  item_id: Text,
  task_id: Text,
  chosen_index: Index,
  rejected_index: Index,
  weight: Schema.Literals([1, 0.5, 1 / 3, 1e-300]),
  metadata: Schema.NullOr(Text),
})

const large = pair(1000, { chosen: "Wörter 😀 ".repeat(450_000), rejected: "x".repeat(5_000_000) })

const rowReaders = [
  ["DuckDB, Parquet", "parquet", readers.duckdbParquet],
  ["DuckDB, JSONL", "jsonl", readers.duckdbJsonl],
  ["Arrow, Parquet", "parquet", readers.arrow],
  ["hyparquet, Parquet", "parquet", readers.hyparquet],
  ["JSON.parse, JSONL", "jsonl", readers.jsonl],
] as const

it.layer(NodeServices.layer)("the dataset's files", (it) => {
  describe.each(rowReaders)("read by %s", (_, format, read) => {
    it.effect("hold the rows, value for value, in order", () =>
      Effect.gen(function* () {
        const pairs = [...difficultPairs, large, ...difficultPairs]
        const files = yield* written(Stream.fromIterable(pairs))
        assert.deepStrictEqual(yield* Effect.promise(() => read(files[format])), pairs)
      }),
    )

    it.effect("hold columns that are null throughout", () =>
      Effect.gen(function* () {
        const pairs = [1, 2, 3].map((i) => pair(i, { rationale: null, metadata: null }))
        const files = yield* written(Stream.fromIterable(pairs))
        assert.deepStrictEqual(yield* Effect.promise(() => read(files[format])), pairs)
      }),
    )

    it.effect("hold no rows where there are none", () =>
      Effect.gen(function* () {
        const files = yield* written(Stream.empty)
        assert.deepStrictEqual(yield* Effect.promise(() => read(files[format])), [])
      }),
    )
  })

  it.effect.prop("Parquet and JSONL hold the same rows, whatever they are", [Schema.Array(AnyPair)], ([pairs]) =>
    Effect.gen(function* () {
      const files = yield* written(Stream.fromIterable(pairs))
      const rows = yield* Effect.promise(() => readers.hyparquet(files.parquet))
      assert.deepStrictEqual(rows, yield* Effect.promise(() => readers.jsonl(files.jsonl)))
      assert.deepStrictEqual(
        rows,
        pairs.map((pair) => Record.map(pair, (value) => (typeof value === "string" ? value.toWellFormed() : value))),
      )
    }).pipe(Effect.scoped),
  )

  it.effect("are the same bytes for the same rows, however they arrive", () =>
    Effect.gen(function* () {
      const pairs = Array.from({ length: 300 }, (_, i) => pair(i))
      const one = yield* written(Stream.fromIterable(pairs))
      const two = yield* written(Stream.rechunk(Stream.fromIterable(pairs), 7))
      assert.deepStrictEqual(one.info.files, two.info.files)
    }),
  )

  it.effect("replace a lone surrogate alike", () =>
    Effect.gen(function* () {
      const files = yield* written(Stream.make(pair(0, { rationale: "cut \uD83D" })))
      for (const [, format, read] of rowReaders) {
        const [row] = yield* Effect.promise(() => read(files[format]))
        assert.strictEqual(row?.["rationale"], "cut \uFFFD")
      }
    }),
  )
})

it.layer(NodeServices.layer)("the Parquet file", (it) => {
  const kilobyte = "All work and no play makes a dull dataset. ".repeat(24)

  it.effect("has the declared schema, with and without rows", () =>
    Effect.gen(function* () {
      for (const pairs of [Stream.empty, Stream.make(pair(0))]) {
        const { parquet } = yield* written(pairs)
        const { schema, key_value_metadata } = yield* Effect.promise(() => readers.metadata(parquet))
        const columns = schema
          .slice(1)
          .map(({ name, type, converted_type, repetition_type }) => [name, converted_type ?? type, repetition_type])
        assert.deepStrictEqual(columns, [
          ["prompt", "UTF8", "OPTIONAL"],
          ["chosen", "UTF8", "OPTIONAL"],
          ["rejected", "UTF8", "OPTIONAL"],
          ["rationale", "UTF8", "OPTIONAL"],
          ["item_id", "UTF8", "OPTIONAL"],
          ["task_id", "UTF8", "OPTIONAL"],
          ["chosen_index", "INT32", "OPTIONAL"],
          ["rejected_index", "INT32", "OPTIONAL"],
          ["weight", "DOUBLE", "OPTIONAL"],
          ["metadata", "UTF8", "OPTIONAL"],
        ])
        const huggingface = JSON.parse(key_value_metadata?.find(({ key }) => key === "huggingface")?.value ?? "null")
        assert.deepStrictEqual(
          Object.keys(huggingface.info.features),
          columns.map(([name]) => name),
        )
        assert.deepStrictEqual(huggingface.info.features.prompt, { dtype: "string", _type: "Value" })
        assert.deepStrictEqual(huggingface.info.features.chosen_index, { dtype: "int32", _type: "Value" })
        assert.deepStrictEqual(huggingface.info.features.weight, { dtype: "float64", _type: "Value" })
      }
    }),
  )

  it.effect("has row groups of about 32 MiB of text, in zstd, with page indexes", () =>
    Effect.gen(function* () {
      // 33 kB a row, of which the chosen completion has 20: more than one page of 8 MB in each full group.
      const rows = 1_300
      const one = (i: number) =>
        pair(i, { chosen: `${i} ${kilobyte.repeat(20)}`, rejected: `${i} ${kilobyte.repeat(12)}` })
      const { parquet } = yield* written(Stream.range(0, rows - 1).pipe(Stream.map(one)))
      const { row_groups } = yield* Effect.promise(() => readers.metadata(parquet))

      assert.strictEqual(row_groups.length, 2)
      assert.closeTo(Number(row_groups[0]!.total_byte_size) / 1024 / 1024, 32, 0.5)
      assert.strictEqual(
        row_groups.reduce((sum, group) => sum + Number(group.num_rows), 0),
        rows,
      )

      const chunks = row_groups.flatMap(({ columns }) => columns)
      assert.isTrue(chunks.every(({ meta_data }) => meta_data?.codec === "ZSTD"))
      const chosen = row_groups[0]!.columns[1]!
      assert.isBelow(
        Number(chosen.meta_data!.total_compressed_size),
        Number(chosen.meta_data!.total_uncompressed_size) / 10,
      )
      assert.isAbove(chosen.offset_index_length ?? 0, 0)
      assert.isAbove(chosen.column_index_length ?? 0, 0)

      // Through the indexes and the bounds, which are cut short, each row is still found.
      for (const i of [0, 500, rows - 1]) {
        const found = yield* Effect.promise(() =>
          readers.query(`SELECT item_id FROM read_parquet('${parquet}') WHERE chosen = '${one(i).chosen}'`),
        )
        assert.deepStrictEqual(found, [{ item_id: `item-${i}` }])
      }
    }),
  )

  it.effect("lets a reader find text by the bounds of its column", () =>
    Effect.gen(function* () {
      // In UTF-16 order U+E000 comes after the emoji, in the order of bytes before it.
      const prompts = ["😀 smile", "\uE000 private", "a".repeat(40), "\u{10FFFF}".repeat(9)]
      const { parquet } = yield* written(Stream.fromIterable(prompts.map((prompt, i) => pair(i, { prompt }))))
      for (const prompt of prompts) {
        const found = yield* Effect.promise(() =>
          readers.query(`SELECT encode(prompt) AS prompt FROM read_parquet('${parquet}') WHERE prompt = '${prompt}'`),
        )
        assert.deepStrictEqual(found, [{ prompt }])
      }
    }),
  )

  it.effect("states bounds that are marked as cut where they are", () =>
    Effect.gen(function* () {
      const pairs = ["a".repeat(40), "short", "z".repeat(40)].map((prompt, i) => pair(i, { prompt }))
      const { parquet } = yield* written(Stream.fromIterable(pairs))
      const { row_groups } = yield* Effect.promise(() => readers.metadata(parquet))
      const [prompt, , , , item] = row_groups[0]!.columns.map(({ meta_data }) => meta_data!.statistics!)
      assert.deepInclude(prompt, { min_value: "a".repeat(16), is_min_value_exact: false })
      assert.deepInclude(prompt, { max_value: "z".repeat(15) + "{", is_max_value_exact: false })
      assert.deepInclude(item, { min_value: "item-0", max_value: "item-2", null_count: 0n })
      assert.notStrictEqual(item!.is_min_value_exact, false)
    }),
  )
})
