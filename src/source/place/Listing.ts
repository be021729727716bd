/**
 * Expands files, folders, patterns, URLs, and `-`. A folder means the data files directly in it, sorted by code unit.
 * In a dataset of prefstream, only files with pairs count. A missing file is an error; an empty folder is reported.
 */
import { Effect, FileSystem, Glob, Option, Path, type PlatformError, Schema } from "effect"
import * as FileExtensions from "./FileExtensions.ts"
import { describeValue } from "../../io/Values.ts"
import { fileNotFound, fromPlatformError, invalidOption, type SourceError, unreadable } from "../record/SourceError.ts"
import { isPattern, kindOf, unknownPlace } from "./PlaceName.ts"
import * as S3Object from "./S3Object.ts"

export interface Listed {
  readonly files: ReadonlyArray<string>
  readonly empty: ReadonlyArray<string>
}

export const checkNames = (names: unknown): Effect.Effect<void, SourceError> => {
  const wrong: ReadonlyArray<unknown> = Array.isArray(names)
    ? names.filter((name) => typeof name !== "string")
    : [names]
  if (wrong.length === 0) return Effect.void
  return invalidOption("files", `expected a name, or a list of names, found ${describeValue(wrong[0])}`)
}

export const expand = Effect.fn("Listing.expand")(function* (
  names: ReadonlyArray<string>,
): Effect.fn.Return<Listed, SourceError, FileSystem.FileSystem | Path.Path> {
  yield* checkNames(names)
  const path = yield* Path.Path
  const files = new Map<string, string>()
  const empty = new Set<string>()
  for (const name of names) {
    const expanded = yield* filesOf(name)
    if (expanded.length === 0) empty.add(name)
    for (const file of expanded) {
      const key = kindOf(file) === "local" ? path.resolve(file) : file
      if (!files.has(key)) files.set(key, file)
    }
  }
  return { files: [...files.values()], empty: [...empty] }
})

const filesOf = (name: string) => {
  switch (kindOf(name)) {
    case "local":
      return Effect.catchTag(localFiles(name), "PlatformError", (error) => Effect.fail(fromPlatformError(name, error)))
    case "s3":
      return bucketFiles(name, S3Object.list, S3Object.open)
    case "gs":
      return Effect.flatMap(
        Effect.promise(() => import("./GoogleObject.ts")),
        ({ list, open }) => bucketFiles(name, list, open),
      )
    case "hf":
      return Effect.flatMap(
        Effect.promise(() => import("./HubDataset.ts")),
        ({ expand }) => Effect.scoped(expand(name)),
      )
    case "unknown":
      return Effect.fail(unreadable(name, unknownPlace))
    case "standard input":
      return Effect.succeed(["-"])
    case "http":
      return Effect.succeed([name])
  }
}

const folderProblem = (folder: string, files: ReadonlyArray<string>): string | undefined => {
  const split = files.includes("dataset_dict.json") ? '["train"]' : ""
  return split !== "" || files.some((name) => name.endsWith(".arrow"))
    ? `save_to_disk in Hugging Face datasets wrote this folder, and its Arrow files are not supported; convert them to Parquet: datasets.load_from_disk(${JSON.stringify(folder)})${split}.to_parquet("new.parquet")`
    : undefined
}

const folderOf = (pattern: string): string => /^[^*?[{]*\//.exec(pattern)?.[0] ?? "."

const localFiles = Effect.fnUntraced(function* (
  name: string,
): Effect.fn.Return<ReadonlyArray<string>, PlatformError.PlatformError | SourceError, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const isFile = (path: string) =>
    Effect.mapBoth(fs.stat(path), {
      onSuccess: ({ type }) => type !== "Directory",
      onFailure: (error) => fromPlatformError(path, error),
    })
  // An existing file is read even if its name looks like a pattern, such as `[1].jsonl`.
  if (yield* fs.exists(name)) {
    if (yield* isFile(name)) return [name]
    const all = yield* fs.readDirectory(name)
    const entries = all.filter(FileExtensions.isDataFile)
    const folder = name.replace(/\/+$/, "")
    const problem = entries.length === 0 ? folderProblem(folder, all) : undefined
    if (problem !== undefined) return yield* unreadable(name, problem)
    const manifest = entries.includes("manifest.json")
      ? yield* Effect.option(Effect.flatMap(fs.readFileString(`${folder}/manifest.json`), decodeManifest))
      : Option.none()
    if (Option.isSome(manifest)) {
      const paths = manifest.value.files.map(({ path }) => path).filter((path) => path.startsWith("data/"))
      return paths.map((path) => `${folder}/${path}`).toSorted()
    }
    const files = entries.map((entry) => `${folder}/${entry}`).toSorted()
    return yield* Effect.filter(files, isFile)
  }
  if (!isPattern(name) || !(yield* fs.exists(folderOf(name)))) {
    return yield* fileNotFound(name)
  }
  return (yield* Effect.filter(yield* fs.glob(name), isFile)).toSorted()
})

const decodeManifest = Schema.decodeUnknownEffect(
  Schema.fromJsonString(
    Schema.Struct({
      format: Schema.Literal("prefstream-dataset"),
      files: Schema.Array(Schema.Struct({ path: Schema.String })),
    }),
  ),
)

const bucketFiles = Effect.fnUntraced(function* (name: string, list: typeof S3Object.list, open: typeof S3Object.open) {
  const { bucket, key } = yield* S3Object.parse(name)
  const toUrls = (keys: ReadonlyArray<string>) => keys.toSorted().map((key) => `${kindOf(name)}://${bucket}/${key}`)
  if (key === "" || key.endsWith("/")) {
    const keys = yield* list({ name, bucket, prefix: key, isFlat: true })
    return toUrls(keys.filter((objectKey) => FileExtensions.isDataFile(objectKey.slice(key.length))))
  }
  if (!isPattern(key)) {
    yield* Effect.scoped(open(name))
    return [name]
  }
  const prefix = /^[^*?[{\\]*/.exec(key)?.[0] ?? ""
  const keys = yield* list({ name, bucket, prefix, isFlat: false })
  if (keys.includes(key)) return [name]
  const glob = Glob.make(key)
  return toUrls(keys.filter((objectKey) => !objectKey.endsWith("/") && Glob.match(glob, objectKey)))
})
