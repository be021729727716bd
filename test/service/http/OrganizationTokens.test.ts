import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as AnnotationService from "../../../src/service/AnnotationService.ts"
import { ServiceAddress } from "../../../src/service/http/ServiceAddress.ts"
import { Tokens } from "../../../src/service/account/Tokens.ts"
import { call, platform, task, temporaryFile, token } from "../support.ts"

const body = task([["p", "a", "b"]])

const started = Effect.fnUntraced(function* (options: Partial<Parameters<typeof AnnotationService.layerServer>[0]>) {
  const database = yield* temporaryFile("service.sqlite")
  const services = yield* Layer.build(
    Layer.fresh(AnnotationService.layerServer({ database, experts: [], rateLimit: "none", ...options })),
  )
  return { tokens: Context.get(services, Tokens), base: Context.get(services, ServiceAddress).origin }
})

/** The status of a request with this token. */
const statusOf = (base: string, given: Redacted.Redacted<string>) =>
  Effect.map(
    call("POST", `${base}/v1/tasks`, { body, headers: { authorization: `Bearer ${Redacted.value(given)}` } }),
    ({ status }) => status,
  )

describe("organization tokens", () => {
  it.effect("those of the dashboard and the one that is given are accepted alike", () =>
    Effect.gen(function* () {
      const { base, tokens } = yield* started({ token })
      const made = yield* tokens.create("pipeline")
      assert.strictEqual(yield* statusOf(base, token), 201)
      assert.strictEqual(yield* statusOf(base, made.token), 201)
      assert.strictEqual(yield* statusOf(base, Redacted.make("pst_guess")), 401)
    }).pipe(Effect.provide(platform)),
  )

  it.effect("without one that is given, only those of the dashboard are", () =>
    Effect.gen(function* () {
      const { base, tokens } = yield* started({})
      assert.strictEqual(yield* statusOf(base, token), 401)
      const made = yield* tokens.create("pipeline")
      assert.strictEqual(yield* statusOf(base, made.token), 201)
      assert.strictEqual(yield* statusOf(base, Redacted.make("")), 401)
    }).pipe(Effect.provide(platform)),
  )

  it.effect("rotation and revocation hold for the next request", () =>
    Effect.gen(function* () {
      const { base, tokens } = yield* started({})
      const old = yield* tokens.create("pipeline")
      const fresh = yield* tokens.rotate(old.summary.token_id, 1)
      assert.strictEqual(yield* statusOf(base, old.token), 201)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* statusOf(base, old.token), 401)
      assert.strictEqual(yield* statusOf(base, fresh.token), 201)
      yield* tokens.revoke(fresh.summary.token_id)
      assert.strictEqual(yield* statusOf(base, fresh.token), 401)
    }).pipe(Effect.provide(platform)),
  )

  it.effect("each has a rate limit of its own", () =>
    Effect.gen(function* () {
      const { base, tokens } = yield* started({ token, rateLimit: { perSecond: 1, burst: 1 } })
      const made = yield* tokens.create("pipeline")
      assert.deepStrictEqual(
        [yield* statusOf(base, token), yield* statusOf(base, token), yield* statusOf(base, made.token)],
        [201, 429, 201],
      )
    }).pipe(Effect.provide(platform)),
  )

  it.effect("tasks belong to the organization, whichever of its tokens created them", () =>
    Effect.gen(function* () {
      const { base, tokens } = yield* started({ token })
      const made = yield* tokens.create("pipeline")
      const created = yield* call("POST", `${base}/v1/tasks`, { body })
      const authorization = `Bearer ${Redacted.value(made.token)}`
      const found = yield* call("GET", `${base}/v1/tasks/${created.json.task_id}`, { headers: { authorization } })
      assert.strictEqual(found.status, 200)
    }).pipe(Effect.provide(platform)),
  )
})

describe("the service's pages", () => {
  it.effect("are left out where they are not wanted", () =>
    Effect.gen(function* () {
      const { base } = yield* started({ pages: false })
      for (const path of ["/", "/dashboard/", "/annotate/", "/dashboard/api/session", "/assets/x.js"]) {
        assert.strictEqual((yield* call("GET", `${base}${path}`)).status, 404, path)
      }
      assert.strictEqual((yield* call("GET", `${base}/v1/openapi.json`)).status, 200)
    }).pipe(Effect.provide(platform)),
  )
})
