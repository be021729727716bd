/**
 * The parts of groups in a scratch database, in which those with the same key find each other.
 *
 * Guarantees: memory stays bounded however many parts and groups there are; what is read at once is a
 * group, or several as far as they are small.
 */
import { Array as Arr, Effect, Option, Stream } from "effect"
import type { Prompt } from "../../domain/Message.ts"
import type { Metadata } from "../../domain/PromptItem.ts"
import type { Origin } from "../../domain/Origin.ts"
import { originOf } from "../record/Row.ts"
import type { SourceError } from "../record/SourceError.ts"
import type { Part } from "../layout/Layout.ts"
import * as Scratch from "./Scratch.ts"
import * as Key from "../record/Key.ts"
import * as ScratchText from "./ScratchText.ts"

/** All parts of a key, in the order in which they came. */
export type Group = Arr.NonEmptyReadonlyArray<Part>

/** A group that is too large to be read at once. */
export interface LargeGroup {
  readonly count: number
  readonly parts: Stream.Stream<Part, SourceError>
}

const parts = { name: "part", columns: ["key", "file", "size", "data"] }

/** In bytes, with all that belongs to its parts. */
export const largestGroup = 32 * 1024 * 1024
const mostAtOnce = 4 * 1024 * 1024

const headsPerPage = 256

/** Of a group that is too large. Each may be as large as a record may be. */
const partsPerPage = 32

interface PartRow {
  readonly id: number
  readonly data: Uint8Array
}

/** A part as an array, of which JSON makes less text. The key is null where it is the prompt. */
type Written = readonly [
  ...[origin: Origin, key: string | null, prompt: Prompt, completion: string, model: string | null],
  ...[metadata: Metadata | null, rest: string | null, places: string | null],
]

interface HeadRow {
  readonly rank: number
  readonly count: number
  readonly size: number
}

