/** The rows of each format, as its trainer's documentation shows them. */
import { assert, describe, it } from "@effect/vitest"
import type { JsonRow } from "../../../src/dataset/file/Features.ts"
import type { FormatOptions } from "../../../src/dataset/format/TrainerFormat.ts"
import type { FormatName } from "../../../src/dataset/format/TrainerFormats.ts"
import type { Prompt } from "../../../src/domain/Message.ts"
import { assistant, encode, sky, system, tool, user } from "./support.ts"

const text = "The sky is"
const asMessages = [{ role: "user", content: "The sky is" }]
const blue = [{ role: "assistant", content: " blue." }]
const green = [{ role: "assistant", content: " green." }]

const turns: Prompt = [system("Be brief."), user("Look up."), assistant("And now?"), user("The sky is")]
const rendered = "[system]\nBe brief.\n\n[user]\nLook up.\n\n[assistant]\nAnd now?\n\n[user]\nThe sky is"
const sharegpt = [
  { from: "system", value: "Be brief." },
  { from: "human", value: "Look up." },
  { from: "gpt", value: "And now?" },
  { from: "human", value: "The sky is" },
]

type Shape = readonly [name: FormatName, what: string, prompt: Prompt, rows: ReadonlyArray<JsonRow>, FormatOptions?]

const shapes: ReadonlyArray<Shape> = [
  ["trl", "text", text, [{ prompt: "The sky is", chosen: " blue.", rejected: " green." }]],
  ["trl", "a single user message", [user(text)], [{ prompt: "The sky is", chosen: " blue.", rejected: " green." }]],
  ["trl", "messages", turns, [{ prompt: rendered, chosen: " blue.", rejected: " green." }]],
  [
    "trl",
    "a margin",
    text,
    [{ prompt: "The sky is", chosen: " blue.", rejected: " green.", margin: 1 / 3 }],
    { margin: true },
  ],
  ["trl-conversational", "text", text, [{ prompt: asMessages, chosen: blue, rejected: green }]],
  ["trl-conversational", "messages", turns, [{ prompt: turns, chosen: blue, rejected: green }]],
  ["trl-implicit", "text", text, [{ chosen: "The sky is\n\n blue.", rejected: "The sky is\n\n green." }]],
  ["trl-implicit-conversational", "messages", turns, [{ chosen: [...turns, ...blue], rejected: [...turns, ...green] }]],
  [
    "trl-unpaired",
    "text",
    text,
    [
      { prompt: "The sky is", completion: " blue.", label: true },
      { prompt: "The sky is", completion: " green.", label: false },
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
  ["openrlhf", "text", text, [{ prompt: "The sky is", chosen: " blue.", rejected: " green.", margin: 0 }]],
  [
    "openrlhf",
    "a margin",
    text,
    [{ prompt: "The sky is", chosen: " blue.", rejected: " green.", margin: 1 / 3 }],
    { margin: true },
  ],
  ["openrlhf-conversational", "messages", turns, [{ prompt: turns, chosen: blue, rejected: green, margin: 0 }]],
  [
    "llamafactory-alpaca",
    "text",
    text,
    [{ instruction: "The sky is", input: "", system: "", chosen: " blue.", rejected: " green." }],
  ],
  [
    "llamafactory-alpaca",
    "a system prompt",
    [system("Be brief."), user(text)],
    [{ instruction: "The sky is", input: "", system: "Be brief.", chosen: " blue.", rejected: " green." }],
  ],
  [
    "llamafactory-sharegpt",
    "messages",
    turns,
    [
      {
        conversations: sharegpt,
        chosen: { from: "gpt", value: " blue." },
        rejected: { from: "gpt", value: " green." },
      },
    ],
  ],
  [
    "llamafactory-sharegpt",
    "a tool's result",
    [user("Look up."), assistant("{}"), tool("sky")],
    [
      {
        conversations: [
          { from: "human", value: "Look up." },
          { from: "gpt", value: "{}" },
          { from: "observation", value: "sky" },
        ],
        chosen: { from: "gpt", value: " blue." },
        rejected: { from: "gpt", value: " green." },
      },
    ],
  ],
  [
    "llamafactory-kto",
    "messages",
    turns,
    [
      { conversations: [...sharegpt, { from: "gpt", value: " blue." }], kto_tag: true },
      { conversations: [...sharegpt, { from: "gpt", value: " green." }], kto_tag: false },
    ],
  ],
  [
    "axolotl-bradley-terry",
    "text, with system written",
    text,
    [{ system: "", input: "The sky is", chosen: " blue.", rejected: " green." }],
  ],
  [
    "axolotl-bradley-terry",
    "a system prompt",
    [system("Be brief."), user(text)],
    [{ system: "Be brief.", input: "The sky is", chosen: " blue.", rejected: " green." }],
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
  ["verl", "messages", turns, [{ prompt: rendered, chosen: " blue.", rejected: " green." }]],
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
    [
      {
        chosen: "\n\nHuman: Look up.\n\nAssistant: And now?\n\nHuman: The sky is\n\nAssistant:  blue.",
        rejected: "\n\nHuman: Look up.\n\nAssistant: And now?\n\nHuman: The sky is\n\nAssistant:  green.",
      },
    ],
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
