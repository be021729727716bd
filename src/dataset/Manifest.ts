/** The manifest lists the dataset's files with digests. It contains no time, so equal datasets have equal manifests. */
import { Effect, FileSystem, Option, Path, Schema } from "effect"
import { Split } from "../domain/Split.ts"
import { version } from "../node/Version.ts"
import { Provenance } from "./DatasetFacts.ts"
import { OmittedPairs } from "./file/OmittedPairs.ts"

export const fileName = "manifest.json"

export const DatasetFile = Schema.Struct({
  /** Path relative to the directory, with `/` as separator. */
  path: Schema.String,
  /** Number of rows; null for a file that does not contain rows, such as `README.md`. */
  rows: Schema.NullOr(Schema.Int),
  bytes: Schema.Int,
  /** The digest in hexadecimal. */
  sha256: Schema.String,
})
export type DatasetFile = typeof DatasetFile.Type

export const SplitSummary = Schema.Struct({
  split: Split,
  rows: Schema.Int,
  /** Uncompressed size of the rows in memory. */
  bytes: Schema.Int,
})
export type SplitSummary = typeof SplitSummary.Type

/** A trainer format's rows in all splits, and the pairs that it cannot represent. */
export const FormatSummary = Schema.Struct({
  format: Schema.String,
  rows: Schema.Int,
  omitted: OmittedPairs,
  /** Number of pairs with a value that the format cannot hold, by column. Absent if there are no such pairs. */
  unwritten: Schema.optionalKey(Schema.Record(Schema.String, Schema.Int)),
})
export type FormatSummary = typeof FormatSummary.Type

const Content = Schema.Struct({
  format: Schema.Literal("prefstream-dataset"),
  /** Version of the manifest's format. */
  version: Schema.Literal(1),
  code: Schema.Struct({ name: Schema.String, version: Schema.String }),
  /** Whether `prompt`, `chosen`, and `rejected` are text or lists of messages. */
  shape: Schema.Literals(["standard", "conversational"]),
  /** Set if messages can have tool calls and there is a column `tools`. */
  tools: Schema.optionalKey(Schema.Literal(true)),
  /** Number of preference pairs, the same in `data` and in `jsonl`. */
  rows: Schema.Int,
  /** The splits that have rows, in the order train, validation, test. */
  splits: Schema.Array(SplitSummary),
  formats: Schema.Array(FormatSummary),
  /** The pairs that could not be written to the folders `data` and `jsonl`. */
  omitted: OmittedPairs,
  ...Provenance.fields,
  /** Every file of the dataset except `manifest.json`. */
  files: Schema.Array(DatasetFile),
})
/** The content of `manifest.json`: the files of a dataset, its totals, and its provenance. */
export interface Manifest extends Schema.Schema.Type<typeof Content> {}

/** The contents of a dataset that was written. */
export interface Written extends Pick<Manifest, "rows" | "splits" | "formats" | "omitted" | "files"> {}

export const make = (content: Omit<Manifest, "format" | "version" | "code">): Manifest => ({
  format: "prefstream-dataset",
  version: 1,
  code: { name: "prefstream", version },
  ...content,
})

export const encode = (manifest: Manifest): string => JSON.stringify(manifest, undefined, 2) + "\n"

const Ownership = Schema.Struct({
  format: Schema.Literal("prefstream-dataset"),
  files: Schema.Array(Schema.Struct({ path: Schema.String })),
})
type Ownership = typeof Ownership.Type

const decodeOwnership = Schema.decodeUnknownEffect(Schema.fromJsonString(Ownership))

export const owned = Schema.decodeUnknownOption(Schema.fromJsonString(Ownership))

export const read = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  return yield* fs.readFileString(paths.join(directory, fileName)).pipe(Effect.flatMap(decodeOwnership), Effect.option)
})

export const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Content))

export const unexpectedEntries = (
  manifest: Option.Option<Ownership>,
  entries: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  const expectedPaths = new Set<string>()
  if (Option.isSome(manifest)) {
    expectedPaths.add(fileName)
    for (const { path } of manifest.value.files) {
      const parts = path.split("/")
      for (let end = 1; end <= parts.length; end++) expectedPaths.add(parts.slice(0, end).join("/"))
    }
  }
  return entries.filter((entry) => !expectedPaths.has(entry.replaceAll("\\", "/"))).toSorted()
}
