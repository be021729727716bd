/**
 * A file on this machine.
 */
import { Effect, FileSystem, Stream } from "effect"
import { fromPlatformError, requireFiles } from "../SourceError.ts"
import type { Input } from "./Input.ts"

export const open = Effect.fn("LocalFile.open")(function* (name: string) {
  const fs = yield* FileSystem.FileSystem
  yield* requireFiles([name])
  const { size } = yield* Effect.mapError(fs.stat(name), (error) => fromPlatformError(name, error))
  const input: Input = {
    name,
    size: Number(size),
    bytes: Stream.mapError(fs.stream(name), (error) => fromPlatformError(name, error)),
    slice: undefined,
  }
  return input
})
