import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as ItemDecoder from "../../../src/source/item/ItemDecoder.ts"
import { assistant, user } from "../layout/support.ts"

const good = { prompt: "Q", completions: ["A", "B"] }

const decode = (value: unknown, isTextual = false) =>
  Result.match(ItemDecoder.decode(value, { file: "f", line: 1, raw: undefined }, {}, isTextual), {
    onSuccess: ({ item }) => item,
    onFailure: ({ reason }) => reason,
  })

describe("ItemDecoder", () => {
  const of = (from: string, value: unknown) => ({ from, value })
  const texts = (...texts: ReadonlyArray<string>) => texts.map((text) => ({ type: "text", text }))
  const system = { role: "system", content: "S" }

  it.each<readonly [string, prompt: unknown, read: unknown]>([
    ["system and user", [system, user("Q")], [system, user("Q")]],
    [
      "ShareGPT's roles",
      [of("system", "S"), of("human", "Q"), of("gpt", "A"), of("tool", "T"), of("narrator", "N")],
      [system, user("Q"), assistant("A"), { role: "tool", content: "T" }, { role: "narrator", content: "N" }],
    ],
    [
      "ShareGPT's names of tools",
      [of("human", "Q"), of("function", "F"), of("observation", "O")],
      [user("Q"), { role: "tool", content: "F" }, { role: "tool", content: "O" }],
    ],
    ["parts of text", [user(texts("a", "b"))], [user("ab")]],
    ["no parts", [user([])], "prompt: expected a message with text, found only blank messages"],
    [
      "what only tells of a message",
      [{ ...user("Q"), timestamp: 1, num_tokens: 3, tool_calls: null, name: "", images: [], refusal: {} }],
      [user("Q")],
    ],
    [
      "a name",
      [{ ...user("Q"), name: "Ann" }],
      'prompt[0].name: expected no members besides role and content, found "Ann"',
    ],
    [
      "a member of another name",
      [{ ...user("Q"), "odd name": 0 }],
      'prompt[0]["odd name"]: expected no members besides role and content, found 0',
    ],
    [
      "a part of another type",
      [user([{ type: "thought" }])],
      'prompt[0].content[0].type: expected "text", found "thought"',
    ],
    ["no message", [], "prompt: expected text or a list of messages, found an empty array"],
    ["a text among messages", ["Q"], 'prompt[0]: expected a message, found "Q"'],
    ["null among messages", [user("Q"), null], "prompt[1]: expected a message, found null"],
    ["no role", [{ content: "Q" }], "prompt[0].role: expected text, found nothing"],
    ["a number for a role", [{ role: 1, content: "Q" }], "prompt[0].role: expected text, found 1"],
    ["null for a text", [user(null)], "prompt[0].content: expected text, found null"],
    ["half a character", [user("\ud800")], "prompt[0].content: expected well-formed Unicode, found a lone surrogate"],
    ["a list of texts", [user(["Q"])], 'prompt[0].content[0]: expected a part of type text, found "Q"'],
    ["a number in a part", [user([{ type: "text", text: 1 }])], "prompt[0].content[0].text: expected text, found 1"],
    ["a number as ShareGPT's text", [of("human", 7)], "prompt[0].value: expected text, found 7"],
    ["a message alone", user("Q"), "prompt: expected text or a list of messages, found an object"],
  ])("a prompt of messages: %s", (_, prompt, expected) => {
    const item = decode({ ...good, prompt })
    assert.deepStrictEqual(typeof item === "string" ? item : item.prompt, expected)
  })

  it("a completion may be the assistant's turn, or the whole conversation", () => {
    const prompt = [user("Q"), assistant("a"), user("R")]
    const otherwise = (count: number) =>
      `completions[1]: expected either the assistant's turn alone, or the prompt followed by the assistant's turn, found ${count} messages that match neither`
    const cases: ReadonlyArray<readonly [prompt: unknown, completion: unknown, expected: string]> = [
      ["Q", [assistant("B")], "B"],
      ["Q", assistant("B"), "B"],
      ["Q", of("gpt", "B"), "B"],
      ["Q", [user("Q"), assistant("B")], "B"],
      [prompt, [...prompt, assistant("B")], "B"],
      ["R", [user("Q"), assistant("B")], otherwise(2)],
      [prompt, [...prompt.slice(1), assistant("B")], otherwise(3)],
      [prompt, [user("Q"), assistant("B")], otherwise(2)],
      [prompt, [...prompt, assistant("B"), assistant("C")], otherwise(5)],
      [prompt, [...prompt], 'completions[1][2]: expected a message with the role assistant, found the role "user"'],
      ["Q", [assistant(" ")], "completions: expected at least two distinct completions that are not blank, found 1"],
    ]
    for (const [prompt, completion, expected] of cases) {
      const item = decode({ prompt, completions: ["A", completion] })
      assert.strictEqual(typeof item === "string" ? item : item.completions[1], expected)
    }
  })

  it("a blank completion is one of the item's, beside two others", () => {
    const completions = ["A", "", "B", " \n"]
    assert.deepStrictEqual(decode({ prompt: "Q", completions }), { prompt: "Q", completions })
  })

  it("gold and metadata may be a JSON object as text, models name the completions", () => {
    const record = { ...good, models: ["x", "y"], gold: '{"best_completion_index":1}', metadata: '{"a":[1]}' }
    assert.deepStrictEqual(decode(record), {
      ...good,
      models: ["x", "y"],
      gold: { best_completion_index: 1 },
      metadata: { a: [1] },
    })
    assert.deepStrictEqual(decode({ ...good, models: null, gold: null, metadata: null, id: null }), good)
    assert.strictEqual(decode({ ...good, models: ["x"] }), "models: expected 2 names, one for each completion, found 1")
    assert.strictEqual(
      decode({ ...good, metadata: '{"a":1e999}' }),
      "metadata.a: expected a finite number (write integers above 2^53 as text), found Infinity",
    )
    assert.strictEqual(decode({ ...good, metadata: "[1]" }), "metadata: expected an object, found an array")
    assert.strictEqual(decode({ ...good, gold: "{" }), 'gold: expected an object, found "{"')
  })

  it("cells that are text may hold lists and numbers; empty ones hold nothing", () => {
    assert.deepStrictEqual(
      decode(
        {
          prompt: "Q",
          completions: JSON.stringify(["A", [assistant("B")]]),
          models: '["x","y"]',
          gold: '{"best_completion_index":"0","rationale":""}',
          metadata: "",
          id: "",
        },
        true,
      ),
      { prompt: "Q", completions: ["A", "B"], models: ["x", "y"], gold: { best_completion_index: 0 } },
    )
    const prompt = JSON.stringify([user("Q")])
    const completions = [prompt, JSON.stringify(assistant("A"))]
    assert.deepStrictEqual(decode({ prompt, completions: JSON.stringify(completions) }, true), { prompt, completions })
    assert.strictEqual(
      decode({ prompt: "", completions: '["A","B"]' }, true),
      "prompt: expected text, found a blank string",
    )
    assert.strictEqual(decode({ prompt: "Q", completions: "A" }, true), 'completions: expected an array, found "A"')
  })
})
