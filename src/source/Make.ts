/** A source of a program's own records. In a reject, `file` is the source's name, and `line` is the record's number. */
import { Array, Effect, type FileSystem, Option, type Path, Predicate, Result, Stream } from "effect"
import { type KindsOf, text } from "../io/SettingKinds.ts"
import { defined, describeValue } from "../io/Values.ts"
import * as Group from "./combine/Group.ts"
import { type LayoutOptions, optionKinds as layoutKinds } from "./layout/Layout.ts"
import * as MakeLayout from "./layout/MakeLayout.ts"
import * as KnownOptions from "./record/KnownOptions.ts"
import type { RowResult } from "./record/Row.ts"
import { invalidOption, type SourceError } from "./record/SourceError.ts"
import type { Source } from "./record/SourceRecord.ts"

/** Options of `make`. Without `layout`, each record is an item. */
export interface MakeOptions extends LayoutOptions {
  /** The source's name in messages and rejects. Default: `memory`. */
  readonly name?: string | undefined
  /** The directory for temporary files. Default: the system's. */
  readonly scratchDirectory?: string | undefined
}

const optionKinds: KindsOf<MakeOptions> = { ...layoutKinds, name: text, scratchDirectory: text }

const defaultMaxPlanned = 10_000

/** Makes a source from records. Invalid records are `Reject`s. A pipeline reads up to 10,000 items ahead by default. */
export const make = <E = never, R = never>(
  records: Iterable<unknown> | Stream.Stream<unknown, E, R>,
  options: MakeOptions = {},
): Source<E | SourceError, R | FileSystem.FileSystem | Path.Path> => {
  // A program without a type check may pass null, which `optionKinds` refuses when the records are read.
  const { name = "memory", scratchDirectory, ...layoutOptions } = { ...options }
  const all: Stream.Stream<unknown, E | SourceError, R> = Stream.isStream(records)
    ? records
    : Predicate.isIterable(records)
      ? Stream.fromIterable(records)
      : Stream.fail(invalidOption("records", `expected an iterable or a stream, found ${describeValue(records)}`))
  const rows = Stream.mapAccumArray(
    all,
    () => 0,
    (count, array) =>
      [count + array.length, Array.map(array, (value, i) => toRow(name, count + i + 1, value))] as const,
  )
  return {
    description: name,
    maxPlanned: defaultMaxPlanned,
    records: KnownOptions.check(options, optionKinds).pipe(
      Effect.andThen(() =>
        Effect.mapError(Effect.fromResult(MakeLayout.make(withId(layoutOptions))), (problem) =>
          invalidOption("layout", problem),
        ),
      ),
      Effect.map((layout) => Group.toItems(rows, layout, { scratchDirectory })),
      Stream.unwrap,
    ),
  }
}

const withId = (options: LayoutOptions): LayoutOptions =>
  options.layout === "wide" || options.layout === "pairs" ? { id: "id", ...defined(options) } : options

const toRow = (file: string, line: number, value: unknown): RowResult =>
  Result.succeed({
    value,
    place: {
      file,
      line,
      get raw() {
        return Option.getOrUndefined(Result.getSuccess(Result.try(() => JSON.stringify(value))))
      },
    },
  })
