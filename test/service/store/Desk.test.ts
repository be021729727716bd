import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { VoteQueue } from "../../../src/service/store/VoteQueue.ts"
import { counted } from "./recount.ts"
import { colors, create, crew, detailOf, judge, next, results, statusOf, storeOver, voteFor } from "./support.ts"

const { test } = counted()
const { events, test: told } = counted({ goldAnswer: () => Option.some(0) })

describe("decisions", () => {
  told("replace the delivered result, announce it, and keep the votes, which decide again afterwards", function* () {
    const { ann, bob, cleo, desk } = yield* crew("ann", "bob", "cleo")
    const taskId = yield* create(colors, { votes: 3 })
    yield* judge(ann, "blue", "green")
    for (const one of [bob, cleo]) yield* judge(one, "green", "green")
    assert.strictEqual(yield* statusOf(taskId), "completed")
    const [before, other] = yield* results(taskId)
    assert.strictEqual(before.best_completion_index, 1)
    assert.lengthOf(events, 1)
    const disputed = Effect.map(desk.items({ state: "disputed" }), ({ items }) => items.map(({ index }) => index))
    assert.deepStrictEqual(yield* disputed, [0])

    yield* desk.decide({ taskId, promptIndex: 0, choice: 0, rationale: "It is day.", operator: "Lea" })
    const [after, unchanged] = yield* results(taskId)
    assert.strictEqual(after.best_completion_index, 0)
    assert.deepStrictEqual(after.annotations.votes, before.annotations.votes)
    assert.strictEqual(after.annotations.rationale, "It is day.")
    assert.strictEqual(after.annotations.agreement, 1 / 3)
    assert.strictEqual(after.annotations.decision.by, "Lea")
    assert.deepStrictEqual(unchanged, other)
    assert.deepStrictEqual(events.slice(1), [{ organization: "default", groupId: taskId, taskIds: [taskId] }])
    assert.deepStrictEqual(yield* disputed, [])
    assert.strictEqual((yield* desk.items({ state: "decided" })).items[0]?.decision?.by, "Lea")

    yield* desk.withdrawDecision(taskId, 0)
    assert.deepStrictEqual((yield* results(taskId))[0], before)
    assert.lengthOf(events, 3)
  })

  test("settle a prompt that misses votes, but not one that an expert is judging, nor one of a cancelled task", function* () {
    const { ann, bob, desk, queue, taskStore } = yield* crew("ann", "bob")
    const taskId = yield* create([["sky", "blue", "green"]], { votes: 2 })
    const decision = { taskId, promptIndex: 0, choice: 1, rationale: "", operator: "Lea" }
    yield* judge(ann, "blue")
    const held = yield* next(bob)
    assert.strictEqual((yield* Effect.flip(desk.decide(decision)))._tag, "Conflict")
    yield* queue.setAside(bob, held.item_id, { kind: "skip", reason: "" })
    yield* desk.decide(decision)
    assert.strictEqual((yield* results(taskId))[0].best_completion_index, 1)
    // The votes are too few again.
    yield* desk.withdrawDecision(taskId, 0)
    assert.strictEqual((yield* detailOf(taskId)).task.status, "in_progress")
    yield* taskStore.cancel(taskId)
    assert.strictEqual((yield* Effect.flip(desk.decide(decision)))._tag, "Conflict")
    assert.strictEqual((yield* Effect.flip(desk.decide({ ...decision, taskId: "task_none" })))._tag, "NotFound")
    assert.strictEqual((yield* Effect.flip(desk.decide({ ...decision, promptIndex: 1 })))._tag, "NotFound")
  })
})

const rubric = "---\nrubric: { strength: true, all_bad: true, edit: true, aspects: [clarity] }\n---\nJudge."

/** A vote with all that the rubric asks for. */
const assessed = Effect.fnUntraced(function* (expertId: string, text: string, strength: number) {
  const item = yield* next(expertId)
  const order = item.completions.map((completion) => ["blue", "green", "red"].indexOf(completion))
  const aspects = { clarity: order.map((index) => index + strength) }
  const assessment = { strength, all_bad: strength === 1, edited: `${text}, improved`, flags: [], aspects }
  yield* (yield* VoteQueue).vote(expertId, item.item_id, { ...voteFor(item, text), assessment })
})

