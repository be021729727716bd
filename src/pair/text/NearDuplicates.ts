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
  /** The same, but only whether it nearly repeats any, which is faster. */
  readonly addAndTest: (normal: string) => boolean
}

const none: Match = { earlier: [], similarity: 0 }

const bands = 18
const maxInBand = 32
/** Of a count up to that. There can be 2^26 prompts. */
const countBits = 6

/** @param threshold the least estimated Jaccard index of near-duplicates: above 0, at most 1 */
export const make = (threshold = 0.8): NearDuplicates => {
  const store = makeStore()
  const exact = makeTable(
    (entry) => store.high(entry),
    (one, other) => store.high(one) === store.high(other) && store.low(one) === store.low(other),
  )
  const byBand = Array.from({ length: bands }, (_, band) =>
    makeTable(
      (entry) => store.bandHash(entry, band),
      (one, other) => store.isBandEqual(one, other, band),
    ),
  )
  let prompts = 0

  /** Compares with earlier prompts until at most `limit` are found. */
  const add = (normal: string, limit: number): Match => {
    const next = store.add(prompts++, NormalizedPrompt.hash(normal))
    const equal = exact.find(next)
    if (equal !== -1) {
      store.removeLast()
      return { earlier: [store.ordinal(equal)], similarity: 1 }
    }
    exact.set(next)
    store.sign(next, normal)
    const alike: Array<readonly [entry: number, similarity: number]> = []
    for (let band = 0; band < bands; band++) {
      const table = byBand[band]!
      const latest = table.find(next)
      for (let other = latest; other !== -1 && alike.length < limit; other = store.previous(other, band)) {
        if (!store.isFirstLook(other, next)) continue
        const similarity = MinHash.fromEqualBytes(store.equalBytes(next, other))
        if (similarity >= threshold) alike.push([other, similarity])
      }
      if (store.setPrevious(next, band, latest)) table.set(next)
    }
    if (alike.length === 0) return none
    alike.sort(([a], [b]) => a - b)
    return { earlier: alike.map(([other]) => store.ordinal(other)), similarity: alike[0]![1] }
  }

  return {
    add: (normal) => add(normal, Infinity),
    addAndTest: (normal) => add(normal, 1).earlier.length > 0,
  }
}

/**
 * Prompts' signatures, ordinals and hashes, in blocks, so that growing copies nothing; and for each band the prompt
 * before that shares it.
 */
const makeStore = () => {
  const blockBits = 12
  const perBlock = 1 << blockBits
  const wordsPerSignature = MinHash.signatureBytes / 4
  const ordinalAt = wordsPerSignature
  const highAt = ordinalAt + 1
  const lowAt = highAt + 1
  const lookAt = lowAt + 1
  const previousAt = lookAt + 1
  const wordsPerRecord = previousAt + bands
  const bytes: Array<Uint8Array> = []
  const halves: Array<Uint16Array> = []
  const words: Array<Int32Array> = []
  let size = 0

  const blockOf = (entry: number): Int32Array => words[entry >>> blockBits]!
  const startOf = (entry: number): number => (entry & (perBlock - 1)) * wordsPerRecord
  /** One more than the entry before, and how many share the band up to this one. */
  const linkOf = (entry: number, band: number): number => blockOf(entry)[startOf(entry) + previousAt + band]!

  return {
    ordinal: (entry: number): number => blockOf(entry)[startOf(entry) + ordinalAt]! >>> 0,
    high: (entry: number): number => blockOf(entry)[startOf(entry) + highAt]!,
    low: (entry: number): number => blockOf(entry)[startOf(entry) + lowAt]!,

    /** An entry without its signature. */
    add: (ordinal: number, digest: string): number => {
      if (size >>> blockBits === words.length) {
        const block = new Int32Array(perBlock * wordsPerRecord)
        words.push(block)
        bytes.push(new Uint8Array(block.buffer))
        halves.push(new Uint16Array(block.buffer))
      }
      const high = Number.parseInt(digest.slice(0, 8), 16)
      const low = Number.parseInt(digest.slice(8), 16)
      blockOf(size).set([ordinal, high, low, -1], startOf(size) + ordinalAt)
      return size++
    },
    removeLast: (): void => void size--,
    sign: (entry: number, normal: string): void =>
      MinHash.write(normal, bytes[entry >>> blockBits]!, startOf(entry) * 4),

    /** Whether nobody has looked at this entry for that one yet. */
    isFirstLook: (entry: number, forEntry: number): boolean => {
      const [block, at] = [blockOf(entry), startOf(entry) + lookAt]
      if (block[at] === forEntry) return false
      block[at] = forEntry
      return true
    },
    /** The entry before this one that shares its band; −1 if there is none. */
    previous: (entry: number, band: number): number => (linkOf(entry, band) >>> countBits) - 1,
    /** Whether there are not too many that share the band already. */
    setPrevious: (entry: number, band: number, previous: number): boolean => {
      const count = previous === -1 ? 0 : linkOf(previous, band) & (2 ** countBits - 1)
      if (count === maxInBand) return false
      blockOf(entry)[startOf(entry) + previousAt + band] = ((previous + 1) << countBits) | (count + 1)
      return true
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

/** The latest of equal entries, by a hash: open addressing with linear probing, at most two thirds full. */
const makeTable = (hashOf: (entry: number) => number, isEqual: (one: number, other: number) => boolean) => {
  let slots = new Uint32Array(64)
  let size = 0

  /** The slot of the entries that are equal to this one, or where it would stand. */
  const slotOf = (entry: number): number => {
    const hash = hashOf(entry)
    let at = (hash ^ (hash >>> 16)) & (slots.length - 1)
    while (slots[at] !== 0 && !isEqual(slots[at]! - 1, entry)) at = (at + 1) & (slots.length - 1)
    return at
  }

  return {
    /** The latest entry that is equal to this one; −1 if there is none. */
    find: (entry: number): number => slots[slotOf(entry)]! - 1,
    /** Makes this the latest of the entries that are equal to it. */
    set: (entry: number): void => {
      const slot = slotOf(entry)
      if (slots[slot] === 0) size++
      slots[slot] = entry + 1
      if (size * 3 <= slots.length * 2) return
      const before = slots
      slots = new Uint32Array(before.length * 2)
      for (const kept of before) if (kept !== 0) slots[slotOf(kept - 1)] = kept
    },
  }
}
