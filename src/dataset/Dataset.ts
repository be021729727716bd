/**
 * Preference pairs as a dataset on disk: Parquet and JSON Lines with the same rows
 * in the same order, and a manifest.
 *
 * Guarantees: one pass over the pairs, in memory that does not grow with their
 * number; the dataset appears whole or not at all; the same pairs give the same
 * bytes, on every machine with the same versions.
 */
import { Effect, type FileSystem, type Path, Stream } from "effect"
import type { PreferencePair } from "../domain/PreferencePair.ts"
import * as AtomicDirectory from "./AtomicDirectory.ts"
import { toRow } from "./Columns.ts"
import type { DatasetError } from "./DatasetError.ts"
import * as Jsonl from "./Jsonl.ts"
import * as Manifest from "./Manifest.ts"
import * as OutputFile from "./OutputFile.ts"
import * as Parquet from "./Parquet.ts"

export { recover } from "./AtomicDirectory.ts"
export { DatasetError } from "./DatasetError.ts"

export interface DatasetInfo {
  readonly directory: string
  /** Preference pairs. */
  readonly rows: number
  /** All but the manifest. `path` is relative to `directory`, `bytes` the size, `sha256` hexadecimal. */
  readonly files: ReadonlyArray<Manifest.DatasetFile>
}

/**
 * Writes the pairs into `directory`:
 *
 * ```
 * data/train-00000-of-00001.parquet
 * jsonl/train-00000-of-00001.jsonl
 * manifest.json
 * ```
 *
 * The directory must be new, or empty, or hold a dataset written before, which is
 * replaced once the new one is complete. Fails with the stream's errors, or with a
 * `DatasetError`; then, and when interrupted, `directory` is as it was.
 */
export const write: <E, R>(
  pairs: Stream.Stream<PreferencePair, E, R>,
  options: { readonly directory: string },
) => Effect.Effect<DatasetInfo, E | DatasetError, R | FileSystem.FileSystem | Path.Path> = Effect.fn("Dataset.write")(
  function* (pairs, { directory }) {
    const manifest = yield* AtomicDirectory.write(directory, (next) => writeFiles(pairs, next))
    return { directory, rows: manifest.rows, files: manifest.files }
  },
)

const writeFiles = Effect.fnUntraced(function* <E, R>(pairs: Stream.Stream<PreferencePair, E, R>, directory: string) {
  const outputs = [
    { path: "data/train-00000-of-00001.parquet", make: Parquet.make },
    { path: "jsonl/train-00000-of-00001.jsonl", make: Jsonl.make },
  ]
  const writers = yield* Effect.forEach(outputs, ({ path, make }) =>
    Effect.map(OutputFile.create(directory, path), (file) => ({ path, ...make(file) })),
  )
  let count = 0
  yield* Stream.runForEachArray(pairs, (chunk) => {
    const rows = chunk.map(toRow)
    count += rows.length
    return Effect.forEach(writers, (writer) => writer.write(rows), { discard: true })
  })
  const files = yield* Effect.forEach(writers, ({ path, finish }) =>
    Effect.map(finish, (digest) => ({ path, rows: count, ...digest })),
  )
  const manifest = Manifest.make(count, files)
  const file = yield* OutputFile.create(directory, Manifest.fileName)
  yield* file.append(Manifest.encode(manifest))
  yield* file.finish
  return manifest
}, Effect.scoped)
