import { assert, describe, it } from "@effect/vitest"
import * as RequestCache from "../../../src/task/ledger/RequestCache.ts"

const question = (body: string) => ({ body })

/** A cache with room for 3 questions, and those with the given numbers in it. */
const cacheOf = (...seqs: ReadonlyArray<number>) => {
  const cache = RequestCache.make<{ readonly body: string }>(30)
  for (const seq of seqs) cache.add(seq, question(`question ${seq}`), 10)
  return cache
}

const held = (cache: RequestCache.RequestCache<{ readonly body: string }>) =>
  [0, 1, 2, 3, 4, 5].filter((seq) => cache.get(seq)?.body === `question ${seq}`)

describe("QuestionCache", () => {
  it("takes no newer question when it is full of ones to be sent", () => {
    assert.deepStrictEqual(held(cacheOf(0, 1, 2, 3)), [0, 1, 2])
  })

  it("makes room by what was sent longest ago, and only as much as is needed", () => {
    const cache = cacheOf(0, 1, 2)
    cache.sent(1)
    cache.sent(0)
    cache.add(3, question("question 3"), 10)
    assert.deepStrictEqual(held(cache), [0, 2, 3])
  })

  it("has the room of what was dropped, once", () => {
    const cache = cacheOf(0, 1, 2)
    cache.sent(0)
    cache.drop(0)
    cache.drop(0)
    cache.add(3, question("question 3"), 10)
    cache.add(4, question("question 4"), 10)
    assert.deepStrictEqual(held(cache), [1, 2, 3])
  })

  it("holds the last question of a task, with its size", () => {
    const cache = cacheOf(0, 0, 0, 0)
    cache.add(1, question("question 1"), 20)
    assert.deepStrictEqual(held(cache), [0, 1])
    cache.add(0, question("larger"), 11)
    assert.deepStrictEqual(held(cache), [1])
    assert.isUndefined(cache.get(0), "the old one must not stay where the new one finds no room")
  })

  it("takes no question that alone is too large, and says nothing of a task that it does not hold", () => {
    const cache = RequestCache.make<{ readonly body: string }>(30)
    cache.add(0, question("question 0"), 31)
    cache.sent(0)
    cache.drop(5)
    assert.deepStrictEqual(held(cache), [])
  })
})
