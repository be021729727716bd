import { assert, describe, it } from "@effect/vitest"
import { FileCounts } from "../../../src/source/combine/FileCounts.ts"

/** @param files the keys of each file's records */
const areEven = (...files: ReadonlyArray<ReadonlyArray<number>>): boolean => {
  const counts = new FileCounts()
  for (const [i, keys] of files.entries()) for (const key of keys) counts.add(key, `${i}.jsonl`)
  return counts.areEven(1 + Math.max(...files.flat()))
}

describe("FileCounts", () => {
  it("files are even where most keys have equally many records in each", () => {
    assert.isTrue(areEven([0, 1, 2], [2, 1, 0], [0, 1, 2]))
    assert.isTrue(areEven([0, 0, 1, 1], [1, 0, 1, 0]))
    assert.isTrue(areEven([0, 1, 2, 3], [0, 1, 2, 3, 3]), "three quarters")
    assert.isFalse(areEven([0, 1, 2], [0, 1, 2, 2]), "two thirds")
    assert.isFalse(areEven([0, 0], [0], [0, 0]))
    assert.isFalse(areEven([0, 0, 0], [0]))
  })

  it("a key must be in more than half of the files; one that has a single record does not count", () => {
    assert.isFalse(areEven([0, 1], [0, 1], [2, 3], [2, 3]))
    assert.isTrue(areEven([0, 1], [0, 1], [0, 1], [2, 3]))
    assert.isFalse(areEven([0, 0], [1, 1]))
  })
})
