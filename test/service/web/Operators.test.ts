import { assert, describe } from "@effect/vitest"
import { Context, Effect } from "effect"
import { Accounts } from "../../../src/service/account/Accounts.ts"
import { DashboardApi } from "../../../src/service/pageApi/DashboardApi.ts"
import { type Role } from "../../../src/service/pageApi/OperatorSession.ts"
import { roles } from "../../../src/service/pageApi/PageConstants.ts"
import { assertProblem, browser } from "./http.ts"
import { endpointsOf, password, signedInAs, test, withOperator } from "./support.ts"

const endpoints = endpointsOf(DashboardApi).filter(({ group }) => group !== "signIn")

/** The role that a request needs: to read is for all, to change the work for managers, what is the service's own for admins. */
const needsOf = ({ group, method }: { readonly group: string; readonly method: string }): Role =>
  ["tokens", "webhook", "operators", "audit"].includes(group)
    ? "admin"
    : method === "GET" || group === "session"
      ? "viewer"
      : "manager"

const codeOf = (link: string) => link.split("=")[1]!

describe("roles", () => {
  for (const role of roles) {
    test(`a ${role} may do what is for the role, and nothing else`, function* () {
      const { service } = yield* withOperator()
      const { ask, cookies } = yield* signedInAs(service, role)
      const cookie = [...cookies].map((pair) => pair.join("=")).join()
      for (const { group, method, name, path } of endpoints) {
        // A signed-out operator would be refused everything.
        if (name === "session.signOut") continue
        const answer = yield* ask(method, path, method === "GET" ? undefined : {}, { cookie })
        const allowed = roles.indexOf(role) >= roles.indexOf(needsOf({ group, method }))
        if (allowed) assert.notInclude([401, 403, 500], answer.status, `${name}: ${answer.text}`)
        else assertProblem(answer, 403, "forbidden")
      }
      assert.strictEqual((yield* ask("POST", "/dashboard/api/sign-out")).status, 204)
    })
  }

  test("a change of role counts from the next request on", function* () {
    const { operator: admin, service } = yield* withOperator()
    const { ask, no } = yield* signedInAs(service, "viewer")
    assertProblem(yield* ask("GET", "/dashboard/api/tokens"), 403, "forbidden")
    const changed = yield* admin.ask("PUT", `/dashboard/api/operators/${no}/role`, { role: "admin" })
    assert.strictEqual(changed.json.role, "admin")
    assert.strictEqual((yield* ask("GET", "/dashboard/api/tokens")).status, 200)
  })
})

