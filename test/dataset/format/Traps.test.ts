/** What trainers are known to trip over: refused by the encoder, found by the validator. */
import { assert, describe, it } from "@effect/vitest"
import type { FormatName } from "../../../src/dataset/format/TrainerFormats.ts"
import type { Prompt } from "../../../src/domain/Message.ts"
import type { PreferencePair } from "../../../src/domain/PreferencePair.ts"
import { assistant, encode, refusal, said, sky, system, tool, user } from "./support.ts"
import { test } from "../support.ts"

const developer = { role: "developer", content: "x" }

const lastOf = (i: number, role: string) =>
  `prompt[${i}].role: expected user or tool as the role of the last message, found "${role}"`
const roleOf = (i: number, expected: string, role: string) =>
  `prompt[${i}].role: expected ${expected} at this position, found "${role}"`
const manyTurns = "prompt: expected one question, found a conversation of 3 turns"
const emptyText = (i: number) => `prompt[${i}].content: expected text, found an empty string`
const marked = (field: string, mark: string) =>
  `${field}: expected text without turn markers, found "\\n\\n${mark}:" in the text`
const atEnds = (field: string, text: string) =>
  `${field}: expected text without white space at its start or end (many chat templates remove this white space, and axolotl would not find the text), found "${text}"`

describe("refused with its reason", () => {
  it.each([
    // TRL's apply_chat_template knows no other last role to go on from; two answers in a row break templates.
    ["trl-conversational", [user("a"), assistant("b")], lastOf(1, "assistant")],
    ["trl-implicit-conversational", [system("a")], lastOf(0, "system")],
    ["trl-unpaired-conversational", [developer], lastOf(0, "developer")],
    ["openrlhf-conversational", [user("a"), assistant("b")], lastOf(1, "assistant")],
    ["nemo-rl", [user("a"), assistant("b")], lastOf(1, "assistant")],
    // LLaMA-Factory skips rows whose roles are out of turn.
    ["llamafactory-sharegpt", [user("a"), user("b")], roleOf(1, "assistant", "user")],
    ["llamafactory-sharegpt", [assistant("a"), user("b")], roleOf(0, "user or tool", "assistant")],
    ["llamafactory-sharegpt", [user("a"), system("b")], roleOf(1, "assistant", "system")],
    ["llamafactory-kto", [user("a"), assistant("b")], lastOf(1, "assistant")],
    ["llamafactory-kto", [system("a")], lastOf(0, "system")],
    ["llamafactory-kto", [system(""), user("a")], emptyText(0)],
    ["llamafactory-alpaca", [user("a"), assistant("b"), user("c")], manyTurns],
    ["llamafactory-alpaca", [system("a"), tool("b")], roleOf(1, "user", "tool")],
    ["llamafactory-alpaca", [system("a"), user("")], emptyText(1)],
    ["axolotl-bradley-terry", [user("a"), assistant("b"), user("c")], manyTurns],
    // axolotl's role map has no such key.
    [
      "axolotl-chat-template",
      [developer, user("a")],
      'prompt[0].role: expected system or user or assistant or tool, found "developer"',
    ],
    // A tool message of OpenAI's needs a tool_call_id.
    [
      "openai-preference",
      [user("a"), assistant("b"), tool("c")],
      "prompt[2].role: expected system or user or assistant, found a tool result without the tool call's id",
    ],
    ["openai-preference", [user("a"), assistant("b")], lastOf(1, "assistant")],
    ["hh", [system("a"), user("b")], 'prompt[0].role: expected user or assistant, found "system"'],
    ["hh", [user("a"), assistant("b"), tool("c")], roleOf(2, "user", "tool")],
    ["hh", "a\n\nHuman: b", marked("prompt", "Human")],
    ["hh", [user("a\n\nAssistant: b")], marked("prompt[0].content", "Assistant")],
  ] satisfies ReadonlyArray<readonly [FormatName, Prompt, string]>)("%s: prompt %j", (name, prompt, reason) => {
    assert.strictEqual(refusal(name, { prompt }), reason)
  })

  it.each([
    ["hh", { chosen: "a\n\nHuman: b" }, marked("chosen", "Human")],
    ["hh", { rejected: "\n\nAssistant:" }, marked("rejected", "Assistant")],
    // reward_dataset.py: (prompt + chosen).rstrip("\n")
    [
      "openrlhf",
      { chosen: "a", rejected: "a\n\n" },
      'rejected: expected a text that differs from `chosen` even without the line feeds at the end, found "a\\n\\n"',
    ],
    [
      "trl-tpo",
      { edited: null },
      "edited: expected an edited version of `chosen` (TPO reads it as the reference), found none",
    ],
    [
      "trl-tpo-conversational",
      { edited: null },
      "edited: expected an edited version of `chosen` (TPO reads it as the reference), found none",
    ],
    ["trl-tpo", { edited: "\ud800" }, "edited: expected well-formed Unicode, found a lone surrogate"],
    // chat_template.py: result["chosen"].find(chosen["content"])
    ["axolotl-chat-template", { chosen: "a\n" }, atEnds("chosen", "a\\n")],
    ["axolotl-chat-template", { chosen: "b", rejected: "\u3000a" }, atEnds("rejected", "\u3000a")],
    [
      "axolotl-chat-template",
      { chosen: "a" },
      'chosen: expected text that does not occur in [[dummy_message]] (axolotl writes this placeholder before the completion, searches for the completion\'s text, and would find the placeholder), found "a"',
    ],
  ] satisfies ReadonlyArray<readonly [FormatName, Partial<PreferencePair>, string]>)(
    "%s: %j",
    (name, members, reason) => {
      assert.strictEqual(refusal(name, members), reason)
    },
  )

  it("a prompt of text that looks like a transcript is a text like any other elsewhere", () => {
    assert.isUndefined(refusal("trl", { prompt: "\n\nHuman: a\n\nAssistant:" }))
  })
})

