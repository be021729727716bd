/** Defines the flags for reading items, and makes a source from them. */
import { Console, Effect, Struct } from "effect"
import { Argument, type Command, Flag } from "effect/cli"
import { formatNames } from "../../source/place/FileExtensions.ts"
import { layoutNames } from "../../source/layout/Layout.ts"
import * as Listing from "../../source/place/Listing.ts"
import * as PlaceName from "../../source/place/PlaceName.ts"
import { shorten } from "../../io/Values.ts"
import type { InputSummary, Source } from "../../source/Source.ts"
import * as Sources from "../../source/Source.ts"
import { parseLimit } from "../../task/plan/RejectLimit.ts"
import { usageError, asUsageError } from "../output/ExitStatus.ts"
import { inFlags } from "../output/Flags.ts"
import { type Definition, inGroup, orFiles } from "./Definition.ts"
import { choice, duration, literals, option, parsed, repeated, size, text, toggle } from "./Values.ts"

export const filesArgument = (others: string) =>
  Argument.String("FILE").pipe(
    Argument.withDescription(
      `JSONL, JSON, CSV, TSV, or Parquet, also compressed: files, folders, quoted patterns, ${others}`,
    ),
    Argument.variadic(),
    Argument.mapEffect(orFiles),
  )

export const inputFlags = inGroup("INPUT", {
  files: filesArgument("URLs (https, s3, gs, hf), or - for stdin"),
  layout: literals("layout", layoutNames, "How records are combined into items", {
    metavar: "LAYOUT",
    default: "detected",
  }),
  promptPath: text(
    "prompt-path",
    "PATH",
    "Path of the prompt (turns[0].content), or template ('{instruction}\\n\\n{input}')",
    {
      default: "detected",
      isEssential: true,
    },
  ),
  systemPath: text("system-path", "PATH", "Path of the system prompt", {
    default: "system, system_prompt, or system_message",
  }),
  historyPath: text("history-path", "PATH", "Path of earlier turns: messages, or pairs of texts", {
    default: "history, chat_history, …",
  }),
  completionsPath: text("completions-path", "PATH", "Path of the list of completions (items layout)", {
    default: "detected",
  }),
  completionPath: repeated(
    Flag.String("completion-path"),
    "PATH",
    "Path of a completion, such as answer.text; repeat in the wide and pairs layouts",
    { default: "detected", isEssential: true },
  ),
  key: text("key", "PATH", "Path of the key in joins and in the long layout", {
    default: "id if files are joined, else detected",
    isEssential: true,
  }),
  modelPath: text(
    "model-path",
    "PATH",
    "Path of a completion's model name; in the items layout, path of the list of model names",
  ),
  modelsFromColumns: toggle("models-from-columns", "Use the names of completion columns as model names (wide layout)"),
  idPath: text("id-path", "PATH", "Path of the item id", { default: "id or question_id, if present" }),
  goldPath: text(
    "gold-path",
    "PATH",
    "Path of the gold answer: a column name, a model name, or (in the items layout) an index from 0",
  ),
  metadataPath: text("metadata-path", "PATH", "Path of an object to copy into the dataset as metadata"),
  keep: repeated(
    Flag.String("keep"),
    "NAME",
    "Field or column to copy into the metadata, or '*' for all unused ones; repeatable",
  ),
  ignoreField: repeated(
    Flag.String("ignore-field"),
    "NAME",
    "Field or column to ignore, such as context that experts need not see; repeatable",
  ),
  completions: repeated(
    Flag.String("completions"),
    "FILE",
    "Completions of one model: a file, folder, or pattern, joined to FILE by --key; repeatable",
    { isEssential: true, path: "whole" },
  ),
  missing: literals(
    "missing",
    ["reject", "keep"],
    "Reject or keep prompts that lack completions (in joins and in the wide layout)",
    {
      default: "reject",
    },
  ),
  inputFormat: literals("input-format", formatNames, "Format of the files", {
    metavar: "FORMAT",
    default: "detected from their content",
  }),
  encoding: text("encoding", "NAME", "Text encoding, such as windows-1252 or utf-16le", { default: "utf-8" }),
  delimiter: text("delimiter", "CHARACTER", "CSV delimiter: one character, or tab", { default: "detected" }),
  quote: literals(
    "quote",
    ["double", "none"],
    "CSV quotes: they enclose cells (double), or are ordinary characters (none)",
    {
      default: "detected",
    },
  ),
  header: choice("header", "CSV: the first record names the columns; --no-header: column_1, column_2, …", {
    default: "true",
  }),
  idleTimeout: duration("idle-timeout", "Remote files: maximum time without data", { default: "2m" }),
  maxRowGroupBytes: size("max-row-group-bytes", "Parquet: maximum memory for the columns of a row group", {
    default: "1GiB",
  }),
})

export type InputFlags = Command.Command.Config.Infer<typeof inputFlags>

export const maxRejects = (description: string, more: Definition = {}) =>
  option(
    parsed("max-rejects", parseLimit, "a number of records, such as 0, or a share of the records, such as 1%"),
    "N|P%",
    description,
    { group: "INPUT", ...more },
  )

