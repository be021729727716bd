/** Reads a local file up to the size that it has when it is opened. Overwritten bytes are not noticed. */
import { Array, Cause, Effect, FileSystem, Option, type PlatformError, type Pull, Scope, Stream } from "effect"
import { fromPlatformError, type SourceError, unreadable } from "../record/SourceError.ts"
import type { Input, ReadInto } from "./Input.ts"
import * as Pipe from "./Pipe.ts"

const pieceBytes = 64 * 1024

const piecesPerRead = 4

export const open = Effect.fn("LocalFile.open")(function* (name: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.mapError(fs.stat(name), failure(name))
  if (info.type === "Directory") return yield* unreadable(name, "a directory, not a file; name the files in it")
  if (info.type === "FIFO") return Pipe.byName(name, Option.getOrUndefined(info.ino))
  if (info.type !== "File") return device(fs, name)
  const size = Number(info.size)
  const scope = yield* Effect.scope
  const openSameSize = Effect.filterOrFail(
    openFile(fs, name),
    (candidate) => candidate.size === size,
    () => changedFailure(name),
  )
  const handle = yield* Effect.cached(Scope.provide(openSameSize, scope))
  const isUnchanged = Effect.gen(function* () {
    const { file, modified } = yield* handle
    const current = yield* Effect.mapError(file.stat, failure(name))
    if (Number(current.size) !== size || modifiedAt(current) !== modified) return yield* changedFailure(name)
  })
  const input: Input = {
    name,
    size,
    bytes: Effect.map(openFile(fs, name), ({ file, size }) => read(name, file, size)).pipe(Stream.unwrap),
    begin: Effect.map(openFile(fs, name), ({ file, size }) => readInto(name, file, size)),
    slice: (start, end) => Effect.flatMap(handle, ({ file }) => slice(name, file, start, end)),
    sliced: Effect.map(handle, ({ file }) => read(name, file, size)).pipe(
      Stream.unwrap,
      Stream.concat(Stream.fromEffectDrain(isUnchanged)),
    ),
  }
  return input
})

const changedFailure = (name: string) => unreadable(name, "the file changed while it was read; run again")

const modifiedAt = ({ mtime }: FileSystem.File.Info): number | undefined => Option.getOrUndefined(mtime)?.getTime()

/** The file must stay open, and no other code may move its cursor. */
export const ofHandle = (name: string, file: FileSystem.File, size: number): Input => ({
  name,
  size,
  bytes: read(name, file, size),
  slice: (start, end) => slice(name, file, start, end),
  sliced: read(name, file, size),
})

const failure = (name: string) => (error: PlatformError.PlatformError) => fromPlatformError(name, error)

const openFile = Effect.fnUntraced(function* (fs: FileSystem.FileSystem, name: string) {
  const file = yield* Effect.mapError(fs.open(name), failure(name))
  const info = yield* Effect.mapError(file.stat, failure(name))
  return { file, size: Number(info.size), modified: modifiedAt(info) }
})

const device = (fs: FileSystem.FileSystem, name: string): Input => ({
  name,
  size: undefined,
  bytes: Stream.mapError(fs.stream(name), failure(name)),
  slice: undefined,
})

const read = (name: string, file: FileSystem.File, size: number): Stream.Stream<Uint8Array, SourceError> =>
  Stream.suspend(() => {
    let at = 0
    const toFailure = failure(name)
    const pull = Effect.suspend((): Pull.Pull<Array.NonEmptyReadonlyArray<Uint8Array>, SourceError> =>
      at === size
        ? Cause.done()
        : Effect.matchEffect(
            file.readAlloc(Math.min(piecesPerRead * pieceBytes, size - at), { position: BigInt(at) }),
            {
              onFailure: (error) => Effect.fail(toFailure(error)),
              onSuccess: (piece) => {
                if (Option.isNone(piece)) return Effect.fail(shorterFailure(name, size, at))
                at += piece.value.length
                return Effect.succeed(cut(piece.value))
              },
            },
          ),
    )
    return Stream.fromPull(Effect.succeed(pull))
  })

const readInto = (name: string, file: FileSystem.File, size: number): ReadInto => {
  let at = 0
  return Effect.fnUntraced(function* (buffer) {
    if (at === size) return 0
    const part = buffer.subarray(0, size - at)
    const count = yield* Effect.mapError(file.read(part, { position: BigInt(at) }), failure(name))
    if (count === 0) return yield* shorterFailure(name, size, at)
    at += count
    return count
  })
}

const cut = (bytes: Uint8Array): Array.NonEmptyReadonlyArray<Uint8Array> =>
  Array.makeBy(Math.ceil(bytes.length / pieceBytes), (i) => bytes.subarray(i * pieceBytes, (i + 1) * pieceBytes))

const slice = Effect.fnUntraced(function* (
  name: string,
  file: FileSystem.File,
  start: number,
  end: number,
): Effect.fn.Return<Uint8Array, SourceError> {
  const bytes = new Uint8Array(end - start)
  for (let at = 0; at < bytes.length;) {
    const rest = bytes.subarray(at)
    const count = yield* Effect.mapError(file.read(rest, { position: BigInt(start + at) }), failure(name))
    if (count === 0) return yield* shorterFailure(name, end, start + at)
    at += count
  }
  return bytes
})

const shorterFailure = (name: string, size: number, actual: number) =>
  unreadable(name, `the file became shorter while it was read: expected ${size} bytes, found ${actual}; run again`)
