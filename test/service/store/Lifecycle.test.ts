/** What a manager does with work that goes on: pauses it, withdraws a prompt, asks for more votes. */
import { assert, describe } from "@effect/vitest"
import { Effect, Option, Result } from "effect"
import { Actor } from "../../../src/service/database/Audit.ts"
import { counted } from "./recount.ts"
import { colors, create, crew, draftOf, detailOf, judge, next, results, statusOf, voteFor } from "./support.ts"

const { events, test } = counted()

const automatic = { experts: ["longest"], tasks: 10, createdBefore: Number.MAX_SAFE_INTEGER, isAvailable: () => true }

const choicesOf = (taskId: string) =>
  Effect.map(results(taskId), (all): ReadonlyArray<unknown> => all.map((result) => result.best_completion_index))

describe("a pause", () => {
  test("takes from people what they hold, with its draft, and goes on where it was", function* () {
    const { ann, bob, desk, queue } = yield* crew("ann", "bob")
    const taskId = yield* create(colors, { group: "colors" })
    const other = yield* create([["snow", "white", "black"]])
    const held = yield* next(ann)
    yield* queue.saveDraft(ann, held.item_id, draftOf("half a thought"))
    yield* queue.pauseGroup("colors", true)
    // Paused already.
    yield* queue.pauseGroup("colors", true)

    assert.strictEqual((yield* Effect.flip(queue.vote(ann, held.item_id, voteFor(held, "blue"))))._tag, "Conflict")
    assert.strictEqual((yield* Effect.flip(queue.saveDraft(ann, held.item_id, draftOf("more"))))._tag, "Conflict")
    assert.strictEqual((yield* next(ann)).prompt, "snow")
    assert.isTrue(Option.isNone(yield* queue.next(bob)))
    assert.strictEqual(yield* statusOf(taskId), "in_progress")
    assert.isTrue((yield* detailOf(taskId)).task.paused)
    assert.isFalse((yield* detailOf(other)).task.paused)
    assert.deepInclude((yield* queue.groups()).groups[0], { group_id: "colors", paused: true })
    assert.isTrue((yield* Effect.flatMap(desk.group("colors"), Effect.fromOption)).paused)
    // Tasks that join it wait, too.
    yield* create([["rose", "red", "blue"]], { group: "colors" })
    assert.isTrue(Option.isNone(yield* queue.next(bob)))

    yield* queue.pauseGroup("colors", false)
    assert.deepInclude((yield* queue.groups()).groups[0], { group_id: "colors", paused: false, priority: "normal" })
    yield* judge(ann, "white")
    const again = yield* next(ann)
    assert.deepStrictEqual([again.prompt, again.draft], ["sky", draftOf("half a thought")])
    assert.deepStrictEqual(again.completions, held.completions)
    assert.strictEqual((yield* next(bob)).prompt, "grass")
  })

  test("keeps priority and experts of the group, and outlasts changes of them; nothing is taken back in it", function* () {
    const { ann, bob, queue } = yield* crew("ann", "bob")
    yield* create(colors, { group: "colors", votes: 2 })
    yield* judge(ann, "blue")
    yield* queue.setGroup({ groupId: "colors", priority: "high", experts: [ann] })
    yield* queue.pauseGroup("colors", true)
    assert.strictEqual((yield* Effect.flip(queue.undo(ann)))._tag, "Conflict")
    assert.isFalse((yield* queue.progress(ann)).undoable)
    yield* queue.setGroup({ groupId: "colors", priority: "normal", experts: undefined })
    assert.isTrue(Option.isNone(yield* queue.next(bob)))
    yield* queue.setGroup({ groupId: "colors", priority: "low", experts: [bob] })
    assert.isTrue(Option.isNone(yield* queue.next(bob)))
    yield* queue.pauseGroup("colors", false)
    assert.isTrue(Option.isNone(yield* queue.next(ann)))
    assert.strictEqual((yield* next(bob)).prompt, "sky")
    assert.isTrue((yield* queue.progress(ann)).undoable)
  })
})

