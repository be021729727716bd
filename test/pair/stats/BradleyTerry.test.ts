import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as BradleyTerry from "../../../src/pair/stats/BradleyTerry.ts"

type Contest = readonly [one: number, other: number, won: number, tied: number, lost: number, ...covariates: number[]]

const fit = (players: number, contests: ReadonlyArray<Contest>, prior = Infinity) => {
  const covariates = contests[0]!.slice(5).map((_, k) => contests.map((contest) => contest[5 + k]!))
  const design = { players, one: contests.map(([a]) => a), other: contests.map(([, b]) => b), covariates }
  const counts = Float64Array.from(contests.flatMap(([, , won, tied, lost]) => [won, tied, lost]))
  return BradleyTerry.make(design, prior)(counts)
}

const relativeTo = (reference: number, { abilities }: BradleyTerry.Fit) =>
  Array.from(abilities, (ability) => ability - abilities[reference]!)

const rounded = (numbers: Iterable<number>, digits: number) => Array.from(numbers, (n) => Number(n.toFixed(digits)))

const worth = ({ abilities }: BradleyTerry.Fit) => {
  const sum = abilities.reduce((total, ability) => total + Math.exp(ability), 0)
  return Array.from(abilities, (ability) => Math.exp(ability) / sum)
}

/**
 * American League, 1987, eastern division: A. Agresti, 2002, "Categorical Data Analysis", 2nd edition, table 10.10; also
 * `baseball` of the R package BradleyTerry2. Teams in alphabetical order; home team, away team, wins of either.
 */
const baseball = [
  [4, 3, 4, 3], [4, 6, 4, 2], [4, 5, 4, 3], [4, 1, 6, 1], [4, 2, 4, 2], [4, 0, 6, 0], [3, 4, 3, 3], [3, 6, 4, 2],
  [3, 5, 4, 3], [3, 1, 6, 0], [3, 2, 6, 1], [3, 0, 4, 3], [6, 4, 2, 5], [6, 3, 4, 3], [6, 5, 2, 4], [6, 1, 4, 3],
  [6, 2, 4, 2], [6, 0, 6, 0], [5, 4, 3, 3], [5, 3, 5, 1], [5, 6, 2, 5], [5, 1, 4, 3], [5, 2, 4, 2], [5, 0, 6, 1],
  [1, 4, 5, 1], [1, 3, 2, 5], [1, 6, 3, 3], [1, 5, 4, 2], [1, 2, 5, 2], [1, 0, 6, 0], [2, 4, 2, 5], [2, 3, 3, 3],
  [2, 6, 3, 4], [2, 5, 4, 3], [2, 1, 4, 2], [2, 0, 2, 4], [0, 4, 2, 5], [0, 3, 1, 5], [0, 6, 1, 6], [0, 5, 2, 4],
  [0, 1, 1, 6], [0, 2, 3, 4],
] as const // prettier-ignore

/**
 * Chocolate puddings: Davidson, 1970, also `pudding` of the R package PlackettLuce. The brands, preferences for the
 * first and for the second, and no preference.
 */
const pudding = [
  [0, 1, 19, 22, 16], [0, 2, 16, 19, 12], [1, 2, 19, 19, 10], [0, 3, 18, 23, 13], [1, 3, 23, 19, 9], [2, 3, 19, 20, 15],
  [0, 4, 13, 19, 18], [1, 4, 16, 20, 12], [2, 4, 16, 15, 17], [3, 4, 17, 14, 16], [0, 5, 18, 21, 12], [1, 5, 22, 20, 12],
  [2, 5, 13, 18, 10], [3, 5, 14, 19, 18], [4, 5, 11, 21, 12],
] as const // prettier-ignore

describe("BradleyTerry", () => {
  it("gives the published abilities of baseball teams with the home advantage, a covariate (Agresti, 2002, section 10.6.3)", () => {
    const found = fit(
      7,
      baseball.map(([home, away, won, lost]): Contest => [home, away, won, 0, lost, 1]),
    )
    assert.deepStrictEqual(rounded(worth(found), 3), [0.044, 0.137, 0.088, 0.19, 0.22, 0.157, 0.164])
    assert.deepStrictEqual(rounded(found.coefficients, 3), [0.302])
    assert.deepStrictEqual(
      rounded([...relativeTo(0, found), ...found.coefficients], 8),
      [0, 1.14380265, 0.70469446, 1.47535721, 1.61955499, 1.2813404, 1.3271104, 0.30226066],
    )
  })

  it("with ties, agrees with a Poisson log-linear fit of Davidson's puddings", () => {
    // R 4.2: glm(count ~ pair + X - 1, family = poisson), where X has the abilities' and the tie's columns (S. E.
    // Fienberg and K. Larntz, 1976, "Log linear representation for paired and multiple comparisons models").
    const found = fit(
      6,
      pudding.map(([a, b, won, lost, tied]): Contest => [a, b, won, tied, lost]),
    )
    assert.deepStrictEqual(
      rounded(worth(found), 8),
      [0.13880338, 0.1730015, 0.16174743, 0.16537296, 0.15868539, 0.20238934],
    )
    assert.strictEqual(found.tie.toFixed(8), "0.74682299")
  })

  it("a prior of standard deviation s adds λ²/2s² to the loss", () => {
    // One player wins 3 of 4: λ = a, −a with 3 − 4 / (1 + e^(−2a)) = a / s².
    const { abilities } = fit(2, [[0, 1, 3, 0, 1]], 2)
    const a = abilities[0]!
    assert.closeTo(3 - 4 / (1 + Math.exp(-2 * a)), a / 4, 1e-9)
    assert.closeTo(abilities[1]!, -a, 1e-12)
  })

  it("with a prior, whatever the outcomes are, all is finite, and groups have mean 0", () => {
    const contest = fc
      .tuple(fc.nat(5), fc.nat(5), fc.nat(3), fc.nat(3), fc.nat(50), fc.double({ min: -3, max: 3, noNaN: true }))
      .filter(([a, b]) => a !== b)
    fc.assert(
      fc.property(fc.array(contest, { minLength: 1, maxLength: 12 }), (contests) => {
        const { abilities, coefficients, converged } = fit(6, contests, 3)
        assert.isTrue([...abilities, ...coefficients].every(Number.isFinite))
        assert.isTrue(converged)
        assert.closeTo(
          abilities.reduce((sum, ability) => sum + ability, 0),
          0,
          1e-6,
        )
      }),
    )
  })
})
