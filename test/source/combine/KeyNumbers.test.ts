import { assert, it } from "@effect/vitest"
import { KeyNumbers } from "../../../src/source/combine/KeyNumbers.ts"

it("KeyNumbers numbers 20,000 keys in their order, and finds each again", () => {
  const numbers = new KeyNumbers()
  const keys = Array.from({ length: 20_000 }, (_, i) => `${i % 3 === 0 ? "é😀" : "item"}-${"0".repeat(i % 40)}${i}`)
  const wanted = keys.map((_, i) => i)
  for (let round = 0; round < 2; round++) {
    const found = keys.map((key) => numbers.of(key))
    assert.deepStrictEqual(found, wanted)
  }
  assert.strictEqual(numbers.count, keys.length)
})
