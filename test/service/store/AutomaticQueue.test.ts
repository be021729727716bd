/** The queue as automatic experts work on it: what is passed over, and what is looked at again. */
import { assert, describe } from "@effect/vitest"
import { Clock, Effect, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { equalItemsOf } from "../../../src/service/store/ExpertOrder.ts"
import { Experts } from "../../../src/service/store/Experts.ts"
import { VoteQueue } from "../../../src/service/store/VoteQueue.ts"
import type { Claim, ClaimRequest, Judged } from "../../../src/service/store/VoteQueueModel.ts"
import { create, crew, detailOf, next, results, statusOf, store, waitingIn } from "./support.ts"
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
const silent = (expert: string) => ({ expert, vote: Result.fail("has no answer") })
type Item = Claim["items"][number]
const itemsOf = (claims: ReadonlyArray<Claim>) => claims.flatMap(({ items }) => items)
/** Records answers to each item: without others, a vote of each expert that it is claimed for. */
const record = (
  items: ReadonlyArray<Item>,
  answersOf: (item: Item) => Judged["answers"] = ({ experts, held }) =>
    experts.slice(0, held).map((name) => choose(name, 0)),
) => VoteQueue.use((queue) => queue.record(items.map((item) => ({ itemId: item.itemId, answers: answersOf(item) }))))
const one = [["p", "a", "b"]] as const

test("a claim ends with the task that reaches the number of items, and leaves the others", function* () {
  const tasks = [yield* create([...one, ...one]), yield* create([...one, ...one]), yield* create(one)]
  assert.deepStrictEqual(tasksOf((yield* claim({ items: 3 })).claims), tasks.slice(0, 2))
  assert.deepStrictEqual(tasksOf((yield* claim({ items: 3 })).claims), tasks.slice(2))
})

describe("who is active", () => {
  test("changes what there is to do for the others", function* () {
    const { experts, queue } = yield* crew()
    const task = yield* create(one)
    // The place is the first expert's, as long as that one may come back.
    assert.deepInclude(yield* claim(only("two")), { claims: [], unanswered: [], idle: { createdAt: undefined } })
    yield* experts.setActive("one", false)
    yield* queue.awaitWork
    const { claims } = yield* claim(only("two"))
    assert.deepStrictEqual(tasksOf(claims), [task])
    assert.deepStrictEqual(claims[0]!.items[0]!.experts, ["two"])
  })

  test("counts when answers are recorded: those of others only are kept", function* () {
    const { experts } = yield* crew()
    const task = yield* create([...one, ...one], { votes: 2 })
    const { claims } = yield* claim()
    yield* experts.setActive("one", false)
    yield* record(itemsOf(claims), ({ promptIndex }) => [
      promptIndex === 0 ? choose("one", 0) : silent("one"),
      choose("two", 1),
    ])
    for (const { held_by, set_aside, votes } of (yield* detailOf(task)).items) {
      assert.deepStrictEqual([votes.map(({ expert }) => expert), set_aside, held_by], [["two"], [], []])
    }
    yield* experts.setActive("one", true)
    yield* record(itemsOf((yield* claim()).claims), () => [choose("one", 0)])
    assert.lengthOf((yield* results(task))[1].annotations.votes, 2)
  })
})

test("the answers for a task that was cancelled meanwhile are not taken", function* () {
  const { taskStore } = yield* crew()
  const task = yield* create(one)
  const { claims } = yield* claim()
  yield* taskStore.cancel(task)
  yield* record(itemsOf(claims))
  assert.deepInclude((yield* detailOf(task)).items[0], { held_by: [], votes: [] })
})

describe("what is looked at again", () => {
  test("is all that was passed in a write that failed", function* () {
    const { sql } = yield* crew()
    const tasks = yield* Effect.forEach([1, 2, 3], () => create(one))
    yield* sql`CREATE TRIGGER full BEFORE INSERT ON claim WHEN NEW.seq = 3 BEGIN SELECT RAISE(ABORT, 'full'); END`
    assert.strictEqual((yield* Effect.flip(claim()))._tag, "SqlError")
    assert.strictEqual(yield* statusOf(tasks[0]!), "pending")
    yield* sql`DROP TRIGGER full`
    assert.deepStrictEqual(tasksOf((yield* claim()).claims), tasks)
  })

  test("does not come before older tasks, whose time has come", function* () {
    const { queue } = yield* crew()
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
    yield* record(itemsOf(taken).toReversed(), () => [])
    assert.deepStrictEqual(tasksOf(yield* all), tasks)
  })
})

test("what none of the experts can vote on any more is named once nobody is at work on the task", function* () {
  const { ann, queue } = yield* crew("ann")
  const task = yield* create([...one, ...one], { votes: 2 })
  const item = yield* next(ann)
  const { claims, unanswered } = yield* claim()
  assert.deepStrictEqual([tasksOf(claims), unanswered], [[task], []])
  const [first, second] = itemsOf(claims)
  yield* record([first!], () => [choose("one", 0), silent("two")])
  yield* queue.setAside(ann, item.item_id, { kind: "skip", reason: "" })
  assert.deepStrictEqual((yield* claim()).unanswered, [])
  yield* record([second!])
  assert.deepStrictEqual((yield* claim()).unanswered, [{ voters: null, taskId: task, lacking: 1, prompts: 2 }])
  assert.deepStrictEqual((yield* claim()).unanswered, [])
})

test("an item for judges waits for another judge once each has voted, but not once one has no answer", function* () {
  const { experts } = yield* crew()
  yield* Effect.forEach(["a", "b"], (name) => experts.ensure(name, "judge"))
  const task = yield* create([...one, ["q", "a", "b"]], { votes: 3, voters: "judges" })
  const askJudges = claim({ experts: ["a", "b"] })
  const { claims } = yield* askJudges
  assert.strictEqual(yield* waitingIn(task), 0)
  const [first, second] = itemsOf(claims)
  yield* record([first!], () => [choose("a", 0), silent("b")])
  assert.strictEqual(yield* waitingIn(task), 0)
  yield* record([second!])
  assert.strictEqual(yield* waitingIn(task), 1)
  yield* askJudges
  assert.strictEqual(yield* waitingIn(task), 1)
})

describe("an item whose content an expert has judged in another task of the group", () => {
  const ordersOf = (claims: ReadonlyArray<Claim>) => itemsOf(claims).map(({ experts }) => experts.join(" "))
  /** The experts who voted on each prompt, by task. */
  const votesOf = Effect.fnUntraced(function* (tasks: ReadonlyArray<string>) {
    const tables = yield* Effect.forEach(tasks, (task) => detailOf(task))
    return tables.map(({ items }) => items.map(({ votes }) => votes.map(({ expert }) => expert).join(" ")).join(", "))
  })

  test("goes to the experts who have not, also while their votes are on the way, and then to those with the fewest", function* () {
    const tasks = yield* Effect.forEach([1, 2, 3, 4], () => create(one, { group: "g" }))
    const { claims } = yield* claim()
    assert.deepStrictEqual(ordersOf(claims), ["one two", "two one", "one two", "two one"])
    yield* record(itemsOf(claims))
    assert.deepStrictEqual(yield* votesOf(tasks), ["one", "two", "one", "two"])
  })

  test("goes to the others when tasks come one after the other", function* () {
    const tasks: Array<string> = []
    for (let i = 0; i < 3; i++) {
      tasks.push(yield* create([["p", ...(i === 1 ? ["b", "a"] : ["a", "b"])]], { group: "g" }))
      yield* record(itemsOf((yield* claim()).claims))
    }
    const elsewhere = [
      yield* create(one, { group: "h" }),
      yield* create(one, { group: "g", guidelines: "Be strict." }),
      yield* create([["p", "a", "c"]], { group: "g" }),
    ]
    const { claims } = yield* claim()
    assert.deepStrictEqual(ordersOf(claims), ["one two", "one two", "one two"])
    yield* record(itemsOf(claims))
    assert.deepStrictEqual(yield* votesOf([...tasks, ...elsewhere]), ["one", "two", "one", "one", "one", "one"])
  })

  test("goes to the first experts, however often, if its tasks have no group", function* () {
    const tasks: Array<string> = []
    for (const many of [1, 2]) {
      for (let i = 0; i < many; i++) tasks.push(yield* create([...one, ...one]))
      yield* record(itemsOf((yield* claim()).claims))
    }
    assert.deepStrictEqual(yield* votesOf(tasks), ["one, one", "one, one", "one, one"])
  })

  test("counts within a task, and for all experts of an item", function* () {
    const task = yield* create([...one, ...one], { group: "g" })
    const both = yield* create(one, { group: "g", votes: 2 })
    yield* record(itemsOf((yield* claim()).claims))
    assert.deepStrictEqual(yield* votesOf([task, both]), ["one, two", "one two"])
  })

  test("does not count votes of a task that was canceled", function* () {
    const { taskStore } = yield* crew()
    const canceled = yield* create([...one, ["q", "a", "b"]], { group: "g" })
    yield* record(itemsOf((yield* claim()).claims).slice(0, 1))
    yield* taskStore.cancel(canceled)
    const task = yield* create(one, { group: "g" })
    yield* record(itemsOf((yield* claim()).claims))
    assert.deepStrictEqual(yield* votesOf([task]), ["one"])
  })

  test("waits for an expert who is paused, and is checked again although the order changes", function* () {
    const first = yield* create(one, { group: "g" })
    const { claims } = yield* claim()
    assert.deepStrictEqual(tasksOf(claims), [first])
    const second = yield* create(one, { group: "g" })
    assert.isEmpty((yield* claim(only("one"))).claims)
    // The first task's vote comes from the other expert, so the order of the second task changes.
    yield* record(itemsOf(claims), () => [silent("one"), choose("two", 0)])
    assert.isEmpty((yield* claim(only("two"))).claims)
    const { claims: last } = yield* claim(only("one"))
    assert.deepStrictEqual([tasksOf(last), ordersOf(last)], [[second], ["one two"]])
  })

  test("is found by an index, however many items there are", function* () {
    const { sql } = yield* crew()
    yield* create([...one, ...one], { group: "g" })
    const plan = yield* sql<{ detail: string }>`EXPLAIN QUERY PLAN ${equalItemsOf(sql, 1)}`
    const reads = plan.map(({ detail }) => detail).filter((detail) => /^(SCAN|SEARCH)/u.test(detail))
    assert.isAbove(reads.filter((detail) => detail.includes("item_of_content")).length, 1)
    assert.isEmpty(reads.filter((detail) => detail.startsWith("SCAN") && !detail.startsWith("SCAN (")))
  })
})
