/** Conversations with tools, from files through a service to the dataset, to trainers' files, and back. */
import { assert, describe } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import type { FormatSummary } from "../../src/dataset/Manifest.ts"
import { formatNames } from "../../src/dataset/format/TrainerFormats.ts"
import { completionsOf } from "../../src/domain/PromptItem.ts"
import * as Pipeline from "../../src/pipeline/Pipeline.ts"
import * as AnnotationService from "../../src/service/AnnotationService.ts"
import * as Source from "../../src/source/Source.ts"
import { readJson, readRows, write } from "../support/cli.ts"
import { errorsIn, query } from "../support/datasetReaders.ts"
import { copiesOf, temporaryDirectory, test } from "../support/job.ts"

const call = (name: string, args: unknown, id?: string) => ({
  type: "function",
  function: { name, arguments: args },
  ...(id !== undefined && { id }),
})
const calls = (...tool_calls: ReadonlyArray<unknown>) => ({ role: "assistant", tool_calls })
const user = (content: string) => ({ role: "user", content })
const tools = [
  { type: "function", function: { name: "get_weather", parameters: { properties: { city: { type: "string" } } } } },
  { type: "function", function: { name: "now", parameters: {} } },
]

const large = '{ "query" : "東京",  "limit": 12345678901234567890 }'

/** Records, the first completion of which is the longest, and so the best. */
const records: ReadonlyArray<Record<string, unknown>> = [
  // In another order of members than usual.
  {
    tools,
    completions: [[calls(call("get_weather", { city: "Zürich 🗼" }, "call_1"))], "No idea."],
    prompt: [user("Weather?")],
    id: "object",
  },
  {
    id: "text",
    prompt: "Find it",
    completions: [[calls(call("search", large, "call_1"))], "Nothing."],
    tools: JSON.stringify(tools),
  },
  {
    id: "parallel",
    prompt: [user("Two cities")],
    completions: [
      [
        {
          content: null,
          ...calls(call("get_weather", { city: "a" }, "c1"), call("get_weather", '{"city":"b"}', "c2")),
        },
      ],
      [calls(call("now", {}, "c3"))],
    ],
    tools,
  },
  {
    id: "whole",
    prompt: [user("Weather now?")],
    completions: [
      [
        { content: "I look.\n\n[tool call x]\n{}", ...calls(call("get_weather", { city: ["x", null] }, "c1")) },
        { role: "tool", tool_call_id: "c1", content: [{ temp: 1.5 }] },
        { role: "assistant", content: "It is 1.5 °C." },
      ],
      { role: "assistant", content: "Cold." },
    ],
  },
  {
    id: "prompt",
    prompt: [
      user("Weather there?"),
      calls(call("get_weather", { city: "a, id b" }, "c1")),
      { role: "tool", name: "get_weather", tool_call_id: "c1", content: { temp: 1 } },
    ],
    completions: ["It is 1 °C.", "No."],
    tools,
  },
  { id: "plain", prompt: [user("Hello")], completions: ["Hello to you", "Hi"] },
]

const message = (role: string, content: string, more: Record<string, unknown> = {}) => ({ role, content, ...more })

/** Messages as Parquet has them: null for what they lack. */
const inParquet = (messages: unknown) =>
  (messages as ReadonlyArray<object>).map((message) => ({
    tool_calls: null,
    name: null,
    tool_call_id: null,
    ...message,
  }))
const kept = (name: string, args: string, id: string) => ({ id, type: "function", function: { name, arguments: args } })

/** Prompt and chosen, as rows have them. */
const expected: Record<string, readonly [prompt: unknown, chosen: unknown, tools: string | null]> = {
  object: [
    [message("user", "Weather?")],
    [message("assistant", "", { tool_calls: [kept("get_weather", '{"city":"Zürich 🗼"}', "call_1")] })],
    JSON.stringify(tools),
  ],
  text: [
    [message("user", "Find it")],
    [message("assistant", "", { tool_calls: [kept("search", large, "call_1")] })],
    JSON.stringify(tools),
  ],
  parallel: [
    [message("user", "Two cities")],
    [
      message("assistant", "", {
        tool_calls: [kept("get_weather", '{"city":"a"}', "c1"), kept("get_weather", '{"city":"b"}', "c2")],
      }),
    ],
    JSON.stringify(tools),
  ],
  whole: [
    [message("user", "Weather now?")],
    [
      message("assistant", "I look.\n\n[tool call x]\n{}", {
        tool_calls: [kept("get_weather", '{"city":["x",null]}', "c1")],
      }),
      message("tool", '[{"temp":1.5}]', { tool_call_id: "c1" }),
      message("assistant", "It is 1.5 °C."),
    ],
    null,
  ],
  prompt: [
    [
      message("user", "Weather there?"),
      message("assistant", "", { tool_calls: [kept("get_weather", '{"city":"a, id b"}', "c1")] }),
      message("tool", '{"temp":1}', { name: "get_weather", tool_call_id: "c1" }),
    ],
    [message("assistant", "It is 1 °C.")],
    JSON.stringify(tools),
  ],
  plain: [[message("user", "Hello")], [message("assistant", "Hello to you")], null],
}

