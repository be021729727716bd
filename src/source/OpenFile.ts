/** Opens a file once, samples its first records, and then reads all of them. */
import { Array, Duration, Effect, Option, Result, Stream } from "effect"
import * as Format from "./format/Format.ts"
import * as UnusedContext from "./item/UnusedContext.ts"
import * as Place from "./place/Place.ts"
import { RemoteTimeouts } from "./place/Remote.ts"
import type { Row } from "./record/Row.ts"
import * as Messages from "./item/Messages.ts"
import { invalidOption, unreadable } from "./record/SourceError.ts"
import type { InputSummary } from "./record/SourceRecord.ts"
import { describeValue, isObject } from "../io/Values.ts"

export const open = Effect.fnUntraced(function* (name: string, options: Format.FormatOptions = {}) {
  const { idleTimeout } = options
  const idle = idleTimeout === undefined ? Option.none() : Duration.fromInput(idleTimeout)
  if (idleTimeout !== undefined && (Option.isNone(idle) || !Duration.isPositive(idle.value))) {
    return yield* invalidOption("idleTimeout", `expected a duration above zero, found ${describeValue(idleTimeout)}`)
  }
  const input = Effect.updateService(Place.open(name), RemoteTimeouts, ({ idle: usual, pause, retries }) => ({
    idle: Option.getOrElse(idle, () => usual),
    pause,
    retries,
  }))
  return yield* Format.open(yield* input, options)
})

export interface SampledFile {
  readonly file: Format.RowFile
  readonly sample: ReadonlyArray<Row>
}

/** A pipe can be read again only up to `Pipe.memoryLimitBytes`, so the sample must be smaller. */
const maxSampleCharacters = 4 * 1024 * 1024

const maxSampleMembers = 100_000

export const sampled = Effect.fnUntraced(function* (name: string, options: Format.FormatOptions, sampleSize: number) {
  const file = yield* open(name, options)
  let characters = 0
  let members = 0
  const rows = yield* file.rows().pipe(
    Stream.take(sampleSize),
    Stream.takeUntil((row) => {
      const place = Result.isSuccess(row) ? row.success.place : row.failure
      if (file.format !== "parquet") characters += place.raw?.length ?? 0
      if (Result.isSuccess(row) && isObject(row.success.value)) members += Object.keys(row.success.value).length
      return characters > maxSampleCharacters || members > maxSampleMembers
    }),
    Stream.runCollect,
  )
  const sample = Array.getSuccesses(rows)
  const problem = rows.length === 1 && sample.length === 1 ? columnsProblem(sample[0]!.value) : undefined
  if (problem !== undefined) return yield* unreadable(name, problem)
  return { file, sample } satisfies SampledFile
})

const columnsProblem = (value: unknown): string | undefined => {
  if (!isObject(value)) return undefined
  const columns = Object.values(value)
  const [first] = columns
  const lists = columns.filter((column) => Array.isArray(column))
  const areLists =
    Array.isArray(first) &&
    first.length > 1 &&
    lists.length === columns.length &&
    lists.every((column) => column.length === first.length && !Messages.isList(column))
  const rows = isObject(first) ? Object.keys(first) : []
  const areObjects =
    rows.length > 0 &&
    rows.every((row) => /^\d+$/.test(row)) &&
    columns.every((column) => isObject(column) && Object.keys(column).join() === rows.join())
  const isSplit = Array.isArray(value["columns"]) && Array.isArray(value["data"]) && columns.length <= 3
  if (columns.length < 2 || !(areLists || areObjects || isSplit)) return undefined
  const orient = isSplit ? ', orient="split"' : ""
  return `expected one object per row, found one table stored by column; convert it: pandas.read_json(FILE${orient}).to_json("new.jsonl", orient="records", lines=True)`
}

export const sampledUntilRecords = Effect.fnUntraced(function* (
  names: ReadonlyArray<string>,
  options: Format.FormatOptions,
  sampleSize: number,
) {
  const files: Array<SampledFile> = []
  for (const name of names) {
    files.push(yield* sampled(name, options, sampleSize))
    if (files.at(-1)!.sample.length > 0) break
  }
  return files
})

export const membersOf = (files: ReadonlyArray<Pick<SampledFile, "sample">>): ReadonlySet<string> =>
  new Set(files.flatMap(({ sample }) => sample).flatMap(({ value }) => (isObject(value) ? Object.keys(value) : [])))

export const unusedIn = (
  rows: ReadonlyArray<Row>,
  readColumns: ReadonlyArray<string> | undefined,
  ignoredColumns: ReadonlyArray<string> = [],
): InputSummary["unused"] => {
  if (readColumns === undefined) return []
  const isUsed = new Set([...readColumns, ...ignoredColumns])
  const counts = new Map<string, number>()
  for (const { value } of rows) {
    for (const [name, member] of isObject(value) ? Object.entries(value) : []) {
      if (isUsed.has(name)) continue
      if (typeof member === "boolean" || UnusedContext.hasContent(member)) counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  }
  return [...counts].map(([name, count]) => ({ name, share: count / rows.length }))
}

export const withContext = (
  columns: ReadonlyArray<string> | undefined,
  members: ReadonlySet<string>,
): ReadonlyArray<string> | undefined =>
  columns && [...columns, ...UnusedContext.columns, ...[...members].filter(UnusedContext.isKnown)]
