/** Parquet files: by other writers, and by hand, byte for byte; and what is read from them. */
import { readFile } from "node:fs/promises"
import { Effect, FileSystem, Result, Stream } from "effect"
import { ByteWriter } from "hyparquet-writer"
import { serializeTCompactProtocol } from "hyparquet-writer/src/thrift.js"
import * as Parquet from "../../../../src/source/format/parquet/Parquet.ts"
import type { Input } from "../../../../src/source/place/Input.ts"
import type { RowResult } from "../../../../src/source/record/Row.ts"
import type { SourceError } from "../../../../src/source/record/SourceError.ts"
import * as readers from "../../../support/datasetReaders.ts"

/** The bytes as a file; tells of each slice. */
export const inputOf = (bytes: Uint8Array, onSlice: (start: number, end: number) => void = () => {}): Input => ({
  name: "a.parquet",
  size: bytes.length,
  bytes: Stream.succeed(bytes),
  slice: (start, end) =>
    Effect.sync(() => {
      if (!(start >= 0 && start <= end && end <= bytes.length)) throw new RangeError(`slice ${start} to ${end}`)
      onSlice(start, end)
      return Uint8Array.from(bytes.subarray(start, end))
    }),
})

export interface Found {
  /** As the footer says; undefined where the footer is not read. */
  readonly count: number | undefined
  readonly rows: ReadonlyArray<RowResult>
  /** What ended the reading, if not the file's end. */
  readonly problem: string | undefined
}

/** All rows, and what ended them. Whatever is no `SourceError` of this file is a defect. */
export const read = Effect.fn(function* (bytes: Uint8Array, columns?: ReadonlyArray<string>, most = Infinity) {
  const rows: Array<RowResult> = []
  let count: number | undefined
  const result = yield* Effect.gen(function* () {
    const file = yield* Parquet.open(inputOf(bytes))
    count = file.count
    yield* file.rows(columns).pipe(
      Stream.take(most),
      Stream.runForEachArray((found) => Effect.sync(() => void rows.push(...found))),
    )
  }).pipe(Effect.result)
  const found: Found = { count, rows, problem: Result.isFailure(result) ? yield* problemOf(result.failure) : undefined }
  return found
})

const problemOf = (error: SourceError) =>
  error.reason._tag === "FileUnreadable" && error.reason.file === "a.parquet"
    ? Effect.succeed(error.reason.problem)
    : Effect.die(error)

/** The values of rows of which none is refused, of a file that is read to its end. */
export const values = Effect.fn(function* (bytes: Uint8Array, columns?: ReadonlyArray<string>) {
  const { problem, rows } = yield* read(bytes, columns)
  if (problem !== undefined) return yield* Effect.die(problem)
  return rows.map((row) => Result.getOrThrow(row).value)
})

/** What DuckDB writes of the rows of a query. */
export const duckdb = Effect.fn(function* (query: string, options = "") {
  const fs = yield* FileSystem.FileSystem
  const path = `${yield* fs.makeTempDirectoryScoped()}/a.parquet`
  yield* Effect.promise(() => readers.query(`COPY (${query}) TO '${path}' (FORMAT parquet${options})`))
  return new Uint8Array(yield* Effect.promise(() => readFile(path)))
}, Effect.scoped)

type Struct = { readonly [field: `field_${number}`]: unknown }

/** Thrift's compact protocol. */
export const thrift = (struct: Struct): Uint8Array => {
  const writer = new ByteWriter()
  serializeTCompactProtocol(writer, ordered(struct) as Struct)
  return new Uint8Array(writer.getBuffer())
}

/** Fields by their numbers, as the writer wants them. */
const ordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value
  const numberOf = (field: string) => Number(field.slice("field_".length))
  const fields = Object.entries(value).toSorted(([a], [b]) => numberOf(a) - numberOf(b))
  return Object.fromEntries(fields.map(([field, member]) => [field, ordered(member)]))
}

const codecs = ["UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"]

