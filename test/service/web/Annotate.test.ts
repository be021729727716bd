import { assert, describe } from "@effect/vitest"
import { Context, Duration, Effect } from "effect"
import { Database } from "../../../src/service/database/Database.ts"
import { Experts } from "../../../src/service/store/Experts.ts"
import { TaskStore } from "../../../src/service/store/TaskStore.ts"
import { assertProblem, browser } from "./http.ts"
import { atWork, joined, password, type Started, taskOf, test, withOperator } from "./support.ts"

const draft = { mode: "best", best: 1, ranking: [], rationale: "so far", seconds: 3.5 }
const detailOf = ({ services }: Started, task: string) =>
  Effect.flatMap(Context.get(services, TaskStore).detail(task, 0), Effect.fromOption)
const vote = (best: number, rationale = "") => ({ best, ranking: null, rationale, seconds: 1 })

describe("joining", () => {
  test("an invitation works once, for 7 days", function* () {
    const { operator, service } = yield* withOperator()
    const invite = Effect.fnUntraced(function* (name: string) {
      const { json } = yield* operator.ask("POST", "/dashboard/api/experts", { name })
      return String(json.invitation.split("=")[1])
    })
    const { ask } = browser(service.base)
    const join = (code: string) => ask("POST", "/annotate/api/join", { code })

    const used = yield* invite("Eva")
    assertProblem(yield* ask("POST", "/dashboard/api/set-up", { code: used, name: "Eva", password }), 403, "forbidden")
    assert.deepStrictEqual((yield* join(used)).json, { name: "Eva" })
    assertProblem(yield* join(used), 403, "forbidden")
    assertProblem(yield* join("guess"), 403, "forbidden")
    assertProblem(yield* join("x".repeat(201)), 400, "malformed-request")

    const old = yield* invite("Eda")
    // Seven days of the clock are ten thousand rounds of the queue.
    yield* Context.get(service.services, Database)
      .sql`UPDATE one_time_code SET expires_at = expires_at - ${Duration.toMillis("7 days")}`
    assertProblem(yield* join(old), 403, "forbidden")
  })

  test("a session goes on when there is a new invitation, until it is signed out", function* () {
    const { expert, operator } = yield* atWork()
    yield* operator.ask("POST", `/dashboard/api/experts/${expert.expertId}/invite`)
    const { json } = yield* expert.ask("GET", "/annotate/api/session")
    assert.deepStrictEqual(json, {
      expert_id: expert.expertId,
      name: "Eva",
      progress: { judged: 0, judged_today: 0, needed: 0, undoable: false, stopped: null },
    })
    assert.strictEqual((yield* expert.ask("POST", "/annotate/api/sign-out")).status, 204)
    assertProblem(yield* expert.ask("GET", "/annotate/api/session"), 401, "not-signed-in")
  })
})

test("an expert who is not active gets in with no session, whatever became of it", function* () {
  const { expert, service } = yield* atWork()
  // Not by the dashboard, which ends the sessions as well.
  yield* Context.get(service.services, Experts).setActive(expert.expertId, false)
  assertProblem(yield* expert.ask("POST", "/annotate/api/next"), 401, "not-signed-in")
})

