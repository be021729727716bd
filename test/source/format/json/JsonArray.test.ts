import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema, Stream } from "effect"
import { Base64 } from "effect/encoding"
import * as JsonArray from "../../../../src/source/format/json/JsonArray.ts"
import type { LinesOptions } from "../../../../src/io/Lines.ts"
import type { RowResult } from "../../../../src/source/record/Row.ts"
import { cut } from "../support.ts"
import { test } from "../../support.ts"
import { columns } from "../../../support/columns.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)

const rowsUntil = (onEnd: (error: Error) => void) => (chunks: ReadonlyArray<Uint8Array>, options?: LinesOptions) =>
  Stream.fromArray(chunks).pipe(
    Stream.rechunk(1),
    JsonArray.rows("f", options),
    Stream.catch((error) => {
      onEnd(error)
      return Stream.empty
    }),
    Stream.runCollect,
  )

const rowsOf = rowsUntil(() => {})

/** `LINE/ROW VALUE` for each record, `LINE/ROW! CODE REASON` for each reject. */
const summary = (rows: ReadonlyArray<RowResult>) =>
  rows.map((row) =>
    Result.match(row, {
      onSuccess: ({ place, value }) => `${place.line}/${place.row} ${JSON.stringify(value)}`,
      onFailure: ({ line, row, code, reason }) => `${line}/${row}! ${code} ${reason}`,
    }),
  )

const rest = (bytes: number | string) => `; the rest of the file (${bytes} bytes) cannot be split into records`

