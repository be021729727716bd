import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import * as fc from "fast-check"
import * as Conversation from "../../src/domain/Conversation.ts"
import type { Message } from "../../src/domain/Message.ts"
import { cases } from "../support/cases.ts"
import * as Conversations from "../support/conversations.ts"

/** Texts of the pieces that headers are made of, and of anything else. */
const text = fc.oneof(Conversations.text, fc.string({ unit: "binary" }))

/** Names of tools and ids of calls: not blank, and with what separates them. */
const name = fc
  .array(fc.oneof(fc.constantFrom(",", ", id ", "\\", "\n", "]", "x", " "), fc.string({ unit: "binary" })), {
    maxLength: 5,
  })
  .map((pieces) => pieces.join(""))
  .filter((text) => text.trim() !== "")

const toolCall = fc.record(
  {
    id: name,
    type: fc.constant("function" as const),
    function: fc.record({
      name,
      arguments: fc.oneof(
        fc.dictionary(text, fc.jsonValue()).map((value) => JSON.stringify(value)),
        fc.constantFrom("{}", ' {"a":\n\n[\n1]\n}\n', '{"a":\n\n[1]\n}', '{"n":1.50}'),
      ),
    }),
  },
  { requiredKeys: ["type", "function"] },
)

const messages = fc.array(
  fc.oneof(
    fc.record({ role: fc.oneof(text, fc.constantFrom("tool call x", "tool result", "\\tool call")), content: text }),
    fc.record({
      role: fc.constant("assistant"),
      content: fc.oneof(text, fc.constant("")),
      tool_calls: fc
        .array(toolCall, { minLength: 1, maxLength: 3 })
        .map(([first, ...rest]) => [first!, ...rest] as const),
    }),
    fc.record(
      { role: fc.constant("tool"), content: text, name, tool_call_id: name },
      { requiredKeys: ["role", "content"] },
    ),
  ),
  { minLength: 1, maxLength: 5 },
)

const backAndForth = (...messages: readonly [Message, ...ReadonlyArray<Message>]) =>
  Conversation.parse(Conversation.render(messages))

describe("Conversation", () => {
  it("is read as it stands, headers aside", () => {
    assert.strictEqual(
      Conversation.render([
        { role: "system", content: "You are terse." },
        { role: "user", content: "Hello\n\nmy list is\n[1, 2]\n\\begin{x}" },
      ]),
      "[system]\nYou are terse.\n\n[user]\nHello\n\nmy list is\n[1, 2]\n\\begin{x}",
    )
  })

  it("a line that would be taken for a header gets a backslash", () => {
    assert.strictEqual(
      Conversation.render([{ role: "user", content: "[a]\n\n[b]\n\n\\[c]\n\n[d] and" }]),
      "[user]\n[a]\n\n\\[b]\n\n\\\\[c]\n\n[d] and",
    )
  })

  it("render leaves every text as it is", () => {
    fc.assert(fc.property(text, (prompt) => assert.strictEqual(Conversation.render(prompt), prompt)))
  })

  it("in a column of text, one message of the user is what a text is", () => {
    assert.strictEqual(Conversation.toText("[user]\na"), "[user]\na")
    assert.strictEqual(Conversation.toText([{ role: "user", content: "[x]\n\n[y]" }]), "[x]\n\n[y]")
    assert.strictEqual(Conversation.toText([{ role: "system", content: "a" }]), "[system]\na")
    const two = [
      { role: "user", content: "a" },
      { role: "user", content: "b" },
    ] as const
    assert.strictEqual(Conversation.toText(two), Conversation.render(two))
    assert.deepStrictEqual(Conversation.contents(two), ["a", "b"])
    assert.deepStrictEqual(Conversation.contents("a"), ["a"])
  })

  it("parse gives back the messages that render was given, whatever they hold", () => {
    fc.assert(
      fc.property(messages, ([first, ...rest]) => {
        assert.deepStrictEqual(backAndForth(first!, ...rest), Option.some([first!, ...rest]))
      }),
      { numRuns: cases(100, 2000) },
    )
  })

  it("calls and results of tools have headers of their own", () => {
    assert.strictEqual(
      Conversation.render([
        { role: "user", content: "Warm?" },
        {
          role: "assistant",
          content: "",
          tool_calls: [
            { id: "c1", type: "function", function: { name: "get_weather", arguments: '{"city":"Bern"}' } },
            { type: "function", function: { name: "a, b", arguments: "{}" } },
          ],
        },
        { role: "tool", content: "22", name: "get_weather", tool_call_id: "c1" },
        { role: "tool", content: "done" },
      ]),
      '[user]\nWarm?\n\n[tool call get_weather, id c1]\n{"city":"Bern"}\n\n[tool call a\\, b]\n{}\n\n[tool result get_weather, id c1]\n22\n\n[tool]\ndone',
    )
  })

  it("what has the header of a call, and no JSON object, is no call", () => {
    assert.deepStrictEqual(
      Conversation.parse("[tool call f]\n[1]"),
      Option.some([{ role: "tool call f", content: "[1]" }]),
    )
  })

  it("a text that begins with no header is no conversation", () => {
    for (const text of ["", "Hello", "[user]", " [user]\na", "\n[user]\na", "[user] a\n", "a\n\n[user]\nb"])
      assert.deepStrictEqual(Conversation.parse(text), Option.none(), JSON.stringify(text))
  })
})
