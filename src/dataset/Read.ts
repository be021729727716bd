/** Reads a dataset's pairs in their order. Before a file is read, its digest is compared with the manifest. */
import { Effect, FileSystem, Option, Path, Record, Result, Schema, Stream } from "effect"
import * as Conversation from "../domain/Conversation.ts"
import { Message, usesTools } from "../domain/Message.ts"
import { type PreferencePair, PreferencePairSchema } from "../domain/PreferencePair.ts"
import type { Split } from "../domain/Split.ts"
import * as Kinds from "../io/SettingKinds.ts"
import { describeValue } from "../io/Values.ts"
import * as SchemaIssues from "../io/SchemaIssues.ts"
import { DatasetUnreadable } from "./file/DatasetError.ts"
import type { Json, JsonRow } from "./file/Features.ts"
import * as ReadBack from "./file/ReadBack.ts"
import * as Manifest from "./Manifest.ts"

/** Options of `read`: the pairs to read. */
export interface ReadOptions {
  /** The split to read. Default: all splits, in the order of the manifest. */
  readonly split?: Split | undefined
}

const decodeVersion = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ version: Schema.Number })))

/** The manifest of a dataset: its splits, files, counts, and settings. */
export const manifest = Effect.fn("Dataset.manifest")(function* (
  directory: string,
): Effect.fn.Return<Manifest.Manifest, DatasetUnreadable, FileSystem.FileSystem | Path.Path> {
  if (typeof directory !== "string") {
    return yield* new DatasetUnreadable({
      file: "directory",
      expected: "the path of a dataset",
      found: describeValue(directory),
    })
  }
  const fs = yield* FileSystem.FileSystem
  const file = (yield* Path.Path).join(directory, Manifest.fileName)
  const failed = (actual: string) => new DatasetUnreadable({ file, expected: "a dataset manifest", found: actual })
  const text = yield* Effect.mapError(fs.readFileString(file), () => failed("no readable file"))
  const version = Option.getOrUndefined(decodeVersion(text))?.version ?? 1
  if (version !== 1)
    return yield* failed(`a manifest of version ${version}, which this version of prefstream cannot read`)
  return yield* Effect.mapError(Manifest.decode(text), ({ message }) =>
    failed(`invalid content: ${message.replace(/\s+/g, " ")}`),
  )
})

/** Reads the pairs of a dataset. Fails with `DatasetUnreadable` if a file is damaged, or `split` does not exist. */
export const read = (
  directory: string,
  options: ReadOptions = {},
): Stream.Stream<PreferencePair, DatasetUnreadable, FileSystem.FileSystem | Path.Path> =>
  manifest(directory).pipe(
    Effect.flatMap(({ files, splits }) => {
      const wrong = Kinds.wrongIn(options, { split: Kinds.text })
      if (wrong !== undefined) return Effect.fail(new DatasetUnreadable({ ...wrong, file: wrong.setting }))
      const { split } = options
      const names = splits.map(({ split }) => split).filter((name) => split === undefined || name === split)
      const shards = names.flatMap((name) => files.filter(({ path }) => path.startsWith(`data/${name}-`)))
      const all = splits.map(({ split }) => split).join(", ")
      return split !== undefined && names.length === 0
        ? Effect.fail(new DatasetUnreadable({ file: directory, expected: `a split ${split}`, found: all }))
        : Effect.succeed(Stream.flatMap(Stream.fromIterable(shards), (shard) => pairsOf(directory, shard)))
    }),
    Stream.unwrap,
  )

export const checkDigest = Effect.fnUntraced(function* (file: string, sha256: string) {
  const failed = (expected: string, actual: string) => new DatasetUnreadable({ file, expected, found: actual })
  const digest = yield* Effect.mapError(ReadBack.digest(file), ({ message, reason }) =>
    failed("the file that the manifest lists", reason._tag === "NotFound" ? "no such file" : message),
  )
  if (digest.sha256 !== sha256) return yield* failed(`the SHA-256 ${sha256} of the manifest`, digest.sha256)
})

const pairsOf = (directory: string, { path, sha256 }: Manifest.DatasetFile) =>
  Effect.gen(function* () {
    const file = (yield* Path.Path).join(directory, path)
    const unreadable = ({ why }: ReadBack.Unreadable) =>
      new DatasetUnreadable({ file, expected: "a Parquet file", found: why })
    yield* checkDigest(file, sha256)
    const { rows } = yield* Effect.mapError(ReadBack.parquet(file), unreadable)
    let row = 0
    return rows.pipe(
      Stream.mapError(unreadable),
      Stream.mapEffect((columns) => {
        row++
        return Effect.mapError(
          Effect.fromResult(toPair(columns)),
          (error) =>
            new DatasetUnreadable({
              file,
              row,
              expected: "a preference pair",
              found: SchemaIssues.describe(error.issue),
            }),
        )
      }),
    )
  }).pipe(Stream.unwrap)

const decodePair = Schema.decodeUnknownResult(PreferencePairSchema, { reportInput: true })
const decodeMessages = Schema.decodeUnknownResult(Schema.NonEmptyArray(Message), { reportInput: true })

/** Earlier versions of prefstream wrote fewer columns. The missing columns are read as null. */
const nulls = Record.map(
  Record.filter(PreferencePairSchema.fields, (field) => Schema.is(field)(null)),
  () => null,
)

const toPair = (row: JsonRow) =>
  Result.gen(function* () {
    const { chosen, rejected, tools, ...others } = ReadBack.withoutNulls(row)
    const sides = { ...(yield* sideOf("chosen", chosen)), ...(yield* sideOf("rejected", rejected)) }
    return yield* decodePair({ ...nulls, ...others, ...sides, ...((tools ?? null) !== null && { tools }) })
  })

const sideOf = (side: "chosen" | "rejected", value: Json | undefined) => {
  if (!Array.isArray(value)) return Result.succeed({ [side]: value })
  return Result.map(decodeMessages(value), (messages) => {
    const [first] = messages
    return messages.length === 1 && first.role === "assistant" && !usesTools(first)
      ? { [side]: first.content }
      : { [side]: Conversation.render(messages), [`${side}_messages`]: messages }
  })
}
