import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Moments from "../../../src/pair/stats/Moments.ts"

const of = (values: ReadonlyArray<number>) => {
  const moments = Moments.make()
  for (const value of values) moments.add(value)
  return moments
}

const numbers = fc.array(fc.integer({ min: -1_000_000, max: 1_000_000 }), { maxLength: 50 })

describe("Moments", () => {
  it("has the mean and deviation of small numbers on a large offset (4, 7, 13, 16: variance 30)", () => {
    const moments = of([4, 7, 13, 16].map((value) => value + 1e9))
    assert.strictEqual(moments.mean(), 1e9 + 10)
    assert.closeTo(moments.standardDeviation()!, Math.sqrt(30), 1e-12)
  })

  it("has nothing of nothing", () => {
    assert.isNull(of([]).mean())
    assert.isNull(of([3]).standardDeviation())
    assert.strictEqual(of([3]).mean(), 3)
  })

  it("is the same in two parts that are merged", () => {
    fc.assert(
      fc.property(numbers, numbers, (left, right) => {
        const merged = of(left)
        merged.merge(of(right))
        const whole = of([...left, ...right])
        assert.strictEqual(merged.count(), whole.count())
        assert.closeTo(merged.mean() ?? 0, whole.mean() ?? 0, 1e-6)
        assert.closeTo(merged.squares(), whole.squares(), 1e-9 * (1 + whole.squares()))
      }),
    )
  })
})
