import { assert } from "@effect/vitest"
import { assertProblem, browser, raw } from "./http.ts"
import { joined, taskOf, test, withOperator } from "./support.ts"

const gold = ["a", "b", "c"].map((name) => ({
  key: name,
  prompt: `gold ${name}`,
  completions: ["other", "right"],
  best: 1,
}))
const path = "/dashboard/api/qualification"
const settings = { items: 2, min_percent: 100, pause_percent: null, guidelines: "Look closely." }

test("a lead sets it, an expert goes through it, fails, and is let in", function* () {
  const { operator: lead, service } = yield* withOperator({ gold })
  const refused = yield* lead.ask("PUT", path, { ...settings, items: 4 })
  assertProblem(refused, 409, "conflict")
  assert.include(refused.json.detail, "has only 3 distinct items")
  assertProblem(yield* lead.ask("PUT", path, { ...settings, min_percent: 0 }), 400, "malformed-request")
  const set = yield* lead.ask("PUT", path, settings)
  assert.deepInclude(set.json, { settings, available: 3, standings: [] })

  yield* taskOf(service, [["p1", "x", "y"]])
  const expert = yield* joined(service.base, lead)
  const { json: first } = yield* expert.ask("POST", "/annotate/api/next")
  assert.deepInclude(first.item, {
    qualification: true,
    guidelines: "Look closely.",
    task: { task_id: "", prompts: 2, judged: 0, number: 1 },
  })
  assert.isBelow(first.item.item_id, 0)
  assert.notInclude(JSON.stringify(first), "best_completion")
  const at = `/annotate/api/items/${first.item.item_id}`
  assertProblem(yield* expert.ask("POST", `${at}/skip`, { reason: "" }), 409, "conflict")
  const draft = { mode: "best", best: 1, ranking: [], rationale: "", seconds: 1 }
  assert.strictEqual((yield* expert.ask("PUT", `${at}/draft`, draft)).status, 204)
  const vote = (item: { readonly completions: ReadonlyArray<string> }, text: string) => ({
    best: item.completions.indexOf(text),
    ranking: null,
    rationale: "",
    seconds: 1,
  })
  const { json: second } = yield* expert.ask("POST", `${at}/vote`, vote(first.item, "right"))
  assert.deepInclude(second.item.task, { judged: 1, number: 2 })
  assertProblem(yield* expert.ask("POST", `${at}/vote`, vote(first.item, "right")), 409, "conflict")
  const { json: done } = yield* expert.ask(
    "POST",
    `/annotate/api/items/${second.item.item_id}/vote`,
    vote(second.item, "other"),
  )
  assert.isNull(done.item)
  assert.match(done.progress.stopped, /1 of the 2 qualification items right/)
  const { json: seen } = yield* lead.ask("GET", path)
  assert.deepStrictEqual(seen.standings, [{ expert_id: expert.expertId, state: "failed", right: 1, judged: 2 }])

  const admit = `/dashboard/api/experts/${expert.expertId}/admit`
  // Another page can't do it with the operator's cookie.
  const cookie = [...lead.cookies].map((pair) => pair.join("=")).join()
  const foreign = yield* raw(service.base, admit, {
    method: "POST",
    headers: { host: new URL(service.base).host, cookie, origin: "https://evil.example" },
  })
  assert.strictEqual(foreign.status, 403)
  assertProblem(yield* browser(service.base).ask("POST", admit), 401, "not-signed-in")
  assert.strictEqual((yield* lead.ask("POST", admit)).status, 204)
  const { json: work } = yield* expert.ask("POST", "/annotate/api/next")
  assert.deepInclude(work.item, { prompt: "p1", qualification: false })
  assert.isNull(work.progress.stopped)
})