/** A file of one column, `text`, of optional UTF-8, and one row group. */
export interface ByHand {
  /** Page headers, each with what follows it. */
  readonly pages: ReadonlyArray<readonly [header: Struct, bytes: Uint8Array]>
  /** Of the row group and the file. */
  readonly rows: number | bigint
  readonly values?: number | bigint
  readonly codec?: string
  /** Instead of what is true. */
  readonly chunk?: Struct
  readonly schema?: ReadonlyArray<Struct>
  readonly chunkSize?: number
  readonly footer?: Struct
  /** How many columns there are, all in the same place. */
  readonly columns?: number
}

export const root: Struct = { field_4: "root", field_5: 1 }
export const optionalText: Struct = { field_1: 6, field_3: 1, field_4: "text", field_6: 0 }

export const byHand = (file: ByHand): Uint8Array => {
  const pages = Buffer.concat(file.pages.flatMap(([header, bytes]) => [thrift(header), bytes]))
  const meta = {
    field_1: 6,
    field_2: [0, 3],
    field_4: codecs.indexOf(file.codec ?? "UNCOMPRESSED"),
    field_5: BigInt(file.values ?? file.rows),
    field_6: BigInt(pages.length),
    field_7: BigInt(file.chunkSize ?? pages.length),
    field_9: 4n,
  }
  const names = Array.from({ length: file.columns ?? 1 }, (_, i) => (i === 0 ? "text" : `text ${i}`))
  const footer = {
    field_1: 1,
    field_2: file.schema ?? [
      { ...root, field_5: names.length },
      ...names.map((name) => ({ ...optionalText, field_4: name })),
    ],
    field_3: BigInt(file.rows),
    field_4: [
      {
        field_1: names.map((name) => ({ field_2: 4n, field_3: { ...meta, field_3: [name] }, ...file.chunk })),
        field_2: BigInt(pages.length),
        field_3: BigInt(file.rows),
      },
    ],
    ...file.footer,
  }
  return withFooter(pages, thrift(footer))
}

/** A file of one column at any depth, in one page. */
export const oneColumn = (
  schema: ReadonlyArray<Struct>,
  path: ReadonlyArray<string>,
  [type, rows, values]: readonly [type: number, rows: number, values: number],
  body: Uint8Array,
  header: Struct = {},
): Uint8Array => {
  const page = dataPage(values, body, { header })
  const size = BigInt(thrift(page[0]).length + page[1].length)
  const meta = {
    field_1: type,
    field_2: [0, 3],
    field_3: path,
    field_4: 0,
    field_5: BigInt(values),
    field_6: size,
    field_7: size,
    field_9: 4n,
  }
  return byHand({ pages: [page], rows, values, schema, chunk: { field_3: meta } })
}

export const withFooter = (pages: Uint8Array, footer: Uint8Array, length = footer.length): Uint8Array => {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(length)
  return Buffer.concat([Buffer.from("PAR1"), pages, footer, size, Buffer.from("PAR1")])
}

/** A data page of version 1; what of its header is not true can be given. */
export const dataPage = (
  count: number,
  bytes: Uint8Array,
  { stored = bytes, header }: { readonly stored?: Uint8Array; readonly header?: Struct } = {},
): readonly [Struct, Uint8Array] => [
  {
    field_1: 0,
    field_2: bytes.length,
    field_3: stored.length,
    field_5: { field_1: count, field_2: 0, field_3: 3, field_4: 3 },
    ...header,
  },
  stored,
]

/** Definition levels as a run, before the texts. */
export const plainTexts = (texts: ReadonlyArray<string | Uint8Array>): Uint8Array =>
  Buffer.concat([
    levels(Buffer.from([...varint(texts.length * 2), 1])),
    ...texts.flatMap((text) => {
      const bytes = Buffer.from(text)
      const length = Buffer.alloc(4)
      length.writeUInt32LE(bytes.length)
      return [length, bytes]
    }),
  ])

export const levels = (bytes: Uint8Array): Uint8Array => {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(bytes.length)
  return Buffer.concat([length, bytes])
}

export const varint = (value: number): ReadonlyArray<number> =>
  value < 128 ? [value] : [128 + (value % 128), ...varint(Math.floor(value / 128))]
