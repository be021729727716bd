import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as RateLimit from "../../../src/service/http/RateLimit.ts"
import { call, platform, start, task } from "../support.ts"
import { assertProblem } from "../web/http.ts"
import { testOver } from "../../support/effectTest.ts"

const test = testOver(Layer.empty)

const body = task([["p", "a", "b"]])

test("takes a burst, then as many as come back with time", function* () {
  const take = yield* RateLimit.make({ perSecond: 10, burst: 30 })
  const refused = Effect.map(take("one"), ({ retryAfterSeconds }) => retryAfterSeconds !== undefined)
  const takeMany = (n: number) => Effect.map(Effect.replicateEffect(refused, n), (all) => all.indexOf(true))
  assert.strictEqual(yield* takeMany(31), 30)
  yield* TestClock.adjust("100 millis")
  assert.strictEqual(yield* takeMany(2), 1)
  yield* TestClock.adjust("1 second")
  assert.strictEqual(yield* takeMany(11), 10)
  yield* TestClock.adjust("1 hour")
  assert.strictEqual(yield* takeMany(31), 30, "no more than a burst is saved up")
})

test("keeps to rates that are less than a millisecond apart", function* () {
  const take = yield* RateLimit.make({ perSecond: 4_000, burst: 8 })
  const taken = Effect.map(Effect.replicateEffect(take("one"), 100), (all) =>
    all.filter(({ retryAfterSeconds }) => retryAfterSeconds === undefined),
  )
  assert.lengthOf(yield* taken, 8)
  yield* TestClock.adjust("1 millis")
  assert.lengthOf(yield* taken, 4)
})

testOver(platform)("the service's rate limit is in each answer, and refuses with 429 and Retry-After", function* () {
  const base = yield* start({ rateLimit: { perSecond: 0.5, burst: 3 } })
  const get = call("GET", `${base}/v1/tasks/task_nothing`)

  const unknown = yield* call("GET", `${base}/v1/tasks/task_nothing`, { headers: { authorization: "Bearer x" } })
  assert.strictEqual(unknown.status, 401)
  assert.notProperty(unknown.headers, "ratelimit", "whose limit would it be?")

  const created = yield* call("POST", `${base}/v1/tasks`, { body })
  assert.strictEqual(created.status, 201)
  assert.strictEqual(created.headers["ratelimit-policy"], '"default";q=3;w=6')
  assert.strictEqual(created.headers["ratelimit"], '"default";r=2;t=2')
  const missing = yield* get
  assert.deepStrictEqual([missing.status, missing.headers["ratelimit"]], [404, '"default";r=1;t=4'])
  const malformed = yield* call("POST", `${base}/v1/tasks`, { body: "{" })
  assert.deepStrictEqual([malformed.status, malformed.headers["ratelimit"]], [400, '"default";r=0;t=6'])

  yield* TestClock.adjust("500 millis")
  const refused = yield* get
  assertProblem(refused, 429, "too-many-requests")
  assert.deepStrictEqual([refused.headers["retry-after"], refused.headers["ratelimit"]], ["2", '"default";r=0;t=6'])
  const post = yield* call("POST", `${base}/v1/tasks`, { body })
  assert.strictEqual(post.status, 429, "before the task is stored")

  yield* TestClock.adjust("1500 millis")
  assert.strictEqual((yield* get).status, 404)
  assert.strictEqual((yield* get).status, 429)
  const docs = yield* call("GET", `${base}/v1/openapi.json`)
  assert.deepStrictEqual([docs.status, docs.headers["ratelimit"]], [200, undefined])
})
