/**
 * Files of any format and layout, wherever they are, as prompt items.
 *
 * Guarantees: what is not said of format and layout is found by looking at the first records, of the
 * first file that has any; all files are then read in that layout, each in its own format. A later record
 * that has what the first ones did not is a reject where it would be left out (`Foresight`). Files are read
 * one after the other, in the order of their names' arguments.
 */
import { Array, Effect, Path, Result, Stream } from "effect"
import type * as Format from "./format/Format.ts"
import * as Head from "./Head.ts"
import * as Detect from "./detect/Detect.ts"
import * as FileModels from "./combine/FileModels.ts"
import * as Foresight from "./detect/LateFields.ts"
import * as JsonTexts from "./detect/JsonTexts.ts"
import * as Groups from "./combine/Group.ts"
import type { LayoutOptions } from "./layout/Layout.ts"
import * as Layouts from "./layout/Layouts.ts"
import * as Misnamed from "./detect/UnknownFields.ts"
import * as Listing from "./place/Listing.ts"
import * as PlaceName from "./place/PlaceName.ts"
import * as RowFiles from "./RowFiles.ts"
import { invalidOption, LayoutUnknown, SourceError } from "./record/SourceError.ts"
import type { Found, Source } from "./record/SourceRecord.ts"

export interface FilesOptions extends Format.FormatOptions, LayoutOptions {
  /** Where the scratch database of groups is made. Default: the system's place for temporary files. */
  readonly scratchDirectory?: string | undefined
}

/** Records that are looked at to find the layout. */
const looked = 100

/**
 * @param names files, folders, patterns such as `items/*.jsonl.gz`, URLs (`https://`, `s3://`), or `-`: see `Listing.expand`
 */
export const files = (names: string | ReadonlyArray<string>, options: FilesOptions = {}): Source => {
  const all = typeof names === "string" ? [names] : names
  return {
    description: all.length === 1 ? PlaceName.shown(all[0]!) : `${all.length} inputs`,
    found: Effect.map(Effect.scoped(find(all, options)), ({ found }) => found),
    records: Effect.map(find(all, options), (found) => records(found, options)).pipe(Stream.unwrap),
  }
}

const records = (
  { fileModels, files, foresight, layout }: Effect.Success<ReturnType<typeof find>>,
  options: FilesOptions,
) => {
  const columns = layout.columns === undefined ? undefined : [...layout.columns, ...(foresight?.columns ?? [])]
  const read = Stream.fromArray(files).pipe(
    Stream.flatMap((file) => Stream.unwrap(Effect.map(RowFiles.open(file, options), (opened) => opened.rows(columns)))),
  )
  const rows = foresight === undefined ? read : Stream.mapArray(read, Array.map(Result.flatMap(foresight.check)))
  return layout.reads === "items"
    ? Stream.mapArray(rows, Array.map(Result.flatMap(layout.toRecord)))
    : Groups.group(Stream.mapArray(rows, Array.map(Result.flatMap(layout.toPart))), {
        scratchDirectory: options.scratchDirectory,
        keyIsId: layout.keyIsId,
        fileModels,
      })
}

/** The files' names, and the layout of their records. */
const find = Effect.fnUntraced(function* (names: ReadonlyArray<string>, options: FilesOptions) {
  if (names.length === 0) return yield* invalidOption("files", "expected at least one file, found none")
  const { empty, files } = yield* Listing.expand(names)
  const heads = yield* Head.first(files, options, looked)
  const opened = heads.map(({ description, name }) => ({ name, description }))
  const seen = heads.slice(-1).flatMap(Head.recordsOf)
  const problem = (problem: string) =>
    new SourceError({ reason: new LayoutUnknown({ file: opened.at(-1)?.name ?? PlaceName.shown(names[0]!), problem }) })
  const members = Head.membersOf(heads)
  const named = Layouts.ofMembers(options, members)
  const complete = yield* Effect.fromResult(Detect.detect(seen, named)).pipe(Effect.mapError(problem))
  const layout = yield* Effect.fromResult(Layouts.make(complete)).pipe(Effect.mapError(problem))
  const absent = Misnamed.of(named, [...members])
  if (members.size > 0 && absent.nothingOf !== undefined) return yield* problem(absent.nothingOf)
  const models = FileModels.of(yield* Path.Path, files)
  const fileModels = new Map(
    files.flatMap((file, i) =>
      PlaceName.kindOf(file) === "standard input" ? [] : [[PlaceName.shown(file), models[i]!] as const],
    ),
  )
  const mayNameModels = layout.reads === "parts" && complete.model === undefined && fileModels.size > 1
  const naming = mayNameModels ? ", models named after the files, if most prompts are in each" : ""
  const found: Found = {
    files: opened,
    count: files.length,
    empty: empty.map(PlaceName.shown),
    layout: heads.every(({ rows }) => rows.length === 0) ? undefined : `${layout.description}${naming}`,
    absent: members.size === 0 ? [] : absent.columns,
    hints: JsonTexts.hints(seen, complete),
    ignored:
      layout.columns === undefined ? [] : [...members].filter((name) => layout.columns?.includes(name) === false),
  }
  const foresight = seen.length === 0 ? undefined : Foresight.of(seen, named, complete)
  return { files, fileModels, layout, found, foresight }
})
