import { assert, describe, it } from "@effect/vitest"
import * as NumberList from "../../../src/pair/stats/NumberList.ts"

describe("NumberList", () => {
  it("holds what was pushed, in order, however many", () => {
    const list = NumberList.make(Float64Array)
    const numbers = Array.from({ length: 10_000 }, (_, i) => i / 3)
    assert.deepStrictEqual([...list.view()], [])
    for (const number of numbers) list.push(number)
    assert.deepStrictEqual([...list.view()], numbers)
    assert.strictEqual(list.length(), 10_000)
  })

  it("takes the bytes that its kind says", () => {
    const list = NumberList.make(Uint32Array)
    list.push(2 ** 32 - 1)
    assert.strictEqual(list.view().byteLength, 4)
    assert.strictEqual(list.view()[0], 2 ** 32 - 1)
  })
})
