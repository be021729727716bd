import { assert, describe, it } from "@effect/vitest"
import {
  count,
  exact,
  letter,
  millis,
  order,
  percent,
  plural,
  ranking,
  relative,
  seconds,
} from "../../../../src/service/pages/dashboard/format.ts"

describe("numbers", () => {
  it("have separators, and their noun", () => {
    assert.strictEqual(count(1_234_567), "1,234,567")
    assert.strictEqual(plural(1, "vote"), "1 vote")
    assert.strictEqual(plural(0, "vote"), "0 votes")
    assert.strictEqual(plural(2000, "reply", "replies"), "2,000 replies")
  })

  it("a share is 0 or 100 % only where it is exactly that", () => {
    assert.deepStrictEqual(
      [
        [0, 3],
        [1, 3],
        [2, 3],
        [3, 3],
        [999, 1000],
        [99_999, 100_000],
        [4, 1000],
        [1, 100_000],
      ].map(([part = 0, of = 0]) => percent(part, of)),
      ["0 %", "33 %", "67 %", "100 %", "99.9 %", "99.9 %", "0.4 %", "< 0.1 %"],
    )
    assert.isNull(percent(0, 0))
  })
})

describe("times", () => {
  const now = Date.UTC(2026, 10, 21, 12, 8, 7)
  const minute = 60_000

  it("are told from now on, in the largest unit that fits", () => {
    const cases: ReadonlyArray<readonly [distance: number, words: string]> = [
      [0, "just now"],
      [-4999, "just now"],
      [3000, "now"],
      [-5000, "5 seconds ago"],
      [-59_999, "59 seconds ago"],
      [-minute, "1 minute ago"],
      [-119 * minute, "1 hour ago"],
      [5 * minute, "in 5 minutes"],
      [-24 * 60 * minute, "1 day ago"],
      [10 * 60 * minute, "in 10 hours"],
      [-29 * 24 * 60 * minute, "29 days ago"],
    ]
    for (const [distance, words] of cases) assert.strictEqual(relative(now + distance, now, "UTC"), words)
  })

  it("are a day beyond 30 days, and exact on request", () => {
    assert.strictEqual(relative(now - 30 * 24 * 60 * minute, now, "UTC"), "22 Oct 2026")
    assert.strictEqual(exact(now, "UTC"), "21 Nov 2026, 12:08:07 UTC")
  })

  it("taken are told in units that one thinks in", () => {
    assert.deepStrictEqual([0, 4.25, 9.99, 47.6, 60, 125, 3600, 3780, 90_000].map(seconds), [
      "0 s",
      "4.3 s",
      "10 s",
      "48 s",
      "1 min",
      "2 min 5 s",
      "1 h",
      "1 h 3 min",
      "25 h",
    ])
    assert.deepStrictEqual([0, 34, 999, 1234, 15_000].map(millis), ["0 ms", "34 ms", "999 ms", "1.2 s", "15 s"])
  })
})

describe("completions", () => {
  it("have letters, however many they are", () => {
    assert.deepStrictEqual([0, 1, 25, 26, 63, 701, 702].map(letter), ["A", "B", "Z", "AA", "BL", "ZZ", "AAA"])
  })

  it("stand in a ranking best first, ties together, and in the order shown", () => {
    assert.strictEqual(ranking([[2], [0, 1]]), "C > A = B")
    assert.strictEqual(order([1, 0, 2]), "B A C")
  })
})
