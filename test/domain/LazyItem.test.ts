import { assert, describe, it } from "@effect/vitest"
import * as ItemBytes from "../../src/domain/ItemBytes.ts"
import { LazyItem } from "../../src/domain/LazyItem.ts"

const item = { id: "x", prompt: 'p "1"\n', completions: ["é😀", "", "\ufeff[\\]"] }
const bytes = ItemBytes.make(item.prompt, item.completions)

/** A copy, as programs make it. */
const copy = (of: object) => Object.assign({}, of)

describe("LazyItem", () => {
  it("has the members of a plain object", () => {
    const lazy = new LazyItem(item.id, item.prompt, bytes)
    assert.deepStrictEqual(copy(lazy), item)
    assert.strictEqual(JSON.stringify(lazy), JSON.stringify(item))
    assert.strictEqual(lazy.completions, lazy.completions)
    assert.deepStrictEqual(Object.keys(new LazyItem(undefined, item.prompt, bytes)), ["prompt", "completions"])
  })

  it("reads the bytes that it holds last", () => {
    const block = bytes.utf8.slice()
    const lazy = new LazyItem(item.id, item.prompt, { ...bytes, utf8: block })
    const moved = LazyItem.withBytes(lazy, bytes)
    block.fill(0)
    assert.deepStrictEqual(copy(moved), item)
    assert.strictEqual(LazyItem.withBytes(moved, bytes), moved)
    assert.strictEqual(LazyItem.withBytes(item, bytes), item)
  })
})
