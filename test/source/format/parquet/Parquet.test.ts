import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib"
import { assert, describe } from "@effect/vitest"
import { tableFromArrays, tableToIPC } from "apache-arrow"
import { Result, Stream } from "effect"
import { parquetWriteBuffer } from "hyparquet-writer"
import { Compression, Table, WriterPropertiesBuilder, WriterVersion, writeParquet } from "parquet-wasm"
import * as Parquet from "../../../../src/source/format/parquet/Parquet.ts"
import { difficultTexts } from "../../../support/pairs.ts"
import {
  byHand,
  dataPage,
  duckdb,
  inputOf,
  levels,
  oneColumn,
  optionalText,
  plainTexts,
  read,
  root,
  values,
} from "./parquetFiles.ts"
import { test } from "../../support.ts"
import { column } from "../../../support/columns.ts"

const sqlText = (text: string | null) =>
  text === null ? "NULL" : Array.from(text, (character) => `chr(${character.codePointAt(0)})`).join(" || ") || "''"

/** DuckDB's text holds no NUL. */
const texts = difficultTexts.filter((text) => !text.includes("\0"))

const rows = Array.from({ length: 300 }, (_, i) => ({
  prompt: `${i} ${texts[i % texts.length]}`,
  completions:
    i % 11 === 0
      ? null
      : Array.from({ length: i % 4 }, (_, k) => (k === 2 ? null : texts[(i + k) % texts.length]!.repeat(k + 1))),
  score: i % 5 === 0 ? null : i / 7,
  isGold: i % 3 === 0,
}))

const columnData = [
  { name: "prompt", data: rows.map(({ prompt }) => prompt) },
  { name: "completions", data: rows.map(({ completions }) => completions) },
  { name: "score", data: rows.map(({ score }) => score) },
  { name: "isGold", data: rows.map(({ isGold }) => isGold) },
]
const schema = [
  { name: "root", num_children: 4 },
  { name: "prompt", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "REQUIRED" },
  { name: "completions", converted_type: "LIST", repetition_type: "OPTIONAL", num_children: 1 },
  { name: "list", repetition_type: "REPEATED", num_children: 1 },
  { name: "element", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "OPTIONAL" },
  { name: "score", type: "DOUBLE", repetition_type: "OPTIONAL" },
  { name: "isGold", type: "BOOLEAN", repetition_type: "REQUIRED" },
] as const

const byHyparquet = (options: { readonly pageSize?: number; readonly codec?: "ZSTD" | "UNCOMPRESSED" } = {}) =>
  new Uint8Array(
    parquetWriteBuffer({
      columnData,
      schema: [...schema],
      rowGroupSize: 128,
      codec: "ZSTD",
      compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
      ...options,
    }),
  )

