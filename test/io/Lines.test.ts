import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Result, Schema, Stream } from "effect"
import { Base64 } from "effect/encoding"
import * as Lines from "../../src/io/Lines.ts"
import { platform, writeFiles } from "../source/support.ts"
import { cut } from "../source/format/support.ts"
import { effectTest } from "../support/effectTest.ts"

const test = effectTest(it.effect)

const bytesOf = (text: string) => new TextEncoder().encode(text)

const linesOf = (chunks: ReadonlyArray<Uint8Array>, options?: Lines.LinesOptions) =>
  Stream.fromArray(chunks).pipe(Stream.rechunk(1), Lines.fromBytes("f", options), Stream.runCollect)

const textsOf = (lines: ReadonlyArray<Lines.LineResult>) =>
  lines.map((line) =>
    Result.isSuccess(line)
      ? `${line.success.number}:${line.success.text}`
      : `${line.failure.line}!${line.failure.code}`,
  )

describe("Lines", () => {
  it.effect.each<[string, Array<string>]>([
    ["", []],
    ["a", ["1:a"]],
    ["a\n", ["1:a"]],
    ["a\nb", ["1:a", "2:b"]],
    ["a\r\nb\r\n", ["1:a", "2:b"]],
    ["a\n\n \t\r\n\u00a0\nb", ["1:a", "5:b"]],
    ["\uFEFFa\n\uFEFFb\n", ["1:a", "2:\uFEFFb"]],
    ["\uFEFF\na\n", ["2:a"]],
    ["a\rb\u2028c\n", ["1:a\rb\u2028c"]],
    ["żółć\n😀\n", ["1:żółć", "2:😀"]],
  ])("%j", ([text, expected]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(textsOf(yield* linesOf([bytesOf(text)])), expected)
      assert.deepStrictEqual(textsOf(yield* linesOf(cut(bytesOf(text), [1]))), expected)
    }),
  )

  test("long lines are read as short ones are", function* () {
    const long = "ż".repeat(1_000)
    const bytes = Uint8Array.of(...bytesOf(`\uFEFF${long}\r\n\na\n${long}\n`), 0xff, ...bytesOf(`\n${long}b`))
    const expected = [`1:${long}`, "3:a", `4:${long}`, "5!invalid_utf8", `6:${long}b`]
    for (const size of [1, 1_500, 5_000, 10_000]) {
      assert.deepStrictEqual(textsOf(yield* linesOf(cut(bytes, [size]))), expected)
    }
  })

  test("a line that is not UTF-8 is refused alone, with its bytes", function* () {
    const bad = Uint8Array.of(0x61, 0xff, 0xc3)
    const bytes = Uint8Array.of(...bytesOf("é\n"), ...bad, ...bytesOf("\nü\n"))
    for (const size of [1, 2, 3, 100]) {
      const lines = yield* linesOf(cut(bytes, [size]))
      assert.deepStrictEqual(textsOf(lines), ["1:é", "2!invalid_utf8", "3:ü"])
      const reject = Result.getOrThrow(Result.flip(lines[1]!))
      assert.strictEqual(reject.raw_base64, Base64.encode(bad))
      assert.isUndefined(reject.raw)
    }
  })

  test("a line over the limit is refused, with its beginning and its size", function* () {
    // Three bytes each, so that the beginning's end falls into a character.
    const long = "€".repeat(50_000)
    const text = `a\n${long}\nb\n${long}`
    for (const sizes of [[1_000_000], [65_536], [997], [4, 100_000]]) {
      const lines = yield* linesOf(cut(bytesOf(text), sizes), { maxLineBytes: 149_999 })
      assert.deepStrictEqual(textsOf(lines), ["1:a", "2!oversized_line", "3:b", "4!oversized_line"])
      const reject = Result.getOrThrow(Result.flip(lines[1]!))
      assert.strictEqual(reject.raw, "€".repeat(21_845))
      assert.strictEqual(reject.raw_bytes, 150_000)
      assert.strictEqual(reject.reason, "expected a line of at most 149999 bytes, found 150000")
      assert.strictEqual((yield* linesOf(cut(bytesOf(text), sizes), { maxLineBytes: 150_000 })).length, 4)
    }
  })

  test("a line that spans thousands of chunks is put together once", function* () {
    const text = "x".repeat(20_000_000)
    const lines = yield* linesOf(cut(bytesOf(`${text}\nb`), [1_000]))
    assert.strictEqual(lines.length, 2)
    assert.strictEqual(Result.getOrThrow(lines[0]!).text, text)
  })

  it.effect("chunks of a file become arrays of lines", () =>
    Effect.gen(function* () {
      const [file] = yield* writeFiles({ "a.txt": "0123456789\n".repeat(20_000) })
      const fs = yield* FileSystem.FileSystem
      const arrays = yield* fs.stream(file!).pipe(Lines.fromBytes(file!), Stream.chunks, Stream.runCollect)
      assert.strictEqual(arrays.flat().length, 20_000)
      assert.isBelow(arrays.length, 6)
    }).pipe(Effect.provide(platform)),
  )

  const Byte = Schema.Literals(["a", "é", "😀", "\n", "\r", " ", "\uFEFF", "bad", "long"])
  const Size = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))
  it.effect.prop(
    "any chunks give the lines of the whole, and each line that is not blank gives one",
    [Schema.Array(Byte), Schema.NonEmptyArray(Size)],
    ([parts, sizes]) =>
      Effect.gen(function* () {
        const bytes = Uint8Array.from(
          parts.flatMap((part) =>
            part === "bad" ? [0xe2, 0x82] : [...bytesOf(part === "long" ? "long".repeat(10) : part)],
          ),
        )
        const options = { maxLineBytes: 50 }
        const whole = yield* linesOf([bytes], options)
        assert.deepStrictEqual(yield* linesOf(cut(bytes, sizes), options), whole)
        const latin1 = [...bytes].map((byte) => String.fromCharCode(byte)).join("")
        const numbers = latin1.split("\n").flatMap((line, i) => (/^(\xEF\xBB\xBF|\s)*$/.test(line) ? [] : [i + 1]))
        assert.deepStrictEqual(
          whole.map((line) => Result.match(line, { onSuccess: (_) => _.number, onFailure: (_) => _.line })),
          numbers,
        )
      }),
  )
})
