/** What experts may have to see is used, asked about or rejected, in whatever file it is. */
import { assert, describe } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import { parquetWriteBuffer } from "hyparquet-writer"
import * as Conversation from "../../../src/domain/Conversation.ts"
import * as Source from "../../../src/source/Source.ts"
import { chat, user } from "../layout/support.ts"
import { collect, csvOf, test, toLines, writeFiles } from "../support.ts"

type Records = ReadonlyArray<{ readonly [name: string]: unknown }>

const namesIn = (records: Records) => [...new Set(records.flatMap((record) => Object.keys(record)))]

const formats = {
  jsonl: (records: Records) => toLines(records),
  json: (records: Records) => JSON.stringify(records),
  csv: (records: Records) => csvOf(records),
  parquet: (records: Records) =>
    new Uint8Array(
      parquetWriteBuffer({
        columnData: namesIn(records).map((name) => {
          const data = records.map((record) => record[name] ?? null)
          return {
            name,
            data,
            type: data.some((value) => typeof value === "object" && value !== null) ? "JSON" : "STRING",
          }
        }),
      }),
    ),
} as const

type Format = keyof typeof formats
const allFormats: ReadonlyArray<Format> = ["jsonl", "json", "csv", "parquet"]

const read = Effect.fnUntraced(function* (
  records: Records,
  options: Source.FilesOptions = {},
  format: Format = "jsonl",
) {
  const [file] = yield* writeFiles({ [`items.${format}`]: formats[format](records) })
  const source = Source.files(file!, options)
  const summary = yield* source.summary!
  const { items, rejects } = yield* collect(source)
  return { summary, prompts: items.map(({ item }) => item.prompt), items, reasons: rejects.map(({ reason }) => reason) }
})

/** What the reading ends with before the first record. */
const problemOf = (records: Records, options: Source.FilesOptions = {}, format: Format = "jsonl") =>
  Effect.map(Effect.flip(read(records, options, format)), ({ message }) => message.replace(/^\S+: /, ""))

const pair = { chosen: "A", rejected: "B" }