describe("Parquet", () => {
  describe("by hyparquet-writer", () => {
    test.each([1_000_000, 200, 1])("is read value for value, in pages of %i bytes", function* (pageSize) {
      assert.deepStrictEqual<unknown>(yield* values(byHyparquet({ pageSize })), rows)
    })

    test("others have their turn between two pages, such as a signal", function* () {
      let turns = 0
      const count = () => {
        turns++
        next = setImmediate(count)
      }
      let next = setImmediate(count)
      const found = yield* read(byHyparquet({ pageSize: 1 }))
      clearImmediate(next)
      assert.strictEqual(found.rows.length, rows.length)
      assert.isAbove(turns, 2 * rows.length)
    })

    test("says its rows, and each row's place and text", function* () {
      const { count, description, rows: read } = yield* Parquet.open(inputOf(byHyparquet()))
      assert.strictEqual(count, 300)
      assert.strictEqual(description, "Parquet, 300 rows")
      const found = (yield* Stream.runCollect(read())).map((row) => Result.getOrThrow(row).place)
      assert.deepStrictEqual(
        column(found, "row"),
        rows.map((_, i) => i + 1),
      )
      assert.deepStrictEqual(found[131], { file: "a.parquet", row: 132, raw: JSON.stringify(rows[131]) })
    })

    test("gives the columns that are asked for, reads no others, and few times", function* () {
      const bytes = byHyparquet({ codec: "UNCOMPRESSED" })
      const slices: Array<number> = []
      const file = yield* Parquet.open(inputOf(bytes, (start, end) => slices.push(end - start)))
      assert.deepStrictEqual(slices, [Math.min(bytes.length, 65_536)])
      const found = yield* Stream.runCollect(file.rows(["score", "absent", "isGold"]))
      assert.deepStrictEqual<unknown>(
        found.map((row) => Result.getOrThrow(row).value),
        rows.map(({ score, isGold }) => ({ score, isGold })),
      )
      assert.strictEqual(slices.length, 1 + 3)
      assert.isBelow(
        slices.slice(1).reduce((sum, size) => sum + size),
        300 * 12,
      )
      assert.deepStrictEqual(
        yield* values(bytes, ["absent"]),
        rows.map(() => ({})),
      )
    })

    test("without rows gives none", function* () {
      const bytes = new Uint8Array(parquetWriteBuffer({ columnData: [{ name: "a", data: [], type: "STRING" }] }))
      assert.deepStrictEqual(yield* read(bytes), { count: 0, rows: [], problem: undefined })
    })
  })

  const codecs = ["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4", "lz4_raw"]
  test.each([...codecs.map((codec) => `${codec}, v1`), "zstd, v2", "snappy, v2"])(
    "by DuckDB, is read value for value: %s",
    function* (writer) {
      const [codec, version] = writer.split(", ")
      const query = `SELECT i, 'text ' || i AS text, repeat(chr(65 + CAST(i % 26 AS INTEGER)), CAST(i % 70 AS INTEGER)) AS same,
          CASE WHEN i % 3 = 0 THEN NULL ELSE i % 7 END AS few, i % 2 = 0 AS even,
          list_transform(range(i % 4), k -> CASE WHEN k = 1 THEN NULL ELSE {'role': 'r' || k, 'at': [k, i]} END) AS list
          FROM range(5000) t(i)`
      const bytes = yield* duckdb(query, `, COMPRESSION ${codec}, PARQUET_VERSION ${version}, ROW_GROUP_SIZE 2048`)
      const expected = Array.from({ length: 5000 }, (_, i) => ({
        i,
        text: `text ${i}`,
        same: String.fromCharCode(65 + (i % 26)).repeat(i % 70),
        few: i % 3 === 0 ? null : i % 7,
        even: i % 2 === 0,
        list: Array.from({ length: i % 4 }, (_, k) => (k === 1 ? null : { role: `r${k}`, at: [k, i] })),
      }))
      assert.deepStrictEqual(yield* values(bytes), expected)
    },
  )

  test("by DuckDB, texts are as they were", function* () {
    const bytes = yield* duckdb(`SELECT unnest([${[...texts, null].map(sqlText).join(", ")}]) AS text`)
    assert.deepStrictEqual(
      yield* values(bytes),
      [...texts, null].map((text) => ({ text })),
    )
  })

  test("by DuckDB, values of each type become what JSON has, and lose nothing", function* () {
    const bytes = yield* duckdb(`SELECT
        9007199254740991 AS safe, -9007199254740992 AS unsafe, 18446744073709551615::UBIGINT AS unsigned,
        4294967295::UINTEGER AS unsigned32, 255::UTINYINT AS unsigned8, (-128)::TINYINT AS signed8,
        12.30::DECIMAL(4, 2) AS price, -0.05::DECIMAL(18, 2) AS wide,
        -12345678901234567890123456789.012345678::DECIMAL(38, 9) AS widest, 0.1::FLOAT AS single, 0.1::DOUBLE AS double,
        'nan'::DOUBLE AS nan, 'infinity'::DOUBLE AS infinite, '-infinity'::FLOAT AS negative,
        DATE '1969-12-31' AS day, DATE '-0043-03-15' AS ides,
        TIMESTAMP '1969-12-31 23:59:59.999999' AS local, TIMESTAMP_MS '2026-03-01 13:00:00.5' AS millis,
        TIMESTAMP_NS '2026-03-01 13:00:00.000000001' AS nanos, TIMESTAMPTZ '2026-03-01 13:00:00+00' AS instant,
        TIME '13:00:00.25' AS time, INTERVAL '14 months 2 days 500 milliseconds' AS interval,
        UUID '123e4567-e89b-12d3-a456-426614174000' AS uuid, '{"a": [1, {"__proto__": 2}]}'::JSON AS json,
        '\\xFF\\x00'::BLOB AS bytes, 'abc'::BLOB AS text, 'b'::ENUM('a', 'b') AS enum,
        MAP {'a': 1, '__proto__': 2} AS map, MAP {7: [1]} AS numbered, {'a': {'b': NULL}} AS struct, NULL::INTEGER AS none,
        [[1, NULL], [], NULL] AS nested, []::INTEGER[] AS empty, NULL::INTEGER[] AS no_list, NULL::STRUCT(a INTEGER) AS no_struct`)
    const [row] = yield* values(bytes)
    assert.deepStrictEqual(row, {
      safe: 9007199254740991,
      unsafe: "-9007199254740992",
      unsigned: "18446744073709551615",
      unsigned32: 4294967295,
      unsigned8: 255,
      signed8: -128,
      price: 12.3,
      wide: "-0.05",
      widest: "-12345678901234567890123456789.012345678",
      single: Math.fround(0.1),
      double: 0.1,
      nan: null,
      infinite: "Infinity",
      negative: "-Infinity",
      day: "1969-12-31",
      ides: "-000043-03-15",
      local: "1969-12-31T23:59:59.999999",
      millis: "2026-03-01T13:00:00.500",
      nanos: "2026-03-01T13:00:00.000000001",
      instant: "2026-03-01T13:00:00.000000Z",
      time: "13:00:00.250000",
      interval: "P14M2DT0.500S",
      uuid: "123e4567-e89b-12d3-a456-426614174000",
      json: JSON.parse('{"a": [1, {"__proto__": 2}]}'),
      bytes: { base64: "/wA=" },
      text: "abc",
      enum: "b",
      map: JSON.parse('{"a": 1, "__proto__": 2}'),
      numbered: { "7": [1] },
      struct: { a: { b: null } },
      none: null,
      nested: [[1, null], [], null],
      empty: [],
      no_list: null,
      no_struct: null,
    })
  })

  test("a column may be called __proto__", function* () {
    const bytes = yield* duckdb(`SELECT 1 AS "__proto__", {'__proto__': {'polluted': true}} AS "constructor"`)
    const [row] = yield* values(bytes)
    assert.deepStrictEqual(row, JSON.parse('{"__proto__": 1, "constructor": {"__proto__": {"polluted": true}}}'))
    assert.deepStrictEqual(yield* values(bytes, ["__proto__"]), [JSON.parse('{"__proto__": 1}')])
    assert.isUndefined(({} as Record<string, unknown>)["polluted"])
  })

  test.each([WriterVersion.V1, WriterVersion.V2])("by Arrow (parquet-wasm), pages of version %i", function* (version) {
    const table = Table.fromIPCStream(
      tableToIPC(tableFromArrays({ text: rows.map(({ prompt }) => prompt), n: rows.map((_, i) => i) }), "stream"),
    )
    const properties = new WriterPropertiesBuilder()
      .setWriterVersion(version)
      .setCompression(Compression.SNAPPY)
      .setDictionaryEnabled(version === WriterVersion.V1)
      .setDataPageSizeLimit(500)
      .setWriteBatchSize(16)
      .build()
    assert.deepStrictEqual(
      yield* values(writeParquet(table, properties)),
      rows.map(({ prompt }, i) => ({ text: prompt, n: i })),
    )
  })

  describe("is valid, as other writers have it", () => {
    const int32 = (...numbers: ReadonlyArray<number>) => Buffer.from(Int32Array.from(numbers).buffer)
    /** Levels, each as a run of its own. */
    const runs = (...all: ReadonlyArray<number>) => levels(Buffer.from(all.flatMap((level) => [2, level])))
    const leaf = (name: string, type: number, repetition?: number) => ({
      field_1: type,
      ...(repetition === undefined ? undefined : { field_3: repetition }),
      field_4: name,
    })
    const group = (repetition: number, more: object = {}) => ({
      field_3: repetition,
      field_4: "a",
      field_5: 1,
      ...more,
    })
    const list = { field_6: 3 }
    const rle = (count: number) => ({ field_5: { field_1: count, field_2: 3, field_3: 3, field_4: 3 } })
    const optionalBodies = Buffer.concat([runs(0, 1, 0, 0, 0), runs(2, 2, 1, 0, 2), int32(1, 2, 3)])
    const requiredBodies = Buffer.concat([runs(0, 1, 0, 0), runs(1, 1, 0, 1), int32(1, 2, 3)])
    const lists = [[1, 2], [], [3]]
    test.each<readonly [string, Uint8Array, ReadonlyArray<unknown>]>([
      ["a column without its repetition", oneColumn([root, leaf("a", 1)], ["a"], [1, 2, 2], int32(1, 2)), [1, 2]],
      [
        "a list of two levels, empty and null",
        oneColumn([root, group(1, list), leaf("array", 1, 2)], ["a", "array"], [1, 4, 5], optionalBodies),
        [[1, 2], [], null, [3]],
      ],
      [
        "a required list of two levels",
        oneColumn([root, group(0, list), leaf("array", 1, 2)], ["a", "array"], [1, 3, 4], requiredBodies),
        lists,
      ],
      ["a repeated column", oneColumn([root, leaf("a", 1, 2)], ["a"], [1, 3, 4], requiredBodies), lists],
      [
        "a repeated column in an optional group",
        oneColumn([root, group(1), leaf("x", 1, 2)], ["a", "x"], [1, 4, 5], optionalBodies),
        [{ x: [1, 2] }, { x: [] }, null, { x: [3] }],
      ],
      [
        "a repeated group",
        oneColumn([root, group(2), leaf("x", 1, 0)], ["a", "x"], [1, 3, 4], requiredBodies),
        [[{ x: 1 }, { x: 2 }], [], [{ x: 3 }]],
      ],
      [
        "booleans as runs",
        oneColumn([root, leaf("a", 0, 0)], ["a"], [0, 3, 3], levels(Buffer.from([4, 1, 2, 0])), rle(3)),
        [true, true, false],
      ],
      [
        "booleans as runs, of which none is there",
        oneColumn([root, leaf("a", 0, 1)], ["a"], [0, 2, 2], runs(0, 0), rle(2)),
        [null, null],
      ],
      [
        "booleans as runs, beside levels that the column does not need",
        oneColumn(
          [root, leaf("a", 0, 0)],
          ["a"],
          [0, 2, 2],
          Buffer.concat([Buffer.from([4, 0, 4, 0]), levels(Buffer.from([2, 1, 2, 0]))]),
          {
            field_1: 3,
            field_5: undefined,
            field_8: { field_1: 2, field_2: 0, field_3: 2, field_4: 3, field_5: 2, field_6: 2, field_7: false },
          },
        ),
        [true, false],
      ],
    ])("%s", function* ([, bytes, expected]) {
      const rows = expected.map((a) => ({ a }))
      assert.deepStrictEqual<unknown>(yield* values(bytes), rows)
    })
  })

  test("a row whose text is not UTF-8 is refused, and the rest is read", function* () {
    const bytes = byHand({
      pages: [dataPage(4, plainTexts(["\uFEFFa", new Uint8Array([0x61, 0xff]), "\uFFFD", "b"]))],
      rows: 4,
    })
    const { problem, rows } = yield* read(bytes)
    assert.isUndefined(problem)
    assert.deepStrictEqual(
      rows.map((row) => (Result.isSuccess(row) ? row.success.value : row.failure)),
      [
        { text: "\uFEFFa" },
        { file: "a.parquet", row: 2, code: "invalid_utf8", reason: "text: expected UTF-8, found invalid bytes" },
        { text: "\uFFFD" },
        { text: "b" },
      ],
    )
  })

  test("a row whose JSON is none is refused", function* () {
    const schema = [root, { ...optionalText, field_6: 19 }]
    const pages = [dataPage(3, plainTexts(['{"a":1}', "{", "[".repeat(100_000) + "]".repeat(100_000)]))]
    const { rows } = yield* read(byHand({ pages, rows: 3, schema }))
    assert.deepStrictEqual(Result.getOrThrow(rows[0]!).value, { text: { a: 1 } })
    assert.deepStrictEqual(Result.getOrThrow(Result.flip(rows[1]!)).code, "invalid_json")
    assert.isUndefined(Result.getOrThrow(rows[2]!).place.raw)
  })

  test.each([
    ["GZIP", (bytes: Uint8Array) => gzipSync(bytes)],
    ["BROTLI", (bytes: Uint8Array) => brotliCompressSync(bytes)],
    ["ZSTD", (bytes: Uint8Array) => zstdCompressSync(bytes)],
  ] as const)("a page in %s that holds more than its header says is not unpacked whole", function* ([codec, compress]) {
    const pages = [dataPage(1, plainTexts(["a"]), { stored: compress(new Uint8Array(50_000_000)) })]
    const { problem, rows } = yield* read(byHand({ pages, rows: 1, codec }))
    assert.match(problem!, /^row group 1: column "text": /)
    assert.deepStrictEqual(rows, [])
  })
})
