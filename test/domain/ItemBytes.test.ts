import { assert, describe, it } from "@effect/vitest"
import * as ItemBytes from "../../src/domain/ItemBytes.ts"
import { content } from "../../src/domain/PromptItem.ts"

const texts = [
  "",
  "a",
  'say "no"\\',
  "\0\n\u007f\u2028",
  "größer",
  "評価",
  "😀 smile",
  "\ud83d alone",
  "\uFEFFmark",
  "x".repeat(2_000),
]

const items = Array.from({ length: 3_000 }, (_, i) => ({
  prompt: texts[i % texts.length]!,
  completions: texts.slice(i % 7, (i % 7) + 1 + (i % 4)),
}))

describe("ItemBytes", () => {
  it("are the item's content, also with its completions in another order", () => {
    const all = items.map(({ completions, prompt }) => ItemBytes.make(prompt, completions))
    items.forEach(({ completions, prompt }, i) => {
      const bytes = all[i]!
      assert.deepStrictEqual(Buffer.from(bytes.utf8), Buffer.from(content({ prompt, completions })))
      const order = [...completions.keys()].toReversed()
      const into = Buffer.alloc(bytes.utf8.length + 2)
      assert.strictEqual(ItemBytes.write(bytes, order, into, 1), into.length - 1)
      const reversed = content({ prompt, completions: completions.toReversed() })
      assert.deepStrictEqual(into, Buffer.from(`\0${reversed}\0`))
    })
  })

  it("of an item that is larger than a block are whole", () => {
    const large = { prompt: "p", completions: ["é".repeat(1_000_000), "b"] }
    const small = { prompt: "q", completions: ["c", "d"] }
    const [first, second] = [large, small].map(({ completions, prompt }) => ItemBytes.make(prompt, completions))
    assert.isTrue(Buffer.from(content(large)).equals(first!.utf8))
    assert.isTrue(Buffer.from(content(small)).equals(second!.utf8))
    assert.strictEqual(ItemBytes.detached(first!), first)
  })

  it("are detached from their block where they are taken out of it", () => {
    const one = ItemBytes.make("p", ["a", "b"])
    const copy = ItemBytes.detached(one)
    assert.isAbove(one.utf8.buffer.byteLength, one.utf8.length)
    assert.strictEqual(copy.utf8.buffer.byteLength, one.utf8.length)
    assert.deepStrictEqual(copy, one)
  })
})
