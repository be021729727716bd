/** What trainers are known to trip over: refused by the encoder, found by the validator. */
import { assert, describe, it } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { Effect } from "effect"
import type { FormatName } from "../../../src/dataset/format/TrainerFormats.ts"
import type { Prompt } from "../../../src/domain/Message.ts"
import type { PreferencePair } from "../../../src/domain/PreferencePair.ts"
import { assistant, encode, findings, refusal, said, sky, system, tool, user, written } from "./support.ts"

const developer = { role: "developer", content: "x" }

describe("refused with its reason", () => {
  it.each([
    // TRL's apply_chat_template knows no other last role to go on from; two answers in a row break templates.
    [
      "trl-conversational",
      [user("a"), assistant("b")],
      'prompt[1].role: expected user or tool in the last message, found "assistant"',
    ],
    [
      "trl-implicit-conversational",
      [system("a")],
      'prompt[0].role: expected user or tool in the last message, found "system"',
    ],
    [
      "trl-unpaired-conversational",
      [developer],
      'prompt[0].role: expected user or tool in the last message, found "developer"',
    ],
    [
      "openrlhf-conversational",
      [user("a"), assistant("b")],
      'prompt[1].role: expected user or tool in the last message, found "assistant"',
    ],
    [
      "nemo-rl",
      [user("a"), assistant("b")],
      'prompt[1].role: expected user or tool in the last message, found "assistant"',
    ],
    // LLaMA-Factory skips rows whose roles are out of turn.
    [
      "llamafactory-sharegpt",
      [user("a"), user("b")],
      'prompt[1].role: expected assistant at this position, found "user"',
    ],
    [
      "llamafactory-sharegpt",
      [assistant("a"), user("b")],
      'prompt[0].role: expected user or tool at this position, found "assistant"',
    ],
    [
      "llamafactory-sharegpt",
      [user("a"), system("b")],
      'prompt[1].role: expected assistant at this position, found "system"',
    ],
    [
      "llamafactory-kto",
      [user("a"), assistant("b")],
      'prompt[1].role: expected user or tool in the last message, found "assistant"',
    ],
    ["llamafactory-kto", [system("a")], 'prompt[0].role: expected user or tool in the last message, found "system"'],
    ["llamafactory-kto", [system(""), user("a")], "prompt[0].content: expected text, found an empty string"],
    [
      "llamafactory-alpaca",
      [user("a"), assistant("b"), user("c")],
      "prompt: expected one question, found a conversation of 3 turns",
    ],
    ["llamafactory-alpaca", [system("a"), tool("b")], 'prompt[1].role: expected user at this position, found "tool"'],
    ["llamafactory-alpaca", [system("a"), user("")], "prompt[1].content: expected text, found an empty string"],
    [
      "axolotl-bradley-terry",
      [user("a"), assistant("b"), user("c")],
      "prompt: expected one question, found a conversation of 3 turns",
    ],
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
      "prompt[2].role: expected system or user or assistant, found a result without the id of its call",
    ],
    [
      "openai-preference",
      [user("a"), assistant("b")],
      'prompt[1].role: expected user or tool in the last message, found "assistant"',
    ],
    ["hh", [system("a"), user("b")], 'prompt[0].role: expected user or assistant, found "system"'],
    ["hh", [user("a"), assistant("b"), tool("c")], 'prompt[2].role: expected user at this position, found "tool"'],
    ["hh", "a\n\nHuman: b", 'prompt: expected a text without turn marks, found "\\n\\nHuman:" in it'],
    [
      "hh",
      [user("a\n\nAssistant: b")],
      'prompt[0].content: expected a text without turn marks, found "\\n\\nAssistant:" in it',
    ],
  ] satisfies ReadonlyArray<readonly [FormatName, Prompt, string]>)("%s: prompt %j", (name, prompt, reason) => {
    assert.strictEqual(refusal(name, { prompt }), reason)
  })

  it.each([
    ["hh", { chosen: "a\n\nHuman: b" }, 'chosen: expected a text without turn marks, found "\\n\\nHuman:" in it'],
    [
      "hh",
      { rejected: "\n\nAssistant:" },
      'rejected: expected a text without turn marks, found "\\n\\nAssistant:" in it',
    ],
    // reward_dataset.py: (prompt + chosen).rstrip("\n")
    [
      "openrlhf",
      { chosen: "a", rejected: "a\n\n" },
      'rejected: expected a text that differs from chosen in more than line feeds, found "a\\n\\n"',
    ],
    // chat_template.py: result["chosen"].find(chosen["content"])
    [
      "axolotl-chat-template",
      { chosen: "a\n" },
      'chosen: expected a text without white space at its ends, because axolotl searches for it after a template, found "a\\n"',
    ],
    [
      "axolotl-chat-template",
      { chosen: "b", rejected: "\u3000a" },
      'rejected: expected a text without white space at its ends, because axolotl searches for it after a template, found "\u3000a"',
    ],
    [
      "axolotl-chat-template",
      { chosen: "a" },
      'chosen: expected a text that is not contained in [[dummy_message]], where axolotl would find it, found "a"',
    ],
  ] satisfies ReadonlyArray<readonly [FormatName, Partial<PreferencePair>, string]>)(
    "%s: %j",
    (name, members, reason) => {
      assert.strictEqual(refusal(name, members), reason)
    },
  )

  it("names item and field", () => {
    assert.deepStrictEqual(encode("hh", [sky({ prompt: [system("a"), user("b")] })]).omitted, [
      { item_id: "item-1", field: "prompt[0].role", reason: 'expected user or assistant, found "system"' },
    ])
  })

  it("a prompt of text that looks like a transcript is a text like any other elsewhere", () => {
    assert.isUndefined(refusal("trl", { prompt: "\n\nHuman: a\n\nAssistant:" }))
  })
})

