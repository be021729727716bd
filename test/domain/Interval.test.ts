import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Interval from "../../src/domain/Interval.ts"

describe("the Wilson score interval", () => {
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])("of %d of %d is as in Newcombe 1998, table I, method 3", (successes, trials, low, high) => {
    const interval = Interval.wilsonInterval(successes, trials)
    assert.closeTo(interval!.low, low, 0.00005)
    assert.closeTo(interval!.high, high, 0.00005)
  })

  it("has a mirror image in the failures, stays within 0 to 1, and holds the share", () => {
    const cases = fc.integer({ min: 1, max: 10_000_000 }).chain((n) => fc.tuple(fc.nat(n), fc.constant(n)))
    fc.assert(
      fc.property(cases, ([successes, trials]) => {
        const { high, low } = Interval.wilsonInterval(successes, trials)!
        const mirror = Interval.wilsonInterval(trials - successes, trials)!
        assert.closeTo(low, 1 - mirror.high, 1e-12)
        assert.isTrue(0 <= low && low <= successes / trials && successes / trials <= high && high <= 1)
      }),
    )
  })

  it("ends at 0 and 1 where all fail and all succeed, and is nothing without trials", () => {
    for (let trials = 1; trials < 1000; trials++) {
      assert.strictEqual(Interval.wilsonInterval(0, trials)?.low, 0)
      assert.strictEqual(Interval.wilsonInterval(trials, trials)?.high, 1)
    }
    assert.isNull(Interval.wilsonInterval(0, 0))
  })
})

describe("the interval of a median", () => {
  // The ranks of the bounds are those of table A3 of Conover, "Practical Nonparametric Statistics", for p = 0.5.
  it.each([
    [6, 1, 6],
    [10, 2, 9],
    [20, 6, 15],
    [25, 8, 18],
    [50, 18, 33],
    [100, 40, 61],
  ])("of %d values ends at ranks %d and %d", (n, low, high) => {
    const values = Array.from({ length: n }, (_, i) => n - i)
    assert.deepStrictEqual(Interval.medianInterval(values), { median: (n + 1) / 2, low, high })
  })

  it("has no bounds for fewer than 6 values, and is nothing without any", () => {
    assert.deepStrictEqual(Interval.medianInterval([3, 1, 2, 9, 4]), { median: 3, low: null, high: null })
    assert.isNull(Interval.medianInterval([]))
  })
})
