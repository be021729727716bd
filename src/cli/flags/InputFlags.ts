/**
 * The flags that say what is read, and the source that they describe: the same in every command
 * that reads items.
 */
import { Console, type Duration, Effect, Option, Record } from "effect"
import { Argument, Flag } from "effect/cli"
import { formatNames } from "../../source/format/Format.ts"
import { layoutNames } from "../../source/layout/Layout.ts"
import * as Listing from "../../source/place/Listing.ts"
import * as PlaceName from "../../source/place/PlaceName.ts"
import type { Source } from "../../source/Source.ts"
import * as Sources from "../../source/Source.ts"
import { parseLimit } from "../../task/plan/RejectLimit.ts"
import { UsageError } from "../output/ExitStatus.ts"
import * as Settings from "./Settings.ts"

const path = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar("PATH"), Flag.withDescription(description))

export const inputFlags = {
  files: Argument.String("FILE").pipe(
    Argument.withDescription(
      "Files of prompts and completions: JSONL, JSON, CSV, TSV or Parquet, also compressed (gzip, zstd, brotli); folders of them; " +
        "patterns such as 'items/*.jsonl'; https:// and s3:// addresses; or - for standard input. With --completions, the prompts",
    ),
    Argument.variadic(),
  ),
  inputFormat: Flag.Literals("input-format", formatNames).pipe(
    Flag.withDescription("Format of the files (default: found by looking into them)"),
    Flag.optional,
  ),
  encoding: Flag.String("encoding").pipe(
    Flag.withMetavar("NAME"),
    Flag.withDescription("Encoding of text, such as windows-1252 or utf-16le (default: utf-8)"),
    Flag.optional,
  ),
  delimiter: Flag.String("delimiter").pipe(
    Flag.withMetavar("CHARACTER"),
    Flag.withDescription("CSV: what stands between cells; tab for a tab (default: found by looking)"),
    Flag.optional,
  ),
  header: Flag.Boolean("header").pipe(
    Flag.withDescription(
      "CSV: whether the first record names the columns; with --no-header they are column_1, column_2, … (default: true)",
    ),
    Flag.withDefault(true),
  ),
  idleTimeout: Settings.duration("idle-timeout").pipe(
    Flag.withDescription("Remote files: the longest time in which nothing comes (default: 2m)"),
    Flag.optional,
  ),
  layout: Flag.Literals("layout", layoutNames).pipe(
    Flag.withDescription(
      "How records make items: items (prompt and list of completions), wide (a column for each completion), " +
        "pairs (chosen and rejected, to be judged again) or long (a completion a record) (default: found by looking)",
    ),
    Flag.optional,
  ),
  promptPath: path(
    "prompt-path",
    "Where the prompt stands, such as turns[0].content; or a template such as '{instruction}\\n\\n{input}' (default: found by looking; prompt in a join)",
  ).pipe(Flag.optional),
  systemPath: path(
    "system-path",
    "Where a system prompt stands (default, without --prompt-path: system, system_prompt, system_message)",
  ).pipe(Flag.optional),
  completionsPath: path("completions-path", "Layout items: where the list of completions stands").pipe(Flag.optional),
  completionPath: path(
    "completion-path",
    "Where the completion stands, such as choices[0].message.content: layouts wide and pairs, once for each; layout long and joins, once (default: found by looking; completion in a join)",
  ).pipe(Flag.atLeast(0)),
  key: path(
    "key",
    "Join: where the key stands, in all files (default: id). Layout long: what the records of an item have in common (default: found by looking, or the prompt)",
  ).pipe(Flag.optional),
  modelPath: path("model-path", "Where the name of a completion's model stands; layout items: the list of names").pipe(
    Flag.optional,
  ),
  idPath: path("id-path", "Where the item's id stands (default: id, where there is one)").pipe(Flag.optional),
  goldPath: path(
    "gold-path",
    "Where the known right answer stands: an index, or the name of a completion's column",
  ).pipe(Flag.optional),
  metadataPath: path("metadata-path", "Where an object stands that is to go along into the dataset").pipe(
    Flag.optional,
  ),
  keep: Flag.String("keep").pipe(
    Flag.withMetavar("NAME"),
    Flag.withDescription("Member or column to take along in the metadata, or '*' for all that is not read; repeatable"),
    Flag.atLeast(0),
  ),
  completions: Flag.String("completions").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription(
      "File of one model's completions, or a folder or pattern of such files, joined by --key; repeatable",
    ),
    Flag.atLeast(0),
  ),
  missing: Flag.Literals("missing", ["reject", "keep"]).pipe(
    Flag.withDescription(
      "Join, layout wide: what to do with a prompt that a model did not answer; keep needs two completions that are left (default: reject)",
    ),
    Flag.optional,
  ),
}

export const maxRejects = Flag.String("max-rejects").pipe(
  Flag.withMetavar("N|P%"),
  Flag.filterMap(parseLimit, () => "a number of records, such as 0, or a share of them, such as 1%"),
)

/** How many records of a run may be refused. */
export const rejectFlags = {
  maxRejects: maxRejects.pipe(
    Flag.withDescription(
      "Stop with 5 when more records, or a larger share, are refused (default: the first 100,000, all)",
    ),
    Flag.optional,
  ),
}

