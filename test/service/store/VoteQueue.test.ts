import { assert, describe } from "@effect/vitest"
import { Duration, Effect, Fiber, Latch, Option } from "effect"
import { TestClock } from "effect/testing"
import type { Vote } from "../../../src/domain/Vote.ts"
import { Database } from "../../../src/service/database/Database.ts"
import { counted } from "./recount.ts"
import { create, crew, draftOf, judge, makeEvents, next, orderOf } from "./support.ts"
import { person, prompts, results, statusOf, store, voteFor } from "./support.ts"
import { testOver } from "../../support/effectTest.ts"

const test = testOver(store(":memory:"))

describe("the next item", () => {
  test("is shown to as many experts as votes are asked for, at once", function* () {
    const { ann, bob, cem, queue } = yield* crew("ann", "bob", "cem")
    yield* create([["p", "a", "b"]], { votes: 2 })
    const held = yield* Effect.forEach([ann, bob, cem], queue.next, { concurrency: 3 })
    assert.deepStrictEqual(held.map(Option.isSome), [true, true, false])
  })

  test("is none for who is not active, or not known", function* () {
    const { ann, experts, queue } = yield* crew("ann")
    yield* create(prompts(1))
    yield* experts.setActive(ann, false)
    assert.isTrue(Option.isNone(yield* queue.next(ann)))
    assert.isTrue(Option.isNone(yield* queue.next("expert_nobody")))
    yield* experts.setActive(ann, true)
    assert.isTrue(Option.isSome(yield* queue.next(ann)))
  })
})

test("the order shown is drawn for each expert and item, each permutation alike", function* () {
  const ann = yield* person("ann")
  yield* create(Array.from({ length: 300 }, (_, i) => [`p${i}`, "a", "b", "c"] as const))
  const counts = new Map<string, number>()
  for (let i = 0; i < 300; i++) {
    const shown = (yield* judge(ann, "a")).completions.join("")
    counts.set(shown, (counts.get(shown) ?? 0) + 1)
  }
  // 50 each are expected; the chance of fewer than 20 or more than 80 is below one in 10,000.
  assert.deepStrictEqual([...counts.keys()].toSorted(), ["abc", "acb", "bac", "bca", "cab", "cba"])
  for (const count of counts.values()) assert.isTrue(count > 20 && count < 80, JSON.stringify([...counts]))
})

describe("what is held too long", () => {
  test("goes to others, and the vote that comes too late is refused", function* () {
    const { ann, bob, queue } = yield* crew("ann", "bob")
    yield* create([["p", "a", "b"]])
    const item = yield* next(ann)
    yield* TestClock.adjust("29 minutes")
    assert.isTrue(Option.isNone(yield* queue.next(bob)))
    yield* queue.saveDraft(ann, item.item_id, draftOf("still here"))
    yield* TestClock.adjust("29 minutes")
    assert.isTrue(Option.isNone(yield* queue.next(bob)))
    const { held_until } = yield* next(ann)
    assert.strictEqual(held_until, Duration.toMillis("88 minutes"))
    yield* TestClock.setTime(held_until - 1)
    yield* queue.releaseExpired
    assert.isTrue(Option.isNone(yield* queue.next(bob)))
    yield* TestClock.setTime(held_until)
    yield* queue.releaseExpired
    const taken = yield* next(bob)
    assert.strictEqual(taken.item_id, item.item_id)
    assert.isNull(taken.draft, "a draft is its author's")
    assert.strictEqual((yield* Effect.flip(queue.vote(ann, item.item_id, voteFor(item, "a"))))._tag, "Conflict")
    assert.strictEqual((yield* Effect.flip(queue.saveDraft(ann, item.item_id, draftOf("late"))))._tag, "Conflict")
    yield* queue.vote(bob, taken.item_id, voteFor(taken, "b"))
  })

  test("comes before what the expert has not seen", function* () {
    const { ann, bob, queue } = yield* crew("ann", "bob")
    yield* create(prompts(5))
    const abandoned = yield* next(ann)
    for (let i = 0; i < 2; i++) yield* judge(bob, "a")
    yield* queue.release(ann)
    assert.strictEqual((yield* next(bob)).item_id, abandoned.item_id)
  })
})

