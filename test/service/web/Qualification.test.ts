import { assert } from "@effect/vitest"
import { assertProblem } from "./http.ts"
import { joined, judgeAll, taskOf, test, withOperator } from "./support.ts"

const gold = ["a", "b", "c"].map((name) => ({
  key: name,
  prompt: `gold ${name}`,
  completions: ["other", "right"],
  best: 1,
}))
const path = "/dashboard/api/qualification"
const settings = { items: 2, min_percent: 100, pause_percent: null, guidelines: "Look closely." }

test("a lead sets it, and an expert who fails gets no work, and learns no answer", function* () {
  const { operator: lead, service } = yield* withOperator({ gold })
  const refused = yield* lead.ask("PUT", path, { ...settings, items: 4 })
  assertProblem(refused, 409, "conflict")
  assert.include(refused.json.detail, "has only 3 distinct items")
  assertProblem(yield* lead.ask("PUT", path, { ...settings, min_percent: 0 }), 400, "malformed-request")
  assert.deepInclude((yield* lead.ask("PUT", path, settings)).json, { settings, available: 3, standings: [] })

  yield* taskOf(service, [["p1", "x", "y"]])
  const expert = yield* joined(service.base, lead)
  const { json: first } = yield* expert.ask("POST", "/annotate/api/next")
  assert.deepInclude(first.item, { qualification: true, guidelines: "Look closely." })
  assert.notInclude(JSON.stringify(first), "best_completion")
  const skip = `/annotate/api/items/${first.item.item_id}/skip`
  assertProblem(yield* expert.ask("POST", skip, { reason: "" }), 409, "conflict")
  yield* judgeAll(expert, (prompt) => (prompt === first.item.prompt ? "right" : "other"))
  const { json: stopped } = yield* expert.ask("POST", "/annotate/api/next")
  assert.match(stopped.progress.stopped, /1 of the 2 qualification items right/)
  const { json: seen } = yield* lead.ask("GET", path)
  assert.deepStrictEqual(seen.standings, [{ expert_id: expert.expertId, state: "failed", right: 1, judged: 2 }])
})
