/**
 * Pseudorandom integers for resampling. They are the same on every machine, and too predictable for secrets. The
 * generator is xoshiro128** (D. Blackman and S. Vigna, 2021), seeded by the finalizer of MurmurHash3.
 */

export interface Random {
  readonly next: () => number
  /** Returns an integer from 0 to `limit` − 1. The probabilities of two integers differ by less than `limit` / 2^32. */
  readonly below: (limit: number) => number
}

/** A bijection of 32-bit integers: each bit depends on all bits of the argument (MurmurHash3, 2011). */
export const mix = (bits: number): number => {
  let h = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

export const make = (seed: number): Random =>
  ofState(1, 2, 3, 4, (n) => mix(mix(Math.imul(n, 0x9e3779b9) + (seed | 0)) + Math.floor(seed / 2 ** 32)))

/** Makes a generator from its state, which must not be all zeros. */
export const ofState = (
  s0: number,
  s1: number,
  s2: number,
  s3: number,
  mixed: (n: number) => number = () => 0,
): Random => {
  let [a, b, c, d] = [s0 ^ mixed(1), s1 ^ mixed(2), s2 ^ mixed(3), s3 ^ mixed(4)]
  const next = (): number => {
    const five = Math.imul(b, 5)
    const result = Math.imul((five << 7) | (five >>> 25), 9) >>> 0
    const shifted = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = (d << 11) | (d >>> 21)
    return result
  }
  return { next, below: (limit) => Math.floor((next() / 2 ** 32) * limit) }
}
