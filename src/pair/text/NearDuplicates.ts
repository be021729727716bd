/**
 * Finds, for each prompt of a sequence, the earlier prompts that it nearly repeats.
 *
 * Guarantees: the result depends on earlier prompts only. Of prompts with the same normal form, the first represents
 * all. Memory: about 300 bytes per normal form, outside the JavaScript heap.
 * Not guaranteed: all of them. Signatures are compared if one of 18 bands of 6 bytes is equal (Leskovec, Rajaraman and
 * Ullman, 2020, "Mining of massive datasets", 3.4): at a Jaccard index of 0.8, with a probability of 0.996; the
 * estimated index has a standard deviation of 0.04. Only the first 32 prompts are found by a shared band.
 */
import * as MinHash from "./MinHash.ts"
import * as NormalizedPrompt from "./NormalizedPrompt.ts"

/** What a prompt resembles. */
export interface Match {
  /** The prompts that this one nearly repeats, as zero-based ordinals, earliest first; of equal normal forms only the first. */
  readonly earlier: ReadonlyArray<number>
  /** The estimated Jaccard index of the prompt and the first of them; 1 where the normal forms are equal, 0 where there is none. */
  readonly similarity: number
}

export interface NearDuplicates {
  /** Takes the next prompt, in normal form. */
  readonly add: (normal: string) => Match
}

const none: Match = { earlier: [], similarity: 0 }

const bands = 18
const maxInBand = 32

/** @param threshold the least estimated Jaccard index of near-duplicates: above 0, at most 1 */
export const make = (threshold = 0.8): NearDuplicates => {
  const store = makeStore()
  const exact = makeTable((entry) => store.high(entry))
  const byBand = Array.from({ length: bands }, (_, band) => makeTable((entry) => store.bandHash(entry, band)))
  let prompts = 0

  return {
    add: (normal) => {
      const ordinal = prompts++
      const digest = NormalizedPrompt.hash(normal)
      const high = Number.parseInt(digest.slice(0, 8), 16) | 0
      const low = Number.parseInt(digest.slice(8), 16) | 0

      let equal = exact.first(high)
      while (equal !== -1 && !(store.high(equal) === high && store.low(equal) === low)) equal = exact.next()
      if (equal !== -1) return { earlier: [store.ordinal(equal)], similarity: 1 }

      const next = store.add(ordinal, high, low, normal)
      const compared = new Map<number, number>()
      for (let band = 0; band < bands; band++) {
        const table = byBand[band]!
        let sharing = 0
        for (let other = table.first(store.bandHash(next, band)); other !== -1; other = table.next()) {
          if (!store.isBandEqual(next, other, band)) continue
          sharing++
          if (!compared.has(other)) compared.set(other, MinHash.fromEqualBytes(store.equalBytes(next, other)))
        }
        if (sharing < maxInBand) table.insert(next)
      }
      exact.insert(next)
      const alike = [...compared].filter(([, similarity]) => similarity >= threshold).toSorted(([a], [b]) => a - b)
      return alike.length === 0
        ? none
        : { earlier: alike.map(([other]) => store.ordinal(other)), similarity: alike[0]![1] }
    },
  }
}

/** Prompts' signatures, hashes and ordinals, in blocks, so that growing copies nothing. */
const makeStore = () => {
  const blockBits = 12
  const perBlock = 1 << blockBits
  const wordsPerSignature = MinHash.signatureBytes / 4
  const wordsPerRecord = wordsPerSignature + 3
  const bytes: Array<Uint8Array> = []
  const halves: Array<Uint16Array> = []
  const words: Array<Int32Array> = []
  let size = 0

  const blockOf = (entry: number): Int32Array => words[entry >>> blockBits]!
  const startOf = (entry: number): number => (entry & (perBlock - 1)) * wordsPerRecord

  return {
    ordinal: (entry: number): number => blockOf(entry)[startOf(entry) + wordsPerSignature]! >>> 0,
    high: (entry: number): number => blockOf(entry)[startOf(entry) + wordsPerSignature + 1]!,
    low: (entry: number): number => blockOf(entry)[startOf(entry) + wordsPerSignature + 2]!,

    add: (ordinal: number, high: number, low: number, normal: string): number => {
      if (size >>> blockBits === words.length) {
        const block = new Int32Array(perBlock * wordsPerRecord)
        words.push(block)
        bytes.push(new Uint8Array(block.buffer))
        halves.push(new Uint16Array(block.buffer))
      }
      blockOf(size).set([ordinal, high, low], startOf(size) + wordsPerSignature)
      MinHash.write(normal, bytes[size >>> blockBits]!, startOf(size) * 4)
      return size++
    },

    bandHash: (entry: number, band: number): number => {
      const at = startOf(entry) * 2 + 3 * band
      const half = halves[entry >>> blockBits]!
      const low = half[at]! | (half[at + 1]! << 16)
      const hash = Math.imul(low, 0x85ebca6b) ^ Math.imul(half[at + 2]!, 0xc2b2ae35)
      return Math.imul(hash ^ (hash >>> 15), 0x27d4eb2f)
    },
    isBandEqual: (one: number, other: number, band: number): boolean => {
      const [a, b] = [startOf(one) * 2 + 3 * band, startOf(other) * 2 + 3 * band]
      const [x, y] = [halves[one >>> blockBits]!, halves[other >>> blockBits]!]
      return x[a] === y[b] && x[a + 1] === y[b + 1] && x[a + 2] === y[b + 2]
    },
    equalBytes: (one: number, other: number): number => {
      const [a, b] = [startOf(one), startOf(other)]
      const [x, y] = [blockOf(one), blockOf(other)]
      let equal = 0
      for (let i = 0; i < wordsPerSignature; i++) {
        const differing = x[a + i]! ^ y[b + i]!
        // The high bit of each byte that is zero (Warren, 2012, "Hacker's Delight", 6-1).
        const zero = ~(((differing & 0x7f7f7f7f) + 0x7f7f7f7f) | differing | 0x7f7f7f7f)
        equal += Math.imul(zero >>> 7, 0x01010101) >>> 24
      }
      return equal
    },
  }
}

/** Entries by a hash that can be told from their number: open addressing with linear probing, at most two thirds full. */
const makeTable = (hashOf: (entry: number) => number) => {
  let slots = new Uint32Array(64)
  let size = 0
  let at = 0

  const startOf = (hash: number): number => (hash ^ (hash >>> 16)) & (slots.length - 1)
  /** The entry at the current slot, −1 if it is empty. */
  const here = (): number => slots[at]! - 1
  const next = (): number => {
    at = (at + 1) & (slots.length - 1)
    return here()
  }
  const place = (entry: number): void => {
    at = startOf(hashOf(entry))
    while (here() !== -1) next()
    slots[at] = entry + 1
  }

  return {
    /** The first entry that may have this hash; −1 if there is none, or no more. */
    first: (hash: number): number => {
      at = startOf(hash)
      return here()
    },
    next,
    insert: (entry: number): void => {
      size++
      if (size * 3 > slots.length * 2) {
        const before = slots
        slots = new Uint32Array(before.length * 2)
        for (const slot of before) if (slot !== 0) place(slot - 1)
      }
      place(entry)
    },
  }
}
