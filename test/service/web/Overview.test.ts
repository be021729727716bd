import { assert } from "@effect/vitest"
import { Context, Effect } from "effect"
import { TestClock } from "effect/testing"
import { Database } from "../../../src/service/database/Database.ts"
import { wilsonInterval } from "../../../src/domain/Interval.ts"
import { Experts } from "../../../src/service/store/Experts.ts"
import type { Browser } from "./http.ts"
import { joined, signedInAs, taskOf, test, withOperator } from "./support.ts"

/** Votes on what comes, at most so often, for this completion, each after ten seconds. */
const judge = Effect.fnUntraced(function* (expert: Pick<Browser, "ask">, choice: string, votes = 100) {
  let work = (yield* expert.ask("POST", "/annotate/api/next")).json
  for (let i = 0; i < votes && work.item !== null; i++) {
    yield* TestClock.adjust("10 seconds")
    const { completions, item_id } = work.item
    const vote = { best: completions.indexOf(choice), ranking: null, rationale: "", seconds: 10 }
    work = (yield* expert.ask("POST", `/annotate/api/items/${item_id}/vote`, vote)).json
  }
})

const day = 24 * 60 * 60 * 1000
const monday = 4 * day

const prompts = (n: number) => Array.from({ length: n }, (_, i) => [`p${i}`, "a", "b"] as const)

test("the overview has progress, votes by day, agreement by week, and experts with intervals", function* () {
  const { operator, service } = yield* withOperator()
  // The test's clock begins on a Thursday.
  yield* taskOf(service, prompts(8), { votes: 2, group: "week-48" })
  yield* taskOf(service, prompts(1), { guidelines: "Others." })
  const [eva, eli] = [yield* joined(service.base, operator, "Eva"), yield* joined(service.base, operator, "Eli")]
  yield* judge(eva, "a", 7)
  yield* judge(eli, "a", 6)
  yield* TestClock.setTime(monday)
  yield* judge(eli, "b", 1)
  const viewer = yield* signedInAs(service, "viewer")
  const report = Effect.andThen(
    TestClock.adjust("5 seconds"),
    Effect.map(viewer.ask("GET", "/dashboard/api/overview/report"), ({ json }) => json),
  )
  const { days, experts, ...rest } = yield* report
  assert.deepStrictEqual(rest, {
    total: { items: 9, items_done: 7, votes: 14, votes_needed: 17 },
    groups: [{ group_id: "week-48", items: 8, items_done: 7, votes: 14, votes_needed: 16 }],
    disagreements: 1,
    weeks: [
      { week: monday - 7 * day, agreed: 12, compared: 13, ...wilsonInterval(12, 13) },
      { week: monday, agreed: 0, compared: 1, ...wilsonInterval(0, 1) },
    ],
    stuck: [],
    judges: [],
  })
  assert.lengthOf(days, 30)
  assert.deepStrictEqual(days.at(-1), { day: monday, people: 1, automatic: 0 })
  assert.deepStrictEqual(days.at(-5), { day: 0, people: 13, automatic: 0 })
  const seconds = { median: 10, low: 10, high: 10 }
  const rates = { votes: 7, agreed: 6, compared: 7, ...wilsonInterval(6, 7)!, seconds }
  assert.sameDeepMembers(experts, [
    { expert_id: eva.expertId, name: "Eva", ...rates },
    { expert_id: eli.expertId, name: "Eli", ...rates },
  ])
  const manager = yield* signedInAs(service, "manager")
  yield* manager.ask("POST", `/dashboard/api/experts/${eli.expertId}/void`, { reason: "" })
  assert.strictEqual((yield* report).days.at(-1).people, 0)
})