describe("a withdrawn prompt", () => {
  test("is judged by nobody, completes its task, and has a result that says so; undone, it is judged again", function* () {
    const { ann, bob, desk, queue } = yield* crew("ann", "bob")
    const taskId = yield* create(colors)
    yield* judge(ann, "blue")
    const held = yield* next(bob)
    yield* queue.saveDraft(bob, held.item_id, draftOf("not yet"))
    yield* desk.withdrawPrompt(taskId, 1, "Not a question.", "Lea")
    assert.strictEqual((yield* Effect.flip(queue.vote(bob, held.item_id, voteFor(held, "green"))))._tag, "Conflict")
    assert.isTrue(Option.isNone(yield* queue.next(bob)))
    assert.strictEqual(yield* statusOf(taskId), "completed")
    const [first, second] = yield* results(taskId)
    assert.strictEqual(first.best_completion_index, 0)
    assert.deepInclude(second, { prompt: "grass", best_completion_index: null })
    assert.deepInclude(second.annotations, { rationale: "Not a question." })
    assert.strictEqual(second.annotations.withdrawn.by, "Lea")
    const event = { organization: "default", groupId: taskId, taskIds: [taskId] }
    assert.deepStrictEqual(events, [event])
    const [listed] = (yield* desk.items({ state: "withdrawn" })).items
    assert.deepInclude(listed, { index: 1, state: "withdrawn", decision: null })
    const [, item] = (yield* detailOf(taskId)).items
    assert.deepInclude(item, { done: true, decision: null, result: null })
    assert.strictEqual(item?.withdrawal?.reason, "Not a question.")

    yield* desk.restorePrompt(taskId, 1)
    assert.deepStrictEqual(events.slice(1), [{ ...event, type: "task_group.reopened" }])
    assert.strictEqual(yield* statusOf(taskId), "in_progress")
    // The draft was thrown away with the completed task.
    assert.strictEqual((yield* next(bob)).prompt, "grass")
    yield* judge(bob, "green")
    assert.strictEqual((yield* results(taskId))[1].best_completion_index, 0)
    assert.lengthOf(events, 3)
  })

  test("gives nothing of its votes to the result, and has them again when it is restored", function* () {
    const { ann, bob, desk } = yield* crew("ann", "bob")
    const taskId = yield* create([["sky", "blue", "green"]], { votes: 2 })
    yield* judge(ann, "blue")
    yield* judge(bob, "green")
    const before = yield* results(taskId)
    yield* desk.withdrawPrompt(taskId, 0, "", "Lea")
    assert.notProperty((yield* results(taskId))[0].annotations, "votes")
    assert.deepStrictEqual((yield* desk.items({ state: "disputed" })).items, [])
    yield* desk.restorePrompt(taskId, 0)
    assert.deepStrictEqual(yield* results(taskId), before)
    assert.lengthOf((yield* desk.items({ state: "disputed" })).items, 1)
  })

  test("may be each prompt of a task that nobody has judged", function* () {
    const { ann, desk, queue } = yield* crew("ann")
    const taskId = yield* create(colors, { group: "colors", groupSize: 1 })
    const group = Effect.flatMap(desk.group("colors"), Effect.fromOption)
    yield* desk.withdrawPrompt(taskId, 0, "", "Lea")
    assert.strictEqual(yield* statusOf(taskId), "in_progress")
    assert.strictEqual((yield* group).votes_required, 1)
    assert.strictEqual((yield* queue.progress(ann)).needed, 1)
    yield* desk.withdrawPrompt(taskId, 1, "", "Lea")
    assert.deepStrictEqual(yield* choicesOf(taskId), [null, null])
    assert.lengthOf(events, 1)
    yield* desk.restorePrompt(taskId, 0)
    yield* judge(ann, "blue")
    assert.deepStrictEqual(yield* choicesOf(taskId), [0, null])
    assert.deepInclude(yield* group, { withdrawn: 1, decided: 0 })
  })

  test("is neither decided, nor of a cancelled task, nor with an automatic expert, nor withdrawn before", function* () {
    const { desk, experts, queue, taskStore } = yield* crew()
    yield* experts.ensure("longest")
    const problemOf = (taskId: string, index: number) =>
      Effect.map(Effect.flip(desk.withdrawPrompt(taskId, index, "", "Lea")), (error) =>
        error._tag === "Conflict" ? error.detail : error._tag,
      )
    const cancelled = yield* create(colors)
    yield* taskStore.cancel(cancelled)
    assert.strictEqual(yield* problemOf(cancelled, 0), "The task is cancelled.")
    assert.strictEqual(yield* problemOf("task_none", 0), "NotFound")
    const taskId = yield* create([...colors, ["snow", "white", "black"]], { votes: 2 })
    yield* desk.decide({ taskId, promptIndex: 0, choice: 0, rationale: "", operator: "Lea" })
    yield* desk.withdrawPrompt(taskId, 2, "", "Lea")
    assert.include(yield* problemOf(taskId, 0), "A lead has decided")
    assert.include(yield* problemOf(taskId, 2), "already withdrawn")
    const decided = desk.decide({ taskId, promptIndex: 2, choice: 0, rationale: "", operator: "Lea" })
    assert.deepInclude(yield* Effect.flip(decided), {
      _tag: "Conflict",
      detail: "The prompt is withdrawn. Restore it first.",
    })
    assert.strictEqual((yield* Effect.flip(desk.withdrawDecision(taskId, 2)))._tag, "Conflict")
    assert.strictEqual((yield* Effect.flip(desk.restorePrompt(taskId, 0)))._tag, "Conflict")
    const { claims } = yield* queue.claim(automatic)
    assert.include(yield* problemOf(taskId, 1), "An automatic expert is judging")
    const [item, ...others] = claims[0]!.items
    assert.deepStrictEqual([item!.promptIndex, others], [1, []])
    const vote = Result.succeed({ choice: 0, order: [0, 1], seconds: 0 })
    yield* queue.record([{ itemId: item!.itemId, answers: [{ expert: "longest", vote }] }])
    yield* desk.withdrawPrompt(taskId, 1, "", "Lea")
    assert.deepStrictEqual(yield* choicesOf(taskId), [0, null, null])
  })
})

