/**
 * Records that are found by the numbers of their keys, in a scratch file: a hash join in partitions (Kitsuregawa, Tanaka,
 * Moto-oka 1983), with neighbors in the order of the keys for partitions, so that keys come back in their order.
 *
 * Guarantees: records come back in batches of at most `maxBatchBytes`, if it is not one key that has more. Those of a
 * key stand in the order in which they were added.
 */
import type { Located, Scratch } from "./Scratch.ts"

/** Keys whose records stand in one list, which is read at once where it is small enough. */
const keysPerList = 2048

export const maxBatchBytes = 32 * 1024 * 1024

export interface Batch {
  /** Ranks are the numbers of keys: the first one, and the one after the last. */
  readonly from: number
  readonly to: number
  /** Whether it is one key that has more than `maxBatchBytes`. */
  readonly isLarge: boolean
  readonly records: () => Generator<Located>
}

/** The list for a key's records. @param firstList of those that have nothing else */
export const listOf = (rank: number, firstList: number): number => firstList + Math.floor(rank / keysPerList)

/** @param count of the keys */
export const batches = function* (scratch: Scratch, firstList: number, count: number): Generator<Batch> {
  for (let first = 0, list = firstList; first < count; first += keysPerList, list++) {
    const end = Math.min(count, first + keysPerList)
    const all = () => scratch.records(list)
    if (scratch.sizeOf(list) <= maxBatchBytes) {
      yield { from: first, to: end, isLarge: false, records: all }
      continue
    }
    const sizes = new Float64Array(end - first)
    for (const { rank, size } of all()) sizes[rank - first]! += size
    let from = first
    let bytes = 0
    const batch = (to: number): Batch => ({ from, to, isLarge: bytes > maxBatchBytes, records: between(all, from, to) })
    for (let rank = first; rank < end; rank++) {
      const size = sizes[rank - first]!
      if (rank > from && bytes + size > maxBatchBytes) {
        yield batch(rank)
        from = rank
        bytes = 0
      }
      bytes += size
    }
    yield batch(end)
  }
}

const between = (all: () => Generator<Located>, from: number, to: number) =>
  function* () {
    for (const record of all()) if (record.rank >= from && record.rank < to) yield record
  }

/** All of them in memory. */
export const byRank = (records: Iterable<Located>): ReadonlyMap<number, ReadonlyArray<Located>> => {
  const found = new Map<number, Array<Located>>()
  for (const record of records) {
    const others = found.get(record.rank)
    if (others === undefined) found.set(record.rank, [record])
    else others.push(record)
  }
  return found
}