describe("a vote", () => {
  test("has a rationale that any database keeps, and no more seconds than have passed", function* () {
    const { ann, queue } = yield* crew("ann")
    const task = yield* create(prompts(1))
    const item = yield* next(ann)
    yield* TestClock.adjust("3 seconds")
    yield* queue.vote(ann, item.item_id, voteFor(item, "a", " For a.\0 \ud800"))
    const [result] = yield* results(task)
    assert.deepInclude(result.annotations.votes[0], { rationale: " For a.\ufffd \ufffd", seconds: 3 })
  })

  const { layer: webhooks, wakes } = makeEvents()
  testOver(store(":memory:", { webhooks }))(
    "that ends a task tells the webhooks, even when nobody waits for it any more",
    function* () {
      const { write } = yield* Database
      const { ann, queue, taskStore } = yield* crew("ann")
      const tasks = [yield* create([["p", "a", "b"]], { votes: 2 }), yield* create([["p", "a", "b"]])]
      yield* judge(ann, "a")
      assert.strictEqual(wakes(), 0)
      const item = yield* next(ann)
      const released = yield* Latch.make()
      yield* Effect.forkChild(write(released.await))
      const voting = yield* Effect.forkChild(queue.vote(ann, item.item_id, voteFor(item, "a")))
      yield* Effect.repeat(Effect.yieldNow, { times: 50 })
      const interrupted = yield* Effect.forkChild(Fiber.interrupt(voting))
      yield* Effect.repeat(Effect.yieldNow, { times: 50 })
      yield* released.open
      yield* Fiber.join(interrupted)
      assert.strictEqual(yield* statusOf(tasks[1]!), "completed")
      assert.strictEqual(wakes(), 1)
      yield* taskStore.cancel(tasks[0]!)
      assert.strictEqual(wakes(), 2)
    },
  )
})

test("an item that was flagged comes back with its order and draft, and its result keeps the flag", function* () {
  const { ann, queue } = yield* crew("ann")
  const task = yield* create([["p", "a", "b"]])
  const item = yield* next(ann)
  yield* queue.saveDraft(ann, item.item_id, draftOf("a draft"))
  yield* queue.setAside(ann, item.item_id, { kind: "flag", problem: "other", comment: "Both are wrong.\0" })
  assert.isTrue(Option.isNone(yield* queue.next(ann)))
  yield* queue.returnItem(task, 0)
  const again = yield* judge(ann, "a")
  assert.deepStrictEqual([again.completions, again.draft], [item.completions, draftOf("a draft")])
  const [{ annotations }] = yield* results(task)
  assert.deepStrictEqual(annotations.flags, [{ expert: ann, kind: "other", comment: "Both are wrong.\uFFFD" }])
})

describe("undo", () => {
  const { events, test } = counted({ undoGrace: "30 seconds" })
  const isCompleted = (task: string) => Effect.repeat(statusOf(task), { until: (status) => status === "completed" })

  test("lasts 30 seconds longer than a task's last vote", function* () {
    const { ann, bob, queue } = yield* crew("ann", "bob")
    const task = yield* create([["p", "a", "b"]], { votes: 2 })
    yield* judge(ann, "a")
    yield* TestClock.adjust("1 minute")
    yield* judge(bob, "a")
    assert.isTrue((yield* queue.progress(bob)).undoable)
    yield* TestClock.adjust("29 seconds")

    // Taken back by one who voted earlier: it waits for that vote as long as need be.
    yield* queue.undo(ann)
    yield* TestClock.adjust("5 minutes")
    assert.strictEqual(yield* statusOf(task), "in_progress")
    yield* judge(ann, "b")
    yield* TestClock.adjust("29 seconds")
    assert.strictEqual(yield* statusOf(task), "in_progress")
    assert.lengthOf(events, 0)
    yield* TestClock.adjust("1 second")
    yield* isCompleted(task)
    assert.deepStrictEqual(events, [{ organization: "default", groupId: task, taskIds: [task] }])
    const [result] = yield* results(task)
    const choices = result.annotations.votes.map(({ choice }: Vote) => choice)
    assert.deepStrictEqual(choices, [0, 1])
    assert.strictEqual((yield* Effect.flip(queue.undo(ann)))._tag, "Conflict")
  })

  test("a correction begins the 30 seconds again, and never changes a completed task", function* () {
    const { ann, queue } = yield* crew("ann")
    const task = yield* create([["p", "a", "b"]])
    const item = yield* judge(ann, "a")
    yield* TestClock.adjust("29 seconds")
    yield* queue.correct(ann, item.item_id, voteFor(item, "b"))
    yield* TestClock.adjust("29 seconds")
    assert.strictEqual(yield* statusOf(task), "in_progress")
    yield* TestClock.adjust("1 second")
    yield* isCompleted(task)
    const [result] = yield* results(task)
    assert.strictEqual(result.best_completion_index, 1)
    assert.lengthOf(result.annotations.votes, 1)
    assert.strictEqual((yield* Effect.flip(queue.correct(ann, item.item_id, voteFor(item, "a"))))._tag, "Conflict")
    assert.deepStrictEqual(yield* results(task), [result])
  })

  test("keeps a damaged task from blocking others", function* () {
    const { ann, sql } = yield* crew("ann")
    const { write } = yield* Database
    const damaged = yield* create([["p", "a", "b"]])
    const other = yield* create([["q", "a", "b"]])
    for (let given = 0; given < 2; given++) yield* judge(ann, "a")
    const seqs = yield* sql<{ seq: number }>`SELECT seq FROM task WHERE task_id = ${damaged}`
    yield* write(sql`CREATE TRIGGER damage BEFORE INSERT ON task_result WHEN NEW.seq = ${sql.literal(String(seqs[0]!.seq))}
        BEGIN SELECT RAISE(ABORT, 'damaged'); END`)
    // The wait may begin after the clock was set: it goes on until the task is completed.
    const completion = (task: string) =>
      Effect.andThen(TestClock.adjust("1 second"), statusOf(task)).pipe(
        Effect.repeat({ until: (status) => status === "completed" }),
      )
    yield* TestClock.adjust("29 seconds")
    yield* completion(other)
    assert.strictEqual(yield* statusOf(damaged), "in_progress")
    yield* write(sql`DROP TRIGGER damage`)
    yield* TestClock.adjust("10 minutes")
    yield* completion(damaged)
  })
})

