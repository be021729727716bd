import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { type BatchItem, cut } from "../../src/task/Batch.ts"

const item = (bytes: number, i = 0, prompt = i): BatchItem => ({
  item: { prompt: `p${prompt}`, completions: ["a", "b"] },
  origin: { file: "memory", line: i + 1 },
  itemId: String(i),
  contentHash: String(i),
  json: "x",
  utf8: new Uint8Array(bytes),
})

const sizes = (batches: ReadonlyArray<ReadonlyArray<BatchItem>>) =>
  batches.map((batch) => batch.map(({ utf8 }) => utf8.length))

describe("Batch.cut", () => {
  it("closes a batch by count", () => {
    const { batches, rest } = cut(
      [1, 1, 1, 1, 1].map((bytes, i) => item(bytes, i)),
      { maxPrompts: 2, maxBytes: 100 },
    )
    assert.deepStrictEqual(sizes(batches), [
      [1, 1],
      [1, 1],
    ])
    assert.deepStrictEqual(sizes([rest]), [[1]])
  })

  it("closes a batch before an item that would exceed the bytes", () => {
    const { batches, rest } = cut(
      [40, 50, 20, 30].map((bytes, i) => item(bytes, i)),
      { maxPrompts: 10, maxBytes: 100 },
    )
    assert.deepStrictEqual(sizes(batches), [[40, 50]])
    assert.deepStrictEqual(sizes([rest]), [[20, 30]])
  })

  it("closes a batch before a prompt that it holds already, so that results can be told apart", () => {
    const items = [0, 1, 0, 2, 2, 3].map((prompt, i) => item(1, i, prompt))
    const { batches, rest } = cut(items, { maxPrompts: 10, maxBytes: 100 })
    assert.deepStrictEqual(
      [...batches, rest].map((batch) => batch.map(({ item }) => item.prompt)),
      [
        ["p0", "p1"],
        ["p0", "p2"],
        ["p2", "p3"],
      ],
    )
  })

  it("gives an item that alone exceeds the bytes a batch of its own", () => {
    const { batches, rest } = cut(
      [10, 500, 10].map((bytes, i) => item(bytes, i)),
      { maxPrompts: 10, maxBytes: 100 },
    )
    assert.deepStrictEqual(sizes(batches), [[10], [500]])
    assert.deepStrictEqual(sizes([rest]), [[10]])
  })

  it("cuts the same batches however the items arrive", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 60 }),
        fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        (bytes, portions, maxPrompts) => {
          const items = bytes.map((bytes, i) => item(bytes, i))
          const limits = { maxPrompts, maxBytes: 100 }
          const whole = cut(items, limits)
          let waiting: ReadonlyArray<BatchItem> = []
          const inPortions: Array<ReadonlyArray<BatchItem>> = []
          let at = 0
          for (const portion of [...portions, items.length]) {
            const { batches, rest } = cut([...waiting, ...items.slice(at, at + portion)], limits)
            at += portion
            inPortions.push(...batches)
            waiting = rest
          }
          assert.deepStrictEqual([inPortions, waiting], [[...whole.batches], whole.rest])
          for (const batch of whole.batches) {
            assert.isAtMost(batch.length, maxPrompts)
            if (batch.length > 1)
              assert.isAtMost(
                batch.reduce((sum, { utf8 }) => sum + utf8.length, 0),
                100,
              )
          }
        },
      ),
    )
  })
})
