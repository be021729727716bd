import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { assertProblem, browser } from "./http.ts"
import { signedInAs, test, withOperator } from "./support.ts"

test("a list of people is invited by one link each, or nobody is, and the lines say why", function* () {
  const { service } = yield* withOperator()
  const manager = yield* signedInAs(service, "manager")
  const viewer = yield* signedInAs(service, "viewer")
  const path = "/dashboard/api/experts/invitations"
  const names = "Ada Lovelace\n\n  Grace   Hopper , Zoë\r\n王小明"
  assertProblem(yield* viewer.ask("POST", path, { names }), 403, "forbidden")
  const { json, status } = yield* manager.ask("POST", path, { names })
  assert.strictEqual(status, 200)
  interface Invitation {
    readonly expert: { readonly name: string }
    readonly invitation: string
  }
  const invitations = json.invitations as ReadonlyArray<Invitation>
  assert.deepStrictEqual(
    invitations.map(({ expert }) => expert.name),
    ["Ada Lovelace", "Grace Hopper", "Zoë", "王小明"],
  )
  for (const { expert, invitation } of invitations) {
    const joined = yield* browser(service.base).ask("POST", "/annotate/api/join", { code: invitation.split("=")[1] })
    assert.deepStrictEqual(joined.json, { name: expert.name })
  }
  const list = Effect.map(viewer.ask("GET", "/dashboard/api/experts"), ({ json }) =>
    json.experts.map(({ name }: { name: string }) => name),
  )
  const before = yield* list
  for (const [refused, detail] of [
    ["Bob\nADA  LOVELACE, Cleo", "Nobody was invited. Line 2: an expert named Ada Lovelace already exists."],
    // The same letters, composed otherwise, in full width, or with a character that nobody sees.
    ["Zoe\u0308", "Line 1: an expert named Zoë already exists."],
    ["Ｚoë", "Line 1: an expert named Zoë already exists."],
    ["Z\u200boë", "Line 1: an expert named Zoë already exists."],
    ["Bob\nCleo\nbob", "Line 3: bob is already in line 1."],
    ["Bob\nCleo, cleo", "Line 2: cleo is already in line 2."],
    [`Bob\n${"x".repeat(101)}`, "Line 2: a name has at most 100 characters"],
    ["Bob\na\0b", "Line 2: a name has"],
    ["Bob\n\u200b", "Line 2: a name has"],
    [" ,\n", "The list has no names."],
    [Array.from({ length: 501 }, (_, i) => i).join(), "The list has 501 names"],
  ] as const) {
    const answer = yield* manager.ask("POST", path, { names: refused })
    assertProblem(answer, 409, "conflict")
    assert.include(answer.json.detail, detail)
    assert.deepStrictEqual(yield* list, before)
  }
})

test("an expert is renamed, but not to the name of another one", function* () {
  const { operator, service } = yield* withOperator()
  const viewer = yield* signedInAs(service, "viewer")
  const add = Effect.fnUntraced(function* (name: string) {
    const { json } = yield* operator.ask("POST", "/dashboard/api/experts", { name })
    return `/dashboard/api/experts/${json.expert.expert_id}/name`
  })
  const eva = yield* add("Eva")
  yield* add("Eli")
  assertProblem(yield* viewer.ask("PUT", eva, { name: "Eve" }), 403, "forbidden")
  const taken = yield* operator.ask("PUT", eva, { name: "ELI" })
  assertProblem(taken, 409, "conflict")
  assert.include(taken.json.detail, "An expert named Eli already exists.")
  assertProblem(yield* operator.ask("POST", "/dashboard/api/experts", { name: "ELI" }), 409, "conflict")
  assertProblem(yield* operator.ask("PUT", "/dashboard/api/experts/none/name", { name: "Eve" }), 404, "not-found")
  // One may write the own name otherwise.
  for (const name of ["EVA", "Eve"]) assert.strictEqual((yield* operator.ask("PUT", eva, { name })).json.name, name)
  yield* add("Eva")
})