describe("work", () => {
  test("an item in an order of one's own, with its draft, until it is judged", function* () {
    const { expert, service } = yield* atWork()
    const empty = yield* expert.ask("POST", "/annotate/api/next")
    assert.isNull(empty.json.item)

    const task = yield* taskOf(service, [
      ["p1", "a", "b", "c"],
      ["p2", "d", "e"],
    ])
    const { json: work } = yield* expert.ask("POST", "/annotate/api/next")
    assert.strictEqual(work.item.prompt, "p1")
    assert.strictEqual(work.item.guidelines, "Be fair.")
    assert.sameMembers(work.item.completions, ["a", "b", "c"])
    assert.deepStrictEqual(work.item.task, { task_id: task, prompts: 2, judged: 0, number: 1 })
    assert.isNull(work.item.draft)
    assert.strictEqual(work.progress.needed, 2)

    const item = `/annotate/api/items/${work.item.item_id}`
    assert.strictEqual((yield* expert.ask("PUT", `${item}/draft`, draft)).status, 204)
    const { json: same } = yield* expert.ask("POST", "/annotate/api/next")
    assert.deepStrictEqual(same.item.draft, draft)
    assert.deepStrictEqual(same.item.completions, work.item.completions)

    const { json: after } = yield* expert.ask("POST", `${item}/vote`, vote(1, "Better."))
    assert.strictEqual(after.item.prompt, "p2")
    assert.isTrue(after.progress.undoable)
    yield* expert.ask("POST", `/annotate/api/items/${after.item.item_id}/vote`, {
      best: null,
      ranking: [[1], [0]],
      rationale: " ",
      seconds: 1,
    })

    const [one, two] = (yield* detailOf(service, task)).items
    assert.strictEqual(one!.completions[one!.result!.best_completion_index], work.item.completions[1])
    assert.strictEqual(one!.result!.rationale, "Better.")
    assert.strictEqual(two!.completions[two!.votes[0]!.choice], after.item.completions[1])
    assert.notProperty(two!.votes[0], "rationale", "a blank one is none")
  })

  test("a vote that is not one is refused, and the item is held on", function* () {
    const { expert, service } = yield* atWork()
    yield* taskOf(service, [["p", "a", "b", "c"]])
    const { json: work } = yield* expert.ask("POST", "/annotate/api/next")
    const path = `/annotate/api/items/${work.item.item_id}/vote`
    for (const body of [
      vote(3),
      vote(-1),
      { ...vote(0), best: null },
      { ...vote(0), best: null, ranking: [[0], [1]] },
      { ...vote(0), best: null, ranking: [[0], [1], [1, 2]] },
      { ...vote(0), best: null, ranking: [[0], [], [1, 2]] },
      { ...vote(0), best: null, ranking: [[0], [1], [3]] },
      { ...vote(1), ranking: [[0], [1], [2]] },
      { ...vote(0), seconds: -1 },
      { ...vote(0), rationale: "x".repeat(20_001) },
      {},
      "{",
    ]) {
      assertProblem(yield* expert.ask("POST", path, body), 400, "malformed-request")
    }
    assertProblem(yield* expert.ask("POST", "/annotate/api/items/x/vote", vote(0)), 400, "malformed-request")
    assert.strictEqual((yield* expert.ask("POST", "/annotate/api/next")).json.item.item_id, work.item.item_id)
    assert.strictEqual((yield* expert.ask("POST", path, vote(2))).status, 200)
  })

  test("what another holds, or nobody, is a conflict", function* () {
    const { expert: eva, operator, service } = yield* atWork()
    const udo = yield* joined(service.base, operator, "Udo")
    yield* taskOf(service, [["p", "a", "b"]])
    const { json: work } = yield* eva.ask("POST", "/annotate/api/next")
    assert.isNull((yield* udo.ask("POST", "/annotate/api/next")).json.item, "one vote, one holder")
    for (const id of [work.item.item_id, 12_345]) {
      const item = `/annotate/api/items/${id}`
      assertProblem(yield* udo.ask("PUT", `${item}/draft`, draft), 409, "conflict")
      assertProblem(yield* udo.ask("POST", `${item}/vote`, vote(0)), 409, "conflict")
      assertProblem(yield* udo.ask("POST", `${item}/skip`, { reason: "" }), 409, "conflict")
      assertProblem(yield* udo.ask("POST", `${item}/flag`, { kind: "other", comment: "Bad." }), 409, "conflict")
    }
    yield* operator.ask("PUT", `/dashboard/api/experts/${eva.expertId}/active`, { active: false })
    const freed = yield* udo.ask("POST", "/annotate/api/next")
    assert.strictEqual(freed.json.item.item_id, work.item.item_id, "it returned to the queue")
  })

  test("skip and flag leave the item to others; a flag needs a reason", function* () {
    const { expert, service } = yield* atWork()
    yield* taskOf(service, [
      ["p1", "a", "b"],
      ["p2", "a", "b"],
    ])
    const { json: one } = yield* expert.ask("POST", "/annotate/api/next")
    const { json: two } = yield* expert.ask("POST", `/annotate/api/items/${one.item.item_id}/skip`, { reason: "" })
    assert.strictEqual(two.item.prompt, "p2")
    const flag = `/annotate/api/items/${two.item.item_id}/flag`
    for (const comment of ["", "  "]) {
      assertProblem(yield* expert.ask("POST", flag, { kind: "other", comment }), 400, "malformed-request")
    }
    assert.isNull((yield* expert.ask("POST", flag, { kind: "other", comment: "Hostile." })).json.item)
  })

  test("the last vote can be taken back, with what was entered, also the last of its task", function* () {
    const { expert, service } = yield* atWork()
    assertProblem(yield* expert.ask("POST", "/annotate/api/undo"), 409, "conflict")
    yield* taskOf(service, [
      ["p1", "a", "b", "c"],
      ["p2", "a", "b"],
    ])
    const { json: one } = yield* expert.ask("POST", "/annotate/api/next")
    const ranking = [[2], [0, 1]]
    const submitted = { best: null, ranking, rationale: "By length.", seconds: 0 }
    const { json: two } = yield* expert.ask("POST", `/annotate/api/items/${one.item.item_id}/vote`, submitted)
    const { json: undone } = yield* expert.ask("POST", "/annotate/api/undo")
    assert.strictEqual(undone.item.item_id, one.item.item_id)
    assert.isTrue(undone.item.undone)
    assert.deepStrictEqual(undone.item.completions, one.item.completions)
    assert.deepInclude(undone.item.draft, { mode: "rank", ranking, rationale: "By length." })
    yield* expert.ask("POST", `/annotate/api/items/${one.item.item_id}/vote`, vote(0))
    const { json: done } = yield* expert.ask("POST", `/annotate/api/items/${two.item.item_id}/vote`, vote(0))
    assert.deepInclude(done, {
      item: null,
      progress: { judged: 2, judged_today: 2, needed: 0, undoable: true, stopped: null },
    })
    const { json: last } = yield* expert.ask("POST", "/annotate/api/undo")
    assert.strictEqual(last.item.item_id, two.item.item_id)
  })
})

