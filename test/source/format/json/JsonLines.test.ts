import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Source from "../../../../src/source/Source.ts"
import { collect, platform, summary, test, toLines, writeFiles } from "../../support.ts"

const good = { prompt: "p", completions: ["a", "b"] }

/** The records of a file, behind another in which the layout is found. */
const read = Effect.fn(function* (content: string | Uint8Array, options?: Source.FilesOptions) {
  const files = yield* writeFiles({ "first.jsonl": toLines([good]), "a.jsonl": content })
  const { items, records, rejects } = yield* collect(Source.files(files, { format: "jsonl", ...options }))
  return { items: items.slice(1), records: records.slice(1), rejects }
}, Effect.provide(platform))

describe("files of JSON Lines", () => {
  test("an item keeps its members, and loses those that items do not have", function* () {
    const item = {
      ...good,
      id: "x",
      gold: { best_completion_index: 1, rationale: "why" },
      metadata: { a: [1, { b: null }] },
    }
    const { items, rejects } = yield* read(toLines([{ ...item, extra: 1 }, good]))
    const found = items.map(({ item }) => item)
    assert.deepStrictEqual(found, [item, good])
    const lines = items.map(({ origin }) => origin.line)
    assert.deepStrictEqual(lines, [1, 2])
    assert.match(items[0]!.origin.file, /a\.jsonl$/)
    assert.deepStrictEqual(rejects, [])
  })

  test("an id may be a safe integer", function* () {
    const ids = ["7", "-7", "9007199254740992", "1.5", "true", "null", "[]", '" "', '"a\\u0000"']
    const { records } = yield* read(ids.map((id) => `{"id":${id},"prompt":"p","completions":["a","b"]}\n`).join(""))
    assert.deepStrictEqual(summary(records), [
      "1 item 7",
      "2 item -7",
      "3 invalid_shape id: expected a string or a safe integer, found 9007199254740992",
      "4 invalid_shape id: expected a string or a safe integer, found 1.5",
      "5 invalid_shape id: expected a string or a safe integer, found true",
      "6 item p",
      "7 invalid_shape id: expected a string or a safe integer, found an empty array",
      "8 invalid_shape id: expected text, found a blank string",
      '9 invalid_shape id: expected text without NUL, found "a\\u0000"',
    ])
  })

  test("an id has 1,000 bytes at the most, which every database takes", function* () {
    const ids = ["x".repeat(1000), "x".repeat(1001), "é".repeat(500), "é".repeat(501)]
    const { records } = yield* read(toLines(ids.map((id) => ({ ...good, id }))))
    assert.deepStrictEqual(summary(records), [
      `1 item ${ids[0]}`,
      `2 invalid_shape id: expected at most 1,000 bytes of text, found "${"x".repeat(60)}…"`,
      `3 item ${ids[2]}`,
      `4 invalid_shape id: expected at most 1,000 bytes of text, found "${"é".repeat(60)}…"`,
    ])
  })

  test("a reject says where, what was expected and what was found", function* () {
    const long = `first\nsecond ${"x".repeat(100)}`
    const gold = (gold: unknown) => ({ ...good, gold })
    const cases: ReadonlyArray<readonly [line: unknown, reason: string]> = [
      ["null", "expected an object, found null"],
      ["[1]", "expected an object, found an array"],
      ['"text"', 'expected an object, found "text"'],
      [{}, "prompt: expected text or a list of messages, found nothing"],
      [{ ...good, prompt: 1 }, "prompt: expected text or a list of messages, found 1"],
      [{ ...good, prompt: "\n" }, "prompt: expected text, found a blank string"],
      [{ ...good, prompt: "\ud800" }, "prompt: expected well-formed Unicode, found a lone surrogate"],
      [{ prompt: "p" }, "completions: expected a value, found nothing"],
      [{ ...good, completions: long }, `completions: expected an array, found "first\\nsecond ${"x".repeat(47)}…"`],
      [{ ...good, completions: ["a", { text: "b" }] }, "completions[1]: expected a string, found an object"],
      [
        { ...good, completions: ["a", ""] },
        "completions: expected at least two distinct completions that are not blank, found 1",
      ],
      [{ ...good, completions: ["a", "a"] }, "completions: expected at least two distinct completions, found 1"],
      [gold(true), "gold: expected an object, the index of a completion, or the name of its model, found true"],
      [gold({}), "gold.best_completion_index: expected a value, found nothing"],
      [gold({ best_completion_index: "0" }), 'gold.best_completion_index: expected a number, found "0"'],
      [gold({ best_completion_index: 0.5 }), "gold.best_completion_index: expected an integer, found 0.5"],
      [
        gold({ best_completion_index: -1 }),
        "gold.best_completion_index: expected a value greater than or equal to 0, found -1",
      ],
      [gold({ best_completion_index: 2 }), "gold.best_completion_index: expected an index below 2, found 2"],
      [gold({ best_completion_index: 0, rationale: 5 }), "gold.rationale: expected a string, found 5"],
      [{ ...good, metadata: [] }, "metadata: expected an object, found an empty array"],
      [{ ...good, metadata: "m" }, 'metadata: expected an object, found "m"'],
    ]
    const { records, rejects } = yield* read(toLines([...cases.map(([line]) => line), '{"prompt":']))
    assert.deepStrictEqual(summary(records), [
      ...cases.map(([, reason], i) => `${i + 1} invalid_shape ${reason}`),
      "22 invalid_json column 11: expected a value, found the end of the line",
    ])
    assert.deepStrictEqual([rejects[3]!.raw, rejects[21]!.raw], ["{}", '{"prompt":'])
  })

  test("hostile records are refused or harmless", function* () {
    const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth)
    const { records, items } = yield* read(
      toLines([
        deep(100_000),
        `{"prompt":"p","completions":${deep(100_000)}}`,
        `{"prompt":"p","completions":["a","b"],"metadata":{"a":${deep(100_000)}}}`,
        `{"prompt":"p","completions":["a","b"],"metadata":{"a":${deep(99)}}}`,
        `{"prompt":"p","completions":["a","b"],"metadata":{"a":${deep(100)}}}`,
        `{"__proto__":{"prompt":"p","completions":["a","b"]}}`,
        `{"prompt":"own","completions":["a","b"],"__proto__":{"id":"x"},"metadata":{"__proto__":{"a":1}}}`,
        `{"prompt":"p","completions":{"length":2,"0":"a","1":"b"}}`,
      ]),
    )
    assert.deepStrictEqual(summary(records), [
      "1 invalid_shape expected an object, found an array",
      "2 invalid_json expected at most 100,000 levels of nesting, found more",
      "3 invalid_json expected at most 100,000 levels of nesting, found more",
      "4 item p",
      "5 invalid_shape metadata: expected at most 100 levels of nesting, found more",
      "6 invalid_shape prompt: expected text or a list of messages, found nothing",
      "7 item own",
      "8 invalid_shape completions: expected an array, found an object",
    ])
    assert.strictEqual(JSON.stringify(items[1]!.item.metadata), '{"__proto__":{"a":1}}')
    assert.isUndefined(items[1]!.item.id)
    assert.isUndefined(({} as { a?: unknown }).a)
  })
})
