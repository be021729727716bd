import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { neutralize, restore } from "../../src/io/SpreadsheetCell.ts"

describe("a cell", () => {
  it("that a spreadsheet would run is text", () => {
    for (const cell of ["=1+1", "+1", "-1", "@SUM(1)", "\tx", "\r=1"]) assert.strictEqual(neutralize(cell), `'${cell}`)
    assert.strictEqual(neutralize("'=1"), "''=1")
    assert.strictEqual(neutralize("'''@x"), "''''@x")
  })

  it("that is text already stays", () => {
    for (const cell of ["", "a=b", "'", "'quoted'", "''", " =1", "5", "\n=1"])
      assert.strictEqual(neutralize(cell), cell)
  })

  it("has its text back", () => {
    const cell = fc.string({ unit: fc.constantFrom("'", "=", "+", "-", "@", "\t", "\r", "a", "1", " ") })
    fc.assert(
      fc.property(cell, (text) => {
        assert.strictEqual(restore(neutralize(text)), text)
        assert.notMatch(neutralize(text), /^[=+\-@\t\r]/)
      }),
    )
  })
})
