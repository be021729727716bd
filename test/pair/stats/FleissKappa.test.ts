import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as FleissKappa from "../../../src/pair/stats/FleissKappa.ts"

const subjects = fc.array(
  fc.tuple(fc.nat(5), fc.nat(5)).map(([a, b]) => {
    const [low, high] = [Math.min(a, b), Math.max(a, b)]
    return [low, high - low, 5 - high] as const
  }),
  { minLength: 1, maxLength: 20 },
)

describe("Fleiss' kappa", () => {
  it("is 0.210 for 14 raters of 10 subjects in 5 categories (the example of Wikipedia's article)", () => {
    const kappa = FleissKappa.ofSubjects([
      [0, 0, 0, 0, 14],
      [0, 2, 6, 4, 2],
      [0, 0, 3, 5, 6],
      [0, 3, 9, 2, 0],
      [2, 2, 8, 1, 1],
      [7, 7, 0, 0, 0],
      [3, 2, 6, 3, 0],
      [2, 5, 3, 2, 2],
      [6, 5, 2, 1, 0],
      [0, 2, 2, 3, 7],
    ])
    assert.closeTo(kappa!, 0.21, 0.0005)
  })

  it("is 0.4302445 for the psychiatric diagnoses of Fleiss 1971 (as in R's irr and in statsmodels)", () => {
    // Of 30 patients, the diagnoses of 6 raters each: depression, personality disorder, schizophrenia, neurosis, other.
    const patients = [
      "444444 222555 233335 555555 222444 113333 333355 113334 114444 555555",
      "144444 124444 222333 144444 224445 333335 111455 111112 224444 133555",
      "555555 244444 224555 114444 144445 222224 111155 224444 133333 555555",
    ].flatMap((line) => line.split(" "))
    const kappa = FleissKappa.ofSubjects(
      patients.map((diagnoses) => [1, 2, 3, 4, 5].map((category) => diagnoses.split(String(category)).length - 1)),
    )
    assert.closeTo(kappa!, 0.4302445, 5e-8)
  })

  it("is what statsmodels 0.15.0 gives for another table", () => {
    const kappa = FleissKappa.ofSubjects([[3, 0, 1, 1], [0, 5], [2, 2, 1], [1, 1, 1, 2], [0, 0, 4, 1], [5]])
    assert.closeTo(kappa!, 0.3538461538461538, 1e-14)
  })

  it("does not change when categories change names, or subjects their order", () => {
    fc.assert(
      fc.property(subjects, (subjects) => {
        const kappa = FleissKappa.ofSubjects(subjects)
        for (const other of [subjects.map(([a, b, c]) => [b, c, a]), subjects.toReversed()]) {
          const same = FleissKappa.ofSubjects(other)
          if (kappa === null) assert.isNull(same)
          else assert.closeTo(same!, kappa, 1e-12)
        }
      }),
    )
  })

  it("is 1 for perfect agreement", () => {
    assert.strictEqual(FleissKappa.ofSubjects([[3], [0, 3], [3]]), 1)
  })

  it("is nothing where numbers of ratings differ, where there is one each, or nothing varies", () => {
    assert.isNull(FleissKappa.ofSubjects([[3], [0, 2]]))
    assert.isNull(FleissKappa.ofSubjects([[1], [0, 1]]))
    assert.isNull(FleissKappa.ofSubjects([[3], [3]]))
    assert.isNull(FleissKappa.ofSubjects([]))
  })
})
