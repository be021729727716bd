import { assert, describe, it } from "@effect/vitest"
import * as BodyCache from "../../../../src/task/ledger/schema/BodyCache.ts"

/** A cache with room for 30 bytes, and bodies of 10 with the given numbers in it. */
const cacheOf = (...seqs: ReadonlyArray<number>) => {
  const cache = BodyCache.make(30)
  for (const seq of seqs) cache.add(seq, new Uint8Array(10).fill(seq))
  return cache
}

const held = (cache: BodyCache.BodyCache) => [0, 1, 2, 3, 4, 5].filter((seq) => cache.get(seq)?.[0] === seq)

describe("BodyCache", () => {
  it("takes no body when it is full", () => {
    assert.deepStrictEqual(held(cacheOf(0, 1, 2, 3)), [0, 1, 2])
  })

  it("has the room of what was dropped, once", () => {
    const cache = cacheOf(0, 1, 2)
    cache.drop(0)
    cache.drop(0)
    cache.drop(5)
    cache.add(3, new Uint8Array(10).fill(3))
    cache.add(4, new Uint8Array(10).fill(4))
    assert.deepStrictEqual(held(cache), [1, 2, 3])
  })

  it("holds the last body of a task, with its size", () => {
    const cache = cacheOf(0, 0, 0, 0)
    cache.add(1, new Uint8Array(20).fill(1))
    assert.deepStrictEqual(held(cache), [0, 1])
    cache.add(0, new Uint8Array(11))
    assert.deepStrictEqual(held(cache), [1])
    assert.isUndefined(cache.get(0), "the old one must not stay where the new one finds no room")
  })
})
