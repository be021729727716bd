/**
 * Numbers n-grams by their hash of 64 bits, in the order in which they are added.
 *
 * Guarantees: the same hash has the same number. About 24 bytes for each n-gram, outside the
 * JavaScript heap. Most n-grams that were never added are told by one look at a few bits.
 */

export interface GramTable {
  /** The number of an n-gram, a new one where it has none. */
  readonly add: (a: number, b: number) => number
  /** The number of an n-gram, −1 where it has none. */
  readonly find: (a: number, b: number) => number
  readonly size: () => number
}

export const make = (): GramTable => {
  let capacity = 1 << 10
  let size = 0
  let hashes = new Int32Array(capacity)
  let slots = new Int32Array(capacity)
  // A bit for each of the hashes that a slot could have, 16 bits to a slot.
  let bits = new Int32Array(capacity / 2)

  const spread = (a: number, b: number): number => {
    const h = Math.imul(a ^ (b >>> 16), 0x85ebca6b)
    return h ^ (h >>> 15)
  }

  /** The slot where the n-gram is, or where it would go. */
  const slotOf = (a: number, b: number): number => {
    let slot = spread(a, b) & (capacity - 1)
    for (;;) {
      const entry = slots[slot]!
      if (entry === 0) return slot
      if (hashes[2 * entry - 2] === a && hashes[2 * entry - 1] === b) return slot
      slot = (slot + 1) & (capacity - 1)
    }
  }
  const isMissing = (a: number, b: number): boolean => {
    const bit = spread(b, a) & (bits.length * 32 - 1)
    return (bits[bit >>> 5]! & (1 << (bit & 31))) === 0
  }
  const note = (a: number, b: number): void => {
    const bit = spread(b, a) & (bits.length * 32 - 1)
    bits[bit >>> 5]! |= 1 << (bit & 31)
  }
  const grow = (): void => {
    capacity *= 2
    const before = hashes
    hashes = new Int32Array(capacity)
    hashes.set(before)
    slots = new Int32Array(capacity)
    bits = new Int32Array(capacity / 2)
    for (let gram = 0; gram < size; gram++) {
      const [a, b] = [hashes[2 * gram]!, hashes[2 * gram + 1]!]
      slots[slotOf(a, b)] = gram + 1
      note(a, b)
    }
  }

  return {
    size: () => size,
    find: (a, b) => (isMissing(a, b) ? -1 : slots[slotOf(a, b)]! - 1),
    add: (a, b) => {
      if (2 * (size + 1) > capacity) grow()
      const slot = slotOf(a, b)
      if (slots[slot] === 0) {
        hashes[2 * size] = a
        hashes[2 * size + 1] = b
        size++
        slots[slot] = size
        note(a, b)
      }
      return slots[slot]! - 1
    },
  }
}