test("what votes say besides the choice is of the completion that a lead chooses, and stays with votes that are void for a time", function* () {
  const { ann, bob, cleo, desk } = yield* crew("ann", "bob", "cleo")
  const taskId = yield* create([["sky", "blue", "green", "red"]], { votes: 3, guidelines: rubric })
  yield* assessed(ann, "green", 1)
  yield* assessed(bob, "green", 3)
  yield* assessed(cleo, "blue", 1)
  const [before] = yield* results(taskId)
  const said = { all_bad: true, aspects: { clarity: [5 / 3, 8 / 3, 11 / 3] } }
  assert.deepInclude(before.annotations, { ...said, strength: 2, edited: "green, improved" })

  const decision = { taskId, promptIndex: 0, rationale: "", operator: "Lea" }
  yield* desk.decide({ ...decision, choice: 0 })
  assert.deepInclude((yield* results(taskId))[0].annotations, { ...said, strength: 1, edited: "blue, improved" })
  yield* desk.decide({ ...decision, choice: 2 })
  const { annotations } = (yield* results(taskId))[0]
  assert.deepInclude(annotations, { ...said, agreement: 0 })
  assert.notProperty(annotations, "strength")
  assert.notProperty(annotations, "edited")
  yield* desk.withdrawDecision(taskId, 0)

  yield* desk.voidVotes(ann, "", "Lea")
  const [voided] = yield* results(taskId)
  assert.deepInclude(voided.annotations, { strength: 3, edited: "green, improved", all_bad: false })
  const { items } = yield* detailOf(taskId)
  assert.deepInclude(items[0]!.voided[0], { strength: 1, edited: "green, improved", all_bad: true })
  yield* desk.restoreVotes(1, "Lea")
  assert.deepStrictEqual((yield* results(taskId))[0], before)
})

describe("prompts that miss a vote again", () => {
  test("by a start of the service after nobody answered are in the group's lane; decided ones stay closed", function* () {
    const { ann, bob, desk, queue, sql, taskStore } = yield* crew("ann", "bob")
    const taskId = yield* create(colors, { group: "colors" })
    yield* create([["snow", "white", "black"]], { group: "colors" })
    yield* desk.decide({ taskId, promptIndex: 0, choice: 0, rationale: "", operator: "Lea" })
    yield* taskStore.cancel(taskId)
    yield* sql`UPDATE task SET unanswered = 1 WHERE task_id = ${taskId}`
    yield* queue.setGroup({ groupId: "colors", priority: "normal", experts: [bob] })
    yield* Effect.gen(function* () {
      // `pending` would say that all votes of the task are open.
      assert.strictEqual(yield* statusOf(taskId), "in_progress")
      assert.isTrue(Option.isNone(yield* (yield* VoteQueue).next(ann)))
      assert.strictEqual((yield* next(bob)).prompt, "grass")
    }).pipe(Effect.provide(Layer.fresh(storeOver())))
  })

  test("and have it again before a start of the service complete the task that nobody answered", function* () {
    const { ann, desk, taskStore } = yield* crew("ann")
    const taskId = yield* create([["sky", "blue", "green"]])
    yield* judge(ann, "blue")
    yield* desk.voidVotes(ann, "", "Lea")
    assert.isTrue(yield* taskStore.cancelUnanswered(taskId))
    yield* desk.restoreVotes(1, "Lea")
    assert.strictEqual(yield* statusOf(taskId), "cancelled")
    yield* Effect.gen(function* () {
      yield* statusOf(taskId).pipe(Effect.repeat({ until: (status) => status === "completed", times: 100 }))
      assert.strictEqual((yield* results(taskId))[0].best_completion_index, 0)
    }).pipe(Effect.provide(Layer.fresh(storeOver())))
  })

  test("go to the group's experts, and by its priority, also where these were set or removed meanwhile", function* () {
    const { ann, bob, cleo, dan, desk, experts, queue } = yield* crew("ann", "bob", "cleo", "dan")
    yield* create([["early", "a", "b"]], { group: "early" })
    yield* create([["late", "a", "b"]], { group: "late" })
    yield* queue.setGroup({ groupId: "late", priority: "high", experts: [ann] })
    yield* judge(ann, "a", "a")
    // Both groups are complete when their lanes change.
    yield* queue.setGroup({ groupId: "late", priority: "normal", experts: undefined })
    yield* queue.setGroup({ groupId: "early", priority: "low", experts: [bob] })
    const last = yield* create([["last", "a", "b"]], { group: "last", votes: 4 })
    yield* desk.voidVotes(ann, "", "Lea")
    const promptsFor = Effect.fnUntraced(function* (expertId: string) {
      const prompts: Array<string> = []
      for (let item = yield* queue.next(expertId); Option.isSome(item); item = yield* queue.next(expertId)) {
        prompts.push(item.value.prompt)
        yield* queue.setAside(expertId, item.value.item_id, { kind: "skip", reason: "" })
      }
      return prompts
    })
    assert.deepStrictEqual(yield* promptsFor(cleo), ["late", "last"])
    assert.deepStrictEqual(yield* promptsFor(bob), ["late", "last", "early"])
    assert.deepStrictEqual(yield* promptsFor(ann), ["last"])

    // A lane that stays is kept, also by an item whose decision is withdrawn.
    yield* queue.setGroup({ groupId: "last", priority: "high", experts: [dan] })
    yield* desk.decide({ taskId: last, promptIndex: 0, choice: 0, rationale: "", operator: "Lea" })
    yield* desk.withdrawDecision(last, 0)
    const eve = (yield* experts.create("eve")).expert_id
    assert.deepStrictEqual(yield* promptsFor(eve), ["late"])
    assert.deepStrictEqual(yield* promptsFor(dan), ["last", "late"])
  })
})

