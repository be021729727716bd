/**
 * Finds a dataset, and its job's ledger, by the path of the dataset's folder, its manifest, or the job's folder. Fails
 * with `DatasetUnreadable` if there is no manifest.
 */
import { Effect, FileSystem, Path } from "effect"
import { DatasetUnreadable } from "../dataset/file/DatasetError.ts"
import * as Manifest from "../dataset/Manifest.ts"
import { describeValue } from "../io/Values.ts"
import * as JobFolder from "./JobFolder.ts"

export interface Place {
  readonly directory: string
  readonly ledger: string | undefined
}

export const locate = Effect.fnUntraced(function* (
  path: string,
): Effect.fn.Return<Place, DatasetUnreadable, FileSystem.FileSystem | Path.Path> {
  if (typeof path !== "string") {
    const actual = describeValue(path)
    return yield* new DatasetUnreadable({ file: "path", expected: "the path of a dataset or of a job", found: actual })
  }
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const has = (...parts: ReadonlyArray<string>) => Effect.orElseSucceed(fs.exists(paths.join(...parts)), () => false)
  const ledgerIn = Effect.fnUntraced(function* (job: string) {
    return (yield* has(JobFolder.ledger(job))) ? JobFolder.ledger(job) : undefined
  })
  if (paths.basename(path) === Manifest.fileName) return yield* locate(paths.dirname(path))
  if (yield* has(path, Manifest.fileName)) {
    const job = paths.dirname(paths.resolve(path))
    return {
      directory: path,
      ledger: JobFolder.dataset(job) === paths.resolve(path) ? yield* ledgerIn(job) : undefined,
    }
  }
  const directory = JobFolder.dataset(path)
  if (yield* has(directory, Manifest.fileName)) return { directory, ledger: yield* ledgerIn(path) }
  const actual = path.includes("://")
    ? "a URL; download the dataset first"
    : !(yield* has(path))
      ? "no such file or folder"
      : (yield* Effect.option(fs.readDirectory(path)))._tag === "None"
        ? "another file"
        : `no ${Manifest.fileName}`
  return yield* new DatasetUnreadable({ file: path, expected: "a dataset, a job folder, or a manifest", found: actual })
})
