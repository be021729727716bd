/**
 * The first records of a file, which are looked at before the file is read.
 *
 * Guarantees: no more of them than can be read again from a pipe.
 */
import { Array, Effect, Result, Stream } from "effect"
import type * as Format from "./format/Format.ts"
import { isObject } from "../io/Values.ts"
import type { Row, RowResult } from "./record/Row.ts"
import * as RowFiles from "./RowFiles.ts"

export interface Head {
  readonly name: string
  readonly description: string
  readonly rows: ReadonlyArray<RowResult>
}

/** Of fewer records where these are large: a pipe remembers 16 MiB. */
const maxCharacters = 4 * 1024 * 1024

/** The file is open for as long only as this takes. */
export const read = Effect.fnUntraced(function* (file: string, options: Format.FormatOptions, maxRecords: number) {
  const opened = yield* RowFiles.open(file, options)
  let characters = 0
  const rows = yield* opened.rows().pipe(
    Stream.take(maxRecords),
    Stream.takeUntil((row) => {
      const place = Result.isSuccess(row) ? row.success.place : row.failure
      if (opened.format !== "parquet") characters += place.raw?.length ?? 0
      return characters > maxCharacters
    }),
    Stream.runCollect,
  )
  const head: Head = { name: opened.name, description: opened.description, rows }
  return head
}, Effect.scoped)

/** Those of the first file that has any, read from as many files as this takes. */
export const first = Effect.fnUntraced(function* (
  files: ReadonlyArray<string>,
  options: Format.FormatOptions,
  maxRecords: number,
) {
  const heads: Array<Head> = []
  for (const file of files) {
    const head = yield* read(file, options, maxRecords)
    heads.push(head)
    if (hasRecords(head)) break
  }
  return heads
})

export const recordsOf = ({ rows }: Head): ReadonlyArray<Row> => Array.getSuccesses(rows)

export const hasRecords = (head: Head): boolean => recordsOf(head).length > 0

/** The names that records have at their top, in the order in which they are met. */
export const membersOf = (heads: ReadonlyArray<Head>): ReadonlySet<string> =>
  new Set(heads.flatMap(recordsOf).flatMap(({ value }) => (isObject(value) ? Object.keys(value) : [])))
