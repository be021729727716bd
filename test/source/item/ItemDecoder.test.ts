import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as ItemDecoder from "../../../src/source/item/ItemDecoder.ts"

const user = (content: unknown) => ({ role: "user", content })
const assistant = (content: unknown) => ({ role: "assistant", content })
const good = { prompt: "Q", completions: ["A", "B"] }

const decode = (value: unknown, isTextual = false) =>
  Result.match(ItemDecoder.decode(value, { file: "f", line: 1, raw: undefined }, {}, isTextual), {
    onSuccess: ({ item }) => item,
    onFailure: ({ reason }) => reason,
  })

const prompts = (list: ReadonlyArray<unknown>) =>
  list.map((prompt) => {
    const item = decode({ ...good, prompt })
    return typeof item === "string" ? item : item.prompt
  })

describe("ItemDecoder", () => {
  it("messages come in the forms that trainers write", () => {
    assert.deepStrictEqual(
      prompts([
        [{ role: "system", content: "S" }, user("Q")],
        [
          { from: "system", value: "S" },
          { from: "human", value: "Q" },
          { from: "gpt", value: "A" },
          { from: "function", value: "F" },
          { from: "observation", value: "O" },
          { from: "tool", value: "T" },
          { from: "narrator", value: "N" },
        ],
        [
          user([
            { type: "text", text: "a" },
            { type: "text", text: "b" },
          ]),
        ],
        [user([])],
      ]),
      [
        [
          { role: "system", content: "S" },
          { role: "user", content: "Q" },
        ],
        [
          { role: "system", content: "S" },
          { role: "user", content: "Q" },
          { role: "assistant", content: "A" },
          { role: "tool", content: "F" },
          { role: "tool", content: "O" },
          { role: "tool", content: "T" },
          { role: "narrator", content: "N" },
        ],
        [{ role: "user", content: "ab" }],
        "prompt: expected a message with text, found blank ones only",
      ],
    )
  })

  it("what only tells of a message is left out, what is said in another way is refused", () => {
    assert.deepStrictEqual(
      prompts([
        [{ ...user("Q"), timestamp: 1, num_tokens: 3, tool_calls: null, name: "", images: [], refusal: {} }],
        [user("Q"), { ...assistant("A"), tool_calls: [{ id: "1" }] }],
        [{ ...user("Q"), name: "Ann" }],
        [{ ...user("Q"), "odd name": 0 }],
        [
          user([
            { type: "text", text: "a" },
            { type: "image_url", image_url: {} },
          ]),
        ],
      ]),
      [
        [{ role: "user", content: "Q" }],
        "prompt[1].tool_calls[0].function: expected name and arguments, found nothing",
        'prompt[0].name: expected messages with only role and content, found "Ann"',
        'prompt[0]["odd name"]: expected messages with only role and content, found 0',
        'prompt[0].content[1].type: expected "text", found "image_url"; experts cannot be shown images, audio, video, or files',
      ],
    )
  })

  it("a faulty message is named by its path", () => {
    assert.deepStrictEqual(
      prompts([
        [],
        ["Q"],
        [user("Q"), null],
        [{ content: "Q" }],
        [{ role: 1, content: "Q" }],
        [user(null)],
        [user("\ud800")],
        [user(["Q"])],
        [user([{ type: "text", text: 1 }])],
        [{ from: "human", value: 7 }],
        { role: "user", content: "Q" },
      ]),
      [
        "prompt: expected text or a list of messages, found an empty array",
        'prompt[0]: expected a message, found "Q"',
        "prompt[1]: expected a message, found null",
        "prompt[0].role: expected text, found nothing",
        "prompt[0].role: expected text, found 1",
        "prompt[0].content: expected text, found null",
        "prompt[0].content: expected well-formed Unicode, found a lone surrogate",
        'prompt[0].content[0]: expected a part of type text, found "Q"',
        "prompt[0].content[0].text: expected text, found 1",
        "prompt[0].value: expected text, found 7",
        "prompt: expected text or a list of messages, found an object",
      ],
    )
  })

  it("a completion may be the assistant's turn, or the whole conversation", () => {
    const told = (prompt: unknown, completion: unknown) => {
      const item = decode({ prompt, completions: ["A", completion] })
      return typeof item === "string" ? item : item.completions[1]
    }
    const prompt = [user("Q"), assistant("a"), user("R")]
    assert.strictEqual(told("Q", [assistant("B")]), "B")
    assert.strictEqual(told("Q", assistant("B")), "B")
    assert.strictEqual(told("Q", { from: "gpt", value: "B" }), "B")
    assert.strictEqual(told("Q", [user("Q"), assistant("B")]), "B")
    assert.strictEqual(told(prompt, [...prompt, assistant("B")]), "B")
    const otherwise = (count: number) =>
      `completions[1]: expected the prompt's messages and the assistant's turn, or only this turn, found ${count} messages that begin differently`
    assert.strictEqual(told("R", [user("Q"), assistant("B")]), otherwise(2))
    assert.strictEqual(told(prompt, [...prompt.slice(1), assistant("B")]), otherwise(3))
    assert.strictEqual(told(prompt, [user("Q"), assistant("B")]), otherwise(2))
    assert.strictEqual(told(prompt, [...prompt, assistant("B"), assistant("C")]), otherwise(5))
    assert.strictEqual(
      told(prompt, [...prompt]),
      'completions[1][2]: expected a message of the assistant, found one of "user"',
    )
    assert.strictEqual(
      told("Q", [assistant(" ")]),
      "completions: expected at least two distinct completions that are not blank, found 1",
    )
  })

  it("a blank completion is one of the item's, beside two others", () => {
    const completions = ["A", "", "B", " \n"]
    assert.deepStrictEqual(decode({ prompt: "Q", completions }), { prompt: "Q", completions })
    const told = (...completions: ReadonlyArray<string>) => decode({ prompt: "Q", completions })
    const expected = "completions: expected at least two distinct completions"
    assert.strictEqual(told("A", "", "A"), `${expected} that are not blank, found 1`)
    assert.strictEqual(told("", " "), `${expected} that are not blank, found 0`)
    assert.strictEqual(told("A", "A"), `${expected}, found 1`)
  })

  it("gold and metadata may be the text of a JSON object, models name the completions", () => {
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
      "metadata.a: expected numbers that keep their digits, up to 2^53, or text, found Infinity",
    )
    assert.strictEqual(decode({ ...good, metadata: "[1]" }), "metadata: expected an object, found an array")
    assert.strictEqual(decode({ ...good, gold: "{" }), 'gold: expected an object, found "{"')
  })

  it("text is text where cells are not textual", () => {
    const record = { prompt: '[{"role":"user","content":"Q"}]', completions: ['["A"]', "B"] }
    assert.deepStrictEqual(decode(record), record)
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
      {
        prompt: "Q",
        completions: ["A", "B"],
        models: ["x", "y"],
        gold: { best_completion_index: 0 },
      },
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
