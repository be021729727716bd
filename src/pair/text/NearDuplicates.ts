/**
 * Finds, for each prompt of a sequence, the first earlier prompt that it nearly repeats.
 *
 * Guarantees: what is found for a prompt follows from the prompts before it alone. A prompt that
 * nearly repeats none is a leader; every other one follows the earliest leader that it resembles,
 * so followers are alike to their leader, not always to one another. Equal normal forms always
 * have the same leader. About 250 bytes for each leader, outside the JavaScript heap; nothing is
 * kept of followers.
 *
 * Not guaranteed: that each near-duplicate is found. Signatures are compared where one of 14
 * bands of 8 bytes is equal (locality-sensitive hashing: Leskovec, Rajaraman and Ullman, 2020,
 * "Mining of massive datasets", 3.4, with the bands of datatrove for FineWeb), which of two texts
 * with a Jaccard index of 0.8 happens with probability 1 − (1 − 0.8⁸)¹⁴ = 0.92, of 0.9 with
 * 0.9996. Where more than 32 leaders share a band, later ones are not found by it.
 *
 * Two texts of one long template with little that differs are near-duplicates, too.
 */
import * as MinHash from "./MinHash.ts"
import * as NormalisedPrompt from "./NormalisedPrompt.ts"

export interface Finding {
  /** The leaders that the prompt nearly repeats, as zero-based ordinals among all prompts, earliest first; none of a leader itself. */
  readonly leaders: ReadonlyArray<number>
  /** The estimated Jaccard index of the prompt and the first of them; 1 where the normal forms are equal, 0 where there is none. */
  readonly similarity: number
}

export interface NearDuplicates {
  /** Takes the next prompt, in normal form. */
  readonly add: (normal: string) => Finding
  /** How many prompts nearly repeat none before them. */
  readonly leaders: () => number
}

const none: Finding = { leaders: [], similarity: 0 }

const bands = 14
const mostInBand = 32

/** @param threshold the least estimated Jaccard index of near-duplicates: above 0, at most 1 */
export const make = (threshold = 0.8): NearDuplicates => {
  const store = makeStore()
  const exact = makeTable((leader) => store.high(leader))
  const byBand = Array.from({ length: bands }, (_, band) => makeTable((leader) => store.bandHash(leader, band)))
  let prompts = 0

  return {
    leaders: store.size,
    add: (normal) => {
      const ordinal = prompts++
      const digest = NormalisedPrompt.hash(normal)
      const high = Number.parseInt(digest.slice(0, 8), 16) | 0
      const low = Number.parseInt(digest.slice(8), 16) | 0
      const next = store.propose(ordinal, high, low)

      let leader = exact.first(high)
      while (leader !== -1 && !(store.high(leader) === high && store.low(leader) === low)) leader = exact.next()
      if (leader !== -1) return { leaders: [store.ordinal(leader)], similarity: 1 }

      store.sign(normal)
      const found = new Map<number, number>()
      const isFull: Array<boolean> = []
      for (let band = 0; band < bands; band++) {
        const table = byBand[band]!
        let sharing = 0
        for (let other = table.first(store.bandHash(next, band)); other !== -1; other = table.next()) {
          if (!store.isBandEqual(next, other, band)) continue
          sharing++
          if (!found.has(other)) found.set(other, MinHash.fromEqualBytes(store.equalBytes(next, other)))
        }
        isFull.push(sharing >= mostInBand)
      }
      const alike = [...found].filter(([, similarity]) => similarity >= threshold).toSorted(([a], [b]) => a - b)
      if (alike.length > 0) {
        return { leaders: alike.map(([other]) => store.ordinal(other)), similarity: alike[0]![1] }
      }
      store.accept()
      exact.insert(next)
      for (let band = 0; band < bands; band++) if (!isFull[band]!) byBand[band]!.insert(next)
      return none
    },
  }
}

/** Leaders' signatures, hashes and ordinals, in blocks, so that growing copies nothing. */
const makeStore = () => {
  const blockBits = 12
  const perBlock = 1 << blockBits
  const wordsPerSignature = MinHash.signatureBytes / 4
  const wordsPerRecord = wordsPerSignature + 3
  const bytes: Array<Uint8Array> = []
  const words: Array<Int32Array> = []
  let size = 0

  const blockOf = (leader: number): Int32Array => words[leader >>> blockBits]!
  const startOf = (leader: number): number => (leader & (perBlock - 1)) * wordsPerRecord

  return {
    size: () => size,
    ordinal: (leader: number): number => blockOf(leader)[startOf(leader) + wordsPerSignature]! >>> 0,
    high: (leader: number): number => blockOf(leader)[startOf(leader) + wordsPerSignature + 1]!,
    low: (leader: number): number => blockOf(leader)[startOf(leader) + wordsPerSignature + 2]!,

    /** Prepares a record after the last one, which counts once it is accepted. */
    propose: (ordinal: number, high: number, low: number): number => {
      if (size >>> blockBits === words.length) {
        const block = new Int32Array(perBlock * wordsPerRecord)
        words.push(block)
        bytes.push(new Uint8Array(block.buffer))
      }
      blockOf(size).set([ordinal, high, low], startOf(size) + wordsPerSignature)
      return size
    },
    sign: (normal: string): void => MinHash.write(normal, bytes[size >>> blockBits]!, startOf(size) * 4),
    accept: (): void => void size++,

    bandHash: (leader: number, band: number): number => {
      const at = startOf(leader) + 2 * band
      const block = blockOf(leader)
      const hash = Math.imul(block[at]!, 0x85ebca6b) ^ Math.imul(block[at + 1]!, 0xc2b2ae35)
      return Math.imul(hash ^ (hash >>> 15), 0x27d4eb2f)
    },
    isBandEqual: (one: number, other: number, band: number): boolean => {
      const [a, b] = [startOf(one) + 2 * band, startOf(other) + 2 * band]
      const [x, y] = [blockOf(one), blockOf(other)]
      return x[a] === y[b] && x[a + 1] === y[b + 1]
    },
    equalBytes: (one: number, other: number): number => {
      const [a, b] = [startOf(one) * 4, startOf(other) * 4]
      const [x, y] = [bytes[one >>> blockBits]!, bytes[other >>> blockBits]!]
      let equal = 0
      for (let i = 0; i < MinHash.signatureBytes; i++) if (x[a + i] === y[b + i]) equal++
      return equal
    },
  }
}

/** Leaders by a hash that can be told from their number: open addressing with linear probing, at most half full. */
const makeTable = (hashOf: (leader: number) => number) => {
  let slots = new Uint32Array(64)
  let size = 0
  let at = 0

  const startOf = (hash: number): number => (hash ^ (hash >>> 16)) & (slots.length - 1)
  /** The leader at the slot that is looked at, −1 where the slot is empty. */
  const here = (): number => slots[at]! - 1
  const next = (): number => {
    at = (at + 1) & (slots.length - 1)
    return here()
  }
  const place = (leader: number): void => {
    at = startOf(hashOf(leader))
    while (here() !== -1) next()
    slots[at] = leader + 1
  }

  return {
    /** The first leader that may have this hash; −1 says that there is none, or no more. */
    first: (hash: number): number => {
      at = startOf(hash)
      return here()
    },
    next,
    insert: (leader: number): void => {
      size++
      if (size * 2 > slots.length) {
        const before = slots
        slots = new Uint32Array(before.length * 2)
        // From the first leader to the last, as they were found before.
        for (const entry of before) if (entry !== 0) place(entry - 1)
      }
      place(leader)
    },
  }
}
