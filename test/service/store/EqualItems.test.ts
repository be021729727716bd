/** Tasks that ask for the same prompt with the same completions go to different people, as long as there are any. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { activeWithin, contentOf } from "../../../src/service/store/EqualItems.ts"
import { VoteQueue } from "../../../src/service/store/VoteQueue.ts"
import * as Support from "./support.ts"
import { create, crew, judge, next, person, results, statusOf, store, storeOver, waitingIn } from "./support.ts"
import { testOver } from "../../support/effectTest.ts"

const test = testOver(store(":memory:", { allowRepeatedVotes: false }))
const repeating = testOver(store(":memory:", { allowRepeatedVotes: true }))

/** The tasks of all items that are there for the expert, who judges them. */
const judgeAll = (expertId: string) =>
  Effect.map(Support.judgeAll(expertId), (items) => items.map(({ task }) => task.task_id))

const setAside = Effect.fnUntraced(function* (expertId: string) {
  const { item_id } = yield* next(expertId)
  yield* (yield* VoteQueue).setAside(expertId, item_id, { kind: "skip", reason: "" })
})

/** What becomes of the item that comes next for a person. */
const leaves = [
  ["judged", (expertId: string) => Effect.asVoid(judge(expertId, "a"))],
  ["set aside", setAside],
] as const

const nothingFor = Effect.fnUntraced(function* (expertId: string) {
  assert.isTrue(Option.isNone(yield* (yield* VoteQueue).next(expertId)))
})

const votersOf = (task: string) =>
  Effect.map(results(task), ([result]) =>
    result.annotations.votes.map((vote: { readonly expert: string }) => vote.expert),
  )

const [abc, bca, cab] = [
  ["p", "a", "b", "c"],
  ["p", "b", "c", "a"],
  ["p", "c", "a", "b"],
] as const

/** Three tasks of one item, as a client asks for three votes. */
const threeTasks = Effect.forEach([abc, bca, cab], (item) => create([item]))

describe("a content", () => {
  const key = (prompt: string, ...completions: ReadonlyArray<string>) =>
    contentOf("default", {}, { prompt, completions })

  it("is the same in whatever order its completions stand", () => {
    assert.strictEqual(key("p", "a", "b", "c"), key("p", "c", "a", "b"))
  })

  it("is another with another prompt, completion, number of the same completion, organization, guidelines, or group", () => {
    const keys = [
      key("p", "a", "b"),
      key("q", "a", "b"),
      key("p", "a", "c"),
      key("p", "a", "a", "b"),
      key("p", "a", "b", "b"),
      key("p", "ab"),
      contentOf("other", {}, { prompt: "p", completions: ["a", "b"] }),
      contentOf("default", { guidelines: "" }, { prompt: "p", completions: ["a", "b"] }),
      contentOf("default", { guidelines: "Be strict." }, { prompt: "p", completions: ["a", "b"] }),
      contentOf("default", { group: "week-48, campaign 2" }, { prompt: "p", completions: ["a", "b"] }),
    ]
    assert.lengthOf([...new Set(keys)], keys.length)
  })

  it("is a whole number that JSON and SQLite keep", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.array(fc.string({ unit: "binary" })), (prompt, completions) => {
        const content = contentOf("default", {}, { prompt, completions })
        assert.isTrue(Number.isSafeInteger(content) && content >= 0)
      }),
    )
  })
})

