/**
 * Writes the rows of one split as shards, in Parquet and JSON Lines with the same boundaries.
 *
 * Guarantees: each row is in one shard, in order; consecutive rows of an item are in the same shard; boundaries depend
 * on the rows only. The limit is on the size of the rows in memory, as for `datasets`; a shard ends with the item that
 * reaches it. File names contain the number of shards, so files are named in `finish`. Lines that `datasets` could not
 * read after the first ones (`Jsonl.leadingLines`) are moved to the start of the split's first file of JSON Lines.
 */
import type { Scope } from "effect"
import { Effect, Fiber, FileSystem, Path } from "effect"
import type { Split } from "../domain/Split.ts"
import type { PairRow } from "./Columns.ts"
import { about, type DatasetError } from "./file/DatasetError.ts"
import type { Encode, EncodedRow } from "./file/EncodedRow.ts"
import type { Features } from "./file/Features.ts"
import * as Jsonl from "./file/Jsonl.ts"
import type { DatasetFile } from "./Manifest.ts"
import * as OutputFile from "./file/OutputFile.ts"
import * as Parquet from "./file/Parquet.ts"

export interface SplitFiles {
  readonly split: Split
  readonly rows: number
  /** Of the rows in memory, see `EncodedRow`. */
  readonly bytes: number
  readonly files: ReadonlyArray<DatasetFile>
}

type Environment = FileSystem.FileSystem | Path.Path | Scope.Scope

export interface SplitWriter {
  readonly write: (rows: ReadonlyArray<PairRow>) => Effect.Effect<void, DatasetError, Environment>
  readonly finish: Effect.Effect<SplitFiles, DatasetError, Environment>
}

const folders = ["data", "jsonl"] as const
type Folder = (typeof folders)[number]

const endings: { readonly [Name in Folder]: string } = { data: "parquet", jsonl: "jsonl" }

export const pathOf = (folder: Folder, split: Split, index: number, total: number): string =>
  `${folder}/${split}-${number(index)}-of-${number(total)}.${endings[folder]}`

const number = (n: number) => String(n).padStart(5, "0")

type RowFile = DatasetFile & { readonly rows: number }

interface Shard {
  readonly writers: ReadonlyArray<readonly [Folder, OutputFile.RowWriter]>
  size: number
}

/** A split that has no rows has one shard without any. */
export const make = (
  directory: string,
  split: Split,
  {
    encode,
    features,
    shardBytes,
  }: { readonly encode: Encode; readonly features: Features; readonly shardBytes: number },
): SplitWriter => {
  let shard: Shard | undefined
  const leading = Jsonl.leadingLines(features)
  let lastItem: string | undefined
  let shards = 0
  const done: Array<{ readonly folder: Folder; readonly index: number; readonly file: RowFile }> = []
  let closing: Fiber.Fiber<void, DatasetError> | undefined
  let rows = 0
  let bytes = 0

  /** Named as if it were the only one, which most are. */
  const open = Effect.gen(function* () {
    const writers = yield* Effect.forEach(folders, (folder) =>
      Effect.map(
        OutputFile.create(directory, pathOf(folder, split, shards, 1)),
        (file) =>
          [folder, folder === "data" ? Parquet.make(file, features) : Jsonl.make(file, features, leading)] as const,
      ),
    )
    shards++
    return { writers, size: 0 } satisfies Shard
  })

  const append = Effect.fnUntraced(function* (part: ReadonlyArray<EncodedRow>) {
    if (part.length === 0) return
    shard ??= yield* open
    const { writers } = shard
    yield* Effect.forEach(writers, ([, writer]) => writer.write(part), { concurrency: "unbounded", discard: true })
  })

  /** Ends the shard. At most one waits for the disk. */
  const close = Effect.fnUntraced(function* ({ writers }: Shard) {
    const index = shards - 1
    shard = undefined
    yield* Effect.forEach(writers, ([, writer]) => writer.end, { concurrency: "unbounded", discard: true })
    if (closing !== undefined) yield* Fiber.join(closing)
    closing = yield* Effect.forEach(
      writers,
      Effect.fnUntraced(function* ([folder, writer]) {
        const digest = yield* writer.finish
        done.push({ folder, index, file: { path: pathOf(folder, split, index, 1), ...digest } })
      }),
      { concurrency: "unbounded", discard: true },
    ).pipe(Effect.forkIn(yield* Effect.scope))
  })

  return {
    write: Effect.fnUntraced(function* (newRows) {
      let part: Array<EncodedRow> = []
      let size = shard?.size ?? 0
      for (const row of newRows) {
        if (size >= shardBytes && row.item_id !== lastItem) {
          yield* append(part)
          if (shard !== undefined) yield* close(shard)
          part = []
          size = 0
        }
        const encoded = encode(row)
        part.push(encoded)
        lastItem = row.item_id
        size += encoded.size
        bytes += encoded.size
      }
      rows += newRows.length
      yield* append(part)
      if (shard !== undefined) shard.size = size
    }),
    finish: Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const paths = yield* Path.Path
      if (shard === undefined && shards === 0) shard = yield* open
      if (shard !== undefined) yield* close(shard)
      if (closing !== undefined) yield* Fiber.join(closing)
      done.sort((a, b) => folders.indexOf(a.folder) - folders.indexOf(b.folder) || a.index - b.index)
      const files = yield* Effect.forEach(
        done,
        Effect.fnUntraced(function* ({ file, folder, index }) {
          const path = pathOf(folder, split, index, shards)
          const place = paths.join(directory, path)
          if (shards > 1) yield* fs.rename(paths.join(directory, file.path), place).pipe(about(place))
          if (folder !== "jsonl" || index > 0 || leading.lines.length === 0) return { ...file, path }
          const digest = yield* OutputFile.prepend(directory, path, leading.lines.join(""))
          return { path, rows: file.rows + leading.lines.length, ...digest }
        }),
      )
      return { split, rows, bytes, files }
    }),
  }
}
