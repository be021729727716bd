import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Latch, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import type { Vote } from "../../../src/domain/Vote.ts"
import { Database } from "../../../src/service/database/Database.ts"
import { Experts } from "../../../src/service/store/Experts.ts"
import { TaskStore } from "../../../src/service/store/TaskStore.ts"
import { VoteQueue } from "../../../src/service/store/VoteQueue.ts"
import type { Submission } from "../../../src/service/pageApi/AnnotateApi.ts"
import { Webhooks } from "../../../src/service/webhook/Webhooks.ts"
import { create, draftOf, makeEvents, next, orderOf, results, statusOf, type Store, store, voteFor } from "./support.ts"

const test = (name: string, effect: () => Effect.Effect<unknown, unknown, Store>) =>
  it.effect(name, () => Effect.provide(effect(), store(":memory:"), { local: true }))

const person = Effect.fnUntraced(function* (name: string) {
  return (yield* (yield* Experts).create(name)).expert_id
})

const two: ReadonlyArray<readonly [string, ...ReadonlyArray<string>]> = [
  ["p1", "a", "b"],
  ["p2", "c", "d"],
]

describe("the next item", () => {
  test("is the oldest task's first prompt, and the same until it is judged", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const ann = yield* person("Ann")
      const first = yield* create(two, { guidelines: "Be kind." })
      yield* create(two)
      const item = yield* next(ann)
      assert.deepInclude(item, {
        prompt: "p1",
        guidelines: "Be kind.",
        undone: false,
        task: { task_id: first, prompts: 2, judged: 0, number: 1 },
      })
      assert.deepStrictEqual(yield* next(ann), item)
      yield* queue.vote(ann, item.item_id, voteFor(item, "a"))
      assert.deepInclude(yield* next(ann), { task: { task_id: first, prompts: 2, judged: 1, number: 2 } })
    }))

  test("is one that nobody else holds", () =>
    Effect.gen(function* () {
      const [ann, bob] = [yield* person("Ann"), yield* person("Bob")]
      yield* create(two)
      assert.strictEqual((yield* next(ann)).task.number, 1)
      assert.strictEqual((yield* next(bob)).task.number, 2)
      const cem = yield* person("Cem")
      assert.isTrue(Option.isNone(yield* (yield* VoteQueue).next(cem)))
    }))

  test("is shown to as many experts as votes are asked for, at once", () =>
    Effect.gen(function* () {
      const experts = yield* Effect.forEach(["Ann", "Bob", "Cem"], person)
      yield* create([["p", "a", "b"]], { votes: 2 })
      const queue = yield* VoteQueue
      const held = yield* Effect.forEach(experts, queue.next, { concurrency: 3 })
      assert.deepStrictEqual(held.map(Option.isSome), [true, true, false])
    }))

  test("is none for who is not active, or not known", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const ann = yield* person("Ann")
      yield* create(two)
      yield* (yield* Experts).setActive(ann, false)
      assert.isTrue(Option.isNone(yield* queue.next(ann)))
      assert.isTrue(Option.isNone(yield* queue.next("expert_nobody")))
      yield* (yield* Experts).setActive(ann, true)
      assert.isTrue(Option.isSome(yield* queue.next(ann)))
    }))

  test("puts a task in progress", () =>
    Effect.gen(function* () {
      const task = yield* create(two)
      assert.strictEqual(yield* statusOf(task), "pending")
      yield* next(yield* person("Ann"))
      assert.strictEqual(yield* statusOf(task), "in_progress")
    }))
})

describe("the order shown", () => {
  test("is drawn for each expert and item, each permutation alike", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const ann = yield* person("Ann")
      yield* create(Array.from({ length: 600 }, (_, i) => [`p${i}`, "a", "b", "c"] as const))
      const counts = new Map<string, number>()
      for (let i = 0; i < 600; i++) {
        const item = yield* next(ann)
        counts.set(item.completions.join(""), (counts.get(item.completions.join("")) ?? 0) + 1)
        yield* queue.vote(ann, item.item_id, voteFor(item, "a"))
      }
      // 100 each are expected; the chance of fewer than 60 or more than 140 is below one in 10,000.
      assert.deepStrictEqual([...counts.keys()].toSorted(), ["abc", "acb", "bac", "bca", "cab", "cba"])
      for (const count of counts.values()) assert.isTrue(count > 60 && count < 140, JSON.stringify([...counts]))
    }))

  test("and the draft are there again when the expert comes back after the time was over", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const ann = yield* person("Ann")
      yield* create([["p", ..."abcdefghijklmnop".split("")]])
      const item = yield* next(ann)
      yield* queue.saveDraft(ann, item.item_id, draftOf("half a thought"))
      yield* TestClock.adjust("31 minutes")
      assert.strictEqual((yield* Effect.flip(queue.saveDraft(ann, item.item_id, draftOf("late"))))._tag, "Conflict")
      const again = yield* next(ann)
      assert.deepStrictEqual(again.completions, item.completions)
      assert.deepStrictEqual(again.draft, draftOf("half a thought"))
    }))
})