describe("UnusedContext", () => {
  test.each(allFormats)("a text that may be part of the prompt is asked about first: %s", function* (format) {
    const records = [
      { prompt: "Who won?", context: "The Reds beat the Blues.", ...pair },
      { prompt: "Who lost?", context: "", ...pair },
    ]
    assert.strictEqual(
      yield* problemOf(records, {}, format),
      `no option uses "context" (in 1 of 2 records). If experts need this field, set \`prompt: "{context}\\\\n\\\\n{prompt}"\`. If they do not need it, set \`ignore: ["context"]\``,
    )
    const used = yield* read(records, { prompt: "{context}\\n\\n{prompt}" }, format)
    assert.deepStrictEqual(used.prompts, ["The Reds beat the Blues.\n\nWho won?", "Who lost?"])
    for (const told of [{ ignore: ["context"] }, { keep: ["context"] }]) {
      assert.deepStrictEqual((yield* read(records, told, format)).prompts, ["Who won?", "Who lost?"])
    }
    assert.match(yield* problemOf(records, { keep: ["*"] }, format), /"context"/)
    assert.match(yield* problemOf(records, { prompt: "prompt" }, format), /"context"/)
  })

  test.each<readonly [string, Records[number], option: "prompt" | "system" | "history", value: string]>([
    ["an input", { prompt: "Translate:", input: "chien" }, "prompt", "{prompt}\\n\\n{input}"],
    ["a list of documents", { question: "Q", documents: ["d", "e"] }, "prompt", "{documents}\\n\\n{question}"],
    ["several", { prompt: "Q", input: "i", passage: "p" }, "prompt", "{passage}\\n\\n{prompt}\\n\\n{input}"],
    ["a history that is text", { prompt: "Q", history: "User: Hi" }, "prompt", "{history}\\n\\n{prompt}"],
    ["a text beside messages", { prompt: [user("Q")], context: "c" }, "system", "context"],
    ["a second system prompt", { prompt: "Q", system: "s", system_prompt: "t" }, "system", "system_prompt"],
    ["messages beside a prompt", { prompt: "Q", messages: chat("P", "p") }, "history", "messages"],
    ["a question beside a prompt", { prompt: "Answer.", question: "Q" }, "prompt", "{prompt}\\n\\n{question}"],
  ])("the question names the options that use it: %s", function* ([, members, option, value]) {
    const record = { ...members, ...pair }
    const advice = `set \`${option}: ${JSON.stringify(value)}\``
    assert.include(yield* problemOf([record]), advice)
    const ignore = members["system"] === "s" ? ["system"] : []
    const { items, reasons } = yield* read([record], { ignore, [option]: value })
    assert.deepStrictEqual(reasons, [])
    assert.strictEqual(items.length, 1)
  })

  test("what experts see anyway, and fields without a value, are not asked about", function* () {
    const records = [
      { prompt: "Use this:  The Reds won.\nWho won?", context: "The Reds won.", question: "Who won?", ...pair },
      { prompt: "Q", messages: chat("Q", "A"), ...pair },
      ...["", " ", "[]", "None", "nan", null, [], [""], {}, { path: null }].map((nothing) => ({
        prompt: "Q",
        context: nothing,
        image: nothing,
        has_image: true,
        num_images: 2,
        ...pair,
      })),
    ]
    const { items, reasons, summary } = yield* read(records)
    assert.deepStrictEqual([items.length, reasons], [records.length, []])
    const found = summary.unused.find(({ name }) => name === "messages")
    assert.deepStrictEqual(found, { name: "messages", share: 1 / 12 })
  })

  test.each(allFormats)("a record that has it only later is rejected, with the same advice: %s", function* (format) {
    const records = Array.from({ length: 103 }, (_, i) => ({
      prompt: `Q${i}`,
      context: i === 100 ? "late" : "",
      images: i === 101 ? ["a.png"] : null,
      ...pair,
    }))
    const { items, reasons, summary } = yield* read(records, {}, format)
    assert.strictEqual(items.length, 101)
    assert.strictEqual(
      reasons[0],
      `context: expected no value, found "late". No option uses this field. If experts need the field, set \`prompt: "{context}\\\\n\\\\n{prompt}"\`. If they do not need it, set \`ignore: ["context"]\``,
    )
    assert.match(
      reasons[1]!,
      /^images: expected no media, .*\. If experts can judge the item without media, set `ignore: \["images"\]`$/,
    )
    assert.deepStrictEqual(summary.hints, [])
    assert.strictEqual((yield* read(records, { ignore: ["context", "images"] }, format)).items.length, 103)
  })

  test("a column that the first file does not have is found in the second, in Parquet, too", function* () {
    const files = yield* writeFiles({
      "1.parquet": formats.parquet([{ prompt: "Q", ...pair }]),
      "2.parquet": formats.parquet([{ prompt: "R", context: "c", ...pair }]),
    })
    const { rejects } = yield* collect(Source.files(files))
    assert.strictEqual(rejects.map(({ reason }) => reason.split(":")[0]).join(), "context")
  })

  test.each(allFormats)("records with pictures are rejected, and the others are items: %s", function* (format) {
    const records = ["images", "image", "image_url", "input_video", "Audio 2", "question_image_1_path"].map((name) => ({
      prompt: `Q ${name}`,
      [name]: "a.bin",
      ...pair,
    }))
    const { items, reasons, summary } = yield* read([...records, { prompt: "Q", ...pair }], {}, format)
    assert.strictEqual(items.length, 1)
    assert.deepStrictEqual(
      reasons.map((reason) => reason.split(":")[0]),
      ["images", "image", "image_url", "input_video", '["Audio 2"]', "question_image_1_path"],
    )
    assert.match(summary.hints[0]!, /images, audio, or video \(images\), so 6 of the first 7 records are rejected/)
  })

  test.each<readonly [string, unknown, string]>([
    [
      "a part of a message",
      [user("Q"), { role: "user", content: [{ type: "image" }] }],
      'prompt[1].content[0].type: expected "text", found "image"; experts cannot ',
    ],
    [
      "a picture in a part of text",
      [{ role: "user", content: [{ type: "text", text: "Q", image: "a.png" }] }],
      "prompt[0].content[0].image: expected no value",
    ],
    [
      "LLaVA's placeholder",
      "<image>\nWhat is it?",
      'prompt: expected no <image>, because experts cannot be shown images, audio, or video. If experts can judge the item without media, set `ignore: ["images"]`',
    ],
    ["a numbered one", "Compare <image 1> with <image 2>.", "prompt: expected no <image 1>"],
    ["a token", [user("<|vision_start|><|image_pad|><|vision_end|>Describe.")], "prompt: expected no <|vision_start|>"],
    ["one of a video, in a message", [user("<video>Why is it funny?")], "prompt: expected no <video>"],
    ["Qwen's", "Picture 1: <img>cat.png</img>\nWhat is it?", "prompt: expected no <img>cat.png</img>"],
  ])("so are those with pictures in their texts: %s", function* ([, prompt, reason]) {
    const { reasons } = yield* read([
      { prompt, ...pair },
      { prompt: "Q", ...pair },
    ])
    assert.lengthOf(reasons, 1)
    assert.isTrue(reasons[0]!.startsWith(reason), reasons[0])
    const { items } = yield* read([{ prompt, ...pair }], { ignore: ["images"] })
    assert.strictEqual(items.length, reason.startsWith("prompt:") ? 1 : 0)
  })

  test("markup that is no placeholder is text", function* () {
    const prompts = [
      "Where does <video> go in HTML?",
      '<video controls><source src="a.mp4"></video>',
      "RSS: <image><url>a</url></image>",
      'SVG: <image href="a.png"/>',
      "<img src=a.png>",
      "An <image_id> in a template",
    ]
    assert.deepStrictEqual((yield* read(prompts.map((prompt) => ({ prompt, ...pair })))).prompts, prompts)
  })

  test("joined files: of the prompts and of the completions", function* () {
    const joined = Effect.fnUntraced(function* (
      prompt: object,
      completion: object,
      options: Partial<Source.JoinOptions> = {},
    ) {
      const lines = (record: object) => toLines([{ id: 1, ...record }])
      const [prompts, ...completions] = yield* writeFiles({
        "prompts.jsonl": lines({ prompt: "Q", ...prompt }),
        "a.jsonl": lines({ completion: "A", ...completion }),
        "b.jsonl": lines({ completion: "B" }),
      })
      const { items, rejects } = yield* collect(Source.join({ prompts: prompts!, completions, ...options }))
      return items.length > 0 ? Conversation.render(items[0]!.item.prompt) : rejects[0]!.reason
    })
    const messageOf = (effect: ReturnType<typeof joined>) => Effect.map(Effect.flip(effect), ({ message }) => message)
    assert.match(yield* messageOf(joined({ context: "c" }, {})), /set `promptPath: "\{context\}\\\\n\\\\n\{prompt\}"`/)
    assert.match(yield* messageOf(joined({}, { context: "c" })), /a\.jsonl: no option uses "context"/)
    const template = { promptPath: "{context}\\n\\n{prompt}" }
    assert.strictEqual(yield* joined({ context: "c" }, { context: "c" }, template), "c\n\nQ")
    assert.strictEqual(yield* joined({ context: "c" }, { context: "c" }, { ignore: ["context"] }), "Q")
    assert.strictEqual(yield* joined({}, { prompt: "again", question: "R" }), "Q")
    assert.match(yield* joined({ images: ["a"] }, {}), /^images: expected no media/)
    assert.strictEqual(yield* joined({ history: [["P", "p"]] }, {}), "[user]\nP\n\n[assistant]\np\n\n[user]\nQ")
  })

  test("votes, gold files, and a program's own records", function* () {
    const record = { prompt: "Q", context: "c", response_a: "A", response_b: "B", winner: "response_a", expert: "x" }
    const [file] = yield* writeFiles({ "votes.jsonl": toLines([record]) })
    const votes = (options: Source.VotesOptions) => Stream.runCollect(Source.votes(file!, options).records)
    assert.match((yield* Effect.flip(votes({}))).message, /no option uses "context"/)
    const [vote] = yield* votes({ prompt: "{context}\\n\\n{prompt}" })
    assert.strictEqual(Result.getOrThrow(vote!).item.prompt, "c\n\nQ")
    assert.match((yield* Effect.flip(Source.gold(file!))).message, /no option uses "context"/)
    assert.strictEqual((yield* Source.gold(file!, { ignore: ["context"] })).length, 1)
    const { rejects } = yield* collect(Source.make([{ prompt: "Q", completions: ["A", "B"], context: "c" }]))
    assert.match(rejects[0]!.reason, /^context: expected no value/)
  })

  test("one completion per record: the key is of all that experts see", function* () {
    const records = [1, 2].flatMap((turn) =>
      ["A", "B"].map((response) => ({ prompt: "Q", history: [[`P${turn}`, "p"]], response })),
    )
    const { items } = yield* read(records)
    const found = items.map(({ item }) => Conversation.contents(item.prompt).join())
    assert.deepStrictEqual(found, ["P1,p,Q", "P2,p,Q"])
    assert.match(
      yield* problemOf(records.map((record) => ({ ...record, passage: "t" }))),
      /"passage" \(in 4 of 4 records\)/,
    )
  })
})
