/** Reads a scratch file in batches of keys. A batch has at most `maxBatchBytes`, unless a single key has more bytes. */
import type { Located, Place, Scratch } from "./Scratch.ts"

const keysPerList = 2048

export const maxBatchBytes = 32 * 1024 * 1024

export interface Batch {
  readonly from: number
  readonly to: number
  readonly largeCount?: number
  readonly records: () => Generator<Located>
}

export const listOf = (rank: number, firstList: number): number => firstList + Math.floor(rank / keysPerList)

export const batches = function* (scratch: Scratch, firstList: number, count: number): Generator<Batch> {
  for (let first = 0, list = firstList; first < count; first += keysPerList, list++) {
    const end = Math.min(count, first + keysPerList)
    if (scratch.sizeOf(list) > maxBatchBytes) yield* batchesOfLarge(scratch, list, first, end)
    else yield { from: first, to: end, records: () => scratch.records(list) }
  }
}

const batchesOfLarge = function* (scratch: Scratch, list: number, first: number, end: number): Generator<Batch> {
  const places = byRank(placesIn(scratch.records(list)))
  let from = first
  let batchPlaces: Array<Place> = []
  let bytes = 0
  for (let rank = first; rank < end; rank++) {
    const rankPlaces = places.get(rank) ?? []
    const size = rankPlaces.reduce((sum, { size }) => sum + size, 0)
    if (rank > from && bytes + size > maxBatchBytes) {
      yield toBatch(scratch, from, rank, batchPlaces, bytes)
      from = rank
      batchPlaces = []
      bytes = 0
    }
    for (const place of rankPlaces) batchPlaces.push(place)
    bytes += size
  }
  yield toBatch(scratch, from, end, batchPlaces, bytes)
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

export const byRank = <A extends Place>(records: Iterable<A>): ReadonlyMap<number, ReadonlyArray<A>> => {
  const recordsByRank = new Map<number, Array<A>>()
  for (const record of records) {
    const recordsOfRank = recordsByRank.get(record.rank)
    if (recordsOfRank === undefined) recordsByRank.set(record.rank, [record])
    else recordsOfRank.push(record)
  }
  return recordsByRank
}