describe("what is held too long", () => {
  test("goes to others, and the vote that comes too late is refused", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const [ann, bob] = [yield* person("Ann"), yield* person("Bob")]
      yield* create([["p", "a", "b"]])
      const item = yield* next(ann)
      yield* TestClock.adjust("29 minutes")
      assert.isTrue(Option.isNone(yield* queue.next(bob)))
      yield* queue.saveDraft(ann, item.item_id, draftOf("still here"))
      yield* TestClock.adjust("29 minutes")
      assert.isTrue(Option.isNone(yield* queue.next(bob)))
      yield* TestClock.adjust("2 minutes")
      const taken = yield* next(bob)
      assert.strictEqual(taken.item_id, item.item_id)
      assert.isNull(taken.draft, "a draft is its author's")
      assert.strictEqual((yield* Effect.flip(queue.vote(ann, item.item_id, voteFor(item, "a"))))._tag, "Conflict")
      yield* queue.vote(bob, taken.item_id, voteFor(taken, "b"))
    }))

  test("goes back to the millisecond", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const [ann, bob] = [yield* person("Ann"), yield* person("Bob")]
      yield* create([["p", "a", "b"]])
      const { held_until } = yield* next(ann)
      assert.strictEqual(held_until, Duration.toMillis("30 minutes"))
      yield* TestClock.setTime(held_until - 1)
      yield* queue.releaseExpired
      assert.isTrue(Option.isNone(yield* queue.next(bob)))
      yield* TestClock.setTime(held_until)
      yield* queue.releaseExpired
      yield* next(bob)
    }))

  test("is held for longer by whoever asks for it again", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const [ann, bob] = [yield* person("Ann"), yield* person("Bob")]
      yield* create([["p", "a", "b"]])
      yield* next(ann)
      yield* TestClock.adjust("20 minutes")
      assert.strictEqual((yield* next(ann)).held_until, Duration.toMillis("50 minutes"))
      yield* TestClock.adjust("29 minutes")
      assert.isTrue(Option.isNone(yield* queue.next(bob)))
      yield* TestClock.adjust("1 minute")
      yield* next(bob)
    }))

  test("comes before what the expert has not seen", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const [ann, bob] = [yield* person("Ann"), yield* person("Bob")]
      yield* create(Array.from({ length: 5 }, (_, i) => [`p${i}`, "a", "b"] as const))
      const abandoned = yield* next(ann)
      for (let i = 0; i < 2; i++) {
        const item = yield* next(bob)
        yield* queue.vote(bob, item.item_id, voteFor(item, "a"))
      }
      yield* queue.release(ann)
      assert.strictEqual((yield* next(bob)).item_id, abandoned.item_id)
    }))
})

