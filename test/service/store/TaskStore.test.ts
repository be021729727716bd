import { assert, describe } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { counted } from "./recount.ts"
import { create, crew, detailOf, judge, next, prompts, statusOf, voteFor } from "./support.ts"

const { events, test } = counted()

const one = [["p", "a", "b"]] as const

test("the list of tasks says how far each is", function* () {
  const { ann, bob, queue, taskStore } = yield* crew("ann", "bob")
  yield* TestClock.adjust("1 second")
  const task = yield* create(prompts(2), { votes: 2, group: "g" })
  yield* judge(ann, "a")
  const item = yield* next(ann)
  yield* queue.setAside(ann, item.item_id, { kind: "flag", problem: "other", comment: "Odd." })
  yield* judge(bob, "a")
  const [listed] = (yield* taskStore.list({})).tasks
  assert.deepInclude(listed, { task_id: task, group_id: "g", status: "in_progress", created_at: 1_000 })
  assert.deepInclude(listed, { prompts: 2, prompts_done: 1, votes_per_prompt: 2, votes: 2, flagged: 1 })
})

const harmful = { kind: "flag", problem: "harmful_content", comment: " " } as const

describe("one task in detail", () => {
  test("shows twenty prompts at a time, with what came of them", function* () {
    const { ann, bob, taskStore } = yield* crew("ann", "bob")
    const task = yield* create(prompts(45), { votes: 2, guidelines: "Be kind." })
    yield* judge(ann, "a")
    yield* judge(bob, "b")
    const item = yield* next(ann)
    const detail = yield* detailOf(task)
    assert.deepInclude(detail, { guidelines: "Be kind.", from: 0 })
    assert.lengthOf(detail.items, 20)
    const [first, second, third] = detail.items
    assert.deepInclude(first, { index: 0, prompt: "p0", completions: ["a", "b"], done: true, held_by: [] })
    assert.deepStrictEqual(first!.result, {
      best_completion_index: 0,
      agreement: 0.5,
      tie: true,
      ranking: null,
      rationale: "a is right",
    })
    assert.deepStrictEqual(
      first!.votes.map(({ choice, expert, expert_name, rationale }) => [expert, expert_name, choice, rationale]),
      [
        [ann, "ann", 0, "a is right"],
        [bob, "bob", 1, "b is right"],
      ],
    )
    assert.strictEqual(item.task.number, 2)
    assert.deepInclude(second, { index: 1, done: false, held_by: ["ann"], result: null })
    assert.deepInclude(third, { index: 2, done: false, held_by: [], votes: [] })

    const last = yield* detailOf(task, 40)
    assert.deepStrictEqual([last.from, last.items.length, last.items[0]!.prompt], [40, 5, "p40"])
    assert.deepInclude(yield* detailOf(task, 99), { from: 45, items: [] })
    assert.deepInclude(yield* detailOf(task, -1), { from: 0 })
    assert.isTrue(Option.isNone(yield* taskStore.detail("task_nothing", 0)))
  })

  test("names where it was flagged, also when that is done", function* () {
    const { ann, bob, queue } = yield* crew("ann", "bob")
    const task = yield* create(prompts(3))
    for (let i = 0; i < 3; i++) {
      const { item_id } = yield* next(ann)
      yield* queue.setAside(ann, item_id, i === 1 ? { kind: "skip", reason: "why" } : harmful)
    }
    assert.deepStrictEqual((yield* detailOf(task)).flagged_at, [0, 2])
    yield* judge(bob, "a")
    const detail = yield* detailOf(task)
    assert.deepStrictEqual([detail.flagged_at, detail.task.flagged], [[0, 2], 2])
    assert.deepStrictEqual(detail.items[0]!.flags, [{ expert_name: "ann", kind: "harmful_content", comment: "" }])
  })
})

test("cancelling a task ends it for all who work on it", function* () {
  const { ann, queue, taskStore } = yield* crew("ann")
  const task = yield* create([...one, ...one])
  yield* judge(ann, "a")
  const item = yield* next(ann)
  assert.isTrue(yield* taskStore.cancel(task))
  assert.strictEqual(yield* statusOf(task), "cancelled")
  assert.strictEqual((yield* Effect.flip(queue.vote(ann, item.item_id, voteFor(item, "a"))))._tag, "Conflict")
  assert.isTrue(Option.isNone(yield* queue.next(ann)))
  assert.isFalse((yield* queue.progress(ann)).undoable)
  assert.isFalse(yield* taskStore.cancel(task))
})

describe("a group", () => {
  const told = () => events.splice(0).map(({ groupId, taskIds }) => [groupId, ...taskIds])

  test("is announced once, when its last task is finished, cancelled ones among them", function* () {
    const { ann, taskStore } = yield* crew("ann")
    const tasks = yield* Effect.forEach([1, 2, 3], () => create(one, { group: "g" }))
    yield* judge(ann, "a")
    yield* taskStore.cancel(tasks[1]!)
    assert.deepStrictEqual(told(), [])
    yield* judge(ann, "a")
    assert.deepStrictEqual(told(), [["g", ...tasks]])
  })

  for (const sizes of [
    [2, 3, undefined],
    [3, 2, 1],
    [undefined, 3, 1],
  ]) {
    test(`is not announced before it has the greatest of its sizes: ${sizes.join(", ")}`, function* () {
      const { ann } = yield* crew("ann")
      const tasks: Array<string> = []
      // All of them are open until the last is there: without a size, one task is a whole group.
      for (const groupSize of sizes) {
        tasks.push(yield* create(one, { group: "g", ...(groupSize !== undefined && { groupSize }) }))
        assert.deepStrictEqual(told(), [])
        if (sizes[0] !== undefined) yield* judge(ann, "a")
      }
      if (sizes[0] === undefined) for (const _ of sizes) yield* judge(ann, "a")
      assert.deepStrictEqual(told(), [["g", ...tasks]])
    })
  }

  test("is one organization's own", function* () {
    const { ann, taskStore } = yield* crew("ann")
    const taskId = yield* create(one, { group: "g", organization: "one" })
    yield* create(one, { group: "g", organization: "two" })
    yield* judge(ann, "a")
    assert.deepStrictEqual(events, [{ organization: "one", groupId: "g", taskIds: [taskId], mayGrow: true }])
    assert.isTrue(Option.isNone(yield* taskStore.find("two", taskId)))
  })
})

test("a request with a key that comes again counts once, in its group too", function* () {
  const { sql } = yield* crew()
  const options = { key: "k", group: "g", groupSize: 1 }
  assert.strictEqual(yield* create(one, options), yield* create(one, options))
  assert.deepStrictEqual(yield* sql`SELECT tasks, open FROM task_group`, [{ tasks: 1, open: 1 }])
  assert.deepStrictEqual(yield* sql`SELECT COUNT(*) AS n FROM item`, [{ n: 1 }])
})
