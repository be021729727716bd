import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"
import { content } from "../../../src/domain/PromptItem.ts"
import type { LayoutOptions } from "../../../src/source/layout/Layout.ts"
import * as MakeLayout from "../../../src/source/layout/MakeLayout.ts"
import { identify } from "../../../src/task/plan/TaskRequests.ts"

const read = (line: string, options: LayoutOptions = {}) => {
  const layout = Result.getOrThrow(MakeLayout.make(options))
  if (layout.reads === "parts") throw new Error("parts")
  const place = { file: "f", line: 1, raw: line }
  const row = { place, value: JSON.parse(line) as unknown, json: line, isWellFormed: !line.includes("\\u") }
  return Result.getOrThrow(layout.toRecord(row))
}

/** Reads the line, and checks that the bytes are the item's; whether its texts were found in the line. */
const isFound = (line: string, options: LayoutOptions = {}): boolean => {
  const source = read(line, options)
  assert.strictEqual(Buffer.from(identify(source).bytes.utf8).toString(), content(source.item), line)
  return source.texts?.of === source.item
}

const text = fc
  .array(
    fc.constantFrom('"', "\\", "/", "\n", "u", ",", "]", "[", "}", ":", " ", "prompt", "completions", "é", "評", "😀"),
  )
  .map((parts) => `.${parts.join("")}`)

/** As Python writes it. */
const spaced = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(spaced).join(", ")}]`
    : typeof value === "object" && value !== null
      ? `{${Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${spaced(member)}`).join(", ")}}` // prettier-ignore
      : JSON.stringify(value)

describe("ItemTexts", () => {
  it("are what stands in the line", () => {
    let found = 0
    fc.assert(
      fc.property(
        fc.record(
          {
            id: text,
            prompt: text,
            completions: fc.array(text, { minLength: 2, maxLength: 4 }),
            metadata: fc.dictionary(text, text),
          },
          { requiredKeys: ["prompt", "completions"] },
        ),
        fc.boolean(),
        fc.boolean(),
        (item, isSpaced, hasSlashes) => {
          const completions = item.completions.map((text, i) => `${i}${text}`)
          const line = (isSpaced ? spaced : JSON.stringify)({ ...item, completions })
          if (isFound(hasSlashes ? line.replaceAll("/", "\\/") : line)) found++
        },
      ),
      { numRuns: 2_000 },
    )
    assert.isAbove(found, 100)
  })

  const q = '"completions":["a\\n\\"","b\\\\"]'
  it.each([
    `{"prompt":"Q\\\\",${q}}`,
    `{"id":7,"prompt":"Q",${q},"metadata":{"topic":"prompts"}}`,
    `{"id": "x", "prompt": "Q", "completions": ["a", "b"], "models": ["m", "n"]}`,
  ])("are found in %s", (line) => {
    assert.isTrue(isFound(line))
  })

  it.each([
    `{"prompt":"\\u0051",${q}}`,
    `{"prompt":"Q\\/A",${q}}`,
    `{${q},"prompt":"Q"}`,
    `{ "prompt":"Q",${q}}`,
    `{"prompt":"Q",${q},"prompt":"R"}`,
    `{"prompt":"Q",${q},"completions":["c","d"]}`,
    `{"prompt":"Q","completions":["a","b",{"role":"assistant","content":"c"}]}`,
    `{"prompt":[{"role":"user","content":"Q"}],${q}}`,
  ])("are not looked for in %s", (line) => {
    assert.isFalse(isFound(line))
  })

  it("are copied whole, however large they are", () => {
    const large = "é".repeat(400_000)
    assert.isFalse(isFound(`{"completions":["${large}","b"],"prompt":"Q"}`))
    assert.isFalse(isFound(`{${q},"prompt":"Q"}`))
  })

  it("are not those of an item that was made of the line's", () => {
    const line = `{"prompt":"Q",${q},"system":"S"}`
    assert.isTrue(isFound(line, { ignore: ["system"] }))
    assert.isFalse(isFound(line, { system: "system" }))
    assert.isFalse(isFound(`{"prompt":"Q",${q},"other":"R"}`, { prompt: "other" }))
  })
})
