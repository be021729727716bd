import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as fc from "fast-check"
import { formats } from "../../../src/dataset/format/TrainerFormats.ts"
import { pair } from "../../support/pairs.ts"
import { encode } from "./support.ts"

/** Pairs of an item, of completions named by one letter each. */
const pairsOf = (item: string, ...pairs: ReadonlyArray<string>) =>
  pairs.map((letters) =>
    pair(0, { prompt: "q", item_id: item, chosen: letters.charAt(0), rejected: letters.charAt(1) }),
  )

const labels = (...pairs: Parameters<typeof encode>[1]) => {
  const { omitted, rows } = encode("trl-unpaired", pairs)
  return {
    rows: rows.map(({ completion, label }) => [completion, label]),
    omitted: omitted.map(({ field, item_id, reason }) => `${item_id} ${field}: ${reason}`),
  }
}

describe("unpaired rows", () => {
  it("of best against rest hold the best completion once", () => {
    assert.deepStrictEqual(labels(...pairsOf("1", "ab", "ac", "ad")), {
      rows: [
        ["a", true],
        ["b", false],
        ["c", false],
        ["d", false],
      ],
      omitted: [],
    })
  })

  it("are all undesirable where all are bad, whatever is between others", () => {
    const bad = pairsOf("1", "ab", "ac", "bc").map((pair) => ({ ...pair, all_bad: true }))
    assert.deepStrictEqual(labels(...bad, ...pairsOf("2", "de")), {
      rows: [
        ["a", false],
        ["b", false],
        ["c", false],
        ["d", true],
        ["e", false],
      ],
      omitted: [],
    })
  })

  it("of a full ranking leave out, and report, what is between others", () => {
    const reason =
      "expected a completion that is either chosen in all its pairs or rejected in all its pairs, found a completion that is both chosen and rejected:"
    assert.deepStrictEqual(labels(...pairsOf("1", "ab", "ac", "ad", "bc", "bd", "cd")), {
      rows: [
        ["a", true],
        ["d", false],
      ],
      omitted: [`1 rejected: ${reason} "b"`, `1 rejected: ${reason} "c"`],
    })
  })

  it("a pair that is refused leaves its item's others as they are", () => {
    const [bad] = pairsOf("1", "xy")
    const { omitted, rows } = labels(...pairsOf("1", "ab"), { ...bad!, chosen: "\uD800" }, ...pairsOf("1", "ac"))
    assert.deepStrictEqual(rows, [
      ["a", true],
      ["b", false],
      ["c", false],
    ])
    assert.strictEqual(omitted.length, 1)
  })

  it("come out when their item ends, and the last item's at the end", () => {
    const { encode, end } = formats["trl-unpaired"].encoder()
    const lengths = [...pairsOf("1", "ab", "ac"), ...pairsOf("2", "ab")].map((pair) => encode(pair).length)
    assert.deepStrictEqual([lengths, end().length, end().length], [[0, 0, 3], 2, 0])
  })

  it("each completion of an item gives one row or one omission, whatever its pairs are", () => {
    const letters = fc.constantFrom("a", "b", "c", "d", "e")
    const items = fc.array(
      fc.array(
        fc.tuple(letters, letters).filter(([a, b]) => a !== b),
        { minLength: 1, maxLength: 8 },
      ),
      { maxLength: 4 },
    )
    fc.assert(
      fc.property(items, (items) => {
        const encoder = formats["llamafactory-kto"].encoder()
        const pairs = items.flatMap((item, i) => pairsOf(`${i}`, ...item.map((pair) => pair.join(""))))
        const results = [...pairs.flatMap(encoder.encode), ...encoder.end()]
        const sidesOf = (item: ReadonlyArray<readonly [string, string]>, letter: string) =>
          [0, 1].filter((side) => item.some((pair) => pair[side] === letter)).length
        const count = (item: ReadonlyArray<readonly [string, string]>, sides: number) =>
          ["a", "b", "c", "d", "e"].filter((letter) => sidesOf(item, letter) === sides).length
        const clear = items.map((item) => count(item, 1))
        const unclear = items.map((item) => count(item, 2))
        const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((a, b) => a + b, 0)
        assert.deepStrictEqual(
          [results.filter(Result.isSuccess).length, results.filter(Result.isFailure).length],
          [sum(clear), sum(unclear)],
        )
      }),
    )
  })
})