describe("JsonArray", () => {
  test.each<[string, Array<string>]>([
    ["", []],
    [" \n\t", []],
    ["[]", []],
    ["\uFEFF [ ] \r\n", []],
    ['\uFEFF[{"a":1}]', ['1/1 {"a":1}']],
    ['[{"a":1},{"a":2}]', ['1/1 {"a":1}', '1/2 {"a":2}']],
    [
      '[\n  {\n    "a": 1\n  },\r\n\r\n  {"a": [1, {"b": "x]},{"}]}\n]\n',
      ['2/1 {"a":1}', '6/2 {"a":[1,{"b":"x]},{"}]}'],
    ],
    [
      '[1, "a,\\"]", null, [], {}, -1.5e3, true]',
      ["1/1 1", '1/2 "a,\\"]"', "1/3 null", "1/4 []", "1/5 {}", "1/6 -1500", "1/7 true"],
    ],
    ['["\\\\", "\\\\\\"", "żółć😀"]', ['1/1 "\\\\"', '1/2 "\\\\\\""', '1/3 "żółć😀"']],
    ['[{"__proto__":1}]', ['1/1 {"__proto__":1}']],
    // An element at fault: the next are read.
    ['[{"a":1,},{"a":2}]', ['1/1! invalid_json column 8: expected a name in double quotes, found "}"', '1/2 {"a":2}']],
    ['[x,{"a":2}]', ['1/1! invalid_json column 1: expected a value, found "x"', '1/2 {"a":2}']],
    ['[{"a":1}},{"a":2}]', ['1/1! invalid_json column 8: expected the end of the record, found "}"', '1/2 {"a":2}']],
    ['[{"a":1}{"a":2},3]', ['1/1! invalid_json column 8: expected the end of the record, found "{"', "1/2 3"]],
    ['[1,\n{"a":1,\n "b":x},2]', ["1/1 1", '2/2! invalid_json line 2, column 6: expected a value, found "x"', "3/3 2"]],
    ["[1,,2]", ["1/1 1", '1/2! invalid_json expected a value, found ","', "1/3 2"]],
    ["[,1]", ['1/1! invalid_json expected a value, found ","', "1/2 1"]],
    ["[1,\n]", ["1/1 1", '2/2! invalid_json expected a value, found "]"']],
    [
      '[{"a":"\n"},1]',
      ['1/1! invalid_json line 1, column 7: expected a string character or a closing ", found "\\n"', "2/2 1"],
    ],
    // No end can be told.
    ["[", ['1/1! invalid_json expected "," or "]", found the end of the file']],
    ["[1\n", ["1/1 1", '2/2! invalid_json expected "," or "]", found the end of the file']],
    ["[1,", ["1/1 1", "1/2! invalid_json expected a value, found the end of the file"]],
    [
      '[{"a":1},{"a":2}',
      ['1/1 {"a":1}', '1/2 {"a":2}', '1/3! invalid_json expected "," or "]", found the end of the file'],
    ],
    [
      '[1,{"a":"b',
      [
        "1/1 1",
        `1/2! invalid_json column 8: expected a string character or a closing ", found the end of the file${rest(7)}`,
      ],
    ],
    [
      '[1,{"a":1,\n{"b":2},\n{"c":3}]\n',
      ["1/1 1", `1/2! invalid_json line 2, column 1: expected a name in double quotes, found "{"${rest(26)}`],
    ],
    [
      '[1,{"a":[1,2},3]',
      [
        "1/1 1",
        '1/2! invalid_json column 10: expected "," or "]", found "}"',
        '1/3! invalid_json expected "," or "]", found the end of the file',
      ],
    ],
    ['[1,{"a":1],{"b":2}]', ["1/1 1", `1/2! invalid_json column 7: expected "," or "}", found "]"${rest(16)}`]],
    ["[1] \n", ["1/1 1"]],
    [
      '[1]\n{"a":2}\n',
      ["1/1 1", `2/2! invalid_json expected the end of the file after "]", found more content${rest(8)}`],
    ],
    ["[1]]", ["1/1 1", `1/2! invalid_json expected the end of the file after "]", found more content${rest(1)}`]],
    // Arrays one after the other, as of several files.
    ['[1]\n[{"a":2},3] [] [4]', ["1/1 1", '2/2 {"a":2}', "2/3 3", "2/4 4"]],
    [
      "[1]\uFEFF[2]",
      [
        "1/1 1",
        `1/2! invalid_json expected the end of the file after "]", found a byte order mark (probably the start of another file)${rest(6)}`,
      ],
    ],
    ["[1][2,", ["1/1 1", "1/2 2", "1/3! invalid_json expected a value, found the end of the file"]],
    ['[{"a":1},\uFEFF{"a":2}]', ['1/1 {"a":1}', '1/2 {"a":2}']],
    ["[1,2\uFEFF]", ["1/1 1", '1/2! invalid_json column 2: expected the end of the record, found "\\uFEFF"']],
    // Values one after the other.
    ['{"a":1}', ['1/1 {"a":1}']],
    ['\uFEFF{\n  "a": 1\n}\n{\n  "a": [2]\n}{"a":3} {}\n', ['1/1 {"a":1}', '4/2 {"a":[2]}', '6/3 {"a":3}', "6/4 {}"]],
    ['{"a":1,\n"b":]}\n{"a":2}', ['1/1! invalid_json line 2, column 5: expected a value, found "]"', '3/2 {"a":2}']],
    [
      '{"a":1}\nx {"y"\n"z"\n{}',
      ['1/1 {"a":1}', '2/2! invalid_json column 1: expected a value, found "x"', '3/3 "z"', "4/4 {}"],
    ],
    [
      '{}\n{"a":{"b":1}\n{}',
      ["1/1 {}", `2/2! invalid_json line 2, column 1: expected "," or "}", found "{"${rest(15)}`],
    ],
    ["x", ['1/1! invalid_json column 1: expected a value, found "x"']],
  ])("%j", function* ([text, expected]) {
    for (const size of [1_000, 1, 2, 3, 5]) {
      assert.deepStrictEqual(summary(yield* rowsOf(cut(bytesOf(text), [size]))), expected)
    }
  })

  test.each<[string, number | false]>([
    ["[", 1],
    ["[1", 1],
    ["[1,", 1],
    ['[1,{"a":"b', 1],
    ['[1,{"a":"\\u00', 1],
    ['[1,{"a":tr', 1],
    ['[1,{"a":"b\n', 1],
    ['[1,{"a":"\u00e9', 1],
    [`[1,["${"x".repeat(70_000)}`, 1],
    ["[1][2,", 1],
    ['{"a":1}\n{"a":\n[1,', 2],
    // These are faults in the middle: the rest is a reject.
    ['[1,{"a":1,\n{"b":2},\n{"c":3}]\n', false],
    ['[1,{"a":1],{"b":2}]', false],
    ['[1]\n{"a":2', false],
    ['{}\n{"a":{"b":1}\n{}', false],
    ["[1] ", false],
    ["", false],
  ])("a file that ends early is unreadable, after its records: %j", function* ([text, line]) {
    const bytes = bytesOf(text)
    for (const part of text.endsWith("\u00e9") ? [bytes, bytes.subarray(0, -1)] : [bytes]) {
      const errors: Array<string> = []
      const rows = yield* rowsUntil(({ message }) => errors.push(message))(cut(part, [5]))
      const expected = `f: cannot be read: line ${line}: the JSON ends too early, so the file may be truncated; download it again`
      assert.deepStrictEqual(errors, line === false ? [] : [expected])
      assert.strictEqual(rows.some(Result.isSuccess), /[1{]/.test(text))
    }
  })

  test("an element that is not UTF-8 is refused alone, with its bytes", function* () {
    const bad = Uint8Array.of(0x22, 0xff, 0xc3, 0x22)
    const bytes = Uint8Array.of(...bytesOf('["é",'), ...bad, ...bytesOf(',"ü"]'))
    for (const size of [1, 2, 3, 100]) {
      const rows = yield* rowsOf(cut(bytes, [size]))
      assert.deepStrictEqual(summary(rows), [
        '1/1 "é"',
        '1/2! invalid_utf8 expected UTF-8, found other bytes (for another encoding, set `encoding: "NAME"`); see raw_base64',
        '1/3 "ü"',
      ])
      assert.strictEqual(Result.getOrThrow(Result.flip(rows[1]!)).raw_base64, Base64.encode(bad))
    }
  })

  test("bytes of which a part is a byte order mark's are not passed over", function* () {
    for (const mark of [[0xef], [0xef, 0xbb]]) {
      const [row] = yield* rowsOf([Uint8Array.of(...mark, ...bytesOf("[1]"))])
      assert.strictEqual(
        Result.getOrThrow(Result.flip(row!)).raw_base64,
        Base64.encode(Uint8Array.of(...mark, ...bytesOf("[1]"))),
      )
    }
  })

  test("an element over the limit is refused, with its beginning and its size; so is a rest", function* () {
    // Three bytes each, so that the beginning's end falls into a character.
    const long = `"${"€".repeat(50_000)}"`
    for (const sizes of [[1_000_000], [65_536], [997], [4, 100_000]]) {
      const chunks = cut(bytesOf(`[1,${long},\n2,[${long}`), sizes)
      const rows = yield* rowsOf(chunks, { maxLineBytes: 150_001 })
      assert.deepStrictEqual(summary(rows), [
        "1/1 1",
        "1/2! oversized_line expected a record of at most 150001 bytes, found 150002",
        "2/3 2",
        `2/4! invalid_json column 21847: expected a string character or a closing ", found the end of the excerpt${rest("150,003")}`,
      ])
      const rejects = rows.flatMap((row) => (Result.isFailure(row) ? [row.failure] : []))
      assert.deepStrictEqual(columns(rejects, "raw", "raw_bytes"), [
        [`"${"€".repeat(21_845)}`, 150_002],
        [`["${"€".repeat(21_844)}`, 150_003],
      ])
      assert.strictEqual(summary(yield* rowsOf(chunks, { maxLineBytes: 150_002 }))[1]!.slice(0, 6), '1/2 "€')
    }
  })

  test("no depth of nesting breaks it", function* () {
    const deep = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`
    const rows = yield* rowsOf(
      cut(bytesOf(`[${deep(90_000)},${deep(2_000_000)},${'{"a":'.repeat(1_000_000)}`), [65_536]),
    )
    assert.isTrue(Result.isSuccess(rows[0]!))
    assert.deepStrictEqual(summary(rows.slice(1)), [
      "1/2! invalid_json expected at most 100,000 levels of nesting, found more",
      '1/3! invalid_json column 65537: expected a name in double quotes or "}", found the end of the excerpt; the rest of the file (5,000,000 bytes) cannot be split into records',
    ])
  })

  const Value = Schema.Array(Schema.Json)
  const Size = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))
  it.effect.prop(
    "an array gives its elements, however it is laid out and cut",
    [Value, Schema.NonEmptyArray(Size), Schema.Literals([0, 1, 2])],
    ([values, sizes, indent]) =>
      Effect.gen(function* () {
        const array = JSON.stringify(values, undefined, indent)
        const rows = yield* rowsOf(cut(bytesOf(array), sizes))
        assert.strictEqual(JSON.stringify(rows.map((row) => Result.getOrThrow(row).value)), JSON.stringify(values))
        assert.deepStrictEqual(
          rows.map((row) => Result.getOrThrow(row).place.row),
          values.map((_, i) => i + 1),
        )
        // Objects one after the other.
        const objects = values.map((value) => ({ value }))
        const text = objects.map((object) => JSON.stringify(object, undefined, indent)).join(indent === 0 ? "" : "\n")
        const others = yield* rowsOf(cut(bytesOf(text), sizes))
        assert.strictEqual(JSON.stringify(others.map((row) => Result.getOrThrow(row).value)), JSON.stringify(objects))
      }),
  )

  const Token = Schema.Literals([...Array.from('{}[],:"\\\n 1xé\uFEFF'), '"a"', "bad"])
  it.effect.prop(
    "any bytes in any chunks give the same, and each byte that is no space, comma or bracket of the array is in a record",
    [Schema.Array(Token), Schema.NonEmptyArray(Size), Schema.Literals(["", "["])],
    ([tokens, sizes, begin]) =>
      Effect.gen(function* () {
        const bytes = Uint8Array.from(
          [begin, ...tokens].flatMap((token) => (token === "bad" ? [0xe2, 0x82] : [...bytesOf(token)])),
        )
        const options = { maxLineBytes: 30 }
        const whole = yield* rowsOf([bytes], options)
        assert.deepStrictEqual(yield* rowsOf(cut(bytes, sizes), options), whole)
        const sizeOf = (row: RowResult) =>
          Result.match(row, {
            onSuccess: ({ place }) => bytesOf(place.raw!),
            onFailure: ({ raw, raw_base64 }) =>
              raw === undefined ? Result.getOrThrow(Base64.decode(raw_base64!)) : bytesOf(raw),
          })
        const meant = (bytes: Uint8Array) => bytes.filter((byte) => !" \n,[]".includes(String.fromCharCode(byte)))
        const read = whole.flatMap((row) => [...meant(sizeOf(row))])
        const markless = String.fromCharCode(...bytes.subarray(0, 3)) === "\xEF\xBB\xBF" ? bytes.subarray(3) : bytes
        assert.deepStrictEqual(read, [...meant(markless)])
      }),
  )
})
