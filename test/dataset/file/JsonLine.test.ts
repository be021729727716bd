import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { encoder } from "../../../src/dataset/file/EncodedRow.ts"
import type { JsonRow } from "../../../src/dataset/file/Features.ts"
import * as JsonLine from "../../../src/dataset/file/JsonLine.ts"

const make = JsonLine.make({ text: "string", count: "int32", score: "float64" })
const encode = encoder()
const lineOf = (row: JsonRow) => make(encode(row))

describe("JsonLine", () => {
  it("writes numbers of a float64 column with a point, others as they are", () => {
    assert.strictEqual(lineOf({ text: "1", count: 1, score: 1 }), '{"text":"1","count":1,"score":1.0}')
    assert.strictEqual(lineOf({ score: 0.5, count: 0, text: "a" }), '{"score":0.5,"count":0,"text":"a"}')
    assert.strictEqual(lineOf({ text: null, count: null, score: null }), '{"text":null,"count":null,"score":null}')
    assert.strictEqual(lineOf({ text: '"a":1', count: -1, score: -1 }), '{"text":"\\"a\\":1","count":-1,"score":-1.0}')
  })

  it("writes what no compiler has checked as JSON.stringify does", () => {
    const row = { text: undefined, count: [undefined, 1], score: { none: undefined, some: [null, { a: "b" }] } }
    assert.strictEqual(lineOf(row as unknown as JsonRow), JSON.stringify(row))
  })

  it("gives a line that JSON.parse gives back, whatever the row holds", () => {
    const score = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.constant(1e300))
    const text = fc.string({ unit: "binary" })
    fc.assert(
      fc.property(fc.record({ text, count: fc.integer(), score: score.map((score) => score + 0) }), (row) => {
        const line = lineOf(row)
        assert.notInclude(line, "\n")
        assert.deepStrictEqual(JSON.parse(line), { ...row, score: row.score === 0 ? 0 : row.score })
      }),
    )
  })
})
