/**
 * Rows as Parquet, zstd-compressed.
 *
 * Guarantees: the schema is declared, never inferred, so a file without rows has
 * it, too; every column may be null (readers ignore the `huggingface` key where one
 * is required); the same rows give the same bytes, however they are cut into
 * arrays. Memory holds one row group, whatever the number of rows.
 *
 * A row group is encoded in one synchronous step (some tenths of a second), then awaited until
 * it is in the file: that is the back-pressure.
 */
import { Effect, Record } from "effect"
import type { RowGroup, SchemaElement } from "hyparquet"
import { ByteWriter, ParquetWriter } from "hyparquet-writer"
import { unconvertMinMax } from "hyparquet-writer/src/unconvert.js"
import * as Zstd from "../node/Zstd.ts"
import { columns } from "./Columns.ts"
import type { OutputFile, RowWriter } from "./OutputFile.ts"

/** A row group ends with the row that reaches either. Larger groups save 0.1% of the file, and cost memory. */
const rowGroupBytes = 32 * 1024 * 1024
const rowGroupRows = 32 * 1024

/** Pages of 8 MB make the file 6% smaller than the usual 1 MB. */
const pageBytes = 8 * 1024 * 1024

const float64 = { type: "DOUBLE", repetition_type: "OPTIONAL" } as const
const int32 = { type: "INT32", repetition_type: "OPTIONAL" } as const
const string = {
  type: "BYTE_ARRAY",
  converted_type: "UTF8",
  logical_type: { type: "STRING" },
  repetition_type: "OPTIONAL",
} as const

const elements = { string, int32, float64 }

const columnTypes = Record.toEntries(columns)

const schema: Array<SchemaElement> = [
  { name: "root", num_children: columnTypes.length },
  ...columnTypes.map(([name, type]) => ({ name, ...elements[type] })),
]

/** What the Hub and `datasets` read the columns' types from. */
const huggingface = JSON.stringify({
  info: { features: Record.map(columns, (type) => ({ dtype: type, _type: "Value" })) },
})

export const make = (file: OutputFile): RowWriter => {
  const buffer = new ByteWriter()
  const parquet = new ParquetWriter({
    writer: buffer,
    schema,
    codec: "ZSTD",
    compressors: { ZSTD: Zstd.compress },
    kvMetadata: [{ key: "huggingface", value: huggingface }],
    createdBy: "prefstream version 1",
  })
  const group = columnTypes.map(([name]) => ({ name, data: [] as Array<string | number | null>, columnIndex: true }))
  let rowCount = 0
  let byteCount = 0

  const drain = Effect.suspend(() => file.append(buffer.getBytes())).pipe(
    Effect.map(() => {
      buffer.index = 0
    }),
  )

  const writeGroup = Effect.suspend(() => {
    void parquet.write({ columnData: group, rowGroupSize: rowCount, pageSize: pageBytes })
    shortenBounds(parquet.row_groups.at(-1)!)
    for (const column of group) column.data = []
    rowCount = 0
    byteCount = 0
    return drain
  })

  return {
    write: Effect.fnUntraced(function* (rows) {
      for (const row of rows) {
        for (const { name, data } of group) {
          const value = row[name]
          data.push(value)
          if (typeof value === "string") byteCount += Buffer.byteLength(value)
        }
        rowCount++
        if (byteCount >= rowGroupBytes || rowCount === rowGroupRows) yield* writeGroup
      }
    }),
    finish: Effect.gen(function* () {
      if (rowCount > 0) yield* writeGroup
      void parquet.finish()
      if (parquet.row_groups.length === 0) typeEmptyRowGroups(buffer.getBytes())
      yield* drain
      return yield* file.finish
    }),
  }
}

/**
 * Cuts the bounds of a written row group to the 16 bytes that the footer will show
 * of them. The writer would keep the whole values, of every group, until then.
 */
const shortenBounds = (group: RowGroup) => {
  for (const { meta_data } of group.columns) {
    const statistics = meta_data?.statistics
    if (typeof statistics?.min_value !== "string" || typeof statistics.max_value !== "string") continue
    const min = encoder.encode(statistics.min_value)
    const max = encoder.encode(statistics.max_value)
    statistics.min_value = unconvertMinMax(min, stringElement, false)!
    statistics.max_value = unconvertMinMax(max, stringElement, true)!
    if (statistics.min_value !== min) statistics.is_min_value_exact = false
    if (statistics.max_value !== max) statistics.is_max_value_exact = false
  }
}

const encoder = new TextEncoder()
const stringElement: SchemaElement = { name: "", ...string }

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
