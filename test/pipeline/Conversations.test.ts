/** Prompts that are messages, through the whole flow: what is sent, what is refused, and what the dataset holds. */
import { assert, describe } from "@effect/vitest"
import { Effect, type Layer, Result, Stream } from "effect"
import type { ServiceProfile } from "../../src/api/ServiceProfile.ts"
import * as Dataset from "../../src/dataset/Dataset.ts"
import * as Conversation from "../../src/domain/Conversation.ts"
import type { Message } from "../../src/domain/Message.ts"
import type { PromptItem, SourceItem } from "../../src/domain/PromptItem.ts"
import * as Pipeline from "../../src/pipeline/Pipeline.ts"
import * as AnnotationService from "../../src/service/AnnotationService.ts"
import * as Conversations from "../support/conversations.ts"
import * as readers from "../support/datasetReaders.ts"
import { temporaryDirectory, test, withoutVotes } from "../support/job.ts"

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
      const { settings, shape } = yield* Dataset.manifest(`${directory}/dataset`)
      assert.deepInclude(settings, { conversational: shape === "conversational" })
    }
  })
})
