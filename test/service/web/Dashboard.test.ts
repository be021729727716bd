import { assert, describe } from "@effect/vitest"
import { Context, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { Database } from "../../../src/service/database/Database.ts"
import { Accounts } from "../../../src/service/account/Accounts.ts"
import { AnnotateApi } from "../../../src/service/pageApi/AnnotateApi.ts"
import { DashboardApi } from "../../../src/service/pageApi/DashboardApi.ts"
import { Experts } from "../../../src/service/store/Experts.ts"
import { type Answer, assertProblem, browser } from "./http.ts"
import { atWork, endpointsOf, joined, password, signedIn, started, taskOf, test, withOperator } from "./support.ts"

describe("sessions", () => {
  test("without one, every route of both pages answers 401", function* () {
    const { base } = yield* started()
    const { ask } = browser(base)
    const routes = [DashboardApi, AnnotateApi]
      .flatMap(endpointsOf)
      .filter(({ group }) => !/^(signIn|join)$/.test(group))
    assert.isAtLeast(routes.length, 30)
    for (const { method, path } of routes) {
      const answer = yield* ask(method, path, method === "GET" ? undefined : {})
      assertProblem(answer, 401, "not-signed-in")
      assert.isUndefined(answer.headers["www-authenticate"], "browsers would ask for a password")
    }
  })

  test("an expert's opens no route of the dashboard, nor an operator's the experts' page", function* () {
    const { expert, operator, service } = yield* atWork()
    const [asExpert = ""] = expert.cookies.values()
    const [asOperator = ""] = operator.cookies.values()
    const { ask } = browser(service.base)
    for (const cookie of [`prefstream_operator=${asExpert}`, `prefstream_expert=${asExpert}`]) {
      assertProblem(yield* ask("GET", "/dashboard/api/overview", undefined, { cookie }), 401, "not-signed-in")
    }
    for (const cookie of [`prefstream_expert=${asOperator}`, `prefstream_operator=${asOperator}`]) {
      assertProblem(yield* ask("GET", "/annotate/api/session", undefined, { cookie }), 401, "not-signed-in")
    }
    const cookie = `prefstream_operator=${asOperator}`
    assert.strictEqual((yield* ask("GET", "/dashboard/api/overview", undefined, { cookie })).status, 200)
  })

  test("the cookies are HttpOnly, SameSite=Strict, and sent to the page's interface only", function* () {
    const service = yield* started()
    const link = yield* Context.get(service.services, Accounts).signInLink
    const operator = browser(service.base)
    const setUp = yield* operator.ask("POST", "/dashboard/api/set-up", {
      code: link.split("=")[1],
      name: "Ann",
      password,
    })
    assert.lengthOf(setUp.cookies, 1)
    assert.match(
      setUp.cookies[0]!,
      /^prefstream_operator=[\w-]{43}; Max-Age=604800; Path=\/dashboard\/api; HttpOnly; SameSite=Strict$/,
    )
    const invited = yield* operator.ask("POST", "/dashboard/api/experts", { name: "Eva" })
    const join = yield* browser(service.base).ask("POST", "/annotate/api/join", {
      code: invited.json.invitation.split("=")[1],
    })
    assert.match(
      join.cookies[0]!,
      /^prefstream_expert=[\w-]{43}; Max-Age=15552000; Path=\/annotate\/api; HttpOnly; SameSite=Strict$/,
    )
  })

  test("with an https address the cookies are Secure", function* () {
    const service = yield* started({ publicUrl: "https://annotate.example" })
    yield* signedIn(service)
    const proxied = { host: "annotate.example", origin: "https://annotate.example" }
    const { ask } = browser(service.base)
    const answer = yield* ask("POST", "/dashboard/api/sign-in", { name: "Ann", password }, proxied)
    assert.strictEqual(answer.status, 200, answer.text)
    assert.match(answer.cookies[0]!, /; Secure/)
  })

  test("signing out ends the session and removes the cookie", function* () {
    const { operator } = yield* withOperator()
    const cookie = [...operator.cookies].map((pair) => pair.join("=")).join()
    const answer = yield* operator.ask("POST", "/dashboard/api/sign-out")
    assert.strictEqual(answer.status, 204)
    assert.match(answer.cookies[0]!, /^prefstream_operator=; Max-Age=0; Path=\/dashboard\/api/)
    assert.strictEqual(operator.cookies.size, 0)
    const late = yield* operator.ask("GET", "/dashboard/api/session", undefined, { cookie })
    assertProblem(late, 401, "not-signed-in")
  })
})

describe("signing in", () => {
  test("by a link that works once, then by name and password", function* () {
    const service = yield* started()
    const link = yield* Context.get(service.services, Accounts).signInLink
    const { ask } = browser(service.base)
    const body = { code: link.split("=")[1], name: "Ann", password }
    assert.deepStrictEqual((yield* ask("POST", "/dashboard/api/set-up", body)).json, { name: "Ann", role: "admin" })
    assertProblem(yield* ask("POST", "/dashboard/api/set-up", body), 403, "forbidden")
    assertProblem(yield* ask("POST", "/dashboard/api/set-up", { ...body, code: "guess" }), 403, "forbidden")
    const again = browser(service.base)
    const answer = yield* again.ask("POST", "/dashboard/api/sign-in", { name: " ANN ", password })
    assert.deepStrictEqual(answer.json, { name: "Ann", role: "admin" })
    assert.deepStrictEqual((yield* again.ask("GET", "/dashboard/api/session")).json, { name: "Ann", role: "admin" })
  })

  test("a wrong name and a wrong password get the same answer", function* () {
    const service = yield* started()
    yield* signedIn(service)
    const { ask } = browser(service.base)
    const one = yield* ask("POST", "/dashboard/api/sign-in", { name: "Ann", password: "wrong" })
    const two = yield* ask("POST", "/dashboard/api/sign-in", { name: "Nobody", password })
    assertProblem(one, 401, "not-signed-in")
    assert.deepStrictEqual(one.json, two.json)
    assert.isEmpty(one.cookies)
  })

  test("attempts beyond some wait, and more are refused: 429 with Retry-After; other addresses are not concerned", function* () {
    const service = yield* started({ publicUrl: "https://annotate.example" })
    yield* signedIn(service, { origin: "https://annotate.example" })
    const { ask } = browser(service.base, "https://annotate.example")
    const attempt = (given: string, from: string) =>
      ask("POST", "/dashboard/api/sign-in", { name: "Ann", password: given }, { "x-forwarded-for": from })
    for (let i = 0; i < 10; i++) {
      assertProblem(yield* attempt("guess", `1.1.1.${i}, 203.0.113.7`), 401, "not-signed-in")
    }
    const answers = yield* Effect.all(
      Array.from({ length: 7 }, () => Effect.forkChild(attempt("guess", "203.0.113.7"))),
    )
    const refused = yield* Effect.raceAllFirst(
      answers.map((answer) =>
        Effect.flatMap(Fiber.join(answer), (given) => (given.status === 429 ? Effect.succeed(given) : Effect.never)),
      ),
    )
    assertProblem(refused, 429, "too-many-attempts")
    assert.strictEqual(refused.headers["retry-after"], "10")
    assert.strictEqual((yield* attempt(password, "203.0.113.7, 198.51.100.1")).status, 200)
    yield* TestClock.adjust("40 seconds")
    const statuses = (yield* Fiber.joinAll(answers)).map(({ status }) => status)
    assert.deepStrictEqual(
      statuses.toSorted((a, b) => a - b),
      [401, 401, 401, 401, 401, 429, 429],
    )
  })

  test("a name or a password that no account may have is refused before anything is used up", function* () {
    const { base } = yield* started()
    for (const body of [
      { code: "c", name: "Ann", password: "123456789" },
      { code: "c", name: "Ann", password: "a".repeat(1_001) },
      ...["", " Ann ", "Ann\ud800", "A\0nn", "Ann\nBob", "a".repeat(101)].map((name) => ({
        code: "c",
        name,
        password,
      })),
      { name: "Ann", password },
      7,
    ]) {
      assertProblem(yield* browser(base).ask("POST", "/dashboard/api/set-up", body), 400, "malformed-request")
    }
  })

  // A name is normalized, which takes time with the square of the marks on one letter.
  test("by a name or a password that is too long for any account is refused before it is looked at", function* () {
    const { base } = yield* started()
    const { ask } = browser(base)
    const long = "a" + "\u0301\u0323".repeat(500)
    const attempt = (given: { readonly name: string; readonly password: string }) =>
      ask("POST", "/dashboard/api/sign-in", given)
    for (let i = 0; i < 12; i++) {
      assertProblem(yield* attempt({ name: long.slice(0, 101), password }), 400, "malformed-request")
      assertProblem(yield* attempt({ name: "Ann", password: long }), 400, "malformed-request")
    }
    const longest = { name: long.slice(0, 100), password: long.slice(0, 1_000) }
    assertProblem(yield* attempt(longest), 401, "not-signed-in")
  })
})

test("tasks are listed, shown and cancelled", function* () {
  const service = yield* started()
  const { ask } = yield* signedIn(service)
  const older = yield* taskOf(service, [["p", "a", "b"]])
  const newer = yield* taskOf(service, [
    ["p1", "a", "b"],
    ["p2", "c", "d"],
  ])
  assert.deepStrictEqual((yield* ask("GET", "/dashboard/api/overview")).json, {
    tasks: { pending: 2, in_progress: 0, completed: 0, cancelled: 0 },
    open_votes: { given: 0, needed: 3 },
  })
  const first = yield* ask("GET", "/dashboard/api/tasks?limit=1")
  assert.deepStrictEqual(
    first.json.tasks.map((task: { task_id: string }) => task.task_id),
    [newer],
  )
  const second = yield* ask("GET", `/dashboard/api/tasks?limit=1&before=${first.json.next}`)
  assert.strictEqual(second.json.tasks[0].task_id, older)
  assertProblem(yield* ask("GET", "/dashboard/api/tasks?status=lost"), 400, "malformed-request")
  assertProblem(yield* ask("GET", "/dashboard/api/tasks?before=x"), 400, "malformed-request")

  const detail = yield* ask("GET", `/dashboard/api/tasks/${newer}?from=1`)
  assert.strictEqual(detail.json.guidelines, "Be fair.")
  assert.deepStrictEqual(
    detail.json.items.map(({ index, prompt, completions }: Record<string, unknown>) => [index, prompt, completions]),
    [[1, "p2", ["c", "d"]]],
  )
  assertProblem(yield* ask("GET", "/dashboard/api/tasks/task_no"), 404, "not-found")

  assert.strictEqual((yield* ask("POST", `/dashboard/api/tasks/${older}/cancel`)).status, 204)
  assertProblem(yield* ask("POST", `/dashboard/api/tasks/${older}/cancel`), 409, "conflict")
  for (const path of ["task_no/cancel", `${newer}/items/2/return`, "task_no/items/0/return"]) {
    assertProblem(yield* ask("POST", `/dashboard/api/tasks/${path}`), 404, "not-found")
  }
  const cancelled = yield* ask("GET", "/dashboard/api/tasks?status=cancelled")
  assert.strictEqual(cancelled.json.tasks[0].task_id, older)
})

test("tokens are shown when they are made, listed without, rotated and revoked", function* () {
  const { ask } = yield* signedIn(yield* started({ token: Redacted.make("secret of the environment") }))
  const made = yield* ask("POST", "/dashboard/api/tokens", { name: "nightly" })
  assert.match(made.json.token, /^pst_[\w-]{43}$/)
  assert.strictEqual(made.json.summary.hint, made.json.token.slice(0, 8))
  const id = made.json.summary.token_id
  const rotated = yield* ask("POST", `/dashboard/api/tokens/${id}/rotate`, { keep_hours: 24 })
  assert.notStrictEqual(rotated.json.token, made.json.token)
  const listed = yield* ask("GET", "/dashboard/api/tokens")
  assert.deepStrictEqual(
    listed.json.tokens.map(({ name, expires_at }: Record<string, unknown>) => [name, expires_at]),
    [
      ["nightly", null],
      ["nightly", 24 * 3_600_000],
    ],
  )
  assert.isTrue(listed.json.hasStartupToken)
  assert.notInclude(listed.text, made.json.token)
  assert.notInclude(listed.text, rotated.json.token)
  assert.strictEqual((yield* ask("POST", `/dashboard/api/tokens/${id}/revoke`)).status, 204)
  assertProblem(yield* ask("POST", `/dashboard/api/tokens/${id}/rotate`, { keep_hours: 1 }), 409, "conflict")
  assertProblem(yield* ask("POST", "/dashboard/api/tokens/tok_no/revoke"), 404, "not-found")
  assertProblem(yield* ask("POST", "/dashboard/api/tokens/tok_no/rotate", { keep_hours: 1 }), 404, "not-found")
  for (const body of [{ name: "" }, { name: "x".repeat(101) }, {}]) {
    assertProblem(yield* ask("POST", "/dashboard/api/tokens", body), 400, "malformed-request")
  }
  const keep = yield* ask("POST", `/dashboard/api/tokens/${id}/rotate`, { keep_hours: -1 })
  assertProblem(keep, 400, "malformed-request")
})

test("the webhook is set, rotated, tested and removed; its secret is shown once", function* () {
  const { ask } = yield* signedIn(yield* started())
  const none = { url: null, enabled: false, disabled_reason: null, secrets: [] }
  assert.deepInclude((yield* ask("GET", "/dashboard/api/webhook")).json, none)
  assertProblem(yield* ask("POST", "/dashboard/api/webhook/test"), 409, "conflict")
  assertProblem(yield* ask("POST", "/dashboard/api/webhook/rotate-secret", { keep_hours: 1 }), 409, "conflict")
  for (const url of ["http://10.0.0.1/hook", "ftp://example.org", "not a url"]) {
    assertProblem(yield* ask("PUT", "/dashboard/api/webhook", { url }), 409, "conflict")
  }
  const url = "http://127.0.0.1:9/hook"
  const made = yield* ask("PUT", "/dashboard/api/webhook", { url })
  assert.match(made.json.secret, /^whsec_/)
  assert.strictEqual(made.json.settings.url, url)
  assert.isNull((yield* ask("PUT", "/dashboard/api/webhook", { url })).json.secret)
  const rotated = yield* ask("POST", "/dashboard/api/webhook/rotate-secret", { keep_hours: 1 })
  assert.match(rotated.json.secret, /^whsec_/)
  assert.lengthOf(rotated.json.settings.secrets, 2)
  assert.notInclude((yield* ask("GET", "/dashboard/api/webhook")).text, "whsec_")

  const tested = yield* ask("POST", "/dashboard/api/webhook/test")
  const id = tested.json.message_id
  const log = yield* ask("GET", "/dashboard/api/deliveries")
  assert.strictEqual(log.json.deliveries[0].message_id, id)
  const delivery = yield* ask("GET", `/dashboard/api/deliveries/${id}`)
  assert.strictEqual(JSON.parse(delivery.json.payload).type, "webhook.test")
  assert.strictEqual((yield* ask("POST", `/dashboard/api/deliveries/${id}/resend`)).status, 204)
  assertProblem(yield* ask("GET", "/dashboard/api/deliveries/msg_no"), 404, "not-found")
  assertProblem(yield* ask("POST", "/dashboard/api/deliveries/msg_no/resend"), 404, "not-found")

  assert.strictEqual((yield* ask("DELETE", "/dashboard/api/webhook")).status, 204)
  assert.isNull((yield* ask("GET", "/dashboard/api/webhook")).json.url)
})

describe("experts", () => {
  test("are invited, listed, deactivated and activated", function* () {
    const { operator, service } = yield* withOperator()
    // Who was here is written once a minute: not within the first of the epoch.
    yield* TestClock.adjust("1 hour")
    const made = yield* operator.ask("POST", "/dashboard/api/experts", { name: "Eva" })
    assert.match(made.json.invitation, /^\/annotate\/#join=[\w-]{43}$/)
    assert.isFalse(made.json.expert.joined)
    const id = made.json.expert.expert_id

    const again = yield* operator.ask("POST", `/dashboard/api/experts/${id}/invite`)
    const expert = browser(service.base)
    const join = (invitation: string) => expert.ask("POST", "/annotate/api/join", { code: invitation.split("=")[1] })
    assertProblem(yield* join(made.json.invitation), 403, "forbidden")
    assert.deepStrictEqual((yield* join(again.json.invitation)).json, { name: "Eva" })
    const listed = yield* operator.ask("GET", "/dashboard/api/experts")
    assert.deepStrictEqual(
      listed.json.experts.map(({ name, joined, active }: Record<string, unknown>) => [name, joined, active]),
      [["Eva", true, true]],
    )

    yield* Context.get(service.services, Experts).ensure("gpt", "judge")
    for (const [kind, names] of [
      ["person", ["Eva"]],
      ["judge", ["gpt"]],
      ["automatic", []],
    ]) {
      const { json } = yield* operator.ask("GET", `/dashboard/api/experts?kind=${String(kind)}`)
      assert.deepStrictEqual(
        json.experts.map(({ name }: { readonly name: string }) => name),
        names,
      )
    }
    assertProblem(yield* operator.ask("GET", "/dashboard/api/experts?kind=robot"), 400, "malformed-request")

    const off = yield* operator.ask("PUT", `/dashboard/api/experts/${id}/active`, { active: false })
    assert.isFalse(off.json.active)
    assertProblem(yield* operator.ask("POST", `/dashboard/api/experts/${id}/invite`), 409, "conflict")
    const on = yield* operator.ask("PUT", `/dashboard/api/experts/${id}/active`, { active: true })
    assert.isTrue(on.json.active)

    assertProblem(yield* operator.ask("POST", "/dashboard/api/experts/expert_no/invite"), 404, "not-found")
    const nobody = yield* operator.ask("PUT", "/dashboard/api/experts/expert_no/active", { active: true })
    assertProblem(nobody, 404, "not-found")
  })

  test("one who was deactivated and is active again gets in by no link or session of before", function* () {
    const { operator, service } = yield* withOperator()
    const { ask } = operator
    const expert = yield* joined(service.base, operator)
    const open = yield* ask("POST", `/dashboard/api/experts/${expert.expertId}/invite`)
    const other = yield* ask("POST", "/dashboard/api/experts", { name: "Eli" })
    for (const active of [false, true]) {
      yield* ask("PUT", `/dashboard/api/experts/${expert.expertId}/active`, { active })
    }
    const join = (answer: Answer) =>
      browser(service.base).ask("POST", "/annotate/api/join", { code: answer.json.invitation.split("=")[1] })
    assertProblem(yield* join(open), 403, "forbidden")
    assertProblem(yield* expert.ask("GET", "/annotate/api/session"), 401, "not-signed-in")
    assert.strictEqual((yield* join(other)).status, 200, "others' invitations hold")
    const fresh = yield* ask("POST", `/dashboard/api/experts/${expert.expertId}/invite`)
    assert.strictEqual((yield* join(fresh)).status, 200)
  })

  test("one is deactivated, and loses links and sessions, or nothing of it happens", function* () {
    const { expert, operator, service } = yield* atWork()
    const { sql } = Context.get(service.services, Database)
    yield* sql`CREATE TRIGGER fails BEFORE DELETE ON session BEGIN SELECT RAISE(ABORT, 'disk full'); END`
    const path = `/dashboard/api/experts/${expert.expertId}/active`
    assert.strictEqual((yield* operator.ask("PUT", path, { active: false })).status, 500)
    const listed = yield* operator.ask("GET", "/dashboard/api/experts")
    assert.isTrue(listed.json.experts[0].active)
    yield* sql`DROP TRIGGER fails`
    assert.strictEqual((yield* operator.ask("PUT", path, { active: false })).status, 200)
    assert.isEmpty(yield* sql`SELECT * FROM session WHERE kind = 'expert'`)
  })
})

test("names of tokens and experts are well-formed text on one line", function* () {
  const { ask } = yield* signedIn(yield* started())
  for (const path of ["/dashboard/api/tokens", "/dashboard/api/experts"]) {
    for (const name of ["a\ud800", "\udc00b", "a\0b", "a\nb", "a\u0085b", "a\u2028b", "\u007f"]) {
      assertProblem(yield* ask("POST", path, { name }), 400, "malformed-request")
    }
    for (const name of ["Zoë", "王小明", "👩🏽‍🔬 of the night shift"]) {
      assert.strictEqual((yield* ask("POST", path, { name })).status, 200, name)
    }
  }
})
