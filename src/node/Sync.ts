/** Adapter: `fsync`. Once a file and its folder are synced, the file survives a loss of power. */
import { Effect, FileSystem } from "effect"

export const file = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const file = yield* fs.open(path, { flag: "r+" })
  yield* file.sync
}, Effect.scoped)

/** Does nothing on systems that cannot sync folders, such as Windows. */
export const folder = Effect.fnUntraced(
  function* (path: string) {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.open(path)
    yield* folder.sync
  },
  Effect.scoped,
  (effect) => Effect.ignore(effect),
)
