/**
 * The records of a join's prompts files in a scratch database: each has a rank, by which they come back in order,
 * and those with a key are found by it.
 *
 * Guarantees: what comes back is what was written, rejects included. Of records with the same key the first one is found.
 */
import { Effect, Option, Result, Stream } from "effect"
import type { Origin } from "../../domain/Origin.ts"
import type { Reject } from "../../domain/Reject.ts"
import { originOf, type Row } from "../record/Row.ts"
import type { SourceError } from "../record/SourceError.ts"
import * as Scratch from "./Scratch.ts"
import * as Key from "../record/Key.ts"

export interface KeyedRow extends Row {
  readonly key: string
}

/** A record with its rank, one-based. */
export interface Ranked {
  readonly rank: number
  readonly record: KeyedRow | Reject
  /** The record that asks for the same key before. */
  readonly first: Origin | undefined
}

/** Ranks, both inclusive. */
export interface Range {
  readonly from: number
  readonly to: number
}

const asked = { name: "asked", columns: ["rank", "key", "file", "line", "row"] }
const pages = { name: "page", columns: ["first", "last", "records"] }

/** Records that are written, and read again, at once: so many, and not more than so many characters by all but one of them. */
const mostRecords = 256
const mostCharacters = 64 * 1024

// As bytes, which leave the engine's memory at once: texts of this size would stay in it for a while.
const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

export const make = Effect.fnUntraced(function* ({ append, run, sort }: Scratch.Scratch) {
  const files = Scratch.makeFileNumbers()
  yield* run("CREATE TABLE asked (rank INTEGER PRIMARY KEY, key TEXT, file INTEGER, line INTEGER, row INTEGER)")
  yield* run("CREATE TABLE page (first INTEGER PRIMARY KEY, last INTEGER, records BLOB)")
  yield* run("CREATE TABLE twin (rank INTEGER PRIMARY KEY, first INTEGER)")

  let count = 0

  /** In their order, those of one file after those of another. */
  const insert = Effect.fnUntraced(function* (records: ReadonlyArray<KeyedRow | Reject>) {
    const keys: Array<ReadonlyArray<Scratch.Value>> = []
    const filled: Array<ReadonlyArray<Scratch.Value>> = []
    let page: Array<string> = []
    let size = 0
    let first = count + 1
    const turn = () => {
      if (page.length > 0) filled.push([first, count, encoder.encode(`[${page.join(",")}]`)])
      page = []
      size = 0
      first = count + 1
    }
    for (const record of records) {
      count++
      if ("key" in record) {
        const { file, line, row } = record.place
        keys.push([count, Key.short(record.key), files.numberOf(file), line ?? null, row ?? null])
      }
      const text = write(record)
      page.push(text)
      size += text.length
      if (page.length === mostRecords || size > mostCharacters) turn()
    }
    turn()
    yield* append(asked, keys)
    yield* append(pages, filled)
  })

  /** Makes keys ready to be found: call it once, after the last record. */
  const index = Effect.andThen(
    sort("CREATE INDEX asked_key ON asked (key)"),
    sort(`INSERT INTO twin
      SELECT asked.rank, several.first
      FROM (SELECT key, min(rank) AS first FROM asked GROUP BY key HAVING count(*) > 1) AS several
      JOIN asked ON asked.key = several.key WHERE asked.rank <> several.first ORDER BY asked.rank`),
  )

  /** For each key, in their order, the rank of the first record that asks for it. */
  const ranksOf = (keys: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<number | null>, SourceError> =>
    Effect.map(
      run<{ readonly rank: number | null }>(
        `SELECT (SELECT rank FROM asked WHERE key = wanted.value ORDER BY rank LIMIT 1) AS rank
         FROM json_each(?) AS wanted ORDER BY wanted.key`,
        [JSON.stringify(keys.map(Key.short))],
      ),
      (rows) => rows.map(({ rank }) => rank),
    )

  const firstOfTwins = ({ from, to }: Range) =>
    Effect.map(
      run<Scratch.PlaceColumns & { readonly twin: number }>(
        `SELECT twin.rank AS twin, file, line, row FROM twin CROSS JOIN asked ON asked.rank = twin.first
         WHERE twin.rank BETWEEN ? AND ?`,
        [from, to],
      ),
      (rows) => new Map(rows.map((row) => [row.twin, files.originOf(row)])),
    )

  /** In order. */
  const read = (range: Range): Stream.Stream<Ranked, SourceError> =>
    Stream.paginate(
      range.from,
      Effect.fnUntraced(function* (rank: number) {
        const [page] = yield* run<{ readonly first: number; readonly last: number; readonly records: Uint8Array }>(
          "SELECT first, last, records FROM page WHERE first <= ? ORDER BY first DESC LIMIT 1",
          [rank],
        )
        const { first, last, records } = page!
        const twins = yield* firstOfTwins({ from: rank, to: Math.min(last, range.to) })
        const all: ReadonlyArray<Written> = JSON.parse(decoder.decode(records))
        const ranked = all
          .map((written, i): Ranked => ({ rank: first + i, record: toRecord(written), first: twins.get(first + i) }))
          .filter((it) => it.rank >= rank && it.rank <= range.to)
        return [ranked, last < range.to ? Option.some(last + 1) : Option.none<number>()] as const
      }),
    )

  return { insert, index, ranksOf, read, count: () => count }
})

/** A record as an array, of which JSON makes less text; the row's own text where its value does not tell it. */
type Written =
  | readonly [origin: Origin, key: string, value: unknown, isTextual: boolean, raw?: string | null]
  | readonly [Reject]

const write = (record: KeyedRow | Reject): string => {
  if (!("key" in record)) return JSON.stringify([record])
  const { isTextual, key, place, value } = record
  const { raw } = place
  const text = toJson(value)
  if (text === undefined && raw === undefined) return JSON.stringify([tooDeep(place)])
  // The engine reads what is too deep for it to write: of such a record the own text is JSON, as cells are never deep.
  const start = `${JSON.stringify(originOf(place))},${JSON.stringify(key)},${text ?? raw},${isTextual === true}`
  return raw === text ? `[${start}]` : `[${start},${JSON.stringify(raw ?? null)}]`
}

const toJson = (value: unknown): string | undefined => Result.getOrUndefined(Result.try(() => JSON.stringify(value)))

const tooDeep = (place: Origin): Reject => ({
  ...originOf(place),
  code: "invalid_shape",
  reason: "expected levels of nesting that can be written as JSON, found more",
})

const toRecord = (written: Written): KeyedRow | Reject => {
  if (written.length === 1) return written[0]
  const [origin, key, value, isTextual, raw] = written
  const place = { ...origin, raw: raw === undefined ? toJson(value) : (raw ?? undefined) }
  return { place, key, value, ...(isTextual ? { isTextual } : undefined) }
}