describe("a vote", () => {
  test("is stored in the task's indices, with the order that was shown", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const ann = yield* person("Ann")
      const task = yield* create([["p", "a", "b", "c"]])
      const item = yield* next(ann)
      yield* TestClock.adjust("3 seconds")
      yield* queue.vote(ann, item.item_id, voteFor(item, [["c"], ["b", "a"]], " For c. "))
      const [result] = yield* results(task)
      assert.strictEqual(result.best_completion_index, 2)
      const vote = result.annotations.votes[0]
      assert.deepStrictEqual(
        vote.order.map((index: number) => "abc"[index]),
        item.completions,
      )
      assert.strictEqual(vote.choice, 2)
      assert.deepStrictEqual(vote.ranking, [[2], [1, 0]])
      assert.strictEqual(vote.rationale, " For c. ")
      assert.strictEqual(vote.expert, ann)
      assert.strictEqual(vote.seconds, 3, "no more than has passed")
    }))

  const invalid: ReadonlyArray<readonly [name: string, vote: Partial<Submission>]> = [
    ["nothing chosen", {}],
    ["a place that is not there", { best: 3 }],
    ["a negative place", { best: -1 }],
    ["a ranking that leaves one out", { ranking: [[0], [1]] }],
    ["a ranking that names one twice", { ranking: [[0], [1, 1], [2]] }],
    ["a ranking with a place that is not there", { ranking: [[0], [1], [3]] }],
    ["a choice outside the first group", { best: 1, ranking: [[0], [1], [2]] }],
  ]
  for (const [name, vote] of invalid) {
    test(`is refused with ${name}, and the item stays held`, () =>
      Effect.gen(function* () {
        const queue = yield* VoteQueue
        const ann = yield* person("Ann")
        yield* create([["p", "a", "b", "c"]])
        const item = yield* next(ann)
        const given = { best: null, ranking: null, rationale: "", seconds: 1, ...vote }
        const error = yield* Effect.flip(queue.vote(ann, item.item_id, given))
        assert.strictEqual(error._tag, "MalformedRequest")
        assert.deepStrictEqual(yield* next(ann), item)
      }))
  }

  test("has a rationale that can be stored", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const ann = yield* person("Ann")
      const task = yield* create([["p", "a", "b"]])
      const item = yield* next(ann)
      yield* queue.vote(ann, item.item_id, voteFor(item, "a", "no \0, no \ud800"))
      assert.strictEqual((yield* results(task))[0].annotations.rationale, "no \ufffd, no \ufffd")
    }))

  it.effect("that ends a task tells the webhooks, even when nobody waits for it any more", () => {
    let woken = 0
    const webhooks = Layer.mock(Webhooks, { enqueue: () => Effect.void, wake: Effect.sync(() => void woken++) })
    return Effect.gen(function* () {
      const { write } = yield* Database
      const queue = yield* VoteQueue
      const ann = yield* person("Ann")
      const tasks = [yield* create([["p", "a", "b"]], { votes: 2 }), yield* create([["p", "a", "b"]])]
      const first = yield* next(ann)
      yield* queue.vote(ann, first.item_id, voteFor(first, "a"))
      assert.strictEqual(woken, 0)
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
      assert.strictEqual(woken, 1)
      yield* (yield* TaskStore).cancel(tasks[0]!)
      assert.strictEqual(woken, 2)
    }).pipe(Effect.provide(store(":memory:", { webhooks })))
  })

  test("is refused for an item that somebody else holds", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const [ann, bob] = [yield* person("Ann"), yield* person("Bob")]
      yield* create([["p", "a", "b"]])
      const item = yield* next(ann)
      assert.strictEqual((yield* Effect.flip(queue.vote(bob, item.item_id, voteFor(item, "a"))))._tag, "Conflict")
      const why = { kind: "skip", reason: "" } as const
      assert.strictEqual((yield* Effect.flip(queue.setAside(bob, item.item_id, why)))._tag, "Conflict")
      assert.strictEqual((yield* Effect.flip(queue.saveDraft(bob, item.item_id, draftOf("x"))))._tag, "Conflict")
    }))

  test("that is the last one completes the task, and announces its group", () =>
    Effect.gen(function* () {
      const events = makeEvents()
      yield* Effect.gen(function* () {
        const queue = yield* VoteQueue
        const ann = yield* person("Ann")
        const task = yield* create(two)
        for (const best of ["b", "c"]) {
          const item = yield* next(ann)
          assert.deepStrictEqual(events.events, [])
          yield* queue.vote(ann, item.item_id, voteFor(item, best))
        }
        assert.strictEqual(yield* statusOf(task), "completed")
        assert.deepStrictEqual(
          (yield* results(task)).map((result) => [result.prompt, result.best_completion_index]),
          [
            ["p1", 1],
            ["p2", 0],
          ],
        )
        assert.deepStrictEqual(events.events, [{ organization: "default", groupId: task, taskIds: [task] }])
      }).pipe(Effect.provide(store(":memory:", { webhooks: events.layer })))
    }))
})

