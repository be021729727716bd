/**
 * A file of the dataset during writing.
 *
 * Guarantees: when `append` succeeds, the bytes are written in order, so writers do not run ahead of the disk; the
 * digest is of the bytes written; `finish` syncs the file, gives it its name, and closes it. The scope closes it in any
 * case.
 */
import { Effect, Exit, FileSystem, Path, Scope, Stream } from "effect"
import * as Sha256 from "../../node/Sha256.ts"
import { about, type DatasetError, errorAbout } from "./DatasetError.ts"
import type { EncodedRow } from "./EncodedRow.ts"

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
  readonly write: (rows: ReadonlyArray<EncodedRow>) => Effect.Effect<void, DatasetError>
  /** Writes what is still in memory. Called once, after the last row. */
  readonly end: Effect.Effect<void, DatasetError>
  /** Waits until the file has reached the disk. Called once, after `end`. */
  readonly finish: Effect.Effect<FileDigest & { readonly rows: number }, DatasetError>
}

/** Creates the file at `path`, which is relative to `directory`, and the folders on the way. */
export const create = Effect.fnUntraced(function* (
  directory: string,
  path: string,
): Effect.fn.Return<OutputFile, DatasetError, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const absolute = paths.join(directory, path)
  // Not recursive: `directory` itself must still exist, with the files written before.
  const [, ...folders] = path.split("/").map((_, i, parts) => parts.slice(0, i).join("/"))
  yield* Effect.forEach(folders, (folder) => makeFolder(paths.join(directory, folder)), { discard: true })
  const scope = yield* Scope.fork(yield* Effect.scope)
  const file = yield* fs.open(absolute, { flag: "wx" }).pipe(Scope.provide(scope), about(absolute))
  const sha256 = Sha256.makeHasher()
  let size = 0

  return {
    // Uninterruptible: a write in flight must end before its file is closed.
    append: (bytes) =>
      Effect.suspend(() => {
        sha256.update(bytes)
        size += bytes.length
        return file.writeAll(bytes)
      }).pipe(Effect.uninterruptible, about(absolute)),
    finish: file.sync.pipe(
      Effect.uninterruptible,
      Effect.ensuring(Scope.close(scope, Exit.void)),
      // By name, since an open file remains writable after it was removed.
      Effect.andThen(fs.stat(absolute)),
      about(absolute),
      Effect.map(() => ({ bytes: size, sha256: sha256.digest() })),
    ),
  }
})

const makeFolder = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(folder).pipe(
    Effect.catchIf(
      ({ reason }) => reason._tag === "AlreadyExists",
      () => Effect.void,
    ),
    about(folder),
  )
})

/** A file whose content is there already. */
export const writeFile = Effect.fnUntraced(function* (directory: string, path: string, content: Uint8Array | string) {
  const file = yield* create(directory, path)
  yield* file.append(typeof content === "string" ? new TextEncoder().encode(content) : content)
  return yield* file.finish
}, Effect.scoped)

/** Puts text before the content of a finished file, which is copied. */
export const prepend = Effect.fnUntraced(function* (directory: string, path: string, text: string) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const absolute = paths.join(directory, path)
  const rest = `${absolute}.rest`
  yield* fs.rename(absolute, rest).pipe(about(absolute))
  const file = yield* create(directory, path)
  yield* file.append(new TextEncoder().encode(text))
  yield* fs.stream(rest, { chunkSize: copyBytes }).pipe(
    Stream.mapError((error) => errorAbout(rest, error)),
    Stream.runForEach(file.append),
  )
  yield* fs.remove(rest).pipe(about(rest))
  return yield* file.finish
}, Effect.scoped)

const copyBytes = 1024 * 1024
