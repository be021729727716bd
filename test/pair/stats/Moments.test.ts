import { assert, describe, it } from "@effect/vitest"
import * as Moments from "../../../src/pair/stats/Moments.ts"

const of = (values: ReadonlyArray<number>) => {
  const moments = Moments.make()
  for (const value of values) moments.add(value)
  return moments
}

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
})

describe("Cohen's d", () => {
  it("is 1.13 for the two films of Lakens 2013, table 1 (means 8.7 and 7.7, deviations 0.82 and 0.95)", () => {
    const one = of([9, 7, 8, 9, 8, 9, 9, 10, 9, 9])
    const other = of([9, 6, 7, 8, 7, 9, 8, 8, 8, 7])
    assert.closeTo(one.standardDeviation()!, 0.82, 0.005)
    assert.closeTo(other.standardDeviation()!, 0.95, 0.005)
    assert.closeTo(Moments.cohensD(one, other)!, 1.13, 0.005)
  })

  it("weighs the spread of each group by its size", () => {
    // Squares of 2 and 8 over 3 + 2 − 2 degrees of freedom.
    assert.closeTo(Moments.cohensD(of([1, 2, 3]), of([4, 8]))!, -4 / Math.sqrt((2 + 8) / 3), 1e-15)
  })

  it("is nothing where there is no spread to measure by", () => {
    assert.isNull(Moments.cohensD(of([]), of([1, 2])))
    assert.isNull(Moments.cohensD(of([1]), of([2])))
    assert.isNull(Moments.cohensD(of([1, 1]), of([2, 2])))
  })
})