describe("what is set aside", () => {
  test("goes to others and does not come back, until the operator returns it", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const [ann, bob] = [yield* person("Ann"), yield* person("Bob")]
      const task = yield* create([["p", "a", "b"]])
      const item = yield* next(ann)
      yield* queue.saveDraft(ann, item.item_id, draftOf("a draft"))
      yield* queue.setAside(ann, item.item_id, { kind: "flag", problem: "other", comment: "Both are wrong.\0" })
      assert.isTrue(Option.isNone(yield* queue.next(ann)))
      const detail = yield* Effect.flatMap((yield* TaskStore).detail(task, 0), Effect.fromOption)
      assert.strictEqual(detail.task.flagged, 1)
      assert.deepStrictEqual(detail.flagged_at, [0])
      assert.deepStrictEqual(detail.items[0]!.set_aside, [{ expert_name: "Ann", kind: "flag", reason: "" }])
      assert.deepStrictEqual(detail.items[0]!.flags, [
        { expert_name: "Ann", kind: "other", comment: "Both are wrong.\uFFFD" },
      ])

      const taken = yield* next(bob)
      yield* queue.setAside(bob, taken.item_id, { kind: "skip", reason: "" })
      assert.isTrue(Option.isNone(yield* queue.next(bob)))

      yield* queue.returnItem(task, 0)
      const again = yield* next(ann)
      assert.deepStrictEqual([again.completions, again.draft], [item.completions, draftOf("a draft")])
      yield* queue.vote(ann, again.item_id, voteFor(again, "a"))
      assert.strictEqual(yield* statusOf(task), "completed")
      const [result] = yield* results(task)
      assert.deepStrictEqual(result!.annotations?.["flags"], [
        { expert: ann, kind: "other", comment: "Both are wrong.\uFFFD" },
      ])
    }))
})

