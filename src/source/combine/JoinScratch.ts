/**
 * A join in a scratch database: prompts by their ranks, completions in parts by the ranks of their prompts.
 *
 * Guarantees: memory stays bounded however many and however large the records are. Of the rows of a
 * completions file with the same key the first one is found; later ones are left over, as are those that no prompt asks for.
 *
 * This is a hash join in partitions (Kitsuregawa, Tanaka and Moto-oka 1983, Application of Hash to Data Base Machine
 * and Its Architecture), with an index for the hash and neighbours in the prompts file for partitions, so that
 * items come in the order of the prompts.
 */
import { Effect, Stream } from "effect"
import type { Origin } from "../../domain/Origin.ts"
import type { Reject } from "../../domain/Reject.ts"
import { originOf, type Place } from "../record/Row.ts"
import type { SourceError } from "../record/SourceError.ts"
import * as JoinCompletions from "./JoinCompletions.ts"
import * as JoinRow from "./JoinRow.ts"
import * as JoinLeftovers from "./JoinUnmatched.ts"
import * as JoinPrompts from "./JoinPrompts.ts"
import * as Scratch from "./Scratch.ts"
import { describeValue } from "../../io/Values.ts"
import * as Key from "../record/Key.ts"
import * as ScratchText from "./ScratchText.ts"

/** A usable row of a completions file. */
export interface CompletionRow {
  readonly place: Place
  readonly key: string
  readonly completion: JoinRow.Completion
  readonly model: string | null
  readonly kept: string | null
}

/** A record of the prompts files, and what was found for it. */
export interface Joined {
  readonly record: JoinPrompts.KeyedRow | Reject
  /** The record that asks for the same key before. */
  readonly first: Origin | undefined
  /** In the order of the files. */
  readonly found: ReadonlyArray<JoinRow.JoinRow>
}

/** With all prompts in it. @param files names of the completions files, by which they are told in origins */
export const make = Effect.fnUntraced(function* <R>(
  files: ReadonlyArray<string>,
  records: Stream.Stream<JoinPrompts.KeyedRow | Reject, SourceError, R>,
  directory: string | undefined,
) {
  const scratch = yield* Scratch.make(directory)
  const prompts = yield* JoinPrompts.make(scratch)
  yield* Stream.runForEachArray(records, prompts.insert)
  yield* prompts.index
  const completions = yield* JoinCompletions.make(scratch, prompts.count())
  const leftovers = yield* JoinLeftovers.make(scratch, files)

  /** All records of one file, in arrays. */
  const insert = <R>(file: number, rows: Stream.Stream<CompletionRow | Reject, SourceError, R>) => {
    let number = 0
    return Stream.runForEachArray(
      rows,
      Effect.fnUntraced(function* (some) {
        const keyed = some.filter((row) => "key" in row)
        const ranks = (yield* prompts.ranksOf(keyed.map(({ key }) => key))).values()
        const wanted: Array<JoinRow.JoinRow> = []
        const unwanted: Array<JoinLeftovers.Leftover> = []
        for (const row of some) {
          number++
          const rank = "key" in row ? ranks.next().value : undefined
          if (!("key" in row)) {
            unwanted.push({ file, number, row })
            continue
          }
          const { completion, kept, key, model, place } = row
          const shown = describeValue(key)
          if (rank == null) {
            unwanted.push({ file, number, row: { place, key: Key.short(key), shown, first: undefined } })
            continue
          }
          const { raw } = place
          const cut = raw === undefined ? { places: null, rest: null } : ScratchText.cut(raw, [completion.text])
          wanted.push({ rank, file, number, origin: originOf(place), shown, completion, model, kept, ...cut })
        }
        yield* completions.insert(wanted)
        yield* leftovers.insert(unwanted)
      }),
    )
  }

  /** For each rank, the first row of each file; later ones are left over. */
  const gather = Effect.fnUntraced(function* (range: JoinPrompts.Range) {
    const found = new Map<number, Array<JoinRow.Written>>()
    yield* Stream.runForEach(completions.read(range), (rows) => {
      const twins: Array<JoinLeftovers.Leftover> = []
      for (const row of rows) {
        const others = found.get(row.rank)
        const first = others?.find(({ file }) => file === row.file)
        if (others === undefined) found.set(row.rank, [row])
        else if (first === undefined) others.push(row)
        else twins.push(toTwin(JoinRow.read(row, files), JoinRow.read(first, files).origin))
      }
      return leftovers.insert(twins)
    })
    return found
  })

  /** All records of the prompts files, in order. Run it when all completions were inserted. */
  const joined: Stream.Stream<Joined, SourceError> = Stream.fromEffect(completions.index).pipe(
    Stream.flatMap(() => completions.ranges),
    Stream.flatMap((range) =>
      Stream.unwrap(
        Effect.map(gather(range), (found) =>
          Stream.map(prompts.read(range), ({ first, rank, record }): Joined => ({
            record,
            first,
            found: (found.get(rank) ?? []).map((row) => JoinRow.read(row, files)),
          })),
        ),
      ),
    ),
  )

  return { insert, joined, leftovers: leftovers.rows }
})

const toTwin = (row: JoinRow.JoinRow, first: Origin): JoinLeftovers.Leftover => {
  const { completion, file, number, origin, places, rest, shown } = row
  const raw = rest === null || places === null ? undefined : ScratchText.restore({ rest, places }, [completion.text])
  return { file, number, row: { place: { ...origin, raw }, key: undefined, shown, first } }
}
