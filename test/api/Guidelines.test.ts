import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Guidelines from "../../src/api/Guidelines.ts"
import { none } from "../../src/domain/Rubric.ts"

const parse = (text: string) => Result.getOrThrow(Guidelines.parse(text))

describe("Guidelines", () => {
  it("have a rubric in their front matter, short or in full", () => {
    const short = parse(
      "---\nrubric:\n  strength: true\n  edit: true\n  aspects: [clarity, { name: depth, steps: 3, low: flat }]\n---\n\nText\n",
    )
    assert.deepStrictEqual(short, {
      rubric: {
        ...none,
        strength: ["slightly better", "clearly better", "much better"],
        edit: true,
        aspects: [
          { name: "clarity", steps: 5 },
          { name: "depth", steps: 3, low: "flat" },
        ],
      },
      text: "\nText\n",
    })
    assert.deepStrictEqual(parse("---\r\nrubric: { strength: [a, b], flags: [x] }\r\n---").rubric, {
      ...none,
      strength: ["a", "b"],
      flags: ["x"],
    })
  })

  it("are text where they have none, whatever they begin with", () => {
    for (const text of [
      "",
      "Text",
      "---\nA line\n---\nText",
      "---\ntitle: x\n---\nText",
      "---\n: [\n---\nText",
      "---",
    ]) {
      assert.deepStrictEqual(parse(text), { rubric: none, text })
    }
    assert.isUndefined(Result.getOrThrow(Guidelines.parse(undefined)).text)
  })

  it.each([
    ["rubric: { strenght: true }", "strenght"],
    ["rubric: { aspects: [{ name: a, steps: 10 }] }", "aspects"],
    ["rubric: { aspects: [a, a] }", 'expected distinct names, found "a" twice'],
    ["rubric: { flags: [' '] }", "expected a name with text, found a blank one"],
    ["rubric: []", "object"],
    ["rubric: 3", "xpected"],
  ])("refuse %s", (yaml, why) => {
    const parsed = Guidelines.parse(`---\n${yaml}\n---\nText`)
    assert.include(Result.isFailure(parsed) ? parsed.failure : "", why)
    assert.strictEqual(Guidelines.textOf(`---\n${yaml}\n---\nText`), "Text")
  })

  it("take a rubric from a file, once", () => {
    const whole = Result.getOrThrow(Guidelines.withRubric("Text", "all_bad: true\nflags: [x]\n"))
    assert.deepStrictEqual(parse(whole), { rubric: { ...none, all_bad: true, flags: ["x"] }, text: "\nText" })
    assert.deepStrictEqual(
      Result.getOrThrow(Guidelines.withRubric("Text", "rubric:\n  all_bad: true\n  flags: [x]\n")),
      whole,
    )
    assert.isTrue(Result.isFailure(Guidelines.withRubric(whole, "edit: true")))
    assert.isTrue(Result.isFailure(Guidelines.withRubric("Text", "strenght: true")))
    assert.isTrue(Result.isFailure(Guidelines.withRubric("Text", "{")))
  })
})