export interface InputFlags {
  readonly files: ReadonlyArray<string>
  readonly inputFormat: Option.Option<(typeof formatNames)[number]>
  readonly encoding: Option.Option<string>
  readonly delimiter: Option.Option<string>
  readonly header: boolean
  readonly idleTimeout: Option.Option<Duration.Duration>
  readonly layout: Option.Option<(typeof layoutNames)[number]>
  readonly promptPath: Option.Option<string>
  readonly systemPath: Option.Option<string>
  readonly completionsPath: Option.Option<string>
  readonly completionPath: ReadonlyArray<string>
  readonly key: Option.Option<string>
  readonly modelPath: Option.Option<string>
  readonly idPath: Option.Option<string>
  readonly goldPath: Option.Option<string>
  readonly metadataPath: Option.Option<string>
  readonly keep: ReadonlyArray<string>
  readonly completions: ReadonlyArray<string>
  readonly missing: Option.Option<"reject" | "keep">
}

/** What means nothing in a join, where each file's record is a prompt or a completion. */
const notInJoin = { layout: "--layout", completionsPath: "--completions-path", idPath: "--id-path" } as const

/**
 * The source that the flags describe.
 *
 * @param scratchDirectory where what does not fit in memory goes; by default the system's place for temporary files
 */
export const sourceOf = Effect.fnUntraced(function* (flags: InputFlags, scratchDirectory?: string) {
  if (flags.files.length === 0) {
    return yield* new UsageError({ message: "name at least one input file, such as data/sample.jsonl" })
  }
  const expand = (names: ReadonlyArray<string>) =>
    Effect.mapError(
      Listing.expand(names.filter((name) => PlaceName.kindOf(name) === "local")),
      ({ message }) => new UsageError({ message }),
    )
  yield* expand(flags.files)
  const completions = yield* expand(flags.completions)
  const delimiter = Option.map(flags.delimiter, (text) => (/^(tab|\\t)$/i.test(text) ? "\t" : text))
  if (Option.exists(delimiter, (text) => !/^[^"\r\n]$/.test(text))) {
    return yield* new UsageError({ message: "--delimiter: expected one character, or tab" })
  }
  const format = {
    format: Option.getOrUndefined(flags.inputFormat),
    encoding: Option.getOrUndefined(flags.encoding),
    delimiter: Option.getOrUndefined(delimiter),
    header: flags.header,
    idleTimeout: Option.getOrUndefined(flags.idleTimeout),
    scratchDirectory,
  }
  const common = {
    metadata: Option.getOrUndefined(flags.metadataPath),
    gold: Option.getOrUndefined(flags.goldPath),
    prompt: Option.getOrUndefined(flags.promptPath),
    system: Option.getOrUndefined(flags.systemPath),
    key: Option.getOrUndefined(flags.key),
    model: Option.getOrUndefined(flags.modelPath),
    missing: Option.getOrUndefined(flags.missing),
  }
  const [completionPath, ...morePaths] = flags.completionPath
  if (flags.completions.length > 0) {
    const misplaced = Record.keys(notInJoin).filter((name) => Option.isSome(flags[name]))
    if (misplaced.length > 0 || morePaths.length > 0) {
      const names = [
        ...misplaced.map((name) => notInJoin[name]),
        ...(morePaths.length > 0 ? ["a second --completion-path"] : []),
      ]
      return yield* new UsageError({ message: `${names.join(", ")}: not in a join, with --completions` })
    }
    const isLocal = flags.completions.every((name) => PlaceName.kindOf(name) === "local")
    if (isLocal && completions.files.length < 2) {
      const found = `found ${completions.files.length} in ${flags.completions.join(", ")}`
      return yield* new UsageError({
        message: `--completions: name two files or more, one for each model, or a folder or pattern of them; ${found}`,
      })
    }
    return Sources.join({
      ...format,
      prompts: flags.files,
      completions: flags.completions,
      key: common.key,
      promptPath: common.prompt,
      systemPath: common.system,
      completionPath,
      metadataPath: common.metadata,
      goldPath: common.gold,
      modelPath: common.model,
      keep: flags.keep,
      missing: common.missing,
    })
  }
  const isLong = Option.contains(flags.layout, "long")
  if (isLong && morePaths.length > 0) {
    return yield* new UsageError({
      message: "--completion-path: once in the layout long, whose records have one completion each",
    })
  }
  const { completionsPath } = flags
  if (Option.isSome(completionsPath) && completionPath !== undefined) {
    return yield* new UsageError({ message: "--completions-path, --completion-path: give one of them" })
  }
  return Sources.files(flags.files, {
    ...format,
    ...common,
    layout: Option.getOrUndefined(flags.layout),
    id: Option.getOrUndefined(flags.idPath),
    keep: flags.keep,
    ...(Option.isSome(completionsPath)
      ? { completions: completionsPath.value }
      : morePaths.length > 0
        ? { completions: flags.completionPath }
        : { completion: completionPath }),
  })
})

/** Says what was found in the input, before anything is read or sent. */
export const sayFound = Effect.fnUntraced(function* <E, R>(source: Source<E, R>) {
  if (source.summary === undefined) return
  const { empty, files, hints, layout, unknownFields } = yield* source.summary
  for (const name of empty) yield* Console.error(`${name}: no file in it, or none that matches, yet`)
  const last = files.at(-1)
  if (last !== undefined) yield* Console.error(`Found in ${last.name}: ${last.description}; ${layout ?? "no record"}`)
  if (unknownFields.length > 0) yield* Console.error(`Not in the first records: ${unknownFields.join(", ")}`)
  for (const hint of hints) yield* Console.error(hint)
})
