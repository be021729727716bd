/** Prices and budgets as exact decimals. */
import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import * as Cost from "../../src/domain/Cost.ts"

const of = (amount: Cost.Amount) => Option.getOrThrow(Cost.parse(amount))

describe("Cost", () => {
  it("reads decimals alone, with their digits", () => {
    for (const [amount, text] of [
      ["0.40", "0.40"],
      ["5000", "5000"],
      [0.4, "0.4"],
      ["007.5", "7.5"],
      ["0", "0"],
    ] as const) {
      assert.strictEqual(Cost.format(of(amount)), text)
    }
    for (const amount of ["", "1e3", "-1", ".5", "5.", "1,000", "0.4 EUR", 1e21, Number.NaN, -0.5, 1e-7]) {
      assert.isTrue(Option.isNone(Cost.parse(amount)), String(amount))
    }
    assert.isTrue(Option.isNone(Cost.parsePrice("0.00")))
  })

  it("says exactly how many votes a budget buys, where doubles do not", () => {
    for (const [budget, price, votes] of [
      ["0.3", "0.1", 3], // 2.9999999999999996 as doubles
      ["5000", "0.40", 12_500],
      ["1", "0.3", 3],
      ["0.999999999", "0.1", 9],
      ["4.35", "0.01", 435], // 434.99999999999994
      ["0", "0.40", 0],
      ["999999999999999", "0.000000001", Number.MAX_SAFE_INTEGER],
    ] as const) {
      assert.strictEqual(Cost.votesWithin(of(budget), of(price)), votes, `${budget} / ${price}`)
    }
  })

  it("adds up: what is spent and what is left are the budget, for every number of votes", () => {
    const [price, budget] = [of("0.07"), of("100.005")]
    const within = Cost.votesWithin(budget, price)
    assert.strictEqual(within, 1428)
    for (let votes = 0; votes <= within + 1; votes++) {
      const left = Cost.minus(budget, Cost.times(price, votes))
      assert.strictEqual(left.units + Cost.times(price, votes).units * 10n, 100_005n)
      assert.strictEqual(left.units >= 0n, votes <= within)
    }
    assert.strictEqual(Cost.format(Cost.minus(budget, Cost.times(price, within + 1))), "-0.025")
  })

  it("rounds a quotient half up, to two more digits", () => {
    assert.strictEqual(Cost.dividedBy(of("1.00"), 3), "0.3333")
    assert.strictEqual(Cost.dividedBy(of("2"), 3), "0.67")
    assert.strictEqual(Cost.dividedBy(of("0.01"), 8), "0.0013")
    assert.strictEqual(Cost.dividedBy(of("1"), 0), null)
  })
})
