/** What every ledger must do with prompts that are conversations: text on the way out, messages on the way back. */
import { assert, describe } from "@effect/vitest"
import { Array as Arr, Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { toTaskPrompt, type SourceItem } from "../../../src/domain/PromptItem.ts"
import { type TaskPrompt, type TaskRequest } from "../../../src/domain/Task.ts"
import * as Batch from "../../../src/task/plan/Batch.ts"
import type { BatchItem } from "../../../src/task/ledger/schema/Model.ts"
import * as Results from "../../../src/task/Results.ts"
import { defaultJob, Ledger } from "../../../src/task/ledger/Ledger.ts"
import * as LedgerCheck from "../../../src/task/ledger/care/LedgerCheck.ts"
import type { RunTerms } from "../../../src/task/ledger/schema/Model.ts"
import * as Payload from "../../../src/task/ledger/schema/Payload.ts"
import { identify, newTasks } from "../../../src/task/plan/TaskRequests.ts"
import * as Conversations from "../../support/conversations.ts"
import { plan as planTasks, split, type LedgerTest } from "../support.ts"

const plan = (items: ReadonlyArray<BatchItem>, terms: RunTerms = {}) => {
  const batches = Batch.make({ maxPrompts: 7, maxBytes: 1e6 })
  const tasks = [...batches.add(items), ...batches.end()].flatMap((batch) => newTasks(batch, terms))
  return planTasks(tasks, terms)
}

const plannedTasks = Ledger.use((ledger) => ledger.plannedAfter(-1))

/** What an expert says who prefers the second completion of the input: in another order than it was asked. */
const answerTo = (body: Uint8Array) => ({
  status: "completed",
  results: (JSON.parse(Payload.decode(body)) as TaskRequest).prompts
    .map(({ completions, prompt }: TaskPrompt) => ({
      prompt,
      best_completion_index: completions.findIndex((text) => text.startsWith("completion 1 ")),
    }))
    .toReversed(),
})

/** Halves every third task, and has all of them judged. */
const judgeAll = Effect.gen(function* () {
  const ledger = yield* Ledger
  for (const [i, { seq, vote }] of (yield* plannedTasks).entries()) {
    if (i % 3 === 0 && (yield* ledger.request(seq)).items.length > 1) yield* split(seq, vote)
  }
  for (const task of yield* plannedTasks) {
    assert.isTrue(yield* ledger.claim(task))
    const taskId = `task_${task.seq}`
    yield* ledger.markSubmitted(task.seq, taskId, 0)
    const { body } = yield* ledger.request(task.seq)
    yield* ledger.markCompleted(task.seq, JSON.stringify({ task_id: taskId, ...answerTo(body) }))
  }
})

/** What comes back of an item, in each of its votes. */
const judged = Effect.map(Stream.runCollect(Results.items()), (items) =>
  items.map(({ isCheck, itemId, judgments, models, origin, prompt }) => ({
    itemId,
    prompt,
    models,
    origin,
    isCheck,
    votes: judgments.map((judgment) => [
      judgment.prompt,
      judgment.completions,
      judgment.models,
      judgment.completions[judgment.bestCompletionIndex],
    ]),
  })),
)

const expected = (
  { item: { completions, id, models, prompt }, origin }: SourceItem,
  votes: number,
  isCheck = false,
): Effect.Success<typeof judged>[number] => ({
  itemId: id ?? "",
  prompt,
  models,
  origin,
  isCheck,
  votes: Arr.makeBy(votes, () => [prompt, completions, models, completions[1]]),
})

const findings = Effect.map(LedgerCheck.check({ job: defaultJob }), ({ findings }) =>
  findings.map(({ code, message }) => `${code}: ${message}`),
)

export const conversationConformance = (test: LedgerTest) =>
  describe("conversations", () => {
    for (const seed of [1, 2, 3]) {
      test(`come back exactly as they were, in shuffled and halved tasks of several votes (seed ${seed})`, function* () {
        const items = Conversations.items(60, seed)
        assert.strictEqual(items.length, 60)
        assert.isTrue(items.some(({ item: { prompt } }) => typeof prompt === "string"))
        yield* plan(items.map(identify), { votes: 2, shuffleSeed: seed })
        yield* judgeAll
        assert.deepStrictEqual(
          yield* judged,
          items.map((item) => expected(item, 2)),
        )
        assert.deepStrictEqual(yield* findings, [])
      })
    }

    test("are noted with the step that plans the first of them, and only with it", function* (ledger) {
      const items = Conversations.items(40, 5).map(identify)
      const isText = ({ item }: BatchItem) => typeof item.prompt === "string"
      yield* plan(items.filter(isText))
      assert.isFalse(yield* ledger.hasConversations)
      const twice = items.find((each) => !isText(each))!
      yield* Effect.exit(plan([twice, twice]))
      assert.isFalse(yield* ledger.hasConversations)
      yield* plan([twice])
      assert.isTrue(yield* ledger.hasConversations)
      assert.deepStrictEqual(yield* findings, [])
    })

    test("are sent as text, and known by it", function* (ledger) {
      const items = Conversations.items(40, 4)
      const run = yield* plan(items.map(identify), { shuffleSeed: false })
      const sent = (yield* Effect.forEach(yield* plannedTasks, ({ seq }) => ledger.request(seq))).flatMap(
        ({ body }) => (JSON.parse(Payload.decode(body)) as TaskRequest).prompts,
      )
      assert.deepStrictEqual(
        sent,
        items.map(({ item }) => toTaskPrompt(item)),
      )
      const asTexts = items.map((each) => identify({ ...each, item: { ...each.item, ...toTaskPrompt(each.item) } }))
      assert.deepStrictEqual(
        yield* ledger.classify(run, asTexts),
        asTexts.map(() => "duplicate"),
      )
    })

    test("may be gold items that are mixed in", function* () {
      const [host, ...gold] = Conversations.items(4, 7)
      const checks = gold.map((each) => ({ ...identify(each), isCheck: true }))
      yield* plan([{ ...identify(host!), gold: checks }], { shuffleSeed: 2 })
      yield* judgeAll
      assert.deepStrictEqual(yield* judged, [expected(host!, 1), expected(gold[0]!, 1, true)])
    })

    test("are told by a check from a text that is taken for one, and models from too few of them", function* () {
      const sql = yield* SqlClient.SqlClient
      const prompts = ["no header", "[user]\na"]
      const items = prompts.map((prompt, i) =>
        identify({
          item: { id: `item-${i}`, prompt, completions: ["completion 0 of 0", "completion 1 of 0"] },
          origin: { file: "f", line: i + 1 },
        }),
      )
      yield* plan(items, { shuffleSeed: false })
      assert.deepStrictEqual(yield* findings, [])
      const details = items.map(({ itemId, origin }) => ({ item_id: itemId, origin }))
      const changed = Effect.fnUntraced(function* (members: object) {
        const of = JSON.stringify(details.map((each) => ({ ...each, ...members })))
        yield* sql`UPDATE task_request SET items = ${Payload.encode(of)}`
        return yield* findings
      })
      const says = (item: number) =>
        `request_unreadable: the request of task 1 cannot be read: the stored details of item item-${item} do not match its prompt`
      assert.deepStrictEqual(yield* changed({ conversation: true }), [says(0)])
      assert.deepStrictEqual(yield* changed({ models: ["one"] }), [says(0)])
      assert.deepStrictEqual(yield* changed({ completion_origins: [] }), [says(0)])
      assert.deepStrictEqual(yield* changed({ models: ["one", "other"] }), [])
    })
  })