describe("undo", () => {
  test("takes back vote after vote, with the vote as its draft, and keeps what was held", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const ann = yield* person("Ann")
      yield* create(Array.from({ length: 4 }, (_, i) => [`p${i}`, "a", "b", "c"] as const))
      const judged = []
      for (const best of ["a", [["b"], ["a", "c"]]] as const) {
        const item = yield* next(ann)
        yield* TestClock.adjust("7 seconds")
        yield* queue.vote(ann, item.item_id, voteFor(item, best, `why ${judged.length}`))
        judged.push(item)
      }
      const third = yield* next(ann)
      yield* queue.saveDraft(ann, third.item_id, draftOf("third"))

      const second = yield* queue.undo(ann)
      assert.deepInclude(second, { item_id: judged[1]!.item_id, undone: true, completions: judged[1]!.completions })
      const { ranking, rationale } = voteFor(second, [["b"], ["a", "c"]], "why 1")
      assert.deepInclude(
        { ...second.draft },
        { mode: "rank", best: ranking![0]![0], ranking: ranking!, rationale, seconds: 5 },
      )
      const first = yield* queue.undo(ann)
      assert.strictEqual(first.item_id, judged[0]!.item_id)
      assert.strictEqual((yield* Effect.flip(queue.undo(ann)))._tag, "Conflict")
      assert.deepStrictEqual(yield* queue.progress(ann), {
        judged: 0,
        judged_today: 0,
        needed: 4,
        undoable: false,
        stopped: null,
      })

      // Back again, the last one first.
      for (const expected of [first, second, third]) {
        const item = yield* next(ann)
        assert.strictEqual(item.item_id, expected.item_id)
        yield* queue.vote(ann, item.item_id, voteFor(item, "c"))
      }
      assert.strictEqual((yield* queue.progress(ann)).judged, 3)
    }))

  test("ends with the task", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const ann = yield* person("Ann")
      yield* create([["p", "a", "b"]])
      const item = yield* next(ann)
      yield* queue.vote(ann, item.item_id, voteFor(item, "a"))
      assert.isFalse((yield* queue.progress(ann)).undoable)
      assert.strictEqual((yield* Effect.flip(queue.undo(ann)))._tag, "Conflict")
    }))

  const { events, layer: webhooks } = makeEvents()
  it.effect("lasts a grace time longer than a task's last vote: the task is not completed before", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const [ann, bob] = [yield* person("Ann"), yield* person("Bob")]
      const task = yield* create([["p", "a", "b"]], { votes: 2 })
      const voteOf = (expert: string, best: string) =>
        Effect.flatMap(next(expert), (item) => queue.vote(expert, item.item_id, voteFor(item, best)))
      const isCompleted = statusOf(task).pipe(Effect.repeat({ until: (status) => status === "completed" }))
      yield* voteOf(ann, "a")
      yield* TestClock.adjust("1 minute")
      yield* voteOf(bob, "a")
      assert.isTrue((yield* queue.progress(bob)).undoable)
      yield* TestClock.adjust("29 seconds")

      // Taken back by one who voted earlier: it waits for that vote as long as need be.
      yield* queue.undo(ann)
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(yield* statusOf(task), "in_progress")
      yield* voteOf(ann, "b")
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual(yield* statusOf(task), "in_progress")
      assert.lengthOf(events, 0)
      yield* TestClock.adjust("1 second")
      yield* isCompleted
      assert.deepStrictEqual(events, [{ organization: "default", groupId: task, taskIds: [task] }])
      const [result] = yield* results(task)
      assert.deepStrictEqual(
        result.annotations.votes.map(({ choice, kind }: Vote) => [choice, kind]),
        [
          [0, "person"],
          [1, "person"],
        ],
      )
      assert.strictEqual((yield* Effect.flip(queue.undo(ann)))._tag, "Conflict")
    }).pipe(Effect.provide(store(":memory:", { undoGrace: "30 seconds", webhooks }), { local: true })),
  )

  it.effect("keeps a task that can't be completed from blocking the others", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const { sql, write } = yield* Database
      const ann = yield* person("Ann")
      const damaged = yield* create([["p", "a", "b"]])
      const other = yield* create([["q", "a", "b"]])
      for (let given = 0; given < 2; given++) {
        const item = yield* next(ann)
        yield* queue.vote(ann, item.item_id, voteFor(item, "a"))
      }
      const seqs = yield* sql<{ seq: number }>`SELECT seq FROM task WHERE task_id = ${damaged}`
      yield* write(sql`CREATE TRIGGER damage BEFORE INSERT ON task_result WHEN NEW.seq = ${sql.literal(String(seqs[0]!.seq))}
        BEGIN SELECT RAISE(ABORT, 'damaged'); END`)
      // The wait may begin after the clock was set: it goes on until the task is completed.
      const isCompleted = (task: string) =>
        Effect.andThen(TestClock.adjust("1 second"), statusOf(task)).pipe(
          Effect.repeat({ until: (status) => status === "completed" }),
        )
      yield* TestClock.adjust("29 seconds")
      yield* isCompleted(other)
      assert.strictEqual(yield* statusOf(damaged), "in_progress")
      yield* write(sql`DROP TRIGGER damage`)
      yield* TestClock.adjust("10 minutes")
      yield* isCompleted(damaged)
    }).pipe(Effect.provide(store(":memory:", { undoGrace: "30 seconds" }), { local: true })),
  )

  test("corrects what was counted of the others on the item", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const experts = yield* Experts
      const [ann, bob] = [yield* person("Ann"), yield* person("Bob")]
      yield* create(two, { votes: 2 })
      for (const [expert, best] of [
        [ann, "a"],
        [bob, "b"],
      ] as const) {
        const item = yield* next(expert)
        yield* queue.vote(expert, item.item_id, voteFor(item, best))
      }
      const counts = Effect.map(experts.list, (all) =>
        all.map(({ judged, majority }) => [judged, majority.of, majority.agreed]),
      )
      // A tie: neither agrees with the other.
      assert.deepStrictEqual(yield* counts, [
        [1, 1, 0],
        [1, 1, 0],
      ])
      yield* queue.undo(ann)
      assert.deepStrictEqual(yield* counts, [
        [0, 0, 0],
        [1, 0, 0],
      ])
      const item = yield* next(ann)
      yield* queue.vote(ann, item.item_id, voteFor(item, "b"))
      assert.deepStrictEqual(yield* counts, [
        [1, 1, 1],
        [1, 1, 1],
      ])
    }))
})

describe("progress", () => {
  test("counts today's votes from midnight on", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const ann = yield* person("Ann")
      yield* create(
        Array.from({ length: 3 }, (_, i) => [`p${i}`, "a", "b"] as const),
        { votes: 2 },
      )
      const judge = Effect.gen(function* () {
        const item = yield* next(ann)
        yield* queue.vote(ann, item.item_id, voteFor(item, "a"))
      })
      yield* judge
      yield* TestClock.adjust("23 hours")
      yield* judge
      assert.deepInclude(yield* queue.progress(ann), { judged: 2, judged_today: 2, needed: 4, undoable: true })
      yield* TestClock.adjust("1 hour")
      assert.deepInclude(yield* queue.progress(ann), { judged: 2, judged_today: 0 })
      yield* judge
      assert.deepInclude(yield* queue.progress(ann), { judged: 3, judged_today: 1, needed: 3 })
      yield* queue.undo(ann)
      assert.deepInclude(yield* queue.progress(ann), { judged: 2, judged_today: 0 })
      // Yesterday's vote is no part of today's count.
      yield* queue.undo(ann)
      assert.deepInclude(yield* queue.progress(ann), { judged: 1, judged_today: 0 })
    }))
})