describe("further votes", () => {
  test("come from experts who have not judged the prompts, and replace the result when all are there", function* () {
    const { ann, bob, cleo, dan, desk, queue } = yield* crew("ann", "bob", "cleo", "dan")
    const taskId = yield* create(colors)
    yield* judge(ann, "blue", "blue")
    const before = yield* results(taskId)
    assert.strictEqual(yield* desk.reopen(taskId, 2, undefined), 2)
    assert.deepInclude((yield* detailOf(taskId)).task, { status: "in_progress", extra_votes: 4 })
    assert.deepStrictEqual(yield* results(taskId), before)
    assert.lengthOf(events, 1)
    assert.isTrue(Option.isNone(yield* queue.next(ann)))
    yield* judge(bob, "green", "green")
    yield* judge(cleo, "green")
    assert.deepStrictEqual(yield* results(taskId), before)
    yield* judge(cleo, "green")
    const [sky, grass] = yield* results(taskId)
    assert.deepStrictEqual([sky.best_completion_index, grass.best_completion_index], [1, 0])
    assert.lengthOf(sky.annotations.votes, 3)
    assert.lengthOf(events, 2)
    assert.lengthOf((yield* desk.items({ state: "disputed" })).items, 2)

    // Again, and again before that is done; one of the two is decided meanwhile.
    yield* desk.reopen(taskId, 1, [0])
    yield* desk.reopen(taskId, 1, [0])
    assert.strictEqual((yield* desk.items({ text: "sky" })).items[0]?.votes_required, 5)
    yield* judge(dan, "blue")
    assert.strictEqual((yield* detailOf(taskId)).task.status, "in_progress")
    assert.strictEqual(yield* desk.endReopening(taskId), 1)
    assert.deepStrictEqual(
      (yield* results(taskId))[0].annotations.votes.map(({ choice }: { choice: number }) => choice),
      [0, 1, 1, 0],
    )
    assert.strictEqual((yield* detailOf(taskId)).task.status, "completed")
    assert.strictEqual((yield* Effect.flip(desk.endReopening(taskId)))._tag, "Conflict")
  })

  test("leave out decided and withdrawn prompts, and are asked of no task that is cancelled or just begins", function* () {
    const { ann, bob, desk, taskStore } = yield* crew("ann", "bob")
    const problemOf = (taskId: string, prompts?: ReadonlyArray<number>) =>
      Effect.map(Effect.flip(desk.reopen(taskId, 1, prompts)), (error) => error._tag)
    const taskId = yield* create([...colors, ["snow", "white", "black"]])
    assert.strictEqual(yield* problemOf(taskId), "Conflict")
    yield* desk.decide({ taskId, promptIndex: 0, choice: 0, rationale: "", operator: "Lea" })
    yield* desk.withdrawPrompt(taskId, 1, "", "Lea")
    yield* judge(ann, "white")
    assert.strictEqual(yield* problemOf(taskId, [0, 1]), "Conflict")
    assert.strictEqual(yield* problemOf(taskId, [-1, 3, 1048576]), "Conflict")
    // What is decided or withdrawn needs no votes, and is not among those that have theirs.
    const itemsOf = Effect.map(desk.items({ state: "done" }), ({ items }) => items.map(({ prompt }) => prompt))
    assert.deepStrictEqual(yield* itemsOf, ["snow"])
    const { task } = yield* detailOf(taskId)
    assert.deepStrictEqual([task.votes, task.votes_spared], [1, 2])
    assert.strictEqual(yield* desk.reopen(taskId, 1, undefined), 1)
    yield* judge(bob, "black")
    assert.strictEqual((yield* results(taskId))[2].annotations.tie, true)
    const cancelled = yield* create(colors)
    yield* taskStore.cancel(cancelled)
    assert.strictEqual(yield* problemOf(cancelled), "Conflict")
    assert.strictEqual(yield* problemOf("task_none"), "NotFound")
  })
})

