import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import type { LayoutOptions } from "../../../src/source/layout/Layout.ts"
import { sharedData } from "../../support/sharedData.ts"
import { assistant, look, user } from "../layout/support.ts"

interface Shape {
  readonly title: string
  readonly records: ReadonlyArray<unknown>
  readonly isTextual?: true
  readonly description: string
  /** Of the first record: the item, or prompt, completion, key and model of the part. */
  readonly first: unknown
}

/** The members are those of the data sets as they are published; the texts are not. */
const shapes: ReadonlyArray<Shape> = [
  {
    title: "the own form",
    records: [{ prompt: "Q", completions: ["A", "B"], id: 7, gold: null, other: 1 }],
    description: `items: prompt at "prompt", completions at "completions"`,
    first: { id: "7", prompt: "Q", completions: ["A", "B"] },
  },
  {
    title: "the own form, as CSV",
    records: [
      {
        prompt: "Q",
        completions: '["A","B"]',
        models: '["m","n"]',
        gold: '{"best_completion_index":"1"}',
        metadata: '{"a":1}',
        id: "",
      },
    ],
    isTextual: true,
    description: `items: prompt at "prompt", completions at "completions"`,
    first: {
      prompt: "Q",
      completions: ["A", "B"],
      models: ["m", "n"],
      gold: { best_completion_index: 1 },
      metadata: { a: 1 },
    },
  },
  {
    title: "openbmb/UltraFeedback",
    records: [
      {
        source: "evol_instruct",
        instruction: "Q",
        models: ["alpaca-7b", "llama-2-13b"],
        completions: [
          {
            annotations: {},
            custom_system_prompt: "S",
            model: "alpaca-7b",
            principle: "p",
            response: "A",
            critique: "c",
          },
          {
            annotations: {},
            custom_system_prompt: "S",
            model: "llama-2-13b",
            principle: "p",
            response: "B",
            critique: "c",
          },
        ],
        correct_answers: ["None"],
        incorrect_answers: ["None"],
      },
    ],
    description: `items: prompt at "instruction", completions at "completions[].response", models at "completions[].model"`,
    first: { prompt: "Q", completions: ["A", "B"], models: ["alpaca-7b", "llama-2-13b"] },
  },
  {
    title: "HuggingFaceH4/ultrafeedback_binarized",
    records: [
      {
        prompt: "Q",
        prompt_id: "x",
        chosen: [user("Q"), assistant("A")],
        rejected: [user("Q"), assistant("B")],
        messages: [user("Q"), assistant("A")],
        score_chosen: 8,
        score_rejected: 3,
      },
    ],
    description: `pairs: prompt at "prompt", completions at "chosen" and "rejected"`,
    first: { prompt: "Q", completions: ["A", "B"] },
  },
  {
    title: "argilla/ultrafeedback-binarized-preferences-cleaned",
    records: [
      {
        source: "s",
        prompt: "Q",
        chosen: [user("Q"), assistant("A")],
        "chosen-rating": 5,
        "chosen-model": "gpt-4",
        rejected: [user("Q"), assistant("B")],
        "rejected-rating": 1,
        "rejected-model": "llama",
      },
    ],
    description: `pairs: prompt at "prompt", completions at "chosen" and "rejected", models at "chosen-model" and "rejected-model"`,
    first: { prompt: "Q", completions: ["A", "B"], models: ["gpt-4", "llama"] },
  },
  {
    title: "nvidia/HelpSteer2",
    records: [
      { prompt: "Q", response: "A", helpfulness: 3, correctness: 3, coherence: 4, complexity: 1, verbosity: 2 },
      { prompt: "Q", response: "B", helpfulness: 1, correctness: 3, coherence: 4, complexity: 1, verbosity: 2 },
    ],
    description: `long: prompt at "prompt", completion at "response", grouped by the prompt`,
    first: ["Q", "A", "Q", undefined],
  },
  {
    title: "nvidia/HelpSteer3",
    records: [
      {
        domain: "code",
        language: "python",
        context: [user("Q"), assistant("a"), user("R")],
        response1: "A",
        response2: "B",
        overall_preference: -2,
        individual_preference: [{ score: -2, reasoning: "r", feedback1: "f", feedback2: "g" }],
      },
    ],
    description: `wide: prompt at "context", completions at "response1" and "response2"`,
    first: {
      prompt: [user("Q"), assistant("a"), user("R")],
      completions: ["A", "B"],
    },
  },
  {
    title: "Anthropic/hh-rlhf",
    records: [
      {
        chosen: "\n\nHuman: Hi\n\nAssistant: Yes?\n\nHuman: Q\n\nAssistant: A",
        rejected: "\n\nHuman: Hi\n\nAssistant: Yes?\n\nHuman: Q\n\nAssistant: B",
      },
    ],
    description: `pairs: completions at "chosen" and "rejected", the prompt is what they have in common`,
    first: { prompt: [user("Hi"), assistant("Yes?"), user("Q")], completions: ["A", "B"] },
  },
  {
    title: "lmsys-arena-human-preference-55k",
    records: [
      {
        id: "30192",
        model_a: "gpt-4",
        model_b: "llama",
        prompt: "Q",
        response_a: "A",
        response_b: "B",
        winner_model_a: "1",
        winner_model_b: "0",
        winner_tie: "0",
      },
    ],
    isTextual: true,
    description: `wide: prompt at "prompt", completions at "response_a" and "response_b", models at "model_a" and "model_b", id at "id"`,
    first: { id: "30192", prompt: "Q", completions: ["A", "B"], models: ["gpt-4", "llama"] },
  },
  {
    title: "lmsys/mt_bench_human_judgments",
    records: [
      {
        question_id: 81,
        model_a: "alpaca-13b",
        model_b: "gpt-3.5-turbo",
        winner: "model_b",
        judge: "author_2",
        conversation_a: [user("Q"), assistant("A")],
        conversation_b: [user("Q"), assistant("B")],
        turn: 1,
      },
    ],
    description: `wide: completions at "conversation_a" and "conversation_b", the prompt is what they have in common, models at "model_a" and "model_b", gold at "winner"`,
    first: {
      prompt: [user("Q")],
      completions: ["A", "B"],
      models: ["alpaca-13b", "gpt-3.5-turbo"],
      gold: { best_completion_index: 1 },
    },
  },
  {
    title: "lmarena-ai/arena-human-preference-140k",
    records: [
      {
        id: "u",
        model_a: "x",
        model_b: "y",
        winner: "both_bad",
        evaluation_order: 1,
        conversation_a: [
          { role: "user", content: [{ type: "text", text: "Q", image: null, mimeType: null }] },
          { role: "assistant", content: [{ type: "text", text: "A", image: null, mimeType: null }], num_tokens: 4 },
        ],
        conversation_b: [
          { role: "user", content: [{ type: "text", text: "Q", image: null, mimeType: null }] },
          { role: "assistant", content: [{ type: "text", text: "B", image: null, mimeType: null }], num_tokens: 5 },
        ],
        full_conversation: [{ user: user("Q") }],
        language: "en",
      },
    ],
    description: `wide: completions at "conversation_a" and "conversation_b", the prompt is what they have in common, models at "model_a" and "model_b", id at "id"`,
    first: { id: "u", prompt: [user("Q")], completions: ["A", "B"], models: ["x", "y"] },
  },
  {
    title: "berkeley-nest/Nectar",
    records: [
      {
        prompt: "\n\nHuman: Q\n\nAssistant: ",
        answers: [
          { answer: "A", model: "gpt-4", rank: 1 },
          { answer: "B", model: "llama", rank: 2 },
        ],
        turns: 1,
        num_responses: 7,
        source: ["sharegpt"],
        good_natured: true,
      },
    ],
    description: `items: prompt at "prompt", completions at "answers[].answer", models at "answers[].model"`,
    first: { prompt: "\n\nHuman: Q\n\nAssistant: ", completions: ["A", "B"], models: ["gpt-4", "llama"] },
  },
  {
    title: "ShareGPT",
    records: [
      {
        id: "x_0",
        conversations: [
          { from: "human", value: "Q" },
          { from: "gpt", value: "A" },
        ],
      },
    ],
    description: `long: prompt and completion at "conversations", grouped by the prompt`,
    first: [[user("Q")], "A", "[user]\nQ", undefined],
  },
  {
    title: "tatsu-lab/alpaca",
    records: [
      { instruction: "I", input: "", output: "O", text: "Below is an instruction" },
      { instruction: "I", input: "x", output: "O", text: "Below is an instruction" },
    ],
    description: `long: prompt from "{instruction}\\n\\n{input}", completion at "output", grouped by the prompt`,
    first: ["I", "O", "I", undefined],
  },
  {
    title: "Intel/orca_dpo_pairs",
    records: [{ system: "S", question: "Q", chosen: "A", rejected: "B" }],
    description: `pairs: prompt at "question", system prompt at "system", completions at "chosen" and "rejected"`,
    first: { prompt: "S\n\nQ", completions: ["A", "B"] },
  },
  {
    title: "PKU-Alignment/PKU-SafeRLHF",
    records: [
      {
        prompt: "Q",
        response_0: "A",
        response_1: "B",
        is_response_0_safe: true,
        is_response_1_safe: false,
        better_response_id: 1,
        safer_response_id: 0,
      },
    ],
    description: `wide: prompt at "prompt", completions at "response_0" and "response_1", gold at "better_response_id"`,
    first: {
      prompt: "Q",
      completions: ["A", "B"],
      gold: { best_completion_index: 1 },
    },
  },
  {
    title: "stanfordnlp/SHP",
    records: [{ post_id: "p", history: "Q", human_ref_A: "A", human_ref_B: "B", labels: 1, upvote_ratio: 0.9 }],
    description: `wide: prompt at "history", completions at "human_ref_A" and "human_ref_B"`,
    first: { prompt: "Q", completions: ["A", "B"] },
  },
  {
    title: "OpenAI's preference files",
    records: [
      {
        input: { messages: [user("Q")], tools: [], parallel_tool_calls: true },
        preferred_output: [assistant("A")],
        non_preferred_output: [assistant("B")],
      },
    ],
    description: `pairs: prompt at "input.messages", completions at "preferred_output" and "non_preferred_output"`,
    first: { prompt: [user("Q")], completions: ["A", "B"] },
  },
  {
    title: "NeMo RL",
    records: [
      {
        context: [user("Q")],
        completions: [
          { rank: 0, completion: [assistant("A")] },
          { rank: 1, completion: [assistant("B")] },
        ],
      },
    ],
    description: `items: prompt at "context", completions at "completions[].completion"`,
    first: { prompt: [user("Q")], completions: ["A", "B"] },
  },
  {
    title: "LLaMA-Factory's ranking files",
    records: [
      {
        conversations: [{ from: "human", value: "Q" }],
        chosen: { from: "gpt", value: "A" },
        rejected: { from: "gpt", value: "B" },
      },
    ],
    description: `pairs: prompt at "conversations", completions at "chosen" and "rejected"`,
    first: { prompt: [user("Q")], completions: ["A", "B"] },
  },
  {
    title: "axolotl's DPO files",
    records: [{ messages: [user("Q")], chosen: assistant("A"), rejected: assistant("B") }],
    description: `pairs: prompt at "messages", completions at "chosen" and "rejected"`,
    first: { prompt: [user("Q")], completions: ["A", "B"] },
  },
  {
    title: "columns named after models",
    records: [{ question: "Q", "response_gpt-4": "A", response_llama: "B", response_length: 4 }],
    description: `wide: prompt at "question", completions at "response_gpt-4" and "response_llama", models "gpt-4" and "llama"`,
    first: { prompt: "Q", completions: ["A", "B"], models: ["gpt-4", "llama"] },
  },
  {
    title: "other letters and blanks",
    records: [{ Prompt: "Q", "Response A": "A", "Response B": "B", Winner: "B" }],
    description: `wide: prompt at "Prompt", completions at "Response A" and "Response B", gold at "Winner"`,
    first: {
      prompt: "Q",
      completions: ["A", "B"],
      gold: { best_completion_index: 1 },
    },
  },
  {
    title: "conversations by several models",
    records: [
      { prompt_id: "p", model: "m", messages: [user("Q"), assistant("A")] },
      { prompt_id: "p", model: "n", messages: [user("Q"), assistant("B")] },
    ],
    description: `long: prompt and completion at "messages", model at "model", grouped by "prompt_id"`,
    first: [[user("Q")], "A", "p", "m"],
  },
  {
    title: "an id of rows is no key",
    records: [
      { id: 1, prompt: "Q", output: "A" },
      { id: 2, prompt: "Q", output: "B" },
    ],
    description: `long: prompt at "prompt", completion at "output", grouped by the prompt`,
    first: ["Q", "A", "Q", undefined],
  },
  {
    title: "an id of prompts is the key",
    records: [
      { id: 1, prompt: "Q", output: "A", source: "m" },
      { id: 1, prompt: "Q", output: "B", source: "n" },
      { id: 2, prompt: "R", output: "A", source: "m" },
    ],
    description: `long: prompt at "prompt", completion at "output", model at "source", grouped by "id"`,
    first: ["Q", "A", "1", "m"],
  },
  {
    title: "LLaMA-Factory's history",
    records: [
      { instruction: "R", input: "x", chosen: "A", rejected: "B", system: "S", history: [["Q", "a"]] },
      { instruction: "Q", input: "", chosen: "A", rejected: "B", system: "", history: [] },
    ],
    description: `pairs: prompt from "{instruction}\\n\\n{input}", system prompt at "system", earlier turns at "history", completions at "chosen" and "rejected"`,
    first: {
      prompt: [{ role: "system", content: "S" }, user("Q"), assistant("a"), user("R\n\nx")],
      completions: ["A", "B"],
    },
  },
  {
    title: "earlier turns in CSV, of messages that the question follows",
    records: [{ question: "R", context: JSON.stringify([user("Q"), assistant("a")]), answer_1: "A", answer_2: "B" }],
    isTextual: true,
    description: `wide: prompt at "question", earlier turns at "context", completions at "answer_1" and "answer_2"`,
    first: { prompt: [user("Q"), assistant("a"), user("R")], completions: ["A", "B"] },
  },
  {
    title: "an experiment's columns",
    records: [{ question_id: 7, prompt: "Q", candidate: "B", baseline: "A", score: "4" }],
    description: `wide: prompt at "prompt", completions at "baseline" and "candidate", id at "question_id"`,
    first: { id: "7", prompt: "Q", completions: ["A", "B"] },
  },
  {
    title: "columns that are called after bots",
    records: [{ Prompt: "Q", "Bot B": "B", "Bot A": "A" }],
    description: `wide: prompt at "Prompt", completions at "Bot A" and "Bot B"`,
    first: { prompt: "Q", completions: ["A", "B"] },
  },
  {
    title: "an id of questions, beside lists",
    records: [{ question_id: "x", prompt: "Q", completions: ["A", "B"] }],
    description: `items: prompt at "prompt", completions at "completions", id at "question_id"`,
    first: { id: "x", prompt: "Q", completions: ["A", "B"] },
  },
  {
    title: "a group of different prompts is no key",
    records: [
      { group: "math", prompt: "Q", output: "A" },
      { group: "math", prompt: "R", output: "B" },
    ],
    description: `long: prompt at "prompt", completion at "output", grouped by the prompt`,
    first: ["Q", "A", "Q", undefined],
  },
]

