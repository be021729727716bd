/** The rows of each format, as its trainer's documentation shows them. */
import { assert, describe, it } from "@effect/vitest"
import type { JsonRow } from "../../../src/dataset/file/Features.ts"
import type { FormatOptions } from "../../../src/dataset/format/TrainerFormat.ts"
import type { FormatName } from "../../../src/dataset/format/TrainerFormats.ts"
import type { Prompt } from "../../../src/domain/Message.ts"
import { assistant, encode, sky, system, tool, user } from "./support.ts"

const text = "The sky is"
const sides = { chosen: " blue.", rejected: " green." }
const standard = { prompt: text, ...sides }
const blue = [assistant(" blue.")]
const green = [assistant(" green.")]
const asMessages = { chosen: blue, rejected: green }

const turns = [system("Be brief."), user("Look up."), assistant("And now?"), user(text)] as const
const rendered = "[system]\nBe brief.\n\n[user]\nLook up.\n\n[assistant]\nAnd now?\n\n[user]\nThe sky is"
const turn = (from: string, value: string) => ({ from, value })
const sharegpt = [
  turn("system", "Be brief."),
  turn("human", "Look up."),
  turn("gpt", "And now?"),
  turn("human", "The sky is"),
]
const inTurn = { chosen: turn("gpt", " blue."), rejected: turn("gpt", " green.") }
const asked = "\n\nHuman: Look up.\n\nAssistant: And now?\n\nHuman: The sky is\n\nAssistant:"

type Shape = readonly [name: FormatName, what: string, prompt: Prompt, rows: ReadonlyArray<JsonRow>, FormatOptions?]

const shapes: ReadonlyArray<Shape> = [
  ["trl", "text", text, [standard]],
  ["trl", "a single user message", [user(text)], [standard]],
  ["trl", "messages", turns, [{ prompt: rendered, ...sides }]],
  ["trl", "a margin", text, [{ ...standard, margin: 1 / 3 }], { margin: true }],
  ["trl-conversational", "text", text, [{ prompt: [user(text)], ...asMessages }]],
  ["trl-conversational", "messages", turns, [{ prompt: turns, ...asMessages }]],
  ["trl-implicit", "text", text, [{ chosen: "The sky is\n\n blue.", rejected: "The sky is\n\n green." }]],
  ["trl-implicit-conversational", "messages", turns, [{ chosen: [...turns, ...blue], rejected: [...turns, ...green] }]],
  [
    "trl-unpaired",
    "text",
    text,
    [
      { prompt: text, completion: " blue.", label: true },
      { prompt: text, completion: " green.", label: false },
    ],
    { margin: true },
  ],
  [
    "trl-unpaired-conversational",
    "messages",
    turns,
    [
      { prompt: turns, completion: blue, label: true },
      { prompt: turns, completion: green, label: false },
    ],
  ],
  ["trl-tpo", "text, with the edit", text, [{ ...standard, reference: "The best answer to 1" }]],
  [
    "trl-tpo-conversational",
    "messages, with the edit",
    turns,
    [{ prompt: turns, ...asMessages, reference: [assistant("The best answer to 1")] }],
  ],
  ["openrlhf", "text", text, [{ ...standard, margin: 0 }]],
  ["openrlhf", "a margin", text, [{ ...standard, margin: 1 / 3 }], { margin: true }],
  ["openrlhf-conversational", "messages", turns, [{ prompt: turns, ...asMessages, margin: 0 }]],
  ["llamafactory-alpaca", "text", text, [{ instruction: text, input: "", system: "", ...sides }]],
  [
    "llamafactory-alpaca",
    "a system prompt",
    [system("Be brief."), user(text)],
    [{ instruction: text, input: "", system: "Be brief.", ...sides }],
  ],
  ["llamafactory-sharegpt", "messages", turns, [{ conversations: sharegpt, ...inTurn }]],
  [
    "llamafactory-sharegpt",
    "a tool's result",
    [user("Look up."), assistant("{}"), tool("sky")],
    [{ conversations: [turn("human", "Look up."), turn("gpt", "{}"), turn("observation", "sky")], ...inTurn }],
  ],
  [
    "llamafactory-kto",
    "messages",
    turns,
    [
      { conversations: [...sharegpt, turn("gpt", " blue.")], kto_tag: true },
      { conversations: [...sharegpt, turn("gpt", " green.")], kto_tag: false },
    ],
  ],
  ["axolotl-bradley-terry", "text, with system written", text, [{ system: "", input: text, ...sides }]],
  [
    "axolotl-bradley-terry",
    "a system prompt",
    [system("Be brief."), user(text)],
    [{ system: "Be brief.", input: text, ...sides }],
  ],
  [
    "nemo-rl",
    "messages",
    turns,
    [
      {
        context: turns,
        completions: [
          { rank: 0, completion: blue },
          { rank: 1, completion: green },
        ],
      },
    ],
  ],
  ["verl", "messages", turns, [{ prompt: rendered, ...sides }]],
  [
    "openai-preference",
    "messages",
    turns,
    [
      {
        input: { messages: turns, tools: [], parallel_tool_calls: true },
        preferred_output: blue,
        non_preferred_output: green,
      },
    ],
  ],
  [
    "hh",
    "text",
    text,
    [
      {
        chosen: "\n\nHuman: The sky is\n\nAssistant:  blue.",
        rejected: "\n\nHuman: The sky is\n\nAssistant:  green.",
      },
    ],
  ],
  [
    "hh",
    "turns",
    [user("Look up."), assistant("And now?"), user(text)],
    [{ chosen: `${asked}  blue.`, rejected: `${asked}  green.` }],
  ],
]

describe("the rows of", () => {
  for (const [name, what, prompt, rows, options] of shapes) {
    it(`${name}: ${what}`, () => {
      assert.deepStrictEqual(encode(name, [sky({ prompt })], options), { rows: [...rows], omitted: [] })
    })
  }

  it("axolotl-chat-template: messages, and a message a side", () => {
    const { rows } = encode("axolotl-chat-template", [sky({ prompt: turns, chosen: "Blue.", rejected: "Green." })])
    assert.deepStrictEqual(rows, [
      {
        messages: turns,
        chosen: { role: "assistant", content: "Blue." },
        rejected: { role: "assistant", content: "Green." },
      },
    ])
  })
})
