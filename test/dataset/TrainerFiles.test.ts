import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Schema, Stream } from "effect"
import * as Dataset from "../../src/dataset/Dataset.ts"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"
import { cases, drawn } from "../support/cases.ts"
import * as readers from "../support/datasetReaders.ts"
import { difficultPairs, difficultTexts, pair } from "../support/pairs.ts"
import { effectTest } from "../support/effectTest.ts"
import { column } from "../support/columns.ts"

const scratch = mkdtempSync(join(tmpdir(), "prefstream-files-"))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const filesIn = (directory: string) => ({
  parquet: `${directory}/data/train-00000-of-00001.parquet`,
  jsonl: `${directory}/jsonl/train-00000-of-00001.jsonl`,
})

/** The dataset of this name, which the first reader writes. */
const shared = Effect.fnUntraced(function* (name: string, pairs: ReadonlyArray<PreferencePair>, shape: readers.Shape) {
  const directory = `${scratch}/${name}-${shape}`
  const write = Dataset.write({ directory, conversational: shape === "conversational", allowEmpty: true })
  if (!existsSync(directory)) yield* Stream.run(Stream.fromIterable(pairs), write)
  return filesIn(directory)
})

/** Writes the pairs to a directory that goes away with the test. */
const written = Effect.fnUntraced(function* <E, R>(
  pairs: Stream.Stream<PreferencePair, E, R>,
  shape: readers.Shape = "standard",
) {
  const fs = yield* FileSystem.FileSystem
  const directory = `${yield* fs.makeTempDirectoryScoped()}/dataset`
  const info = yield* Stream.run(
    pairs,
    Dataset.write({ directory, conversational: shape === "conversational", allowEmpty: true }),
  )
  return { info, ...filesIn(directory) }
})

/** The pair as TRL's documentation has it, in the shape that it calls standard or conversational. */
const rowOf = (pair: PreferencePair, shape: readers.Shape) => {
  if (shape === "standard") return pair
  const answer = (content: string) => [{ role: "assistant", content }]
  const prompt = typeof pair.prompt === "string" ? [{ role: "user", content: pair.prompt }] : pair.prompt
  return { ...pair, prompt, chosen: answer(pair.chosen), rejected: answer(pair.rejected) }
}

const Text = Schema.Union([Schema.Literals(difficultTexts), Schema.String])
const Index = Schema.Literals([0, 1, 7, 2 ** 31 - 1])
const Share = Schema.NullOr(Schema.Literals([0, 1, 1 / 3, -1]))
const AnyPair = Schema.Struct({
  prompt: Text,
  chosen: Text,
  rejected: Text,
  rationale: Schema.NullOr(Text),
  item_id: Text,
  task_id: Text,
  chosen_index: Index,
  rejected_index: Index,
  chosen_model: Schema.NullOr(Text),
  rejected_model: Schema.NullOr(Text),
  weight: Schema.Literals([1, 0.5, 1 / 3, 1e-300]),
  votes: Index,
  agreement: Share,
  vote_margin: Share,
  decided_votes: Schema.NullOr(Index),
  strength: Share,
  all_bad: Schema.NullOr(Schema.Boolean),
  aspects: Schema.NullOr(Text),
  edited: Schema.NullOr(Text),
  flags: Schema.NullOr(Text),
  metadata: Schema.NullOr(Text),
})

const large = pair(1000, {
  chosen: "Wörter 😀 ".repeat(cases(50_000, 450_000)),
  rejected: "x".repeat(cases(500_000, 5_000_000)),
})

const rowReaders = [
  ["DuckDB, Parquet", "parquet", readers.duckdbParquet],
  ["DuckDB, JSONL", "jsonl", readers.duckdbJsonl],
  ["parquet-wasm, Parquet", "parquet", readers.arrow],
  ["hyparquet, Parquet", "parquet", readers.hyparquet],
  ["Polars, Parquet", "parquet", readers.polarsParquet],
  ["JSON.parse, JSONL", "jsonl", readers.jsonl],
] as const

const shapes: ReadonlyArray<readers.Shape> = ["standard", "conversational"]
const readings = shapes.flatMap((shape) =>
  rowReaders.map(([reader, format, read]) => ({ shape, reader, format, read })),
)

