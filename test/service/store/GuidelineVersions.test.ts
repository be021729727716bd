import { assert } from "@effect/vitest"
import { Effect, Option, Result } from "effect"
import { Desk } from "../../../src/service/store/Desk.ts"
import { VoteQueue } from "../../../src/service/store/VoteQueue.ts"
import { create, crew, detailOf, next, prompts, results, store, voteFor } from "./support.ts"
import { testOver } from "../../support/effectTest.ts"

const test = testOver(store(":memory:"))

const edit = (taskId: string, text: string, version: number) =>
  Desk.use((desk) => desk.editGuidelines(taskId, { text, version, operator: "Lea" }))
const judge = Effect.fnUntraced(function* (expertId: string, guidelines_version?: number) {
  const item = yield* next(expertId)
  yield* (yield* VoteQueue).vote(expertId, item.item_id, {
    ...voteFor(item, "a"),
    ...(guidelines_version !== undefined && { guidelines_version }),
  })
  return item
})
const sent = "---\nrubric:\n  all_bad: true\n---\nBe fair."

test("are the newest for whoever comes next, told once to who saw another, and recorded with each vote", function* () {
  const task = yield* create(prompts(4), { guidelines: sent, votes: 2 })
  const { bob, eva, queue } = yield* crew("eva", "bob")
  const first = yield* judge(eva)
  assert.deepInclude(first, { guidelines: "Be fair.", guidelines_version: 1, guidelines_change: null })
  const held = yield* next(eva)
  yield* edit(task, "Be fair and kind.", 1)
  // What was shown before the change.
  yield* queue.vote(eva, held.item_id, { ...voteFor(held, "a"), guidelines_version: 1 })
  yield* edit(task, "Be kind.", 2)

  const told = yield* next(eva)
  assert.deepInclude(told, {
    guidelines: "Be kind.",
    guidelines_version: 3,
    guidelines_change: { from: 1, before: "Be fair." },
  })
  assert.isNotNull((yield* next(eva)).guidelines_change, "until it is acknowledged")
  yield* queue.acknowledge(eva, told.item_id, 2)
  assert.deepStrictEqual((yield* next(eva)).guidelines_change, { from: 2, before: "Be fair and kind." })
  yield* queue.acknowledge(eva, told.item_id, 99)
  assert.isNull((yield* next(eva)).guidelines_change)
  yield* judge(eva, 3)
  yield* judge(eva)

  // Who comes now sees the newest alone; a page that says nonsense is not believed.
  assert.deepInclude(yield* judge(bob, 99), { guidelines_version: 3, guidelines_change: null })
  for (let i = 0; i < 3; i++) yield* judge(bob)
  const versions = (yield* results(task)).map(({ annotations }) =>
    annotations.votes.map((vote: Record<string, unknown>) => vote["guidelines_version"]),
  )
  assert.deepStrictEqual(versions, [
    [undefined, 3],
    [1, 3],
    [3, 3],
    [3, 3],
  ])
})

test("are those of all tasks that came with the same, of the same organization; the rubric stays", function* () {
  const one = yield* create(prompts(1), { guidelines: sent })
  const same = yield* create(prompts(1), { guidelines: sent, key: "2" })
  const foreign = yield* create(prompts(1), { guidelines: sent, key: "3", organization: "other" })
  const none = yield* create(prompts(1), { key: "4" })
  const versionOf = (taskId: string) =>
    Effect.map(detailOf(taskId), ({ guidelines, guidelines_version, rubric }) => [
      guidelines_version,
      guidelines,
      rubric?.all_bad,
    ])
  const written = "---\nrubric:\n  edit: true\n---\nBe kind."
  yield* edit(one, written, 1)
  assert.deepStrictEqual(yield* versionOf(one), [2, written, true])
  assert.deepStrictEqual(yield* versionOf(same), [2, written, true])
  assert.deepStrictEqual(yield* versionOf(foreign), [1, sent.replace(/^---[^]*---\n/, ""), true])
  assert.deepStrictEqual(yield* versionOf(none), [1, null, undefined])
  const later = yield* create(prompts(1), { guidelines: sent, key: "5" })
  assert.strictEqual((yield* versionOf(later))[0], 2)

  const { eva, queue } = yield* crew("eva")
  const item = yield* next(eva)
  // Asked of the rubric that was sent, and of no other.
  const said = { strength: null, all_bad: true, flags: [], edited: "edited", aspects: {} }
  const refused = yield* Effect.flip(queue.vote(eva, item.item_id, { ...voteFor(item, "a"), assessment: said }))
  assert.strictEqual(refused._tag, "MalformedRequest")
  yield* queue.vote(eva, item.item_id, { ...voteFor(item, "a"), assessment: { ...said, edited: null } })
  assert.deepInclude((yield* results(one))[0].annotations.votes[0], { all_bad: true, guidelines_version: 2 })
})

test("are listed with who made them, also for a task that came without any", function* () {
  const task = yield* create(prompts(1))
  yield* edit(task, "Be fair.", 1)
  assert.strictEqual((yield* Effect.flip(edit("none", "x", 1)))._tag, "NotFound")
  const { desk } = yield* crew()
  assert.deepStrictEqual(Option.getOrThrow(yield* desk.guidelines(task)), {
    has_rubric: false,
    versions: [
      { version: 2, text: "Be fair.", by: "Lea", at: 0 },
      { version: 1, text: "", by: null, at: null },
    ],
  })
  assert.isTrue(Option.isNone(yield* desk.guidelines("none")))
})

test("are what automatic experts get, and their votes say which version that was", function* () {
  const { experts, queue } = yield* crew()
  yield* experts.ensure("robot")
  const task = yield* create(prompts(1), { guidelines: "Be fair." })
  yield* edit(task, "Be kind.", 1)
  const asking = { experts: ["robot"], tasks: 1, createdBefore: Infinity, isAvailable: () => true }
  const [claim] = (yield* queue.claim(asking)).claims
  assert.deepInclude(claim, { guidelines: "Be kind.", guidelinesVersion: 2 })
  yield* edit(task, "Be kinder.", 2)
  const { itemId } = claim!.items[0]!
  const vote = Result.succeed({ choice: 0, order: [0, 1], seconds: 0 })
  yield* queue.record([{ itemId, guidelinesVersion: 2, answers: [{ expert: "robot", vote }] }])
  assert.strictEqual((yield* results(task))[0].annotations.votes[0].guidelines_version, 2)
})
