/**
 * `manifest.json`: what a dataset consists of, and the sign that prefstream wrote it.
 *
 * Guarantees: it lists every other file of the directory, with digests; it holds no
 * times, so the same rows give the same manifest.
 */
import { Effect, FileSystem, Option, Path, Schema } from "effect"

export const fileName = "manifest.json"

export const DatasetFile = Schema.Struct({
  /** Relative to the directory, with `/`. */
  path: Schema.String,
  rows: Schema.Int,
  bytes: Schema.Int,
  /** Hexadecimal. */
  sha256: Schema.String,
})
export type DatasetFile = typeof DatasetFile.Type

export const Manifest = Schema.Struct({
  format: Schema.Literal("prefstream-dataset"),
  version: Schema.Int,
  /** Preference pairs; each file holds all of them. */
  rows: Schema.Int,
  files: Schema.Array(DatasetFile),
})
export type Manifest = typeof Manifest.Type

export const make = (rows: number, files: ReadonlyArray<DatasetFile>): Manifest => ({
  format: "prefstream-dataset",
  version: 1,
  rows,
  files,
})

export const encode = (manifest: Manifest): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(manifest, undefined, 2) + "\n")

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Manifest))

/** The manifest of `directory`; none where there is no file of that name, or another one. */
export const read = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  return yield* fs.readFileString(paths.join(directory, fileName)).pipe(Effect.flatMap(decode), Effect.option)
})

/** Entries of `directory`, folders included, that a dataset with this manifest does not have. */
export const strangers = (manifest: Option.Option<Manifest>, entries: ReadonlyArray<string>): ReadonlyArray<string> => {
  const known = new Set<string>()
  if (Option.isSome(manifest)) {
    known.add(fileName)
    for (const { path } of manifest.value.files) {
      const parts = path.split("/")
      for (let end = 1; end <= parts.length; end++) known.add(parts.slice(0, end).join("/"))
    }
  }
  return entries.filter((entry) => !known.has(entry.replaceAll("\\", "/"))).toSorted()
}