const writeLines = (file: string, lines: ReadonlyArray<unknown>) => Effect.as(write(file, lines), file)

const run = (directory: string, file: string, options: Partial<Pipeline.Settings> = {}) =>
  Pipeline.run(
    Pipeline.make({
      directory,
      source: Source.files(file),
      service: AnnotationService.layerEmbedded({ database: `${directory}/service.db`, experts: ["longest"] }),
      formats: formatNames,
      ...options,
    }),
  )

const itemsOf = (file: string) =>
  Source.files(file).records.pipe(
    Stream.runCollect,
    Effect.map((all) => all.map((record) => Result.getOrThrow(record).item)),
  )

const reasonsOf = Effect.fnUntraced(function* (lines: ReadonlyArray<unknown>) {
  const file = yield* writeLines(`${yield* temporaryDirectory}/items.jsonl`, lines)
  const all = yield* Stream.runCollect(Source.files(file).records)
  return all.map((record) => (Result.isFailure(record) ? `${record.failure.line}: ${record.failure.reason}` : "read"))
})

/** A job of the records, all of which are judged. */
const judged = copiesOf(
  Effect.fnUntraced(function* (directory) {
    const report = yield* run(directory, yield* writeLines(`${directory}/items.jsonl`, records))
    assert.deepStrictEqual([report.read, report.submitted, report.rejected], [6, 6, 0])
  }),
)

