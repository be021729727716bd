/** Prompts that are messages, through the whole flow: what is sent, what is refused, and what the dataset holds. */
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem, type Layer, Logger, Result, Schema, Stream } from "effect"
import type { ServiceProfile } from "../../src/api/ServiceProfile.ts"
import * as Dataset from "../../src/dataset/Dataset.ts"
import { formatNames } from "../../src/dataset/format/TrainerFormats.ts"
import * as Conversation from "../../src/domain/Conversation.ts"
import type { Message } from "../../src/domain/Message.ts"
import { PromptItem, type SourceItem } from "../../src/domain/PromptItem.ts"
import { Reject } from "../../src/domain/Reject.ts"
import type { TaskRequest } from "../../src/domain/Task.ts"
import * as Pipeline from "../../src/pipeline/Pipeline.ts"
import * as Source from "../../src/source/Source.ts"
import * as AnnotationService from "../../src/service/AnnotationService.ts"
import * as Conversations from "../support/conversations.ts"
import * as readers from "../support/datasetReaders.ts"
import { temporaryDirectory, test, withoutVotes } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const sourceOf = (items: ReadonlyArray<SourceItem>) => ({
  description: "items of a test",
  records: Stream.fromIterable(items.map((item) => Result.succeed(item))),
})

const run = <E>(
  items: ReadonlyArray<SourceItem>,
  directory: string,
  service: Layer.Layer<ServiceProfile, E>,
  options: Partial<Pipeline.Settings> = {},
) => Pipeline.run(Pipeline.make({ directory, source: sourceOf(items), service, batch: { maxPrompts: 7 }, ...options }))

/** Judges by itself: the first completion that it is shown. */
const experts = (directory: string) =>
  withoutVotes(AnnotationService.layerEmbedded({ database: `${directory}/service.db`, experts: ["first"] }))

const fileOf = (directory: string, format: "data" | "jsonl", split = "train") =>
  `${directory}/dataset/${format}/${split}-00000-of-00001.${format === "data" ? "parquet" : "jsonl"}`

const asMessages = (prompt: PromptItem["prompt"]): ReadonlyArray<Message> =>
  typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt

describe("conversations", () => {
  for (const shape of ["conversational", "standard"] as const) {
    test(`are in a ${shape} dataset what they were in the input, with their models`, function* () {
      const directory = yield* temporaryDirectory
      const items = Conversations.items(40, 11)
      yield* run(items, directory, experts(directory), {
        conversational: shape === "conversational",
        shuffleSeed: 1,
        votes: 2,
        ties: "keep",
      })
      const byId = new Map(items.map(({ item }) => [item.id, item]))
      for (const rows of [
        yield* Effect.promise(() => readers.duckdbParquet(fileOf(directory, "data"), shape)),
        yield* Effect.promise(() => readers.arrow(fileOf(directory, "data"))),
        yield* Effect.promise(() => readers.jsonl(fileOf(directory, "jsonl"))),
      ]) {
        assert.sameMembers([...new Set(rows.map(({ item_id }) => item_id))], [...byId.keys()])
        for (const row of rows) {
          const item = byId.get(String(row["item_id"]))!
          const completion = (index: unknown) => {
            const content = item.completions[Number(index)]!
            return shape === "standard" ? content : [{ role: "assistant", content }]
          }
          assert.deepStrictEqual(
            [row.prompt, row.chosen, row.rejected, row.chosen_model, row.rejected_model],
            [
              shape === "standard" ? Conversation.toText(item.prompt) : asMessages(item.prompt),
              completion(row.chosen_index),
              completion(row.rejected_index),
              item.models?.[Number(row.chosen_index)] ?? null,
              item.models?.[Number(row.rejected_index)] ?? null,
            ],
          )
        }
      }
      assert.deepStrictEqual((yield* Dataset.verify(`${directory}/dataset`)).findings, [])
    })
  }

  test("make a dataset of messages wherever one stands in the input, unless text is asked for", function* () {
    const turn = (content: string): PromptItem => ({
      prompt: [{ role: "user", content }],
      completions: ["a", "b"],
    })
    const text: PromptItem = { prompt: "a text", completions: ["a", "b"] }
    const origin = { file: "f", row: 1 }
    for (const [items, conversational, expected] of [
      [[turn("hi"), text], undefined, [[{ role: "user", content: "hi" }], [{ role: "user", content: "a text" }]]],
      [[turn("hi"), text], false, ["hi", "a text"]],
      [[text, turn("hi")], undefined, [[{ role: "user", content: "a text" }], [{ role: "user", content: "hi" }]]],
      [[text], undefined, ["a text"]],
    ] as const) {
      const directory = yield* temporaryDirectory
      const source = items.map((item) => ({ item, origin }))
      yield* run(source, directory, experts(directory), { conversational })
      const rows = yield* Effect.promise(() => readers.jsonl(fileOf(directory, "jsonl")))
      assert.deepStrictEqual<ReadonlyArray<unknown>>(
        rows.map(({ prompt }) => prompt),
        expected,
      )
      const fs = yield* FileSystem.FileSystem
      const manifest = JSON.parse(yield* fs.readFileString(`${directory}/dataset/manifest.json`)) as {
        readonly shape: string
        readonly settings: { readonly conversational: boolean }
      }
      assert.strictEqual(manifest.settings.conversational, manifest.shape === "conversational")
    }
  })

  test("are pairs to be judged again, each once, where a dataset or a part of it is the input", function* () {
    const directory = yield* temporaryDirectory
    for (const conversational of [true, false]) {
      const items: ReadonlyArray<SourceItem> = [
        { id: "a", prompt: "Q", completions: ["1", "2", "3"], metadata: { n: 1 } },
        { id: "b", prompt: [{ role: "user", content: "R" }] as const, completions: ["4", "5"] },
      ].map((item, i) => ({ item, origin: { file: "f", row: i + 1 } }))
      yield* run(items, directory, experts(directory), { conversational })
      const dataset = `${directory}/dataset`
      const rows = (yield* Effect.promise(() => readers.jsonl(fileOf(directory, "jsonl")))) as ReadonlyArray<
        {
          readonly [side in "chosen" | "rejected"]: string | ReadonlyArray<Message>
        } & { readonly metadata: string | null }
      >
      assert.strictEqual(rows.length, 3)
      for (const input of [dataset, `${dataset}/jsonl`, `${dataset}/jsonl/train-00000-of-00001.jsonl`]) {
        const records = yield* Stream.runCollect(Source.files(input).records)
        const read = records.map((record) => Result.getOrThrow(record).item)
        assert.deepStrictEqual(
          read.map(({ completions, id, metadata }) => [id, completions, metadata]),
          rows.map(({ chosen, metadata, rejected }) => [
            undefined,
            [chosen, rejected].map((text) => (typeof text === "string" ? text : text[0]!.content)),
            metadata === null ? undefined : JSON.parse(metadata),
          ]),
        )
      }
    }
  })

  test("come to every trainer format that has a place for them", function* () {
    const directory = yield* temporaryDirectory
    const user = { role: "user", content: "[user]\n😀 [1]\n\n[assistant]\nno" }
    const items: ReadonlyArray<SourceItem> = [
      [{ role: "system", content: "Be brief." }, user],
      [user, { role: "assistant", content: "" }, { role: "user", content: "\n\n[x]\n" }],
    ].map((prompt, i) => ({
      item: { id: `${i}`, prompt: prompt as unknown as PromptItem["prompt"], completions: ["yes", "no"] },
      origin: { file: "f", row: i + 1 },
    }))
    const warnings: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      if (logLevel === "Warn") warnings.push([message].flat().join(" "))
    })
    yield* run(items, directory, experts(directory), { formats: formatNames }).pipe(
      Effect.provide(Logger.layer([logger])),
    )
    assert.deepStrictEqual(
      warnings.filter((warning) => warning.includes("system message")).map((warning) => warning.split(" ")[0]),
      ["trl", "trl-implicit", "trl-unpaired", "openrlhf", "verl"],
    )
    assert.include(
      warnings,
      "trl writes prompts as text: in 1 pair, the prompt contains the system message after a line [system]; trl-conversational keeps messages separate",
    )
    const prompts = items.map(({ item }) => item.prompt as ReadonlyArray<Message>)
    const read = (format: string) =>
      Effect.promise(() => readers.jsonl(`${directory}/dataset/formats/${format}/train.jsonl`)) as Effect.Effect<
        ReadonlyArray<Record<string, unknown>>
      >
    const of = (format: string, member: string) => Effect.map(read(format), (rows) => rows.map((row) => row[member]))
    assert.deepStrictEqual<unknown>(yield* of("trl-conversational", "prompt"), prompts)
    assert.deepStrictEqual<unknown>(
      yield* of("openai-preference", "input"),
      prompts.map((messages) => ({
        messages,
        tools: [],
        parallel_tool_calls: true,
      })),
    )
    assert.deepStrictEqual<unknown>(yield* of("nemo-rl", "context"), prompts)
    assert.deepStrictEqual<unknown>(yield* of("axolotl-chat-template", "messages"), prompts)
    assert.deepStrictEqual<unknown>(
      yield* of("trl", "prompt"),
      prompts.map((messages) => Conversation.render(messages as Exclude<PromptItem["prompt"], string>)),
    )
    assert.deepStrictEqual(yield* readers.errorsIn(`${directory}/dataset`), [])
  })

  test("of one user's message are in the split of the same text", function* () {
    const directory = yield* temporaryDirectory
    const texts = Array.from({ length: 40 }, (_, i) => `${i * 7919} plus ${i * 31}?`)
    const items = texts.flatMap((text, i): ReadonlyArray<SourceItem> => {
      const origin = { file: "f", row: i + 1 }
      const prompts = [text, [{ role: "user", content: text }]] as const
      return prompts.map((prompt, j) => ({
        item: { id: `${i}-${j}`, prompt, completions: ["a", "b"] },
        origin,
      }))
    })
    yield* run(items, directory, experts(directory), { splits: { test: 0.5 } })
    assert.deepStrictEqual((yield* Dataset.verify(`${directory}/dataset`)).findings, [])
    const rows = yield* Effect.forEach(["train", "test"], (split) =>
      Effect.promise(() => readers.jsonl(fileOf(directory, "jsonl", split))),
    )
    assert.isTrue(rows.every((each) => each.length > 0))
    for (const each of rows) {
      const numbers = each.map(({ item_id }) => item_id.split("-")[0]!)
      assert.strictEqual(2 * new Set(numbers).size, numbers.length)
    }
  })

  test("are looked at once for the splits, as text is", function* () {
    // Of each three, the last one resembles the other two, which may stand in different splits, and not each other.
    const words = Array.from({ length: 60 }, (_, i) => i)
    const contents = Array.from({ length: 20 }, (_, three) =>
      [(i: number) => i < 5, (i: number) => i >= 55, () => false].map((isOther, which) =>
        words.map((i) => `w${three}x${i}${isOther(i) ? `y${which}` : ""}`).join(" "),
      ),
    ).flat()
    const crossSplitOf = Effect.fnUntraced(function* (
      promptOf: (messages: Exclude<PromptItem["prompt"], string>) => PromptItem["prompt"],
    ) {
      const directory = yield* temporaryDirectory
      const items = contents.map((content, i) => ({
        item: {
          id: `${i}`,
          prompt: promptOf([
            { role: "system", content: "Be brief." },
            { role: "user", content },
          ]),
          completions: ["a", "b"],
        },
        origin: { file: "f", row: i + 1 },
      }))
      yield* run(items, directory, experts(directory), { splits: { test: 0.5 } })
      const fs = yield* FileSystem.FileSystem
      const report = yield* fs.readFileString(`${directory}/dataset/report.json`)
      return (JSON.parse(report) as { readonly cross_split_near_duplicates: number }).cross_split_near_duplicates
    })
    const crossSplit = yield* crossSplitOf(Conversation.render)
    assert.isAbove(crossSplit, 0)
    assert.strictEqual(yield* crossSplitOf((messages) => messages), crossSplit)
  })

  test("that the service refuses are in the rejects file as the input had them, with models and place", function* () {
    const directory = yield* temporaryDirectory
    const items = Conversations.items(18, 13, (i) => ({
      ...(i % 5 === 0 ? { metadata: { i } } : {}),
      ...(i % 6 === 0 ? { gold: { best_completion_index: 1 } } : {}),
    }))
    const service = yield* ScriptedService.make((request, before) => {
      const prompts = request.method === "POST" ? (JSON.parse(request.body) as TaskRequest).prompts : []
      if (prompts.length > 1) return { status: 413, body: { detail: "too large" } }
      return prompts.length === 1 ? { status: 422, body: { detail: "no" } } : ScriptedService.obliging(request, before)
    })
    const report = yield* run(items, directory, service.profile)
    assert.strictEqual(report.rejected, items.length)
    const fs = yield* FileSystem.FileSystem
    const lines = (yield* fs.readFileString(`${directory}/rejects.jsonl`)).trimEnd().split("\n")
    const rejects = lines.map((line) => Schema.decodeUnknownSync(Schema.fromJsonString(Reject))(line))
    assert.deepStrictEqual(
      rejects.map(({ code, file, line, raw, row }) => ({
        code,
        origin: { file, ...(line === undefined ? {} : { line }), ...(row === undefined ? {} : { row }) },
        item: Schema.decodeUnknownSync(Schema.fromJsonString(PromptItem))(raw),
      })),
      items.map(({ item, origin }) => ({ code: "refused_by_service" as const, origin, item })),
    )
  })
})
