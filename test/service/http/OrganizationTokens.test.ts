import { assert } from "@effect/vitest"
import { Context, Effect, Redacted } from "effect"
import { Tokens } from "../../../src/service/account/Tokens.ts"
import { build, call, platform, task, token } from "../support.ts"
import { testOver } from "../../support/effectTest.ts"

const test = testOver(platform)

const body = task([["p", "a", "b"]])

const started = (options: Parameters<typeof build>[0]) =>
  Effect.map(build(options), ({ base, services }) => ({ base, tokens: Context.get(services, Tokens) }))

/** The status of a request with this token. */
const statusOf = (base: string, given: Redacted.Redacted<string>) =>
  Effect.map(
    call("POST", `${base}/v1/tasks`, { body, headers: { authorization: `Bearer ${Redacted.value(given)}` } }),
    ({ status }) => status,
  )

test("without one that is given, only those of the dashboard are", function* () {
  const { base, tokens } = yield* started({ token: undefined })
  assert.strictEqual(yield* statusOf(base, token), 401)
  const made = yield* tokens.create("pipeline")
  assert.strictEqual(yield* statusOf(base, made.token), 201)
  for (const other of ["", "pst_guess"]) assert.strictEqual(yield* statusOf(base, Redacted.make(other)), 401)
})

test("each has a rate limit of its own", function* () {
  const { base, tokens } = yield* started({ rateLimit: { perSecond: 1, burst: 1 } })
  const made = yield* tokens.create("pipeline")
  assert.deepStrictEqual(
    [yield* statusOf(base, token), yield* statusOf(base, token), yield* statusOf(base, made.token)],
    [201, 429, 201],
  )
})

test("the service's pages are left out where they are not wanted", function* () {
  const { base } = yield* started({ pages: false })
  for (const path of ["/", "/dashboard/", "/annotate/", "/dashboard/api/session", "/assets/x.js"]) {
    assert.strictEqual((yield* call("GET", `${base}${path}`)).status, 404, path)
  }
  assert.strictEqual((yield* call("GET", `${base}/v1/openapi.json`)).status, 200)
})
