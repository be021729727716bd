import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { assertProblem } from "./http.ts"
import { joined, judgeAll, signedInAs, taskOf, test, withOperator } from "./support.ts"

test("a manager has the number of disagreements by the filters, and replaces no decision unknowingly", function* () {
  const { operator, service } = yield* withOperator()
  const task = yield* taskOf(
    service,
    ["p", "q", "r"].map((prompt) => [prompt, "a", "b"] as const),
    { votes: 2 },
  )
  for (const [name, choice] of [
    ["Eva", "a"],
    ["Eli", "b"],
  ] as const) {
    yield* judgeAll(yield* joined(service.base, operator, name), (prompt) => (prompt === "r" ? "a" : choice))
  }
  const manager = yield* signedInAs(service, "manager")
  const viewer = yield* signedInAs(service, "viewer")
  const list = (query = "") => Effect.map(viewer.ask("GET", `/dashboard/api/items?${query}`), ({ json }) => json)
  assert.lengthOf((yield* list()).items, 3)
  for (const [query, disagreements] of [
    ["", 2],
    ["state=done", 2],
    ["text=q", 1],
    ["group=none", 0],
  ] as const) {
    assert.strictEqual((yield* list(query)).disagreements, disagreements, query)
  }
  const path = `/dashboard/api/tasks/${task}/items/1/decision`
  const decision = { choice: 1, rationale: "", undecided: true }
  assertProblem(yield* viewer.ask("PUT", path, decision), 403, "forbidden")
  assert.strictEqual((yield* manager.ask("PUT", path, decision)).status, 204)
  assert.strictEqual((yield* list()).disagreements, 1)
  const late = yield* operator.ask("PUT", path, { ...decision, choice: 0 })
  assertProblem(late, 409, "conflict")
  assert.strictEqual(late.json.detail, "manager has already decided this prompt.")
  // Whoever has seen the decision may replace it. The first lead cannot take the new one back as the own.
  assert.strictEqual((yield* operator.ask("PUT", path, { choice: 0, rationale: "" })).status, 204)
  const lost = yield* manager.ask("DELETE", `${path}?mine=true`)
  assertProblem(lost, 409, "conflict")
  assert.include(lost.json.detail, "another lead has replaced or withdrawn it")
  assert.strictEqual((yield* operator.ask("DELETE", `${path}?mine=true`)).status, 204)
  assert.strictEqual((yield* list()).disagreements, 2)
})
