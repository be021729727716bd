import { assert } from "@effect/vitest"
import { assertProblem, raw } from "./http.ts"
import { joined, taskOf, test, withOperator } from "./support.ts"

const vote = { best: 0, ranking: null, rationale: "", seconds: 1 }

test("a lead changes the guidelines, and an expert is told before the next item", function* () {
  const { operator: lead, service } = yield* withOperator()
  const taskId = yield* taskOf(service, [
    ["p1", "a", "b"],
    ["p2", "a", "b"],
  ])
  const path = `/dashboard/api/tasks/${taskId}/guidelines`
  const expert = yield* joined(service.base, lead)
  const { json: first } = yield* expert.ask("POST", "/annotate/api/next")
  assert.deepInclude(first.item, { guidelines: "Be fair.", guidelines_version: 1, guidelines_change: null })

  const edited = yield* lead.ask("PUT", path, { text: "Be kind.", version: 1 })
  assert.strictEqual(edited.status, 200, edited.text)
  assert.deepStrictEqual(
    edited.json.versions.map(({ by, text, version }: Record<string, unknown>) => [version, by, text]),
    [
      [2, "Ann", "Be kind."],
      [1, null, "Be fair."],
    ],
  )
  assertProblem(yield* lead.ask("PUT", path, { text: "Be kind.", version: 2 }), 409, "conflict")
  assertProblem(yield* lead.ask("PUT", path, { text: "公".repeat(1_000_000), version: 1 }), 409, "conflict")
  assertProblem(yield* lead.ask("PUT", path, { text: "x".repeat(1_000_001), version: 2 }), 400, "malformed-request")
  assertProblem(yield* lead.ask("PUT", path.replace(taskId, "none"), { text: "x", version: 1 }), 404, "not-found")
  const cookie = [...lead.cookies].map((pair) => pair.join("=")).join()
  const foreign = yield* raw(service.base, path, {
    method: "PUT",
    headers: {
      host: new URL(service.base).host,
      cookie,
      origin: "https://evil.example",
      "content-type": "application/json",
    },
    body: { text: "Be evil.", version: 2 },
  })
  assert.strictEqual(foreign.status, 403)

  const at = (item: { readonly item_id: number }) => `/annotate/api/items/${item.item_id}`
  const { json: second } = yield* expert.ask("POST", `${at(first.item)}/vote`, { ...vote, guidelines_version: 1 })
  assert.deepInclude(second.item, {
    prompt: "p2",
    guidelines: "Be kind.",
    guidelines_version: 2,
    guidelines_change: { from: 1, before: "Be fair." },
  })
  const { json: told } = yield* expert.ask("POST", `${at(second.item)}/guidelines`, { version: 2 })
  assert.deepStrictEqual(told.item, { ...second.item, guidelines_change: null, held_until: told.item.held_until })
  yield* expert.ask("POST", `${at(second.item)}/vote`, { ...vote, guidelines_version: 2 })

  const { json: detail } = yield* lead.ask("GET", `/dashboard/api/tasks/${taskId}`)
  assert.deepInclude(detail, { guidelines: "Be kind.", guidelines_version: 2 })
  assert.deepStrictEqual(
    detail.items.map((item: { votes: ReadonlyArray<Record<string, unknown>> }) => item.votes[0]!["guidelines_version"]),
    [1, 2],
  )
})
