import { crc32, zstdCompressSync } from "node:zlib"
import type { NodeServices } from "@effect/platform-node"
import { assert, describe } from "@effect/vitest"
import { Effect, Result } from "effect"
import fc from "fast-check"
import { parquetWriteBuffer } from "hyparquet-writer"
import {
  byHand,
  type ByHand,
  dataPage,
  duckdb,
  levels,
  optionalText,
  plainTexts,
  read,
  root,
  thrift,
  values,
  varint,
  withFooter,
} from "./parquetFiles.ts"
import { cases } from "../../../support/cases.ts"
import { test } from "../../support.ts"

const text = ["a text", "", "and another", "of some length"]
const pages = [dataPage(4, plainTexts(text))]
const whole = byHand({ pages, rows: 4 })

const problemOf = Effect.fn(function* (bytes: Uint8Array) {
  return (yield* read(bytes)).problem
})

/** The header of a page of so many indices into a dictionary. */
const indexed = (count: number) => ({ field_5: { field_1: count, field_2: 8, field_3: 3, field_4: 3 } })
/** The page of a dictionary of these texts of one character. */
const dictionaryOf = (...texts: ReadonlyArray<string>) => {
  const bytes = Buffer.concat(texts.map((text) => Buffer.from([1, 0, 0, 0, ...Buffer.from(text)])))
  const size = bytes.length
  return [{ field_1: 2, field_2: size, field_3: size, field_7: { field_1: texts.length, field_2: 0 } }, bytes] as const
}

const column = 'row group 1: column "text": '
const needsMore =
  /its columns need more than 1,073,741,824 bytes of memory; raise `maxRowGroupBytes` or write the file with/

const nested = `SELECT 'prompt ' || i AS prompt, i % 5 AS few, list_transform(range(i % 4), k -> {'role': 'user', 'content': 'answer ' || k}) AS list,
  CASE WHEN i % 2 = 0 THEN i / 3.0 END AS score FROM range(300) t(i)`

const byHyparquet = new Uint8Array(
  parquetWriteBuffer({
    columnData: [
      { name: "prompt", data: Array.from({ length: 300 }, (_, i) => `prompt ${i}`), encoding: "DELTA_BYTE_ARRAY" },
      { name: "answer", data: Array.from({ length: 300 }, (_, i) => `answer ${i % 9}`) },
      { name: "list", data: Array.from({ length: 300 }, (_, i) => text.slice(i % 4)) },
      { name: "n", data: Array.from({ length: 300 }, (_, i) => i), type: "INT32", encoding: "DELTA_BINARY_PACKED" },
    ],
    rowGroupSize: 100,
    pageSize: 300,
  }),
)

