import { assert, describe, it } from "@effect/vitest"
import * as Random from "../../../src/pair/stats/Random.ts"

describe("Random", () => {
  it("is xoshiro128**: its first numbers are those that its authors' C code gives from the same state", () => {
    const random = Random.ofState(1, 2, 3, 4)
    assert.deepStrictEqual(
      Array.from({ length: 10 }, random.next),
      [11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804],
    )
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
