/**
 * A file of the dataset while it is being written.
 *
 * Guarantees: bytes are in the file, in order, when `append` succeeds, so a writer
 * that waits for it never runs ahead of the disk; the digest is of what was
 * written; after `finish` the file has reached the disk, under its name. It is closed with the scope.
 */
import { Effect, FileSystem, Path, type Scope } from "effect"
import * as Sha256 from "../node/Sha256.ts"
import type { Row } from "./Columns.ts"
import { about, type DatasetError } from "./DatasetError.ts"

export interface OutputFile {
  /** `bytes` may be used again once the effect has succeeded. */
  readonly append: (bytes: Uint8Array) => Effect.Effect<void, DatasetError>
  readonly finish: Effect.Effect<FileDigest, DatasetError>
}

export interface FileDigest {
  /** Size in bytes. */
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

/** A format: rows on their way into a file. */
export interface RowWriter {
  readonly write: (rows: ReadonlyArray<Row>) => Effect.Effect<void, DatasetError>
  /** Writes what is still in memory. Called once, after the last row. */
  readonly finish: Effect.Effect<FileDigest, DatasetError>
}

/** Creates the file at `path`, which is relative to `directory`, and the folders on the way. */
export const create = Effect.fnUntraced(function* (
  directory: string,
  path: string,
): Effect.fn.Return<OutputFile, DatasetError, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const absolute = paths.join(directory, path)
  yield* fs.makeDirectory(paths.dirname(absolute), { recursive: true }).pipe(about(absolute))
  const file = yield* fs.open(absolute, { flag: "wx" }).pipe(about(absolute))
  const sha256 = Sha256.running()
  let size = 0

  return {
    // Uninterruptible: a write that is under way must end before its file is closed.
    append: (bytes) =>
      Effect.suspend(() => {
        sha256.update(bytes)
        size += bytes.length
        return file.writeAll(bytes)
      }).pipe(Effect.uninterruptible, about(absolute)),
    finish: file.sync.pipe(
      Effect.uninterruptible,
      // By its name: an open file can be written to the end after somebody removed it.
      Effect.andThen(fs.stat(absolute)),
      about(absolute),
      Effect.map(() => ({ bytes: size, sha256: sha256.digest() })),
    ),
  }
})
