import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Components from "../../../src/pair/stats/Components.ts"

const edges = fc.array(fc.tuple(fc.nat(7), fc.nat(7)), { maxLength: 20 })

/** Which nodes each reaches, itself included, by repeated steps. */
const reach = (nodes: number, all: ReadonlyArray<Components.Edge>) =>
  Array.from({ length: nodes }, (_, start) => {
    const seen = new Set([start])
    for (let size = 0; size < seen.size;) {
      size = seen.size
      for (const [from, to] of all) if (seen.has(from)) seen.add(to)
    }
    return seen
  })

describe("Components", () => {
  it("two nodes share one if and only if each reaches the other, and components come in order", () => {
    fc.assert(
      fc.property(edges, (all) => {
        const reached = reach(8, all)
        const strong = Components.strong(8, all)
        for (let a = 0; a < 8; a++) {
          for (let b = 0; b < 8; b++) {
            assert.strictEqual(strong[a] === strong[b], reached[a]!.has(b) && reached[b]!.has(a))
          }
        }
        for (const [from, to] of all) assert.isAtMost(strong[from]!, strong[to]!)
      }),
    )
  })

  it("without directions, if there is a way at all", () => {
    assert.deepStrictEqual([...Components.weak(5, [[0, 1], [2, 1], [3, 4]])].map((c, _, all) => all.indexOf(c)), [0, 0, 0, 3, 3]) // prettier-ignore
  })
})
