import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { content, type PromptItem } from "../../../src/domain/PromptItem.ts"
import type { LayoutOptions } from "../../../src/source/layout/Layout.ts"
import * as MakeLayout from "../../../src/source/layout/MakeLayout.ts"
import { assistant, chat, look, toRows, user } from "./support.ts"

const reasons = (records: ReadonlyArray<unknown>, options?: LayoutOptions, isTextual?: boolean) =>
  look(records, options, isTextual).reasons

/** The reasons why records are refused, and those that stand beside the records. */
const refusals = (cases: ReadonlyArray<readonly [record: unknown, reason?: string]>, options?: LayoutOptions) => {
  const records = cases.map(([record]) => record)
  return { found: reasons(records, options), expected: cases.flatMap(([, reason]) => reason ?? []) }
}

const golds = (records: ReadonlyArray<unknown>, options?: LayoutOptions) =>
  look(records, options).items.map(({ gold }) => gold?.best_completion_index)

const wide = { prompt: "Q", response_a: "A", response_b: "B" }

describe("MakeLayout", () => {
  describe("an item is the same from every layout", () => {
    const Text = Schema.String.check(
      Schema.isPattern(/\S/),
      Schema.makeFilter((text: string) => text.isWellFormed()),
    )
    const Item = Schema.Struct({
      prompt: Schema.Union([
        Text,
        Schema.NonEmptyArray(
          Schema.Struct({ role: Schema.Literals(["system", "user", "assistant", "tool"]), content: Text }),
        ),
      ]),
      completions: Schema.Array(Text).check(
        Schema.isMinLength(2),
        Schema.isMaxLength(4),
        Schema.makeFilter((texts) => new Set(texts).size === texts.length),
      ),
    })
    interface Item extends Pick<PromptItem, "prompt" | "completions"> {}

    const asMessages = (prompt: Item["prompt"]): Exclude<Item["prompt"], string> =>
      typeof prompt === "string" ? [user(prompt)] : prompt

    const contents = (items: ReadonlyArray<Item>) => items.map((item) => JSON.parse(content(item)))
    const isTheSame = (item: Item, { items, description }: ReturnType<typeof look>) =>
      assert.deepStrictEqual(contents(items), contents([item]), description)

    it.prop("items", [Item], ([item]) => isTheSame(item, look([item])))
    it.prop("items, as text cells", [Item], ([{ completions, prompt }]) => {
      const messages = asMessages(prompt)
      const cells = { prompt: JSON.stringify(messages), completions: JSON.stringify(completions) }
      isTheSame({ completions, prompt: messages }, look([cells], { prompt: "prompt[]" }, true))
    })
    const asWide = ({ completions, prompt }: Item) => ({
      prompt,
      ...Object.fromEntries(completions.map((completion, i) => [`response_${i + 1}`, completion])),
    })
    it.prop("wide", [Item], ([item]) => isTheSame(item, look([asWide(item)], { layout: "wide" })))
    it.prop("pairs", [Item], ([{ completions, prompt }]) => {
      const [chosen, rejected] = completions
      isTheSame({ prompt, completions: [chosen!, rejected!] }, look([{ prompt, chosen, rejected }]))
    })
    const fromParts = ({ parts }: ReturnType<typeof look>) => {
      assert.strictEqual(new Set(parts.map(({ key }) => key)).size, 1)
      return { prompt: parts[0]!.prompt, completions: parts.map(({ completion }) => completion) }
    }
    it.prop("long", [Item], ([{ completions, prompt }]) => {
      const records = completions.map((completion) => ({ prompt, completion }))
      assert.deepStrictEqual<unknown>(fromParts(look(records)), { prompt, completions })
    })
  })

  describe("a text that looks like JSON stays as it is", () => {
    const message = JSON.stringify(assistant("hi"))
    const [prompt, one, other] = ['["x"]', message, `[${message}]`]
    it.each([
      ["items", { prompt, completions: JSON.stringify([one, other]) }],
      ["wide", { prompt, response_a: one, response_b: other }],
      ["wide, where all are lists", { prompt, response_a: '["y"]', response_b: '["z"]' }],
      ["pairs", { question: prompt, chosen: one, rejected: other }],
    ] as const)("%s", (_, record) => {
      const columns = Object.values(record).slice(1)
      const completions = columns.length === 1 ? [one, other] : columns
      const { description, items } = look([record], {}, true)
      assert.deepStrictEqual(
        items.map((item) => [item.prompt, item.completions]),
        [[prompt, completions]],
        description,
      )
    })

    it("long", () => {
      const records = [one, other].map((response) => ({ id: 1, prompt, response }))
      const { description, parts } = look(records, {}, true)
      assert.deepStrictEqual([parts[0]?.prompt, parts[0]?.completion], [prompt, one], description)
      assert.deepStrictEqual([parts[1]?.prompt, parts[1]?.completion], [prompt, other], description)
    })

    it("wide, in a file whose texts are no cells", () => {
      const { items } = look([{ prompt, response_a: '["y"]', response_b: '["z"]' }])
      assert.deepStrictEqual([items[0]?.prompt, items[0]?.completions], [prompt, ['["y"]', '["z"]']])
    })
  })

  describe("wide", () => {
    it("a completion that is missing is left out, with its model, if two are left", () => {
      const three = { ...wide, response_c: "C", model_a: "x", model_b: "y", model_c: "z" }
      const { items, reasons } = look([three, { ...three, response_b: "" }, { ...wide, response_b: null }], {
        missing: "keep",
      })
      const read = items.map(({ completions, models }) => `${completions.join()} by ${models!.join()}`)
      assert.deepStrictEqual(read, ["A,B,C by x,y,z", "A,C by x,z"])
      assert.deepStrictEqual(reasons, [
        "response_b: expected a completion, found null; at least two completions are needed",
      ])
      assert.deepStrictEqual(look([three, { ...three, response_b: "" }]).reasons, [
        'response_b: expected a completion, found "". To keep such items without the missing completions, set `missing: "keep"`',
      ])
    })

    it.each<readonly [columns: string, models: string | undefined]>([
      ["response_a, response_b", undefined],
      ["chosen, rejected", undefined],
      ["Antwort A, Antwort B", undefined],
      ["réponse1, réponse2, réponse3", undefined],
      ["claude-1, claude-2", undefined],
      ["outputs[0].text, outputs[1].text", undefined],
      ["answer_gpt4, answer_1", undefined],
      ["better answer, worse answer", undefined],
      ["Antwort A, Antwort B, gpt-4", undefined],
      ["response_v1, response_gpt-4", undefined],
      ["bevorzugt, abgelehnt", undefined],
      ["original, edited", undefined],
      ["draft, final", undefined],
      ["response_before, response_after", undefined],
      ["strong, weak", undefined],
      ["response_ours-7b, response_baseline", "ours-7b, baseline"],
      ["response_gpt-4, response_llama", "gpt-4, llama"],
      ["gpt-3, gpt-4", "gpt-3, gpt-4"],
      ["text-davinci-001, text-davinci-002", "text-davinci-001, text-davinci-002"],
      ["sft_output, model_output_ppo", "sft, ppo"],
      ["answers.gpt4.text, answers.llama.text", "gpt4, llama"],
    ])("columns %s name the models %s", (list, models) => {
      const columns = list.split(", ")
      const completions = columns.map((path) => (/[- ]/.test(path) ? `["${path}"]` : path))
      const outputs = columns.map((text) => ({ text }))
      const answers = Object.fromEntries(["gpt4", "llama"].map((text) => [text, { text }]))
      const record = { prompt: "Q", outputs, answers, ...Object.fromEntries(columns.map((name) => [name, name])) }
      const { items } = look([record], { layout: "wide", completions })
      assert.lengthOf(items, 1)
      assert.strictEqual(items[0]!.models?.join(", "), models)
    })

    it("columns of pairs name no models", () => {
      const completions = ["gpt-4", "llama"]
      const { description, items } = look([{ prompt: "Q", "gpt-4": "A", llama: "B" }], { layout: "pairs", completions })
      assert.strictEqual(items[0]!.models, undefined)
      assert.notInclude(description, "models")
    })

    it("columns name models whatever they are called, if asked for", () => {
      const modelsOf = (names: ReadonlyArray<string>, options: LayoutOptions = {}) => {
        const record = { prompt: "Q", ...Object.fromEntries(names.map((name, i) => [name, `${name} ${i}`])) }
        const { description, items } = look([record], { modelsFromColumns: true, layout: "wide", ...options })
        return items[0]?.models ?? description
      }
      assert.deepStrictEqual(modelsOf(["response_baseline", "response_new"]), ["baseline", "new"])
      assert.deepStrictEqual(modelsOf(["Bot A", "Bot B"]), ["Bot A", "Bot B"])
      assert.deepStrictEqual(modelsOf(["response_a", "response_b"]), ["response_a", "response_b"])
      assert.deepStrictEqual(modelsOf(["ours", "theirs"], { completions: ["theirs", "ours"] }), ["theirs", "ours"])
      const refused = "`modelsFromColumns` requires the wide layout, and cannot be combined with `model`"
      assert.strictEqual(modelsOf(["chosen", "rejected"], { layout: "pairs" }), `layout pairs: ${refused}`)
      assert.strictEqual(modelsOf(["output_1", "output_2"], { model: ["m", "n"] }), `layout wide: ${refused}`)
      const templates = { completions: ["{a}", "{b}"] }
      assert.match(
        String(modelsOf(["a", "b"], templates)),
        /`modelsFromColumns` requires completions in columns, not in templates/,
      )
    })

    it("models are named where all of them are", () => {
      const record = { ...wide, model_a: "x", model_b: "y" }
      const { items } = look([record, { ...record, model_b: "" }])
      assert.deepStrictEqual([items[0]!.models, items[1]!.models], [["x", "y"], undefined])
    })

    it("gold stays with its completion where others are missing", () => {
      const three = { ...wide, response_c: "C", label: "c" }
      const options = { missing: "keep", gold: "label" } as const
      assert.deepStrictEqual(golds([three, { ...three, response_b: "" }], options), [2, 1])
      assert.deepStrictEqual(reasons([three, { ...three, response_c: "" }], options), [
        'label: expected a column with a completion, found the empty column "response_c"',
      ])
    })

    it.each([
      ["the column", { ...wide, label: "response_b" }, 1],
      ["its end", { ...wide, label: "b" }, 1],
      ["its end in other letters", { ...wide, label: "B" }, 1],
      ["its end after another word", { ...wide, label: "model_b" }, 1],
      ["the model", { ...wide, model_a: "x", model_b: "y", label: "y" }, 1],
      ["an object", { ...wide, label: { best_completion_index: 1 } }, 1],
      ["a tie", { ...wide, label: "tie (bothbad)" }, undefined],
      ["null", { ...wide, label: null }, undefined],
      ["a number that is a column's end", { prompt: "Q", output_1: "A", output_2: "B", label: 2 }, 1],
      ["a number as text", { prompt: "Q", output_1: "A", output_2: "B", label: "1" }, 0],
      ["a number that is a column's end, from 0", { prompt: "Q", output_0: "A", output_1: "B", label: 1 }, 1],
      ["a digit that other columns begin with", { prompt: "Q", output_1: "A", output_10: "B", label: 1 }, 0],
    ])("gold may be %s", (_, record, index) => {
      assert.deepStrictEqual(golds([record], { gold: "label" }), [index])
    })

    it("gold may name a column that is called in very many words", () => {
      const name = `output_${"a_".repeat(20_000)}b`
      const record = { prompt: "Q", output_1: "A", [name]: "B", winner: name }
      assert.deepStrictEqual(golds([record], { gold: "winner" }), [1])
    })

    it("gold that names none, or more than one, is refused", () => {
      const records = [
        { ...wide, label: 1 },
        { ...wide, label: "c" },
        { ...wide, label: true },
        { ...wide, label: { best_completion_index: 2 } },
        { ...wide, model_a: "b", model_b: "x", label: "b" },
      ]
      const expected = 'label: expected "response_a" or "response_b", or a unique part of such a name, found'
      assert.deepStrictEqual(reasons(records, { gold: "label", model: ["model_a", "model_b"] }), [
        `${expected} 1`,
        `${expected} "c"`,
        `${expected} true`,
        "label.best_completion_index: expected an index below 2, found 2",
        `${expected} "b", which matches 2 completions`,
      ])
    })

    it("a completion that always is the best is gold, if asked for", () => {
      const pair = { prompt: "Q", chosen: "A", rejected: "B" }
      assert.deepStrictEqual(golds([pair]), [undefined])
      assert.deepStrictEqual(golds([pair], { gold: "chosen" }), [0])
    })

    it("a reject names the columns", () => {
      const { expected, found } = refusals([
        [wide],
        [{ ...wide, response_b: null }, "response_b: expected a completion, found null"],
        [{ ...wide, response_a: "" }, 'response_a: expected a completion, found ""'],
        [{ prompt: "Q", response_a: "A" }, "response_b: expected a completion, found nothing"],
        [{ ...wide, response_b: 5 }, "response_b: expected a string, found 5"],
        [
          { ...wide, response_b: " " },
          "response_a, response_b: expected at least two distinct completions that are not blank, found 1",
        ],
        [{ ...wide, response_b: "A" }, "response_a, response_b: expected at least two distinct completions, found 1"],
        [
          { ...wide, response_b: chat("Q", "B"), prompt: "R" },
          "response_b: expected either the assistant's turn alone, or the prompt followed by the assistant's turn, found 2 messages that match neither",
        ],
        [
          { ...wide, response_b: [user("Q")] },
          'response_b[0]: expected a message with the role assistant, found the role "user"',
        ],
        [{ ...wide, prompt: undefined }, "prompt: expected text or a list of messages, found nothing"],
        [7, "expected an object, found 7"],
      ])
      assert.deepStrictEqual(found, expected)
    })

    it("lists of one turn are texts, longer ones are refused", () => {
      const turns = { prompt: ["Q"], response_a: ["A"], response_b: ["B"] }
      const { items, reasons } = look([
        turns,
        { prompt: ["Q", "R"], response_a: ["A", "C"], response_b: ["B", "D"] },
        { ...turns, response_b: [null] },
        { ...turns, response_b: "B" },
      ])
      const item = { prompt: "Q", completions: ["A", "B"] }
      assert.deepStrictEqual(items, [item, item])
      assert.deepStrictEqual(reasons, [
        "prompt: expected one turn, found 2 turns; after the first turn, the models' conversations differ, so their answers cannot be compared",
        "response_b: expected a completion, found null",
      ])
    })

    it("lists as JSON are lists where the paths say so", () => {
      const lists = { prompt: "prompt[]", completions: ["response_a[]", "response_b[]"] }
      const turns = { prompt: '["Q"]', response_a: '["A"]', response_b: '["B"]', winner: "b" }
      for (const isTextual of [true, false]) {
        const { items, reasons } = look([turns, { ...turns, response_a: '["A","C"]' }], lists, isTextual)
        assert.deepStrictEqual(items, [{ prompt: "Q", completions: ["A", "B"], gold: { best_completion_index: 1 } }])
        assert.deepStrictEqual(reasons, [
          "response_a[]: expected one turn, found 2 turns; after the first turn, the models' conversations differ, so their answers cannot be compared",
        ])
      }
    })
  })

  describe("conversations without a prompt of their own", () => {
    it("may be transcripts of many turns", () => {
      const turns = "\n\nHuman: Q\n\nAssistant: A".repeat(10_000)
      const { items } = look([{ chosen: turns, rejected: `${turns.slice(0, -1)}B` }])
      const found = items.map(({ completions, prompt }) => [prompt.length, completions])
      assert.deepStrictEqual(found, [[19_999, ["A", "B"]]])
    })

    it("have to differ in the last message alone, the assistant's", () => {
      const { expected, found } = refusals([
        [{ chosen: chat("Q", "A"), rejected: chat("Q", "B") }],
        [
          { chosen: chat("Q", "A", "R", "C"), rejected: chat("Q", "B", "S", "D") },
          "chosen: expected conversations that differ only in the last message, found a difference in message 2 of 4",
        ],
        [
          { chosen: chat("Q", "A"), rejected: chat("R", "B") },
          "chosen, rejected: expected conversations that begin with the same messages (the prompt), found no common prompt",
        ],
        [
          { chosen: chat("Q", "A", "R"), rejected: chat("Q", "B") },
          'chosen: expected the last message to have the role assistant, found the role "user"',
        ],
        [{ chosen: "A", rejected: "B" }, 'chosen: expected a whole conversation (no prompt is set), found "A"'],
        [
          { chosen: chat("Q", "A"), rejected: chat("Q", "A") },
          "chosen, rejected: expected at least two distinct completions, found 1",
        ],
      ])
      assert.deepStrictEqual(found, expected)
    })
  })

  describe("items", () => {
    it("a reject names the paths of the file", () => {
      const [a, b] = [{ text: "A" }, { text: "B" }]
      const by = { q: "Q", all: [{ ...a, by: "x" }, { ...b, by: 7 }] } // prettier-ignore
      const { expected, found } = refusals(
        [
          [{ q: "", all: [a, b] }, "{q}\\n\\n{r}: expected text or a list of messages, found nothing"],
          [{ q: [1], all: [a, b] }, "{q}\\n\\n{r}: expected text or a list of messages, found an object"],
          [{ q: "Q", all: [a, { t: "B" }] }, "all[1].text: expected a string, found nothing"],
          [{ q: "Q", all: "A" }, 'all[].text: expected an array, found "A"'],
          [{ q: "Q" }, "all[].text: expected a value, found nothing"],
          [by, "all[1].by: expected a string, found 7"],
        ],
        { prompt: "{q}\\n\\n{r}", completions: "all[].text", model: "all[].by" },
      )
      assert.deepStrictEqual(found, expected)
    })

    it("gold may be an index, or the name of a model", () => {
      const item = { prompt: "Q", completions: ["A", "B"], models: ["x", "y"] }
      const read = golds([1, "0", "y", "tie", null, { best_completion_index: 1 }].map((gold) => ({ ...item, gold })))
      assert.deepStrictEqual(read, [1, 0, 1, undefined, undefined, 1])
      assert.deepStrictEqual(reasons([2, "z", 0.5, []].map((gold) => ({ ...item, gold }))), [
        "gold.best_completion_index: expected an index below 2, found 2",
        'gold: expected an object, the index of a completion, or the name of its model, found "z"',
        "gold: expected an object, the index of a completion, or the name of its model, found 0.5",
        "gold: expected an object, the index of a completion, or the name of its model, found an empty array",
      ])
    })
  })

  describe("long", () => {
    it("a reject names the paths of the file", () => {
      const { expected, found } = refusals(
        [
          [{ prompt: "Q", response: "A", k: "1", by: "x" }],
          [{ prompt: "Q", response: "A" }, "k: expected a string or a safe integer, found nothing"],
          [{ prompt: "", response: "A", k: "1" }, "prompt: expected text, found a blank string"],
          [{ prompt: "Q", response: { text: "A" }, k: "1" }, "response: expected a string, found an object"],
          [{ prompt: "Q", response: "A", k: 0.5 }, "k: expected a string or a safe integer, found 0.5"],
          [{ prompt: "Q", response: "A", k: "1", by: {} }, "by: expected a string, found an object"],
          [[], "expected an object, found an empty array"],
        ],
        { completion: "response", key: "k", model: "by" },
      )
      assert.deepStrictEqual(found, expected)
    })

    it("of messages, the last is the assistant's", () => {
      const notLast = 'messages[1]: expected the last message to have the role assistant, found the role "user"'
      const { expected, found } = refusals(
        [
          [{ messages: chat("Q", "A") }],
          [{ messages: [user("Q")] }, "messages: expected a prompt and an answer, found one message"],
          [{ messages: [user("Q"), user("A")] }, notLast],
          [{ messages: chat("Q", " ") }],
          [{ messages: chat(" ", "A") }, "messages: expected a message with text, found only blank messages"],
          [{ messages: "text" }, 'messages: expected a list of messages, found "text"'],
        ],
        { layout: "long", prompt: "messages" },
      )
      assert.deepStrictEqual(found, expected)
    })

    it("a key without a field of its own is the prompt, and can be kept as text", () => {
      const { parts } = look([
        { prompt: [user("Q")], response: "A" },
        { prompt: "a\0b", response: "A" },
      ])
      assert.strictEqual(parts[0]!.key, "[user]\nQ")
      assert.match(parts[1]!.key, /^sha256:[0-9a-f]{64}$/)
    })
  })

  describe("what goes along", () => {
    it("is the metadata, and members that are kept", () => {
      const record = { ...wide, metadata: { a: 1 }, topic: "t", n: null, label: "b" }
      const metadata = (options: LayoutOptions) => look([record], options).items.map((item) => item.metadata)
      assert.deepStrictEqual(metadata({}), [{ a: 1 }])
      assert.deepStrictEqual(metadata({ keep: ["topic", "label", "absent"] }), [{ a: 1, topic: "t", label: "b" }])
      assert.deepStrictEqual(metadata({ keep: ["*"] }), [{ a: 1, topic: "t", n: null }])
    })

    it("with * is all that is not read, also beside it and in lists of completions", () => {
      const kept = (record: object, options: LayoutOptions = {}) => {
        const { items, parts, reasons } = look([record], { keep: ["*"], ...options })
        return [...items, ...parts].map(({ metadata }) => metadata).concat(reasons.map((reason) => ({ reason })))
      }
      assert.deepStrictEqual(
        kept({
          prompt: [user("Q")],
          completions: [
            { text: "A", model: "x", score: 9 },
            { text: "B", model: "y", score: 2, tags: ["t"] },
          ],
          gold: { best_completion_index: 1, rationale: "so", by: "z" },
          topic: "t",
        }),
        [{ completions: [{ score: 9 }, { score: 2, tags: ["t"] }], gold: { by: "z" }, topic: "t" }],
      )
      assert.deepStrictEqual(
        kept(
          { turns: [{ text: "Q" }, "second"], one: { text: "A", n: 1 }, two: { text: "B" } },
          { prompt: "turns[0].text", completions: ["one.text", "two.text"] },
        ),
        [{ turns: [null, "second"], one: { n: 1 } }],
      )
      const answer = { choices: [{ index: 0, message: { role: "assistant", content: "A" } }], n: [] }
      assert.deepStrictEqual(kept({ prompt: "Q", ...answer }, { completion: "choices[0].message.content" }), [
        { choices: [{ index: 0, message: { role: "assistant" } }], n: [] },
      ])
      // As a cell of CSV has it.
      const cells = { prompt: "Q", completions: '[{"text":"A","score":9},{"text":"B","score":2}]' }
      assert.deepStrictEqual(look([cells], { keep: ["*"] }, true).items[0]!.metadata, {
        completions: [{ score: 9 }, { score: 2 }],
      })
    })

    it("is read from these columns, and no others", () => {
      const record = { ...wide, model_a: "x", model_b: "y", metadata: { a: 1 }, topic: "t", extra: 1 }
      assert.deepStrictEqual(look([record]).columns?.toSorted(), [
        "metadata",
        "model_a",
        "model_b",
        "prompt",
        "response_a",
        "response_b",
        "tools",
      ])
      assert.include(look([record], { keep: ["topic"] }).columns ?? [], "topic")
      assert.isUndefined(look([record], { keep: ["*"] }).columns)
    })

    it("a member's name that the metadata has already, or a value that is no JSON, is refused", () => {
      const kept = [
        { ...wide, metadata: { topic: "t" }, topic: "t" },
        { ...wide, metadata: { topic: "u" }, topic: "t" },
        { ...wide, topic: { scores: [1, Number.POSITIVE_INFINITY] } },
        { ...wide, topic: 2 ** 53 },
        { ...wide, metadata: { "a b": { n: 1e300 } } },
      ]
      assert.deepStrictEqual(reasons(kept, { keep: ["topic"], metadata: "metadata" }), [
        "topic: the metadata already has a different value under this name; rename one of the two fields",
        "topic.scores[1]: expected a finite number (write integers above 2^53 as text), found Infinity",
        "topic: expected a finite number (write integers above 2^53 as text), found 9007199254740992",
        'metadata["a b"].n: expected a finite number (write integers above 2^53 as text), found 1e+300',
      ])
    })

    it("may be called __proto__", () => {
      const record = JSON.parse('{"prompt":"Q","completions":["A","B"],"__proto__":{"x":1},"metadata":{"__proto__":2}}')
      const { items, reasons } = look(
        [record, { ...JSON.parse('{"__proto__":{"x":1}}'), ...wide, completions: ["A", "B"] }],
        { keep: ["__proto__"] },
      )
      assert.deepStrictEqual(reasons, [
        "__proto__: the metadata already has a different value under this name; rename one of the two fields",
      ])
      assert.strictEqual(JSON.stringify(items[0]?.metadata), '{"__proto__":{"x":1}}')
      assert.isUndefined(({} as { x?: unknown }).x)
    })
  })

  const each = "expected two or more `completions` paths, one for each completion, found"
  it.each<readonly [options: LayoutOptions, problem: string]>([
    [{ layout: "wide", completions: ["a"] }, `layout wide: ${each} 1`],
    [{ layout: "wide" }, `layout wide: ${each} 0`],
    [{ layout: "wide", completions: ["a", "a"] }, "layout wide: expected each `completions` path only once"],
    [
      { layout: "wide", completions: ["a", "b"], model: "m" },
      "layout wide: expected a `model` for each of the 2 completions, found 1",
    ],
    [
      { layout: "pairs", completions: ["a", "b", "c"] },
      "layout pairs: expected two `completions` paths, one for each completion, found 3",
    ],
    [
      { layout: "items", completions: ["a", "b"] },
      "layout items: `completions` must be a single path, which leads to the list of completions; for one path per completion, set the layout to wide",
    ],
    [
      { layout: "items", completion: "a" },
      "layout items: expected `completions` (the path to the list), found `completion`",
    ],
    [{ layout: "long", completion: "a", model: ["m", "n"] }, "layout long: expected `model` once"],
    [{ layout: "long", completion: "a", gold: "g" }, "layout long: `gold` is for layouts items, wide, and pairs"],
    [
      { layout: "long", completion: "a", id: "i" },
      "layout long: expected `key`, found `id`: records with the same key form an item, and the key is the id of this item",
    ],
    [
      { layout: "long", completions: "a" },
      "layout long: set `completion` once, and omit `completions`, because each record has one completion",
    ],
    [
      { layout: "items", id: "a..b" },
      '`id`: not a field path: "a..b": expected .name, [0] or ["name"] at character 2, found "..b"',
    ],
  ])("%j is refused", (options, problem) => {
    assert.strictEqual(Result.merge(Result.map(MakeLayout.make(options), (made) => made.description)), problem)
  })

  const Junk = Schema.Union([
    Schema.Json,
    Schema.Record(
      Schema.Literals([
        ...(["prompt", "response_a", "response_b", "chosen", "rejected"] as const),
        ...(["messages", "label", "id", "metadata"] as const),
      ]),
      Schema.Union([
        Schema.Json,
        Schema.Array(Schema.Struct({ role: Schema.String, content: Schema.Json })),
        Schema.Array(Schema.Struct({ from: Schema.Json, value: Schema.String })),
      ]),
    ),
  ])
  it.prop(
    "whatever a record holds, it gives an item, a part or a reason",
    [Schema.Array(Junk), Schema.Boolean],
    ([records, isTextual]) => {
      for (const layout of ["items", "wide", "pairs", "long"] as const) {
        const made = MakeLayout.make({
          layout,
          ...(layout === "wide"
            ? { completions: ["response_a", "response_b"], gold: "label", prompt: "prompt" }
            : undefined),
          ...(layout === "long" ? { prompt: "messages" } : undefined),
          keep: ["*"],
        })
        const read = Result.getOrThrow(made)
        for (const row of toRows(records, isTextual)) {
          const result: Result.Result<unknown, { readonly reason: string }> =
            read.reads === "items" ? read.toRecord(row) : read.toPart(row)
          if (Result.isFailure(result))
            assert.match(result.failure.reason, /^.+: expected .+, found .+$|^expected .+, found .+$/)
        }
      }
      look(records, {}, isTextual)
    },
  )

  it("nesting without end is refused", () => {
    const deep = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth))
    const records = ["prompt", "response_a", "label", "id", "metadata", "model_a"].map((name) => ({
      ...wide,
      model_a: "x",
      model_b: "y",
      [name]: deep(50_000),
    }))
    assert.deepStrictEqual(
      reasons(records, { gold: "label", id: "id", metadata: "metadata", model: ["model_a", "model_b"], layout: "wide" })
        .length,
      5,
    )
    const [items, long] = [
      { prompt: deep(50_000), completions: deep(50_000) },
      { messages: deep(50_000), response: "A" },
    ]
    assert.lengthOf(reasons([items]), 1)
    assert.lengthOf(reasons([long], { layout: "long", prompt: "messages" }), 1)
  })
})
