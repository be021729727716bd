import { assert, describe, it } from "@effect/vitest"
import * as FreeMarginalKappa from "../../../src/pair/stats/FreeMarginalKappa.ts"

/** Of subjects as counts by category. */
const kappaOf = (subjects: ReadonlyArray<ReadonlyArray<number>>): number | null => {
  const { add, kappa } = FreeMarginalKappa.make()
  for (const counts of subjects) add(counts.length, counts)
  return kappa()
}

describe("the free-marginal kappa", () => {
  it("is (0.5556 − 0.2) / 0.8 for the psychiatric diagnoses of Fleiss 1971, whose mean agreement is 0.5556", () => {
    // Of 30 patients, the diagnoses of 6 raters each: depression, personality disorder, schizophrenia, neurosis, other.
    const patients = [
      "444444 222555 233335 555555 222444 113333 333355 113334 114444 555555",
      "144444 124444 222333 144444 224445 333335 111455 111112 224444 133555",
      "555555 244444 224555 114444 144445 222224 111155 224444 133333 555555",
    ].flatMap((line) => line.split(" "))
    const kappa = kappaOf(
      patients.map((diagnoses) => [1, 2, 3, 4, 5].map((category) => diagnoses.split(String(category)).length - 1)),
    )
    assert.closeTo(kappa!, (0.5556 - 0.2) / 0.8, 0.0001)
  })

  it("takes the chance of each subject", () => {
    // Agreement 1/3 by 2 categories, and 1 by 4: 1 − (2/3) / (1/2 + 3/4).
    assert.closeTo(
      kappaOf([
        [2, 1],
        [0, 0, 2, 0],
      ])!,
      1 - 2 / 3 / 1.25,
      1e-12,
    )
  })

  it("is 1 where all agree, though all choose the same category, and nothing without pairs of ratings", () => {
    assert.strictEqual(
      kappaOf([
        [3, 0],
        [2, 0, 0],
      ]),
      1,
    )
    assert.isNull(kappaOf([]))
    assert.isNull(kappaOf([[1, 0], [0, 0], [3]]))
    assert.strictEqual(kappaOf([[1, 1]]), -1)
  })
})
