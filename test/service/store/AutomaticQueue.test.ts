/** The queue as automatic experts work on it: what is passed over, and what is looked at again. */
import { assert, describe } from "@effect/vitest"
import { Clock, Effect, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { Database } from "../../../src/service/database/Database.ts"
import { Experts } from "../../../src/service/store/Experts.ts"
import { TaskStore } from "../../../src/service/store/TaskStore.ts"
import { VoteQueue } from "../../../src/service/store/VoteQueue.ts"
import type { ClaimRequest, Claim } from "../../../src/service/store/VoteQueueModel.ts"
import { create, detailOf, next, person, results, statusOf, store } from "./support.ts"
import { testOver } from "../../support/effectTest.ts"

const robots = Layer.effectDiscard(
  Experts.use((experts) => Effect.forEach(["one", "two"], (name) => experts.ensure(name))),
)
const test = testOver(Layer.provideMerge(robots, store(":memory:")))

const claim = (asking: Partial<ClaimRequest> = {}) =>
  VoteQueue.use((queue) =>
    queue.claim({ experts: ["one", "two"], tasks: 10, createdBefore: Infinity, isAvailable: () => true, ...asking }),
  )
const tasksOf = (claims: ReadonlyArray<Claim>) => claims.map(({ taskId }) => taskId)
const only = (name: string) => ({ isAvailable: (expert: string) => expert === name })
const choose = (expert: string, choice: number) => ({
  expert,
  vote: Result.succeed({ choice, order: [0, 1], seconds: 0 }),
})
const one = [["p", "a", "b"]] as const

describe("who is active", () => {
  test("changes what there is to do for the others", function* () {
    const queue = yield* VoteQueue
    const experts = yield* Experts
    const task = yield* create(one)
    // The place is the first expert's, as long as that one may come back.
    assert.deepStrictEqual(yield* claim(only("two")), {
      claims: [],
      unanswered: [],
      shortened: [],
      idle: { createdAt: undefined },
    })
    yield* experts.setActive("one", false)
    yield* queue.awaitWork
    const { claims } = yield* claim(only("two"))
    assert.deepStrictEqual(tasksOf(claims), [task])
    assert.deepStrictEqual(claims[0]!.items[0]!.experts, ["two"])
  })

  test("counts when answers are recorded: those of others only are kept", function* () {
    const queue = yield* VoteQueue
    const experts = yield* Experts
    const task = yield* create([...one, ...one], { votes: 2 })
    const { claims } = yield* claim()
    yield* experts.setActive("one", false)
    yield* queue.record(
      claims[0]!.items.map(({ itemId, promptIndex }) => ({
        itemId,
        answers: [
          promptIndex === 0 ? choose("one", 0) : { expert: "one", vote: Result.fail("has no answer") },
          choose("two", 1),
        ],
      })),
    )
    const { items } = yield* detailOf(task)
    assert.deepStrictEqual(
      items.map((item) => [item.votes.map(({ expert }) => expert), item.set_aside, item.held_by]),
      [
        [["two"], [], []],
        [["two"], [], []],
      ],
    )
    yield* experts.setActive("one", true)
    const again = yield* claim()
    yield* queue.record(again.claims[0]!.items.map(({ itemId }) => ({ itemId, answers: [choose("one", 0)] })))
    assert.lengthOf((yield* results(task))[1].annotations.votes, 2)
  })
})

test("the answers for a task that was cancelled meanwhile are not taken", function* () {
  const task = yield* create(one)
  const { claims } = yield* claim()
  yield* (yield* TaskStore).cancel(task)
  yield* (yield* VoteQueue).record([{ itemId: claims[0]!.items[0]!.itemId, answers: [choose("one", 0)] }])
  assert.deepInclude((yield* detailOf(task)).items[0], { held_by: [], votes: [] })
})

describe("what is looked at again", () => {
  test("is all that was passed in a write that failed", function* () {
    const { sql } = yield* Database
    const tasks = yield* Effect.forEach([1, 2, 3], () => create(one))
    yield* sql`CREATE TRIGGER full BEFORE INSERT ON claim WHEN NEW.seq = 3 BEGIN SELECT RAISE(ABORT, 'full'); END`
    assert.strictEqual((yield* Effect.flip(claim()))._tag, "SqlError")
    assert.strictEqual(yield* statusOf(tasks[0]!), "pending")
    yield* sql`DROP TRIGGER full`
    assert.deepStrictEqual(tasksOf((yield* claim()).claims), tasks)
  })

  test("does not come before older tasks, whose time has come", function* () {
    const queue = yield* VoteQueue
    const now = yield* Clock.currentTimeMillis
    const old = yield* create(one)
    yield* TestClock.adjust("50 minutes")
    const young = yield* create(one)
    assert.deepStrictEqual((yield* claim({ createdBefore: now - 1 })).idle, { createdAt: now })
    yield* queue.returnItem(young, 0)
    const taken = yield* claim({ createdBefore: now })
    assert.deepStrictEqual(tasksOf(taken.claims), [old])
  })

  test("is complete, however much it is", function* () {
    const queue = yield* VoteQueue
    yield* claim()
    const tasks = yield* Effect.forEach(Array.from({ length: 1_010 }), () => create(one))
    const all = Effect.gen(function* () {
      const taken: Array<Claim> = []
      for (;;) {
        const { claims, idle } = yield* claim({ tasks: 100 })
        taken.push(...claims)
        if (idle !== undefined) return taken
      }
    })
    const taken = yield* all
    assert.deepStrictEqual(tasksOf(taken), tasks)
    const items = taken.flatMap((claim) => claim.items)
    yield* queue.record(items.toReversed().map(({ itemId }) => ({ itemId, answers: [] })))
    assert.deepStrictEqual(tasksOf(yield* all), tasks)
  })
})

test("what none of the experts can vote on any more is named once nobody is at work on the task", function* () {
  const queue = yield* VoteQueue
  const ann = yield* person("Ann")
  const task = yield* create([...one, ...one], { votes: 2 })
  const item = yield* next(ann)
  const { claims, unanswered } = yield* claim()
  assert.deepStrictEqual([tasksOf(claims), unanswered], [[task], []])
  const [first, second] = claims[0]!.items
  const silent = { expert: "two", vote: Result.fail("has no answer") }
  yield* queue.record([{ itemId: first!.itemId, answers: [choose("one", 0), silent] }])
  yield* queue.setAside(ann, item.item_id, { kind: "skip", reason: "" })
  assert.deepStrictEqual((yield* claim()).unanswered, [])
  yield* queue.record([{ itemId: second!.itemId, answers: [choose("one", 0), choose("two", 0)] }])
  assert.deepStrictEqual((yield* claim()).unanswered, [{ voters: null, taskId: task, lacking: 1, prompts: 2 }])
  assert.deepStrictEqual((yield* claim()).unanswered, [])
})
