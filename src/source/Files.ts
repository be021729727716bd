/**
 * Files of any format and layout, wherever they are, as prompt items.
 *
 * Guarantees: what is not said of format and layout is found by looking at the first records, of the
 * first file that has any; all files are then read in that layout, each in its own format. Files are
 * read one after the other, in the order of their names' arguments.
 */
import { Array, Effect, Result, Stream } from "effect"
import type * as Format from "./format/Format.ts"
import * as Detect from "./layout/Detect.ts"
import * as Groups from "./layout/Groups.ts"
import type { Layout, LayoutOptions } from "./layout/Layout.ts"
import * as Layouts from "./layout/Layouts.ts"
import * as Listing from "./place/Listing.ts"
import * as RowFiles from "./RowFiles.ts"
import type { RowResult } from "./Row.ts"
import { invalidOption, LayoutUnknown, SourceError } from "./SourceError.ts"
import type { Found, Source } from "./SourceRecord.ts"

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
    description: all.length === 1 ? `${all[0]}` : `${all.length} inputs`,
    found: Effect.map(Effect.scoped(find(all, options)), ({ found }) => found),
    records: Effect.map(find(all, options), ({ files, layout }) => records(files, layout, options)).pipe(Stream.unwrap),
  }
}

const records = (files: ReadonlyArray<string>, layout: Layout, options: FilesOptions) => {
  const rows = Stream.fromArray(files).pipe(
    Stream.flatMap((file) =>
      Stream.unwrap(Effect.map(RowFiles.open(file, options), (opened) => opened.rows(layout.columns))),
    ),
  )
  return layout.reads === "items"
    ? Stream.mapArray(rows, Array.map(Result.flatMap(layout.toRecord)))
    : Groups.group(Stream.mapArray(rows, Array.map(Result.flatMap(layout.toPart))), {
        scratchDirectory: options.scratchDirectory,
        keyIsId: layout.keyIsId,
      })
}

/** The files' names, and the layout of their records. */
const find = Effect.fnUntraced(function* (names: ReadonlyArray<string>, options: FilesOptions) {
  if (names.length === 0) return yield* invalidOption("files", "expected at least one file, found none")
  const { empty, files } = yield* Listing.expand(names)
  const opened: Array<Found["files"][number]> = []
  let rows: ReadonlyArray<RowResult> = []
  for (const file of files) {
    const { description, rows: head } = yield* Effect.scoped(headOf(file, options))
    opened.push({ name: file, description })
    rows = head
    if (Array.getSuccesses(rows).length > 0) break
  }
  const seen = Array.getSuccesses(rows)
  const problem = (problem: string) =>
    new SourceError({ reason: new LayoutUnknown({ file: opened.at(-1)?.name ?? names[0]!, problem }) })
  const complete = yield* Effect.fromResult(Detect.detect(seen, options)).pipe(Effect.mapError(problem))
  const layout = yield* Effect.fromResult(Layouts.make(complete)).pipe(Effect.mapError(problem))
  const found: Found = { files: opened, count: files.length, empty, layout: layout.description }
  return { files, layout, found }
})

const headOf = Effect.fnUntraced(function* (file: string, options: FilesOptions) {
  const opened = yield* RowFiles.open(file, options)
  return { description: opened.description, rows: yield* Stream.runCollect(Stream.take(opened.rows(), looked)) }
})