test("an expert corrects a judgment until its task is completed, and the earlier one is kept", function* () {
  const { expert, operator, service } = yield* atWork()
  const udo = yield* joined(service.base, operator, "Udo")
  const task = yield* taskOf(
    service,
    [
      ["p1", "a", "b", "c"],
      ["p2", "a", "b"],
    ],
    { guidelines: "---\nrubric:\n  strength: true\n---\n", votes: 2 },
  )
  const detail = detailOf(service, task)
  const { json: one } = yield* expert.ask("POST", "/annotate/api/next")
  const path = `/annotate/api/judgments/${one.item.item_id}`
  assertProblem(yield* expert.ask("GET", path), 409, "conflict")
  const { json: two } = yield* expert.ask("POST", `/annotate/api/items/${one.item.item_id}/vote`, vote(1, "First."))

  const { json: list } = yield* expert.ask("GET", "/annotate/api/judgments")
  assert.deepInclude(list[0], { item_id: one.item.item_id, prompt: "p1", ranking: [[1]], is_open: true })
  assert.lengthOf(list, 1)
  const { json: opened } = yield* expert.ask("GET", path)
  assert.deepInclude(opened.item.draft, { mode: "best", best: 1, rationale: "First." })
  assert.strictEqual(opened.item.corrects, list[0].given_at)
  assert.deepStrictEqual(opened.item.completions, one.item.completions)
  assert.lengthOf((yield* detail).items[0]!.votes, 1, "it counts until it is replaced")

  const assessment = { strength: 2, all_bad: false, flags: [], aspects: {}, edited: null }
  assertProblem(yield* expert.ask("PUT", path, vote(3)), 400, "malformed-request")
  assertProblem(yield* udo.ask("PUT", path, vote(0)), 409, "conflict")
  const ranked = { best: null, ranking: [[2], [0, 1]], rationale: "Second.", seconds: 2, assessment }
  const { json: after } = yield* expert.ask("PUT", path, ranked)
  assert.strictEqual(after.item.item_id, two.item.item_id, "the item that was held")
  assert.deepInclude(after.progress, { judged: 1, judged_today: 1, needed: 3 })
  const shown = (yield* detail).items[0]!
  const [given] = shown.votes
  assert.deepInclude(given, { rationale: "Second.", strength: 2 })
  assert.strictEqual(shown.completions[given!.choice], one.item.completions[2])
  assert.deepStrictEqual(
    shown.replaced.map(({ choice, expert_name, rationale }) => [shown.completions[choice], expert_name, rationale]),
    [[one.item.completions[1], "Eva", "First."]],
  )
  const { json: changed } = yield* expert.ask("GET", "/annotate/api/judgments")
  assert.deepInclude(changed[0], { ranking: [[2], [0, 1]], is_open: true })

  // A decision ends what can be corrected.
  const decision = `/dashboard/api/tasks/${task}/items/0/decision`
  assert.strictEqual((yield* operator.ask("PUT", decision, { choice: 0, rationale: "" })).status, 204)
  assertProblem(yield* expert.ask("PUT", path, ranked), 409, "conflict")
  assertProblem(yield* expert.ask("GET", path), 409, "conflict")
  assert.isFalse((yield* expert.ask("GET", "/annotate/api/judgments")).json[0].is_open)
})