describe("gold items", () => {
  it.effect("measure experts as they vote", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const experts = yield* Experts
      const ann = yield* person("Ann")
      yield* create([
        ["known", "a", "b"],
        ["known", "a", "b"],
        ["unknown", "a", "b"],
      ])
      const counts = Effect.map(experts.list, ([ann]) => [ann!.gold.of, ann!.gold.right])
      const seen = []
      for (const best of ["b", "a", "a"]) {
        const item = yield* next(ann)
        yield* queue.vote(ann, item.item_id, voteFor(item, best))
        seen.push(yield* counts)
        if (item.task.number === 2) {
          yield* queue.undo(ann)
          assert.deepStrictEqual(yield* counts, [1, 1])
          const again = yield* next(ann)
          yield* queue.vote(ann, again.item_id, voteFor(again, "a"))
        }
      }
      assert.deepStrictEqual(seen, [
        [1, 1],
        [2, 1],
        [2, 1],
      ])
    }).pipe(
      Effect.provide(
        store(":memory:", { goldAnswer: ({ prompt }) => (prompt === "known" ? Option.some(1) : Option.none()) }),
      ),
    ),
  )
})

describe("a gold answer", () => {
  it.effect("is known by its text, which may stand there twice", () =>
    Effect.gen(function* () {
      const queue = yield* VoteQueue
      const ann = yield* person("Ann")
      yield* create([["p", "same", "other", "same"]])
      const item = yield* next(ann)
      const best = (yield* orderOf(item)).indexOf(0)
      yield* queue.vote(ann, item.item_id, { best, ranking: null, rationale: "", seconds: 1 })
      const [row] = yield* (yield* Experts).list
      assert.deepInclude(row, { gold: { of: 1, right: 1 } })
    }).pipe(Effect.provide(store(":memory:", { goldAnswer: () => Option.some(2) }))),
  )
})

describe("when an expert was here", () => {
  test("is written once a minute", () =>
    Effect.gen(function* () {
      const experts = yield* Experts
      const ann = yield* person("Ann")
      const start = Duration.toMillis("1 day")
      const seen: Array<number | null> = []
      for (const millis of [0, 1, 59_999, 60_000, 60_001]) {
        yield* TestClock.setTime(start + millis)
        yield* experts.touch(ann)
        seen.push((yield* Effect.flatMap(experts.find(ann), Effect.fromOption)).last_seen_at)
      }
      assert.deepStrictEqual(seen, [start, start, start, start + 60_000, start + 60_000])
    }))
})

describe("the way to the next item", () => {
  test("does not grow with what the expert has judged and others still have to", () =>
    Effect.gen(function* () {
      const { sql } = yield* Database
      const queue = yield* VoteQueue
      const [ann, bob] = [yield* person("Ann"), yield* person("Bob")]
      yield* create(
        Array.from({ length: 1_000 }, (_, i) => [`p${i}`, "a", "b"] as const),
        { votes: 2 },
      )
      const judge = Effect.gen(function* () {
        const item = yield* next(ann)
        yield* queue.vote(ann, item.item_id, voteFor(item, "a"))
        return item
      })
      yield* Effect.repeat(judge, { times: 499 })
      // All 500 are open still, for Bob; none of them is looked at for Ann.
      const [row] = yield* sql<{ item_cursor: number; last: number }>`
        SELECT item_cursor, (SELECT MAX(item_id) FROM vote) AS last FROM expert WHERE expert_id = ${ann}`
      assert.strictEqual(row!.item_cursor, row!.last)
      // What Bob leaves is offered to Ann only if she has not judged it.
      const item = yield* next(bob)
      yield* queue.setAside(bob, item.item_id, { kind: "skip", reason: "" })
      assert.strictEqual((yield* judge).task.number, 501)
    }))
})
