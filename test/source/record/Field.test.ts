import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as Field from "../../../src/source/record/Field.ts"

const parsed = (text: string) => Result.getOrThrow(Field.parse(text))
const get = (text: string, record: unknown) => parsed(text).get(record)

describe("Field", () => {
  const alpaca = "{instruction}\\n\\n{input}"
  it.each([
    ["Antwort A", '["Antwort A"]'],
    ["model.v2", '["model.v2"]'],
    ["model.v3", "model.v3"],
    ["a[0]", '["a[0]"]'],
    ["Liste 1[].text", '["Liste 1"][].text'],
    ["{Frage 1}\\n\\n{model.v2} {{Antwort A}} {b}", '{["Frage 1"]}\\n\\n{["model.v2"]} {{Antwort A}} {b}'],
    ["{b}", '["{b}"]'],
  ])("%s is the member of this name, where there is one", (text, expected) => {
    const members = new Set(["Antwort A", "model.v2", "model", "a", "a[0]", "Liste 1", "Frage 1", "b", "{b}"])
    const named = Field.ofMembers(text, members)
    assert.strictEqual(named, expected)
    assert.isTrue(Result.isSuccess(Field.parse(named)))
  })

  it("quoted names without a closing brace are refused at once, however many", () => {
    const problem = Result.getOrThrow(Result.flip(Field.parse(`{${'["x"]'.repeat(1_000)}`)))
    assert.match(problem, /expected a field and "}" after "{" at character 1$/)
  })

  it.each([
    ["a path", "a.b[0]", { a: { b: ["x"] } }, "x"],
    ["a path of a list", "a", { a: [1, 2] }, [1, 2]],
    ["a quoted name with braces is a path", '["a{b}"]', { "a{b}": "x" }, "x"],
    ["of each element", "a[].b", { a: [{ b: 1 }, { b: 2 }, {}] }, [1, 2, undefined]],
    ["of each element, nested", "c[].t[0].x", { c: [{ t: [{ x: 1 }] }] }, [1]],
    ["of each element itself", "a[]", { a: ["x"] }, ["x"]],
    ["of what is no list", "a[].b", { a: "text" }, "text"],
    ["a quoted name with [] is a path", '["a[]"]', { "a[]": 1 }, 1],
    ["both parts", alpaca, { instruction: "Add", input: "1, 2" }, "Add\n\n1, 2"],
    ["an empty part is left out", alpaca, { instruction: "Add", input: "" }, "Add"],
    ["a blank part is left out", alpaca, { instruction: "Add", input: " \n" }, "Add"],
    ["a part that is null is left out", alpaca, { instruction: "Add", input: null }, "Add"],
    ["an absent part is left out", alpaca, { input: "1, 2" }, "1, 2"],
    ["nothing is left", alpaca, { instruction: "", other: "x" }, undefined],
    ["a paragraph with its heading is left out", "{a}\n\nInput:\n{b}", { a: "A" }, "A"],
    ["a paragraph without fields stays", "Do it.\n\n{a}\n\n{b}", { b: "B" }, "Do it.\n\nB"],
    ["nothing is there if all fields are empty", "Do it.\n\n{a}", {}, undefined],
    ["of a paragraph's fields one may be empty", "{a}/{b}", { a: "A" }, "A/"],
    ["longer gaps stay as they are", "{a}\n\n\n{b}", { a: "A", b: "B" }, "A\n\n\nB"],
    ["an empty line of a value parts nothing", "{a}\n{b}", { a: "x\n\ny", b: "" }, "x\n\ny\n"],
    ["numbers and booleans", "{n} {b}", { n: 1.5, b: false }, "1.5 false"],
    ["zero is there", "{n}", { n: 0 }, "0"],
    ["braces", "{{{a}}}", { a: "x" }, "{x}"],
    ["written out characters", "{a}\\t\\\\n\\x", { a: "x" }, "x\t\\n\\x"],
    ["paths in braces", '{turns[0].text} {["a}b"]}', { turns: [{ text: "x" }], "a}b": "y" }, "x y"],
    ["a value is no template", "{a}", { a: "{b}", b: "x" }, "{b}"],
    ["own members alone", "{toString}{a}", { a: "x" }, "x"],
  ] as const)("%s", (_, text, record, expected) => {
    assert.deepStrictEqual(get(text, record), expected)
  })

  it("a list of texts in a template is these texts; another list, or an object, is no text", () => {
    assert.strictEqual(get("{a}\\n\\n{b}", { a: "x", b: ["y", "z"] }), "x\n\ny\n\nz")
    assert.strictEqual(get("{a}\\n\\n{b}", { a: "x", b: [] }), "x")
    assert.strictEqual(typeof get("{a} {b}", { a: "x", b: ["y", 1] }), "object")
    assert.strictEqual(typeof get("{a} {b}", { a: "x", b: {} }), "object")
  })

  it("text cells are read as JSON only where a path goes on into them, and the record is textual", () => {
    const record = { a: '[{"b":"x"}]', t: "[not json" }
    assert.deepStrictEqual(parsed("a[0].b").get(record, true), "x")
    assert.deepStrictEqual(parsed("a[].b").get(record, true), ["x"])
    assert.deepStrictEqual(parsed("a").get(record, true), record.a)
    assert.isUndefined(parsed("a[0].b").get(record))
    assert.isUndefined(parsed("t[0]").get(record, true))
  })

  it.each([
    ["a.b[0]", ["a"]],
    ["a[].b", ["a"]],
    ['["a b"].c', ["a b"]],
    ["{a.x} {b} {a.y}", ["a", "b"]],
  ])("%s reads the members %j", (text, columns) => {
    assert.deepStrictEqual(parsed(text).columns, columns)
  })

  it("names an element as it stands in the file", () => {
    assert.strictEqual(parsed("a[].b").nameAt(3), "a[3].b")
    assert.strictEqual(parsed("a").nameAt(3), "a[3]")
  })

  it.each([
    ["{a", 'not a template: "{a": expected a field and "}" after "{" at character 1'],
    ["x {a", 'not a template: "x {a": expected a field and "}" after "{" at character 3'],
    ["{a} }", 'not a template: "{a} }": for a brace in the text, write "}}" instead of "}" at character 5'],
    ["{{a}}", 'not a template: "{{a}}": expected a field in braces, found none at character 1'],
    [
      "x {a..b}",
      'not a template: "x {a..b}": not a field path: "a..b": expected .name, [0] or ["name"] at character 2, found "..b" at character 4',
    ],
    ["a b", 'not a field path: "a b": expected .name, [0] or ["name"] at character 2, found " b"'],
  ])("%j is refused", (text, message) => {
    const field = Field.parse(text)
    assert.deepStrictEqual(Result.isFailure(field) ? field.failure : field.success, message)
  })

  it.prop(
    "a template of any member's path gives its text",
    [Schema.NonEmptyString, Schema.String.check(Schema.isPattern(/\S/))],
    ([name, value]) => {
      const record = Object.defineProperty({}, name, { value, enumerable: true })
      assert.strictEqual(get(Field.ofMember(name), record), value)
      assert.strictEqual(get(`{${Field.ofMember(name)}}`, record), value)
    },
  )
})
