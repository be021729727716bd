/**
 * Prompt items from files of any format and layout, local or remote.
 *
 * Guarantees: unless it is set, the layout is detected in the first records of the first non-empty file; all files are
 * read in it, in order, each in its own format. A later record is rejected if it has a prompt or completion in a field that
 * the first records did not have (`LateFields`).
 */
import { Array, Effect, Path, Result, Stream } from "effect"
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
import { invalidOption, LayoutUnknown, SourceError } from "./record/SourceError.ts"
import type { Row } from "./record/Row.ts"
import * as VoteHint from "./vote/VoteHint.ts"
import type { InputSummary, Source } from "./record/SourceRecord.ts"

/** Options of `files`: format, encoding, limits and layout. Format and layout are detected unless set. */
export interface FilesOptions extends Format.FormatOptions, Layout.LayoutOptions {
  /** Where the scratch file of groups is made. Default: the system's place for temporary files. */
  readonly scratchDirectory?: string | undefined
}

const optionNames: KnownOptions.NamesOf<FilesOptions> = {
  ...Format.optionNames,
  ...Layout.optionNames,
  scratchDirectory: true,
}

const isPlainMember = (name: string): boolean => ["id", "prompt", "completions"].includes(name)

/** Records by which the layout is found. */
const sampleSize = 100

/**
 * @param names files, folders, patterns such as `items/*.jsonl.gz`, URLs (`https://`, `s3://`), or `-`: see `Listing.expand`
 */
export const files = (names: string | ReadonlyArray<string>, options: FilesOptions = {}): Source => {
  const all = typeof names === "string" ? [names] : names
  return {
    description: all.length === 1 ? PlaceName.describe(all[0]!) : `${all.length} inputs`,
    summary: Effect.map(Effect.scoped(find(all, options)), ({ summary }) => summary),
    records: Effect.map(find(all, options), ({ layout, rows, ...found }) =>
      Group.toItems(rows, layout, { ...options, ...found }),
    ).pipe(Stream.unwrap),
  }
}

/** What else is read of records besides items. */
export interface Adaptation {
  /** What the layout is detected in, of a record's value; rejects keep the record's text. Default: the value itself. */
  readonly rewrite?: ((value: unknown) => unknown) | undefined
  /** Members that are read besides those of the layout. */
  readonly columns?: ReadonlyArray<string> | undefined
  /** The options that the first records have, given those that are detected. */
  readonly complete?: ((options: Layout.LayoutOptions) => Layout.LayoutOptions) | undefined
}

/** What is found in the first records of the files, and all of their records, read so. */
export const find = Effect.fnUntraced(function* (
  names: ReadonlyArray<string>,
  options: FilesOptions,
  adapt?: (sample: ReadonlyArray<Row>) => Result.Result<Adaptation, string>,
) {
  if (names.length === 0) return yield* invalidOption("files", "expected at least one file, found none")
  yield* KnownOptions.check(options, optionNames)
  const { empty, files } = yield* Listing.expand(names)
  const opened = yield* OpenFile.sampledUntilRecords(files, options, sampleSize)
  const asRead = opened.flatMap(({ sample }) => sample)
  const file = opened.at(-1)?.file.name ?? PlaceName.describe(names[0]!)
  const mayLackHeader = options.header !== false && ["csv", "tsv"].includes(opened.at(-1)?.file.format ?? "")
  const header = "give --no-header if its first line has no names of columns; otherwise: "
  // The syntax of a flag has nothing to do with the header of a file.
  const unknown = (problem: string) => {
    const isOfFile = mayLackHeader && !/^--[a-z-]+: not a /.test(problem)
    return new SourceError({ reason: new LayoutUnknown({ file, problem: `${isOfFile ? header : ""}${problem}` }) })
  }
  const adaptation: Adaptation =
    adapt === undefined ? {} : yield* Effect.mapError(Effect.fromResult(adapt(asRead)), unknown)
  const hintOfVotes = (gold?: string, layout?: Layout.Layout) =>
    adapt === undefined ? (VoteHint.of(asRead, gold, layout) ?? []) : []
  const { complete: completing = (found: Layout.LayoutOptions) => found, rewrite } = adaptation
  const rewritten =
    rewrite === undefined
      ? undefined
      : ({ isTextual, place, value }: Row): Row => ({ place, isTextual, value: rewrite(value) })
  const sample = rewritten === undefined ? asRead : asRead.map(rewritten)
  const members = OpenFile.membersOf([{ sample }])
  const named = MakeLayout.ofMembers(options, members)
  const detected = yield* Effect.mapError(Effect.fromResult(Detect.detect(sample, named)), (problem) =>
    unknown([problem, hintOfVotes()].flat().join("; ")),
  )
  const complete = completing(detected)
  const layout = yield* Effect.mapError(
    Effect.fromResult(MakeLayout.make(complete, named.prompt !== undefined)),
    unknown,
  )
  const unknownFields = UnknownFields.of(named, [...members])
  if (members.size > 0 && unknownFields.nothingOf !== undefined) return yield* unknown(unknownFields.nothingOf)
  const models = FileModels.of(yield* Path.Path, files)
  const fileModels = new Map(
    files.flatMap((file, i) =>
      PlaceName.kindOf(file) === "standard input" ? [] : [[PlaceName.describe(file), models[i]!] as const],
    ),
  )
  const mayNameModels = layout.reads === "parts" && complete.model === undefined && fileModels.size > 1
  const naming = mayNameModels ? ", models named after the files, if most prompts are in each" : ""
  const summary: InputSummary = {
    files: opened.map(({ file: { description, name } }) => ({ name, description })),
    count: files.length,
    empty: empty.map(PlaceName.describe),
    layout: sample.length === 0 ? undefined : `${layout.description}${naming}`,
    unknownFields: members.size === 0 ? [] : unknownFields.columns,
    hints: [...Hints.of(sample, layout, options, complete), hintOfVotes(complete.gold, layout)].flat(),
    unused: OpenFile.unusedIn(sample, layout.columns, [...(options.ignore ?? []), ...(adaptation.columns ?? [])]),
  }
  const question = UnusedContext.question(sample.map(layout.unusedIn))
  if (question !== undefined) return yield* new SourceError({ reason: new LayoutUnknown({ file, problem: question }) })
  const late = sample.length === 0 ? undefined : LateFields.of(sample, named, complete)
  const columns =
    rewritten === undefined && layout.columns !== undefined
      ? [
          ...(OpenFile.withContext(layout.columns, members) ?? []),
          ...(late?.columns ?? []),
          ...(adaptation.columns ?? []),
        ]
      : undefined
  const arePlain =
    layout.reads === "items" && layout.isOwn && rewritten === undefined && [...members].every(isPlainMember)
  const mayUseThread = arePlain && (yield* PlainThread.LazyItems) && (yield* Threads) !== "never"
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
      Array.map((read) => {
        const row = rewritten === undefined ? read : Result.map(read, rewritten)
        return late === undefined ? row : Result.flatMap(row, late.check)
      }),
    ),
  )
  return { summary, layout, rows, fileModels }
})
