import { assert } from "@effect/vitest"
import { assertProblem } from "./http.ts"
import { taskOf, test, withOperator } from "./support.ts"

test("guidelines are replaced in the version that was read, up to a length", function* () {
  const { operator: lead, service } = yield* withOperator()
  const path = `/dashboard/api/tasks/${yield* taskOf(service, [["p", "a", "b"]])}/guidelines`
  const edited = yield* lead.ask("PUT", path, { text: "Be kind.", version: 1 })
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
  assertProblem(yield* lead.ask("PUT", path.replace(/task_\w+/, "none"), { text: "x", version: 1 }), 404, "not-found")
})
