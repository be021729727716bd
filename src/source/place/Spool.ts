/**
 * Copies input that can only be read sequentially into a temporary file for random access.
 *
 * Guarantees: the file is private and is deleted with the scope or the process. A pipe is copied once per process.
 */
import { Effect, FileSystem, type Path, type PlatformError, Scope, Stream } from "effect"
import { type SourceError, unreadable } from "../record/SourceError.ts"
import type { Input } from "./Input.ts"
import * as LocalFile from "./LocalFile.ts"
import * as Pipe from "./Pipe.ts"

/** The same input with `slice`; where it has one already, it stays as it is. */
export const toFile = Effect.fn("Spool.toFile")(function* (
  input: Input,
): Effect.fn.Return<Input, SourceError, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  if (input.slice !== undefined) return input
  if (!Pipe.isPipe(input)) return yield* copied(input)
  const copy = yield* Scope.provide(copied(input), yield* Scope.make())
  Pipe.keep(input, copy)
  return copy
})

const copied = Effect.fnUntraced(function* (input: Input) {
  const fs = yield* FileSystem.FileSystem
  const failed = (error: PlatformError.PlatformError) =>
    unreadable(
      input.name,
      `its copy in the directory for temporary files failed: ${error.message}; set TMPDIR to a place with room for it`,
      error,
    )
  const directory = yield* Effect.mapError(fs.makeTempDirectoryScoped({ prefix: "prefstream-spool-" }), failed)
  const file = yield* Effect.mapError(fs.open(`${directory}/input`, { flag: "w+", mode: 0o600 }), failed)
  // An open file needs no name; where the system wants it to have one, it goes with the scope.
  yield* Effect.ignore(fs.remove(directory, { recursive: true }))
  yield* Stream.runForEach(input.bytes, (bytes) => Effect.mapError(file.writeAll(bytes), failed))
  const { size } = yield* Effect.mapError(file.stat, failed)
  return LocalFile.ofHandle(input.name, file, Number(size))
})