test("the overview has the last 12 weeks, this one included", function* () {
  const { operator, service } = yield* withOperator()
  yield* taskOf(service, prompts(1), { votes: 2 })
  for (const name of ["Eva", "Eli"]) yield* judge(yield* joined(service.base, operator, name), "a")
  const { sql } = Context.get(service.services, Database)
  // Today is a Thursday. Moving votes back is faster than moving the clock.
  const weeksAfter = (days: number) =>
    sql`UPDATE vote_day SET day = day - ${days}`.pipe(
      Effect.andThen(TestClock.adjust("5 seconds")),
      Effect.andThen(operator.ask("GET", "/dashboard/api/overview/report")),
      Effect.map(({ json }) => json.weeks.map(({ week }: { readonly week: number }) => week)),
    )
  assert.deepStrictEqual(yield* weeksAfter(80), [-80 * day])
  assert.deepStrictEqual(yield* weeksAfter(1), [])
})

test("the overview lists what is stuck: holds, pauses, outages, webhooks, items that nobody may judge or that wait", function* () {
  const { operator, service } = yield* withOperator()
  const { sql } = Context.get(service.services, Database)
  const stuck = Effect.andThen(
    TestClock.adjust("5 seconds"),
    Effect.map(operator.ask("GET", "/dashboard/api/overview/report"), ({ json }) =>
      json.stuck.map(({ id, index, kind, name }: Record<string, unknown>) => [kind, id, index, name]),
    ),
  )
  // Without an expert, nobody may judge anything.
  const twice = yield* taskOf(service, prompts(1), { votes: 2 })
  assert.deepStrictEqual(yield* stuck, [["unassignable", twice, 0, ""]])
  const eva = yield* joined(service.base, operator, "Eva")
  assert.deepStrictEqual(yield* stuck, [["unassignable", twice, 0, ""]])
  const eli = yield* joined(service.base, operator, "Eli")
  assert.deepStrictEqual(yield* stuck, [])

  // Whoever set an item aside can't give its vote.
  const { json: work } = yield* eva.ask("POST", "/annotate/api/next")
  yield* eva.ask("POST", `/annotate/api/items/${work.item.item_id}/skip`, { reason: "" })
  assert.deepStrictEqual(yield* stuck, [["unassignable", twice, 0, ""]])
  yield* operator.ask("PUT", `/dashboard/api/groups/${twice}/paused`, { paused: true })
  assert.deepStrictEqual(yield* stuck, [["paused", twice, 0, ""]])
  yield* operator.ask("POST", `/dashboard/api/tasks/${twice}/cancel`)
  assert.deepStrictEqual(yield* stuck, [])

  // Eva has seen the first of three equal items, so the second waits for Eli, who may still judge it.
  const fresh = { guidelines: "Be fresh." }
  yield* taskOf(service, prompts(1), fresh)
  const second = yield* taskOf(service, prompts(1), fresh)
  const third = yield* taskOf(service, prompts(1), fresh)
  yield* judge(eva, "a")
  assert.deepStrictEqual(yield* stuck, [])
  yield* eli.ask("POST", "/annotate/api/next")
  assert.deepStrictEqual(yield* stuck, [["deferred", third, 0, ""]])
  yield* operator.ask("POST", `/dashboard/api/tasks/${third}/cancel`)
  // Drafts prolong the hold.
  const hold = sql`UPDATE hold SET held_until = held_until + 3600000`
  yield* hold
  yield* TestClock.adjust("31 minutes")
  assert.deepStrictEqual(yield* stuck, [["held", second, 0, "Eli"]])
  yield* judge(eli, "a")

  const until = day
  const { employ } = Context.get(service.services, Experts)
  const nobody = { names: [], outages: () => [], doubts: () => [], paid: Effect.succeed([]) }
  const outages = () => [{ name: "judge:m", until }]
  const doubts = () => [{ expert: "judge:m", name: "b1", since: until }]
  yield* employ({ ...nobody, names: ["judge:m"], outages, doubts })
  assert.deepStrictEqual(yield* stuck, [
    ["outage", "judge:m", null, "judge:m"],
    ["doubt", "judge:m", null, "b1"],
  ])
  yield* employ(nobody)
  yield* sql`INSERT INTO webhook_endpoint VALUES (1, 'http://127.0.0.1:9/', 0, 'The receiver answered 410.', 0)`
  assert.deepStrictEqual(yield* stuck, [["webhook", "", null, ""]])
})