export const make = Effect.fnUntraced(function* (directory: string | undefined) {
  const { append, run, sort } = yield* Scratch.make(directory)
  const files = Scratch.makeFileNumbers()
  yield* run("CREATE TABLE part (id INTEGER PRIMARY KEY, key TEXT, file INTEGER, size INTEGER, data BLOB)")
  yield* run("CREATE TABLE head (rank INTEGER PRIMARY KEY, key TEXT, first INTEGER, count INTEGER, size INTEGER)")

  let isModelMissing = false
  const insert = (batch: ReadonlyArray<Part>): Effect.Effect<void, SourceError> => {
    isModelMissing ||= batch.some(({ model }) => model === undefined)
    return append(
      parts,
      batch.map((part) => {
        const data = encoder.encode(JSON.stringify(write(part)))
        return [Key.short(part.key), files.numberOf(part.place.file), data.length, data]
      }),
    )
  }

  /** Makes the parts ready to be read: call it once, after the last of them. */
  const index = Effect.andThen(
    sort("CREATE INDEX part_key ON part (key, id, size)"),
    sort(`INSERT INTO head (key, first, count, size)
      SELECT key, min(id) AS first, count(*), sum(size) FROM part GROUP BY key ORDER BY first`),
  )

  /**
   * Whether parts lack a model that the files may name, as the files hold the completions of one model each: of the
   * groups, three quarters have equally many parts from each of their files, and from more than half of all
   * files. Groups that are spread over files by chance have not.
   */
  const areFilesModels = Effect.suspend(() => (isModelMissing ? countEven : Effect.succeed(false)))
  const countEven = Effect.map(
    run<{ readonly groups: number; readonly even: number | null }>(
      `SELECT count(*) AS groups, sum(isEven) AS even FROM (
         SELECT min(parts) = max(parts) AND 2 * count(*) > (SELECT count(DISTINCT file) FROM part) AS isEven
         FROM (SELECT key, file, count(*) AS parts FROM part GROUP BY key, file)
         GROUP BY key HAVING sum(parts) > 1)`,
    ),
    ([counts]) => 4 * (counts?.even ?? 0) >= 3 * (counts?.groups ?? 0),
  )

  const partsOf = "SELECT rank, part.id, data FROM head CROSS JOIN part INDEXED BY part_key ON part.key = head.key"

  const readGroups = (heads: Arr.NonEmptyReadonlyArray<HeadRow>) =>
    Effect.map(
      run<PartRow & { readonly rank: number }>(`${partsOf} WHERE rank BETWEEN ? AND ? ORDER BY rank, part.id`, [
        heads[0].rank,
        Arr.lastNonEmpty(heads).rank,
      ]),
      (rows): ReadonlyArray<Group> =>
        Arr.isReadonlyArrayNonEmpty(rows)
          ? Arr.groupWith(rows, (one, other) => one.rank === other.rank).map(Arr.map(toPart))
          : [],
    )

  const readLargeGroup = ({ count, rank }: HeadRow): LargeGroup => ({
    count,
    parts: Stream.paginate(0, (after: number) =>
      Effect.map(
        run<PartRow>(`${partsOf} WHERE rank = ? AND part.id > ? ORDER BY part.id LIMIT ?`, [rank, after, partsPerPage]),
        (rows) => [rows.map(toPart), Option.map(Arr.last(rows), ({ id }) => id)] as const,
      ),
    ),
  })

  /** In the order of their first parts. Run it when the index is made. */
  const groups: Stream.Stream<Group | LargeGroup, SourceError> = Stream.paginate(0, (after: number) =>
    Effect.map(
      run<HeadRow>("SELECT rank, count, size FROM head WHERE rank > ? ORDER BY rank LIMIT ?", [after, headsPerPage]),
      (heads) => [inBatches(heads), Option.map(Arr.last(heads), ({ rank }) => rank)] as const,
    ),
  ).pipe(
    Stream.mapEffect((batch): Effect.Effect<ReadonlyArray<Group | LargeGroup>, SourceError> =>
      batch[0].size > largestGroup ? Effect.succeed([readLargeGroup(batch[0])]) : readGroups(batch),
    ),
    Stream.flattenIterable,
  )

  return { insert, index, areFilesModels, groups }
})

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

const write = ({ completion, key, metadata, model, place, prompt }: Part): Written => {
  const { raw } = place
  const { places, rest } =
    raw === undefined ? { places: null, rest: null } : ScratchText.cut(raw, textsOf(prompt, completion))
  return [
    originOf(place),
    key === prompt ? null : key,
    prompt,
    completion,
    model ?? null,
    metadata ?? null,
    rest,
    places,
  ]
}

const toPart = (row: PartRow): Part => {
  const written: Written = JSON.parse(decoder.decode(row.data))
  const [origin, key, prompt, completion, model, metadata, rest, places] = written
  const place = {
    ...origin,
    get raw() {
      return rest === null || places === null
        ? undefined
        : ScratchText.restore({ rest, places }, textsOf(prompt, completion))
    },
  }
  return {
    place,
    // Only a key that is the prompt was left out, and this prompt is text.
    key: key ?? (typeof prompt === "string" ? prompt : ""),
    prompt,
    completion,
    model: model ?? undefined,
    metadata: metadata ?? undefined,
  }
}

/** What is written by itself, and is cut out of the record's text. */
const textsOf = (prompt: Prompt, completion: string): ReadonlyArray<string> => [
  typeof prompt === "string" ? prompt : JSON.stringify(prompt),
  completion,
]

/** Neighbours that are small enough to be read together. */
const inBatches = (heads: ReadonlyArray<HeadRow>): ReadonlyArray<Arr.NonEmptyReadonlyArray<HeadRow>> => {
  const batches: Array<Arr.NonEmptyArray<HeadRow>> = []
  let size = 0
  for (const head of heads) {
    const last = batches.at(-1)
    size += head.size
    if (last !== undefined && size <= mostAtOnce) last.push(head)
    else {
      batches.push([head])
      size = head.size
    }
  }
  return batches
}
