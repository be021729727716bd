/**
 * The parts of groups in a scratch database, in which those with the same key find each other.
 *
 * Guarantees: memory stays bounded however many parts and groups there are; what is read at once is a
 * group, or several as far as they are small.
 */
import { Array as Arr, Effect, Option, Stream } from "effect"
import type { Prompt } from "../../domain/Message.ts"
import type { SourceError } from "../SourceError.ts"
import type { Part } from "./Layout.ts"
import * as Scratch from "./Scratch.ts"
import * as ScratchKey from "./ScratchKey.ts"
import * as ScratchText from "./ScratchText.ts"

/** All parts of a key, in the order in which they came. */
export type Group = Arr.NonEmptyReadonlyArray<Part>

/** A group that is too large to be read at once. */
export interface LargeGroup {
  readonly count: number
  readonly parts: Stream.Stream<Part, SourceError>
}

const parts = {
  name: "part",
  columns: [
    "key",
    "whole",
    "size",
    "file",
    "line",
    "row",
    "prompt",
    "is_json",
    "model",
    "metadata",
    "places",
    "rest",
    "text",
  ],
}

/** In characters, with all that belongs to its parts. */
export const largestGroup = 32 * 1024 * 1024
const mostAtOnce = 4 * 1024 * 1024

const headsPerPage = 256

/** Of a group that is too large. Each may be as large as a record may be. */
const partsPerPage = 32

interface PartRow extends Scratch.PlaceColumns {
  readonly id: number
  readonly key: string
  readonly whole: string | null
  readonly prompt: string
  readonly is_json: number
  readonly model: string | null
  readonly metadata: string | null
  readonly places: string | null
  readonly rest: string | null
  readonly text: string
}

interface HeadRow {
  readonly rank: number
  readonly count: number
  readonly size: number
}

export const make = Effect.fnUntraced(function* (directory: string | undefined) {
  const { append, run, sort } = yield* Scratch.make(directory)
  const files = Scratch.makeFileNumbers()
  yield* run(`CREATE TABLE part (id INTEGER PRIMARY KEY, key TEXT, whole TEXT, size INTEGER, file INTEGER, line INTEGER,
    row INTEGER, prompt TEXT, is_json INTEGER, model TEXT, metadata TEXT, places TEXT, rest TEXT, text TEXT)`)
  yield* run("CREATE TABLE head (rank INTEGER PRIMARY KEY, key TEXT, first INTEGER, count INTEGER, size INTEGER)")

  const insert = (batch: ReadonlyArray<Part>): Effect.Effect<void, SourceError> => append(parts, batch.map(toColumns))

  const toColumns = (part: Part): ReadonlyArray<Scratch.Value> => {
    const { completion, key, metadata, model, place } = part
    const isJson = typeof part.prompt !== "string"
    const prompt = isJson ? JSON.stringify(part.prompt) : String(part.prompt)
    const { raw } = place
    const cut = raw === undefined ? undefined : ScratchText.cut(raw, [prompt, completion])
    const short = ScratchKey.short(key)
    const json = metadata === undefined ? null : JSON.stringify(metadata)
    return [
      short,
      short === key || key === prompt ? null : key,
      prompt.length + completion.length + (json?.length ?? 0) + (cut?.rest.length ?? 0),
      files.numberOf(place.file),
      place.line ?? null,
      place.row ?? null,
      prompt,
      isJson ? 1 : 0,
      model ?? null,
      json,
      cut?.places ?? null,
      cut?.rest ?? null,
      completion,
    ]
  }

  /** Makes the parts ready to be read: call it once, after the last of them. */
  const index = Effect.andThen(
    sort("CREATE INDEX part_key ON part (key, id, size)"),
    sort(`INSERT INTO head (key, first, count, size)
      SELECT key, min(id) AS first, count(*), sum(size) FROM part GROUP BY key ORDER BY first`),
  )

  const toPart = (row: PartRow): Part => {
    const { model, places, prompt, rest, text } = row
    const origin = files.originOf(row)
    // What is JSON here was written above.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
    const decoded = (row.is_json === 1 ? JSON.parse(prompt) : prompt) as Prompt
    return {
      place: {
        ...origin,
        get raw() {
          return rest === null || places === null ? undefined : ScratchText.restore({ rest, places }, [prompt, text])
        },
      },
      key: row.whole ?? (row.key.length > ScratchKey.mostLength ? prompt : row.key),
      prompt: decoded,
      completion: text,
      model: model ?? undefined,
      metadata: row.metadata === null ? undefined : JSON.parse(row.metadata),
    }
  }

  const partsOf = "SELECT rank, part.* FROM head CROSS JOIN part INDEXED BY part_key ON part.key = head.key"

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

  return { insert, index, groups }
})

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
