import { assert, describe, it } from "@effect/vitest"
import * as BinomialTest from "../../../src/pair/stats/BinomialTest.ts"

describe("the two-sided binomial test", () => {
  it.each([
    [682, 925, 0.75, 0.3824915595748517],
    [3, 10, 0.5, 0.34375],
    [5, 10, 0.5, 1],
    [7, 100, 0.013, 0.00034995684610967707],
    [0, 50, 0.02, 0.6283982856253909],
    [103_000, 1_000_000, 0.1, 2.354129906578301e-23],
    [4_998_000, 10_000_000, 0.5, 0.20601660279503928],
    [3_000_900, 10_000_000, 0.3, 0.5345608116864937],
    [12, 10_000_000, 1e-6, 0.5234443082481152],
    [9_999_980, 10_000_000, 0.999999, 0.00395372236648045],
    [4_900_000, 10_000_000, 0.5, 0],
  ])("of %d of %d at %d is as in SciPy 1.17.1's binomtest", (successes, trials, probability, expected) => {
    assert.closeTo(BinomialTest.twoSided(successes, trials, probability), expected, 1e-9 * expected)
  })

  it("knows what can't be, and what must be", () => {
    assert.strictEqual(BinomialTest.twoSided(0, 7, 0), 1)
    assert.strictEqual(BinomialTest.twoSided(1, 7, 0), 0)
    assert.strictEqual(BinomialTest.twoSided(7, 7, 1), 1)
    assert.strictEqual(BinomialTest.twoSided(6, 7, 1), 0)
    assert.strictEqual(BinomialTest.twoSided(0, 0), 1)
  })
})
