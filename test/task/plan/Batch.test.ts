import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import * as Batch from "../../../src/task/plan/Batch.ts"
import type { BatchItem } from "../../../src/task/ledger/schema/Model.ts"

const item = (bytes: number, i = 0, prompt = i): BatchItem => ({
  item: { prompt: `p${prompt}`, completions: ["a", "b"] },
  origin: { file: "memory", line: i + 1 },
  prompt: `p${prompt}`,
  itemId: String(i),
  contentHash: String(i),
  bytes: { utf8: new Uint8Array(bytes), starts: [] },
})

/** An item with the gold item that is wanted most, and others, by their prompts. */
const withGold = (host: BatchItem, ...prompts: ReadonlyArray<number>): BatchItem => ({
  ...host,
  gold: prompts.map((prompt) => ({ ...item(1, 1000 + prompt), isCheck: true })),
})

/** The batches that are closed by the items, and those that are still open then. */
const gather = (items: ReadonlyArray<BatchItem>, limits: Batch.BatchLimits, openBytes?: number) => {
  const batches = Batch.make(limits, openBytes)
  const closed = batches.add(items)
  return { closed, open: batches.end() }
}

const prompts = (batches: ReadonlyArray<Batch.Batch>) =>
  batches.map((batch) => batch.map(({ prompt }) => prompt.slice(1)).join(" "))

const ids = (batches: ReadonlyArray<Batch.Batch>) => batches.map((batch) => batch.map(({ itemId }) => itemId).join(" "))