describe("operators", () => {
  test("a name is taken once, however it is written, and a link is for its own account alone", function* () {
    const { operator: admin, service } = yield* withOperator()
    for (const name of ["ANN", "A\u200bnn", "Ａnn"]) {
      const taken = yield* admin.ask("POST", "/dashboard/api/operators", { name, role: "viewer" })
      assertProblem(taken, 409, "conflict")
    }
    const invisible = yield* admin.ask("POST", "/dashboard/api/operators", { name: "\u200b", role: "viewer" })
    assert.strictEqual(invisible.status, 400)

    const { json } = yield* admin.ask("POST", "/dashboard/api/operators", { name: "Vic", role: "viewer" })
    const visitor = browser(service.base)
    const code = codeOf(json.link)
    assert.deepStrictEqual((yield* visitor.ask("POST", "/dashboard/api/link", { code })).json, { name: "Vic" })
    const early = yield* visitor.ask("POST", "/dashboard/api/sign-in", { name: "Vic", password })
    assertProblem(early, 401, "not-signed-in")
    const setUp = yield* visitor.ask("POST", "/dashboard/api/set-up", { code, name: "Ann", password: `${password}!` })
    assert.deepStrictEqual(setUp.json, { name: "Vic", role: "viewer" })
    const again = yield* browser(service.base).ask("POST", "/dashboard/api/sign-in", { name: "Ann", password })
    assert.strictEqual(again.json.role, "admin")
    assertProblem(yield* visitor.ask("POST", "/dashboard/api/link", { code }), 403, "forbidden")
  })

  test("a link that the service prints keeps the role of an account, and makes a new one an admin", function* () {
    const { service } = yield* withOperator()
    yield* signedInAs(service, "viewer", "Vic")
    const setUp = Effect.fnUntraced(function* (name: string) {
      const link = yield* Context.get(service.services, Accounts).signInLink
      const { json } = yield* browser(service.base).ask("POST", "/dashboard/api/link", { code: codeOf(link) })
      assert.deepStrictEqual(json, { name: null })
      const body = { code: codeOf(link), name, password }
      return (yield* browser(service.base).ask("POST", "/dashboard/api/set-up", body)).json
    })
    assert.deepStrictEqual(yield* setUp("vic"), { name: "vic", role: "viewer" })
    assert.deepStrictEqual(yield* setUp("Bea"), { name: "Bea", role: "admin" })
  })

  test("removal ends the sessions and the link", function* () {
    const { operator: admin, service } = yield* withOperator()
    const manager = yield* signedInAs(service, "manager", "Mona")
    const renewed = yield* admin.ask("POST", `/dashboard/api/operators/${manager.no}/link`)
    assert.strictEqual((yield* manager.ask("GET", "/dashboard/api/session")).status, 200)
    assert.strictEqual((yield* admin.ask("DELETE", `/dashboard/api/operators/${manager.no}`)).status, 204)
    assertProblem(yield* manager.ask("GET", "/dashboard/api/session"), 401, "not-signed-in")
    const body = { code: codeOf(renewed.json.link), name: "Mona", password }
    assertProblem(yield* manager.ask("POST", "/dashboard/api/set-up", body), 403, "forbidden")
    assertProblem(
      yield* manager.ask("POST", "/dashboard/api/sign-in", { name: "Mona", password }),
      401,
      "not-signed-in",
    )
    assertProblem(yield* admin.ask("DELETE", `/dashboard/api/operators/${manager.no}`), 404, "not-found")
    const { no } = yield* signedInAs(service, "viewer", "Mona")
    assert.notStrictEqual(no, manager.no)
  })

  test("the last admin stays one, and can't be removed; an invited one does not count", function* () {
    const { operator: admin, service } = yield* withOperator()
    const { json } = yield* admin.ask("GET", "/dashboard/api/operators")
    const me = `/dashboard/api/operators/${json.operators[0].operator_no}`
    const invited = yield* admin.ask("POST", "/dashboard/api/operators", { name: "Bea", role: "admin" })
    assertProblem(yield* admin.ask("DELETE", me), 409, "conflict")
    assertProblem(yield* admin.ask("PUT", `${me}/role`, { role: "viewer" }), 409, "conflict")
    const bea = browser(service.base)
    yield* bea.ask("POST", "/dashboard/api/set-up", { code: codeOf(invited.json.link), name: "Bea", password })
    assert.strictEqual((yield* admin.ask("PUT", `${me}/role`, { role: "viewer" })).status, 200)
    const other = `/dashboard/api/operators/${invited.json.operator.operator_no}`
    assertProblem(yield* bea.ask("DELETE", other), 409, "conflict")
    assert.strictEqual((yield* bea.ask("DELETE", me)).status, 204)
  })
})

test("an operator's own password is changed with the present one; all other sessions end, this browser stays signed in", function* () {
  const { operator: here, service } = yield* withOperator()
  const elsewhere = browser(service.base)
  yield* elsewhere.ask("POST", "/dashboard/api/sign-in", { name: "Ann", password })
  const before = new Map(here.cookies)
  const change = { current: password, password: "another password" }
  const wrong = yield* here.ask("PUT", "/dashboard/api/password", { ...change, current: "a wrong password" })
  assertProblem(wrong, 403, "forbidden")
  assert.strictEqual((yield* elsewhere.ask("GET", "/dashboard/api/session")).status, 200)
  assert.strictEqual((yield* here.ask("PUT", "/dashboard/api/password", change)).status, 204)
  assert.strictEqual((yield* here.ask("GET", "/dashboard/api/session")).status, 200)
  assertProblem(yield* elsewhere.ask("GET", "/dashboard/api/session"), 401, "not-signed-in")
  const cookie = [...before].map((pair) => pair.join("=")).join()
  assertProblem(yield* here.ask("GET", "/dashboard/api/session", undefined, { cookie }), 401, "not-signed-in")
  const signIn = (password: string) => elsewhere.ask("POST", "/dashboard/api/sign-in", { name: "Ann", password })
  assertProblem(yield* signIn(password), 401, "not-signed-in")
  assert.strictEqual((yield* signIn(change.password)).status, 200)
})
