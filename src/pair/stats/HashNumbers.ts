/** Maps hashes to numbers. Memory: 16 to 32 bytes per hash, and 1.5 times as much while the table grows. */

const firstSlots = 64

export const make = () => {
  /** A slot is a hash plus one, or 0 if it is free (linear probing). At most three quarters of the slots are used. */
  let hashes = new Float64Array(firstSlots)
  let numbers = new Uint32Array(firstSlots)
  let size = 0

  const slotOf = (entry: number): number => {
    let slot = (entry >>> 0) & (hashes.length - 1)
    while (hashes[slot] !== 0 && hashes[slot] !== entry) slot = (slot + 1) & (hashes.length - 1)
    return slot
  }

  const grow = () => {
    const before = { hashes, numbers }
    hashes = new Float64Array(2 * hashes.length)
    numbers = new Uint32Array(hashes.length)
    before.hashes.forEach((entry, i) => {
      if (entry === 0) return
      const slot = slotOf(entry)
      hashes[slot] = entry
      numbers[slot] = before.numbers[i]!
    })
  }

  return {
    /** Returns a hash's stored number, or stores and returns `number`. @param hash uniformly distributed, below 2^52 */
    getOrSet: (hash: number, number: number): number => {
      const slot = slotOf(hash + 1)
      if (hashes[slot] !== 0) return numbers[slot]!
      hashes[slot] = hash + 1
      numbers[slot] = number
      if (4 * ++size > 3 * hashes.length) grow()
      return number
    },
  }
}
