/** Reads prompt items from files. The layout of all files is detected from the first file that has records. */
import { Array, Effect, Path, Result, Stream } from "effect"
import { type KindsOf, text } from "../io/SettingKinds.ts"
import { Threads } from "../node/Thread.ts"
import * as Format from "./format/Format.ts"
import * as PlainThread from "./format/json/PlainThread.ts"
import * as Detect from "./detect/Detect.ts"
import * as FileModels from "./combine/FileModels.ts"
import * as LateFields from "./detect/LateFields.ts"
import * as Hints from "./detect/Hints.ts"
import * as UnusedContext from "./item/UnusedContext.ts"
import * as Layout from "./layout/Layout.ts"
import * as MakeLayout from "./layout/MakeLayout.ts"
import * as UnknownFields from "./detect/UnknownFields.ts"
import * as Listing from "./place/Listing.ts"
import * as PlaceName from "./place/PlaceName.ts"
import * as OpenFile from "./OpenFile.ts"
import * as Group from "./combine/Group.ts"
import * as KnownOptions from "./record/KnownOptions.ts"
import { invalidOption, layoutUnknown } from "./record/SourceError.ts"
import type { Row } from "./record/Row.ts"
import * as VoteHint from "./vote/VoteHint.ts"
import type { InputSummary, Source } from "./record/SourceRecord.ts"

/** Options of `files`. Format and layout are detected unless they are set. */
export interface FilesOptions extends Format.FormatOptions, Layout.LayoutOptions {
  /** The directory for temporary files. Default: the system's. */
  readonly scratchDirectory?: string | undefined
}

export const optionKinds: KindsOf<FilesOptions> = {
  ...Format.optionKinds,
  ...Layout.optionKinds,
  scratchDirectory: text,
}

const isPlainMember = (name: string): boolean => ["id", "prompt", "completions"].includes(name)

const sampleSize = 100

/** Reads files, folders, patterns (`items/*.jsonl.gz`), URLs (`https://`, `s3://`, `gs://`, `hf://`), or `-` (stdin) */
export const files = (names: string | ReadonlyArray<string>, options: FilesOptions = {}): Source => {
  const all = [names].flat()
  return {
    description: PlaceName.describeAll(all),
    summary: Effect.map(Effect.scoped(openInput(all, options)), ({ summary }) => summary),
    records: Effect.map(openInput(all, options), ({ layout, rows, ...input }) =>
      Group.toItems(rows, layout, { ...options, ...input }),
    ).pipe(Stream.unwrap),
  }
}

export interface Adaptation {
  readonly rewrite?: ((value: unknown) => unknown) | undefined
  readonly columns?: ReadonlyArray<string> | undefined
  readonly complete?: ((options: Layout.LayoutOptions) => Layout.LayoutOptions) | undefined
}

