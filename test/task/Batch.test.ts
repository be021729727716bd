import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { type BatchItem, cut } from "../../src/task/Batch.ts"

const item = (bytes: number, i = 0, prompt = i): BatchItem => ({
  item: { prompt: `p${prompt}`, completions: ["a", "b"] },
  origin: { file: "memory", line: i + 1 },
  prompt: `p${prompt}`,
  itemId: String(i),
  contentHash: String(i),
  json: "x",
  utf8: new Uint8Array(bytes),
})

const sizes = (batches: ReadonlyArray<ReadonlyArray<BatchItem>>) =>
  batches.map((batch) => batch.map(({ utf8 }) => utf8.length))

/** An item with the gold item that is wanted most, and others, by their prompts. */
const withGold = (host: BatchItem, ...prompts: ReadonlyArray<number>): BatchItem => ({
  ...host,
  gold: prompts.map((prompt) => ({ ...item(1, 1000 + prompt), isCheck: true })),
})

const prompts = (batches: ReadonlyArray<ReadonlyArray<BatchItem>>) =>
  batches.map((batch) => batch.map(({ prompt }) => prompt.slice(1)))

describe("Batch.cut with gold items", () => {
  const limits = { maxPrompts: 3, maxBytes: 100 }

  it("keeps a gold item in the batch of its item, in a new one where the last is full", () => {
    const items = [item(1, 0), item(1, 1), withGold(item(1, 2), 7), item(1, 3)]
    assert.deepStrictEqual(prompts(cut(items, limits).batches), [
      ["0", "1"],
      ["2", "1007", "3"],
    ])
  })

  it("takes another one where its prompt is in the batch, and none where all are", () => {
    const items = [withGold(item(1, 0), 7, 8), withGold(item(1, 1), 7, 8), withGold(item(1, 2), 7, 8)]
    const { batches } = cut(items, { maxPrompts: 9, maxBytes: 100 }, true)
    assert.deepStrictEqual(prompts(batches), [["0", "1007", "1", "1008", "2"]])
  })

  it("takes no gold item that is its own item", () => {
    assert.deepStrictEqual(prompts(cut([withGold(item(1, 1007), 7, 8)], limits, true).batches), [["1007", "1008"]])
  })

  it("makes a batch of each where two don't fit into one", () => {
    const items = [withGold(item(1, 0), 7), item(1, 1)]
    assert.deepStrictEqual(prompts(cut(items, { maxPrompts: 1, maxBytes: 100 }).batches), [["0"], ["1007"], ["1"]])
    const large = [withGold(item(100, 0), 7), item(1, 1)]
    assert.deepStrictEqual(prompts(cut(large, limits).batches), [["0"], ["1007"]])
  })

  it("cuts what is left after any batch as it would have been cut with the batches before", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ prompt: fc.nat(30), bytes: fc.integer({ min: 1, max: 60 }), gold: fc.array(fc.nat(3)) }), {
          maxLength: 40,
        }),
        fc.record({ maxPrompts: fc.integer({ min: 1, max: 6 }), maxBytes: fc.constantFrom(1, 40, 100) }),
        fc.nat(40),
        (drawn, limits, step) => {
          const items = drawn.map(({ bytes, gold, prompt }, i) => withGold(item(bytes, i, prompt), ...gold))
          const whole = cut(items, limits, true).batches
          for (const batch of whole) {
            assert.strictEqual(new Set(batch.map(({ item }) => item.prompt)).size, batch.length)
            assert.isAtMost(batch.length, limits.maxPrompts)
          }
          // In two steps of reading, as the loop does it.
          const first = cut(items.slice(0, step), limits)
          const second = cut([...first.rest, ...items.slice(step)], limits, true)
          assert.deepStrictEqual(prompts([...first.batches, ...second.batches]), prompts(whole))
          // By a run that goes on after another has planned the batches of the first step.
          const planned = new Set(first.batches.flat().map(({ itemId }) => itemId))
          const rest = items.filter(({ itemId }) => !planned.has(itemId))
          assert.deepStrictEqual(prompts(cut(rest, limits, true).batches), prompts(second.batches))
        },
      ),
    )
  })
})

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