it.layer(NodeServices.layer)("the dataset's files", (it) => {
  const test = effectTest(it.effect)
  it("are read by Polars, too, in CI", () => {
    assert.isTrue(readers.polars !== undefined || process.env["CI"] === undefined)
  })

  describe.each(readings)("$shape, read by $reader", ({ format, read, reader, shape }) => {
    const isAbsent = reader.startsWith("Polars") && readers.polars === undefined

    it.effect.skipIf(isAbsent)("hold the rows in order, value for value, null columns, and no rows", () =>
      Effect.gen(function* () {
        const datasets: Readonly<Record<string, ReadonlyArray<PreferencePair>>> = {
          difficult: [...difficultPairs, large, ...difficultPairs],
          nulls: [0, 3, 6].map((i) => pair(i, { rationale: null, metadata: null })),
          empty: [],
        }
        for (const [name, pairs] of Object.entries(datasets)) {
          const files = yield* shared(name, pairs, shape)
          const expected = pairs.map((pair) => rowOf(pair, shape))
          assert.deepStrictEqual<unknown>(yield* Effect.promise(() => read(files[format], shape)), expected, name)
        }
      }),
    )
  })

  describe.each(rowReaders)("conversations, read by %s", (reader, format, read) => {
    it.effect.skipIf(reader.startsWith("Polars") && readers.polars === undefined)(
      "have their messages, of any number and text",
      () =>
        Effect.gen(function* () {
          const pairs = difficultTexts.map((content, i) =>
            pair(i, {
              prompt: [
                { role: "system", content },
                ...difficultTexts.slice(0, i).map((content) => ({ role: "user", content })),
              ],
            }),
          )
          const files = yield* written(Stream.fromIterable(pairs), "conversational")
          const rows = yield* Effect.promise(() => read(files[format], "conversational"))
          assert.deepStrictEqual<unknown>(
            rows,
            pairs.map((pair) => rowOf(pair, "conversational")),
          )
        }),
    )
  })

  it.effect.prop(
    "Parquet and JSONL hold the same rows, whatever they are",
    [Schema.Array(AnyPair)],
    ([pairs]) =>
      Effect.gen(function* () {
        const files = yield* written(Stream.fromIterable(pairs))
        const rows = yield* Effect.promise(() => readers.hyparquet(files.parquet))
        assert.deepStrictEqual<unknown>(rows, yield* Effect.promise(() => readers.jsonl(files.jsonl)))
        const isSound = (pair: PreferencePair) =>
          Object.values(pair).every((value) => typeof value !== "string" || value.isWellFormed())
        assert.deepStrictEqual<unknown>(rows, pairs.filter(isSound))
        assert.strictEqual(files.info.omitted.count, pairs.length - rows.length)
      }).pipe(Effect.scoped),
    { arbitrary: { runs: cases(25, 100) } },
  )

  test("do not hold a pair with a lone surrogate, which is counted and named", function* () {
    const fields = ["prompt", "chosen", "rejected", "rationale", "item_id", "task_id", "metadata"] as const
    const spoilt = fields.map((field, i) => pair(i, { [field]: "cut \uD83D" }))
    const inMessage = pair(7, { prompt: [{ role: "user", content: "\uDE00 cut" }] })
    for (const shape of shapes) {
      const files = yield* written(Stream.make(...spoilt, pair(8), inMessage), shape)
      const [row, ...others] = yield* Effect.promise(() => readers.jsonl(files.jsonl))
      assert.deepStrictEqual<unknown>([row, others], [rowOf(pair(8), shape), []])
      assert.strictEqual(files.info.rows, 1)
      assert.strictEqual(files.info.omitted.count, 8)
      assert.deepStrictEqual(column(files.info.omitted.first, "field"), [...fields, "prompt"])
      assert.strictEqual(files.info.omitted.first[0]?.item_id, "item-0")
      assert.include(files.info.omitted.first[0]?.reason, "surrogate")
    }
  })
})

