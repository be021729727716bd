/** Reads a Parquet file's schema and row groups, after checks: some footers make `hyparquet` loop or fill memory. */
import { Effect } from "effect"
import type { ColumnChunk, FileMetaData } from "hyparquet"
import { parquetMetadata } from "hyparquet/src/metadata.js"
import type { Input } from "../../place/Input.ts"
import { type SourceError, unreadable } from "../../record/SourceError.ts"
import { corrupt, problemOf } from "./CorruptFile.ts"
import * as Schema from "./Schema.ts"
import { ThriftReader } from "./Thrift.ts"

export interface Chunk {
  readonly start: number
  readonly end: number
  readonly codec: string
  readonly values: number
}

export interface RowGroup {
  readonly rows: number
  readonly chunks: ReadonlyArray<Chunk | string>
}

export interface Footer {
  readonly rows: number
  readonly schema: Schema.Schema
  readonly groups: ReadonlyArray<RowGroup>
}

const tailBytes = 64 * 1024

const maxFooterBytes = 64 * 1024 * 1024
const maxValues = 8_000_000

const trailerBytes = 8

export const read = Effect.fnUntraced(function* (name: string, size: number, slice: NonNullable<Input["slice"]>) {
  const fail = (problem: string) => Effect.fail(unreadable(name, problem))
  if (size < trailerBytes + 4) return yield* fail(`not a Parquet file: only ${size} bytes`)
  const tail = yield* slice(Math.max(0, size - tailBytes), size)
  const magic = String.fromCharCode(...tail.subarray(-4))
  if (magic === "PARE") return yield* fail("the file is encrypted; decrypt it first")
  if (magic !== "PAR1") {
    return yield* fail("no Parquet footer: the file was cut off, is still being written, or is not Parquet")
  }
  const length = new DataView(tail.buffer, tail.byteOffset, tail.length).getUint32(tail.length - trailerBytes, true)
  const start = size - trailerBytes - length
  if (start < 4 || length > maxFooterBytes) {
    return yield* fail(`the file is damaged: its stated footer size is ${length} bytes, and the file has ${size} bytes`)
  }
  const bytes = length + trailerBytes <= tail.length ? tail.subarray(-length - trailerBytes) : yield* slice(start, size)
  return yield* Effect.try({
    try: () => parse(bytes, start),
    catch: (cause): SourceError => unreadable(name, problemOf(cause), cause),
  })
})

const parse = (bytes: Uint8Array, end: number): Footer => {
  new ThriftReader(bytes.subarray(0, -trailerBytes), 0, "the footer", maxValues).skipStruct()
  const metadata = parquetMetadata(bytes, { geoparquet: false, parsers })
  const schema = Schema.make(metadata.schema)
  const rows = countOf(metadata.num_rows)
  const groups = metadata.row_groups.map((group) => groupOf(group, schema, end))
  const total = groups.reduce((sum, group) => sum + group.rows, 0)
  // A row count of 0 is accepted, because some writers do not count the rows.
  if (total !== rows && rows > 0)
    corrupt(`the footer is damaged: it states ${rows} rows, but its row groups have ${total}`)
  if (total > 0 && schema.leaves.length === 0) corrupt("the file has rows, but no columns")
  return { rows: total, schema, groups }
}

const parsers = {
  stringFromBytes: () => "",
  dateFromDays: () => 0,
  timestampFromMilliseconds: () => 0,
  timestampFromMicroseconds: () => 0,
  timestampFromNanoseconds: () => 0,
}

const countOf = (value: unknown): number => {
  const count = typeof value === "bigint" ? Number(value) : value
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0
    ? count
    : corrupt("the footer is damaged")
}

const groupOf = (group: FileMetaData["row_groups"][number], schema: Schema.Schema, end: number): RowGroup => {
  if (group.columns.length !== schema.leaves.length) corrupt("the footer is damaged")
  return {
    rows: countOf(group.num_rows),
    chunks: group.columns.map((column, i) => chunkOf(column, schema.leaves[i]!, end)),
  }
}

const chunkOf = (column: ColumnChunk, leaf: Schema.Leaf, fileEnd: number): Chunk | string => {
  const { meta_data: metadata, crypto_metadata: encryption, file_path: path } = column
  if (encryption !== undefined) return "encrypted; decrypt the file first"
  if (path !== undefined && path !== "") return `stored in another file, ${path}`
  if (metadata === undefined) return corrupt("the footer is damaged")
  if (metadata.path_in_schema.join(".") !== leaf.path || metadata.type !== leaf.type) corrupt("the footer is damaged")
  const data = countOf(metadata.data_page_offset)
  const dictionary = countOf(metadata.dictionary_page_offset ?? 0)
  const start = dictionary > 0 && dictionary < data ? dictionary : data
  const end = start + countOf(metadata.total_compressed_size)
  if (start < 4 || end > fileEnd) return "damaged: it extends beyond the end of the file"
  return { start, end, codec: metadata.codec, values: countOf(metadata.num_values) }
}