describe("Batch", () => {
  it("holds of what waits only its own bytes", () => {
    const batches = Batch.make({ maxPrompts: 3, maxBytes: 100 })
    const shared = new Uint8Array(1000)
    const sharing = [0, 1].map((i) => ({ ...item(1, i), bytes: { utf8: shared.subarray(i, i + 1), starts: [] } }))
    assert.deepStrictEqual(batches.add(sharing), [])
    assert.deepStrictEqual(
      batches.waiting().map(({ bytes }) => bytes.utf8.buffer.byteLength),
      [1, 1],
    )
  })

  it("puts an item into the oldest batch whose bytes and prompts take it", () => {
    const bytes = gather(
      [60, 50, 30, 50, 10].map((bytes, i) => item(bytes, i)),
      { maxPrompts: 10, maxBytes: 100 },
    )
    assert.deepStrictEqual([ids(bytes.closed), ids(bytes.open)], [["1 3", "0 2 4"], []])
    const repeated = gather(
      [0, 0, 0, 1, 1, 2].map((prompt, i) => item(1, i, prompt)),
      { maxPrompts: 3, maxBytes: 100 },
    )
    assert.deepStrictEqual([prompts(repeated.closed), prompts(repeated.open)], [["0 1 2"], ["0 1", "0"]])
  })

  it("gives an item that alone exceeds the bytes a batch of its own", () => {
    const { closed, open } = gather(
      [10, 500, 10].map((bytes, i) => item(bytes, i)),
      { maxPrompts: 10, maxBytes: 100 },
    )
    assert.deepStrictEqual([ids(closed), ids(open)], [["1"], ["0 2"]])
  })

  it("closes the fullest batch where more would be open than memory has room for, the oldest of equals", () => {
    const same = Array.from({ length: Batch.maxOpenBatches + 2 }, (_, i) => item(1, i, 0))
    const many = gather(same, { maxPrompts: 10, maxBytes: 100 })
    assert.deepStrictEqual(ids(many.closed), ["0", "1"])
    // The second and third batch get a second prompt, and are the fullest.
    const [first, second] = [same.slice(0, -2), same.slice(-2)]
    const two = [item(1, 1000, 1), item(1, 1001, 1), item(1, 1002, 1)]
    const limits = { maxPrompts: 3, maxBytes: 100 }
    assert.deepStrictEqual(ids(gather([...first, ...two, item(1, 1003, 2), ...second], limits).closed), [
      "0 1000 1003",
      "1 1001",
    ])
    const large = gather(
      [60, 50, 55, 30].map((bytes, i) => item(bytes, i)),
      { maxPrompts: 10, maxBytes: 70 },
      150,
    )
    assert.deepStrictEqual([ids(large.closed), ids(large.open)], [["0"], ["1", "2", "3"]])
  })

  it("fills batches of large items whose prompts stand in a row", () => {
    const rows = Array.from({ length: 900 }, (_, i) => item(40_000, i, Math.floor(i / 30)))
    const { closed, open } = gather(rows, Batch.defaultLimits)
    // Each prompt takes 30 batches: 20 prompts fill the first 30, the other 10 stand in 30 more.
    assert.deepStrictEqual([closed.length, open.length], [30, 30])
  })

  it("builds the same batches however the items arrive, and the rest of them after a kill at any moment", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ prompt: fc.nat(12), bytes: fc.integer({ min: 1, max: 60 }), gold: fc.array(fc.nat(3)) }), {
          maxLength: 60,
        }),
        // Of 40 prompts in a row that are the same, batches are closed for the bytes of all of them.
        fc.constantFrom(1, 40),
        fc.record({ maxPrompts: fc.integer({ min: 1, max: 6 }), maxBytes: fc.constantFrom(1, 40, 100) }),
        fc.constantFrom(undefined, 100, 200, 400),
        fc.array(fc.nat(20), { maxLength: 6 }),
        (drawn, inRow, limits, openBytes, sizes) => {
          const items = drawn.map(({ bytes, gold, prompt }, i) =>
            withGold(item(bytes, i, inRow === 1 ? prompt : Math.floor(i / inRow)), ...gold),
          )
          const undisturbed = gather(items, limits, openBytes)
          const whole = [...undisturbed.closed, ...undisturbed.open]
          for (const batch of whole) {
            assert.strictEqual(new Set(batch.map(({ item }) => item.prompt)).size, batch.length)
            assert.isAtMost(batch.length, limits.maxPrompts)
            const bytes = batch.reduce((sum, item) => sum + item.bytes.utf8.length, 0)
            if (batch.length > 1) assert.isAtMost(bytes, limits.maxBytes)
          }
          assert.sameMembers(
            whole.flatMap((batch) => batch.flatMap(({ isCheck, itemId }) => (isCheck === true ? [] : [itemId]))),
            items.map(({ itemId }) => itemId),
          )
          const batches = Batch.make(limits, openBytes)
          const planned: Array<Batch.Batch> = []
          let at = 0
          for (const size of [...sizes, items.length]) {
            planned.push(...batches.add(items.slice(at, at + size)))
            at += size
            // A run that goes on after this step knows the items of the batches that are planned.
            const known = new Set(planned.flat().map(({ itemId }) => itemId))
            const resumed = gather(
              items.filter(({ itemId }) => !known.has(itemId)),
              limits,
              openBytes,
            )
            assert.deepStrictEqual(prompts([...planned, ...resumed.closed, ...resumed.open]), prompts(whole))
          }
          assert.deepStrictEqual(ids([...planned, ...batches.end()]), ids(whole))
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe("Batch with gold items", () => {
  const limits = { maxPrompts: 3, maxBytes: 100 }

  it("keeps a gold item in the batch of its item, in a new one where the last has no room for both", () => {
    const items = [item(1, 0), item(1, 1), withGold(item(1, 2), 7), item(1, 3), item(1, 4)]
    assert.deepStrictEqual(prompts(gather(items, limits).closed), ["0 1 3", "2 1007 4"])
  })

  it("takes another one where its prompt is in the batch, and none where all are", () => {
    const items = [withGold(item(1, 0), 7, 8), withGold(item(1, 1), 7, 8), withGold(item(1, 2), 7, 8)]
    assert.deepStrictEqual(prompts(gather(items, { maxPrompts: 9, maxBytes: 100 }).open), ["0 1007 1 1008 2"])
  })

  it("takes no gold item that is its own item", () => {
    assert.deepStrictEqual(prompts(gather([withGold(item(1, 1007), 7, 8)], limits).open), ["1007 1008"])
  })

  it("makes a batch of each where two don't fit into one", () => {
    const items = [withGold(item(1, 0), 7), item(1, 1)]
    assert.deepStrictEqual(prompts(gather(items, { maxPrompts: 1, maxBytes: 100 }).closed), ["0", "1007", "1"])
    const large = [withGold(item(100, 0), 7), item(1, 1)]
    assert.deepStrictEqual(prompts(gather(large, limits).closed), ["0", "1007"])
  })
})
