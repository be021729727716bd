/**
 * Copies an input to a private temporary file if the input cannot be read in slices. The copy of a pipe exists until
 * the process exits, because a pipe cannot be read again. Other copies exist until the scope ends.
 */
import { Effect, FileSystem, type Path, type PlatformError, Scope, Stream } from "effect"
import { type SourceError, unreadable } from "../record/SourceError.ts"
import type { Input } from "./Input.ts"
import * as LocalFile from "./LocalFile.ts"
import * as Pipe from "./Pipe.ts"

export const toFile = Effect.fn("Spool.toFile")(function* (
  input: Input,
): Effect.fn.Return<Input, SourceError, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  if (input.slice !== undefined) return input
  if (!Pipe.isPipe(input)) return yield* copyToFile(input)
  const copy = yield* Scope.provide(copyToFile(input), yield* Scope.make())
  Pipe.replaceByCopy(input, copy)
  return copy
})

const copyToFile = Effect.fnUntraced(function* (input: Input) {
  const fs = yield* FileSystem.FileSystem
  const toFailure = (error: PlatformError.PlatformError) =>
    unreadable(
      input.name,
      `copying the input to the directory for temporary files failed: ${error.message}; set TMPDIR to a directory with enough space`,
      error,
    )
  const directory = yield* Effect.mapError(fs.makeTempDirectoryScoped({ prefix: "prefstream-spool-" }), toFailure)
  const file = yield* Effect.mapError(fs.open(`${directory}/input`, { flag: "w+", mode: 0o600 }), toFailure)
  // After this removal, the open file stays readable, and no copy remains on the disk, even if the process crashes.
  yield* Effect.ignore(fs.remove(directory, { recursive: true }))
  yield* Stream.runForEach(input.bytes, (bytes) => Effect.mapError(file.writeAll(bytes), toFailure))
  const { size } = yield* Effect.mapError(file.stat, toFailure)
  return LocalFile.ofHandle(input.name, file, Number(size))
})