export const openInput = Effect.fnUntraced(function* (
  names: ReadonlyArray<string>,
  options: FilesOptions,
  adapt?: (sample: ReadonlyArray<Row>) => Result.Result<Adaptation, string>,
) {
  if (names.length === 0) return yield* invalidOption("files", "expected at least one file, found none")
  yield* KnownOptions.check(options, optionKinds)
  const { empty, files } = yield* Listing.expand(names)
  const opened = yield* OpenFile.sampledUntilRecords(files, options, sampleSize)
  const originalSample = opened.flatMap(({ sample }) => sample)
  const file = opened.at(-1)?.file.name ?? PlaceName.describe(names[0]!)
  const mayLackHeader = options.header !== false && ["csv", "tsv"].includes(opened.at(-1)?.file.format ?? "")
  const header = "set `header: false` if the first line has no column names; otherwise: "
  const unknown = (problem: string) =>
    layoutUnknown(file, `${mayLackHeader && !/^`[a-z]+`(?: path)?: not a /i.test(problem) ? header : ""}${problem}`)
  const adaptation: Adaptation =
    adapt === undefined ? {} : yield* Effect.mapError(Effect.fromResult(adapt(originalSample)), unknown)
  const voteHints = (options: Layout.LayoutOptions = {}, layout?: Layout.Layout) =>
    adapt === undefined ? (VoteHint.of(originalSample, options, layout) ?? []) : []
  const { complete: completeOptions = (detectedOptions: Layout.LayoutOptions) => detectedOptions, rewrite } = adaptation
  const rewriteRow =
    rewrite === undefined
      ? undefined
      : ({ isTextual, place, value }: Row): Row => ({ place, isTextual, value: rewrite(value) })
  const sample = rewriteRow === undefined ? originalSample : originalSample.map(rewriteRow)
  const memberNames = OpenFile.membersOf([{ sample }])
  const namedOptions = MakeLayout.ofMembers(options, memberNames)
  const detectedOptions = yield* Effect.mapError(Effect.fromResult(Detect.detect(sample, namedOptions)), (problem) =>
    unknown([problem, voteHints()].flat().join("; ")),
  )
  const layoutOptions = completeOptions(detectedOptions)
  const layout = yield* Effect.mapError(
    Effect.fromResult(MakeLayout.make(layoutOptions, namedOptions.prompt !== undefined)),
    unknown,
  )
  const unknownFields = UnknownFields.of(namedOptions, [...memberNames])
  if (memberNames.size > 0 && unknownFields.problem !== undefined) return yield* unknown(unknownFields.problem)
  const models = FileModels.of(yield* Path.Path, files)
  const fileModels = new Map(
    files.flatMap((file, i) =>
      PlaceName.kindOf(file) === "standard input" ? [] : [[PlaceName.describe(file), models[i]!] as const],
    ),
  )
  const mayNameModels = layout.reads === "parts" && layoutOptions.model === undefined && fileModels.size > 1
  const modelNote = mayNameModels
    ? "; models are named after the files, unless the files often have different numbers of completions for the same prompt"
    : ""
  const summary: InputSummary = {
    files: opened.map(({ file: { description, name } }) => ({ name, description })),
    count: files.length,
    empty: empty.map(PlaceName.describe),
    layout: sample.length === 0 ? undefined : `${layout.description}${modelNote}`,
    unknownFields: memberNames.size === 0 ? [] : unknownFields.columns,
    hints: [...Hints.of(sample, layout, options, layoutOptions, files.length), voteHints(layoutOptions, layout)].flat(),
    unused: OpenFile.unusedIn(sample, layout.columns, [...(options.ignore ?? []), ...(adaptation.columns ?? [])]),
  }
  const question = UnusedContext.question(sample.map(layout.unusedIn))
  if (question !== undefined) return yield* layoutUnknown(file, question)
  const lateFields = sample.length === 0 ? undefined : LateFields.of(sample, namedOptions, layoutOptions)
  const columns =
    rewriteRow === undefined && layout.columns !== undefined
      ? [
          ...(OpenFile.withContext(layout.columns, memberNames) ?? []),
          ...(lateFields?.columns ?? []),
          ...(adaptation.columns ?? []),
        ]
      : undefined
  const arePlainItems =
    layout.reads === "items" &&
    layout.hasDefaultPaths &&
    rewriteRow === undefined &&
    [...memberNames].every(isPlainMember)
  const mayUseThread = arePlainItems && (yield* PlainThread.LazyItems) && (yield* Threads) !== "never"
  const rows = Stream.fromIterable(files.entries()).pipe(
    Stream.flatMap(([i, name]) =>
      Stream.unwrap(
        Effect.map(opened[i] === undefined ? OpenFile.open(name, options) : Effect.succeed(opened[i].file), (file) => {
          const byThread = mayUseThread && PlaceName.kindOf(name) === "local" ? file.rowsByThread : undefined
          return byThread ?? file.rows(columns)
        }),
      ),
    ),
    Stream.mapArray(
      Array.map((originalRow) => {
        const row = rewriteRow === undefined ? originalRow : Result.map(originalRow, rewriteRow)
        return lateFields === undefined ? row : Result.flatMap(row, lateFields.check)
      }),
    ),
  )
  return { summary, layout, rows, fileModels }
})