test("a correction keeps the time and the day of its vote, and is stored once, however often it is sent", function* () {
  const { ann, desk, queue, sql } = yield* crew("ann")
  yield* create([["p", "a", "b"]], { votes: 2 })
  const item = yield* judge(ann, "a")
  const [first] = yield* queue.judgments(ann)
  yield* TestClock.adjust("1 day")
  const replaced = Effect.map(sql`SELECT choice FROM replaced_vote`, (rows) => rows.length)
  const correction = voteFor(item, "b")
  yield* queue.correct(ann, item.item_id, voteFor(item, "a", "a is right"))
  assert.strictEqual(yield* replaced, 0)
  yield* queue.correct(ann, item.item_id, correction)
  yield* TestClock.adjust("1 second")
  yield* queue.correct(ann, item.item_id, correction)
  assert.strictEqual(yield* replaced, 1)
  const [judgment] = yield* queue.judgments(ann)
  assert.deepInclude(judgment, { given_at: first!.given_at, ranking: [[correction.best!]] })
  assert.deepInclude(yield* queue.progress(ann), { judged: 1, judged_today: 0 })
  const shown = yield* Effect.flatMap(desk.expert(ann), Effect.fromOption)
  assert.deepStrictEqual(shown.days, [{ day: 0, votes: 1 }])
})

test("progress counts today's votes from midnight on", function* () {
  const { ann, queue } = yield* crew("ann")
  yield* create(prompts(3), { votes: 2 })
  yield* judge(ann, "a")
  yield* TestClock.adjust("23 hours")
  yield* judge(ann, "a")
  assert.deepInclude(yield* queue.progress(ann), { judged: 2, judged_today: 2, needed: 4, undoable: true })
  yield* TestClock.adjust("1 hour")
  assert.deepInclude(yield* queue.progress(ann), { judged: 2, judged_today: 0 })
  yield* judge(ann, "a")
  assert.deepInclude(yield* queue.progress(ann), { judged: 3, judged_today: 1, needed: 3 })
  yield* queue.undo(ann)
  assert.deepInclude(yield* queue.progress(ann), { judged: 2, judged_today: 0 })
  // Yesterday's vote is no part of today's count.
  yield* queue.undo(ann)
  assert.deepInclude(yield* queue.progress(ann), { judged: 1, judged_today: 0 })
})

testOver(store(":memory:", { goldAnswer: () => Option.some(2) }))(
  "a gold answer is known by its text, which may stand there twice",
  function* () {
    const { ann, experts, queue } = yield* crew("ann")
    yield* create([["p", "same", "other", "same"]])
    const item = yield* next(ann)
    const best = (yield* orderOf(item)).indexOf(0)
    yield* queue.vote(ann, item.item_id, { best, ranking: null, rationale: "", seconds: 1 })
    const [row] = yield* experts.list()
    assert.deepInclude(row, { gold: { of: 1, right: 1 } })
  },
)

test("when an expert was here is written once a minute", function* () {
  const { ann, experts } = yield* crew("ann")
  const start = Duration.toMillis("1 day")
  const seen: Array<number | null> = []
  for (const millis of [0, 1, 59_999, 60_000, 60_001]) {
    yield* TestClock.setTime(start + millis)
    yield* experts.touch(ann)
    seen.push((yield* Effect.flatMap(experts.find(ann), Effect.fromOption)).last_seen_at)
  }
  assert.deepStrictEqual(seen, [start, start, start, start + 60_000, start + 60_000])
})

test("the way to the next item does not grow with what the expert has judged and others still have to", function* () {
  const { ann, bob, queue, sql } = yield* crew("ann", "bob")
  yield* create(prompts(200), { votes: 2 })
  yield* Effect.repeat(judge(ann, "a"), { times: 99 })
  // All 100 are open still, for Bob; none of them is looked at for Ann.
  const [row] = yield* sql<{ item_cursor: number; last: number }>`
        SELECT item_cursor, (SELECT MAX(item_id) FROM vote) AS last FROM expert WHERE expert_id = ${ann}`
  assert.strictEqual(row!.item_cursor, row!.last)
  // What Bob leaves is offered to Ann only if she has not judged it.
  const item = yield* next(bob)
  yield* queue.setAside(bob, item.item_id, { kind: "skip", reason: "" })
  assert.strictEqual((yield* judge(ann, "a")).task.number, 101)
})
