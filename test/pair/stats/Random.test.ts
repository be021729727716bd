import { assert, describe, it } from "@effect/vitest"
import * as Random from "../../../src/pair/stats/Random.ts"

/** The published definition, in integers of any size. */
const reference = (state: ReadonlyArray<bigint>, count: number): ReadonlyArray<number> => {
  const bits = (n: bigint) => BigInt.asUintN(32, n)
  const rotated = (n: bigint, by: bigint) => bits((n << by) | (n >> (32n - by)))
  let [a = 0n, b = 0n, c = 0n, d = 0n] = state
  return Array.from({ length: count }, () => {
    const result = bits(rotated(bits(b * 5n), 7n) * 9n)
    const shifted = bits(b << 9n)
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = rotated(d, 11n)
    return Number(result)
  })
}

describe("Random", () => {
  it("is xoshiro128**", () => {
    const random = Random.ofState(1, 2, 3, 4)
    const first = Array.from({ length: 1000 }, random.next)
    assert.deepStrictEqual(first.slice(0, 4), [11520, 0, 5927040, 70819200])
    assert.deepStrictEqual(first, [...reference([1n, 2n, 3n, 4n], 1000)])
  })

  it("differs by seed, also by those that are close, and beyond 32 bits", () => {
    const firsts = [0, 1, 2, -1, 2 ** 32, 2 ** 40].map((seed) => Random.make(seed).next())
    assert.strictEqual(new Set(firsts).size, firsts.length)
    assert.strictEqual(Random.make(7).next(), Random.make(7).next())
  })

  it("integers below a limit are equally frequent", () => {
    const random = Random.make(1)
    const counts = new Uint32Array(10)
    for (let i = 0; i < 100_000; i++) counts[random.below(10)]!++
    // Chi-square with 9 degrees of freedom: above 27.9 in 1 of 1,000 seeds.
    assert.isBelow(
      counts.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0),
      27.9,
    )
  })
})
