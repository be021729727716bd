/** Calls of tools in trainers' files: which arguments are kept, edits that have calls, and the types of columns. */
import { assert, describe, it } from "@effect/vitest"
import * as Conversation from "../../../src/domain/Conversation.ts"
import { formats } from "../../../src/dataset/format/TrainerFormats.ts"
import type { Message } from "../../../src/domain/Message.ts"
import { assistant, encode, refusal, sky, user } from "./support.ts"

const callOf = (text: string, id?: string): readonly [Message] => [
  {
    role: "assistant",
    content: "",
    tool_calls: [{ ...(id !== undefined && { id }), type: "function", function: { name: "f", arguments: text } }],
  },
]

/** What a pair has whose chosen side is a call with these arguments. */
const calling = (text: string, id?: string) => ({
  prompt: [user("Q")] as const,
  chosen: Conversation.render(callOf(text, id)),
  chosen_messages: callOf(text, id),
})

const withObject = (value: unknown) => [
  { role: "assistant", content: "", tool_calls: [{ type: "function", function: { name: "f", arguments: value } }] },
]

describe("arguments of calls", () => {
  it.each([
    ["true, false and null", '{"all":true,"e":false,"none":null,"list":[true,false,-1]}'],
    ["integers up to 2^53", '{"a":9007199254740991,"b":-9007199254740991,"c":0,"d":-7}'],
    ["digits within texts", '{"a":"\\"12345678901234567890","b\\\\":"1e999","12345678901234567890":"\\\\"}'],
    ["fractions, as the double that readers take them for", '{"a":0.12345678901234567890,"b":-1.5e-7,"c":2E3}'],
  ])("are objects that keep %s", (_, text) => {
    assert.isUndefined(refusal("trl-conversational", calling(text)))
    const [row] = encode("trl-conversational", [sky(calling(text))]).rows
    assert.deepStrictEqual<unknown>(row!["chosen"], withObject(JSON.parse(text)))
  })

  it("may have long texts", () => {
    assert.isUndefined(refusal("trl-conversational", calling(JSON.stringify({ text: 'a"\\'.repeat(3_000_000) }))))
  })

  it.each([
    '{"id":12345678901234567890}',
    '{"ok":true,"list":[1,-9007199254740993]}',
    '{"a":1e400}',
    '{"a\\\\":12345678901234567890,"b":"x"}',
  ])("that an object would not keep are refused, with what to do: %s", (text) => {
    assert.strictEqual(
      refusal("trl-conversational", calling(text)),
      `chosen[0].tool_calls[0].function.arguments: expected integers up to 2^53 (larger ones lose digits: write them as text, or use the format openai-preference, which keeps arguments as text), found ${JSON.stringify(text)}`,
    )
    assert.isUndefined(refusal("openai-preference", calling(text, "c1")))
  })
})

it("calls that differ in their ids alone make no pair where a format has no ids", () => {
  const other = callOf('{"a":1}', "c2")
  const pair = { ...calling('{"a":1}', "c1"), rejected: Conversation.render(other), rejected_messages: other }
  assert.strictEqual(
    refusal("llamafactory-sharegpt", pair),
    "rejected: expected a turn that differs from `chosen` (tool call ids are not compared), found the same turn",
  )
  assert.isUndefined(refusal("openai-preference", pair))
})

describe("the reference of TPO", () => {
  const edits = (edited: string) => sky({ ...calling('{"a":1}'), edited })

  it("has calls where the edit has them", () => {
    const { omitted, rows } = encode("trl-tpo-conversational", [
      edits('[tool call f]\n{"a":2,"b":true}'),
      edits("I cannot."),
      sky({ edited: "[tool call f]\n{}" }),
    ])
    assert.deepStrictEqual(omitted, [])
    assert.deepStrictEqual<unknown>(
      rows.map(({ reference }) => reference),
      [withObject({ a: 2, b: true }), [assistant("I cannot.")], [assistant("[tool call f]\n{}")]],
    )
  })

  it.each([
    [
      "[tool call f]\n{a:2}",
      'edited: expected tool calls with arguments as JSON, and tool results, found "tool call f"',
    ],
    [
      '[tool call f]\n{"a":12345678901234567890}',
      'edited[0].tool_calls[0].function.arguments: expected integers up to 2^53 (larger ones lose digits: write them as text, or use the format openai-preference, which keeps arguments as text), found "{\\"a\\":12345678901234567890}"',
    ],
  ])("is refused where its calls cannot be kept: %j", (edited, reason) => {
    assert.strictEqual(refusal("trl-tpo-conversational", edits(edited)), reason)
  })
})

it("OpenAI's definitions have the type of a list of objects where there are tools", () => {
  const typeOf = (tools: boolean) => {
    const { input } = formats["openai-preference"].features({ tools })
    return typeof input === "object" && "struct" in input ? input.struct["tools"] : undefined
  }
  assert.deepStrictEqual(typeOf(false), { list: "null" })
  assert.deepStrictEqual(typeOf(true), {
    list: { struct: { type: "string", function: { struct: { name: "string" } } } },
  })
})

type Messages = readonly [Message, ...Array<Message>]

describe("a side of openai-preference", () => {
  const [call] = callOf('{"a":1}', "c1")
  const result: Message = { role: "tool", content: "20", tool_call_id: "c1" }
  /** A pair of completions of several messages. */
  const several = (chosen: Messages, rejected: Messages) =>
    sky({
      prompt: [user("Q")],
      chosen: Conversation.render(chosen),
      chosen_messages: chosen,
      rejected: Conversation.render(rejected),
      rejected_messages: rejected,
    })

  it("is one message: calls that both sides begin with, and their results, are in the input", () => {
    const { omitted, rows } = encode("openai-preference", [
      several([call, result, assistant("20 °C")], [call, result, assistant("20")]),
      several([call, result, assistant("20 °C")], [call, result, ...callOf('{"a":2}', "c2")]),
    ])
    assert.deepStrictEqual(omitted, [])
    const { content: _, ...openAiCall } = call
    const [other] = callOf('{"a":2}', "c2")
    assert.deepStrictEqual<unknown>(
      rows.map(({ input, non_preferred_output, preferred_output }) => [
        Object(input)["messages"],
        preferred_output,
        non_preferred_output,
      ]),
      [
        [[user("Q"), openAiCall, result], [assistant("20 °C")], [assistant("20")]],
        [[user("Q"), openAiCall, result], [assistant("20 °C")], [{ role: "assistant", tool_calls: other.tool_calls }]],
      ],
    )
  })

  it.each([
    ["chosen", [call, result, assistant("20 °C")], [assistant("No idea")], 3],
    ["rejected", [assistant("20 °C")], [call, result, assistant("20 °C")], 3],
    ["rejected", [call], [call, result, assistant("20 °C")], 3],
    [
      "chosen",
      [call, result, ...callOf("{}", "c2"), { ...result, tool_call_id: "c2" }, assistant("x")],
      [call, result, assistant("y")],
      3,
    ],
  ] satisfies ReadonlyArray<readonly [string, Messages, Messages, number]>)(
    "that has several messages, apart from those, is omitted: %s",
    (side, chosen, rejected, count) => {
      const [omission] = encode("openai-preference", [several(chosen, rejected)]).omitted
      assert.strictEqual(
        `${omission?.field}: ${omission?.reason}`,
        `${side}: expected one message, not counting tool calls and results at the start that are equal in \`chosen\` and \`rejected\`, found ${count} messages`,
      )
    },
  )
})