describe("Detect", () => {
  it.each(shapes.map((shape) => [shape.title, shape] as const))(
    "%s",
    (_, { description, first, isTextual, records }) => {
      const found = look(records, {}, isTextual)
      assert.strictEqual(found.description, description)
      assert.deepStrictEqual(found.reasons, [])
      const [part] = found.parts
      assert.deepStrictEqual(
        part === undefined ? found.items[0] : [part.prompt, part.completion, part.key, part.model],
        first,
      )
    },
  )

  const join = "or join files of prompts and of completions with --completions FILE and --key"
  it.each<readonly [title: string, records: ReadonlyArray<unknown>, options: LayoutOptions, problem: string]>([
    [
      "prompts alone",
      [{ question_id: "x", turns: [{ content: "Write a melody in ABC notation." }] }],
      {},
      `found no prompt and no completions in "question_id", "turns" (there is text at turns[0].content): set --prompt-path and --completions-path (a list) or --completion-path (a text; once for each column of completions), ${join}`,
    ],
    [
      "prompts alone, by their usual name",
      [{ prompt: "Q", category: "c" }],
      {},
      `found a prompt at "prompt" and no completions in "prompt", "category": set --completions-path (a list) or --completion-path (a text; once for each column of completions), ${join}`,
    ],
    [
      "completions alone",
      [{ question_id: "x", model: "m", response: "A" }],
      {},
      `found completions at "response" and no prompt in "question_id", "model", "response": set --prompt-path (without a prompt, to a template of fixed words and a field: --prompt-path 'Which is better? ({question_id})'), ${join}`,
    ],
    [
      "several prompts",
      [{ question: "Q", context: "C", response_a: "A", response_b: "B" }],
      {},
      `the prompt may be at "question" and "context": set --prompt-path to a template such as '{context}\\n\\n{question}', or leave out with --ignore-field what experts need not see`,
    ],
    [
      "several places of completions",
      [{ prompt: "Q", chosen: "A", rejected: "B", generations: ["A", "B"] }],
      {},
      `the completions may be at "chosen" and "rejected" (layout pairs), or at "generations" (layout items): set --layout, --completions-path or --completion-path`,
    ],
    [
      "several lists",
      [{ prompt: "Q", responses: ["A", "B"], answers: ["A", "B"] }],
      {},
      `the completions may be at "responses", or at "answers": set --completions-path`,
    ],
    [
      "several texts of long records",
      [{ prompt: "Q", response: "A", output: "B" }],
      {},
      `the completions may be at "response", or at "output": set --completion-path to one of them, or once for each if a record has both`,
    ],
    [
      "two texts that nothing is known of",
      [{ prompt: "Q", ours: "A", "their text": "B", topic: "t" }],
      {},
      `found a prompt at "prompt", and texts at "ours" and "their text": if these are completions, set --completion-path ours --completion-path 'their text'`,
    ],
    [
      "a layout that is not there",
      [{ prompt: "Q", response: "A" }],
      { layout: "wide" },
      `found a prompt at "prompt" and no completions in "prompt", "response": set --completion-path, once for each completion`,
    ],
    [
      "a path that is none",
      [{ prompt: "Q", completions: ["A", "B"] }],
      { prompt: "{a" },
      `--prompt-path: not a template: "{a": expected a field and "}" after "{" at character 1; nor is it a name in the first records, which have "prompt" and "completions"`,
    ],
  ])("says what it found: %s", (_, records, options, problem) => {
    assert.strictEqual(look(records, options).description, problem)
  })

  describe("a system prompt stands before the prompt in every layout, or is reported", () => {
    it.each([
      ["items", { prompt: "Q", completions: ["A", "B"], system: "S" }],
      ["items, by other names", { question: "Q", answers: ["A", "B"], system: "S" }],
      ["wide", { prompt: "Q", response_a: "A", response_b: "B", system_prompt: "S" }],
      ["pairs", { prompt: "Q", chosen: "A", rejected: "B", system: "S" }],
      ["long", { prompt: "Q", response: "A", system: "S" }],
    ])("%s", (_, record) => {
      const { description, items, parts } = look([record])
      assert.strictEqual((items[0] ?? parts[0])?.prompt, "S\n\nQ", description)
    })

    const system = { role: "system", content: "S" }
    const [one, other] = ["A", "B"].map((text) => [user("Q"), assistant(text)])
    it.each([
      ["items", { prompt: [user("Q")], completions: ["A", "B"], system: "S" }],
      ["wide", { messages: [user("Q")], response_a: "A", response_b: "B", system: "S" }],
      ["pairs of whole conversations", { chosen: one, rejected: other, system: "S" }],
      ["pairs of a text and whole conversations", { prompt: "Q", chosen: one, rejected: other, system: "S" }],
      ["long, of whole conversations", { messages: one, system: "S" }],
      ["one that the messages begin with", { prompt: [system, user("Q")], completions: ["A", "B"], system: "S" }],
    ])("messages: %s", (_, record) => {
      const { description, items, parts, reasons } = look([record])
      const prompt = (items[0] ?? parts[0])?.prompt
      assert.deepStrictEqual(reasons, [], description)
      assert.deepStrictEqual(prompt, typeof prompt === "string" ? "S\n\nQ" : [system, user("Q")], description)
    })

    it("without one, or with an empty one, the prompt is alone; one that is no text is refused", () => {
      const item = { prompt: "Q", completions: ["A", "B"] }
      const { items, reasons } = look([
        { ...item, system: "S" },
        { ...item, system: " " },
        item,
        { ...item, system: 7 },
      ])
      assert.deepStrictEqual(
        items.map(({ prompt }) => prompt),
        ["S\n\nQ", "Q", "Q"],
      )
      assert.deepStrictEqual(reasons, ["system: expected a string, found 7"])
      const promptOf = (options: LayoutOptions) => look([{ ...item, system: "S" }], options).items[0]?.prompt
      assert.strictEqual(promptOf({ prompt: "prompt" }), "S\n\nQ")
      assert.strictEqual(promptOf({ prompt: "{prompt} ({system})" }), "Q (S)")
      assert.strictEqual(promptOf({ ignore: ["system"] }), "Q")
      const elsewhere = look([{ ...item, persona: "S" }], { prompt: "prompt", system: "persona" })
      assert.strictEqual(elsewhere.items[0]?.prompt, "S\n\nQ")
    })
  })

  it("what is set is taken, the rest is found", () => {
    const several = [{ prompt: "Q", question: "R", chosen: "A", rejected: "B", generations: ["C", "D"] }]
    const described = (options: LayoutOptions) => look(several, options).description
    assert.strictEqual(
      described({ layout: "pairs" }),
      `pairs: prompt at "prompt", completions at "chosen" and "rejected"`,
    )
    assert.strictEqual(
      described({ completions: "generations", prompt: "question" }),
      `items: prompt at "question", completions at "generations"`,
    )
    assert.strictEqual(
      described({ completions: ["rejected", "chosen"], gold: "chosen" }),
      `wide: prompt at "prompt", completions at "rejected" and "chosen", gold at "chosen"`,
    )
    assert.strictEqual(
      described({ completion: "chosen", key: "question" }),
      `long: prompt at "prompt", completion at "chosen", grouped by "question"`,
    )
  })

  it("items are found by their names, however many records are broken", () => {
    const broken = [{ prompt: 1 }, { completions: 1 }, 5, null, { prompt: "Q", question: "R", completions: {} }]
    const { description, items, reasons } = look([...broken, { prompt: "Q", completions: ["A", "B"] }])
    assert.strictEqual(description, `items: prompt at "prompt", completions at "completions"`)
    assert.strictEqual(items.length, 1)
    assert.strictEqual(reasons.length, 5)
  })

  it("records of which none is an object are items", () => {
    assert.strictEqual(look([1, [2], "x"]).description, `items: prompt at "prompt", completions at "completions"`)
    assert.strictEqual(look([]).description, `items: prompt at "prompt", completions at "completions"`)
  })

  it("a prompt that is not all of what was asked gives way to the conversations", () => {
    const asked = [user("Q"), assistant("a"), user("R")]
    const { description } = look([
      { prompt: "Q", chosen: [...asked, assistant("A")], rejected: [...asked, assistant("B")] },
    ])
    assert.strictEqual(
      description,
      `pairs: completions at "chosen" and "rejected", the prompt is what they have in common`,
    )
  })

  describe("what a file grows by changes the identity of no item that it had", () => {
    /** Ids of the first `count` records, as they stand alone and before others. */
    const idsOf = (records: ReadonlyArray<unknown>, odd: ReadonlyArray<unknown>) => {
      const [before, after] = [look(records), look([...records, ...odd])]
      const ids = ({ items, parts }: typeof before) =>
        [...items.map(({ id }) => id), ...parts.map(({ key }) => key)].slice(0, records.length)
      return { before: ids(before), after: ids(after), last: after.items.at(-1), description: after.description }
    }
    const wide = (id: unknown, text = "B") => ({ id, prompt: `Q${text}`, response_a: "A", response_b: text })
    const { id: _, ...without } = wide(0, "C")

    it.each<readonly [title: string, odd: unknown]>([
      ["no id", without],
      ["an id that is null", wide(null, "C")],
      ["an id without a character", wide("", "C")],
      ["an id that was there", wide(1, "C")],
      ["an id that is none", wide({ a: 1 }, "C")],
      ["another member named like an id", { ...without, uid: "u" }],
    ])("wide: by a record with %s", (_, odd) => {
      const records = [1, 2, 3, 4, 5].map((id) => wide(id))
      const { after, before } = idsOf(records, [odd])
      assert.deepStrictEqual(before, ["1", "2", "3", "4", "5"])
      assert.deepStrictEqual(after, before)
    })

    it("wide: by the first record that has an id", () => {
      const { after, before, last } = idsOf([without, without], [wide(7)])
      assert.deepStrictEqual(before, [undefined, undefined])
      assert.deepStrictEqual(after, before)
      assert.strictEqual(last?.id, "7")
    })

    it("pairs, of a text prompt and whole conversations: by one that asks more than its prompt", () => {
      const pair = (prompt: string, ...asked: ReadonlyArray<ReturnType<typeof user>>) => ({
        prompt,
        chosen: [...asked, assistant("A")],
        rejected: [...asked, assistant("B")],
      })
      const records = ["Q", "R", "S"].map((prompt) => pair(prompt, user(prompt)))
      const more = pair("T", user("T"), assistant("?"), user("U"))
      const prompts = (all: ReadonlyArray<unknown>) =>
        look(all)
          .items.slice(0, 3)
          .map(({ prompt }) => prompt)
      assert.deepStrictEqual(prompts(records), ["Q", "R", "S"])
      assert.deepStrictEqual(prompts([...records, more]), ["Q", "R", "S"])
    })

    const long = (key: object, prompt: string, output: string) => ({ ...key, prompt, output })
    const keyed = (name: string) => [
      long({ [name]: "q" }, "Q", "A"),
      long({ [name]: "q" }, "Q", "B"),
      long({ [name]: "r" }, "R", "A"),
      long({ [name]: "r" }, "R", "B"),
    ]
    for (const name of ["prompt_id", "question_id", "id"]) {
      it.each<readonly [title: string, odd: object]>([
        ["no key", long({}, "S", "A")],
        ["a key that is null", long({ [name]: null }, "S", "A")],
        ["the key of another prompt", long({ [name]: "q" }, "S", "A")],
        ["another key of its prompt", long({ [name]: "s" }, "R", "C")],
        ["a new key", long({ [name]: "s" }, "S", "A")],
        ["another member named like a key", long({ [name]: "s", idx: 1, query_id: "x" }, "S", "A")],
      ])(`long, with ${name}: by a record with %s`, (_, odd) => {
        const { after, before } = idsOf(keyed(name), [odd])
        assert.deepStrictEqual(before, ["q", "q", "r", "r"])
        assert.deepStrictEqual(after, before)
      })
    }

    it("long, with an id of prompts that have one record each so far: by a second one", () => {
      const { after, before } = idsOf(
        [long({ prompt_id: "q" }, "Q", "A"), long({ prompt_id: "r" }, "Q", "B")],
        [long({ prompt_id: "r" }, "R", "C")],
      )
      assert.deepStrictEqual(before, ["q", "r"])
      assert.deepStrictEqual(after, before)
    })

    it("long, with an id of rows: by a copy of a record, or one without id", () => {
      const rows = ["A", "B", "C", "D"].map((output, i) => long({ id: i }, i < 2 ? "Q" : "R", output))
      for (const odd of [rows[1]!, long({}, "Q", "E"), long({ id: 1 }, "S", "F")]) {
        const { after, before } = idsOf(rows, [odd])
        assert.deepStrictEqual(before, ["Q", "Q", "R", "R"])
        assert.deepStrictEqual(after, before)
      }
    })
  })

  it("a member is what most of its values are", () => {
    const number = { prompt: "Q", response: 1, output: "A" }
    const text = { prompt: "Q", response: "A", output: 1 }
    assert.match(look([number, number, text]).description, /completion at "output"/)
    assert.match(look([text, text, number]).description, /completion at "response"/)
  })

  it("a column that names no completion is no gold", () => {
    const { description } = look([
      { prompt: "Q", response_a: "A", response_b: "B", label: 1 },
      { prompt: "Q", response_a: "A", response_b: "B", label: "a" },
    ])
    assert.strictEqual(description, `wide: prompt at "prompt", completions at "response_a" and "response_b"`)
  })

  describe("published files", () => {
    const read = (folder: string, file: string): ReadonlyArray<unknown> => {
      const text = readFileSync(`${folder}/${file}`, "utf8")
      return file.endsWith(".json")
        ? JSON.parse(text)
        : text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]))
    }
    const llmbar = sharedData("llmbar")
    it.skipIf(llmbar === undefined)("LLMBar (where the data is here): all items, each with its gold", () => {
      const files = readdirSync(llmbar!).filter((file) => file.endsWith(".json"))
      const found = files.map((file) => look(read(llmbar!, file)))
      assert.strictEqual(found.flatMap(({ items }) => items).length, 280)
      for (const { description, items } of found) {
        assert.strictEqual(
          description,
          `wide: prompt at "input", completions at "output_1" and "output_2", gold at "label"`,
        )
        assert.isTrue(items.every(({ gold }) => gold !== undefined))
      }
    })

    const selfInstruct = sharedData("self-instruct")
    it.skipIf(selfInstruct === undefined)("self-instruct (where the data is here): the responses of a model", () => {
      const { description, parts } = look(read(selfInstruct!, "text-davinci-003.jsonl"))
      assert.strictEqual(description, `long: prompt at "prompt", completion at "response", grouped by the prompt`)
      assert.strictEqual(parts.length, 252)
    })

    const arena = sharedData("arena-hard")
    it.skipIf(arena === undefined)("Arena-Hard (where the data is here): questions and answers want a join", () => {
      assert.match(look(read(arena!, "question.jsonl")).description, /^found no prompt .*turns\[0\]\.content.* join /)
      assert.match(
        look(read(arena!, "answers/gpt-4-0613.jsonl")).description,
        /^found no prompt .*choices\[0\]\.turns\[0\]\.content.* join /,
      )
    })
  })
})