describe("a vote of a published result", () => {
  test("is not taken back while its task is open again", function* () {
    const { ann, bob, cleo, desk, queue } = yield* crew("ann", "bob", "cleo")
    const taskId = yield* create(colors, { votes: 2 })
    yield* judge(ann, "blue", "green")
    yield* judge(bob, "blue", "green")
    const before = yield* results(taskId)
    yield* desk.reopen(taskId, 1, undefined)
    assert.isFalse((yield* queue.progress(ann)).undoable)
    assert.strictEqual((yield* Effect.flip(queue.undo(ann)))._tag, "Conflict")
    assert.deepStrictEqual(yield* results(taskId), before)

    // A further vote can be taken back until the result includes it. The decision has the result written anew.
    yield* judge(cleo, "blue")
    assert.isTrue((yield* queue.progress(cleo)).undoable)
    yield* queue.undo(cleo)
    yield* judge(cleo, "blue")
    yield* desk.decide({ taskId, promptIndex: 1, choice: 0, rationale: "", operator: "Lea" })
    assert.isFalse((yield* queue.progress(cleo)).undoable)
  })

  test("is not taken back after other votes of the task were voided", function* () {
    const { ann, bob, desk, queue } = yield* crew("ann", "bob")
    const taskId = yield* create([["sky", "blue", "green"]], { votes: 2 })
    yield* judge(ann, "blue")
    yield* judge(bob, "blue")
    yield* desk.voidVotes(bob, "", "Lea")
    assert.lengthOf((yield* results(taskId))[0].annotations.votes, 1)
    assert.strictEqual((yield* Effect.flip(queue.undo(ann)))._tag, "Conflict")
  })
})

test("a change that fails on its way leaves nothing behind", function* () {
  const { ann, bob, desk, queue, sql } = yield* crew("ann", "bob")
  const taskId = yield* create(colors, { group: "colors" })
  yield* judge(ann, "blue")
  yield* next(bob)
  const tables = ["task", "item", "hold", "decision", "returned_item", "lane", "seen_content", "task_result"]
  const all = Effect.forEach(tables, (table) => sql`SELECT * FROM ${sql(table)} ORDER BY 1`)
  const before = yield* all
  // The last statement of each change.
  yield* sql`CREATE TRIGGER fail BEFORE INSERT ON audit_entry BEGIN SELECT RAISE(ABORT, 'disk full'); END`
  for (const change of [
    Effect.asVoid(desk.withdrawPrompt(taskId, 1, "", "Lea")),
    Effect.asVoid(desk.reopen(taskId, 1, undefined)),
    Effect.asVoid(queue.pauseGroup("colors", true)),
  ] as ReadonlyArray<Effect.Effect<void, { readonly _tag: string }>>) {
    const failed = yield* Effect.flip(Effect.provideService(change, Actor, { operator_no: 1, name: "Lea" }))
    assert.strictEqual(failed._tag, "SqlError")
    assert.deepStrictEqual(yield* all, before)
  }
})
