/**
 * A column chunk, page after page, read by windows: pieces of a size that the reader of the row group sets.
 *
 * Guarantees: the chunk's pages hold as many values as the footer says; memory has one window, or one page
 * where that is larger.
 */
import { Effect } from "effect"
import type { SourceError } from "../../record/SourceError.ts"
import type { Cursor } from "./ParquetCursor.ts"
import { type Damage, problemOf } from "./ParquetDamage.ts"
import * as Page from "./ParquetPage.ts"
import * as PageHeader from "./ParquetPageHeader.ts"

/** Where it stands in the file, and what the footer says of it. */
export interface Chunk {
  readonly start: number
  readonly end: number
  readonly codec: string
  readonly values: number
}

/** A piece of the file. */
export interface Window {
  readonly start: number
  readonly bytes: Uint8Array
}

type Slice = (start: number, end: number) => Effect.Effect<Uint8Array, SourceError>

/** Most are of some dozen bytes; some have long texts as statistics. */
const headerMin = 4 * 1024
const headerMax = 16 * 1024 * 1024

/**
 * An effect that adds the next data page to the cursor, or ends it.
 *
 * @param first the chunk's beginning, as far as it was read before
 * @param windowBytes what is read at once, where pages are smaller
 */
export const pages = (
  cursor: Cursor,
  chunk: Chunk,
  slice: Slice,
  first: Window,
  windowBytes: number,
): Effect.Effect<void, SourceError | Damage> => {
  const { leaf } = cursor
  let window = first
  let at = chunk.start
  let values = 0
  let dictionary: ReadonlyArray<unknown> | undefined

  /** From here on, at least `length` bytes, or up to the chunk's end. */
  const ahead = Effect.fnUntraced(function* (length: number) {
    const end = Math.min(at + length, chunk.end)
    if (end > window.start + window.bytes.length) {
      const bytes = yield* slice(at, Math.min(Math.max(end, at + windowBytes), chunk.end))
      window = { start: at, bytes }
    }
    return window.bytes.subarray(at - window.start)
  })

  const decoded = <A>(decode: () => A): Effect.Effect<A, Damage> =>
    Effect.try({ try: decode, catch: (cause) => cursor.damage(problemOf(cause)) })

  const header = Effect.gen(function* () {
    for (let size = headerMin; size <= headerMax; size *= 16) {
      const bytes = yield* ahead(size)
      const found = yield* decoded(() => PageHeader.parse(bytes))
      if (found !== undefined) return found
      if (at + size >= chunk.end) break
    }
    return yield* cursor.damage("it ends in a page's header")
  })

  return Effect.gen(function* () {
    while (values < chunk.values) {
      if (at >= chunk.end) return yield* cursor.damage(`it ends after ${values} of ${chunk.values} values`)
      const found = yield* header
      const { length, storedSize, kind, count } = found
      if (at + length + storedSize > chunk.end) return yield* cursor.damage("a page goes on beyond the column's end")
      const stored = (yield* ahead(length + storedSize)).subarray(length, length + storedSize)
      at += length + storedSize
      if (kind === "dictionary") {
        yield* decoded(() => cursor.hold(Page.costOf(found)))
        dictionary = yield* decoded(() => Page.dictionary(leaf, chunk.codec, found, stored))
      } else if (kind !== "other") {
        values += count
        if (values > chunk.values) return yield* cursor.damage(`it has more than ${chunk.values} values`)
        yield* decoded(() => cursor.hold(Page.costOf(found)))
        const page = yield* decoded(() => Page.decode(leaf, chunk.codec, found, stored, dictionary))
        yield* decoded(() => cursor.add(page))
        return
      }
    }
    cursor.end()
  })
}
