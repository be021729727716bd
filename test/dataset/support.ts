/** Datasets that tests write, in folders that go away with the tests. */
import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { Effect, FileSystem, Stream } from "effect"
import * as Dataset from "../../src/dataset/Dataset.ts"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"

export { test } from "../source/support.ts"

/** Writes the pairs; gives the dataset's folder, what was written, and what its files hold. */
export const written = Effect.fnUntraced(function* <E = never, R = never>(
  pairs: ReadonlyArray<PreferencePair> | Stream.Stream<PreferencePair>,
  options: Omit<Dataset.Options<E, R>, "directory"> = {},
) {
  const fs = yield* FileSystem.FileSystem
  const directory = `${yield* fs.makeTempDirectoryScoped()}/dataset`
  const stream = Stream.isStream(pairs) ? pairs : Stream.fromIterable(pairs)
  const info = yield* Stream.run(stream, Dataset.write({ directory, ...options }))
  const read = (path: string) => fs.readFileString(`${directory}/${path}`)
  /** The rows of a file of JSON Lines. */
  const rows = (path: string) =>
    Effect.map(read(path), (text) =>
      text
        .trimEnd()
        .split("\n")
        .map((line): Record<string, unknown> => JSON.parse(line)),
    )
  return { directory, info, read, rows }
})

/** Puts other content into a file of a dataset, as one whose size and digest the manifest has. */
export const replaceFile = (directory: string, path: string, content: string | Uint8Array) => {
  const manifest = JSON.parse(readFileSync(`${directory}/manifest.json`, "utf8"))
  const file = manifest.files.find((file: { readonly path: string }) => file.path === path)
  file.bytes = Buffer.from(content).length
  file.sha256 = createHash("sha256").update(content).digest("hex")
  writeFileSync(`${directory}/${path}`, content)
  writeFileSync(`${directory}/manifest.json`, JSON.stringify(manifest))
}
