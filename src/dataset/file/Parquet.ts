/**
 * Writes rows as Parquet with Zstandard compression.
 *
 * Guarantees: the schema is declared, never inferred, so a file without rows has it, too; every column is nullable
 * (readers ignore the `huggingface` metadata otherwise); the same rows give the same bytes, however they are chunked.
 * Each row group is encoded synchronously, in a few tenths of a second: the writer has no interface for row groups that
 * were encoded in another thread.
 */
import { Effect, Record } from "effect"
import type { SchemaElement } from "hyparquet"
import { ByteWriter, ParquetWriter } from "hyparquet-writer"
import * as Zstd from "../../node/Zstd.ts"
import { type Cell, Text } from "./EncodedRow.ts"
import { declaration, type Feature, type Features } from "./Features.ts"
import type { OutputFile, RowWriter } from "./OutputFile.ts"

/** A row group ends with the row that reaches either. Groups of twice the size save 0.3% of the file, and cost 130 MB of memory. */
const rowGroupBytes = 16 * 1024 * 1024
const rowGroupRows = 16 * 1024

/** A small file costs no more memory than it has texts. */
const minBufferBytes = 64 * 1024

/** Pages of 8 MB make the file 6% smaller than the usual 1 MB. */
const pageBytes = 8 * 1024 * 1024

const optional = { repetition_type: "OPTIONAL" } as const
const string = { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" }, ...optional } as const

const values = {
  string,
  bool: { type: "BOOLEAN", ...optional },
  int32: { type: "INT32", ...optional },
  float64: { type: "DOUBLE", ...optional },
  null: { type: "INT32", logical_type: { type: "NULL" }, ...optional },
} as const

/** A list has three levels: with two, some readers take it for something else. */
const elementsOf = (name: string, feature: Feature): ReadonlyArray<SchemaElement> => {
  if (typeof feature === "string") return [{ name, ...values[feature] }]
  if ("list" in feature) {
    return [
      { name, converted_type: "LIST", logical_type: { type: "LIST" }, ...optional, num_children: 1 },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      ...elementsOf("element", feature.list),
    ]
  }
  return [{ name, ...optional, num_children: Record.size(feature.struct) }, ...membersOf(feature.struct)]
}

const membersOf = (features: Features) =>
  Record.toEntries(features).flatMap(([name, feature]) => elementsOf(name, feature))

/** The schema of a file with these columns, as its footer holds it. */
export const schemaOf = (features: Features): Array<SchemaElement> => [
  { name: "root", num_children: Record.size(features) },
  ...membersOf(features),
]

/** The file's own metadata: what the Hub and `datasets` read the columns' types from. */
export const keyValues = (features: Features) => [
  { key: "huggingface", value: JSON.stringify({ info: { features: declaration(features) } }) },
]

export const make = (file: OutputFile, features: Features): RowWriter => {
  const buffer = new ByteWriter()
  const parquet = new ParquetWriter({
    writer: buffer,
    schema: schemaOf(features),
    codec: "ZSTD",
    compressors: { ZSTD: Zstd.compress },
    kvMetadata: keyValues(features),
    createdBy: "prefstream version 1",
  })
  const names = Record.keys(features)
  const emptyColumns = () => names.map((): Array<unknown> => [])
  let columns = emptyColumns()
  const texts = makeTexts()
  let rowCount = 0
  let count = 0
  let byteCount = 0

  const drain = Effect.suspend(() => file.append(buffer.getBytes())).pipe(
    Effect.map(() => {
      buffer.index = 0
    }),
  )

  const endGroup = Effect.suspend(() => {
    const columnData = names.map((name, i) => ({ name, data: columns[i]!, columnIndex: true }))
    const written = parquet.pendingIndexes.length
    void parquet.write({ columnData, rowGroupSize: count, pageSize: pageBytes })
    parquet.pendingIndexes.slice(written).forEach(copyBounds)
    columns = emptyColumns()
    texts.clear()
    count = 0
    byteCount = 0
    return drain
  })

  return {
    write: Effect.fnUntraced(function* (rows) {
      for (const row of rows) {
        for (let i = 0; i < names.length; i++) columns[i]!.push(texts.encode(row.columns[names[i]!]))
        byteCount += row.size
        count++
        rowCount++
        if (byteCount >= rowGroupBytes || count === rowGroupRows) yield* endGroup
      }
    }),
    end: Effect.gen(function* () {
      if (count > 0) yield* endGroup
      void parquet.finish()
      if (parquet.row_groups.length === 0) typeEmptyRowGroups(buffer.getBytes())
      yield* drain
    }),
    finish: Effect.map(file.finish, (digest) => ({ ...digest, rows: rowCount })),
  }
}

/**
 * The texts of a row group as UTF-8, whose bounds are in the order of bytes, one after the other in a buffer that all groups
 * use, and that is as large as they need. Each text has one view, by which the writer knows equal ones: otherwise its
 * dictionaries take a tenth of an export.
 */
const makeTexts = () => {
  const views = new Map<Text, Uint8Array>()
  let buffer = Buffer.allocUnsafeSlow(minBufferBytes)
  let end = 0

  const bytesOf = (text: Text): Uint8Array => {
    const known = views.get(text)
    if (known !== undefined) return known
    // The views of a buffer that is full keep it.
    if (end + text.bytes > buffer.length) {
      buffer = Buffer.allocUnsafeSlow(Math.max(Math.min(2 * buffer.length, rowGroupBytes), text.bytes))
      end = 0
    }
    const start = end
    end += buffer.write(text.value, start)
    const bytes = new Uint8Array(buffer.buffer, start, end - start)
    views.set(text, bytes)
    return bytes
  }

  const encode = (cell: Cell | undefined): unknown => {
    if (cell instanceof Text) return bytesOf(cell)
    if (typeof cell !== "object" || cell === null) return cell ?? null
    if (Array.isArray(cell)) return cell.map(encode)
    return Object.fromEntries(Object.entries(cell).map(([name, member]) => [name, encode(member)]))
  }

  return {
    encode,
    clear: (): void => {
      views.clear()
      if (buffer.length > rowGroupBytes) buffer = Buffer.allocUnsafeSlow(rowGroupBytes)
      end = 0
    },
  }
}

type Bounds = ParquetWriter["pendingIndexes"][number]

/** The writer keeps the bounds of a column until the file ends, as views of a buffer that is used again. */
const copyBounds = ({ chunk, columnIndex }: Bounds): void => {
  const copy = <A>(value: A) => (value instanceof Uint8Array ? value.slice() : value)
  const statistics = chunk.meta_data?.statistics
  if (statistics?.min_value !== undefined) statistics.min_value = copy(statistics.min_value)
  if (statistics?.max_value !== undefined) statistics.max_value = copy(statistics.max_value)
  if (columnIndex !== undefined) {
    columnIndex.min_values = columnIndex.min_values.map(copy)
    columnIndex.max_values = columnIndex.max_values.map(copy)
  }
}

/**
 * In a file without rows, gives the footer's empty list of row groups its element
 * type. The writer leaves it out, and strict readers (arrow-rs) refuse such a file.
 */
const typeEmptyRowGroups = (file: Uint8Array) => {
  const i64Field = 0x16
  const listField = 0x19
  const struct = 0x0c
  const rowCountThenGroups = Buffer.from([i64Field, 0, listField, 0])
  const at = Buffer.from(file.buffer, file.byteOffset, file.length).indexOf(rowCountThenGroups)
  if (at >= 0) file[at + rowCountThenGroups.length - 1] = struct
}