describe("a rubric", () => {
  const guidelines = `---
rubric:
  strength: true
  all_bad: true
  edit: true
  flags: [unsafe]
  aspects: [{ name: clarity, steps: 3 }]
---
Be fair.`
  const nothing = { strength: null, all_bad: false, flags: [], edited: null, aspects: {} }

  test("has required answers, which the service names if they are missing", function* () {
    const { expert, service } = yield* atWork()
    const required = `---
rubric:
  strength: required
  edit: required
  rationale: required
  aspects: [style, { name: truth, required: true }]
---
`
    yield* taskOf(
      service,
      [
        ["p", "a", "b"],
        ["q", "a", "b"],
      ],
      { guidelines: required },
    )
    const { json: work } = yield* expert.ask("POST", "/annotate/api/next")
    const path = `/annotate/api/items/${work.item.item_id}/vote`
    const whole = { ...nothing, strength: 1, edited: "c", aspects: { truth: [1, 2] } }
    for (const [member, assessment, rationale] of [
      ["strength", undefined, "why"],
      ["strength", { ...whole, strength: null }, "why"],
      ["edit", { ...whole, edited: work.item.completions[1] }, "why"],
      ["rationale", whole, " "],
      ["truth", { ...whole, aspects: { truth: [null, 2], style: [1, 1] } }, "why"],
    ] as const) {
      const answer = yield* expert.ask("POST", path, { ...vote(1, rationale), assessment })
      assertProblem(answer, 422, "answer-required")
      assert.strictEqual(answer.json.member, member)
    }
    const { json: next } = yield* expert.ask("POST", path, { ...vote(1, "why"), assessment: whole })
    assert.strictEqual(next.item.prompt, "q")
    const correction = { ...vote(1, ""), assessment: whole }
    assertProblem(
      yield* expert.ask("PUT", path.replace(/items(.*)\/vote/, "judgments$1"), correction),
      422,
      "answer-required",
    )
  })

  test("is shown apart from the guidelines, and what is said is in the vote, in the order of the task", function* () {
    const { expert, service } = yield* atWork()
    const task = yield* taskOf(service, [["p1", "a", "b", "c"]], { guidelines })
    const { json: work } = yield* expert.ask("POST", "/annotate/api/next")
    const { completions, item_id, rubric } = work.item
    assert.strictEqual(work.item.guidelines, "Be fair.")
    assert.deepInclude(rubric, { all_bad: true, edit: true, flags: ["unsafe"] })
    const path = `/annotate/api/items/${item_id}/vote`

    for (const wrong of [
      { strength: 4 },
      { strength: 0 },
      { flags: ["odd"] },
      { aspects: { depth: [1, 1, 1] } },
      { aspects: { clarity: [1, 1] } },
      { aspects: { clarity: [4, 1, 1] } },
    ]) {
      const body = { ...vote(1), assessment: { ...nothing, ...wrong } }
      assertProblem(yield* expert.ask("POST", path, body), 400, "malformed-request")
    }

    const said = {
      strength: 2,
      all_bad: true,
      flags: ["unsafe"],
      edited: "better",
      aspects: { clarity: [1, 3, null] },
    }
    yield* expert.ask("POST", path, { ...vote(1), assessment: said })
    const { json: undone } = yield* expert.ask("POST", "/annotate/api/undo")
    const { edited, ...rest } = said
    assert.deepStrictEqual(undone.item.draft.assessment, { ...rest, edit: { place: 1, text: edited } })
    assert.strictEqual((yield* expert.ask("PUT", path.replace("vote", "draft"), undone.item.draft)).status, 204)
    yield* expert.ask("POST", path, { ...vote(1), assessment: said })

    const [item] = (yield* detailOf(service, task)).items
    const ratings = ["a", "b", "c"].map((text) => [1, 3, null][completions.indexOf(text)] ?? null)
    assert.deepInclude(item!.votes[0], { ...said, aspects: { clarity: ratings } })
  })

  test("of which nothing is said leaves the vote as it was, but that not all are bad", function* () {
    const { expert, service } = yield* atWork()
    const task = yield* taskOf(service, [["p1", "a", "b"]], { guidelines })
    const { json: work } = yield* expert.ask("POST", "/annotate/api/next")
    // An edit that changes nothing is none.
    const assessment = { ...nothing, edited: work.item.completions[0] }
    yield* expert.ask("POST", `/annotate/api/items/${work.item.item_id}/vote`, { ...vote(0), assessment })
    const [item] = (yield* detailOf(service, task)).items
    assert.hasAllKeys(item!.votes[0], ["expert", "kind", "expert_name", "choice", "order", "seconds", "all_bad"])
    assert.isFalse(item!.votes[0]!.all_bad)
  })
})
