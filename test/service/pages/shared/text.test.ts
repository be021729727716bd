import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { beginning, chunks } from "../../../../src/service/pages/shared/chunks.ts"
import { maxComparedChars, difference } from "../../../../src/service/pages/shared/textDifference.ts"

describe("chunks", () => {
  it("gives short texts as they are", () => {
    assert.deepStrictEqual(chunks("a\nb"), ["a\nb"])
    assert.deepStrictEqual(chunks(""), [""])
  })

  it("cuts long texts at line breaks, which it leaves out", () => {
    const text = Array.from({ length: 500 }, (_, line) => `line ${line} ${"x".repeat(40)}`).join("\n")
    const pieces = chunks(text)
    assert.isAbove(pieces.length, 4)
    assert.strictEqual(pieces.join("\n"), text)
    assert.isTrue(pieces.every((piece) => piece.length <= 6_000))
  })

  it("cuts a line without end, but no character in two", () => {
    const text = "😀".repeat(20_000)
    const pieces = chunks(text)
    assert.strictEqual(pieces.join(""), text)
    assert.isTrue(pieces.every((piece) => piece.isWellFormed() && piece.length <= 6_000))
  })

  it("shows the beginning, by characters and by lines", () => {
    assert.strictEqual(beginning("short", 100, 10), "short")
    assert.isAtMost(beginning("word ".repeat(10_000), 1_000, 10).length, 1_001)
    assert.strictEqual(beginning("a\n".repeat(1_000), 1_000, 10).split("\n").length, 10)
    assert.isTrue(beginning("😀".repeat(5_000), 999, 10).isWellFormed())
  })
})

describe("difference", () => {
  const join = (parts: ReadonlyArray<{ readonly text: string }>) => parts.map(({ text }) => text).join("")

  /** Both sides, with what is unmatched in brackets. */
  const marked = (...texts: readonly [string, string]) => {
    const { left = [], right = [] } = difference(...texts) ?? {}
    return [left, right].map((parts) =>
      join(parts.map((part) => (part.isUnmatched ? { text: `[${part.text}]` } : part))),
    )
  }

  it("marks the words that are in one text only, neighboring ones as one", () => {
    assert.deepStrictEqual(marked("the quick fox", "the slow fox"), ["the [quick] fox", "the [slow] fox"])
    assert.strictEqual(difference("the quick fox", "the slow fox")?.same, 4 / 6)
    assert.deepStrictEqual(marked("a b c d", "a x y d"), ["a [b c] d", "a [x y] d"])
  })

  it("finds words where no blanks are between them", () => {
    assert.match(marked("我喜欢红色的苹果", "我喜欢绿色的苹果")[0]!, /\][^[]*苹果/)
    assert.isAbove(difference("我喜欢红色的苹果", "我喜欢绿色的苹果")?.same ?? 0, 0.5)
  })

  it("says that equal texts are the same", () => {
    assert.deepStrictEqual(marked("a b", "a b"), ["a b", "a b"])
    assert.strictEqual(difference("a b", "a b")?.same, 1)
    assert.strictEqual(difference("", "")?.same, 1)
  })

  it("loses no character of either side", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (left, right) => {
        const found = difference(left, right)
        assert.strictEqual(join(found?.left ?? []), left)
        assert.strictEqual(join(found?.right ?? []), right)
      }),
    )
  })

  it("refuses texts that are too long", () => {
    assert.isNull(difference("a ".repeat(maxComparedChars / 2), "b"))
  })
})
