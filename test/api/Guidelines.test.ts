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
      text: "Text\n",
    })
    assert.deepStrictEqual(parse("---\r\nrubric: { strength: [a, b], flags: [x] }\r\n---").rubric, {
      ...none,
      strength: ["a", "b"],
      flags: ["x"],
    })
  })

  it("say which answers are required", () => {
    const rubric = (yaml: string) => parse(`---\nrubric: ${yaml}\n---`).rubric
    const strength = ["slightly better", "clearly better", "much better"]
    assert.deepStrictEqual(rubric("{ rationale: required }"), { ...none, required: ["rationale"] })
    assert.deepStrictEqual(rubric("{ rationale: optional }"), none)
    assert.deepStrictEqual(rubric("{ strength: required, edit: required }"), {
      ...none,
      strength,
      edit: true,
      required: ["strength", "edit"],
    })
    assert.deepStrictEqual(rubric("{ strength: { labels: [a, b], required: true } }"), {
      ...none,
      strength: ["a", "b"],
      required: ["strength"],
    })
    assert.deepStrictEqual(rubric("{ aspects: [{ name: a, required: true }] }").aspects, [
      { name: "a", steps: 5, required: true },
    ])
  })

  it("are text where they have none, whatever they begin with", () => {
    for (const text of [
      "",
      "Text",
      "---\nA line\n---\nText",
      "---\ntitle: x\n---\nText",
      "---\n: [\n---\nText",
      "---\npublic: true\nfabric: x\n---\nText",
      "---",
    ]) {
      assert.deepStrictEqual(parse(text), { rubric: none, text })
    }
    assert.isUndefined(Result.getOrThrow(Guidelines.parse(undefined)).text)
  })

  it.each([
    ["rubric: { strenght: true }", "line 2: unknown member strenght (did you mean strength?)"],
    [
      "rubric:\n  edit: true\n  aspects:\n    - name: a\n      stpes: 3",
      "line 6: unknown member stpes (did you mean steps?)",
    ],
    ["rubric: { strength: [a] }", "line 2: expected at least 2 labels (the weakest first), found 1"],
    ["rubric: { aspects: [{ name: a, steps: 10 }] }", "aspects"],
    ["rubric: { aspects: [a, a] }", 'expected distinct names, found "a" twice'],
    ["rubric: { flags: [' '] }", "expected a name with text, found a blank one"],
    ["rubric: { rationale: always }", "line 2: "],
    ["rubric: { all_bad: required }", "line 2: "],
    ["rubric: []", "expected a map with strength, all_bad, flags, edit, rationale, aspects, found an empty array"],
    ["rubric: 3", "found 3"],
    ["rubric:", "found nothing"],
  ])("refuse %s", (yaml, why) => {
    const parsed = Guidelines.parse(`---\n${yaml}\n---\nText`)
    assert.include(Result.isFailure(parsed) ? parsed.failure : "", why)
    assert.strictEqual(Guidelines.textOf(`---\n${yaml}\n---\nText`), "Text")
  })

  it.each([
    ["rubric:\n  flags: [", 'line 3: expected YAML such as "strength: true"'],
    ["title: [\nrubric: { edit: true }", "line "],
    ["rubrik: { edit: true }", "line 2: unknown member rubrik (did you mean rubric?)"],
    ["title: x\nRubrics: { edit: true }", "line 3: unknown member Rubrics (did you mean rubric?)"],
    ["rubric: *other", "line 2: expected YAML"],
  ])("refuse a block that probably means a rubric: %s", (yaml, why) => {
    const parsed = Guidelines.parse(`---\n${yaml}\n---\nText`)
    assert.include(Result.isFailure(parsed) ? parsed.failure : "", why)
  })

  it.each([
    ["strength: {a: [", 'rubric.yaml:1: expected YAML such as "strength: true", found an error: '],
    ["", "rubric.yaml:1: expected a map with strength, all_bad, flags, edit, rationale, aspects, found nothing"],
    ["# none\n", "found nothing"],
    ["edit: true\nstrenght: true\n", "rubric.yaml:2: unknown member strenght (did you mean strength?)"],
    ["rubric:\n  edit: true\n  zzzzzzzz: 1\n", "rubric.yaml:3: unknown member zzzzzzzz"],
    ["rubrik: { edit: true }\n", "rubric.yaml:1: unknown member rubrik (did you mean rubric?)"],
    ["edit: true\nstrength: [a]\n", "rubric.yaml:2: expected at least 2 labels"],
    ["a: &x 1\nedit: *x\n", "rubric.yaml:1: expected YAML without aliases"],
  ])("name the line of a mistake in a rubric's file: %s", (yaml, why) => {
    const given = Guidelines.withRubric("Text", yaml, "rubric.yaml")
    assert.include(Result.isFailure(given) ? given.failure : "", why)
  })

  it("take a rubric from a file, once", () => {
    const whole = Result.getOrThrow(Guidelines.withRubric("Text", "all_bad: true\nflags: [x]\n"))
    assert.deepStrictEqual(parse(whole), { rubric: { ...none, all_bad: true, flags: ["x"] }, text: "Text" })
    assert.deepStrictEqual(
      Result.getOrThrow(Guidelines.withRubric("Text", "rubric:\n  all_bad: true\n  flags: [x]\n")),
      whole,
    )
    assert.isTrue(Result.isFailure(Guidelines.withRubric(whole, "edit: true")))
  })
})