const message = (role: string, content: string) => ({ role, content })
const turn = (from: string, value: string) => ({ from, value })
const [q, a, b] = [message("user", "q"), message("assistant", "a"), message("assistant", "b")]
const called = {
  ...message("assistant", ""),
  tool_calls: [{ type: "function", function: { name: "f", arguments: {} } }],
}
const [question, answer, other] = [turn("human", "q"), turn("gpt", "a"), turn("gpt", "b")]

const row = (prompt: unknown, chosen: unknown, rejected: unknown, members: object = {}) => ({
  prompt,
  chosen,
  rejected,
  ...members,
})
const sides = (chosen: unknown, rejected: unknown) => ({ chosen, rejected })
const completion = (prompt: string, completion: string, label: unknown) => ({ prompt, completion, label })
const transcript = (answer: string, prompt = "q") => `\n\nHuman: ${prompt}\n\nAssistant: ${answer}`

const sameText = (text: string) => `1: rejected: expected a text that differs from \`chosen\`, found "${text}"`
const stray = (field: string, value: string) => `${field}: expected no field with this name, found ${value}`
const cutTo = (text: string, rest: string) =>
  `1: chosen: expected completions that differ in their first character (TRL's DPO and KTO trainers move a shared beginning to the prompt), found completions that begin with the same text: TRL would shorten "${text}" to "${rest}" warning`
const thought = (field: string, text: string) =>
  `1: ${field}: expected an answer without </think> (many chat templates remove all text up to </think>), found "${text}" warning`

