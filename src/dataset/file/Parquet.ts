/**
 * Rows as Parquet, zstd-compressed.
 *
 * Guarantees: the schema is declared, never inferred, so a file without rows has
 * it, too; every column may be null (readers ignore the `huggingface` key where one
 * is required); the same rows give the same bytes, however they are cut into
 * arrays, and however many processors there are.
 *
 * The first row group is encoded here, in one synchronous step (some tenths of a second), so that
 * small files start no thread; those after it in threads, where there is a processor for them.
 * Memory holds the group that is being gathered, and one for each thread: a writer waits for
 * the oldest group before it gives away one more.
 */
import { Effect, Record } from "effect"
import { ByteWriter, ParquetWriter } from "hyparquet-writer"
import type * as WorkerThreads from "../../node/WorkerThreads.ts"
import { type Features, type Json, declaration } from "./Features.ts"
import { DatasetError, EncoderFailure } from "./DatasetError.ts"
import type { OutputFile, RowWriter } from "./OutputFile.ts"
import * as PackedColumn from "./PackedColumn.ts"
import * as RowGroup from "./RowGroup.ts"

/** A row group ends with the row that reaches either. Larger groups save 0.1% of the file, and cost memory. */
const rowGroupBytes = 32 * 1024 * 1024
const rowGroupRows = 32 * 1024

/** Encode row groups; see `RowGroup.encode`. */
export type Encoders = WorkerThreads.Threads<RowGroup.Rows, RowGroup.EncodedGroup>

/** The file's own metadata: what the Hub and `datasets` read the columns' types from. */
export const keyValues = (features: Features) => [
  { key: "huggingface", value: JSON.stringify({ info: { features: declaration(features) } }) },
]

export const make = (file: OutputFile, features: Features, encoders?: Encoders): RowWriter => {
  const buffer = new ByteWriter()
  const parquet = new ParquetWriter({
    writer: buffer,
    schema: RowGroup.schemaOf(features),
    codec: "UNCOMPRESSED",
    kvMetadata: keyValues(features),
    createdBy: "prefstream version 1",
  })
  const names = Record.keys(features)
  const emptyColumns = () => names.map((): Array<Json> => [])
  let columns = emptyColumns()
  let count = 0
  let byteCount = 0
  let groups = 0
  const underWay: Array<Effect.Effect<RowGroup.EncodedGroup, DatasetError>> = []

  const drain = Effect.suspend(() => file.append(buffer.getBytes())).pipe(
    Effect.map(() => {
      buffer.index = 0
    }),
  )

  /** Waits until there are no more than `most` under way. */
  const settle = Effect.fnUntraced(function* (most: number) {
    while (underWay.length > most) {
      const encoded = yield* underWay.shift()!
      RowGroup.place(encoded, buffer.offset)
      parquet.row_groups.push(encoded.group)
      parquet.pendingIndexes.push(...encoded.indexes)
      parquet.num_rows += encoded.group.num_rows
      buffer.appendBytes(encoded.bytes)
      yield* drain
    }
  })

  const endGroup = Effect.gen(function* () {
    const packed = columns.map((values, i) => PackedColumn.pack(features[names[i]!]!, values))
    const rows = { features, count, columns: packed }
    columns = emptyColumns()
    count = 0
    byteCount = 0
    const threads = groups++ === 0 || encoders === undefined ? 0 : encoders.size
    yield* settle(Math.max(threads - 1, 0))
    if (encoders === undefined || threads === 0) underWay.push(Effect.sync(() => RowGroup.encode(rows)))
    else {
      const encoded = yield* encoders.start(rows, packed.flatMap(PackedColumn.buffersOf))
      underWay.push(
        Effect.mapError(encoded, ({ cause }) => new DatasetError({ reason: new EncoderFailure({ cause }) })),
      )
    }
    if (threads === 0) yield* settle(0)
  })

  return {
    write: Effect.fnUntraced(function* (rows) {
      for (const { row, size } of rows) {
        for (let i = 0; i < names.length; i++) columns[i]!.push(row[names[i]!] ?? null)
        byteCount += size
        count++
        if (byteCount >= rowGroupBytes || count === rowGroupRows) yield* endGroup
      }
    }),
    end: Effect.gen(function* () {
      if (count > 0) yield* endGroup
      yield* settle(0)
      void parquet.finish()
      if (parquet.row_groups.length === 0) typeEmptyRowGroups(buffer.getBytes())
      yield* drain
    }),
    finish: file.finish,
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
