import { assert, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as HashNumbers from "../../../src/pair/stats/HashNumbers.ts"

it("HashNumbers keeps the first number of each hash, as a map does", () => {
  // Hashes with the same low bits, on which the place in the table depends, and the least and greatest.
  const hash = fc.oneof(
    fc.nat(20).map((high) => high * 2 ** 40),
    fc.nat(300),
    fc.constantFrom(0, 2 ** 52 - 1, 2 ** 32 - 1),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(hash, fc.nat()), { maxLength: 500 }), (entries) => {
      const table = HashNumbers.make()
      const map = new Map<number, number>()
      for (const [hash, number] of entries) {
        if (!map.has(hash)) map.set(hash, number)
        assert.strictEqual(table.getOrSet(hash, number), map.get(hash))
      }
    }),
  )
})