describe("found in a file", () => {
  test.each([
    [
      "trl",
      "a prompt of text with sides of messages",
      [row("q", [a], [b])],
      ["1: chosen: expected a string, found an array", "1: rejected: expected a string, found an array"],
    ],
    [
      "trl",
      "a stray column named completion",
      [row("q", "a", "b", { completion: "c" })],
      [stray("1: completion", '"c"')],
    ],
    [
      "trl-conversational",
      "stray columns named messages and label",
      [{ messages: [], ...row([q], [a], [b], { label: true }) }],
      [stray("1: messages", "an empty array"), stray("1: label", "true")],
    ],
    [
      "trl-conversational",
      "a prompt that ends with an answer",
      [row([q, a], [a], [b])],
      [`1: ${lastOf(1, "assistant")}`],
    ],
    [
      "trl-conversational",
      "no messages",
      [row([], [], [a, b])],
      [
        "1: prompt: expected at least one message, found an empty array",
        "1: chosen: expected at least one message, found an empty array",
        "1: rejected: expected one message (only a completion with tool calls can have several messages), found an array",
      ],
    ],
    [
      "trl",
      "a margin of null, which breaks the collator",
      [row("q", "a", "b", { margin: null })],
      ["1: margin: expected a number, found null"],
    ],
    [
      "trl",
      "a margin in some rows only, which is null in the others",
      [row("q", "a", "b", { margin: 0.5 }), row("q", "a", "b")],
      ["2: margin: expected the columns of the first row (prompt, chosen, rejected, margin), found nothing"],
    ],
    [
      "openrlhf",
      "whole numbers before a fraction, at which load_dataset fails",
      [
        row('"margin":1,', "a", "b", { margin: 0.5 }),
        row("q", "a", "b", { margin: 0 }),
        row("q", "a", "b", { margin: 0.5 }),
      ],
      [
        "3: margin: expected a whole number, because earlier rows have whole numbers in this column (to use fractions, write whole numbers with a decimal point, such as 1.0), found 0.5",
      ],
    ],
    [
      "openrlhf",
      "sides that are the same once line feeds are stripped",
      ['{"prompt":"q","chosen":"a","rejected":"a\\n","margin":0.0}'],
      [sameText("a\\n")],
    ],
    ["trl", "equal sides", [row("q", "a", "a")], [sameText("a")]],
    [
      "trl",
      "empty texts and lone surrogates",
      [row("\ud800", "", "b")],
      ['1: prompt: expected well-formed Unicode, found "\\ud800"', '1: chosen: expected text, found ""'],
    ],
    [
      "trl-implicit",
      "a completion of which one letter is left, and completions that begin with a space, which TRL leaves them",
      [sides("q\n\nYes", "q\n\nYet"), sides("q\n\n Yes", "q\n\n No")],
      [cutTo("Yes", "s")],
    ],
    [
      "hh",
      "the same in transcripts",
      [sides(transcript("Yes"), transcript("Yet")), sides(transcript("Yes"), transcript("No"))],
      [cutTo("Yes", "s")],
    ],
    [
      "trl-conversational",
      "thoughts in answers, which templates remove",
      [
        row(
          [q, message("assistant", "<think>w</think>a"), message("user", "</think>")],
          [message("assistant", "<think>w</think>a")],
          [b],
        ),
      ],
      ["prompt[1]", "chosen[0]"].map((at) => thought(`${at}.content`, "<think>w</think>a")),
    ],
    [
      "llamafactory-sharegpt",
      "the same in turns",
      [{ conversations: [question], chosen: turn("gpt", "</think>a"), rejected: other }],
      [thought("chosen.value", "</think>a")],
    ],
    [
      "axolotl-chat-template",
      "an answer that Llama's template has before it",
      [{ messages: [q], ...sides(message("assistant", "2024"), message("assistant", "1970 was the year")) }],
      [
        '1: chosen.content: expected text that does not occur in common chat templates (axolotl looks for the completion in the formatted conversation, and would find the template\'s text first), found "2024" warning',
      ],
    ],
    [
      "trl-implicit-conversational",
      "prompts that differ",
      [sides([q, a], [message("user", "p"), b])],
      ["1: rejected[0]: expected the same message as in `chosen`'s prompt, found an object"],
    ],
    [
      "trl-implicit-conversational",
      "sides that are no prompt and answer",
      [
        sides([a], [q, b]),
        sides([q, a], [q, q]),
        sides([q, message("assistant", "")], [q, b]),
        sides([message("system", "s"), a], [q, b]),
        sides([q, a], [q, a]),
        sides([q, a], [q, a, q, b]),
        sides([q, a, q, a], [q, b]),
        sides([q, a, q, a], [q, b, q, b]),
      ],
      [
        "1: chosen: expected a prompt and an answer, found an array",
        '2: rejected[1].role: expected assistant as the role of the last message, found "user"',
        '3: chosen[1].content: expected text, found ""',
        '4: chosen[0].role: expected user or tool as the role of the message before the answer, found "system"',
        '5: rejected[1].content: expected a text that differs from `chosen`, found "a"',
        "6: rejected: expected the same prompt as in `chosen` (1 message), found an array",
        "7: rejected: expected the same prompt as in `chosen` (3 messages), found an array",
        "8: rejected[1]: expected the same message as in `chosen`'s prompt, found an object",
      ],
    ],
    [
      "trl-implicit-conversational",
      "questions that differ after calls of tools",
      [sides([q, called, tool("r"), a], [q, called, q, b])],
      ["1: rejected[2]: expected the same message as in `chosen`'s prompt, found an object"],
    ],
    [
      "trl-unpaired",
      "a completion twice, one with both labels, and a prompt in two rows after one another",
      [
        completion("q", "a", true),
        completion("p", "a", true),
        completion("q", "a", true),
        completion("p", "a", false),
        completion("p", "b", false),
      ],
      [
        '3: completion: expected a completion that no earlier row has with this prompt and label, found "\\"a\\"" warning',
        "4: label: expected true, as in an earlier row with the same prompt and completion, found false warning",
        "5: prompt: expected a different prompt than in the previous row (KTO trainers also combine this prompt with the previous row's completion, as an answer that does not fit the prompt), found the same prompt warning",
      ],
    ],
    [
      "trl-unpaired",
      "a label that is no boolean",
      [completion("q", "a", 1)],
      ["1: label: expected true or false, found 1"],
    ],
    [
      "llamafactory-kto",
      "an empty completion, which LLaMA-Factory would take for the other label",
      [{ conversations: [question, turn("gpt", "")], kto_tag: true }],
      ['1: conversations[1].value: expected text, found ""'],
    ],
    [
      "llamafactory-sharegpt",
      "roles out of turn",
      [
        { conversations: [turn("gpt", "q")], chosen: answer, rejected: turn("human", "b") },
        { conversations: [turn("gpt", "q")], chosen: answer, rejected: other },
      ],
      [
        '1: conversations[0].from: expected human or observation at this position, found "gpt"',
        '1: rejected.from: expected gpt or function_call, found "human"',
        '2: conversations[0].from: expected human or observation at this position, found "gpt"',
      ],
    ],
    [
      "axolotl-bradley-terry",
      "no system, which the code indexes",
      [{ input: "q", ...sides("a", "b") }],
      ["1: system: expected a value, found nothing"],
    ],
    [
      "axolotl-chat-template",
      "a role that is not in the map, and a text that is cut wrongly",
      [
        { messages: [message("human", "q")], ...sides(message("assistant", "Yes"), message("assistant", "No")) },
        { messages: [q], ...sides(message("assistant", "Yes "), message("assistant", "No")) },
      ],
      [
        `1: messages[0].role: expected user or tool as the role of the last message, found "human"`,
        '1: messages[0].role: expected system, user, assistant, or tool, found "human"',
        `2: ${atEnds("chosen.content", "Yes ")}`,
      ],
    ],
    [
      "nemo-rl",
      "three completions, and a tie",
      [
        [0, 0],
        [0, 1, 2],
      ].map((ranks) => ({
        context: [q],
        completions: ranks.map((rank, i) => ({ rank, completion: [i === 0 ? a : b] })),
      })),
      ["1: completions[1].rank: expected 1, found 0", stray("2: completions[2]", "an object")],
    ],
    [
      "openai-preference",
      "two messages on a side, and one that is not the assistant's",
      [
        {
          input: { messages: [q], tools: [], parallel_tool_calls: true },
          preferred_output: [a, a],
          non_preferred_output: [q],
        },
      ],
      [
        "1: preferred_output: expected one message, found an array",
        '1: non_preferred_output[0].role: expected assistant, found "user"',
      ],
    ],
    [
      "hh",
      "a transcript without beginning, out of turn, or with another prompt",
      [
        sides("Human: q\n\nAssistant: a", transcript("b")),
        sides(`\n\nHuman: q${transcript("a")}`, transcript("b")),
        sides(transcript("a"), transcript("b", "p")),
        sides(transcript("a"), transcript("")),
      ],
      [
        '1: chosen: expected a text that begins with "\\n\\nHuman:", found "Human: q\\n\\nAssistant: a"',
        '2: chosen: expected alternating turns of Human and Assistant, found "\\n\\nHuman: q\\n\\nHuman: q\\n\\nAssistant: a"',
        '3: rejected: expected the same turns as `chosen`, except the last Assistant turn, found "\\n\\nHuman: p\\n\\nAssistant: b"',
        '4: rejected: expected text in the last Assistant turn, found "\\n\\nHuman: q\\n\\nAssistant: "',
      ],
    ],
    [
      "verl",
      "no JSON at all",
      ["", "{", "[]", "\uFEFF{}"],
      [
        "1: : expected a JSON object, found an empty line",
        '2: : expected a JSON object, found invalid JSON (column 2: expected a name in double quotes or "}", found the end of the line)',
        "3: : expected an object, found an empty array",
        '4: : expected a JSON object, found invalid JSON (column 1: expected a value, found "\\uFEFF")',
      ],
    ],
  ] satisfies ReadonlyArray<readonly [FormatName, string, ReadonlyArray<object | string>, ReadonlyArray<string>]>)(
    "%s: %s",
    function* ([name, , rows, expected]) {
      const lines = rows.map((row) => (typeof row === "string" ? row : JSON.stringify(row)))
      assert.deepStrictEqual(yield* said(name, lines), [...expected])
    },
  )

  it("margins are the strength by choice, 0 without one", () => {
    const pairs = [null, 2, 1.5].map((strength) => sky({ strength, vote_margin: 1 }))
    for (const name of ["trl", "trl-conversational", "openrlhf", "openrlhf-conversational"] as const) {
      const margins = (marginFrom: "votes" | "strength", margin = true) =>
        encode(name, pairs, { margin, marginFrom }).rows.map(({ margin }) => margin)
      assert.deepStrictEqual(margins("strength"), [0, 2, 1.5], name)
      assert.deepStrictEqual(margins("votes"), [1, 1, 1], name)
    }
    const [row] = encode("nemo-rl", pairs, { margin: true, marginFrom: "strength" }).rows
    assert.notInclude(JSON.stringify(row), "margin", "NeMo RL reads ranks only")
  })
})
