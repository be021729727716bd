import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as FieldPath from "../../src/io/FieldPath.ts"

const get = (path: string, record: unknown) => Result.getOrThrow(FieldPath.parse(path)).get(record)

describe("FieldPath", () => {
  it.each([
    ["a", { a: 1 }, 1],
    ["a.b", { a: { b: 2 } }, 2],
    ["choices[0].turns[1].content", { choices: [{ turns: [{}, { content: "x" }] }] }, "x"],
    ["[1].a", [0, { a: 3 }], 3],
    ["[0][1]", [[0, 4]], 4],
    ['["odd key"].x', { "odd key": { x: 5 } }, 5],
    ['a["b.c"]["[0]"]', { a: { "b.c": { "[0]": 6 } } }, 6],
    ['["\\u0061\\""]', { 'a"': 7 }, 7],
    ["ключ-1.$ref", { "ключ-1": { $ref: 8 } }, 8],
    ["a.0", { a: { 0: 9 } }, 9],
    ["__proto__.x", JSON.parse('{"__proto__":{"x":10}}'), 10],
  ])("%s", (path, record, expected) => {
    assert.strictEqual(get(path, record), expected)
  })

  it.each([
    ["toString", {}],
    ["__proto__", {}],
    ["constructor.name", {}],
    ["length", "text"],
    ["length", [1]],
    ["a.0", { a: [1] }],
    ["[0]", { 0: 1 }],
    ["[0]", "text"],
    ["a.b.c", { a: null }],
    ["a[9]", { a: [1] }],
    ["a", undefined],
  ])("%s finds nothing in %j", (path, record) => {
    assert.isUndefined(get(path, record))
  })

  it.each([
    ["", 'not a field path: "": expected name, [0] or ["name"] at character 1, found nothing'],
    ["a..b", 'not a field path: "a..b": expected .name, [0] or ["name"] at character 2, found "..b"'],
    ["a[0", 'not a field path: "a[0": expected .name, [0] or ["name"] at character 2, found "[0"'],
    ["a[-1]", 'not a field path: "a[-1]": expected .name, [0] or ["name"] at character 2, found "[-1]"'],
    ["odd key", 'not a field path: "odd key": expected .name, [0] or ["name"] at character 4, found " key"'],
    ["a.", 'not a field path: "a.": expected .name, [0] or ["name"] at character 2, found "."'],
    [".a.b", null],
    ["a]", null],
    ["[0]b", null],
    ['["\\x"]', null],
    ["[a]", null],
    ["a.[0]", null],
  ])("%j is refused", (text, message) => {
    const parsed = FieldPath.parse(text)
    assert.isTrue(Result.isFailure(parsed))
    if (message !== null && Result.isFailure(parsed)) assert.strictEqual(parsed.failure, message)
  })

  it.prop(
    "what is formatted is parsed, and leads to the value",
    [
      Schema.NonEmptyArray(
        Schema.Union([Schema.String, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 }))]),
      ),
    ],
    ([keys]) => {
      const record = keys.reduceRight<unknown>((inner, key) => {
        if (typeof key === "number") return Array.from({ length: key + 1 }, () => inner)
        return Object.defineProperty({}, key, { value: inner, enumerable: true })
      }, "here")
      assert.strictEqual(get(FieldPath.format(keys), record), "here")
    },
  )
})
