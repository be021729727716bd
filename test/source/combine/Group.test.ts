import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Effect, Result, Schema, Stream } from "effect"
import type { Origin } from "../../../src/domain/Origin.ts"
import type { Reject } from "../../../src/domain/Reject.ts"
import * as Groups from "../../../src/source/combine/Group.ts"
import type { Part } from "../../../src/source/layout/Layout.ts"
import { platform, test } from "../support.ts"
import { column } from "../../support/columns.ts"

/** A part as a line of a file, whose text tells all of it. */
const part = (at: string, key: string, completion: string, more?: Partial<Part>): Part => {
  const [file, line] = at.split(":")
  const prompt = more?.prompt ?? `prompt of ${key}`
  const raw = JSON.stringify({ key, prompt, completion, model: more?.model, metadata: more?.metadata, at })
  const place = { file: file!, line: Number(line), raw }
  return { place, key, prompt, completion, model: undefined, metadata: undefined, ...more }
}

const run = Effect.fn(function* (
  parts: ReadonlyArray<Part | Reject>,
  options?: Partial<Groups.GroupOptions> & { readonly chunk?: number },
) {
  const input = parts.map((part) => ("code" in part ? Result.fail(part) : Result.succeed(part)))
  const records = yield* Stream.fromIterable(input).pipe(
    Stream.rechunk(options?.chunk ?? 3),
    (stream) => Groups.group(stream, { keyIsId: true, ...options }),
    Stream.runCollect,
  )
  return { records, items: Arr.getSuccesses(records), rejects: Arr.getFailures(records) }
}, Effect.provide(platform))

const at = ({ file, line }: Origin) => `${file}:${line}`
const described = (rejects: ReadonlyArray<Reject>) => rejects.map((it) => `${at(it)} ${it.code} ${it.reason}`)

