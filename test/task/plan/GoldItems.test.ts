import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as GoldItems from "../../../src/task/plan/GoldItems.ts"
import { items } from "../../support/items.ts"
import { batchItem, batchItems } from "../support.ts"
import { effectTest } from "../../support/effectTest.ts"

const test = effectTest(it.effect)

const known = (n: number) => items(n, (i) => ({ prompt: `gold ${i}`, gold: { best_completion_index: 1 } }))

describe("GoldItems.make", () => {
  // Within four standard deviations of a binomial distribution.
  test("mixes them in at their share of all, each as often as another", function* () {
    const n = 20_000
    const mix = yield* GoldItems.make({ items: known(10), rate: 0.2, seed: 5 })
    const drawn = batchItems(0, n).flatMap((item) => [...(mix(item).gold ?? [])].slice(0, 1))
    const perItem = 0.25
    assert.approximately(drawn.length, perItem * n, 4 * Math.sqrt(n * perItem * (1 - perItem)))
    assert.approximately(drawn.length / (n + drawn.length), 0.2, 0.01)
    for (let i = 0; i < 10; i++) {
      const often = drawn.filter(({ item }) => item.prompt === `gold ${i}`).length
      assert.approximately(often, drawn.length / 10, 4 * Math.sqrt(drawn.length * 0.09))
    }
    assert.strictEqual(new Set(drawn.map(({ itemId }) => itemId)).size, drawn.length)
  })

  test("decides by the seed and the item's id alone", function* () {
    const drawn = Effect.fnUntraced(function* (seed: number) {
      const mix = yield* GoldItems.make({ items: known(3), rate: 0.5, seed })
      return batchItems(0, 50).map((item) => [...(mix(item).gold ?? [])].map(({ itemId }) => itemId))
    })
    assert.deepStrictEqual(yield* drawn(1), yield* drawn(1))
    assert.notDeepEqual(yield* drawn(1), yield* drawn(2))
    const mix = yield* GoldItems.make({ items: known(3), rate: 0.5, seed: 1 })
    const others = items(50, (i) => ({ id: `item-${i}`, prompt: `another ${i}` })).map(batchItem)
    assert.deepStrictEqual(
      others.map((item) => [...(mix(item).gold ?? [])].map(({ itemId }) => itemId)),
      yield* drawn(1),
    )
  })

  test("names them after their own id and that of the item with which they go, within the limit of ids", function* () {
    const [gold] = known(1)
    const mix = yield* GoldItems.make({ items: [{ ...gold!, item: { ...gold!.item, id: "g" } }], rate: 0.5 })
    const idOf = (id: string) =>
      [...(mix(batchItem(items(1, () => ({ id }))[0]!)).gold ?? [])].map(({ itemId }) => itemId)
    assert.deepStrictEqual(idOf("host"), ["gold:g:host"])
    assert.match(idOf("é".repeat(500))[0]!, /^gold:[0-9a-f]{64}$/)
  })

  test("names the row of an item that was read from a file without lines", function* () {
    const [item] = items(1)
    const row = { ...item!, origin: { file: "gold.parquet", row: 7 } }
    const { message } = yield* Effect.flip(GoldItems.make({ items: [row] }))
    assert.match(message, /^gold\.items\[0\] \(gold\.parquet, row 7\): /)
  })

  const unusable: ReadonlyArray<readonly [string, GoldItems.GoldOptions, RegExp]> = [
    [
      "an item without an answer",
      { items: [...known(2), ...items(1)] },
      /^gold\.items\[2\] \(memory:1\): gold: expected the right answer/,
    ],
    [
      "an answer beyond the completions",
      { items: [{ prompt: "p", completions: ["a", "b"], gold: { best_completion_index: 2 } }] },
      /gold\.items\[0\]: expected a prompt item/,
    ],
    ["no item", { items: [] }, /expected at least one item/],
    ["a rate of nothing", { items: known(1), rate: 0 }, /expected a rate above 0/],
    ["a rate of more than every other item", { items: known(1), rate: 0.6 }, /at most 0\.5, found 0\.6/],
    ["a rate that is no number", { items: known(1), rate: Number.NaN }, /found NaN/],
  ]
  for (const [what, options, says] of unusable) {
    test(`refuses ${what}`, function* () {
      const failure = yield* Effect.flip(GoldItems.make(options))
      assert.match(failure.message, says)
    })
  }
})
