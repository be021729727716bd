import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as Dataset from "../../src/dataset/Dataset.ts"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"
import { cases, drawn } from "../support/cases.ts"
import * as readers from "../support/datasetReaders.ts"
import { difficultPairs, difficultTexts, pair } from "../support/pairs.ts"
import { column } from "../support/columns.ts"
import { test, written } from "./support.ts"

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

/** The files of a dataset that goes away with the test. */
const filesOf = (pairs: ReadonlyArray<PreferencePair>, shape: readers.Shape = "standard") =>
  Effect.map(
    written(pairs, { conversational: shape === "conversational", allowEmpty: true }),
    ({ directory, info }) => ({ info, ...filesIn(directory) }),
  )

/** The pair as TRL's documentation has it, in the shape that it calls standard or conversational. */
const rowOf = (pair: PreferencePair, shape: readers.Shape) => {
  if (shape === "standard") return pair
  const answer = (content: string) => [{ role: "assistant", content }]
  const prompt = typeof pair.prompt === "string" ? [{ role: "user", content: pair.prompt }] : pair.prompt
  return { ...pair, prompt, chosen: answer(pair.chosen), rejected: answer(pair.rejected) }
}

const large = pair(1000, {
  chosen: "Wörter 😀 ".repeat(cases(50_000, 450_000)),
  rejected: "x".repeat(cases(500_000, 5_000_000)),
})

const messages = [
  { role: "system", content: "" },
  ...difficultTexts.map((content) => ({ role: "user", content })),
] as const

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

describe("the dataset's files", () => {
  it("are read by Polars, too, in CI", () => {
    assert.isTrue(readers.polars !== undefined || process.env["CI"] === undefined)
  })

  describe.each(readings)("$shape, read by $reader", ({ format, read, reader, shape }) => {
    const isAbsent = reader.startsWith("Polars") && readers.polars === undefined

    test.skipIf(isAbsent)("hold the rows in order, value for value, null columns, and no rows", function* () {
      const datasets: Readonly<Record<string, ReadonlyArray<PreferencePair>>> = {
        difficult: [...difficultPairs, large, ...difficultPairs],
        nulls: [0, 3, 6].map((i) => pair(i, { rationale: null, metadata: null })),
        extremes: [pair(0, { chosen_index: 2 ** 31 - 1, weight: 1e-300, agreement: -1, strength: 1 / 3 })],
        empty: [],
        ...(shape === "conversational" && { conversation: [pair(0, { prompt: messages })] }),
      }
      for (const [name, pairs] of Object.entries(datasets)) {
        const files = yield* shared(name, pairs, shape)
        const expected = pairs.map((pair) => rowOf(pair, shape))
        assert.deepStrictEqual<unknown>(yield* Effect.promise(() => read(files[format], shape)), expected, name)
      }
    })
  })

  test("do not hold a pair with a lone surrogate, which is counted and named", function* () {
    const texts = ["prompt", "chosen", "rejected", "rationale", "item_id", "task_id", "metadata"] as const
    const fields = [...texts, "chosen_model", "rejected_model", "aspects", "edited", "flags"] as const
    const spoilt = fields.map((field, i) => pair(i, { [field]: "cut \uD83D" }))
    const inMessage = pair(50, { prompt: [{ role: "user", content: "\uDE00 cut" }] })
    for (const shape of shapes) {
      const files = yield* filesOf([...spoilt, pair(40), inMessage], shape)
      const [row, ...others] = yield* Effect.promise(() => readers.jsonl(files.jsonl))
      assert.deepStrictEqual<unknown>([row, others], [rowOf(pair(40), shape), []])
      assert.strictEqual(files.info.rows, 1)
      const { count, first } = files.info.omitted
      assert.strictEqual(count, fields.length + 1)
      assert.deepStrictEqual(column(first, "field"), [...fields, "prompt"].slice(0, first.length))
      assert.strictEqual(files.info.omitted.first[0]?.item_id, "item-0")
      assert.include(files.info.omitted.first[0]?.reason, "surrogate")
    }
  })
})