describe("void votes", () => {
  told("leave the results, whose items return to the queue for others; undone, they count again", function* () {
    const { ann, bob, cleo, dan, desk, queue, sql } = yield* crew("ann", "bob", "cleo", "dan")
    const taskId = yield* create(colors, { votes: 3, group: "colors" })
    yield* judge(ann, "blue", "green")
    for (const one of [bob, cleo]) yield* judge(one, "green", "green")
    const before = yield* results(taskId)
    events.length = 0

    const voided = yield* desk.voidVotes(cleo, "careless", "Lea")
    assert.deepStrictEqual(voided, { voiding_id: 1, votes: 2, tasks: 1, reopened: 1 })
    const [tied] = yield* results(taskId)
    assert.deepStrictEqual(
      tied.annotations.votes.map(({ expert }: { expert: string }) => expert),
      [ann, bob],
    )
    assert.strictEqual(tied.annotations.tie, true)
    assert.strictEqual(yield* statusOf(taskId), "in_progress")
    assert.deepStrictEqual(events, [{ organization: "default", groupId: "colors", taskIds: [taskId] }])
    assert.strictEqual((yield* Effect.flip(desk.voidVotes(cleo, "", "Lea")))._tag, "Conflict")
    // Not by the same expert.
    assert.isTrue(Option.isNone(yield* queue.next(cleo)))

    const item = yield* next(dan)
    yield* queue.vote(dan, item.item_id, voteFor(item, "blue"))
    const restored = yield* desk.restoreVotes(1, "Lea")
    assert.deepStrictEqual(restored, { voiding_id: 1, votes: 1, tasks: 1, reopened: 0 })
    assert.strictEqual(yield* statusOf(taskId), "completed")
    const after = yield* results(taskId)
    assert.strictEqual(after[0].best_completion_index, 0)
    assert.deepStrictEqual(after[1], before[1])
    assert.deepInclude(events.at(-1), { taskIds: [taskId], mayGrow: true })
    assert.lengthOf(yield* sql`SELECT n FROM voided_vote`, 1)
  })

  told("withdraw a result that has no vote left, and say so", function* () {
    const { ann, bob, desk, taskStore } = yield* crew("ann", "bob")
    const taskId = yield* create(colors)
    yield* judge(ann, "blue")
    yield* judge(bob, "green")
    yield* desk.voidVotes(ann, "", "Lea")
    const found = yield* Effect.flatMap(taskStore.find("default", taskId), Effect.fromOption)
    assert.deepStrictEqual([found.status, Option.isNone(found.answer)], ["in_progress", true])
    assert.strictEqual(events.at(-1)?.type, "task_group.reopened")
    yield* judge(bob, "green")
    assert.strictEqual((yield* results(taskId))[0].best_completion_index, 1)
    assert.lengthOf(events, 3)
  })
})

