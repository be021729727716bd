/**
 * The rows of a row group, in arrays.
 *
 * Guarantees: as many rows as the footer says, or a failure that names row group and column. Nothing is
 * held of the group but a window and a page for each column that is read (see `Parquet`).
 */
import { Array, Effect, Option, Result, Stream } from "effect"
import { reject, type RowResult } from "../../record/Row.ts"
import { type SourceError, unreadable } from "../../record/SourceError.ts"
import * as Column from "./ParquetColumn.ts"
import { Cursor, elementsMax, type Tally } from "./ParquetCursor.ts"
import { Damage, problemOf } from "./ParquetDamage.ts"
import type { RowGroup } from "./ParquetFooter.ts"
import * as Page from "./ParquetPage.ts"
import * as Records from "./ParquetRecords.ts"
import type { Node } from "./ParquetSchema.ts"

/** Of compressed bytes of all columns together. */
const windowsBytes = 32 * 1024 * 1024
/** Of one column: as much as one request is worth. */
const windowMin = 1024 * 1024

/** Chunks with so little between them are read at once. */
const gapMax = 64 * 1024
const requestMax = windowsBytes

/** An array of rows ends with the row that reaches either. */
const charactersPerArray = 128 * 1024
const rowsPerArray = 512

export interface Part {
  readonly file: string
  readonly slice: (start: number, end: number) => Effect.Effect<Uint8Array, SourceError>
  readonly group: RowGroup
  /** Of the group, one-based. */
  readonly number: number
  /** Of the group's first row, one-based. */
  readonly firstRow: number
}

/** @param fields that are read; none: rows without members, counted by the group's first column */
export const rows = (part: Part, all: ReadonlyArray<Node>, fields: ReadonlyArray<Node>) =>
  Stream.unwrap(
    Effect.map(open(part, fields.length > 0 ? fields : all.slice(0, 1), fields.length > 0), (step) =>
      Stream.paginate(0, step),
    ),
  )

const open = Effect.fnUntraced(function* (part: Part, fields: ReadonlyArray<Node>, hasMembers: boolean) {
  const { file, slice, group, firstRow } = part
  const failed = (cause: unknown): SourceError =>
    unreadable(file, `row group ${part.number}: ${problemOf(cause)}`, cause)
  const tally: Tally = { characters: 0, elements: 0, held: 0, unusable: undefined, cursor: undefined }
  const columns = new Map<
    number,
    { readonly cursor: Cursor; readonly more: Effect.Effect<void, SourceError | Damage> }
  >()

  const leaves = fields.flatMap(({ leaves }) => leaves)
  const windowBytes = Math.max(windowMin, Math.floor(windowsBytes / leaves.length))
  const wanted = yield* Effect.mapError(
    Effect.forEach(leaves, (leaf) => {
      const cursor = new Cursor(leaf, tally)
      const chunk = group.chunks[leaf.index]!
      const problem = typeof chunk === "string" ? chunk : unsupported(chunk.codec, leaf.conversion.unsupported)
      return typeof chunk === "string" || problem !== undefined
        ? Effect.fail(cursor.damage(problem!))
        : Effect.succeed({ cursor, chunk })
    }),
    failed,
  )
  const windows = yield* firstWindows(
    slice,
    wanted.map(({ chunk }) => ({ start: chunk.start, end: Math.min(chunk.end, chunk.start + windowBytes) })),
  )
  wanted.forEach(({ cursor, chunk }, i) => {
    const more = Column.pages(cursor, chunk, slice, windows[i]!, windowBytes)
    columns.set(cursor.leaf.index, { cursor, more })
  })
  const read = Records.reader(fields, (index) => columns.get(index)!.cursor, tally)

  /** After it, each column has the row; gives up to which row all have them. */
  const ready = Effect.fnUntraced(function* (row: number) {
    let least = group.rows
    for (const { cursor, more } of columns.values()) {
      while (cursor.rows <= row && !cursor.isWhole) {
        if (cursor.ahead > elementsMax) {
          return yield* cursor.damage(`a row has more than ${elementsMax} values in lists`)
        }
        yield* more
      }
      if (cursor.rows <= row) return yield* cursor.damage(`it ends after ${cursor.rows} of ${group.rows} rows`)
      least = Math.min(least, cursor.rows)
    }
    return least
  })

  const batch = (from: number, end: number): Array<RowResult> => {
    const results: Array<RowResult> = []
    tally.characters = 0
    const last = Math.min(end, from + rowsPerArray)
    for (let row = from; row < last && tally.characters < charactersPerArray; row++) {
      const members = read()
      results.push(hasMembers ? toResult(file, firstRow + row, members, tally) : toResult(file, firstRow + row, {}))
    }
    return results
  }

  const ended = Effect.gen(function* () {
    for (const { cursor, more } of columns.values()) {
      while (!cursor.isWhole && cursor.isAtEnd) yield* more
      if (!cursor.isAtEnd) return yield* cursor.damage(`it has more than ${group.rows} rows`)
    }
  })

  return Effect.fnUntraced(
    function* (row: number) {
      const end = yield* ready(row)
      const results = yield* Effect.try({
        try: () => batch(row, end),
        catch: (cause) => tally.cursor?.damage(problemOf(cause)) ?? new Damage({ problem: problemOf(cause) }),
      })
      const next = row + results.length
      if (next < group.rows) return [results, Option.some(next)] as const
      yield* ended
      return [results, Option.none<number>()] as const
    },
    Effect.catchTag("Damage", (damage) => Effect.fail(failed(damage))),
  )
})

const unsupported = (codec: string, type: string | undefined): string | undefined => {
  if (type !== undefined) return `it holds ${type}, which is not supported; leave it out, or convert it to text`
  if (Page.isSupported(codec)) return undefined
  return `it is compressed with ${codec}, which is not supported; write the file with zstd, or without compression`
}

interface Range {
  readonly start: number
  readonly end: number
}

/** Reads the ranges, in few requests; gives a window for each. */
const firstWindows = Effect.fnUntraced(function* (slice: Part["slice"], ranges: ReadonlyArray<Range>) {
  const requests: Array<{ start: number; end: number }> = []
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = requests.at(-1)
    if (last !== undefined && start <= last.end + gapMax && end - last.start <= requestMax) {
      last.end = Math.max(last.end, end)
    } else requests.push({ start, end })
  }
  const read = yield* Effect.forEach(
    requests,
    ({ start, end }) => Effect.map(slice(start, end), (bytes) => ({ start, end, bytes })),
    { concurrency: 4 },
  )
  return Array.map(ranges, ({ start, end }): Column.Window => {
    const whole = read.find((request) => request.start <= start && end <= request.end)!
    return { start, bytes: whole.bytes.subarray(start - whole.start, end - whole.start) }
  })
})

const toResult = (file: string, row: number, value: Record<string, unknown>, tally?: Tally): RowResult => {
  if (tally?.unusable !== undefined) {
    const { path, value } = tally.unusable
    return reject({ file, row, raw: undefined }, value.code, `${path}: ${value.problem}`)
  }
  const place = {
    file,
    row,
    get raw() {
      return Result.getOrUndefined(Result.try(() => JSON.stringify(value)))
    },
  }
  return Result.succeed({ place, value })
}
