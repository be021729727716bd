import { assert, describe } from "@effect/vitest"
import { Clock, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import type { HeldItem } from "../../../src/service/pageApi/AnnotateApi.ts"
import type { QualificationSettings } from "../../../src/service/pageApi/QualificationApi.ts"
import { type GoldItem, Qualification } from "../../../src/service/store/Qualification.ts"
import { VoteQueue } from "../../../src/service/store/VoteQueue.ts"
import { platform, temporaryFile } from "../web/support.ts"
import { type Store, create, crew, draftOf, next, person, results, store, voteFor } from "./support.ts"
import { testOver } from "../../support/effectTest.ts"

/** Their right answer is "right". */
const goldItems = (...names: ReadonlyArray<string>): ReadonlyArray<GoldItem> =>
  names.map((name) => ({ key: name, prompt: `gold ${name}`, completions: ["other", "right"], best: 1 }))

const goldAnswer = ({ prompt }: { readonly prompt: string }) =>
  prompt.startsWith("known") ? Option.some(0) : Option.none()
const six = goldItems("a", "b", "c", "d", "e", "f")

const test = testOver(store(":memory:", { goldItems: six, goldAnswer }))

const require = (settings: Partial<QualificationSettings>) =>
  Qualification.use((qualification) =>
    qualification.set({ items: 0, min_percent: 60, pause_percent: null, guidelines: "", ...settings }),
  )
const standing = (expertId: string) =>
  Qualification.use(({ summary }) =>
    Effect.map(summary, ({ standings }) => {
      const { judged, right, state } = standings.find(({ expert_id }) => expert_id === expertId)!
      return [state, right, judged]
    }),
  )
const isOut = (expertId: string) => VoteQueue.use((queue) => Effect.map(queue.next(expertId), Option.isNone))
const stopped = (expertId: string) =>
  VoteQueue.use((queue) => Effect.map(queue.progress(expertId), ({ stopped }) => stopped))
/** Judges the next item, and says which it was. A moment passes, as between any two judgments. */
const judge = Effect.fnUntraced(function* (expertId: string, choice: string) {
  const item = yield* next(expertId)
  yield* (yield* VoteQueue).vote(expertId, item.item_id, voteFor(item, choice))
  yield* TestClock.adjust("1 second")
  return item.prompt
})
const tasks = (n: number, prompt = "work") =>
  create(Array.from({ length: n }, (_, i) => [`${prompt} ${i}`, "right", "other"] as const))
/** All that an expert may do with an item that only a window still shows is refused, and leaves no trace. */
const assertNotHeld = Effect.fnUntraced(function* (expertId: string, item: HeldItem) {
  const { queue, sql } = yield* crew()
  const attempts = [
    queue.vote(expertId, item.item_id, voteFor(item, "right")),
    queue.saveDraft(expertId, item.item_id, draftOf("late")),
    queue.setAside(expertId, item.item_id, { kind: "skip", reason: "late" }),
    queue.setAside(expertId, item.item_id, { kind: "flag", problem: "other", comment: "late" }),
  ]
  const refusals = yield* Effect.forEach(attempts, (attempt) => Effect.flip(Effect.asVoid(attempt)))
  for (const { _tag } of refusals) assert.strictEqual(_tag, "Conflict")
  assert.deepStrictEqual(yield* sql`SELECT item_id FROM set_aside UNION SELECT item_id FROM flag`, [])
})
const reasonOf = <A, E, R>(refused: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(refused), (error) => JSON.stringify(error))

describe("a new person", () => {
  test("who judged too few right is told so, gets nothing, and can be let in or qualify again with other items", function* () {
    yield* require({ items: 3 })
    yield* tasks(2)
    const { eva, qualification } = yield* crew("eva")
    const first = [yield* judge(eva, "other"), yield* judge(eva, "other"), yield* judge(eva, "right")]
    assert.deepStrictEqual(yield* standing(eva), ["failed", 1, 3])
    assert.isTrue(yield* isOut(eva))
    assert.match((yield* stopped(eva))!, /1 of the 3 qualification items right, but at least 60 %/)
    yield* qualification.requalify(eva)
    assert.deepStrictEqual(yield* standing(eva), ["qualifying", 0, 0])
    const second = [yield* judge(eva, "other"), yield* judge(eva, "other"), yield* judge(eva, "other")]
    assert.strictEqual(new Set([...first, ...second]).size, 6)
    // All items were judged before: the first round's come again, the first of it first.
    yield* qualification.requalify(eva)
    assert.strictEqual(yield* judge(eva, "other"), first[0])
    const held = yield* next(eva)
    assert.strictEqual(held.prompt, first[1])
    yield* qualification.admit(eva)
    yield* assertNotHeld(eva, held)
    assert.isNull(yield* stopped(eva))
    assert.strictEqual(yield* judge(eva, "other"), "work 0")
  })

  test("two windows show the same item, and a judgment counts once", function* () {
    yield* require({ items: 2 })
    const { bob, eva, queue } = yield* crew("bob", "eva")
    const [one, two] = [yield* next(eva), yield* next(eva)]
    assert.deepStrictEqual(one, two)
    yield* queue.saveDraft(eva, one.item_id, draftOf("a draft"))
    assert.deepStrictEqual((yield* next(eva)).draft, draftOf("a draft"))
    yield* queue.vote(eva, one.item_id, voteFor(one, "right"))
    assert.notStrictEqual((yield* next(eva)).item_id, one.item_id)
    yield* assertNotHeld(eva, two)
    assert.deepStrictEqual(yield* standing(eva), ["qualifying", 1, 1])
    yield* assertNotHeld(eva, yield* next(bob))
  })

  test("who holds an item when the qualification is set has it taken, and a vote on it is refused", function* () {
    yield* tasks(1)
    const { eva, old, qualification } = yield* crew("eva", "old")
    const held = yield* next(eva)
    yield* require({ items: 1 })
    yield* assertNotHeld(eva, held)
    assert.isTrue((yield* next(eva)).qualification)
    yield* qualification.admit(old)
    assert.strictEqual((yield* next(old)).item_id, held.item_id)
  })

  test("who has voted before is not asked, unless an operator asks", function* () {
    yield* tasks(3)
    const { desk, eva, qualification } = yield* crew("eva")
    yield* judge(eva, "right")
    yield* require({ items: 2 })
    assert.strictEqual(yield* judge(eva, "right"), "work 1")
    yield* desk.voidVotes(eva, "careless", "Lea")
    assert.deepStrictEqual((yield* standing(eva))[0], "working")
    yield* TestClock.adjust("1 second")
    yield* qualification.requalify(eva)
    assert.isTrue((yield* next(eva)).qualification)
  })

  test("an operator's decision is about the votes given before it, also if the clock was set back since", function* () {
    const start = yield* Clock.currentTimeMillis
    yield* tasks(1)
    yield* tasks(5, "known")
    const { bob, cleo, desk, eva, qualification, queue } = yield* crew("eva", "bob", "cleo")
    yield* judge(eva, "right")
    for (let i = 0; i < 5; i++) yield* judge(bob, "other")
    yield* tasks(2, "more work")
    yield* judge(cleo, "right")
    yield* queue.undo(cleo)
    yield* require({ items: 2, pause_percent: 50 })
    assert.deepStrictEqual((yield* standing(cleo))[0], "working")
    assert.deepStrictEqual(yield* standing(bob), ["paused", 0, 5])
    yield* TestClock.setTime(start)
    yield* qualification.admit(bob)
    assert.deepStrictEqual(yield* standing(bob), ["working", 0, 0])
    yield* qualification.requalify(eva)
    yield* qualification.requalify(cleo)
    assert.deepStrictEqual((yield* standing(eva))[0], "qualifying")
    assert.deepStrictEqual((yield* standing(cleo))[0], "qualifying")
    for (const one of [eva, bob]) yield* desk.voidVotes(one, "careless", "Lea")
    assert.deepStrictEqual((yield* standing(eva))[0], "qualifying")
    assert.deepStrictEqual(yield* standing(bob), ["working", 0, 0])
  })

  test("who takes back a first vote to give it again is not asked meanwhile", function* () {
    // A second item keeps the task open, so that the vote can be taken back.
    const task = yield* tasks(2)
    const { eva, queue } = yield* crew("eva")
    const held = yield* next(eva)
    yield* queue.vote(eva, held.item_id, voteFor(held, "other"))
    yield* require({ items: 3 })
    const undone = yield* queue.undo(eva)
    assert.strictEqual((yield* next(eva)).item_id, undone.item_id)
    yield* queue.vote(eva, undone.item_id, voteFor(undone, "right"))
    yield* judge(eva, "right")
    assert.strictEqual((yield* results(task))[0].best_completion_index, 0)
  })

  test("nobody waits for the judgment of who has to qualify, and automatic experts are not asked", function* () {
    yield* require({ items: 1 })
    yield* create([["twice", "right", "other"]], { key: "1" })
    yield* create([["twice", "right", "other"]], { key: "2" })
    const { bob, eva, experts, qualification } = yield* crew("eva", "bob")
    yield* qualification.admit(eva)
    yield* judge(eva, "right")
    assert.isTrue(yield* isOut(eva))
    // Bob came, and has to qualify: Eva may judge the same content again.
    yield* next(bob)
    assert.strictEqual(yield* judge(eva, "right"), "twice")
    yield* experts.ensure("robot")
    const { standings } = yield* qualification.summary
    assert.deepStrictEqual(standings.map(({ expert_id }) => expert_id).toSorted(), [eva, bob].toSorted())
  })
})

describe("a pause", () => {
  test("follows too few right judgments of gold items; it holds no items, undoes nothing, and can be ended", function* () {
    yield* require({ pause_percent: 70 })
    yield* tasks(12, "known")
    const { desk, eva, qualification, queue } = yield* crew("eva")
    for (const choice of ["right", "right", "right", "other"]) yield* judge(eva, choice)
    assert.deepStrictEqual(yield* standing(eva), ["working", 3, 4])
    yield* judge(eva, "other")
    assert.deepStrictEqual(yield* standing(eva), ["paused", 3, 5])
    assert.isTrue(yield* isOut(eva))
    assert.match((yield* stopped(eva))!, /You are paused: 3 of your latest 5 answers .* right, .* 70 %/)
    assert.strictEqual((yield* Effect.flip(queue.undo(eva)))._tag, "Conflict")
    // Votes that are declared void stay a reason.
    yield* desk.voidVotes(eva, "careless", "Lea")
    assert.deepStrictEqual(yield* standing(eva), ["paused", 3, 5])
    yield* qualification.admit(eva)
    yield* TestClock.adjust("1 second")
    assert.strictEqual(yield* judge(eva, "other"), "known 5")
    assert.deepStrictEqual(yield* standing(eva), ["working", 0, 1])
  })

  test("takes into account the qualification, and the latest 20 items only", function* () {
    yield* require({ items: 5, min_percent: 60, pause_percent: 60 })
    yield* tasks(40, "known")
    const { eva, experts } = yield* crew("eva")
    for (const choice of ["right", "right", "right", "other", "other"]) yield* judge(eva, choice)
    assert.deepStrictEqual(yield* standing(eva), ["working", 3, 5])
    for (let i = 0; i < 25; i++) yield* judge(eva, "right")
    // The qualification is no part of what the expert has judged.
    assert.strictEqual((yield* experts.list())[0]!.judged, 25)
    assert.deepStrictEqual(yield* standing(eva), ["working", 20, 20])
    for (let i = 0; i < 8; i++) yield* judge(eva, "other")
    assert.deepStrictEqual(yield* standing(eva), ["working", 12, 20])
    yield* judge(eva, "other")
    assert.deepStrictEqual(yield* standing(eva), ["paused", 11, 20])
  })

  test("what a second window holds of a paused person can't be judged, and goes to others", function* () {
    yield* tasks(8, "known")
    const { bob, eva } = yield* crew("eva", "bob")
    for (let i = 0; i < 5; i++) yield* judge(eva, "other")
    const held = yield* next(eva)
    yield* require({ pause_percent: 50 })
    yield* assertNotHeld(eva, held)
    assert.isTrue(yield* isOut(eva))
    assert.strictEqual((yield* next(bob)).item_id, held.item_id)
  })
})

describe("settings", () => {
  test("that the gold file is too short for, or that contradict each other, are refused", function* () {
    assert.include(yield* reasonOf(require({ items: 7 })), "has only 6 distinct items")
    const contradiction = require({ items: 2, min_percent: 60, pause_percent: 70 })
    assert.include(yield* reasonOf(contradiction), "Set the pause limit to at most 60 %")
    const { eva, qualification } = yield* crew("eva")
    assert.isNull((yield* qualification.summary).settings)
    assert.include(yield* reasonOf(qualification.requalify(eva)), "New experts need no qualification items")
    assert.include(yield* reasonOf(qualification.admit("nobody")), "There is no such person.")
    yield* require({ items: 2 })
    yield* require({})
    assert.isNull((yield* qualification.summary).settings)
    assert.isTrue(yield* isOut(eva))
  })

  testOver(store(":memory:"))("are refused without a gold file", function* () {
    assert.include(yield* reasonOf(require({ pause_percent: 50 })), "--gold FILE")
    assert.deepInclude(yield* (yield* Qualification).summary, { available: null, settings: null })
  })
})

testOver(platform)(
  "a restart with another gold file: judged items count, the shown one is replaced, and nobody gets past it",
  function* () {
    const file = yield* temporaryFile
    const during = <A>(gold: ReadonlyArray<GoldItem> | undefined, body: () => Effect.fn.Return<A, unknown, Store>) =>
      Effect.provide(Effect.gen(body), store(file, { goldItems: gold, goldAnswer }))
    const eva = yield* during(goldItems("a", "b", "c"), function* () {
      yield* require({ items: 3 })
      yield* tasks(1)
      const eva = yield* person("eva")
      yield* judge(eva, "right")
      yield* next(eva)
      return eva
    })
    yield* during(goldItems("x"), function* () {
      assert.strictEqual(yield* judge(eva, "right"), "gold x")
      assert.deepStrictEqual(yield* standing(eva), ["unavailable", 2, 2])
      assert.isTrue(yield* isOut(eva))
      assert.match((yield* stopped(eva))!, /no more qualification items/)
    })
    yield* during(undefined, function* () {
      assert.isTrue(yield* isOut(eva))
    })
    yield* during(goldItems("x", "y"), function* () {
      assert.strictEqual(yield* judge(eva, "right"), "gold y")
      assert.strictEqual(yield* judge(eva, "right"), "work 0")
    })
  },
)
