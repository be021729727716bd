/** Writes Parquet with Zstandard. All columns are nullable: otherwise, readers ignore the `huggingface` metadata. */
import type { SchemaElement } from "hyparquet"
import { ByteWriter, ParquetWriter } from "hyparquet-writer"
import * as Zstd from "../../node/Zstd.ts"
import { type Cell, Text } from "./EncodedRow.ts"
import { declaration, type Feature, type Features } from "./Features.ts"
import type { OutputFile } from "../../node/OutputFile.ts"
import type { RowWriter } from "./RowWriter.ts"

/** Row groups of twice the size would make the file only 0.3% smaller, and need 130 MB more memory. */
const rowGroupBytes = 16 * 1024 * 1024
const rowGroupRows = 16 * 1024

const minBufferBytes = 64 * 1024

/** Pages of 8 MB make the file 6% smaller than pages of the usual 1 MB. */
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

/** A list has three levels, because some readers misinterpret lists with two levels. */
const elementsOf = (name: string, feature: Feature): ReadonlyArray<SchemaElement> => {
  if (typeof feature === "string") return [{ name, ...values[feature] }]
  if ("list" in feature) {
    return [
      { name, converted_type: "LIST", logical_type: { type: "LIST" }, ...optional, num_children: 1 },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      ...elementsOf("element", feature.list),
    ]
  }
  return [{ name, ...optional, num_children: Object.keys(feature.struct).length }, ...membersOf(feature.struct)]
}

const membersOf = (features: Features) =>
  Object.entries(features).flatMap(([name, feature]) => elementsOf(name, feature))

export const schemaOf = (features: Features): Array<SchemaElement> => [
  { name: "root", num_children: Object.keys(features).length },
  ...membersOf(features),
]

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
  const names = Object.keys(features)
  const emptyColumns = () => names.map((): Array<unknown> => [])
  let columns = emptyColumns()
  const texts = makeTexts()
  let rowCount = 0
  let count = 0
  let byteCount = 0

  const drain = () => {
    file.append(buffer.getBytes())
    buffer.index = 0
  }

  const endGroup = () => {
    const columnData = names.map((name, i) => ({
      name,
      data: columns[i]!,
      columnIndex: true,
      ...(isPlain(columns[i]!) && { encoding: "PLAIN" as const }),
    }))
    const written = parquet.pendingIndexes.length
    void parquet.write({ columnData, rowGroupSize: count, pageSize: pageBytes })
    parquet.pendingIndexes.slice(written).forEach(copyBounds)
    columns = emptyColumns()
    texts.clear()
    count = 0
    byteCount = 0
    drain()
  }

  return {
    write: (row) => {
      for (let i = 0; i < names.length; i++) columns[i]!.push(texts.encode(row.columns[names[i]!]))
      byteCount += row.size
      count++
      rowCount++
      if (byteCount >= rowGroupBytes || count === rowGroupRows) endGroup()
    },
    finish: () => {
      if (count > 0) endGroup()
      void parquet.finish()
      if (parquet.row_groups.length === 0) typeEmptyRowGroups(buffer.getBytes())
      drain()
      return { ...file.finish(), rows: rowCount }
    },
    close: file.close,
  }
}

const minPlainBytes = 1024 * 1024

/** Whether the distinct texts of a large column take more than half of its bytes, so that a dictionary saves little. */
const isPlain = (column: ReadonlyArray<unknown>): boolean => {
  const seen = new Set<Uint8Array>()
  let all = 0
  let different = 0
  for (const value of column) {
    if (value === null) continue
    if (!(value instanceof Uint8Array)) return false
    all += 4 + value.length
    if (seen.size < seen.add(value).size) different += 4 + value.length
  }
  return all >= minPlainBytes && 2 * different > all
}

const keyOf = (bytes: Uint8Array, start: number, length: number): number => {
  let key = length
  for (let i = 1; i <= 7; i++) key = (Math.imul(key, 31) + (bytes[start + ((length * i) >> 3)] ?? 0)) | 0
  return key
}

/** Returns the same `Uint8Array` for equal texts. The writer then compares references, which takes less time. */
const makeTexts = () => {
  let group = Symbol()
  /** A `Text` keeps an index into this list, and not a view, because a `Text` may outlive the buffer of the view. */
  let views: Array<Uint8Array> = []
  const viewsByKey = new Map<number, Uint8Array>()
  let buffer = Buffer.allocUnsafeSlow(minBufferBytes)
  let end = 0

  const viewOf = (text: Text): Uint8Array => {
    const length = text.bytes
    if (end + length > buffer.length) {
      buffer = Buffer.allocUnsafeSlow(Math.max(Math.min(2 * buffer.length, rowGroupBytes), length))
      end = 0
    }
    text.writeTo(buffer, end)
    const key = keyOf(buffer, end, length)
    const same = viewsByKey.get(key)
    if (same?.length === length && buffer.compare(same, 0, length, end, end + length) === 0) return same
    const bytes = new Uint8Array(buffer.buffer, end, length)
    end += length
    viewsByKey.set(key, bytes)
    return bytes
  }

  const bytesOf = (text: Text): Uint8Array => {
    if (text.group !== group) {
      text.group = group
      text.index = views.push(viewOf(text)) - 1
    }
    return views[text.index]!
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
      group = Symbol()
      views = []
      viewsByKey.clear()
      if (buffer.length > rowGroupBytes) buffer = Buffer.allocUnsafeSlow(rowGroupBytes)
      end = 0
    },
  }
}

type Bounds = ParquetWriter["pendingIndexes"][number]

/** The bounds are views of a buffer. Later row groups overwrite this buffer before the writer uses the bounds. */
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

/** hyparquet-writer omits the type of an empty list of row groups. Strict readers such as arrow-rs need the type. */
const typeEmptyRowGroups = (file: Uint8Array) => {
  const i64Field = 0x16
  const listField = 0x19
  const struct = 0x0c
  const rowCountThenGroups = Buffer.from([i64Field, 0, listField, 0])
  const at = Buffer.from(file.buffer, file.byteOffset, file.length).indexOf(rowCountThenGroups)
  if (at >= 0) file[at + rowCountThenGroups.length - 1] = struct
}
