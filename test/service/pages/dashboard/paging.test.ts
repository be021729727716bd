import { assert, describe, it } from "@effect/vitest"
import { pagesOf, pageWith, paging, start, visit } from "../../../../src/service/pages/dashboard/paging.ts"

describe("paging a list that comes newest first", () => {
  it("older goes where the service says, newer back the same way", () => {
    let trail = visit(start, undefined)
    assert.deepStrictEqual(paging(trail, undefined, 900), { hasNewer: false, newer: undefined, older: 900 })
    trail = visit(trail, 900)
    trail = visit(trail, 850)
    assert.deepStrictEqual(paging(trail, 850, 800), { hasNewer: true, newer: 900, older: 800 })
    // The browser's own way back does not lengthen the trail.
    trail = visit(trail, 900)
    assert.deepStrictEqual(paging(trail, 900, 850), { hasNewer: true, newer: undefined, older: 850 })
    assert.deepStrictEqual(paging(visit(trail, 850), 850, null), { hasNewer: true, newer: 900, older: undefined })
  })

  it("from a link into the middle, newer leads to the newest page", () => {
    const trail = visit(start, 500)
    assert.deepStrictEqual(paging(trail, 500, 450), { hasNewer: true, newer: undefined, older: 450 })
  })

  it("a step to a newer page that is not on the trail begins it anew", () => {
    const trail = visit(visit(visit(start, 900), 850), 870)
    assert.deepStrictEqual(trail, [undefined, 870])
  })
})

describe("paging a list with a known length", () => {
  it("names first and last, and the pages beside", () => {
    assert.deepStrictEqual(pagesOf(50, 20, 0), { first: 1, last: 20, previous: undefined, next: 20 })
    assert.deepStrictEqual(pagesOf(50, 20, 20), { first: 21, last: 40, previous: 0, next: 40 })
    assert.deepStrictEqual(pagesOf(50, 20, 40), { first: 41, last: 50, previous: 20, next: undefined })
    assert.deepStrictEqual(pagesOf(0, 20, 0), { first: 0, last: 0, previous: undefined, next: undefined })
    assert.strictEqual(pagesOf(40, 20, 20).next, undefined)
  })

  it("finds the page of a number, and stays within the list", () => {
    assert.deepStrictEqual(
      [1, 20, 21, 40, 41, 50, 51, 0, 10_000].map((n) => pageWith(n, 50, 20)),
      [0, 0, 20, 20, 40, 40, 40, 0, 40],
    )
    assert.strictEqual(pageWith(1, 0, 20), 0)
  })
})