describe("conversations with tools", () => {
  test("are in the dataset what they were in the file, as another reader of Parquet finds it", function* () {
    const directory = yield* judged
    const dataset = `${directory}/dataset`
    assert.deepStrictEqual(yield* errorsIn(dataset), [])
    const parquet = yield* Effect.promise(() =>
      query(`SELECT item_id, prompt, chosen, tools FROM '${dataset}/data/train-00000-of-00001.parquet'`),
    )
    const lines = yield* readRows(`${dataset}/jsonl/train-00000-of-00001.jsonl`)
    assert.deepStrictEqual([parquet.length, lines.length], [6, 6])
    for (const { chosen, item_id, prompt, tools } of lines) {
      assert.deepStrictEqual([prompt, chosen, tools], [...expected[String(item_id)]!], String(item_id))
    }
    for (const { chosen, item_id, prompt, tools } of parquet) {
      const [ofPrompt, ofChosen, definitions] = expected[String(item_id)]!
      assert.deepStrictEqual([prompt, chosen, tools], [inParquet(ofPrompt), inParquet(ofChosen), definitions])
    }
  })

  test("that a dataset has are the same items again, from Parquet, JSON Lines, and trainers' files", function* () {
    const directory = yield* judged
    const before = yield* itemsOf(`${directory}/items.jsonl`)
    const contents = (items: typeof before) =>
      items.map((item) => [JSON.stringify([item.prompt, completionsOf(item), item.tools ?? null]), item.as_messages])
    const asPrompts = before.map((item) => ({
      ...item,
      prompt: typeof item.prompt === "string" ? ([{ role: "user", content: item.prompt }] as const) : item.prompt,
    }))
    const dataset = `${directory}/dataset`
    for (const input of [`${dataset}/data`, `${dataset}/jsonl`]) {
      assert.deepStrictEqual(contents(yield* itemsOf(input)), contents(asPrompts), input)
    }
    // Without the integer that an object does not keep.
    const others = asPrompts.filter(({ id }) => id !== "text")
    const trl = `${dataset}/formats/trl-conversational/train.jsonl`
    assert.deepStrictEqual(contents(yield* itemsOf(trl)), contents(others))
    const openAi = yield* itemsOf(`${dataset}/formats/openai-preference/train.jsonl`)
    // Without the completion of several messages.
    assert.strictEqual(openAi.length, 5)
    assert.strictEqual(openAi[0]!.tools, JSON.stringify(tools))
  })

  test("are read from LLaMA-Factory's turns, but for the ids of calls, which these do not have", function* () {
    const directory = yield* judged
    const before = yield* itemsOf(`${directory}/items.jsonl`)
    const rows = `${directory}/dataset/formats/llamafactory-sharegpt/train.jsonl`
    const written = yield* readRows(rows)
    // The integer is in the text of a call, and is no number that an item keeps.
    assert.match(
      (yield* reasonsOf(written))[1]!,
      /^2: chosen\[0\]\.value\.arguments\.limit: expected a finite number \(write integers above 2\^53 as text\), found 12345678901234567000$/,
    )
    const others = yield* writeLines(`${directory}/others.jsonl`, written.toSpliced(1, 1))
    const contents = (items: typeof before) =>
      items.map((item) =>
        JSON.stringify([item.prompt, completionsOf(item), item.tools ?? null], (name, value: unknown) =>
          name === "id" || name === "tool_call_id" || (name === "name" && value === "get_weather") ? undefined : value,
        ),
      )
    assert.deepStrictEqual(
      contents(yield* itemsOf(others)),
      contents(before.filter(({ id }) => id !== "text" && id !== "whole")),
    )
  })

  test("that are faulty turns of LLaMA-Factory's are refused, with line and field", function* () {
    const turn = (value: unknown) => ({
      conversations: [{ from: "human", value: "Q" }],
      chosen: { from: "function_call", value },
      rejected: { from: "gpt", value: "b" },
    })
    const good = ['{"name":"f","arguments":{"a":true}}', '[{"name":"f","arguments":"{}"}]', { name: "f" }].map(turn)
    assert.deepStrictEqual(
      yield* reasonsOf([...good, ...["f()", "[]", "", '{"arguments":{}}', '[{"name":"f","arguments":[1]}]'].map(turn)]),
      [
        "read",
        "read",
        "read",
        '4: chosen[0].value: expected a list of tool calls, found "f()"',
        '5: chosen[0].value: expected a list of tool calls, found "[]"',
        '6: chosen[0].value: expected a list of tool calls, found ""',
        "7: chosen[0].value.function: expected name and arguments, found nothing",
        "8: chosen[0].value[0].arguments: expected an object, or its JSON text, found an array",
      ],
    )
  })

  test("come to trainers' files as the formats have them, or are counted", function* () {
    const directory = yield* judged
    const rowsOf = (format: string) => readRows(`${directory}/dataset/formats/${format}/train.jsonl`)
    const manifest = yield* readJson(`${directory}/dataset/manifest.json`)
    const counts = Object.fromEntries(
      (manifest.formats as ReadonlyArray<FormatSummary>).map(({ format, omitted, rows, unwritten }) => [
        format,
        [rows, omitted.count, unwritten],
      ]),
    )
    const asText = [6, 0, { tool_calls: 5, tools: 4 }]
    const without = (rows: number) => [rows, 6 - rows, undefined]
    assert.deepStrictEqual(counts, {
      trl: asText,
      "trl-conversational": without(5),
      "trl-implicit": asText,
      "trl-implicit-conversational": without(5),
      "trl-unpaired": [12, 0, { tool_calls: 5, tools: 4 }],
      "trl-unpaired-conversational": [10, 1, undefined],
      "trl-tpo": [0, 6, { tool_calls: 5, tools: 4 }],
      "trl-tpo-conversational": [0, 6, undefined],
      openrlhf: asText,
      "openrlhf-conversational": [5, 1, { tools: 4 }],
      "llamafactory-alpaca": [1, 5, undefined],
      "llamafactory-sharegpt": without(5),
      "llamafactory-kto": [10, 1, undefined],
      "axolotl-chat-template": [1, 5, undefined],
      "axolotl-bradley-terry": [1, 5, undefined],
      "nemo-rl": [5, 1, { tools: 4 }],
      verl: asText,
      "openai-preference": without(5),
      hh: [1, 5, undefined],
    })
    const openAi = yield* rowsOf("openai-preference")
    assert.deepStrictEqual(openAi[0]!["input"].tools, tools)
    assert.deepStrictEqual(openAi[1]!["preferred_output"], [
      { role: "assistant", tool_calls: [kept("search", large, "call_1")] },
    ])
    const shareGpt = yield* rowsOf("llamafactory-sharegpt")
    assert.deepStrictEqual(shareGpt[1]!["chosen"], {
      from: "function_call",
      value: `{"name":"search","arguments":${large}}`,
    })
    assert.deepStrictEqual(JSON.parse(shareGpt[2]!["chosen"].value), [
      { name: "get_weather", arguments: { city: "a" } },
      { name: "get_weather", arguments: { city: "b" } },
    ])
    assert.deepStrictEqual(
      shareGpt[3]!["conversations"].map(({ from }: { readonly from: string }) => from),
      ["human", "function_call", "observation"],
    )
    assert.isTrue(shareGpt.every((row) => typeof row["tools"] === "string"))
    assert.strictEqual((yield* rowsOf("trl"))[0]!["chosen"], '[tool call get_weather, id call_1]\n{"city":"Zürich 🗼"}')
  })

  test("in layouts pairs and long are read as in items", function* () {
    const directory = yield* temporaryDirectory
    const prompt = [user("Weather?")]
    const turn = [
      calls(call("get_weather", {}, "c1")),
      { role: "tool", tool_call_id: "c1", content: "1" },
      { role: "assistant", content: "1 °C" },
    ]
    const other = [...turn.slice(0, 2), { role: "assistant", content: "2 °C" }]
    const [whole] = yield* itemsOf(
      yield* writeLines(`${directory}/pairs.jsonl`, [
        { chosen: [...prompt, ...turn], rejected: [...prompt, calls(call("now", "", "c2"))], tools },
      ]),
    )
    assert.strictEqual((whole!.prompt as ReadonlyArray<unknown>).length, 1)
    assert.deepStrictEqual(whole!.as_messages, [true, true])
    assert.strictEqual(whole!.tools, JSON.stringify(tools))
    // What both begin with is the prompt.
    const [shared] = yield* itemsOf(
      yield* writeLines(`${directory}/shared.jsonl`, [
        { chosen: [...prompt, ...turn], rejected: [...prompt, ...other] },
      ]),
    )
    assert.strictEqual((shared!.prompt as ReadonlyArray<unknown>).length, 3)
    assert.deepStrictEqual(shared!.completions, ["1 °C", "2 °C"])
    const [long] = yield* itemsOf(
      yield* writeLines(
        `${directory}/long.jsonl`,
        [turn, [{ role: "assistant", content: "No." }]].map((completion) => ({ prompt, completion, tools })),
      ),
    )
    assert.deepStrictEqual(long!.as_messages, [true, false])
    assert.strictEqual(long!.tools, JSON.stringify(tools))
  })

  test("without tools, a dataset has no column for them", function* () {
    const directory = yield* temporaryDirectory
    yield* run(directory, yield* writeLines(`${directory}/items.jsonl`, records.slice(-1)))
    const [row] = yield* readRows(`${directory}/dataset/jsonl/train-00000-of-00001.jsonl`)
    assert.notProperty(row, "tools")
    assert.deepStrictEqual(row!["chosen"], [{ role: "assistant", content: "Hello to you" }])
    const [trl] = yield* readRows(`${directory}/dataset/formats/trl-conversational/train.jsonl`)
    assert.deepStrictEqual(Object.keys(trl), ["prompt", "chosen", "rejected"])
  })

  test("that cannot be kept are refused, with line and field", function* () {
    const of = (...messages: ReadonlyArray<unknown>) => ({
      prompt: [user("Q"), ...messages],
      completions: ["a", "b"],
    })
    const chosen = (...messages: ReadonlyArray<unknown>) => ({ prompt: "Q", completions: [messages, "b"] })
    assert.deepStrictEqual(
      yield* reasonsOf([
        of(calls({ type: "custom", custom: {} })),
        of(calls(call("f", "{not JSON"))),
        of(calls(call("f", [1]))),
        of(calls(call("f", { n: 2 ** 60 }))),
        of(calls(call("", {}))),
        of(calls({ ...call("f", {}), thought: "x" })),
        of({ role: "assistant", content: "", tool_calls: "f()" }),
        of({ role: "user", content: "", tool_calls: [call("f", {})] }),
        of({ role: "assistant", content: "", function_call: { name: "f" } }),
        of({ role: "tool", content: [{ type: "image_url", image_url: {} }] }),
        chosen(calls(call("f", {})), { role: "tool", content: "1" }),
        chosen(calls(call("f", {})), user("and?"), { role: "assistant", content: "b" }),
        { ...of(), tools: [{ type: "function", function: {} }] },
        { ...of(), tools: "hammer" },
      ]),
      [
        '1: prompt[1].tool_calls[0].type: expected "function", found "custom"',
        '2: prompt[1].tool_calls[0].function.arguments: expected an object, or its JSON text, found "{not JSON"',
        "3: prompt[1].tool_calls[0].function.arguments: expected an object, or its JSON text, found an array",
        "4: prompt[1].tool_calls[0].function.arguments.n: expected a finite number (write integers above 2^53 as text), found 1152921504606847000",
        '5: prompt[1].tool_calls[0].function.name: expected text, found ""',
        '6: prompt[1].tool_calls[0].thought: expected tool calls with only id, type, name, and arguments, found "x"',
        '7: prompt[1].tool_calls: expected a list of tool calls, found "f()"',
        "8: prompt[1].tool_calls: expected no members besides role and content, found an array",
        "9: prompt[1].function_call: expected no members besides role and content, found an object",
        '10: prompt[1].content[0].type: expected "text", found "image_url"; experts cannot be shown images, audio, video, or files',
        '11: completions[0][1]: expected a message with the role assistant, found the role "tool"',
        "12: completions[0]: expected either the assistant's turn alone, or the prompt followed by the assistant's turn, found 3 messages that match neither",
        "13: tools[0]: expected a function definition with a name, found nothing",
        "read",
      ],
    )
  })
})