describe("group", () => {
  test("items in the order in which keys appear, completions in that of their records, over several files", function* () {
    const { items, rejects } = yield* run([
      part("a:1", "x", "x1", { model: "m", metadata: { n: 1, topic: "t" } }),
      part("a:2", "y", "y1"),
      part("a:3", "x", "x2", { model: "n", metadata: { n: 2, topic: "t" } }),
      part("b:1", "z", "z1", { model: "m" }),
      part("b:2", "y", "y2", { model: "n" }),
      part("b:3", "x", "x1", { model: "o", metadata: { topic: "t" } }),
      part("b:4", "z", "z2", { model: "n" }),
    ])
    assert.deepStrictEqual(rejects, [])
    assert.deepStrictEqual(items.map(({ completionLists }) => completionLists)[0], [["n"]])
    assert.deepStrictEqual(
      items.map(({ completionOrigins, item, origin }) => [item, at(origin), completionOrigins!.map(at)]),
      [
        [
          {
            id: "x",
            prompt: "prompt of x",
            completions: ["x1", "x2", "x1"],
            models: ["m", "n", "o"],
            metadata: { n: [1, 2, null], topic: "t" },
          },
          "a:1",
          ["a:1", "a:3", "b:3"],
        ],
        [{ id: "y", prompt: "prompt of y", completions: ["y1", "y2"] }, "a:2", ["a:2", "b:2"]],
        [{ id: "z", prompt: "prompt of z", completions: ["z1", "z2"], models: ["m", "n"] }, "b:1", ["b:1", "b:4"]],
      ],
    )
  })

  test("an item has the key for its id only where it is one, and its hash where it is too long", function* () {
    const keys = ["7", "__proto__", "'; DROP TABLE part; --", "k".repeat(65), "k".repeat(1000), "k".repeat(1001)]
    const parts = keys.flatMap((key) => [part("a:1", key, "one"), part("a:2", key, "two")])
    const ids = (keyIsId: boolean) =>
      Effect.map(run(parts, { keyIsId }), ({ items }) => items.map(({ item }) => item.id))
    const hash = createHash("sha256").update(keys[5]!).digest("hex")
    assert.deepStrictEqual(yield* ids(true), [...keys.slice(0, 5), `sha256:${hash}`])
    assert.deepStrictEqual(yield* ids(false), [undefined, undefined, undefined, undefined, undefined, undefined])
  })

  test("text comes as it went, NUL and all", function* () {
    const text = '\0 and \uFEFF, \u{1F600}, \u2028 "quoted", in a text that is long enough'
    const { items } = yield* run(
      [part("a:1", text, "one", { metadata: { ["__proto__"]: text } }), part("a:2", text, text)],
      { keyIsId: false },
    )
    assert.deepStrictEqual(items[0]!.item.completions, ["one", text])
    assert.deepStrictEqual(items[0]!.item.metadata, { ["__proto__"]: [text, null] })
    const { rejects } = yield* run([part("a:1", text, text)])
    assert.strictEqual(rejects[0]!.raw, part("a:1", text, text).place.raw)
  })

  test("a key as long as a prompt, and a prompt of messages", function* () {
    const long = "Why is that? ".repeat(100)
    const prompt = [{ role: "user", content: long }] as const
    const { items, rejects } = yield* run(
      [
        part("a:1", long, "one", { prompt: long }),
        part("a:2", `${long}!`, "one", { prompt }),
        part("a:3", `${long}!`, "two", { prompt: [{ ...prompt[0] }] }),
        part("a:4", long, "two", { prompt: long }),
      ],
      { keyIsId: false },
    )
    assert.deepStrictEqual(rejects, [])
    assert.deepStrictEqual(column(items, "item"), [
      { prompt: long, completions: ["one", "two"] },
      { prompt, completions: ["one", "two"] },
    ])
  })

  test("a group without a choice is refused with all of its records", function* () {
    const parts = [part("a:1", "x", "same"), part("a:2", "y", "alone"), part("b:1", "x", "same")]
    const { rejects } = yield* run(parts)
    assert.deepStrictEqual(described(rejects), [
      'a:1 invalid_shape expected at least two distinct completions for key "x", found 1 in 2 records',
      'a:2 invalid_shape expected at least two distinct completions for key "y", found 1 in 1 record',
    ])
    const raws = parts.map(({ place }) => place.raw)
    const read = rejects.map(({ raw }) => raw)
    assert.deepStrictEqual(read, [`${raws[0]}\n${raws[2]}`, raws[1]])
  })

  test("records that do not belong are refused alone", function* () {
    const refused: Reject = { file: "a", line: 9, code: "invalid_shape", reason: "odd", raw: "{}" }
    const { items, rejects } = yield* run([
      part("a:1", "x", "one", { model: "m" }),
      part("a:2", "x", "two", { prompt: "another" }),
      part("a:3", "x", "one", { model: "m" }),
      refused,
      part("b:1", "x", "four", { prompt: [{ role: "user", content: "prompt of x" }] }),
      part("b:2", "x", "five", { model: "n" }),
    ])
    assert.deepStrictEqual(described(rejects), [
      "a:9 invalid_shape odd",
      'a:2 invalid_shape expected the same prompt as a:1 for key "x", found a different prompt',
      'a:3 duplicate_key expected a different completion in each record with model "m" and key "x", found the same completion as in a:1',
      'b:1 invalid_shape expected the same prompt as a:1 for key "x", found a different prompt',
    ])
    assert.deepStrictEqual(items[0]!.item.completions, ["one", "five"])
    assert.isTrue(rejects.every(({ raw }) => raw !== undefined))
  })

  test("several completions of one model, as best-of-n sampling gives them, make an item", function* () {
    const { items, rejects } = yield* run([
      part("a:1", "x", "one", { model: "m" }),
      part("a:2", "x", "two", { model: "m" }),
      part("a:3", "x", "one", { model: "n" }),
      part("a:4", "x", "three", { model: "m" }),
    ])
    assert.deepStrictEqual(rejects, [])
    assert.deepStrictEqual(items[0]!.item.completions, ["one", "two", "one", "three"])
    assert.deepStrictEqual(items[0]!.item.models, ["m", "m", "n", "m"])
  })

  test("a group that is too large for memory is refused record by record", function* () {
    const text = "t".repeat(1024 * 1024)
    const parts = Array.from({ length: 34 }, (_, i) => part(`a:${i + 1}`, "x", `${i} ${text}`))
    const { records, rejects } = yield* run([...parts, part("b:1", "y", "one"), part("b:2", "y", "two")])
    assert.deepStrictEqual(
      rejects.map(({ code, line }) => `${code} ${line}`),
      parts.map(({ place }) => `too_large ${place.line}`),
    )
    assert.match(rejects[0]!.reason, /key "x", found more in 34 records/)
    assert.strictEqual(rejects[33]!.raw, parts[33]!.place.raw)
    assert.isTrue(Result.isSuccess(records.at(-1)!))
  })

  const Letter = Schema.Literals(["a", "b", "c", "d", "e"])
  const Row = Schema.Struct({
    key: Letter,
    text: Letter,
    model: Schema.optional(Letter),
    prompt: Schema.Literals(["p", "p", "q"]),
  })
  const toParts = (rows: ReadonlyArray<typeof Row.Type>) =>
    rows.map(({ key, model, prompt, text }, i) => part(`f:${i + 1}`, key, text, { model, prompt: prompt + key }))

  it.effect.prop(
    "every record is in one item or in one reject's text",
    [Schema.Array(Row)],
    ([rows]) =>
      Effect.gen(function* () {
        const parts = toParts(rows)
        const { items, rejects } = yield* run(parts)
        const raws = new Map(parts.map(({ place }) => [at(place), place.raw]))
        const used = items.flatMap(({ completionOrigins }) => completionOrigins!.map((origin) => raws.get(at(origin))))
        const refused = rejects.flatMap(({ raw }) => raw!.split("\n"))
        assert.deepStrictEqual(new Set([...used, ...refused]), new Set(raws.values()))
        assert.strictEqual(used.length + refused.length, parts.length)
      }),
    { arbitrary: { runs: 40 } },
  )

  it.effect.prop(
    "the same, sorted by key or not, and whatever the chunks",
    [Schema.Array(Row), Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 7 }))],
    ([rows, chunk]) =>
      Effect.gen(function* () {
        const parts = toParts(rows)
        const sorted = parts.toSorted((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
        const byKey = (items: Effect.Success<ReturnType<typeof run>>["items"]) =>
          items.toSorted((one, other) => (one.item.id! < other.item.id! ? -1 : 1))
        const whole = yield* run(parts, { chunk: 1000 })
        assert.deepStrictEqual(yield* run(parts, { chunk }), whole)
        assert.deepStrictEqual((yield* run(sorted)).items, byKey(whole.items))
        const keys = [...new Set(parts.map(({ key }) => key))]
        assert.deepStrictEqual(
          whole.items.map(({ item }) => item.id),
          keys.filter((key) => whole.items.some(({ item }) => item.id === key)),
        )
      }),
    { arbitrary: { runs: 40 } },
  )
})
