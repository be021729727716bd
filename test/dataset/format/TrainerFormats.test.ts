/** Every format over texts that files and readers are known to spoil, as second parties read them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { readFile } from "node:fs/promises"
import type { Feature, Features } from "../../../src/dataset/file/Features.ts"
import { type FormatName, formatNames, formats } from "../../../src/dataset/format/TrainerFormats.ts"
import type { Prompt } from "../../../src/domain/Message.ts"
import type { PreferencePair } from "../../../src/domain/PreferencePair.ts"
import { cases } from "../../support/cases.ts"
import * as readers from "../../support/datasetReaders.ts"
import { difficultTexts, pair } from "../../support/pairs.ts"
import { test } from "../support.ts"
import { assistant, encode, findings, sky, system, tool, user, written } from "./support.ts"

/** The richest conversation that a format takes, with the text wherever it may stand. */
const conversationOf: (name: FormatName) => (text: string) => Prompt = (() => {
  const any = (text: string): Prompt => [system(text), user(text), assistant(""), tool(text)]
  const question = (text: string): Prompt => [system(text || "."), user(text || ".")]
  const inTurn = (text: string): Prompt => [system(text || "."), user(text), assistant(text), tool(text)]
  const special: { readonly [Name in FormatName]?: (text: string) => Prompt } = {
    "llamafactory-alpaca": question,
    "llamafactory-sharegpt": inTurn,
    "llamafactory-kto": inTurn,
    "axolotl-bradley-terry": question,
    "openai-preference": (text) => [system(text), user(text), assistant(""), user(text)],
    hh: (text) => [user(text), assistant(text), user(text)],
  }
  return (name) => special[name] ?? any
})()

/** axolotl's DPO strategy can't take white space at the ends of a completion. */
const completion = (name: FormatName, text: string) => (name === "axolotl-chat-template" ? `<${text}>` : text)

const large = pair(1000, {
  chosen: `${"Wörter 😀 ".repeat(cases(50_000, 450_000))}.`,
  rejected: "x".repeat(cases(500_000, 5_000_000)),
})

const difficult = (name: FormatName): ReadonlyArray<PreferencePair> => [
  large,
  ...[...difficultTexts, "[user]\n\n[assistant]\n"].flatMap((text, i) => [
    pair(2 * i, {
      prompt: text === "" ? "." : text,
      chosen: completion(name, text === "" ? "." : text),
      rejected: completion(name, `${text}!`),
    }),
    pair(2 * i + 1, {
      prompt: conversationOf(name)(text),
      chosen: completion(name, `${text}${text}?`),
      rejected: completion(name, `${text}…`),
    }),
  ]),
]

const errorsIn = (name: FormatName, path: string) =>
  Effect.map(findings(name, path), (found) => found.filter(({ severity }) => severity === "error"))

const duckdbType = (feature: Feature): string => {
  if (typeof feature !== "string") {
    if ("list" in feature) return `${duckdbType(feature.list)}[]`
    const members = Object.entries(feature.struct).map(([name, member]) => `"${name}" ${duckdbType(member)}`)
    return `STRUCT(${members.join(", ")})`
  }
  return { string: "VARCHAR", bool: "BOOLEAN", int32: "INTEGER", float64: "DOUBLE", null: "INTEGER" }[feature]
}

/** With declared types; as JSON, since as JavaScript strings they would lose a byte order mark. */
const duckdb = async (path: string, features: Features) => {
  const columns = Object.entries(features).map(([name, feature]) => `"${name}": '${duckdbType(feature)}'`)
  const rows = await readers.query(`SELECT encode(CAST(to_json(file) AS VARCHAR)) AS row
    FROM read_json('${path}', format = 'newline_delimited', maximum_object_size = 16777216,
      columns = {${columns.join(", ")}}) file`)
  return rows.map(({ row }) => JSON.parse(String(row)))
}

describe("every format", () => {
  describe.each(formatNames)("%s", (name) => {
    const format = formats[name]

    test("holds difficult texts as the trainer's documentation says, value for value", function* () {
      assert.strictEqual(format.name, name)
      const pairs = difficult(name)
      const { omitted, rows } = encode(name, pairs, { margin: true })
      assert.deepStrictEqual(omitted, [])
      assert.strictEqual(rows.length, pairs.length * (/unpaired|kto/.test(name) ? 2 : 1))
      const path = yield* written(name, rows, { margin: true })
      const lines = (yield* Effect.promise(() => readFile(path, "utf8"))).split("\n").slice(0, -1)
      assert.deepStrictEqual(
        lines.map((line) => JSON.parse(line)),
        rows,
      )
      assert.deepStrictEqual(yield* Effect.promise(() => duckdb(path, format.features({ margin: true }))), rows)
      assert.deepStrictEqual(yield* errorsIn(name, path), [])
    })

    it.each([
      ["prompt", { prompt: "a\uD800b" }],
      ["prompt[0].content", { prompt: [user("\uDC00")] }],
      ["prompt[1].role", { prompt: [user("a"), { role: "\uD83D", content: "b" }] }],
      ["chosen", { chosen: "\uDE00\uD83D" }],
      ["rejected", { rejected: "😀\uD83D" }],
    ] satisfies ReadonlyArray<[string, Partial<PreferencePair>]>)(
      "refuses a lone surrogate in %s",
      (field, members) => {
        const { omitted, rows } = encode(name, [sky(members)])
        assert.deepStrictEqual(rows, [])
        assert.deepStrictEqual(omitted, [
          { field, item_id: "item-1", reason: "expected well-formed Unicode, found a lone surrogate" },
        ])
      },
    )

    it.each([
      ["prompt", { prompt: "" }],
      ["chosen", { chosen: "" }],
      ["rejected", { rejected: "" }],
      ["rejected", { rejected: " blue." }],
    ] satisfies ReadonlyArray<[string, Partial<PreferencePair>]>)("refuses %s of %j", (field, members) => {
      assert.deepStrictEqual(
        encode(name, [sky(members)]).omitted.map(({ field }) => field),
        [field],
      )
    })

    test("rows of any text are what the validator takes, or refused", function* () {
      const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(...difficultTexts))
      const role = fc.oneof(fc.constantFrom("system", "user", "assistant", "tool"), fc.string())
      const prompt = fc.oneof(text, fc.array(fc.record({ role, content: text }), { minLength: 1, maxLength: 5 }))
      const pairs = fc
        .sample(fc.record({ prompt, chosen: text, rejected: text }), { numRuns: 500, seed: 1 })
        .map((members, i) => pair(i, members as Partial<PreferencePair>))
      const { omitted, rows } = encode(name, pairs)
      assert.isAbove(rows.length, 50)
      assert.isAbove(omitted.length, 10)
      assert.deepStrictEqual(yield* errorsIn(name, yield* written(name, rows)), [])
    })
  })
})