describe("a damaged Parquet file", () => {
  test("that was cut off anywhere gives no row", function* () {
    for (let size = 0; size < whole.length; size++) {
      const { count, problem, rows } = yield* read(whole.subarray(0, size))
      assert.match(problem!, size < 12 ? /^not a Parquet file/ : /^no Parquet footer/)
      assert.isUndefined(count)
      assert.deepStrictEqual(rows, [])
    }
  })

  test("whose pages were cut out fails with row group and column", function* () {
    for (const chunkSize of [0, 1, 10, 40]) {
      assert.match((yield* problemOf(byHand({ pages, rows: 4, chunkSize })))!, /^row group 1: column "text": /)
    }
  })

  const hand = (file: Partial<ByHand>) => byHand({ pages, rows: 4, ...file })
  const alone = (page: ByHand["pages"][number], file: Partial<ByHand> = {}) => hand({ pages: [page], rows: 1, ...file })
  const a = plainTexts(["a"])

  test.each<readonly [string, Uint8Array, string]>([
    [
      "is encrypted",
      Buffer.concat([whole.subarray(0, -1), Buffer.from("E")]),
      "the file is encrypted; decrypt it first",
    ],
    [
      "claims a footer larger than itself",
      withFooter(new Uint8Array(0), thrift({ field_1: 1 }), 0xffffffff),
      "the file is damaged: its stated footer size is 4294967295 bytes, and the file has 15 bytes",
    ],
    ["claims 2^60 rows", hand({ rows: 2n ** 60n }), "the footer is damaged"],
    ["claims -1 rows", hand({ rows: -1 }), "the footer is damaged"],
    [
      "has row groups of other rows than its own",
      hand({ footer: { field_3: 5n } }),
      "the footer is damaged: it states 5 rows, but its row groups have 4",
    ],
    [
      "has two columns of one name",
      hand({ schema: [{ ...root, field_5: 2 }, optionalText, optionalText] }),
      "two columns have the same name",
    ],
    [
      "claims two billion children of its schema",
      hand({ schema: [{ ...root, field_5: 0x7fffffff }, optionalText] }),
      "the schema is damaged",
    ],
    [
      "has a schema 100,000 deep",
      hand({ schema: Array.from({ length: 100_000 }, () => ({ ...root, field_3: 1, field_5: 1 })) }),
      "the schema is damaged",
    ],
    ...(
      [
        ["has a footer 100,000 deep", new Uint8Array(100_000).fill(0x1c)],
        ["has a number of ten million digits in its footer", [0x16, ...new Uint8Array(10_000_000).fill(0xff)]],
        ["claims a list of 2^34 in its footer", [0x19, 0xfc, ...varint(2 ** 34), 0]],
        ["has ten million structs in its footer", [0x19, 0xfc, ...varint(10_000_000), ...new Uint8Array(10_000_001)]],
      ] as const
    ).map(
      ([what, footer]) =>
        [what, withFooter(new Uint8Array(0), Uint8Array.from(footer)), "the footer is damaged"] as const,
    ),
  ])("that %s says so", function* ([, bytes, expected]) {
    const problem = yield* problemOf(bytes)
    assert.isTrue(problem?.startsWith(expected), problem)
  })

  test.each<readonly [string, Uint8Array, string]>([
    ["is encrypted", hand({ chunk: { field_8: { field_1: {} } } }), "encrypted; decrypt the file first"],
    [
      "is compressed with LZO",
      hand({ codec: "LZO" }),
      "unsupported compression LZO; write the file with zstd, or without compression",
    ],
    [
      "holds BSON",
      hand({ schema: [root, { ...optionalText, field_6: 20 }] }),
      "unsupported type BSON; leave the column out, or convert it to text",
    ],
    [
      "stands in another file",
      hand({ chunk: { field_1: "b.parquet", field_2: 4n } }),
      "stored in another file, b.parquet",
    ],
    ["has fewer values than it claims", hand({ rows: 1_000_000_000_000 }), "it ends after 4 of 1000000000000 values"],
    ["has more values than it claims", hand({ rows: 3 }), "it has more than 3 values"],
    ["has more values than rows", hand({ rows: 3, values: 4 }), "it has more than 3 rows"],
    ["has fewer values than rows", hand({ rows: 5, values: 4 }), "it ends after 4 of 5 rows"],
    ["ends beyond the file", hand({ chunkSize: 2 ** 40 }), "damaged: it extends beyond the end of the file"],
    [
      "has a page that claims to hold 2 GB",
      alone(dataPage(1, a, { header: { field_2: 0x7fffffff } }), { codec: "SNAPPY" }),
      "a page header states 2147483647 bytes; the maximum is 268435456",
    ],
    [
      "has a page that claims 2 billion values",
      alone(dataPage(0x7fffffff, a), { rows: 0x7fffffff }),
      "a page header states 2147483647 values; the maximum is 16777216",
    ],
    ["has a page of a size below zero", alone(dataPage(1, a, { header: { field_2: -1 } })), "a page is damaged"],
    [
      // hyparquet 1.31.5 does not come back from these bytes.
      "has a Snappy literal of a length below zero",
      alone(
        dataPage(1, new Uint8Array(100), {
          stored: Buffer.from([100, 0xfc, 0, 0xff, 0xff, 0xff, ...new Uint8Array(300)]),
        }),
        { codec: "SNAPPY" },
      ),
      "a compressed page is damaged",
    ],
    [
      "has an LZ4 block that ends too soon",
      alone(dataPage(1, new Uint8Array(100), { stored: Buffer.from([0x20, 1, 2]) }), { codec: "LZ4_RAW" }),
      "a page has only 2 of its 100 bytes",
    ],
    [
      "has a checksum that does not fit",
      hand({ pages: [dataPage(4, plainTexts(text), { header: { field_4: 1 } })] }),
      "the checksum of a page is wrong",
    ],
    [
      "has a text longer than its page",
      alone(dataPage(1, Buffer.concat([levels(Buffer.from([2, 1])), Buffer.from([255, 255, 255, 255, 97])]))),
      "damaged (Invalid typed array length",
    ],
    [
      "has levels higher than its schema",
      alone(dataPage(8, levels(Buffer.from([16, 3]))), { rows: 8 }),
      "a page is damaged: a repetition or definition level exceeds the maximum for the column",
    ],
    [
      "has a run longer than its page",
      alone(dataPage(3, levels(Buffer.from([...varint(2 ** 34), 0]))), { rows: 3 }),
      "a page has more values than its header states",
    ],
    [
      "has a dictionary's page without the dictionary",
      hand({ pages: [dataPage(4, plainTexts(text), { header: indexed(4) })] }),
      "a page refers to a dictionary, but none comes before it",
    ],
  ])("of which a column %s says so", function* ([, bytes, expected]) {
    const problem = yield* problemOf(bytes)
    assert.isTrue(problem?.startsWith(column + expected), problem)
  })

  test("an index beyond its dictionary is a reject of its row, and the next are read", function* () {
    const dictionary = dictionaryOf("a")
    const header = indexed(2)
    // One bit each, of which the first is beyond the dictionary's one value.
    const indices = Buffer.concat([levels(Buffer.from([4, 1])), Buffer.from([1, 3, 0b01])])
    const { problem, rows } = yield* read(byHand({ pages: [dictionary, dataPage(2, indices, { header })], rows: 2 }))
    assert.isUndefined(problem)
    const [first, second] = rows
    assert.strictEqual(
      Result.isFailure(first!) ? first.failure.reason : undefined,
      'column "text": a page is damaged: a value is missing',
    )
    assert.deepStrictEqual<unknown>(Result.getOrThrow(second!).value, { text: "a" })
  })

  test("a last run without its padding is no damage", function* () {
    const header = indexed(3)
    const present = levels(Buffer.from([...varint(3 * 2), 1]))
    const indices = byHand({
      pages: [
        dictionaryOf("a", "b"),
        // Eight indices of two bits, of which three are there.
        dataPage(3, Buffer.concat([present, Buffer.from([2, 3, 0b000100])]), { header }),
      ],
      rows: 3,
    })
    assert.deepStrictEqual<unknown>(yield* values(indices), [{ text: "a" }, { text: "b" }, { text: "a" }])
    // Sixteen levels, of which three are there, and no value behind them.
    const nulls = byHand({ pages: [dataPage(3, levels(Buffer.from([5, 0])))], rows: 3 })
    assert.deepStrictEqual<unknown>(yield* values(nulls), [{ text: null }, { text: null }, { text: null }])
  })

  const nulls = (count: number) => dataPage(count, levels(Buffer.from([...varint(count * 2), 0])))

  test("ten million nulls in some bytes come in pieces", function* () {
    const count = 10_000_000
    const { count: found, rows } = yield* read(byHand({ pages: [nulls(count)], rows: count }), undefined, 1_000)
    assert.strictEqual(found, count)
    assert.strictEqual(rows.length, 1_000)
  })

  test("a thousand columns of ten million nulls do not fill the memory", function* () {
    const count = 10_000_000
    const file = byHand({ pages: [nulls(count)], rows: count, columns: 1_000 })
    assert.match((yield* problemOf(file))!, needsMore)
  })

  test("a list that goes on over a hundred pages of many elements is no row", function* () {
    const count = 5_000_000
    const run = levels(Buffer.from([...varint(count * 2), 1]))
    const none = levels(Buffer.from([...varint(count * 2), 0]))
    const first = dataPage(1, Buffer.concat([levels(Buffer.from([2, 0])), levels(Buffer.from([2, 0]))]))
    const next = dataPage(count, Buffer.concat([run, none]))
    const pages = [first, ...Array.from({ length: 100 }, () => next)]
    const schema = [root, { ...optionalText, field_3: 2 }]
    const file = byHand({ pages, rows: 1, values: 1 + 100 * count, schema })
    assert.match((yield* problemOf(file))!, needsMore)
  })

  test("a list of ten million elements in some bytes is no row", function* () {
    const count = 10_000_000
    const run = levels(Buffer.from([...varint(count * 2), 1]))
    const first = levels(Buffer.concat([Buffer.from([2, 0]), Buffer.from([...varint(count * 2 - 2), 1])]))
    const bytes = Buffer.concat([first, run, Buffer.from([0])])
    const dictionary = dictionaryOf("a")
    const header = indexed(count)
    const indices = Buffer.concat([bytes, Buffer.from(varint(count * 2))])
    const schema = [root, { ...optionalText, field_3: 2 }]
    const file = byHand({ pages: [dictionary, dataPage(count, indices, { header })], rows: 1, values: count, schema })
    const { problem, rows } = yield* read(file)
    assert.isUndefined(problem)
    assert.deepStrictEqual(rows.map(Result.merge), [
      {
        file: "a.parquet",
        row: 1,
        code: "invalid_shape",
        reason: 'column "text": a row has more than 4000000 list elements',
      },
    ])
  })

  describe.each<readonly [string, Effect.Effect<Uint8Array, unknown, NodeServices.NodeServices>]>([
    ["by hand", Effect.succeed(whole)],
    ["by hyparquet-writer", Effect.succeed(byHyparquet)],
    [
      "in zstd, with checksums",
      Effect.sync(() => {
        const bytes = plainTexts(text)
        const stored = zstdCompressSync(bytes)
        const page = dataPage(4, bytes, { stored, header: { field_4: crc32(stored) | 0 } })
        return byHand({ pages: [page], rows: 4, codec: "ZSTD" })
      }),
    ],
    ...["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4", "lz4_raw"].flatMap((codec) =>
      ["v1", "v2"].map(
        (version) =>
          [
            `by DuckDB, ${codec}, ${version}`,
            duckdb(nested, `, COMPRESSION ${codec}, PARQUET_VERSION ${version}`),
          ] as const,
      ),
    ),
  ])("%s, with bytes cut, flipped and spliced", (_, file) => {
    test("gives all rows that its footer says, or some and an error that names it", function* () {
      const bytes = yield* file
      const at = fc.nat({ max: bytes.length - 1 })
      const change = fc.oneof(
        fc.record({ kind: fc.constant("cut"), at, length: fc.nat({ max: 50 }), by: fc.constant(0) }),
        fc.record({ kind: fc.constant("flip"), at, length: fc.constant(1), by: fc.integer({ min: 1, max: 255 }) }),
        fc.record({
          kind: fc.constant("fill"),
          at,
          length: fc.integer({ min: 1, max: 9 }),
          by: fc.constantFrom(0, 127, 255),
        }),
        fc.record({ kind: fc.constant("splice"), at, length: fc.integer({ min: 1, max: 50 }), by: at }),
      )
      const changed = (changes: ReadonlyArray<typeof change extends fc.Arbitrary<infer A> ? A : never>) =>
        changes.reduce<Uint8Array>((bytes, { kind, at, length, by }) => {
          if (kind === "cut") return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)])
          const mutant = Uint8Array.from(bytes)
          if (kind === "flip" && at < mutant.length) mutant[at]! ^= by
          if (kind === "fill") mutant.fill(by, at, at + length)
          if (kind === "splice") mutant.copyWithin(at, by, by + length)
          return mutant
        }, bytes)
      const mutants = fc.sample(fc.array(change, { minLength: 1, maxLength: 3 }), {
        seed: 6,
        // More of a small file, which are quick.
        numRuns: cases(bytes.length < 2_000 ? 100 : 40, 400),
      })
      let whole = 0
      for (const changes of mutants) {
        const { count, problem, rows } = yield* read(changed(changes))
        if (problem === undefined) {
          whole++
          assert.strictEqual(rows.length, count)
        } else assert.isAtMost(rows.length, count ?? 0)
        for (const [i, row] of rows.entries()) {
          assert.strictEqual(Result.isSuccess(row) ? row.success.place.row : row.failure.row, i + 1)
        }
      }
      // Some are not noticed, some are: else nothing was tested.
      assert.isAbove(whole, 0)
      assert.isBelow(whole, mutants.length)
    })
  })
})
