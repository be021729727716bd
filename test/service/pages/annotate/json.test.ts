import { assert, it } from "@effect/vitest"
import * as fc from "fast-check"
import { indentJson } from "../../../../src/service/pages/annotate/json.ts"

it("indented JSON is what JSON.stringify makes of it, with digits and escapes as they were", () => {
  fc.assert(
    fc.property(fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())), (value) => {
      const expected = JSON.stringify(value, undefined, 2)
      assert.strictEqual(indentJson(JSON.stringify(value)), expected)
      assert.strictEqual(indentJson(expected), expected)
    }),
  )
  assert.strictEqual(
    indentJson('{"n":1.50,"e":"\\u00e9","b":12345678901234567890}'),
    '{\n  "n": 1.50,\n  "e": "\\u00e9",\n  "b": 12345678901234567890\n}',
  )
})

it("other text is not JSON", () => {
  for (const text of ["", "22 °C", "12", '"x"', "{", "[1,]", "{a: 1}"]) assert.isUndefined(indentJson(text), text)
})
