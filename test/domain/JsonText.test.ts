import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { charactersOf } from "../../src/domain/Text.ts"
import * as JsonText from "../../src/domain/JsonText.ts"

const wellFormed = fc.string({ unit: "binary" }).filter((text) => text.isWellFormed())
const escaped = fc.string({ unit: fc.constantFrom(...Array.from('a\\"/\b\f\n\r\t\0\u001f\u007fé—😀')) })
const long = fc.tuple(escaped, fc.integer({ min: 0, max: 9_000 })).map(([text, n]) => text + "line\n".repeat(n))

describe("JsonText", () => {
  it("unescapes what JSON.stringify writes, to the byte, and knows its length before", () => {
    fc.assert(
      fc.property(fc.oneof(wellFormed, escaped, long), (text) => {
        const json = Buffer.from(JSON.stringify(text))
        const bytes = Buffer.from(text)
        assert.strictEqual(JsonText.byteLength(json), bytes.length)
        assert.strictEqual(JsonText.characters(json, [0, json.length]), charactersOf(text))
        assert.isTrue(text.trim() !== "" || JsonText.mayBeBlank(json, [0, json.length]))
        const into = Buffer.alloc(bytes.length + 3, 0xff)
        JsonText.unescape(json, into, 2)
        assert.deepStrictEqual(into, Buffer.concat([Buffer.from([0xff, 0xff]), bytes, Buffer.from([0xff])]))
      }),
    )
  })
})
