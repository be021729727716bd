import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { beginning, chunks } from "../../../../src/service/pages/shared/chunks.ts"
import { maxComparedChars, difference } from "../../../../src/service/pages/shared/difference.ts"

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

  it("marks the words that are in one text only", () => {
    const found = difference("the quick fox", "the slow fox")
    assert.deepStrictEqual(found, {
      left: [
        { text: "the ", isUnmatched: false },
        { text: "quick", isUnmatched: true },
        { text: " fox", isUnmatched: false },
      ],
      right: [
        { text: "the ", isUnmatched: false },
        { text: "slow", isUnmatched: true },
        { text: " fox", isUnmatched: false },
      ],
      same: 4 / 6,
    })
  })

  it("marks neighboring words as one", () => {
    assert.deepStrictEqual(difference("a b c d", "a x y d")?.right, [
      { text: "a ", isUnmatched: false },
      { text: "x y", isUnmatched: true },
      { text: " d", isUnmatched: false },
    ])
  })

  it("finds words where no blanks are between them", () => {
    const found = difference("我喜欢红色的苹果", "我喜欢绿色的苹果")
    assert.isTrue(found?.left.some(({ text, isUnmatched }) => !isUnmatched && text.includes("苹果")))
    assert.isAbove(found?.same ?? 0, 0.5)
  })

  it("says that equal texts are the same", () => {
    assert.deepStrictEqual(difference("a b", "a b"), {
      left: [{ text: "a b", isUnmatched: false }],
      right: [{ text: "a b", isUnmatched: false }],
      same: 1,
    })
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
