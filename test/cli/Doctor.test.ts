/** `prefstream doctor`, against a real service, a scripted one, and none. */
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { freePort } from "../../src/node/Cluster.ts"
import { cli, cliIn, ends, to } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

const findings = Effect.fnUntraced(function* (args: ReadonlyArray<string>, env: Record<string, string> = {}) {
  const folder = yield* temporaryDirectory
  const said = yield* cliIn(folder, ["doctor", "--json", ...args], env)
  const found: ReadonlyArray<{ name: string; state: string; message: string }> = JSON.parse(said.stdout)
  assert.strictEqual(said.status, found.some(({ state }) => state === "failed") ? 1 : 0)
  // It leaves nothing behind.
  assert.deepStrictEqual(yield* (yield* FileSystem.FileSystem).readDirectory(folder), [])
  return Object.fromEntries(found.map(({ message, name, state }) => [name, `${state}: ${message}`]))
})

/** Knows one token and no task. */
const guarded = ScriptedService.make(({ headers }) =>
  headers["authorization"] === "Bearer t"
    ? { status: 404, body: { title: "no such task" } }
    : { status: 401, body: { title: "who are you" } },
)

describe("doctor", () => {
  test("finds nothing wrong where nothing is set, and says what is not checked", function* () {
    const { clock, ledger, service, webhook } = yield* findings([])
    assert.match(service ?? "", /^not checked: .*PREFSTREAM_BASE_URL/)
    assert.match(clock ?? "", /^not checked/)
    assert.match(webhook ?? "", /^not checked: no --listen/)
    assert.strictEqual(ledger, "ok: the first run will create prefstream-job/ledger.db")
  })

  test("tells a right token from a wrong one, and a service from something else", function* () {
    const service = yield* guarded
    const env = { ...to(service), PREFSTREAM_TOKEN: "t" }
    const answering = (status: number, toAnyToken = status) =>
      ScriptedService.make(({ headers }) => ({
        status: headers["authorization"] === undefined ? status : toAnyToken,
        body: {},
      }))
    for (const [environment, expected] of [
      [env, /^ok: .*accepts the token$/],
      [{ ...env, PREFSTREAM_TOKEN: "u" }, /^failed: .*refuses the token \(401\)/],
      [{ ...env, PREFSTREAM_TOKEN: "" }, /^failed: .*PREFSTREAM_TOKEN/],
      [
        to(yield* answering(404)),
        /^warning: .*the service gives the same answer with and without a token\. If the service requires a token, check the base URL: .*must end/,
      ],
      [to(yield* answering(401, 404)), /^warning: .*accepts any token, even a wrong one$/],
      [to(yield* answering(503)), /^failed: .*503 Service Unavailable/],
      [to(yield* answering(402)), /^failed: .*refuses every request \(402 Payment/],
      [{ ...env, PREFSTREAM_BASE_URL: "http://127.0.0.1:1/v1" }, /^failed: .*ECONNREFUSED/],
    ] as const) {
      assert.match((yield* findings([], environment)).service ?? "", expected)
    }
    // Nothing was asked of the service but one task that it cannot have.
    assert.deepStrictEqual(
      [...new Set(service.received.map(({ method, path }) => `${method} ${path}`))],
      ["GET /v1/tasks/prefstream-doctor"],
    )
  })

  test("compares the clocks", function* () {
    const service = yield* ScriptedService.make(() => ({
      status: 404,
      body: {},
      headers: { date: "Sun, 01 Nov 2026 12:00:00 GMT" },
    }))
    assert.match(
      (yield* findings([], to(service))).clock ?? "",
      /^failed: differs from the service's clock by \d+ d .*NTP/,
    )
    assert.match((yield* findings([], to(yield* guarded))).clock ?? "", /^ok/)
  })

  test("delivers a signed webhook to itself, or by the way that the service takes", function* () {
    const env = { ...to(yield* guarded), PREFSTREAM_TOKEN: "t", PREFSTREAM_WEBHOOK_SECRET: secret }
    for (const scheme of ["standard-webhooks", "svix", "stripe; header=x-signature", "toloka", "shared-secret"]) {
      const { webhook } = yield* findings(["--listen", "0", "--webhook-scheme", scheme], env)
      assert.match(webhook ?? "", /^ok: http:\/\/127\.0\.0\.1:\d+\/webhook: a signed test delivery was accepted$/)
    }
    const elsewhere = yield* ScriptedService.make(() => ({ status: 404, body: {} }))
    const proxied = yield* findings(["--listen", "0", "--webhook-url", elsewhere.baseUrl], env)
    assert.match(proxied.webhook ?? "", /^failed: .*404 Not Found: check that the URL leads/)
    const nobody = yield* findings(["--listen", "0", "--webhook-url", "http://127.0.0.1:1/x"], env)
    assert.match(nobody.webhook ?? "", /^failed: http:\/\/127\.0\.0\.1:1\/x: .*ECONNREFUSED/)
    const ignored = yield* cli(["doctor", "--webhook-url", elsewhere.baseUrl], env)
    assert.deepStrictEqual([ignored.status, ignored.stdout], [2, ""])
    assert.match(ignored.stderr, /--webhook-url requires --listen/)
    const malformed = yield* findings(["--listen", "0"], { ...env, PREFSTREAM_WEBHOOK_SECRET: "whsec_abc" })
    assert.match(malformed.webhook ?? "", /^failed: PREFSTREAM_WEBHOOK_SECRET/)
  })

  test("says where the public URL leads, if it is another path than the receiver's", function* () {
    const env = { ...to(yield* guarded), PREFSTREAM_TOKEN: "t", PREFSTREAM_WEBHOOK_SECRET: secret }
    for (const [scheme, path, more, expected] of [
      ["standard-webhooks", "/", [], "/webhook"],
      ["svix", "/webhooks", [], "/webhook"],
      ["stripe", "/webhook/", ["--webhook-path", "/hooks"], "/hooks"],
    ] as const) {
      const port = String(yield* freePort)
      const url = `http://127.0.0.1:${port}${path}`
      const args = ["--listen", port, "--webhook-url", url, "--webhook-scheme", scheme, ...more]
      assert.strictEqual(
        (yield* findings(args, env)).webhook,
        `failed: ${url} leads to the path ${path}, but prefstream receives webhooks at the path ${expected}: set --webhook-path ${path}, or change the webhook URL at the service`,
      )
    }
  })

  test("checks the settings of a run, and goes on where something is wrong", function* () {
    const folder = yield* temporaryDirectory
    const fs = yield* FileSystem.FileSystem
    yield* fs.writeFileString(`${folder}/items.jsonl`, '{"prompt": "a", "completions": ["b", "c"]}\n')
    assert.strictEqual((yield* cliIn(folder, ["init", "items.jsonl"])).status, 0)
    const doctor = Effect.fnUntraced(function* (yaml?: string, args: ReadonlyArray<string> = [], env = {}) {
      if (yaml !== undefined) yield* fs.writeFileString(`${folder}/prefstream.yaml`, yaml)
      const { status, stdout } = yield* cliIn(folder, ["doctor", ...args], env)
      assert.lengthOf(stdout.trimEnd().split("\n"), 6, stdout)
      return { status, stdout }
    })
    assert.match((yield* doctor()).stdout, /^settings {2}ok +prefstream\.yaml$/m)
    for (const [yaml, found] of [
      ["votes: many", /^settings {2}failed +.*--votes.*"many".*\(votes is set in prefstream\.yaml:1\)$/m],
      ["votes: [", /^settings {2}failed +prefstream\.yaml:\d: /m],
      ["split: { test: 0.9, train: 0.9 }", /^settings {2}failed +--split: .*1\.8 \(split is set in/m],
      [
        "run: { guidelines: a, guidelines-file: items.jsonl }",
        /^settings {2}failed +--guidelines-file cannot be combined with/m,
      ],
      ["ledger: redis://host", /^ledger {4}failed +/m],
    ] as const) {
      const { status, stdout } = yield* doctor(yaml)
      assert.strictEqual(status, 1)
      assert.match(stdout, found)
    }
    const empty = yield* doctor("votes: 1", [], { PREFSTREAM_BASE_URL: "" })
    assert.match(empty.stdout, /^service {3}failed +PREFSTREAM_BASE_URL is empty/m)
    const file = yield* doctor("votes: 1", ["--dir", "items.jsonl"])
    assert.match(file.stdout, /^ledger {4}failed +items\.jsonl/m)
  })

  test("looks at the ledger, and names the files of the settings", function* () {
    const folder = yield* temporaryDirectory
    const fs = yield* FileSystem.FileSystem
    yield* fs.writeFileString(`${folder}/ledger.db`, "no ledger")
    yield* fs.writeFileString(`${folder}/prefstream.yaml`, "dir: .\n")
    const said = yield* cliIn(folder, ["doctor"]).pipe(ends(1))
    assert.match(said.stdout, /^settings {2}ok +prefstream\.yaml$/m)
    assert.match(said.stdout, /^ledger {4}failed +.*not a ledger, or a ledger with a damaged/m)
    const unreachable = yield* cli(["doctor", "--ledger", "postgres://me@127.0.0.1:1/db"])
    assert.match(unreachable.stdout, /^ledger {4}failed +.*check that the database server can be reached/m)
  })
})