describe("the Parquet file", () => {
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

  /** The columns' schema, without its root, and the features that `datasets` reads. */
  const footerOf = Effect.fnUntraced(function* (pairs: ReadonlyArray<PreferencePair>, shape: readers.Shape) {
    const { parquet } = yield* filesOf(pairs, shape)
    const { schema, key_value_metadata } = yield* Effect.promise(() => readers.metadata(parquet))
    const huggingface = JSON.parse(key_value_metadata?.find(({ key }) => key === "huggingface")?.value ?? "null")
    return { schema: schema.slice(1), features: huggingface.info.features }
  })

  test("has the declared schema, with and without rows", function* () {
    for (const pairs of [[], [pair(0)]]) {
      const { features, schema } = yield* footerOf(pairs, "standard")
      const columns = schema.map(({ name, type, converted_type, repetition_type }) => [
        name,
        converted_type ?? type,
        repetition_type,
      ])
      assert.deepStrictEqual(
        columns,
        Object.keys(pair(0)).map((name) => [name, notTexts[name] ?? "UTF8", "OPTIONAL"]),
      )
      assert.deepStrictEqual(
        Object.keys(features),
        columns.map(([name]) => name),
      )
      assert.deepStrictEqual(features.prompt, { dtype: "string", _type: "Value" })
      assert.deepStrictEqual(features.chosen_index, { dtype: "int32", _type: "Value" })
      assert.deepStrictEqual(features.weight, { dtype: "float64", _type: "Value" })
    }
  })

  test("has lists of three levels for messages, with types that datasets before 4 and after know", function* () {
    for (const pairs of [[], [pair(0)]]) {
      const { features, schema } = yield* footerOf(pairs, "conversational")
      const levels = schema
        .slice(0, 5)
        .map(({ name, converted_type, repetition_type }) => [name, converted_type, repetition_type])
      assert.deepStrictEqual(levels, [
        ["prompt", "LIST", "OPTIONAL"],
        ["list", undefined, "REPEATED"],
        ["element", undefined, "OPTIONAL"],
        ["role", "UTF8", "OPTIONAL"],
        ["content", "UTF8", "OPTIONAL"],
      ])
      // Features({"prompt": [{"role": Value("string"), "content": Value("string")}]}).to_dict() of datasets 3.6.0
      assert.deepStrictEqual(features.prompt, [
        { role: { dtype: "string", _type: "Value" }, content: { dtype: "string", _type: "Value" } },
      ])
    }
  })

  test.each(drawn(shapes))("has row groups of about 16 MiB of text, in zstd, with page indexes: %s", function* (shape) {
    // 33 kB a row, of which the chosen completion has 20: more than one page of 8 MB in each full group.
    const rows = 650
    const pairs = Array.from({ length: rows }, (_, i) =>
      pair(i, { chosen: `${i} ${kilobyte.repeat(20)}`, rejected: `${i} ${kilobyte.repeat(12)}` }),
    )
    const { parquet } = yield* filesOf(pairs, shape)
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
      assert.deepStrictEqual(yield* idsWhere(`${text} = '${pairs[i]!.chosen}'`), [all[i]])
    }
  })

  test("lets a reader find text by the bounds of its column", function* () {
    // In UTF-16 order U+E000 comes after the emoji, in the order of bytes before it.
    const prompts = ["😀 smile", "\uE000 private", "a".repeat(40), "\u{10FFFF}".repeat(9)]
    const { parquet } = yield* filesOf(prompts.map((prompt, i) => pair(i, { prompt })))
    for (const prompt of prompts) {
      const found = yield* Effect.promise(() =>
        readers.query(`SELECT encode(prompt) AS prompt FROM read_parquet('${parquet}') WHERE prompt = '${prompt}'`),
      )
      assert.deepStrictEqual(found, [{ prompt }])
    }
  })
})