const expandLocal = (names: ReadonlyArray<string>) =>
  Effect.mapError(Listing.expand(names.filter((name) => PlaceName.kindOf(name) === "local")), asUsageError)

export const localInputs = ({ completions, files }: Pick<InputFlags, "files" | "completions">) =>
  Effect.map(expandLocal([...files, ...completions]), ({ files }) => files)

export const formatOptionsOf = Effect.fnUntraced(function* (flags: InputFlags, scratchDirectory?: string) {
  if (flags.files.length === 0) return yield* usageError("name at least one input file, such as data/sample.jsonl")
  yield* expandLocal(flags.files)
  const delimiter = flags.delimiter?.replace(/^(tab|\\t)$/i, "\t")
  if (delimiter !== undefined && !/^[^"\r\n]$/.test(delimiter)) {
    return yield* usageError("--delimiter: expected one character, or tab")
  }
  const [completionPath, ...morePaths] = flags.completionPath
  return {
    format: flags.inputFormat,
    encoding: flags.encoding,
    delimiter,
    quote: flags.quote,
    header: flags.header ?? true,
    idleTimeout: flags.idleTimeout,
    maxRowGroupBytes: flags.maxRowGroupBytes,
    scratchDirectory,
    key: flags.key,
    keep: flags.keep,
    missing: flags.missing,
    prompt: flags.promptPath,
    system: flags.systemPath,
    history: flags.historyPath,
    ignore: flags.ignoreField,
    modelsFromColumns: flags.modelsFromColumns,
    metadata: flags.metadataPath,
    gold: flags.goldPath,
    model: flags.modelPath,
    layout: flags.layout,
    id: flags.idPath,
    ...(flags.completionsPath !== undefined
      ? { completions: flags.completionsPath }
      : morePaths.length > 0
        ? { completions: flags.completionPath }
        : { completion: completionPath }),
  }
})

// prettier-ignore
const joinOptions = [
  "format", "encoding", "delimiter", "quote", "header", "idleTimeout", "maxRowGroupBytes", "scratchDirectory", "key",
  "keep", "ignore", "missing",
] as const

export const sourceOf = Effect.fnUntraced(function* (flags: InputFlags, scratchDirectory?: string) {
  const options = yield* formatOptionsOf(flags, scratchDirectory)
  const isJoin = flags.completions.length > 0
  const [completionPath] = flags.completionPath
  if (flags.completionPath.length > 1 && (isJoin || flags.layout === "long")) {
    return yield* usageError(
      `--completion-path: expected one path, found ${flags.completionPath.length}: with ${isJoin ? "--completions" : "--layout long"}, each record has one completion`,
    )
  }
  if (!isJoin) return Sources.files(flags.files, options)
  const { files } = yield* expandLocal(flags.completions)
  if (flags.completions.every((name) => PlaceName.kindOf(name) === "local") && files.length < 2) {
    return yield* usageError(
      `--completions: expected at least two files, one per model, or a folder or pattern of them, found ${files.length} in ${flags.completions.join(", ")}`,
    )
  }
  return Sources.join({
    ...Struct.pick(options, joinOptions),
    prompts: flags.files,
    completions: flags.completions,
    promptPath: options.prompt,
    systemPath: options.system,
    historyPath: options.history,
    completionPath,
    metadataPath: options.metadata,
    goldPath: options.gold,
    modelPath: options.model,
  })
})

export const scratchIn = (flags: { readonly dryRun: true | undefined }, directory: string): string | undefined =>
  flags.dryRun === true ? undefined : directory

export const describeUnused = (unused: InputSummary["unused"]): string => {
  const percent = (share: number) => `${share > 0 && share < 0.01 ? "<1" : Math.floor(100 * share)}%`
  return shorten(unused.map(({ name, share }) => `${name} (${percent(share)})`).join(", "), maxUnusedCharacters)
}

const maxUnusedCharacters = 400

export const inputInFlags = (summary: InputSummary): InputSummary => ({
  ...summary,
  unknownFields: summary.unknownFields.map(inFlags),
  hints: summary.hints.map(inFlags),
})

export const printDetected = Effect.fnUntraced(function* <E, R>(source: Pick<Source<E, R>, "summary">) {
  if (source.summary === undefined) return
  const { empty, files, hints, joined = 0, layout, unknownFields, unused } = inputInFlags(yield* source.summary)
  for (const name of empty) yield* Console.error(`${name}: no matching file yet`)
  const last = files.at(-1 - joined)
  const others = joined === 0 ? "" : ` and ${joined} completions files`
  if (last !== undefined)
    yield* Console.error(
      `Found in ${last.name}${others}: ${last.description}; ${layout ?? "no readable record at the start of the file"}`,
    )
  if (unknownFields.length > 0)
    yield* Console.error(`Fields missing from the first records: ${unknownFields.join(", ")}`)
  if (unused.length > 0) yield* Console.error(`Fields not used: ${describeUnused(unused)}`)
  for (const hint of hints) yield* Console.error(hint)
})
