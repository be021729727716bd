import { assert, it } from "@effect/vitest"
import { Context, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import * as Audit from "../../../src/service/database/Audit.ts"
import { Database } from "../../../src/service/database/Database.ts"
import { DashboardApi } from "../../../src/service/pageApi/DashboardApi.ts"
import { assertProblem, browser } from "./http.ts"
import { endpointsOf, joined, password, signedIn, started, taskOf, test, withOperator } from "./support.ts"

/** What each request that changes anything leaves in the log. */
const recorded: { readonly [endpoint: string]: string | undefined } = {
  "signIn.link": undefined,
  "signIn.setUp": "operator.set-up",
  "signIn.signIn": "operator.sign-in",
  "session.signOut": undefined,
  "session.changePassword": "operator.password",
  "tasks.cancel": "task.cancel",
  "tasks.returnItem": "item.return",
  "groups.set": "group.set",
  "groups.pause": "group.pause",
  "qualification.set": "qualification.set",
  "qualification.admit": "expert.admit",
  "qualification.requalify": "expert.requalify",
  "tokens.create": "token.create",
  "tokens.rotate": "token.rotate",
  "tokens.revoke": "token.revoke",
  "webhook.set": "webhook.set",
  "webhook.remove": "webhook.remove",
  "webhook.rotateSecret": "webhook.rotate-secret",
  "webhook.test": "webhook.test",
  "webhook.resend": "webhook.resend",
  "items.decide": "item.decide",
  "items.withdrawDecision": "item.withdraw-decision",
  "items.withdrawPrompt": "item.withdraw",
  "items.restorePrompt": "item.restore",
  "tasks.reopen": "task.reopen",
  "tasks.endReopening": "task.end-reopening",
  "experts.voidVotes": "expert.void-votes",
  "experts.restoreVotes": "expert.restore-votes",
  "tasks.editGuidelines": "guidelines.edit",
  "experts.invite": "expert.add",
  "experts.inviteAll": "expert.add",
  "experts.rename": "expert.rename",
  "experts.inviteAgain": "expert.link",
  "experts.setActive": "expert.deactivate",
  "operators.add": "operator.add",
  "operators.renew": "operator.link",
  "operators.setRole": "operator.role",
  "operators.remove": "operator.remove",
}

const endpoints = endpointsOf(DashboardApi)

interface Entry {
  readonly operator_no: number
  readonly actor: string
  readonly action: string
  readonly subject: string
  readonly details: Record<string, unknown>
}

it("each request that changes anything is in the table", () => {
  assert.sameMembers(
    endpoints.filter(({ method }) => method !== "GET").map(({ name }) => name),
    Object.keys(recorded),
  )
})

test("the log has each change, by whom, and nothing of what was refused", function* () {
  const { operator: admin, service } = yield* withOperator()
  let seen = 0
  const done = new Set<string>(["signIn.link", "session.signOut", "signIn.setUp"])
  /** Asks, and returns what is new in the log. */
  const ask = Effect.fnUntraced(function* (name: string, params: Record<string, string | number>, body?: unknown) {
    const { method, pattern } = endpoints.find((endpoint) => endpoint.name === name)!
    const answer = yield* admin.ask(
      method,
      pattern.replace(/:(\w+)/g, (_, key: string) => String(params[key])),
      body,
    )
    const { json } = yield* admin.ask("GET", "/dashboard/api/audit?limit=200")
    const fresh: ReadonlyArray<Entry> = json.entries.slice(0, json.entries.length - seen)
    seen = json.entries.length
    if (answer.status < 300) {
      done.add(name)
      assert.include(
        fresh.map(({ action }) => action),
        recorded[name],
        `${name}: ${answer.text}`,
      )
      for (const { actor } of fresh) assert.strictEqual(actor, "Ann")
    } else assert.lengthOf(fresh, 0, answer.text)
    return { ...answer, fresh }
  })
  seen = (yield* admin.ask("GET", "/dashboard/api/audit")).json.entries.length
  assert.strictEqual(seen, 1, "the set-up")

  const taskId = yield* taskOf(service, [["p", "a", "b"]])
  const expert = yield* joined(service.base, admin)
  seen++
  yield* expert.ask("POST", "/annotate/api/next")
  yield* ask("tasks.returnItem", { task_id: taskId, index: 0 })
  yield* ask("tasks.cancel", { task_id: taskId })
  const late = yield* ask("tasks.cancel", { task_id: taskId })
  assertProblem(late, 409, "conflict")

  const judged = yield* taskOf(service, [["q", "a", "b"]])
  const work = yield* expert.ask("POST", "/annotate/api/next")
  const vote = { best: 0, ranking: null, rationale: "", seconds: 1 }
  yield* expert.ask("POST", `/annotate/api/items/${work.json.item.item_id}/vote`, vote)
  const item = { task_id: judged, index: 0 }
  const decided = yield* ask("items.decide", item, { choice: 1, rationale: "Clear." })
  assert.deepInclude(decided.fresh[0], {
    subject: judged,
    details: { prompt: 1, completion: 2, rationale: "Clear." },
  })
  yield* ask("items.decide", item, { choice: 2, rationale: "" })
  yield* ask("items.withdrawDecision", item)
  yield* ask("items.withdrawDecision", item)
  const withdrawn = yield* ask("items.withdrawPrompt", item, { reason: "A test." })
  assert.deepInclude(withdrawn.fresh[0], { subject: judged, details: { prompt: 1, reason: "A test." } })
  assertProblem(yield* ask("items.withdrawPrompt", item, { reason: "" }), 409, "conflict")
  yield* ask("items.restorePrompt", item)
  assertProblem(yield* ask("items.restorePrompt", item), 409, "conflict")
  const reopened = yield* ask("tasks.reopen", { task_id: judged }, { votes: 2, prompts: null })
  assert.deepInclude(reopened.fresh[0], { subject: judged, details: { prompts: 1, votes: 2 } })
  assertProblem(yield* ask("tasks.reopen", { task_id: judged }, { votes: 26, prompts: null }), 400, "malformed-request")
  yield* ask("tasks.endReopening", { task_id: judged })
  assertProblem(yield* ask("tasks.endReopening", { task_id: judged }), 409, "conflict")
  const params = { expert_id: expert.expertId }
  const voided = yield* ask("experts.voidVotes", params, { reason: "careless" })
  assert.deepInclude(voided.fresh[0], {
    subject: expert.expertId,
    details: { name: "Eva", votes: 1, reason: "careless" },
  })
  yield* ask("experts.voidVotes", params, { reason: "again" })
  const voiding = { voiding_id: voided.json.voiding_id }
  yield* ask("experts.restoreVotes", voiding)
  yield* ask("experts.restoreVotes", voiding)

  const other = yield* taskOf(service, [["p", "a", "b"]])
  yield* ask("tasks.editGuidelines", { task_id: other }, { text: "Be fairer.", version: 1 })
  yield* ask("tasks.editGuidelines", { task_id: other }, { text: "Late.", version: 1 })
  yield* ask("groups.set", {}, { group_id: other, priority: "high", experts: [expert.expertId] })
  const required = { items: 1, min_percent: 50, pause_percent: null, guidelines: "" }
  yield* ask("qualification.set", {}, required)
  yield* ask("qualification.set", {}, { ...required, items: 2 })
  yield* ask("qualification.requalify", params)
  yield* ask("qualification.admit", params)
  yield* ask("qualification.admit", { expert_id: "nobody" })
  yield* ask("groups.set", {}, { group_id: "none", priority: "high", experts: null })

  yield* ask("groups.pause", { group_id: other }, { paused: true })
  assertProblem(yield* ask("groups.pause", { group_id: "none" }, { paused: true }), 404, "not-found")

  const { json: token } = yield* ask("tokens.create", {}, { name: "nightly" })
  const rotated = yield* ask("tokens.rotate", { token_id: token.summary.token_id }, { keep_hours: 1 })
  yield* ask("tokens.revoke", { token_id: token.summary.token_id })
  assert.notInclude(JSON.stringify(rotated.fresh), rotated.json.token)

  const set = yield* ask("webhook.set", {}, { url: "http://127.0.0.1:9/hook?key=secret" })
  assert.strictEqual(set.fresh[0]!.subject, "http://127.0.0.1:9/hook")
  yield* ask("webhook.rotateSecret", {}, { keep_hours: 1 })
  const { json: message } = yield* ask("webhook.test", {})
  yield* ask("webhook.resend", { message_id: message.message_id })
  yield* ask("webhook.resend", { message_id: "none" })
  yield* ask("webhook.remove", {})

  const { json: invited } = yield* ask("experts.invite", {}, { name: "Eli" })
  yield* ask("experts.inviteAgain", invited.expert)
  const list = yield* ask("experts.inviteAll", {}, { names: "Uma, Vera" })
  assert.lengthOf(list.fresh, 2)
  assertProblem(yield* ask("experts.inviteAll", {}, { names: "Wim\numa" }), 409, "conflict")
  const renamed = yield* ask("experts.rename", invited.expert, { name: "Ely" })
  assert.deepInclude(renamed.fresh[0], { details: { name: "Ely", was: "Eli" } })
  yield* ask("experts.rename", invited.expert, { name: "UMA" })
  yield* ask("experts.setActive", invited.expert, { active: false })

  const { json: added } = yield* ask("operators.add", {}, { name: "Vic", role: "viewer" })
  yield* ask("operators.add", {}, { name: "Vic", role: "viewer" })
  const role = yield* ask("operators.setRole", added.operator, { role: "manager" })
  assert.deepInclude(role.fresh[0], { subject: "Vic", details: { role: "manager", was: "viewer" } })
  yield* ask("operators.renew", added.operator)
  yield* ask("operators.remove", added.operator)

  yield* ask("session.changePassword", {}, { current: password, password: "another password" })
  yield* ask("signIn.signIn", {}, { name: "Ann", password: "another password" })
  yield* ask("signIn.signIn", {}, { name: "Ann", password: "wrong" })
  assert.sameMembers([...done], Object.keys(recorded))
})

test("the log is filtered by who and what, in pages, and exported as JSON Lines", function* () {
  const { operator: admin, service } = yield* withOperator()
  const other = yield* signedIn(service, { name: "Bea" })
  for (const name of ["one", "two", "three"]) {
    yield* TestClock.adjust("1 second")
    yield* (name === "two" ? other : admin).ask("POST", "/dashboard/api/tokens", { name })
  }
  const page = Effect.fnUntraced(function* (query: string) {
    const { json } = yield* admin.ask("GET", `/dashboard/api/audit?${query}`)
    // oxlint-disable-next-line typescript/no-explicit-any
    return { ...json, names: json.entries.map((entry: any) => entry.details.name) }
  })
  const first = yield* page("action=token.create&limit=2")
  assert.deepStrictEqual(first.names, ["three", "two"])
  assert.deepStrictEqual(first.actors, ["Ann", "Bea"])
  assert.deepStrictEqual(first.actions, ["operator.set-up", "token.create"])
  assert.deepStrictEqual((yield* page(`action=token.create&limit=2&before=${first.next}`)).names, ["one"])
  assert.deepStrictEqual((yield* page("actor=Bea&action=token.create")).names, ["two"])
  assert.deepStrictEqual((yield* page("actor=Nobody")).names, [])

  const { headers, text } = yield* admin.ask("GET", "/dashboard/api/audit/export?action=token.create")
  assert.match(headers["content-type"]!, /^application\/x-ndjson/)
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Entry)
  assert.deepStrictEqual(
    lines.map(({ actor, details, operator_no }) => [operator_no, actor, details["name"]]),
    [
      [1, "Ann", "one"],
      [2, "Bea", "two"],
      [1, "Ann", "three"],
    ],
  )
  assertProblem(yield* browser(service.base).ask("GET", "/dashboard/api/audit/export"), 401, "not-signed-in")
})

