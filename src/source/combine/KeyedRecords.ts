/**
 * Records that are found by the numbers of their keys, in a scratch file: a partitioned hash join (Kitsuregawa, Tanaka,
 * Moto-oka 1983). Each partition is a range of consecutive key numbers, so that keys come back in order.
 *
 * Guarantees: records come back in batches of at most `maxBatchBytes`, unless one key alone exceeds it. Those of a
 * key are in the order in which they were added.
 */
import type { Located, Place, Scratch } from "./Scratch.ts"

/** Keys per list (partition) of records; a list that is small enough is read in one piece. */
const keysPerList = 2048

export const maxBatchBytes = 32 * 1024 * 1024

export interface Batch {
  /** Ranks are the numbers of keys: the first one, and the one after the last. */
  readonly from: number
  readonly to: number
  /** Of one key that has more than `maxBatchBytes`, the number of its records. */
  readonly largeCount?: number
  readonly records: () => Generator<Located>
}

/** The list for a key's records. @param firstList of those that have nothing else */
export const listOf = (rank: number, firstList: number): number => firstList + Math.floor(rank / keysPerList)

/** @param count of the keys */
export const batches = function* (scratch: Scratch, firstList: number, count: number): Generator<Batch> {
  for (let first = 0, list = firstList; first < count; first += keysPerList, list++) {
    const end = Math.min(count, first + keysPerList)
    if (scratch.sizeOf(list) > maxBatchBytes) yield* batchesOfLarge(scratch, list, first, end)
    else yield { from: first, to: end, records: () => scratch.records(list) }
  }
}

/** Of a list that is not read in one piece, memory holds where its records are. */
const batchesOfLarge = function* (scratch: Scratch, list: number, first: number, end: number): Generator<Batch> {
  const places = byRank(placesIn(scratch.records(list)))
  let from = first
  let taken: Array<Place> = []
  let bytes = 0
  for (let rank = first; rank < end; rank++) {
    const some = places.get(rank) ?? []
    const size = some.reduce((sum, { size }) => sum + size, 0)
    if (rank > from && bytes + size > maxBatchBytes) {
      yield toBatch(scratch, from, rank, taken, bytes)
      from = rank
      taken = []
      bytes = 0
    }
    for (const place of some) taken.push(place)
    bytes += size
  }
  yield toBatch(scratch, from, end, taken, bytes)
}

const placesIn = function* (records: Iterable<Located>): Generator<Place> {
  for (const { position, rank, size } of records) yield { position, rank, size }
}

const toBatch = (scratch: Scratch, from: number, to: number, places: ReadonlyArray<Place>, bytes: number): Batch => ({
  from,
  to,
  ...(bytes > maxBatchBytes ? { largeCount: places.length } : undefined),
  records: function* () {
    for (const place of places) yield scratch.locate(place)
  },
})

/** All of them in memory. */
export const byRank = <A extends Place>(records: Iterable<A>): ReadonlyMap<number, ReadonlyArray<A>> => {
  const found = new Map<number, Array<A>>()
  for (const record of records) {
    const others = found.get(record.rank)
    if (others === undefined) found.set(record.rank, [record])
    else others.push(record)
  }
  return found
}