const message = (role: string, content: string) => JSON.stringify({ role, content })
const [q, a, b] = [message("user", "q"), message("assistant", "a"), message("assistant", "b")]

it.layer(NodeServices.layer)("found in a file", (it) => {
  it.effect.each([
    [
      "trl",
      "a prompt of text with sides of messages",
      [`{"prompt":"q","chosen":[${a}],"rejected":[${b}]}`],
      ["1: chosen: expected a string, found an array", "1: rejected: expected a string, found an array"],
    ],
    [
      "trl",
      "strings and lists in one column",
      ['{"prompt":"q","chosen":"a","rejected":"b"}', `{"prompt":[${q}],"chosen":"a","rejected":"b"}`],
      ["2: prompt: expected a string, found an array"],
    ],
    [
      "trl",
      "a stray column named completion",
      ['{"prompt":"q","chosen":"a","rejected":"b","completion":"c"}'],
      ['1: completion: expected nothing of this name, found "c"'],
    ],
    [
      "trl-conversational",
      "stray columns named messages and label",
      [`{"messages":[],"prompt":[${q}],"chosen":[${a}],"rejected":[${b}],"label":true}`],
      [
        "1: messages: expected nothing of this name, found an empty array",
        "1: label: expected nothing of this name, found true",
      ],
    ],
    [
      "trl-conversational",
      "a prompt that ends with an answer",
      [`{"prompt":[${q},${a}],"chosen":[${a}],"rejected":[${b}]}`],
      ['1: prompt[1].role: expected user or tool in the last message, found "assistant"'],
    ],
    [
      "trl-conversational",
      "no messages",
      [`{"prompt":[],"chosen":[],"rejected":[${a},${b}]}`],
      [
        "1: prompt: expected at least one message, found an empty array",
        "1: chosen: expected at least one message, found an empty array",
        "1: rejected: expected one message, or calls of tools with what follows them, found an array",
      ],
    ],
    [
      "trl",
      "a margin of null, which breaks the collator",
      ['{"prompt":"q","chosen":"a","rejected":"b","margin":null}'],
      ["1: margin: expected a number, found null"],
    ],
    [
      "trl",
      "a margin in some rows only, which is null in the others",
      ['{"prompt":"q","chosen":"a","rejected":"b","margin":0.5}', '{"prompt":"q","chosen":"a","rejected":"b"}'],
      ["2: margin: expected the columns of the first row, prompt, chosen, rejected, margin, found nothing"],
    ],
    [
      "openrlhf",
      "whole numbers before a fraction, at which load_dataset fails",
      [
        '{"prompt":"\\"margin\\":1,","chosen":"a","rejected":"b","margin":0.5}',
        '{"prompt":"q","chosen":"a","rejected":"b","margin":0}',
        '{"prompt":"q","chosen":"a","rejected":"b","margin":0.5}',
      ],
      ["3: margin: expected a whole number, as in earlier rows (or a decimal point in all rows), found 0.5"],
    ],
    [
      "openrlhf",
      "sides that are the same once line feeds are stripped",
      ['{"prompt":"q","chosen":"a","rejected":"a\\n","margin":0.0}'],
      ['1: rejected: expected another text than chosen\'s, found "a\\n"'],
    ],
    [
      "trl",
      "equal sides",
      ['{"prompt":"q","chosen":"a","rejected":"a"}'],
      ['1: rejected: expected another text than chosen\'s, found "a"'],
    ],
    [
      "trl",
      "empty texts and lone surrogates",
      ['{"prompt":"\\ud800","chosen":"","rejected":"b"}'],
      ['1: prompt: expected well-formed Unicode, found "\\ud800"', '1: chosen: expected text, found ""'],
    ],
    [
      "trl-implicit",
      "completions that begin alike, which DPO and KTO cut",
      ['{"chosen":"q\\n\\nThe one","rejected":"q\\n\\nThe other"}'],
      [
        `1: chosen: expected completions that differ from the first character, where TRL's DPO and KTO trainers end the prompt, found both beginning alike: "The one" is cut to "ne" warning`,
      ],
    ],
    [
      "trl-implicit",
      "a completion of which one letter is left, and completions that begin with a space, which TRL leaves them",
      ['{"chosen":"q\\n\\nYes","rejected":"q\\n\\nYet"}', '{"chosen":"q\\n\\n Yes","rejected":"q\\n\\n No"}'],
      [
        `1: chosen: expected completions that differ from the first character, where TRL's DPO and KTO trainers end the prompt, found both beginning alike: "Yes" is cut to "s" warning`,
      ],
    ],
    [
      "hh",
      "the same in transcripts",
      [
        '{"chosen":"\\n\\nHuman: q\\n\\nAssistant: Yes","rejected":"\\n\\nHuman: q\\n\\nAssistant: Yet"}',
        '{"chosen":"\\n\\nHuman: q\\n\\nAssistant: Yes","rejected":"\\n\\nHuman: q\\n\\nAssistant: No"}',
      ],
      [
        `1: chosen: expected completions that differ from the first character, where TRL's DPO and KTO trainers end the prompt, found both beginning alike: "Yes" is cut to "s" warning`,
      ],
    ],
    [
      "trl-conversational",
      "thoughts in answers, which templates remove",
      [
        `{"prompt":[${q},${message("assistant", "<think>w</think>a")},${message("user", "</think>")}],"chosen":[${message("assistant", "<think>w</think>a")}],"rejected":[${b}]}`,
      ],
      ["prompt[1]", "chosen[0]"].map(
        (field) =>
          `1: ${field}.content: expected no </think> in an answer, because many chat templates remove the thought, found "<think>w</think>a" warning`,
      ),
    ],
    [
      "llamafactory-sharegpt",
      "the same in turns",
      [
        '{"conversations":[{"from":"human","value":"q"}],"chosen":{"from":"gpt","value":"</think>a"},"rejected":{"from":"gpt","value":"b"}}',
      ],
      [
        '1: chosen.value: expected no </think> in an answer, because many chat templates remove the thought, found "</think>a" warning',
      ],
    ],
    [
      "axolotl-chat-template",
      "an answer that Llama's template has before it",
      [
        `{"messages":[${q}],"chosen":${message("assistant", "2024")},"rejected":${message("assistant", "1970 was the year")}}`,
      ],
      [
        '1: chosen.content: expected a text that common chat templates do not contain, because axolotl would find it there, found "2024" warning',
      ],
    ],
    [
      "trl-implicit-conversational",
      "prompts that differ",
      [`{"chosen":[${q},${a}],"rejected":[${message("user", "p")},${b}]}`],
      ["1: rejected[0]: expected the same message as in chosen's prompt, found an object"],
    ],
    [
      "trl-unpaired",
      "a completion twice, one with both labels, and a prompt in two rows after one another",
      [
        '{"prompt":"q","completion":"a","label":true}',
        '{"prompt":"p","completion":"a","label":true}',
        '{"prompt":"q","completion":"a","label":true}',
        '{"prompt":"p","completion":"a","label":false}',
        '{"prompt":"p","completion":"b","label":false}',
      ],
      [
        '3: completion: expected a completion that this prompt has not had, found "\\"a\\"" warning',
        "4: label: expected true, as in an earlier row with this prompt and completion, found false warning",
        "5: prompt: expected a different prompt than in the previous row, because KTO trainers pair it with that row's completion, found the same prompt warning",
      ],
    ],
    [
      "trl-unpaired",
      "a label that is no boolean",
      ['{"prompt":"q","completion":"a","label":1}'],
      ["1: label: expected true or false, found 1"],
    ],
    [
      "llamafactory-kto",
      "an empty completion, which LLaMA-Factory would take for the other label",
      ['{"conversations":[{"from":"human","value":"q"},{"from":"gpt","value":""}],"kto_tag":true}'],
      ['1: conversations[1].value: expected text, found ""'],
    ],
    [
      "llamafactory-sharegpt",
      "roles out of turn",
      [
        '{"conversations":[{"from":"gpt","value":"q"}],"chosen":{"from":"gpt","value":"a"},"rejected":{"from":"human","value":"b"}}',
        '{"conversations":[{"from":"gpt","value":"q"}],"chosen":{"from":"gpt","value":"a"},"rejected":{"from":"gpt","value":"b"}}',
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
      ['{"input":"q","chosen":"a","rejected":"b"}'],
      ["1: system: expected a value, found nothing"],
    ],
    [
      "axolotl-chat-template",
      "a role that is not in the map, and a text that is cut wrongly",
      [
        `{"messages":[${message("human", "q")}],"chosen":${message("assistant", "Yes")},"rejected":${message("assistant", "No")}}`,
        `{"messages":[${q}],"chosen":${message("assistant", "Yes ")},"rejected":${message("assistant", "No")}}`,
      ],
      [
        '1: messages[0].role: expected user or tool in the last message, found "human"',
        '1: messages[0].role: expected system, user, assistant or tool, found "human"',
        '2: chosen.content: expected a text without white space at its ends, because axolotl searches for it after a template, found "Yes "',
      ],
    ],
    [
      "nemo-rl",
      "three completions, and a tie",
      [
        `{"context":[${q}],"completions":[{"rank":0,"completion":[${a}]},{"rank":0,"completion":[${b}]}]}`,
        `{"context":[${q}],"completions":[{"rank":0,"completion":[${a}]},{"rank":1,"completion":[${b}]},{"rank":2,"completion":[${b}]}]}`,
      ],
      [
        "1: completions[1].rank: expected 1, found 0",
        "2: completions[2]: expected nothing of this name, found an object",
      ],
    ],
    [
      "openai-preference",
      "two messages on a side, and one that is not the assistant's",
      [
        `{"input":{"messages":[${q}],"tools":[],"parallel_tool_calls":true},"preferred_output":[${a},${a}],"non_preferred_output":[${q}]}`,
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
        '{"chosen":"Human: q\\n\\nAssistant: a","rejected":"\\n\\nHuman: q\\n\\nAssistant: b"}',
        '{"chosen":"\\n\\nHuman: q\\n\\nHuman: q\\n\\nAssistant: a","rejected":"\\n\\nHuman: q\\n\\nAssistant: b"}',
        '{"chosen":"\\n\\nHuman: q\\n\\nAssistant: a","rejected":"\\n\\nHuman: p\\n\\nAssistant: b"}',
        '{"chosen":"\\n\\nHuman: q\\n\\nAssistant: a","rejected":"\\n\\nHuman: q\\n\\nAssistant: "}',
      ],
      [
        '1: chosen: expected a text that begins with "\\n\\nHuman:", found "Human: q\\n\\nAssistant: a"',
        '2: chosen: expected turns of Human and Assistant in turn, found "\\n\\nHuman: q\\n\\nHuman: q\\n\\nAssistant: a"',
        '3: rejected: expected the same turns as chosen\'s up to the last of Assistant, found "\\n\\nHuman: p\\n\\nAssistant: b"',
        '4: rejected: expected text in the last turn of Assistant, found "\\n\\nHuman: q\\n\\nAssistant: "',
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
  ] satisfies ReadonlyArray<readonly [FormatName, string, ReadonlyArray<string>, ReadonlyArray<string>]>)(
    "%s: %s",
    ([name, , lines, expected]) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* said(name, lines), [...expected])
      }),
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

  it("TPO's reference is the edit, and a pair without one has no row", () => {
    for (const name of ["trl-tpo", "trl-tpo-conversational"] as const) {
      const { omitted, rows } = encode(name, [sky({ edited: " blue!" }), sky({ edited: null })])
      const [text, message] = [" blue!", [{ role: "assistant", content: " blue!" }]]
      assert.deepStrictEqual(
        rows.map(({ reference }) => reference),
        [name === "trl-tpo" ? text : message],
      )
      assert.deepStrictEqual(
        omitted.map(({ field, reason }) => `${field}: ${reason}`),
        ["edited: expected an edit of chosen, which TPO reads as the reference, found none"],
      )
    }
  })

  it.effect("margins are written so that load_dataset takes them for fractions, null as 0", () =>
    Effect.gen(function* () {
      const pairs = [null, 1, 0.25].map((vote_margin) => sky({ vote_margin }))
      const { rows } = encode("trl", pairs, { margin: true })
      assert.deepStrictEqual(
        rows.map(({ margin }) => margin),
        [0, 1, 0.25],
      )
      const path = yield* written("trl", rows, { margin: true })
      assert.deepStrictEqual(yield* findings("trl", path), [])
    }),
  )
})
