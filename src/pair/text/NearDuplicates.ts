/**
 * Finds the earlier prompts that a prompt nearly repeats. Later prompts do not change the result. Prompts with equal
 * normal forms count as one. A signature has 18 bands of 6 bytes. Two signatures are compared only if they have an
 * equal band. At a Jaccard index of 0.8, they have an equal band with probability 0.996 (Leskovec, Rajaraman, and
 * Ullman, 2020, "Mining of massive datasets", 3.4). For each band, a prompt is compared with at most 32 earlier
 * prompts. Memory: 10 MB, plus 25 bytes per prompt during a search. Disk: 120 bytes per prompt. Limit: 2^26 prompts.
 */
import { Effect } from "effect"
import * as ScratchFile from "../../node/ScratchFile.ts"
import type { ThreadFailed } from "../../node/Thread.ts"
import * as MinHash from "./MinHash.ts"
import * as Signatures from "./Signatures.ts"
import { hashBytes, recordBytes } from "./SignatureStage.ts"

export type Visit<A> = (earlier: number, later: number) => A

export interface NearDuplicates {
  /** Adds the next prompt. Run `room` after every few prompts, because prompts wait in memory. */
  readonly add: (prompt: string) => void
  readonly room: Effect.Effect<void, SearchFailed>
  /** Calls `onPair` for each pair of near-duplicates that `isWanted` accepts, perhaps several times for one pair. */
  readonly search: (isWanted: Visit<boolean>, onPair: Visit<void>) => Effect.Effect<void, SearchFailed>
  /** For each prompt, the ordinal of the earliest prompt that it nearly repeats, or its own ordinal. */
  readonly earliest: Effect.Effect<Uint32Array, SearchFailed>
}

/** The scratch file failed, or the thread that computes signatures ended. */
export type SearchFailed = ScratchFile.ScratchFileFailed | ThreadFailed

const bands = 18
const bandBytes = 6
const maxInBand = 32
/** Maximum number of prompts. For sorting, each prompt is a number of 53 bits: 27 of a hash, and 26 of the ordinal. */
export const maxCount = 2 ** 26
const wordsPerSignature = MinHash.signatureBytes / 4

export const defaultThreshold = 0.8

/** @param threshold the minimum estimated Jaccard index of near-duplicates, above 0 and at most 1 */
export const make = Effect.fnUntraced(function* (threshold = defaultThreshold, directory?: string) {
  const signatures = yield* Signatures.make(yield* ScratchFile.temporary(directory))

  const search: NearDuplicates["search"] = Effect.fnUntraced(function* (isWanted, onPair) {
    yield* signatures.flush
    const keys = makeKeys(signatures)
    const isRepeat = new Uint8Array(signatures.count())
    yield* ScratchFile.attempt(() =>
      keys.forEachGroup(0, hashBytes, isRepeat, ([first, ...others]) => {
        for (const other of others) {
          isRepeat[other] = 1
          if (isWanted(first!, other)) onPair(first!, other)
        }
      }),
    )
    const compare = makeComparison(signatures, threshold)
    for (let band = 0; band < bands; band++) {
      // With a million prompts, one pass of the loop takes a fraction of a second. Other fibers run between passes.
      yield* Effect.yieldNow
      const start = hashBytes + band * bandBytes
      yield* ScratchFile.attempt(() =>
        keys.forEachGroup(start, bandBytes, isRepeat, (group) => compare(group, isWanted, onPair)),
      )
    }
  })

  return {
    add: signatures.add,
    room: signatures.room,
    search,
    earliest: Effect.gen(function* () {
      yield* signatures.flush
      const earliest = Uint32Array.from({ length: signatures.count() }, (_, ordinal) => ordinal)
      yield* search(
        (earlier, later) => earlier < earliest[later]!,
        (earlier, later) => void (earliest[later] = earlier),
      )
      return earliest
    }),
  } satisfies NearDuplicates
})

const makeKeys = (signatures: Signatures.Signatures) => {
  const count = signatures.count()
  const low = new Uint32Array(count)
  const high = new Uint32Array(count)
  const numbers = new Float64Array(count)

  const read = (start: number, bytes: number, isLeftOut: Uint8Array): number => {
    let size = 0
    signatures.forEachBlock((block, first, records) => {
      for (let record = 0, at = start; record < records; record++, at += recordBytes) {
        const ordinal = first + record
        if (isLeftOut[ordinal] === 1) continue
        const one = (low[ordinal] = block.getUint32(at))
        const other = (high[ordinal] = bytes === 8 ? block.getUint32(at + 4) : block.getUint16(at + 4))
        const hash = Math.imul(one, 0x85ebca6b) ^ Math.imul(other, 0xc2b2ae35)
        numbers[size++] = (Math.imul(hash ^ (hash >>> 15), 0x27d4eb2f) >>> 5) * maxCount + ordinal
      }
    })
    return size
  }

  return {
    forEachGroup: (
      start: number,
      bytes: number,
      isLeftOut: Uint8Array,
      visit: (group: ReadonlyArray<number>) => void,
    ): void => {
      const sorted = numbers.subarray(0, read(start, bytes, isLeftOut))
      sorted.sort()
      const hashAt = (at: number): number => Math.floor(sorted[at]! / maxCount)
      for (let first = 0, end = 1; first < sorted.length; first = end++) {
        const hash = hashAt(first)
        while (end < sorted.length && hashAt(end) === hash) end++
        if (end - first === 1) continue
        let group: Array<number> = []
        for (let at = first; at < end; at++) group.push(sorted[at]! % maxCount)
        while (group.length > 1) {
          const one = group[0]!
          const isEqual = (other: number) => low[other] === low[one] && high[other] === high[one]
          const others = group.every(isEqual) ? [] : group.filter((other) => !isEqual(other))
          const equal = others.length === 0 ? group : group.filter(isEqual)
          if (equal.length > 1) visit(equal)
          group = others
        }
      }
    },
  }
}

const makeComparison = (signatures: Signatures.Signatures, threshold: number) => {
  const ofFirst = Array.from({ length: maxInBand }, () => new Int32Array(wordsPerSignature))
  const ofLater = new Int32Array(wordsPerSignature)
  const read = (ordinal: number, words: Int32Array) => signatures.read(ordinal, new Uint8Array(words.buffer))

  return (group: ReadonlyArray<number>, isWanted: Visit<boolean>, onPair: Visit<void>): void => {
    let readCount = 0
    for (let i = 1; i < group.length; i++) {
      const later = group[i]!
      let isRead = false
      for (let first = 0; first < Math.min(i, maxInBand); first++) {
        const earlier = group[first]!
        if (!isWanted(earlier, later)) continue
        if (!isRead) read(later, ofLater)
        isRead = true
        for (; readCount <= first; readCount++) read(group[readCount]!, ofFirst[readCount]!)
        if (MinHash.fromEqualBytes(equalBytes(ofFirst[first]!, ofLater)) >= threshold) onPair(earlier, later)
      }
    }
  }
}

const equalBytes = (one: Int32Array, other: Int32Array): number => {
  let equal = 0
  for (let i = 0; i < wordsPerSignature; i++) {
    const differing = one[i]! ^ other[i]!
    // Sets the high bit of each byte that is 0 in `differing` (Warren, 2012, "Hacker's Delight", 6-1).
    const zero = ~(((differing & 0x7f7f7f7f) + 0x7f7f7f7f) | differing | 0x7f7f7f7f)
    equal += Math.imul(zero >>> 7, 0x01010101) >>> 24
  }
  return equal
}
