import { crc32, zstdCompressSync } from "node:zlib"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import fc from "fast-check"
import { parquetWriteBuffer } from "hyparquet-writer"
import {
  byHand,
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

const text = ["a text", "", "and another", "of some length"]
const pages = [dataPage(4, plainTexts(text))]
const whole = byHand({ pages, rows: 4 })

const problemOf = Effect.fn(function* (bytes: Uint8Array) {
  return (yield* read(bytes)).problem
})

const column = 'row group 1: column "text": '
const needsMore =
  /its columns need more than 1,073,741,824 bytes of memory; raise --max-row-group-bytes \(maxRowGroupBytes\), or write the file with/

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

it.layer(NodeServices.layer)("a damaged Parquet file", (it) => {
  it.effect("(what is changed below is whole before)", () =>
    Effect.gen(function* () {
      const { problem, rows } = yield* read(whole)
      assert.isUndefined(problem)
      assert.deepStrictEqual<unknown>(
        rows.map((row) => Result.getOrThrow(row).value),
        text.map((text) => ({ text })),
      )
    }),
  )

  it.effect("that was cut off anywhere gives no row", () =>
    Effect.gen(function* () {
      for (let size = 0; size < whole.length; size++) {
        const { count, problem, rows } = yield* read(whole.subarray(0, size))
        assert.match(problem!, size < 12 ? /^not a Parquet file/ : /^no Parquet footer/)
        assert.isUndefined(count)
        assert.deepStrictEqual(rows, [])
      }
    }),
  )

  it.effect("whose pages were cut out fails with row group and column", () =>
    Effect.gen(function* () {
      for (const chunkSize of [0, 1, 10, 40]) {
        assert.match((yield* problemOf(byHand({ pages, rows: 4, chunkSize })))!, /^row group 1: column "text": /)
      }
    }),
  )

  describe.each<readonly [string, Uint8Array, string]>([
    [
      "is encrypted",
      Buffer.concat([whole.subarray(0, -1), Buffer.from("E")]),
      "the file is encrypted; decrypt it first",
    ],
    [
      "has an encrypted column",
      byHand({ pages, rows: 4, chunk: { field_8: { field_1: {} } } }),
      `${column}encrypted; decrypt the file first`,
    ],
    [
      "is compressed with LZO",
      byHand({ pages, rows: 4, codec: "LZO" }),
      `${column}unsupported compression LZO; write the file with zstd, or without compression`,
    ],
    [
      "holds BSON",
      byHand({ pages, rows: 4, schema: [root, { ...optionalText, field_6: 20 }] }),
      `${column}unsupported type BSON; leave the column out, or convert it to text`,
    ],
    [
      "stands in two files",
      byHand({ pages, rows: 4, chunk: { field_1: "b.parquet", field_2: 4n } }),
      `${column}stored in another file, b.parquet`,
    ],
    [
      "claims a footer larger than itself",
      withFooter(new Uint8Array(0), thrift({ field_1: 1 }), 0xffffffff),
      "the file is damaged: the footer claims 4294967295 of the file's 15 bytes",
    ],
    ["claims 2^60 rows", byHand({ pages, rows: 2n ** 60n }), "the footer is damaged"],
    ["claims -1 rows", byHand({ pages, rows: -1 }), "the footer is damaged"],
    [
      "claims more rows than it has",
      byHand({ pages, rows: 1_000_000_000_000 }),
      `${column}it ends after 4 of 1000000000000 values`,
    ],
    ["claims fewer rows than it has", byHand({ pages, rows: 3 }), `${column}it has more than 3 values`],
    ["has more values than rows", byHand({ pages, rows: 3, values: 4 }), `${column}it has more than 3 rows`],
    ["has fewer values than rows", byHand({ pages, rows: 5, values: 4 }), `${column}it ends after 4 of 5 rows`],
    [
      "has row groups of other rows than its own",
      byHand({ pages, rows: 4, footer: { field_3: 5n } }),
      "the footer is damaged: it has 5 rows, but its row groups have 4",
    ],
    [
      "has two columns of one name",
      byHand({ pages, rows: 4, schema: [{ ...root, field_5: 2 }, optionalText, optionalText] }),
      "two columns have the same name",
    ],
    [
      "claims a column beyond its end",
      byHand({ pages, rows: 4, chunkSize: 2 ** 40 }),
      `${column}damaged: it extends beyond the end of the file`,
    ],
    [
      "claims two billion children of its schema",
      byHand({ pages, rows: 4, schema: [{ ...root, field_5: 0x7fffffff }, optionalText] }),
      "the schema is damaged",
    ],
    [
      "has a schema 100,000 deep",
      byHand({ pages, rows: 4, schema: Array.from({ length: 100_000 }, () => ({ ...root, field_3: 1, field_5: 1 })) }),
      "the schema is damaged",
    ],
    [
      "has a footer 100,000 deep",
      withFooter(new Uint8Array(0), new Uint8Array(100_000).fill(0x1c)),
      "the footer is damaged",
    ],
    [
      "has a number of ten million digits in its footer",
      withFooter(new Uint8Array(0), Buffer.concat([Buffer.from([0x16]), new Uint8Array(10_000_000).fill(0xff)])),
      "the footer is damaged",
    ],
    [
      "claims a list of 2^34 in its footer",
      withFooter(new Uint8Array(0), Buffer.from([0x19, 0xfc, ...varint(2 ** 34), 0])),
      "the footer is damaged",
    ],
    [
      "has ten million structs in its footer",
      withFooter(new Uint8Array(0), Buffer.from([0x19, 0xfc, ...varint(10_000_000), ...new Uint8Array(10_000_001)])),
      "the footer is damaged",
    ],
    [
      "has a page that claims to hold 2 GB",
      byHand({
        pages: [dataPage(1, plainTexts(["a"]), { header: { field_2: 0x7fffffff } })],
        rows: 1,
        codec: "SNAPPY",
      }),
      `${column}a page claims to hold 2147483647 bytes, more than 268435456`,
    ],
    [
      "has a page that claims 2 billion values",
      byHand({ pages: [dataPage(0x7fffffff, plainTexts(["a"]))], rows: 0x7fffffff }),
      `${column}a page claims to hold 2147483647 values, more than 16777216`,
    ],
    [
      "has a page of a size below zero",
      byHand({ pages: [dataPage(1, plainTexts(["a"]), { header: { field_2: -1 } })], rows: 1 }),
      `${column}a page is damaged`,
    ],
    [
      // hyparquet 1.31.5 does not come back from these bytes.
      "has a Snappy literal of a length below zero",
      byHand({
        pages: [
          dataPage(1, new Uint8Array(100), {
            stored: Buffer.from([100, 0xfc, 0, 0xff, 0xff, 0xff, ...new Uint8Array(300)]),
          }),
        ],
        rows: 1,
        codec: "SNAPPY",
      }),
      `${column}a compressed page is damaged`,
    ],
    [
      "has an LZ4 block that ends too soon",
      byHand({
        pages: [dataPage(1, new Uint8Array(100), { stored: Buffer.from([0x20, 1, 2]) })],
        rows: 1,
        codec: "LZ4_RAW",
      }),
      `${column}a page of 100 bytes ends after 2`,
    ],
    [
      "has a checksum that does not fit",
      byHand({ pages: [dataPage(4, plainTexts(text), { header: { field_4: 1 } })], rows: 4 }),
      `${column}the checksum of a page differs`,
    ],
    [
      "has a text longer than its page",
      byHand({
        pages: [dataPage(1, Buffer.concat([levels(Buffer.from([2, 1])), Buffer.from([255, 255, 255, 255, 97])]))],
        rows: 1,
      }),
      `${column}damaged (Invalid typed array length`,
    ],
    [
      "has levels higher than its schema",
      byHand({ pages: [dataPage(8, levels(Buffer.from([16, 3])))], rows: 8 }),
      `${column}a page's levels are damaged`,
    ],
    [
      "has a run longer than its page",
      byHand({ pages: [dataPage(3, levels(Buffer.from([...varint(2 ** 34), 0])))], rows: 3 }),
      `${column}a page has more values than its header states`,
    ],
    [
      "has a dictionary's page without the dictionary",
      byHand({
        pages: [
          dataPage(4, plainTexts(text), { header: { field_5: { field_1: 4, field_2: 8, field_3: 3, field_4: 3 } } }),
        ],
        rows: 4,
      }),
      `${column}a page refers to a dictionary, but none comes before it`,
    ],
  ])("that %s", (_, bytes, expected) => {
    it.effect("says so", () =>
      Effect.gen(function* () {
        const { problem } = yield* read(bytes)
        assert.isTrue(problem?.startsWith(expected), problem)
      }),
    )
  })

  it.effect("an index beyond its dictionary is a reject of its row, and the next are read", () =>
    Effect.gen(function* () {
      const dictionary = [
        { field_1: 2, field_2: 5, field_3: 5, field_7: { field_1: 1, field_2: 0 } },
        Buffer.from([1, 0, 0, 0, 97]),
      ] as const
      const header = { field_5: { field_1: 2, field_2: 8, field_3: 3, field_4: 3 } }
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
    }),
  )

  it.effect("a last run without its padding is no damage", () =>
    Effect.gen(function* () {
      const dictionary = Buffer.from([1, 0, 0, 0, 97, 1, 0, 0, 0, 98])
      const header = { field_5: { field_1: 3, field_2: 8, field_3: 3, field_4: 3 } }
      const present = levels(Buffer.from([...varint(3 * 2), 1]))
      const indices = byHand({
        pages: [
          [{ field_1: 2, field_2: 10, field_3: 10, field_7: { field_1: 2, field_2: 0 } }, dictionary],
          // Eight indices of two bits, of which three are there.
          dataPage(3, Buffer.concat([present, Buffer.from([2, 3, 0b000100])]), { header }),
        ],
        rows: 3,
      })
      assert.deepStrictEqual<unknown>(yield* values(indices), [{ text: "a" }, { text: "b" }, { text: "a" }])
      // Sixteen levels, of which three are there, and no value behind them.
      const nulls = byHand({ pages: [dataPage(3, levels(Buffer.from([5, 0])))], rows: 3 })
      assert.deepStrictEqual<unknown>(yield* values(nulls), [{ text: null }, { text: null }, { text: null }])
    }),
  )

  it.effect("checksums that fit are no damage", () =>
    Effect.gen(function* () {
      const bytes = plainTexts(text)
      const crc = crc32(bytes) | 0
      assert.isUndefined(
        yield* problemOf(byHand({ pages: [dataPage(4, bytes, { header: { field_4: crc } })], rows: 4 })),
      )
    }),
  )

  const nulls = (count: number) => dataPage(count, levels(Buffer.from([...varint(count * 2), 0])))

  it.effect("ten million nulls in some bytes come in pieces", () =>
    Effect.gen(function* () {
      const count = 10_000_000
      const { count: found, rows } = yield* read(byHand({ pages: [nulls(count)], rows: count }), undefined, 1_000)
      assert.strictEqual(found, count)
      assert.strictEqual(rows.length, 1_000)
    }),
  )

  it.effect("a thousand columns of ten million nulls do not fill the memory", () =>
    Effect.gen(function* () {
      const count = 10_000_000
      const file = byHand({ pages: [nulls(count)], rows: count, columns: 1_000 })
      assert.match((yield* problemOf(file))!, needsMore)
    }),
  )

  it.effect("a list that goes on over a hundred pages of many elements is no row", () =>
    Effect.gen(function* () {
      const count = 5_000_000
      const run = levels(Buffer.from([...varint(count * 2), 1]))
      const none = levels(Buffer.from([...varint(count * 2), 0]))
      const first = dataPage(1, Buffer.concat([levels(Buffer.from([2, 0])), levels(Buffer.from([2, 0]))]))
      const next = dataPage(count, Buffer.concat([run, none]))
      const pages = [first, ...Array.from({ length: 100 }, () => next)]
      const schema = [root, { ...optionalText, field_3: 2 }]
      const file = byHand({ pages, rows: 1, values: 1 + 100 * count, schema })
      assert.match((yield* problemOf(file))!, needsMore)
    }),
  )

  it.effect("a list of ten million elements in some bytes is no row", () =>
    Effect.gen(function* () {
      const count = 10_000_000
      const run = levels(Buffer.from([...varint(count * 2), 1]))
      const first = levels(Buffer.concat([Buffer.from([2, 0]), Buffer.from([...varint(count * 2 - 2), 1])]))
      const bytes = Buffer.concat([first, run, Buffer.from([0])])
      const dictionary = [
        { field_1: 2, field_2: 5, field_3: 5, field_7: { field_1: 1, field_2: 0 } },
        Buffer.from([1, 0, 0, 0, 97]),
      ] as const
      const header = { field_5: { field_1: count, field_2: 8, field_3: 3, field_4: 3 } }
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
    }),
  )

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
    it.effect("gives all rows that its footer says, or some and an error that names it", () =>
      Effect.gen(function* () {
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
          numRuns: cases(100, 400),
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
      }),
    )
  })
})