test("an entry is stored with the change or not at all, and neither changed nor deleted", function* () {
  const { services } = yield* started()
  const { sql, write } = Context.get(services, Database)
  const entries = sql`SELECT actor, action FROM audit_entry`
  const as = Effect.provideService(Audit.Actor, { operator_no: 7, name: "Ann" })
  const change = Effect.andThen(
    Audit.record(sql, "thing.change", "x"),
    sql`INSERT INTO task_group (organization, group_id, size, tasks, open) VALUES ('o', 'g', 1, 1, 1)`,
  )
  const failing = Effect.andThen(change, sql`INSERT INTO no_such_table VALUES (1)`)
  assert.isTrue(Exit.isFailure(yield* Effect.exit(as(write(failing)))))
  assert.lengthOf(yield* entries, 0)
  yield* as(write(change))
  yield* write(Audit.record(sql, "thing.change", "by the service itself"))
  assert.deepStrictEqual(
    (yield* entries).map((row) => ({ ...row })),
    [{ actor: "Ann", action: "thing.change" }],
  )
  for (const statement of [sql`DELETE FROM audit_entry`, sql`UPDATE audit_entry SET actor = 'Eve'`]) {
    assert.isTrue(Exit.isFailure(yield* Effect.exit(write(statement))))
  }
  assert.lengthOf(yield* entries, 1)
})
