/**
 * Adapter: what was written, kept through a loss of power: `fsync`, through the `FileSystem` of Node.
 */
import { Effect, FileSystem } from "effect"

/** Waits until a file's bytes are on the disk. */
export const file = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const file = yield* fs.open(path, { flag: "r+" })
  yield* file.sync
}, Effect.scoped)

/** The same of the names in a folder, or of any entry, where the system can do that: Windows can't. */
export const entry = Effect.fnUntraced(
  function* (path: string) {
    const fs = yield* FileSystem.FileSystem
    const entry = yield* fs.open(path)
    yield* entry.sync
  },
  Effect.scoped,
  (effect) => Effect.ignore(effect),
)
