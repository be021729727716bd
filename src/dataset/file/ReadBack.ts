/** Reads the files of a dataset, and leaves their texts unchanged. Memory holds one row group or a few lines. */
import { Effect, FileSystem, Record, Schema, Stream } from "effect"
import { type FileMetaData, parquetMetadataAsync, parquetReadObjects } from "hyparquet"
import type { Json, JsonRow } from "./Features.ts"
import { causeMessage, isObject } from "../../io/Values.ts"
import * as RandomAccessFile from "../../node/RandomAccessFile.ts"
import * as Sha256 from "../../node/Sha256.ts"
import * as Zstd from "../../node/Zstd.ts"

export class Unreadable extends Schema.TaggedError<Unreadable>()("Unreadable", { why: Schema.String }) {}

export const unreadable = (cause: unknown) => new Unreadable({ why: causeMessage(cause) })

export const digest = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const sha256 = Sha256.makeHasher()
  let bytes = 0
  let lines = 0
  yield* Stream.runForEachArray(fs.stream(path, { chunkSize: 256 * 1024 }), (chunks) =>
    Effect.sync(() => {
      for (const chunk of chunks) {
        sha256.update(chunk)
        bytes += chunk.length
        for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines++
      }
    }),
  )
  return { bytes, lines, sha256: sha256.digest() }
})

export interface ParquetFile {
  readonly metadata: FileMetaData
  readonly rows: Stream.Stream<JsonRow, Unreadable>
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const compressors = { ZSTD: (bytes: Uint8Array) => Zstd.decompress(bytes) }
const parsers = { stringFromBytes: (bytes: Uint8Array) => decoder.decode(bytes) }

const rowsPerStep = 128

export const parquet = Effect.fnUntraced(function* (path: string) {
  const file = yield* Effect.mapError(RandomAccessFile.open(path), ({ cause }) => unreadable(cause))
  const metadata = yield* Effect.tryPromise({ try: () => parquetMetadataAsync(file), catch: unreadable })
  const ends = metadata.row_groups.map(({ num_rows }) => Number(num_rows))
  for (let i = 1; i < ends.length; i++) ends[i]! += ends[i - 1]!
  const rows = Stream.fromArray(ends).pipe(
    Stream.mapEffect((rowEnd, i) =>
      Effect.tryPromise({
        try: () => parquetReadObjects({ file, metadata, rowStart: ends[i - 1] ?? 0, rowEnd, compressors, parsers }),
        catch: unreadable,
      }),
    ),
    Stream.flattenIterable,
    // Each row group arrives as one chunk. Later steps keep a chunk in memory, so `rechunk` makes smaller ones.
    Stream.rechunk(rowsPerStep),
  )
  return { metadata, rows } satisfies ParquetFile
})

/** Removes null members of messages, because Parquet stores a missing member as null. Columns that are null stay. */
export const withoutNulls = (row: JsonRow): JsonRow =>
  Record.map(row, (value) => (Array.isArray(value) ? value.map(presentMembers) : value))

const presentMembers = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(presentMembers)
  return isObject(value)
    ? Record.map(
        Record.filter(value, (member) => (member ?? null) !== null),
        presentMembers,
      )
    : value
}

export const lines = (path: string): Stream.Stream<string, Unreadable, FileSystem.FileSystem> =>
  FileSystem.FileSystem.pipe(
    Effect.map((fs) => fs.stream(path)),
    Stream.unwrap,
    Stream.mapError(unreadable),
    Stream.decodeText(),
    Stream.splitLines,
  )
