/**
 * Uses two renames to replace a directory. The old directory must be empty, or must have been written by prefstream.
 * During the replacement, `.NAME.partial-…` beside the directory holds the new directory, the old one, and the writer's
 * lock. If a crash happens between the renames, the next write or `recover` moves the old directory back.
 */
import { Effect, FileSystem, Option, Path } from "effect"
import * as FileLock from "../node/FileLock.ts"
import * as Sync from "../node/Sync.ts"
import { about, DatasetError, DirectoryNotReplaceable, FileSystemFailure } from "./file/DatasetError.ts"
import * as Manifest from "./Manifest.ts"

export const write = Effect.fnUntraced(function* <A, E, R>(
  directory: string,
  fill: (next: string) => Effect.Effect<A, E, R>,
): Effect.fn.Return<A, E | DatasetError, R | FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const place = yield* locate(directory)
  const { dir: parent, base: name } = paths.parse(place)
  yield* recoverPlace(place)
  yield* ensureReplaceable(place)
  yield* fs.makeDirectory(parent, { recursive: true }).pipe(about(parent))
  return yield* Effect.acquireUseRelease(
    fs.makeTempDirectory({ directory: parent, prefix: partialPrefix(name) }).pipe(about(parent)),
    Effect.fnUntraced(function* (partial) {
      yield* lock(partial)
      // The temporary directory has mode 700, but the new dataset needs the usual mode.
      const next = paths.join(partial, "next")
      yield* fs.makeDirectory(next).pipe(about(next))
      const result = yield* fill(next)
      yield* syncFolders(next)
      yield* ensureReplaceable(place)
      // Without `uninterruptible`, an interruption could start the clean-up (`settle`) while a rename is in progress.
      yield* swap(partial, place).pipe(about(place), Effect.uninterruptible)
      return result
    }, Effect.scoped),
    (partial) => Effect.ignore(settle(partial, place), { log: "Warn", message: `${partial} could not be removed` }),
  )
})

/** Moves the old dataset back and removes half-written files, if a process died while it wrote `directory`. */
export const recover = Effect.fn("Dataset.recover")(function* (directory: string) {
  yield* recoverPlace(yield* locate(directory))
})

const partialPrefix = (name: string) => `.${name}.partial-`

/** Returns the absolute path. For a symbolic link, returns the path of the link's target, which need not exist. */
const locate = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const absolute = paths.resolve(directory)
  const linked = Effect.map(fs.readLink(absolute), (target) => paths.resolve(paths.dirname(absolute), target))
  return yield* fs.realPath(absolute).pipe(
    Effect.catch(() => linked),
    Effect.orElseSucceed(() => absolute),
  )
})

const recoverPlace = Effect.fnUntraced(function* (place: string) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const { dir: parent, base: name } = paths.parse(place)
  if (!(yield* fs.exists(parent).pipe(about(parent)))) return
  const siblings = yield* fs.readDirectory(parent).pipe(about(parent))
  for (const sibling of siblings.filter((sibling) => sibling.startsWith(partialPrefix(name)))) {
    const partial = paths.join(parent, sibling)
    const writerIsDead = yield* Effect.isSuccess(Effect.scoped(lock(partial)))
    if (writerIsDead) yield* settle(partial, place).pipe(about(partial))
  }
})

const lock = Effect.fnUntraced(function* (partial: string) {
  const paths = yield* Path.Path
  yield* Effect.mapError(
    FileLock.acquire(paths.join(partial, "writer")),
    (cause) => new DatasetError({ reason: new FileSystemFailure({ path: partial, cause }) }),
  )
})

const ensureReplaceable = Effect.fnUntraced(function* (place: string) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const refuse = (why: string) => new DatasetError({ reason: new DirectoryNotReplaceable({ directory: place, why }) })
  if (!(yield* fs.exists(place).pipe(about(place)))) return
  const here = yield* fs.stat(place).pipe(about(place))
  const above = yield* fs.stat(paths.dirname(place)).pipe(about(place))
  if (here.type !== "Directory") return yield* refuse("it is not a directory")
  if (here.dev !== above.dev) return yield* refuse("it is the root of a file system; use a directory inside it")
  if (place === paths.resolve(".")) return yield* refuse("it is the current directory")
  const manifest = yield* Manifest.read(place)
  // Without a manifest, subfolders are not listed, because the directory may be a whole home directory.
  const entries = yield* fs.readDirectory(place, { recursive: Option.isSome(manifest) }).pipe(about(place))
  const [unexpected] = Manifest.unexpectedEntries(manifest, entries)
  if (unexpected !== undefined) return yield* refuse(`it contains ${unexpected}, which is not part of a dataset`)
})

const swap = Effect.fnUntraced(function* (partial: string, place: string) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  if (yield* fs.exists(place)) yield* fs.rename(place, paths.join(partial, "previous"))
  yield* fs.rename(paths.join(partial, "next"), place)
  yield* Sync.folder(paths.dirname(place))
})

const settle = Effect.fnUntraced(function* (partial: string, place: string) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const previous = paths.join(partial, "previous")
  const displaced = (yield* fs.exists(previous)) && !(yield* fs.exists(place))
  if (displaced) yield* fs.rename(previous, place)
  yield* fs.remove(partial, { recursive: true, force: true })
})

const syncFolders = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const entries = yield* fs.readDirectory(directory, { recursive: true }).pipe(about(directory))
  yield* Effect.forEach(["", ...entries], (entry) => Sync.folder(paths.join(directory, entry)), { discard: true })
})
