import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as JsonRecord from "../../../../src/source/format/json/JsonRecord.ts"

describe("JsonRecord", () => {
  it("NaN, as Python writes it, is null in value and JSON; strings keep theirs", () => {
    const text = '{"NaN":NaN,"a":["NaN \\"NaN",NaN,-1]}'
    const expected = '{"NaN":null,"a":["NaN \\"NaN",null,-1]}'
    assert.deepStrictEqual(Result.getOrThrow(JsonRecord.parse(text)), {
      value: { NaN: null, a: ['NaN "NaN', null, -1] },
      json: expected,
    })
    assert.strictEqual(JsonRecord.nanAsNull(`${text.slice(0, -1)},"cut NaN`), `${expected.slice(0, -1)},"cut NaN`)
  })

  it.each(["NaNs", "-NaN", "[1NaN]", "Infinity", '{"a":NaN,}', "{NaN:1}", '"NaN'])("%s is no JSON", (text) => {
    assert.isTrue(Result.isFailure(JsonRecord.parse(text)))
  })
})