it.layer(NodeServices.layer)("the Parquet file", (it) => {
  const test = effectTest(it.effect)
  /** The types of the columns that are not texts. */
  const notTexts: Readonly<Record<string, string>> = {
    chosen_index: "INT32",
    rejected_index: "INT32",
    weight: "DOUBLE",
    votes: "INT32",
    agreement: "DOUBLE",
    vote_margin: "DOUBLE",
    decided_votes: "INT32",
    strength: "DOUBLE",
    all_bad: "BOOLEAN",
  }
  const kilobyte = "All work and no play makes a dull dataset. ".repeat(24)

  test("has the declared schema, with and without rows", function* () {
    for (const pairs of [Stream.empty, Stream.make(pair(0))]) {
      const { parquet } = yield* written(pairs)
      const { schema, key_value_metadata } = yield* Effect.promise(() => readers.metadata(parquet))
      const columns = schema
        .slice(1)
        .map(({ name, type, converted_type, repetition_type }) => [name, converted_type ?? type, repetition_type])
      assert.deepStrictEqual(
        columns,
        Object.keys(pair(0)).map((name) => [name, notTexts[name] ?? "UTF8", "OPTIONAL"]),
      )
      const huggingface = JSON.parse(key_value_metadata?.find(({ key }) => key === "huggingface")?.value ?? "null")
      assert.deepStrictEqual(
        Object.keys(huggingface.info.features),
        columns.map(([name]) => name),
      )
      assert.deepStrictEqual(huggingface.info.features.prompt, { dtype: "string", _type: "Value" })
      assert.deepStrictEqual(huggingface.info.features.chosen_index, { dtype: "int32", _type: "Value" })
      assert.deepStrictEqual(huggingface.info.features.weight, { dtype: "float64", _type: "Value" })
    }
  })

  test("has lists of three levels for messages, with types that datasets before 4 and after know", function* () {
    for (const pairs of [Stream.empty, Stream.make(pair(0))]) {
      const { parquet } = yield* written(pairs, "conversational")
      const { schema, key_value_metadata } = yield* Effect.promise(() => readers.metadata(parquet))
      const levels = schema
        .slice(1, 6)
        .map(({ name, converted_type, repetition_type }) => [name, converted_type, repetition_type])
      assert.deepStrictEqual(levels, [
        ["prompt", "LIST", "OPTIONAL"],
        ["list", undefined, "REPEATED"],
        ["element", undefined, "OPTIONAL"],
        ["role", "UTF8", "OPTIONAL"],
        ["content", "UTF8", "OPTIONAL"],
      ])
      const huggingface = JSON.parse(key_value_metadata?.find(({ key }) => key === "huggingface")?.value ?? "null")
      // Features({"prompt": [{"role": Value("string"), "content": Value("string")}]}).to_dict() of datasets 3.6.0
      assert.deepStrictEqual(huggingface.info.features.prompt, [
        { role: { dtype: "string", _type: "Value" }, content: { dtype: "string", _type: "Value" } },
      ])
    }
  })

  it.effect.each(drawn(shapes))("has row groups of about 16 MiB of text, in zstd, with page indexes: %s", (shape) =>
    Effect.gen(function* () {
      // 33 kB a row, of which the chosen completion has 20: more than one page of 8 MB in each full group.
      const rows = 650
      const one = (i: number) =>
        pair(i, { chosen: `${i} ${kilobyte.repeat(20)}`, rejected: `${i} ${kilobyte.repeat(12)}` })
      const { parquet } = yield* written(Stream.range(0, rows - 1).pipe(Stream.map(one)), shape)
      const { row_groups } = yield* Effect.promise(() => readers.metadata(parquet))

      assert.strictEqual(row_groups.length, 2)
      assert.closeTo(Number(row_groups[0]!.total_byte_size) / 1024 / 1024, 16, 0.5)
      assert.strictEqual(
        row_groups.reduce((sum, group) => sum + Number(group.num_rows), 0),
        rows,
      )

      const chunks = row_groups.flatMap(({ columns }) => columns)
      assert.isTrue(chunks.every(({ meta_data }) => meta_data?.codec === "ZSTD"))
      const chosen = row_groups[0]!.columns.find(({ meta_data }) => {
        const [column, ...path] = meta_data!.path_in_schema
        return column === "chosen" && path.at(-1) !== "role"
      })!
      assert.isBelow(
        Number(chosen.meta_data!.total_compressed_size),
        Number(chosen.meta_data!.total_uncompressed_size) / 10,
      )
      assert.isAbove(chosen.offset_index_length ?? 0, 0)
      assert.isAbove(chosen.column_index_length ?? 0, 0)

      // Rows are in their order. Through the indexes and the bounds, which are cut short, each row is still found.
      const idsWhere = (condition: string) =>
        Effect.map(
          Effect.promise(() => readers.query(`SELECT item_id FROM read_parquet('${parquet}') WHERE ${condition}`)),
          (found) => found.map(({ item_id }) => item_id),
        )
      const all = Array.from({ length: rows }, (_, i) => `item-${i}`)
      assert.deepStrictEqual(yield* idsWhere("true"), all)
      const text = shape === "standard" ? "chosen" : "chosen[1].content"
      for (const i of [0, 250, rows - 1]) {
        assert.deepStrictEqual(yield* idsWhere(`${text} = '${one(i).chosen}'`), [all[i]])
      }
    }),
  )

  test("lets a reader find text by the bounds of its column", function* () {
    // In UTF-16 order U+E000 comes after the emoji, in the order of bytes before it.
    const prompts = ["😀 smile", "\uE000 private", "a".repeat(40), "\u{10FFFF}".repeat(9)]
    const { parquet } = yield* written(Stream.fromIterable(prompts.map((prompt, i) => pair(i, { prompt }))))
    for (const prompt of prompts) {
      const found = yield* Effect.promise(() =>
        readers.query(`SELECT encode(prompt) AS prompt FROM read_parquet('${parquet}') WHERE prompt = '${prompt}'`),
      )
      assert.deepStrictEqual(found, [{ prompt }])
    }
  })

  test("states bounds that are marked as cut where they are", function* () {
    const pairs = ["a".repeat(40), "short", "z".repeat(40)].map((prompt, i) => pair(i, { prompt }))
    const { parquet } = yield* written(Stream.fromIterable(pairs))
    const { row_groups } = yield* Effect.promise(() => readers.metadata(parquet))
    const [prompt, , , , item] = row_groups[0]!.columns.map(({ meta_data }) => meta_data!.statistics!)
    assert.deepInclude(prompt, { min_value: "a".repeat(16), is_min_value_exact: false })
    assert.deepInclude(prompt, { max_value: "z".repeat(15) + "{", is_max_value_exact: false })
    assert.deepInclude(item, { min_value: "item-0", max_value: "item-2", null_count: 0n })
    assert.notStrictEqual(item!.is_min_value_exact, false)
  })
})
