/**
 * Records on disk, each found again beside the others of its key: what joins and groups are made of.
 *
 * Guarantees: memory stays bounded however many and however large the records are: what is read at once is at most
 * `maxReadBytes`, or what belongs to one key. What comes back is what was inserted, to the character.
 */
import { Array as Arr, Effect, Option, Result, Stream } from "effect"
import type { Origin } from "../../domain/Origin.ts"
import type { Reject } from "../../domain/Reject.ts"
import * as Key from "../record/Key.ts"
import { originOf, type Place } from "../record/Row.ts"
import type { SourceError } from "../record/SourceError.ts"
import * as Scratch from "./Scratch.ts"
import * as ScratchText from "./ScratchText.ts"

/** A record that can be written as JSON. */
export interface KeyedRecord<A> {
  readonly place: Place
  readonly value: A
}

/** A record, or the reject that stands in its place. */
export type StoredRecord<A> = KeyedRecord<A> | Reject

/** One of a list of records (`list`), and what its key has in all. */
export interface Entry {
  readonly rank: number
  /** How many records have the key, and their bytes. */
  readonly count: number
  readonly size: number
}

export interface FoundRecord<A> {
  readonly rank: number
  readonly id: number
  readonly source: number
  readonly record: StoredRecord<A>
  /** Where the record stands to which the list refers as its first. */
  readonly first: Origin | undefined
}

interface Columns {
  readonly rank: number
  readonly id: number
  readonly source: number
  readonly isReject: 0 | 1
  readonly origin: string
  /** JSON, in which a text column keeps every character. */
  readonly data: string
  readonly first: string | null
}

const maxReadBytes = 4 * 1024 * 1024
const entriesPerPage = 256

const table = { name: "record", columns: ["key", "source", "origin", "data"] }

/** @param textsOf long texts of a value that its record's own text also has: they are written once */
export const make = Effect.fnUntraced(function* <A>(
  directory: string | undefined,
  textsOf: (value: A) => ReadonlyArray<string>,
) {
  const { append, run, sort } = yield* Scratch.make(directory)
  yield* run(
    `CREATE TABLE record (id INTEGER PRIMARY KEY, key TEXT, source INTEGER, origin TEXT, data TEXT,
       size INTEGER AS (octet_length(data)))`,
  )

  /** @param sourceOf the number of the file, or of the files that count as one */
  const insert = (
    records: ReadonlyArray<Result.Result<KeyedRecord<A>, Reject>>,
    keyOf: (record: KeyedRecord<A>) => string,
    sourceOf: (place: Origin) => number,
  ): Effect.Effect<void, SourceError> =>
    append(
      table,
      records.map((record) => {
        const place = Result.isSuccess(record) ? record.success.place : record.failure
        const data = Result.isSuccess(record) ? write(record.success) : JSON.stringify(record.failure)
        const key = Result.isSuccess(record) ? Key.short(keyOf(record.success)) : null
        return [key, sourceOf(place), JSON.stringify(originOf(place)), data]
      }),
    )

  const write = ({ place: { raw }, value }: KeyedRecord<A>): string =>
    JSON.stringify(raw === undefined ? [value] : [value, ScratchText.cut(raw, textsOf(value))])

  const read = ({ data, first, id, isReject, origin, rank, source }: Columns): FoundRecord<A> => {
    const at = { rank, id, source, first: first === null ? undefined : JSON.parse(first) }
    const written = JSON.parse(data)
    if (isReject) return { ...at, record: written }
    const [value, cut]: readonly [A, ScratchText.Cut?] = written
    const place: Place = {
      ...JSON.parse(origin),
      get raw() {
        return cut === undefined ? undefined : ScratchText.restore(cut, textsOf(value))
      },
    }
    return { ...at, record: { place, value } }
  }

  /** Call it once, after the last record: keys are found by it. */
  const index = sort("CREATE INDEX record_key ON record (key, source, id, size)")

  /** @param select `id, key, count, size, first` of records, in their order */
  const list = (name: string, select: string) =>
    Effect.andThen(
      run(
        `CREATE TABLE ${name} (rank INTEGER PRIMARY KEY, id INTEGER, key TEXT, count INTEGER, size INTEGER, first INTEGER)`,
      ),
      sort(`INSERT INTO ${name} (id, key, count, size, first) ${select}`),
    )

  /** Neighbors of a list that are small enough to be read together. */
  const batches = (list: string): Stream.Stream<Arr.NonEmptyReadonlyArray<Entry>, SourceError> =>
    Stream.paginate(0, (after: number) =>
      Effect.map(
        run<Entry>(`SELECT rank, count, size FROM ${list} WHERE rank > ? ORDER BY rank LIMIT ?`, [
          after,
          entriesPerPage,
        ]),
        (entries) => [inBatches(entries), Option.map(Arr.last(entries), ({ rank }) => rank)] as const,
      ),
    )

  const select = (from: string, parameters: ReadonlyArray<number>) =>
    Effect.map(
      run<Columns>(
        `SELECT rank, record.id, source, record.key IS NULL AS isReject, record.origin, record.data, ${from}`,
        parameters,
      ),
      Arr.map(read),
    )

  /** The records of a list themselves. */
  const records = (list: string, batch: Arr.NonEmptyReadonlyArray<Entry>) =>
    select(
      `(SELECT origin FROM record AS other WHERE other.id = list.first) AS first
       FROM ${list} AS list CROSS JOIN record ON record.id = list.id WHERE rank BETWEEN ? AND ? ORDER BY rank`,
      ranks(batch),
    )

  /** All records of the keys of a list, or those for which a condition holds, by their entries' ranks, in the order of their sources. */
  const members = (list: string, batch: Arr.NonEmptyReadonlyArray<Entry>, condition = "TRUE") =>
    Effect.map(
      select(`NULL AS first ${membersOf(list)} AND ${condition} ORDER BY rank, source, record.id`, ranks(batch)),
      (found): ReadonlyMap<number, ReadonlyArray<FoundRecord<A>>> => Map.groupBy(found, ({ rank }) => rank),
    )

  /** The same of one entry that is too large to be read at once. */
  const membersInPages = (list: string, { rank }: Entry): Stream.Stream<FoundRecord<A>, SourceError> =>
    Stream.paginate(0, (after: number) =>
      Effect.map(
        select(`NULL AS first ${membersOf(list)} AND record.id > ? ORDER BY record.id LIMIT 32`, [rank, rank, after]),
        (rows) => [rows, Option.map(Arr.last(rows), ({ id }) => id)] as const,
      ),
    )

  return { batches, index, insert, list, members, membersInPages, records, run }
})

const membersOf = (list: string): string =>
  `FROM ${list} AS list CROSS JOIN record INDEXED BY record_key ON record.key = list.key WHERE rank BETWEEN ? AND ?`

const ranks = (batch: Arr.NonEmptyReadonlyArray<Entry>) => [batch[0].rank, Arr.lastNonEmpty(batch).rank]

const inBatches = (entries: ReadonlyArray<Entry>): ReadonlyArray<Arr.NonEmptyReadonlyArray<Entry>> => {
  const batches: Array<Arr.NonEmptyArray<Entry>> = []
  let size = 0
  for (const entry of entries) {
    const last = batches.at(-1)
    size += entry.size
    if (last !== undefined && size <= maxReadBytes) last.push(entry)
    else {
      batches.push([entry])
      size = entry.size
    }
  }
  return batches
}