describe("tasks that ask for the same", () => {
  test("go to different people, however long one of them works alone", function* () {
    const { ann, bob, cem } = yield* crew("ann", "bob", "cem")
    const tasks = yield* threeTasks
    assert.deepStrictEqual(yield* judgeAll(ann), [tasks[0]])
    assert.deepStrictEqual(yield* judgeAll(bob), [tasks[1]])
    assert.deepStrictEqual(yield* judgeAll(cem), [tasks[2]])
    assert.deepStrictEqual(yield* Effect.forEach(tasks, votersOf), [[ann], [bob], [cem]])
  })

  repeating("and that one has passed are there again once everybody has met the content", function* () {
    const { ann, bob, queue } = yield* crew("ann", "bob")
    const tasks = yield* threeTasks
    assert.deepStrictEqual(yield* judgeAll(ann), [tasks[0]])
    const held = yield* next(bob)
    assert.deepStrictEqual(yield* judgeAll(ann), [tasks[2]])
    yield* queue.setAside(bob, held.item_id, { kind: "skip", reason: "" })
    assert.deepStrictEqual(yield* judgeAll(ann), [tasks[1]])
  })

  test("wait for another expert once everybody has judged one of them, which the queue tells", function* () {
    const { ann, bob, queue } = yield* crew("ann", "bob")
    const tasks = yield* Effect.forEach([abc, bca, cab], (item) => create([item], { group: "job, campaign 1" }))
    assert.deepStrictEqual(yield* judgeAll(ann), [tasks[0]])
    const waiting = Effect.map(queue.groups(), ({ groups }) => groups.map((group) => group.waiting))
    assert.deepStrictEqual(yield* waiting, [0])
    assert.deepStrictEqual(yield* judgeAll(bob), [tasks[1]])
    yield* nothingFor(ann)
    yield* nothingFor(bob)
    assert.deepStrictEqual(yield* waiting, [1])
    const cem = yield* person("cem")
    assert.deepStrictEqual(yield* waiting, [0])
    assert.deepStrictEqual(yield* judgeAll(cem), [tasks[2]])
    assert.deepStrictEqual(yield* Effect.forEach(tasks, statusOf), ["completed", "completed", "completed"])
  })

  for (const [how, leave] of leaves) {
    test(`and are one task with more votes than there are people wait once everybody has ${how} it`, function* () {
      const { ann, bob, queue } = yield* crew("ann", "bob")
      const task = yield* create([abc, ["other", "a", "b"]], { votes: 3, group: "job, campaign 1" })
      const waiting = Effect.gen(function* () {
        return [(yield* queue.groups()).groups[0]!.waiting, yield* waitingIn(task)]
      })
      for (const expertId of [ann, bob]) {
        assert.deepStrictEqual(yield* waiting, [0, 0])
        yield* leave(expertId)
      }
      assert.deepStrictEqual(yield* waiting, [1, 1])
      const cem = yield* person("cem")
      assert.deepStrictEqual(yield* waiting, [0, 0])
      yield* judgeAll(cem)
      assert.deepStrictEqual(yield* waiting, how === "judged" ? [0, 0] : [1, 1])
    })
  }

  for (const voters of ["people", undefined] as const) {
    test(`wait in a further task for ${voters ?? "anybody"} that all people have judged before, whether anybody asks or not`, function* () {
      const { ann, bob } = yield* crew("ann", "bob")
      const group = "job, campaign 1"
      const first = yield* create([abc], { group, votes: 2 })
      const further = yield* create([abc], { group, voters })
      assert.deepStrictEqual(yield* Effect.forEach([ann, bob], judgeAll), [[first], [first]])
      assert.deepStrictEqual([yield* statusOf(further), yield* waitingIn(further)], ["pending", 1])
      const later = yield* create([bca], { group, voters })
      assert.deepStrictEqual([yield* statusOf(later), yield* waitingIn(later)], ["pending", 1])
    })
  }

  test("do not wait for people while an automatic expert may still vote", function* () {
    const { ann, experts } = yield* crew("ann")
    yield* experts.ensure("judge:a", "judge")
    const task = yield* create([abc], { votes: 2 })
    yield* judgeAll(ann)
    assert.strictEqual(yield* waitingIn(task), 0)
    yield* experts.employ({ ...experts.staff(), names: [] })
    assert.strictEqual(yield* waitingIn(task), 1)
  })

  test("are free again after a restart that allows repeated votes, or with gold answers that it did not know", function* () {
    const { ann, sql } = yield* crew("ann")
    const tasks = yield* threeTasks
    assert.deepStrictEqual(yield* judgeAll(ann), [tasks[0]])
    const restarted = (options: Parameters<typeof storeOver>[0]) =>
      Effect.provide(judgeAll(ann), storeOver(options).pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, sql))), {
        local: true,
      })
    assert.deepStrictEqual(yield* restarted({ allowRepeatedVotes: false }), [])
    const goldAnswer = () => Option.some(0)
    assert.deepStrictEqual(yield* restarted({ allowRepeatedVotes: false, goldAnswer }), [tasks[1], tasks[2]])
    const again = yield* threeTasks
    assert.deepStrictEqual(yield* restarted({ allowRepeatedVotes: true }), again)
  })

  test("wait across the tasks and jobs of a group, however many votes each asks for", function* () {
    const { ann, bob, cem, dan, sql } = yield* crew("ann", "bob", "cem", "dan")
    const group = "shared"
    yield* create([["other", "a", "b"], abc], { group, votes: 2 })
    yield* create([bca], { group, votes: 2 })
    yield* create([cab], { group, votes: 1 })
    yield* Effect.forEach([ann, bob, cem, dan], judgeAll)
    const [counts] = yield* sql`SELECT COUNT(*) AS votes, COUNT(DISTINCT expert_no) AS experts
      FROM vote JOIN item USING (item_id) JOIN item_text USING (item_id) WHERE prompt = 'p'`
    assert.deepStrictEqual(counts, { votes: 4, experts: 4 })
  })

  for (const [how, leave] of leaves) {
    test(`go again to a person who has ${how} one of them, after its task was canceled`, function* () {
      const { ann, taskStore } = yield* crew("ann")
      const task = yield* create([abc, ["other", "a", "b"]])
      yield* leave(ann)
      yield* taskStore.cancel(task)
      const again = yield* create([bca])
      assert.deepStrictEqual(yield* judgeAll(ann), [again])
      const [result] = yield* results(again)
      assert.notProperty(result.annotations.votes[0], "repeated")
    })
  }

  test("do not go again to a person who judged one, although an item that the person had set aside is returned in a canceled task", function* () {
    const { ann, queue, taskStore } = yield* crew("ann")
    const canceled = yield* create([abc])
    yield* setAside(ann)
    yield* taskStore.cancel(canceled)
    const tasks = [yield* create([bca]), yield* create([cab])]
    assert.deepStrictEqual(yield* judgeAll(ann), [tasks[0]])
    yield* queue.returnItem(canceled, 0)
    yield* nothingFor(ann)
  })

  repeating("are for one person alone, if there is nobody else", function* () {
    const ann = yield* person("ann")
    const tasks = yield* threeTasks
    assert.deepStrictEqual(yield* judgeAll(ann), tasks)
    const repeated = yield* Effect.forEach(tasks, (task) =>
      Effect.map(results(task), ([result]) => result.annotations.votes[0].repeated),
    )
    assert.deepStrictEqual(repeated, [undefined, true, true])
  })

  repeating("are no reason to wait for who stays away, until he or she is here again", function* () {
    const { ann, bob, experts, queue, sql } = yield* crew("ann", "bob")
    const tasks = yield* threeTasks
    assert.deepStrictEqual(yield* judgeAll(ann), [tasks[0]])
    yield* experts.touch(bob)
    const { last_seen_at } = yield* Effect.flatMap(experts.find(bob), Effect.fromOption)
    // Without the minutes between.
    const goneFor = (millis: number) =>
      Effect.andThen(
        sql`UPDATE expert SET last_seen_at = ${last_seen_at! - millis} WHERE expert_id = ${bob}`,
        queue.releaseExpired,
      )
    yield* goneFor(Duration.toMillis(activeWithin) - 1)
    yield* nothingFor(ann)
    yield* goneFor(Duration.toMillis(activeWithin))
    yield* judge(ann, "a")
    assert.strictEqual(yield* statusOf(tasks[1]!), "completed")
    yield* TestClock.adjust("1 minute")
    yield* experts.touch(bob)
    yield* nothingFor(ann)
    assert.deepStrictEqual(yield* judgeAll(bob), [tasks[2]])
  })

  repeating("go to others after a restart, too", function* () {
    const { ann, bob, sql } = yield* crew("ann", "bob")
    const tasks = yield* threeTasks
    assert.deepStrictEqual(yield* judgeAll(ann), [tasks[0]])
    const again = storeOver({ allowRepeatedVotes: true }).pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, sql)))
    yield* Effect.gen(function* () {
      yield* nothingFor(ann)
      assert.deepStrictEqual((yield* judge(bob, "a")).task.task_id, tasks[1])
      assert.deepStrictEqual(yield* judgeAll(ann), [tasks[2]])
    }).pipe(Effect.provide(again, { local: true }))
  })
})
