/**
 * The rows of a join's completions files that could not be used, in a scratch database, from which they come
 * in the order of files and rows.
 */
import { Effect, Option, Stream } from "effect"
import type { Origin } from "../../domain/Origin.ts"
import type { Reject } from "../../domain/Reject.ts"
import type { Place } from "../record/Row.ts"
import type { SourceError } from "../record/SourceError.ts"
import * as Scratch from "./Scratch.ts"

/** Where a row stands among all. */
interface Position {
  /** Index of the completions file. */
  readonly file: number
  /** Of the record in its file, counted from one. */
  readonly number: number
}

/** A row that was not refused. */
export interface Unused {
  readonly place: Place
  /** The key, cut, as reasons name it. */
  readonly shown: string
  /** The row of the same key that stands before it in its file. */
  readonly first: Origin | undefined
}

export interface Leftover extends Position {
  /** With its key, where it is not known yet whether there is a row of the same key before it. */
  readonly row: Reject | (Unused & { readonly key: string | undefined })
}

const leftovers = {
  name: "leftover",
  columns: ["file", "number", "line", "row", "key", "shown", "first", "reject", "raw"],
}

/** Characters of rows that are read at once, if it is not one row that has more. */
const mostCharacters = 8 * 1024 * 1024
const mostRows = 256

interface LeftoverRow extends Scratch.PlaceColumns {
  readonly number: number
  readonly key: string | null
  readonly shown: string | null
  readonly first: string | null
  readonly reject: string | null
  readonly raw: Uint8Array | null
  readonly same_line: number | null
  readonly same_row: number | null
  readonly same_number: number | null
}

// Text may have NUL in it, at which some versions of the engine would end it.
const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** @param files names of the completions files, by which they are told in origins */
export const make = Effect.fnUntraced(function* ({ append, run, sort }: Scratch.Scratch, files: ReadonlyArray<string>) {
  yield* run(`CREATE TABLE leftover (id INTEGER PRIMARY KEY, file INTEGER, number INTEGER, line INTEGER, row INTEGER,
    key TEXT, shown TEXT, first TEXT, reject TEXT, raw BLOB)`)

  let longest = 1
  const insert = (rows: ReadonlyArray<Leftover>): Effect.Effect<void, SourceError> =>
    append(
      leftovers,
      rows.map(({ file, number, row }) => {
        if ("code" in row) return [file, number, null, null, null, null, null, JSON.stringify(row), null]
        const { first, key, place, shown } = row
        const { line = null, raw, row: nth = null } = place
        longest = Math.max(longest, raw?.length ?? 0)
        const before = first === undefined ? null : JSON.stringify(first)
        return [
          file,
          number,
          line,
          nth,
          key ?? null,
          shown,
          before,
          null,
          raw === undefined ? null : encoder.encode(raw),
        ]
      }),
    )

  /** All of them, in order. Run it when the last one was inserted. */
  const rows: Stream.Stream<Reject | Unused, SourceError> = Stream.unwrap(
    Effect.gen(function* () {
      yield* sort("CREATE INDEX leftover_key ON leftover (key, file, number) WHERE key IS NOT NULL")
      yield* sort("CREATE INDEX leftover_place ON leftover (file, number)")
      const atOnce = Math.max(1, Math.min(mostRows, Math.floor(mostCharacters / longest)))
      return Stream.paginate({ file: -1, number: 0 }, (after: Position) =>
        Effect.map(
          run<LeftoverRow>(
            `SELECT leftover.*, same.line AS same_line, same.row AS same_row, same.number AS same_number
             FROM leftover INDEXED BY leftover_place LEFT JOIN leftover AS same ON same.id =
               (SELECT id FROM leftover AS other WHERE other.key = leftover.key AND other.file = leftover.file ORDER BY other.number LIMIT 1)
             WHERE (leftover.file, leftover.number) > (?, ?) ORDER BY leftover.file, leftover.number LIMIT ?`,
            [after.file, after.number, atOnce],
          ),
          (page) => [page.map(toLeftover), Option.fromUndefinedOr(page.at(-1))] as const,
        ),
      )
    }),
  )

  const toLeftover = (row: LeftoverRow): Reject | Unused => {
    // What is JSON here was written above.
    if (row.reject !== null) return JSON.parse(row.reject)
    const isFirst = row.same_number === null || row.same_number === row.number
    const twin = isFirst ? undefined : Scratch.toOrigin(files[row.file]!, row.same_line, row.same_row)
    return {
      place: {
        ...Scratch.toOrigin(files[row.file]!, row.line, row.row),
        raw: row.raw === null ? undefined : decoder.decode(row.raw),
      },
      shown: row.shown ?? "",
      first: row.first === null ? twin : JSON.parse(row.first),
    }
  }

  return { insert, rows }
})
