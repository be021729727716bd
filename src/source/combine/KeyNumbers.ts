/** Gives each key a number from 0, in order of first occurrence. Memory: about 30 bytes per key, plus its length. */
const encoder = new TextEncoder()

/** Do not use `numbers` afterward: its buffer is transferred. */
export const grow = (numbers: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> =>
  length <= numbers.length
    ? numbers
    : new Uint32Array(numbers.buffer.transfer(4 * Math.max(length, 2 * numbers.length)))

export const growBytes = (bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> =>
  length <= bytes.length ? bytes : new Uint8Array(bytes.buffer.transfer(Math.max(length, 2 * bytes.length)))

export class KeyNumbers {
  #bytes = new Uint8Array(65_536)
  readonly #ends: Array<number> = []
  #hashes = new Uint32Array(1024)
  #slots = new Uint32Array(2048)
  #count = 0

  get count(): number {
    return this.#count
  }

  of(key: string): number {
    const start = this.#endOf(this.#count - 1)
    this.#bytes = growBytes(this.#bytes, start + 3 * key.length)
    const end = start + this.#write(key, start)
    const hash = this.#hash(start, end)
    let slot = hash & (this.#slots.length - 1)
    for (let entry = this.#slots[slot]!; entry !== 0; entry = this.#slots[slot]!) {
      if (this.#hashes[entry - 1] === hash && this.#isAt(entry - 1, start, end)) return entry - 1
      slot = (slot + 1) & (this.#slots.length - 1)
    }
    return this.#add(slot, hash, end)
  }

  /** Writes the key as UTF-8. For ASCII, this loop is faster than `encodeInto`. */
  #write(key: string, start: number): number {
    for (let i = 0; i < key.length; i++) {
      const unit = key.charCodeAt(i)
      if (unit >= 0x80) return encoder.encodeInto(key, this.#bytes.subarray(start)).written
      this.#bytes[start + i] = unit
    }
    return key.length
  }

  #add(slot: number, hash: number, end: number): number {
    const number = this.#count++
    this.#hashes = grow(this.#hashes, this.#count)
    this.#ends.push(end)
    this.#hashes[number] = hash
    this.#slots[slot] = this.#count
    if (2 * this.#count > this.#slots.length) this.#rehash()
    return number
  }

  #rehash(): void {
    const slots = new Uint32Array(2 * this.#slots.length)
    for (let number = 0; number < this.#count; number++) {
      let slot = this.#hashes[number]! & (slots.length - 1)
      while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1)
      slots[slot] = number + 1
    }
    this.#slots = slots
  }

  #endOf(number: number): number {
    return number < 0 ? 0 : this.#ends[number]!
  }

  /** FNV-1a with a final mixing step, because keys often differ only in their last digits. */
  #hash(start: number, end: number): number {
    let hash = 0x811c9dc5
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ this.#bytes[at]!, 0x01000193)
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
    return (hash ^ (hash >>> 13)) >>> 0
  }

  #isAt(number: number, start: number, end: number): boolean {
    const first = this.#endOf(number - 1)
    if (this.#ends[number]! - first !== end - start) return false
    for (let i = 0; i < end - start; i++) if (this.#bytes[first + i] !== this.#bytes[start + i]) return false
    return true
  }
}
