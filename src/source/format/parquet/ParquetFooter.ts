/**
 * The footer of a Parquet file: its schema, and where its row groups stand.
 *
 * Guarantees: it was looked through before `hyparquet` parses it, so that no footer loops or fills memory;
 * the row groups have as many rows as the file, each a chunk for each column, and the chunks stand within
 * the file.
 */
import { Effect } from "effect"
import { type ColumnChunk, type FileMetaData, parquetMetadata } from "hyparquet"
import type { Input } from "../../place/Input.ts"
import { type SourceError, unreadable } from "../../record/SourceError.ts"
import type { Chunk } from "./ParquetColumn.ts"
import { damaged, problemOf } from "./ParquetDamage.ts"
import * as Schema from "./ParquetSchema.ts"
import * as Thrift from "./ParquetThrift.ts"

export interface RowGroup {
  readonly rows: number
  /** One for each leaf; or why it cannot be read. */
  readonly chunks: ReadonlyArray<Chunk | string>
}

export interface Footer {
  readonly rows: number
  readonly schema: Schema.Schema
  readonly groups: ReadonlyArray<RowGroup>
}

/** What is read first: most footers are smaller. */
const tailBytes = 64 * 1024

/** Of tables of a thousand columns in as many row groups. */
const footerMax = 64 * 1024 * 1024
const valuesMax = 8_000_000

/** The footer's length, and `PAR1`. */
const trailerBytes = 8

type Slice = Exclude<Input["slice"], undefined>

export const read = Effect.fnUntraced(function* (name: string, size: number, slice: Slice) {
  const failed = (problem: string) => Effect.fail(unreadable(name, problem))
  if (size < trailerBytes + 4) return yield* failed(`it is no Parquet file: it has ${size} bytes`)
  const tail = yield* slice(Math.max(0, size - tailBytes), size)
  const magic = String.fromCharCode(...tail.subarray(-4))
  if (magic === "PARE") return yield* failed("it is encrypted; decrypt it first")
  if (magic !== "PAR1") {
    return yield* failed("its end is no Parquet: the file was cut off, is still being written, or is no Parquet file")
  }
  const length = new DataView(tail.buffer, tail.byteOffset, tail.length).getUint32(tail.length - trailerBytes, true)
  const start = size - trailerBytes - length
  if (start < 4 || length > footerMax) {
    return yield* failed(`it is damaged: its footer claims ${length} bytes of the file's ${size}`)
  }
  const bytes = length + trailerBytes <= tail.length ? tail.subarray(-length - trailerBytes) : yield* slice(start, size)
  return yield* Effect.try({
    try: () => parse(bytes, start),
    catch: (cause): SourceError => unreadable(name, problemOf(cause), cause),
  })
})

/** @throws Damage, or what `hyparquet` throws */
const parse = (bytes: Uint8Array, end: number): Footer => {
  const thrift = Thrift.from(bytes.subarray(0, -trailerBytes), 0, valuesMax)
  Thrift.skipStruct(thrift)
  if (thrift.isBad || thrift.isCut) damaged("its footer is damaged")
  const metadata = parquetMetadata(bytes, { geoparquet: false, parsers })
  const schema = Schema.make(metadata.schema)
  const rows = countOf(metadata.num_rows)
  const groups = metadata.row_groups.map((group) => groupOf(group, schema, end))
  const total = groups.reduce((sum, group) => sum + group.rows, 0)
  if (total !== rows) damaged(`its footer is damaged: ${rows} rows, and ${total} in its row groups`)
  if (rows > 0 && schema.leaves.length === 0) damaged("it has rows, and no columns")
  return { rows, schema, groups }
}

/** Of statistics, which are not looked at. */
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
    : damaged("its footer is damaged")
}

const groupOf = (group: FileMetaData["row_groups"][number], schema: Schema.Schema, end: number): RowGroup => {
  if (group.columns.length !== schema.leaves.length) damaged("its footer is damaged")
  return {
    rows: countOf(group.num_rows),
    chunks: group.columns.map((column, i) => chunkOf(column, schema.leaves[i]!, end)),
  }
}

const chunkOf = (column: ColumnChunk, leaf: Schema.Leaf, fileEnd: number): Chunk | string => {
  const { meta_data: found, crypto_metadata: encryption, file_path: path } = column
  if (encryption !== undefined) return "it is encrypted; decrypt the file first"
  if (path !== undefined && path !== "") return `it stands in another file, ${path}`
  if (found === undefined) return damaged("its footer is damaged")
  if (found.path_in_schema.join(".") !== leaf.path || found.type !== leaf.type) damaged("its footer is damaged")
  const data = countOf(found.data_page_offset)
  const dictionary = countOf(found.dictionary_page_offset ?? 0)
  const start = dictionary > 0 && dictionary < data ? dictionary : data
  const end = start + countOf(found.total_compressed_size)
  if (start < 4 || end > fileEnd) return "it is damaged: it goes on beyond the file's end"
  return { start, end, codec: found.codec, values: countOf(found.num_values) }
}
