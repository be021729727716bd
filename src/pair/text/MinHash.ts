/**
 * Computes a text's MinHash signature: 112 bytes, the same on every machine. A shingle is a sequence of 5 UTF-16 code
 * units, or of 3 if the first is an ideograph, kana, or hangul. A shingle's hash belongs to one of 112 bins. The least
 * hash of each bin is reduced to one byte of the signature. The share of equal bytes in two signatures estimates the
 * Jaccard index J of their texts' shingles. Its standard deviation is at most √((J + ε)(1 − J) / 112), where ε = 1/255.
 * Sources: Li, Owen, and Zhang, 2012, "One permutation hashing"; Dahlgaard, Knudsen, and Thorup, 2017 (empty bins);
 * Li and König, 2010 (one byte per bin).
 */
import { mix } from "../stats/Random.ts"

export const signatureBytes = 112

const bins = signatureBytes
const shingleUnits = 5
const shingleUnitsEastAsian = 3

const firstEastAsian = 0x2e80

const base = 0x2c9277b5
const power = (exponent: number): number => (exponent === 0 ? 1 : Math.imul(power(exponent - 1), base))
const leaves = power(shingleUnits)
const leavesEastAsian = power(shingleUnitsEastAsian)

/** Number of hashes kept to fill empty bins. If a text has more, the probability of an empty bin is below 10^-13. */
const maxRetained = 4096

const empty = 0x7fffffff

const shingles = new Int32Array(4096)
const retainedHashes = new Int32Array(maxRetained)
const recent = new Int32Array(1024)
const least = new Int32Array(bins)
const isEmpty = new Uint8Array(bins)

export const write = (normal: string, into: Uint8Array, offset: number): void => {
  least.fill(empty)
  const count = hashAll(normal)
  for (let round = 1; round < bins && markEmpty(); round++) rehash(count, Math.imul(round, 0x9e3779b9))
  if (markEmpty()) fillEmpty(count)
  for (let bin = 0; bin < bins; bin++) into[offset + bin] = mix(least[bin]!) >>> 24
}

const hashAll = (text: string): number => {
  const { length } = text
  recent.fill(0)
  let count = 0
  let waiting = 0
  let five = 0
  let three = 0
  // The latest five code units, each plus 1; `a` is the latest. A 0 stands for a place before the text's beginning.
  let [a, b, c, d, e] = [0, 0, 0, 0, 0]
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i) + 1
    five = (Math.imul(five, base) + code - Math.imul(e, leaves)) | 0
    three = (Math.imul(three, base) + code - Math.imul(c, leavesEastAsian)) | 0
    e = d
    d = c
    c = b
    b = a
    a = code
    if (c > firstEastAsian) shingles[waiting++] = three
    if (e > 0 && e <= firstEastAsian) shingles[waiting++] = five
    if (waiting > shingles.length - 2) {
      count = hashBuffered(waiting, count)
      waiting = 0
    }
  }
  if (waiting + count === 0) shingles[waiting++] = five
  return hashBuffered(waiting, count)
}

const hashBuffered = (waiting: number, before: number): number => {
  let count = before
  for (let i = 0; i < waiting; i++) {
    const hash = mix(shingles[i]!)
    const bin = ((hash >>> 16) * bins) >>> 16
    const order = orderOf(hash)
    if (order < least[bin]!) least[bin] = order
    if (count < maxRetained && recent[hash & 1023] !== hash) {
      recent[hash & 1023] = hash
      retainedHashes[count++] = hash
    }
  }
  return count
}

const rehash = (count: number, salt: number): void => {
  for (let i = 0; i < count; i++) {
    const hash = mix(retainedHashes[i]! ^ salt)
    const bin = ((hash >>> 16) * bins) >>> 16
    if (isEmpty[bin] === 1) {
      const order = orderOf(hash)
      if (order < least[bin]!) least[bin] = order
    }
  }
}

const fillEmpty = (count: number): void => {
  for (let bin = 0; bin < bins; bin++) {
    if (isEmpty[bin] === 0) continue
    for (let i = 0; i < count; i++) {
      const order = orderOf(mix(retainedHashes[i]! ^ Math.imul(bins + bin, 0x9e3779b9)))
      if (order < least[bin]!) least[bin] = order
    }
  }
}

const markEmpty = (): boolean => {
  let emptyBins = 0
  for (let bin = 0; bin < bins; bin++) {
    const mark = least[bin] === empty ? 1 : 0
    isEmpty[bin] = mark
    emptyBins += mark
  }
  return emptyBins > 0
}

const orderOf = (hash: number): number => Math.imul(hash ^ (hash >>> 15), 0x9e3779b1)

export const fromEqualBytes = (equal: number): number => Math.max(0, (equal / bins - 1 / 256) / (1 - 1 / 256))
