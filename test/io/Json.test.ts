import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as Json from "../../src/io/Json.ts"

const fault = (text: string) => Result.getOrThrow(Result.flip(Json.parse(text)))

describe("Json", () => {
  it.each([
    ['{"a":1', 'column 7: expected "," or "}", found the end of the line'],
    ['{"a" 1}', 'column 6: expected ":", found "1"'],
    ["hello", 'column 1: expected a value, found "hello"'],
    ['"abc', 'column 5: expected a string character or a closing ", found the end of the line'],
    ['{"a":tru}', 'column 6: expected a value, found "tru"'],
    ["{'a':1}", 'column 2: expected a name in double quotes or "}", found "\'"'],
    ['{"a":1}}', 'column 8: expected the end of the line, found "}"'],
    ["NaN", 'column 1: expected a value, found "NaN"'],
    ['{"a":-Infinity}', 'column 6: expected a value, found "-Infinity"'],
    ['["\u0001"]', 'column 3: expected a string character or a closing ", found "\\u0001"'],
    ['["\\x"]', 'column 3: expected a JSON escape sequence, found "\\\\"'],
    ["[1,]", 'column 4: expected a value, found "]"'],
    ["[", 'column 2: expected a value or "]", found the end of the line'],
    ['{"a":1,}', 'column 8: expected a name in double quotes, found "}"'],
    ["[01]", 'column 2: expected a value or "]", found "01"'],
    ["[1.]", 'column 2: expected a value or "]", found "1."'],
    ["[1 2]", 'column 4: expected "," or "]", found "2"'],
    ['[{"a":[]}', 'column 10: expected "," or "]", found the end of the line'],
    ["[😀]", 'column 2: expected a value or "]", found "😀"'],
    ["", "column 1: expected a value, found the end of the line"],
  ])("%s", (text, expected) => {
    assert.strictEqual(fault(text), expected)
  })

  it("is not broken by deep nesting or long strings", () => {
    assert.strictEqual(fault("[".repeat(100_000)), 'column 100001: expected a value or "]", found the end of the line')
    assert.strictEqual(
      fault(`"${"x\\n".repeat(2_000_000)}`),
      'column 6000002: expected a string character or a closing ", found the end of the line',
    )
    assert.isTrue(Result.isSuccess(Json.parse("[".repeat(100_000) + "]".repeat(100_000))))
  })

  const Token = Schema.Literals(["{", "}", "[", "]", ",", ":", '"a"', '"\\n"', "-1.5e3", "null", " ", "1x", '"'])
  it.prop("what the engine refuses has a fault, and its column lies in the text", [Schema.Array(Token)], ([tokens]) => {
    const text = tokens.join("")
    const parsed = Json.parse(text)
    if (Result.isSuccess(parsed)) return
    const [, column, found] = /^column (\d+): expected .+, found (.+)$/.exec(parsed.failure)!
    assert.isAtMost(Number(column), text.length + 1)
    assert.strictEqual(found === "the end of the line", Number(column) === text.length + 1)
    assert.notMatch(parsed.failure, /expected the end of the line, found the end of the line/)
  })

  it.prop(
    "a document cut short is at fault no later than at its end",
    [Schema.Json, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))],
    ([value, at]) => {
      const text = JSON.stringify([value])
      const cut = text.slice(0, at % text.length)
      const [, column] = /^column (\d+)/.exec(fault(cut))!
      assert.isAtMost(Number(column), cut.length + 1)
      assert.strictEqual(JSON.stringify(Result.getOrThrow(Json.parse(text))), text)
    },
  )
})
