import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { VoteQueue } from "../../../src/service/store/VoteQueue.ts"
import * as Support from "./support.ts"
import { create, crew, judgeAll, next, person, prompts, store, voteFor } from "./support.ts"
import { testOver } from "../../support/effectTest.ts"

const test = testOver(store(":memory:"))

const judge = (expertId: string) => Effect.map(Support.judge(expertId, "a"), ({ prompt }) => prompt)
/** The prompts that the expert gets until nothing is left. */
const all = (expertId: string) => Effect.map(judgeAll(expertId), (items) => items.map(({ prompt }) => prompt))
const group = (name: string, prompts: ReadonlyArray<string>, votes = 1) =>
  create(
    prompts.map((prompt) => [prompt, "a", "b"] as const),
    { group: name, votes },
  )
const set = (groupId: string, priority: "urgent" | "high" | "normal" | "low", experts?: ReadonlyArray<string>) =>
  VoteQueue.use((queue) => queue.setGroup({ groupId, priority, experts }))

describe("priority of groups", () => {
  test("is the order of the queue, and among equal ones the oldest item is first", function* () {
    const eva = yield* person("eva")
    yield* group("a", ["a1", "a2"])
    yield* group("b", ["b1"])
    yield* group("c", ["c1"])
    yield* group("d", ["d1"])
    yield* group("e", ["e1"])
    yield* set("a", "low")
    yield* set("c", "urgent")
    yield* set("d", "high")
    yield* set("e", "high")
    // A task that joins later is in its group's place.
    yield* group("c", ["c2"])
    const { groups } = yield* VoteQueue
    assert.deepStrictEqual(
      (yield* groups()).groups.map(({ group_id, priority, tasks }) => [group_id, priority, tasks]),
      [
        ["c", "urgent", 2],
        ["d", "high", 1],
        ["e", "high", 1],
        ["b", "normal", 1],
        ["a", "low", 1],
      ],
    )
    assert.deepStrictEqual(yield* all(eva), ["c1", "c2", "d1", "e1", "b1", "a1", "a2"])
  })

  test("of a group whose items an expert has passed already, and back again", function* () {
    const { eva, max } = yield* crew("eva", "max")
    yield* group("a", ["a1", "a2"], 2)
    yield* group("b", ["b1"], 2)
    assert.deepStrictEqual(yield* all(eva), ["a1", "a2", "b1"])
    yield* set("b", "high")
    assert.strictEqual(yield* judge(max), "b1")
    yield* set("a", "high")
    assert.strictEqual(yield* judge(max), "a1")
    yield* set("a", "normal")
    yield* group("c", ["c1"])
    assert.deepStrictEqual(yield* all(max), ["a2", "c1"])
    assert.deepStrictEqual(yield* all(eva), [])
  })

  test("an abandoned item returns to its place in its lane", function* () {
    const { eva, max, queue } = yield* crew("eva", "max")
    yield* group("a", ["a1", "a2"])
    yield* set("a", "high")
    yield* next(eva)
    assert.strictEqual(yield* judge(max), "a2")
    assert.deepStrictEqual(yield* all(max), [])
    yield* TestClock.adjust("31 minutes")
    yield* queue.releaseExpired
    assert.strictEqual(yield* judge(max), "a1")
  })
})

describe("an assigned group", () => {
  test("goes only to its experts, in the order of age with what is for all", function* () {
    const { eva, max } = yield* crew("eva", "max")
    yield* group("a", ["a1"])
    yield* group("b", ["b1", "b2"])
    yield* group("c", ["c1"])
    yield* set("b", "normal", [max])
    assert.deepStrictEqual(yield* all(eva), ["a1", "c1"])
    assert.deepStrictEqual(yield* all(max), ["b1", "b2"])
  })

  test("is taken from who holds it, and given back by a change", function* () {
    const { eva, max, queue } = yield* crew("eva", "max")
    yield* group("a", ["a1", "a2"])
    const held = yield* next(eva)
    yield* set("a", "normal", [max])
    const late = yield* Effect.flip(queue.vote(eva, held.item_id, voteFor(held, "a")))
    assert.strictEqual(late._tag, "Conflict")
    assert.deepStrictEqual(yield* all(eva), [])
    assert.strictEqual(yield* judge(max), "a1")
    yield* set("a", "normal", [eva])
    assert.deepStrictEqual(yield* all(max), [])
    assert.strictEqual(yield* judge(eva), "a2")
  })

  test("waits for its own experts alone where a prompt is asked for twice", function* () {
    const { eva } = yield* crew("eva", "max")
    yield* group("a", ["same"])
    yield* group("a", ["same"])
    // Max, who has not seen it, is not asked: Eva judges both.
    yield* set("a", "normal", [eva])
    assert.deepStrictEqual(yield* all(eva), ["same", "same"])
  })

  test("is not claimed for other automatic experts", function* () {
    const { experts, queue } = yield* crew()
    yield* experts.ensure("first")
    yield* experts.ensure("last")
    yield* group("a", ["a1"])
    yield* group("b", ["b1"])
    yield* set("a", "normal", ["last"])
    const claimed = Effect.fnUntraced(function* (experts: ReadonlyArray<string>) {
      const asking = { experts, tasks: 10, createdBefore: 1, isAvailable: () => true }
      const { claims, unanswered } = yield* queue.claim(asking)
      assert.deepStrictEqual(unanswered, [])
      return claims.map(({ items }) => [items[0]!.prompt.prompt, items[0]!.experts])
    })
    assert.deepStrictEqual(yield* claimed(["first"]), [["b1", ["first"]]])
    yield* set("a", "normal", ["first", "last"])
    assert.deepStrictEqual(yield* claimed(["first", "last"]), [["a1", ["first", "last"]]])
  })

  test("a group or an expert that does not exist is an error, and changes nothing", function* () {
    yield* group("a", ["a1"])
    assert.strictEqual((yield* Effect.flip(set("b", "high")))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(set("a", "high", ["nobody"])))._tag, "NotFound")
    const { groups } = yield* (yield* VoteQueue).groups()
    assert.deepInclude(groups[0], { group_id: "a", priority: "normal", assigned: null, votes: 0, votes_needed: 1 })
  })

  test("tasks without a group are listed, the oldest first, page by page; those with settings in front", function* () {
    const { queue, taskStore } = yield* crew()
    const ids = yield* Effect.forEach(Array.from({ length: 120 }), (_, i) =>
      create([[`p${i}`, "a", "b"], ...prompts(1)], { votes: 2 }),
    )
    yield* group("a", ["a1"])
    yield* set(ids[110]!, "high")
    yield* queue.pauseGroup(ids[3]!, true)
    yield* taskStore.cancel(ids[0]!)
    const first = yield* queue.groups()
    assert.lengthOf(first.groups, 1)
    const [urgent, paused] = [ids[110]!, ids[3]!]
    const normal = ids.filter((id) => id !== urgent && id !== paused).slice(1)
    assert.deepStrictEqual(
      first.tasks.map(({ group_id }) => group_id),
      [urgent, ids[1]!, ids[2]!, paused, ...normal.slice(2, 50)],
    )
    assert.deepInclude(first.tasks[0], { priority: "high", paused: false, votes: 0, votes_needed: 4, prompt: "p110" })
    assert.isTrue(first.tasks[3]!.paused)
    const second = yield* queue.groups({ after: first.next! })
    const third = yield* queue.groups({ after: second.next! })
    assert.isNull(third.next)
    assert.deepStrictEqual(
      [...second.tasks, ...third.tasks].map(({ group_id }) => group_id),
      normal.slice(50),
    )
  })
})
