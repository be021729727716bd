import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as KrippendorffAlpha from "../../../src/pair/stats/KrippendorffAlpha.ts"

const ofUnits = (units: ReadonlyArray<ReadonlyArray<number>>) => {
  const { add, alpha } = KrippendorffAlpha.make()
  for (const counts of units) add(counts)
  return alpha()
}

/** A row for each observer, a column for each unit. */
const ofTable = (table: ReadonlyArray<ReadonlyArray<string | null>>) => {
  const categories = [...new Set(table.flat())].filter((value) => value !== null)
  const units = Math.max(0, ...table.map((row) => row.length))
  return ofUnits(
    Array.from({ length: units }, (_, unit) =>
      categories.map((category) => table.filter((row) => row[unit] === category).length),
    ),
  )
}

/** A dot is a missing value. */
const row = (values: string) => values.split(" ").map((value) => (value === "." ? null : value))

const units = fc.array(fc.array(fc.nat(4), { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 12 })

/** By the definition: all pairs, one by one. */
const byPairs = (units: ReadonlyArray<ReadonlyArray<number>>) => {
  const values = units
    .map((counts) => counts.flatMap((count, category) => Array.from({ length: count }, () => category)))
    .filter((unit) => unit.length > 1)
  const differing = (all: ReadonlyArray<number>) =>
    all.flatMap((one, i) => all.filter((other, j) => i !== j && one !== other)).length
  const all = values.flat()
  const observed = values.reduce((sum, unit) => sum + differing(unit) / (unit.length - 1), 0) / all.length
  const expected = differing(all) / (all.length * (all.length - 1))
  return all.length === 0 || expected === 0 ? null : 1 - observed / expected
}

const isClose = (actual: number | null, expected: number | null) =>
  actual === null || expected === null ? actual === expected : Math.abs(actual - expected) <= 1e-12

describe("Krippendorff's alpha", () => {
  it("is 0.743 for four observers of twelve units with missing values (Krippendorff 2011, C)", () => {
    const alpha = ofTable([
      row("1 2 3 3 2 1 4 1 2 . . ."),
      row("1 2 3 3 2 2 4 1 2 5 . 3"),
      row(". 3 3 3 2 3 4 2 2 5 1 ."),
      row("1 2 3 3 2 4 4 1 2 5 1 ."),
    ])
    assert.closeTo(alpha!, 0.743, 0.0005)
  })

  it("of interval data is what the definition gives", () => {
    const ofValues = (units: ReadonlyArray<ReadonlyArray<number>>) => {
      const { add, alpha } = KrippendorffAlpha.makeInterval()
      for (const values of units) add(values)
      return alpha()
    }
    assert.strictEqual(
      ofValues([
        [1, 1],
        [3, 3, 3],
      ]),
      1,
    )
    assert.isNull(ofValues([[2, 2], [2, 2, 2], [5]]))
    assert.isNull(ofValues([]))

    const squares = (values: ReadonlyArray<number>) =>
      values.flatMap((a) => values.map((b) => (a - b) ** 2)).reduce((sum, square) => sum + square, 0)
    fc.assert(
      fc.property(fc.array(fc.array(fc.integer({ min: -3, max: 9 }), { maxLength: 5 }), { maxLength: 12 }), (units) => {
        const pairable = units.filter((values) => values.length > 1)
        const all = pairable.flat()
        const observed = pairable.reduce((sum, values) => sum + squares(values) / (values.length - 1), 0) / all.length
        const expected = squares(all) / (all.length * (all.length - 1))
        assert.isTrue(isClose(ofValues(units), all.length === 0 || expected === 0 ? null : 1 - observed / expected))
      }),
    )
  })

  it("is what the definition gives, pair by pair", () => {
    fc.assert(fc.property(units, (units) => assert.isTrue(isClose(ofUnits(units), byPairs(units)))))
  })
})