describe("reports", () => {
  test("equal items of several tasks are one entry, with the votes of all", function* () {
    const { ann, bob, cleo, desk, queue, taskStore } = yield* crew("ann", "bob", "cleo")
    const guidelines = "Be kind."
    // As a client sends 30 items three times, with the completions in another order each time.
    const prompts = Array.from({ length: 30 }, (_, i) => `p${i}`)
    const orders = [
      ["red", "green", "blue"],
      ["blue", "red", "green"],
      ["green", "blue", "red"],
    ] as const
    const inOrder = (order: (typeof orders)[number]) => prompts.map((prompt) => [prompt, ...order] as const)
    const tasks = yield* Effect.forEach(orders, (order) => create(inOrder(order), { guidelines }))
    const elsewhere = [
      yield* create([["p29", ...orders[0]]]),
      yield* create([["p29", ...orders[0]]], { guidelines, group: "week 48" }),
      yield* create([["p29", ...orders[0]]], { guidelines }),
    ]
    yield* taskStore.cancel(elsewhere[2]!)
    yield* queue.setGroup({ groupId: elsewhere[0]!, priority: "low", experts: undefined })
    yield* queue.setGroup({ groupId: "week 48", priority: "low", experts: undefined })
    yield* judge(ann, "red")
    const begun = (yield* desk.items({ text: "p0" })).items
    assert.deepInclude(begun[0], { state: "open", votes: 1, votes_required: 3, agreement: null })
    for (const expert of [ann, bob, cleo]) {
      for (let i = expert === ann ? 1 : 0; i < 30; i++) yield* judge(expert, "blue")
    }
    const all = yield* desk.items({ limit: 20 })
    const rest = yield* desk.items({ limit: 20, before: all.next! })
    assert.deepStrictEqual(
      [...all.items, ...rest.items].map(({ prompt, task_id }) => [prompt, task_id]),
      [
        ["p29", elsewhere[2]],
        ["p29", elsewhere[1]],
        ["p29", elsewhere[0]],
        ...prompts.toReversed().map((prompt) => [prompt, tasks[2]]),
      ],
    )
    assert.isNull(rest.next)
    const [p0, p1] = [rest.items.at(-1)!, rest.items.at(-2)!]
    assert.deepInclude(p1, { prompt: "p1", votes: 3, votes_required: 3, agreement: 1 })
    assert.deepInclude(p0, { prompt: "p0", state: "done", votes: 3, votes_required: 3, agreement: 2 / 3 })
    assert.deepStrictEqual(p0.equal, [
      { task_id: tasks[1]!, index: 0 },
      { task_id: tasks[0], index: 0 },
    ])
    // The filter decides which of them it is.
    const judged = yield* desk.items({ expert: ann, limit: 200 })
    assert.lengthOf(judged.items, 30)
    assert.isTrue(judged.items.every(({ task_id, votes }) => task_id === tasks[0] && votes === 3))
  })

  test("items are found by text, group, state, expert, flag and agreement, page by page", function* () {
    const { ann, bob, desk, queue, taskStore } = yield* crew("ann", "bob")
    yield* create(colors, { votes: 2, group: "colors" })
    yield* create([["100% of_them", "all", "none"]])
    yield* judge(ann, "blue")
    yield* judge(bob, "green")
    const grass = yield* next(ann)
    yield* queue.setAside(ann, grass.item_id, { kind: "flag", problem: "unclear_prompt", comment: "" })
    const found = (filter: Parameters<typeof desk.items>[0]) =>
      Effect.map(desk.items(filter), ({ items }) => items.map(({ prompt }) => prompt))
    assert.deepStrictEqual(yield* found({}), ["100% of_them", "grass", "sky"])
    assert.deepStrictEqual(yield* found({ text: "0% OF_" }), ["100% of_them"])
    assert.deepStrictEqual(yield* found({ text: "s%y" }), [])
    assert.deepStrictEqual(yield* found({ group: "colors", text: "" }), ["grass", "sky"])
    assert.deepStrictEqual(yield* found({ state: "waiting" }), ["100% of_them", "grass"])
    assert.deepStrictEqual(yield* found({ state: "disputed" }), ["sky"])
    assert.deepStrictEqual(yield* found({ max_agreement: 50 }), ["sky"])
    assert.deepStrictEqual(yield* found({ max_agreement: 49 }), [])
    assert.deepStrictEqual(yield* found({ expert: bob }), ["sky"])
    assert.deepStrictEqual(yield* found({ flagged: "true" }), ["grass"])
    const first = yield* desk.items({ limit: 2 })
    assert.deepStrictEqual(yield* found({ before: first.next! }), ["sky"])
    assert.lengthOf((yield* taskStore.list({ text: "COLOR" })).tasks, 1)

    const group = yield* Effect.flatMap(desk.group("colors"), Effect.fromOption)
    assert.deepStrictEqual(
      [group.tasks.open, group.prompts, group.votes, group.votes_required, group.disputed, group.flagged],
      [1, 2, 2, 4, 1, 1],
    )
    assert.deepStrictEqual(
      group.experts.map(({ name, votes }) => [name, votes]),
      [
        ["ann", 1],
        ["bob", 1],
      ],
    )
    const expert = yield* Effect.flatMap(desk.expert(ann), Effect.fromOption)
    assert.sameMembers([...expert.latest.places[0]!.chosen], [0, 1])
    assert.deepStrictEqual(expert.days, [{ day: 0, votes: 1 }])
    assert.isTrue(Option.isNone(yield* desk.group("none")))
  })
})
