import { assert, describe, it } from "@effect/vitest"
import * as CohenKappa from "../../../src/pair/stats/CohenKappa.ts"

const of = (rows: ReadonlyArray<ReadonlyArray<number>>) =>
  CohenKappa.of(Float64Array.from(rows.flat()), rows.length).kappa

describe("Cohen's kappa", () => {
  it("is that of published tables", () => {
    // J. Cohen, 1960, table 1; J. L. Fleiss, B. Levin, and M. C. Paik, 2003, "Statistical methods for rates and proportions", table 18.1.
    assert.closeTo(of([[88, 14, 18], [10, 40, 10], [2, 6, 12]])!, 0.492, 5e-4) // prettier-ignore
    assert.closeTo(of([[75, 1, 4], [5, 4, 1], [0, 0, 10]])!, 0.676, 5e-4) // prettier-ignore
    assert.closeTo(of([[20, 5], [10, 15]])!, 0.4, 1e-12) // prettier-ignore
  })

  it("does not exist without pairs, or with a single category", () => {
    assert.isNull(of([[0, 0], [0, 0]])) // prettier-ignore
    assert.isNull(of([[7, 0], [0, 0]])) // prettier-ignore
    assert.strictEqual(of([[3, 0], [0, 4]]), 1) // prettier-ignore
  })
})
