/**
 * The completions of a join in a scratch database, in parts: each has those of so many neighbouring prompts.
 *
 * Guarantees: what is in memory at once is bounded, whatever the sizes of completions. A part is written in
 * pieces, each when there is enough of it in memory, so that the disk reads and writes long stretches: rows
 * found one by one, in the order of unsorted keys, took twice the time.
 */
import { Effect, Stream } from "effect"
import type { SourceError } from "../record/SourceError.ts"
import type { Range } from "./JoinPrompts.ts"
import * as JoinRow from "./JoinRow.ts"
import type * as Scratch from "./Scratch.ts"

const pieces = { name: "piece", columns: ["part", "rows"] }

/** Prompts of a part at the least, and parts at the most. */
const leastPrompts = 2048
const mostParts = 512

/** Bytes of all parts that wait in memory to be written, and of one part at the most. */
const mostWaiting = 12 * 1024 * 1024
const mostWaitingOfPart = 32 * 1024

/** Bytes that are read at once, if it is not one prompt that has more. */
const mostRead = 32 * 1024 * 1024

/** @param prompts how many there are */
export const make = Effect.fnUntraced(function* ({ append, run, sort }: Scratch.Scratch, prompts: number) {
  yield* run("CREATE TABLE piece (id INTEGER PRIMARY KEY, part INTEGER, rows BLOB)")

  const promptsOfPart = Math.max(leastPrompts, Math.ceil(prompts / mostParts))
  const partOf = (rank: number): number => Math.floor((rank - 1) / promptsOfPart)
  const parts = Math.ceil(prompts / promptsOfPart)
  const pieceBytes = Math.min(mostWaitingOfPart, Math.floor(mostWaiting / Math.max(1, parts)))
  const waiting = Array.from({ length: parts }, () => ({ bytes: new Uint8Array(pieceBytes), used: 0 }))
  const insert = (rows: ReadonlyArray<JoinRow.JoinRow>): Effect.Effect<void, SourceError> =>
    Effect.suspend(() => {
      const full: Array<readonly [part: number, bytes: Uint8Array]> = []
      for (const row of rows) {
        const part = partOf(row.rank)
        const piece = waiting[part]!
        const written = JoinRow.prepare(row)
        if (piece.used + written.mostBytes > pieceBytes && piece.used > 0) {
          full.push([part, piece.bytes.subarray(0, piece.used)])
          piece.bytes = new Uint8Array(pieceBytes)
          piece.used = 0
        }
        if (written.mostBytes <= pieceBytes) piece.used = JoinRow.write(written, piece.bytes, piece.used)
        else {
          const own = new Uint8Array(written.mostBytes)
          full.push([part, own.subarray(0, JoinRow.write(written, own, 0))])
        }
      }
      return append(pieces, full)
    })

  const flush = Effect.suspend(() => {
    const last = waiting.map(({ bytes, used }, part) => [part, bytes.subarray(0, used)] as const)
    waiting.length = 0
    return append(
      pieces,
      last.filter(([, bytes]) => bytes.length > 0),
    )
  })

  /** Makes the rows ready to be read: call it once, after the last of them. */
  const index = Effect.all([flush, sort("CREATE INDEX piece_part ON piece (part)"), run("PRAGMA shrink_memory")], {
    discard: true,
  })

  /** Neighbouring prompts whose completions are read at once, in order. */
  const ranges: Stream.Stream<Range, SourceError> = Stream.range(0, parts - 1).pipe(
    Stream.mapEffect((part) =>
      Effect.map(
        run<{ readonly size: number | null }>("SELECT sum(length(rows)) AS size FROM piece WHERE part = ?", [part]),
        ([sum]): ReadonlyArray<Range> => {
          const from = part * promptsOfPart + 1
          const to = Math.min(prompts, from + promptsOfPart - 1)
          const step = Math.ceil((to - from + 1) / Math.ceil(Math.max(1, sum?.size ?? 0) / mostRead))
          return Array.from({ length: Math.ceil((to - from + 1) / step) }, (_, i) => ({
            from: from + i * step,
            to: Math.min(to, from + (i + 1) * step - 1),
          }))
        },
      ),
    ),
    Stream.flattenIterable,
  )

  /** Those of one of the `ranges`, in the order in which they were written, in arrays. */
  const read = (range: Range): Stream.Stream<ReadonlyArray<JoinRow.Written>, SourceError> =>
    Stream.fromIterableEffect(
      run<{ readonly id: number }>("SELECT id FROM piece WHERE part = ? ORDER BY id", [partOf(range.from)]),
    ).pipe(
      Stream.mapEffect(({ id }) => run<{ readonly rows: Uint8Array }>("SELECT rows FROM piece WHERE id = ?", [id])),
      Stream.map(([piece]) => JoinRow.find(piece!.rows, range)),
    )

  return { insert, index, ranges, read }
})
