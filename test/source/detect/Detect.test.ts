import { assert, describe, it } from "@effect/vitest"
import type { LayoutOptions } from "../../../src/source/layout/Layout.ts"
import { assistant, chat, look, user } from "../layout/support.ts"

/**
 * `first` is what the first record gives: of an item, the members beside "Q", "A" and "B"; of a part, prompt, completion,
 * key and model.
 */
type Shape = readonly [title: string, records: ReadonlyArray<unknown>, description: string, first?: object]

const human = (value: string) => ({ from: "human", value })
const gpt = (value: string) => ({ from: "gpt", value })
const part = (text: string) => [{ type: "text", text, image: null, mimeType: null }]
const [chosen, rejected] = [chat("Q", "A"), chat("Q", "B")]
const models = ["gpt-4", "llama"]
const best = (best_completion_index: number) => ({ gold: { best_completion_index } })

/** The members are those of the data sets as they are published; the texts are not. */
const shapes: ReadonlyArray<Shape> = [
  [
    "the own form",
    [{ prompt: "Q", completions: ["A", "B"], id: 7, gold: null, other: 1 }],
    `items: prompt at "prompt", completions at "completions"`,
    { id: "7" },
  ],
  [
    "openbmb/UltraFeedback",
    [
      {
        source: "evol_instruct",
        instruction: "Q",
        models,
        completions: ["A", "B"].map((response, i) => {
          const model = models[i]
          return { annotations: {}, custom_system_prompt: "S", model, principle: "p", response, critique: "c" }
        }),
        correct_answers: ["None"],
        incorrect_answers: ["None"],
      },
    ],
    `items: prompt at "instruction", completions at "completions[].response", models at "completions[].model"`,
    { models },
  ],
  [
    "HuggingFaceH4/ultrafeedback_binarized",
    [{ prompt: "Q", prompt_id: "x", chosen, rejected, messages: chosen, score_chosen: 8, score_rejected: 3 }],
    `pairs: prompt at "prompt", completions at "chosen" and "rejected"`,
  ],
  [
    "argilla/ultrafeedback-binarized-preferences-cleaned",
    [
      {
        source: "s",
        prompt: "Q",
        chosen,
        "chosen-rating": 5,
        "chosen-model": "gpt-4",
        rejected,
        "rejected-rating": 1,
        "rejected-model": "llama",
      },
    ],
    `pairs: prompt at "prompt", completions at "chosen" and "rejected", models at "chosen-model" and "rejected-model"`,
    { models },
  ],
  [
    "nvidia/HelpSteer2",
    ["A", "B"].map((response, i) => {
      return { prompt: "Q", response, helpfulness: i, correctness: 3, coherence: 4, complexity: 1, verbosity: 2 }
    }),
    `long: prompt at "prompt", completion at "response", grouped by the prompt`,
    ["Q", "A", "Q", undefined],
  ],
  [
    "nvidia/HelpSteer3",
    [
      {
        domain: "code",
        language: "python",
        context: chat("Q", "a", "R"),
        response1: "A",
        response2: "B",
        overall_preference: -2,
        individual_preference: [{ score: -2, reasoning: "r", feedback1: "f", feedback2: "g" }],
      },
    ],
    `wide: prompt at "context", completions at "response1" and "response2"`,
    { prompt: chat("Q", "a", "R") },
  ],
  [
    "Anthropic/hh-rlhf",
    [
      {
        chosen: "\n\nHuman: Hi\n\nAssistant: Yes?\n\nHuman: Q\n\nAssistant: A",
        rejected: "\n\nHuman: Hi\n\nAssistant: Yes?\n\nHuman: Q\n\nAssistant: B",
      },
    ],
    `pairs: completions at "chosen" and "rejected", prompt from the common beginning of the completions`,
    { prompt: chat("Hi", "Yes?", "Q") },
  ],
  [
    "lmsys/mt_bench_human_judgments",
    [
      {
        question_id: 81,
        model_a: "gpt-4",
        model_b: "llama",
        winner: "model_b",
        judge: "author_2",
        conversation_a: chosen,
        conversation_b: rejected,
        turn: 1,
      },
    ],
    `wide: completions at "conversation_a" and "conversation_b", prompt from the common beginning of the completions, models at "model_a" and "model_b", gold at "winner"`,
    { prompt: [user("Q")], models, ...best(1) },
  ],
  [
    "lmarena-ai/arena-human-preference-140k",
    [
      {
        id: "u",
        model_a: "gpt-4",
        model_b: "llama",
        winner: "both_bad",
        evaluation_order: 1,
        conversation_a: [user(part("Q")), { ...assistant(part("A")), num_tokens: 4 }],
        conversation_b: [user(part("Q")), { ...assistant(part("B")), num_tokens: 5 }],
        full_conversation: [{ user: user("Q") }],
        language: "en",
      },
    ],
    `wide: completions at "conversation_a" and "conversation_b", prompt from the common beginning of the completions, models at "model_a" and "model_b", id at "id"`,
    { id: "u", prompt: [user("Q")], models },
  ],
  [
    "berkeley-nest/Nectar",
    [
      {
        prompt: "\n\nHuman: Q\n\nAssistant: ",
        answers: ["A", "B"].map((answer, i) => ({ answer, model: models[i], rank: i + 1 })),
        turns: 1,
        num_responses: 7,
        source: ["sharegpt"],
        good_natured: true,
      },
    ],
    `items: prompt at "prompt", completions at "answers[].answer", models at "answers[].model"`,
    { prompt: "\n\nHuman: Q\n\nAssistant: ", models },
  ],
  [
    "ShareGPT",
    [{ id: "x_0", conversations: [human("Q"), gpt("A")] }],
    `long: prompt and completion at "conversations", grouped by the prompt`,
    [[user("Q")], "A", "[user]\nQ", undefined],
  ],
  [
    "tatsu-lab/alpaca",
    ["", "x"].map((input) => ({ instruction: "I", input, output: "O", text: "Below is an instruction" })),
    `long: prompt from "{instruction}\\n\\n{input}", completion at "output", grouped by the prompt`,
    ["I", "O", "I", undefined],
  ],
  [
    "Intel/orca_dpo_pairs",
    [{ system: "S", question: "Q", chosen: "A", rejected: "B" }],
    `pairs: prompt at "question", system prompt at "system", completions at "chosen" and "rejected"`,
    { prompt: "S\n\nQ" },
  ],
  [
    "PKU-Alignment/PKU-SafeRLHF",
    [
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
    `wide: prompt at "prompt", completions at "response_0" and "response_1", gold at "better_response_id"`,
    best(1),
  ],
  [
    "stanfordnlp/SHP",
    [{ post_id: "p", history: "Q", human_ref_A: "A", human_ref_B: "B", labels: 1, upvote_ratio: 0.9 }],
    `wide: prompt at "history", completions at "human_ref_A" and "human_ref_B"`,
  ],
  [
    "OpenAI's preference files",
    [
      {
        input: { messages: [user("Q")], tools: [], parallel_tool_calls: true },
        preferred_output: [assistant("A")],
        non_preferred_output: [assistant("B")],
      },
    ],
    `pairs: prompt at "input.messages", completions at "preferred_output" and "non_preferred_output"`,
    { prompt: [user("Q")] },
  ],
  [
    "NeMo RL",
    [{ context: [user("Q")], completions: ["A", "B"].map((text, rank) => ({ rank, completion: [assistant(text)] })) }],
    `items: prompt at "context", completions at "completions[].completion"`,
    { prompt: [user("Q")] },
  ],
  [
    "LLaMA-Factory's ranking files",
    [{ conversations: [human("Q")], chosen: gpt("A"), rejected: gpt("B") }],
    `pairs: prompt at "conversations", completions at "chosen" and "rejected"`,
    { prompt: [user("Q")] },
  ],
  [
    "axolotl's DPO files",
    [{ messages: [user("Q")], chosen: assistant("A"), rejected: assistant("B") }],
    `pairs: prompt at "messages", completions at "chosen" and "rejected"`,
    { prompt: [user("Q")] },
  ],
  [
    "other letters and blanks",
    [{ Prompt: "Q", "Response A": "A", "Response B": "B", Winner: "B" }],
    `wide: prompt at "Prompt", completions at "Response A" and "Response B", gold at "Winner"`,
    best(1),
  ],
  [
    "conversations by several models",
    [
      { prompt_id: "p", model: "m", messages: chosen },
      { prompt_id: "p", model: "n", messages: rejected },
    ],
    `long: prompt and completion at "messages", model at "model", grouped by "prompt_id"`,
    [[user("Q")], "A", "p", "m"],
  ],
  [
    "an id of rows is no key",
    ["A", "B"].map((output, id) => ({ id, prompt: "Q", output })),
    `long: prompt at "prompt", completion at "output", grouped by the prompt`,
    ["Q", "A", "Q", undefined],
  ],
  [
    "an id of prompts is the key",
    [
      { id: 1, prompt: "Q", output: "A", source: "m" },
      { id: 1, prompt: "Q", output: "B", source: "n" },
      { id: 2, prompt: "R", output: "A", source: "m" },
    ],
    `long: prompt at "prompt", completion at "output", model at "source", grouped by "id"`,
    ["Q", "A", "1", "m"],
  ],
  [
    "a group of different prompts is no key",
    [
      { group: "math", prompt: "Q", output: "A" },
      { group: "math", prompt: "R", output: "B" },
    ],
    `long: prompt at "prompt", completion at "output", grouped by the prompt`,
    ["Q", "A", "Q", undefined],
  ],
  [
    "LLaMA-Factory's history",
    [
      { instruction: "R", input: "x", chosen: "A", rejected: "B", system: "S", history: [["Q", "a"]] },
      { instruction: "Q", input: "", chosen: "A", rejected: "B", system: "", history: [] },
    ],
    `pairs: prompt from "{instruction}\\n\\n{input}", system prompt at "system", earlier turns at "history", completions at "chosen" and "rejected"`,
    { prompt: [{ role: "system", content: "S" }, ...chat("Q", "a", "R\n\nx")] },
  ],
  [
    "an experiment's columns",
    [{ question_id: 7, prompt: "Q", candidate: "B", baseline: "A", score: "4" }],
    `wide: prompt at "prompt", completions at "baseline" and "candidate", id at "question_id"`,
    { id: "7" },
  ],
  [
    "columns named after models",
    [{ question: "Q", "response_gpt-4": "A", response_llama: "B", response_length: 4 }],
    `wide: prompt at "question", completions at "response_gpt-4" and "response_llama", models "gpt-4" and "llama"`,
    { models },
  ],
  [
    "columns that are called after bots",
    [{ Prompt: "Q", "Bot B": "B", "Bot A": "A" }],
    `wide: prompt at "Prompt", completions at "Bot A" and "Bot B"`,
  ],
  [
    "an id of questions, beside lists",
    [{ question_id: "x", prompt: "Q", completions: ["A", "B"] }],
    `items: prompt at "prompt", completions at "completions", id at "question_id"`,
    { id: "x" },
  ],
]

/** Records whose values are all text, as cells of CSV are. */
const cells: ReadonlyArray<Shape> = [
  [
    "the own form, as CSV",
    [
      {
        prompt: "Q",
        completions: '["A","B"]',
        models: '["gpt-4","llama"]',
        id: "",
        gold: '{"best_completion_index":"1"}',
        metadata: '{"a":1}',
      },
    ],
    `items: prompt at "prompt", completions at "completions"`,
    { models, ...best(1), metadata: { a: 1 } },
  ],
  [
    "lmsys-arena-human-preference-55k",
    [
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
    `wide: prompt at "prompt", completions at "response_a" and "response_b", models at "model_a" and "model_b", id at "id"`,
    { id: "30192", models },
  ],
  [
    "earlier turns in CSV, of messages that the question follows",
    [{ question: "R", context: JSON.stringify(chat("Q", "a")), answer_1: "A", answer_2: "B" }],
    `wide: prompt at "question", earlier turns at "context", completions at "answer_1" and "answer_2"`,
    { prompt: chat("Q", "a", "R") },
  ],
]

describe("Detect", () => {
  it.for([...shapes, ...cells])("%s", (shape) => {
    const [, records, description, first = {}] = shape
    const found = look(records, {}, cells.includes(shape))
    assert.strictEqual(found.description, description)
    assert.deepStrictEqual(found.reasons, [])
    const [part] = found.parts
    const expected = Array.isArray(first) ? first : { prompt: "Q", completions: ["A", "B"], ...first }
    const read = part === undefined ? found.items[0] : [part.prompt, part.completion, part.key, part.model]
    assert.deepStrictEqual<unknown>(read, expected)
  })

  const join = "or join prompt files and completion files with `Source.join` and `key`"
  it.for<readonly [title: string, records: ReadonlyArray<unknown>, problem: string, options?: LayoutOptions]>([
    [
      "prompts alone",
      [{ question_id: "x", turns: [{ content: "Write a melody in ABC notation." }] }],
      `found no prompt and no completions in "question_id", "turns" (nested text: turns[0].content): set \`prompt\` and \`completions\` (if the completions are in several columns, name the columns with \`completions: ["…", "…"]\`), ${join}`,
    ],
    [
      "prompts alone, by their usual name",
      [{ prompt: "Q", category: "c" }],
      `found a prompt at "prompt", but no completions in "prompt", "category": set \`completions\` (if the completions are in several columns, name the columns with \`completions: ["…", "…"]\`), ${join}`,
    ],
    [
      "completions alone",
      [{ question_id: "x", model: "m", response: "A" }],
      `found completions at "response", but no prompt in "question_id", "model", "response": set \`prompt\` (if the records contain no prompt, set fixed text with a field in braces, such as \`prompt: "Which is better? ({question_id})"\`), ${join}`,
    ],
    [
      "several prompts",
      [{ question: "Q", context: "C", response_a: "A", response_b: "B" }],
      `several fields might contain the prompt: "question" and "context". To show all these fields to experts, set \`prompt\` to a template such as '{context}\\n\\n{question}'. To leave a field out, name the field in \`ignore\``,
    ],
    [
      "several places of completions",
      [{ prompt: "Q", chosen: "A", rejected: "B", generations: ["A", "B"] }],
      `several fields might contain the completions: "chosen" and "rejected" (layout pairs), or "generations" (layout items); to choose, set \`layout\`, \`completions\`, or \`completion\``,
    ],
    [
      "several lists",
      [{ prompt: "Q", responses: ["A", "B"], answers: ["A", "B"] }],
      `several fields might contain the completions: "responses", or "answers"; to choose, set \`completions\``,
    ],
    [
      "several texts of long records",
      [{ prompt: "Q", response: "A", output: "B" }],
      `several fields might contain the completions: "response", or "output"; to choose, set \`completion\` to the right field; if each record has several completions, name all their fields with \`completions: ["…", "…"]\``,
    ],
    [
      "two texts that nothing is known of",
      [{ prompt: "Q", ours: "A", "their text": "B", topic: "t" }],
      `found a prompt at "prompt", and texts at "ours" and "their text": if these texts are completions, set \`completions: ["ours", "their text"]\``,
    ],
    [
      "a layout that is not there",
      [{ prompt: "Q", response: "A" }],
      `found a prompt at "prompt", but no completions in "prompt", "response": set \`completions: ["FIRST", "SECOND"]\``,
      { layout: "wide" },
    ],
    [
      "a path that is none",
      [{ prompt: "Q", completions: ["A", "B"] }],
      `\`prompt\`: not a template: "{a": expected a field and "}" after "{" at character 1; the first records have no field of this name; they have "prompt" and "completions"`,
      { prompt: "{a" },
    ],
  ])("says what it found: %s", ([, records, problem, options]) => {
    assert.strictEqual(look(records, options).description, problem)
  })

  describe("a system prompt stands before the prompt in every layout, or is reported", () => {
    const system = { role: "system", content: "S" }
    it.each([
      ["items", { prompt: "Q", completions: ["A", "B"], system: "S" }],
      ["items, by other names", { question: "Q", answers: ["A", "B"], system: "S" }],
      ["wide", { prompt: "Q", response_a: "A", response_b: "B", system_prompt: "S" }],
      ["pairs", { prompt: "Q", chosen: "A", rejected: "B", system: "S" }],
      ["long", { prompt: "Q", response: "A", system: "S" }],
      ["items of messages", { prompt: [user("Q")], completions: ["A", "B"], system: "S" }],
      ["wide, of messages", { messages: [user("Q")], response_a: "A", response_b: "B", system: "S" }],
      ["pairs of whole conversations", { chosen, rejected, system: "S" }],
      ["pairs of a text and whole conversations", { prompt: "Q", chosen, rejected, system: "S" }],
      ["long, of whole conversations", { messages: chosen, system: "S" }],
      ["one that the messages begin with", { prompt: [system, user("Q")], completions: ["A", "B"], system: "S" }],
    ])("%s", (_, record) => {
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
      const prompts = items.map(({ prompt }) => prompt)
      assert.deepStrictEqual(prompts, ["S\n\nQ", "Q", "Q"])
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
    const options: ReadonlyArray<LayoutOptions> = [
      { layout: "pairs" },
      { completions: "generations", prompt: "question" },
      { completions: ["rejected", "chosen"], gold: "chosen" },
      { completion: "chosen", key: "question" },
    ]
    assert.deepStrictEqual(
      options.map((set) => look(several, set).description),
      [
        `pairs: prompt at "prompt", completions at "chosen" and "rejected"`,
        `items: prompt at "question", completions at "generations"`,
        `wide: prompt at "prompt", completions at "rejected" and "chosen", gold at "chosen"`,
        `long: prompt at "prompt", completion at "chosen", grouped by "question"`,
      ],
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
      `pairs: completions at "chosen" and "rejected", prompt from the common beginning of the completions`,
    )
  })

  describe("what a file grows by changes the identity of no item that it had", () => {
    const idsOf = ({ items, parts }: ReturnType<typeof look>) => [
      ...items.map(({ id }) => id),
      ...parts.map(({ key }) => key),
    ]
    /** Ids of the records, as they stand alone and before another. */
    const idsBeside = (records: ReadonlyArray<unknown>, odd: unknown) => [
      idsOf(look(records)),
      idsOf(look([...records, odd])).slice(0, records.length),
    ]
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
      const ids = ["1", "2", "3", "4", "5"]
      const records = ids.map((id) => wide(Number(id)))
      assert.deepStrictEqual(idsBeside(records, odd), [ids, ids])
    })

    it("wide: by the first record that has an id", () => {
      const none = [undefined, undefined]
      assert.deepStrictEqual(idsBeside([without, without], wide(7)), [none, none])
      assert.strictEqual(look([without, without, wide(7)]).items.at(-1)?.id, "7")
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
    for (const name of ["prompt_id", "question_id", "id"]) {
      const keyed = ["q", "r"].flatMap((key) =>
        ["A", "B"].map((output) => long({ [name]: key }, key.toUpperCase(), output)),
      )
      it.each<readonly [title: string, odd: object]>([
        ["no key", long({}, "S", "A")],
        ["a key that is null", long({ [name]: null }, "S", "A")],
        ["the key of another prompt", long({ [name]: "q" }, "S", "A")],
        ["another key of its prompt", long({ [name]: "s" }, "R", "C")],
        ["a new key", long({ [name]: "s" }, "S", "A")],
        ["another member named like a key", long({ [name]: "s", idx: 1, query_id: "x" }, "S", "A")],
      ])(`long, with ${name}: by a record with %s`, (_, odd) => {
        const ids = ["q", "q", "r", "r"]
        assert.deepStrictEqual(idsBeside(keyed, odd), [ids, ids])
      })
    }

    it("long, with an id of prompts that have one record each so far: by a second one", () => {
      const records = [long({ prompt_id: "q" }, "Q", "A"), long({ prompt_id: "r" }, "Q", "B")]
      const ids = ["q", "r"]
      assert.deepStrictEqual(idsBeside(records, long({ prompt_id: "r" }, "R", "C")), [ids, ids])
    })

    it("long, with an id of rows: by a copy of a record, or one without id", () => {
      const rows = ["A", "B", "C", "D"].map((output, i) => long({ id: i }, i < 2 ? "Q" : "R", output))
      const ids = ["Q", "Q", "R", "R"]
      for (const odd of [rows[1]!, long({}, "Q", "E"), long({ id: 1 }, "S", "F")]) {
        assert.deepStrictEqual(idsBeside(rows, odd), [ids, ids])
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
})
