import { assert } from "@effect/vitest"
import { Context, Effect, Layer, Metric, Redacted, Tracer } from "effect"
import { HttpServer } from "effect/http"
import { TestClock } from "effect/testing"
import { Tokens } from "../../../src/service/account/Tokens.ts"
import * as ServiceLayers from "../../../src/service/ServiceLayers.ts"
import * as SqliteClient from "../../../src/node/SqliteClient.ts"
import { call, completed, platform, task, temporaryFile, token } from "../support.ts"
import { raw } from "../web/http.ts"
import { testOver } from "../../support/effectTest.ts"

const test = testOver(platform)

/** A service, and how many requests have reached its application. */
const started = Effect.fnUntraced(function* (options: Partial<ServiceLayers.ServiceOptions> = {}) {
  const filename = yield* temporaryFile("service.sqlite")
  const web = yield* Layer.build(ServiceLayers.layerHttp())
  const server = Context.get(web, HttpServer.HttpServer)
  const { serve } = server
  let requests = 0
  Object.assign(server, {
    serve: (application: Effect.Effect<unknown>) =>
      serve(Effect.suspend(() => (requests++, application)) as Parameters<typeof serve>[0]),
  })
  const services = yield* Layer.build(
    ServiceLayers.layer({ experts: [], token, rateLimit: "none", ...options }).pipe(
      Layer.provide(Layer.succeedContext(web)),
      Layer.provide(SqliteClient.layer({ filename })),
    ),
  )
  const base = HttpServer.formatAddress(server.address)
  const create = Effect.map(
    call("POST", `${base}/v1/tasks`, { body: task([["Ü?", "a", "bb 🙂"]]) }),
    ({ json }): string => `${base}/v1/tasks/${json.task_id}`,
  )
  return { base, create, tokens: Context.get(services, Tokens), reached: Effect.sync(() => requests) }
})

const authorized = ({ token }: { readonly token: Redacted.Redacted<string> }) => ({
  headers: { authorization: `Bearer ${Redacted.value(token)}` },
})

test("is answered without the application, with the same status, headers, and body", function* () {
  const limited = { experts: ["longest"], rateLimit: { perSecond: 1, burst: 1_000 } }
  for (const options of [{}, { experts: ["longest"] }, limited]) {
    const { base, create, reached } = yield* started(options)
    const url = yield* create
    if ("experts" in options) yield* completed(base, url.split("/").at(-1)!)
    const before = yield* reached
    const first = yield* call("GET", url)
    assert.strictEqual(yield* reached, before)
    // The query, which is ignored, leads to the application.
    yield* TestClock.adjust("1 second")
    const second = yield* call("GET", `${url}?`)
    assert.strictEqual(yield* reached, before + 1)
    assert.strictEqual(first.status, 200)
    assert.strictEqual(first.text, second.text)
    assert.deepStrictEqual({ ...first.headers, date: "" }, { ...second.headers, date: "" })
    assert.strictEqual(first.headers["ratelimit"] !== undefined, "rateLimit" in options)
  }
})

test("without the right, or without such a task, is refused by the application", function* () {
  const { base, create, reached, tokens } = yield* started()
  const url = yield* create
  const made = yield* tokens.create("pipeline")
  assert.strictEqual((yield* call("GET", url, authorized(made))).status, 200)
  assert.strictEqual(yield* reached, 1)
  yield* tokens.revoke(made.summary.token_id)
  const answers = yield* Effect.all([
    call("GET", url, authorized(made)),
    call("GET", url, { headers: { authorization: "Bearer " } }),
    call("GET", url, { headers: { authorization: Redacted.value(token) } }),
    call("GET", `${base}/v1/tasks/task_${"0".repeat(32)}`),
    call("PUT", url),
    raw(base, new URL(url).pathname, { headers: { ...authorized({ token }).headers, host: "elsewhere.example" } }),
  ])
  assert.deepStrictEqual(
    answers.map(({ status }) => status),
    [401, 401, 401, 404, 405, 403],
  )
  for (const { headers } of answers) assert.strictEqual(headers["content-type"], "application/problem+json")
  assert.strictEqual(yield* reached, 1 + answers.length)
})

test("counts in the token's rate limit, once whoever answers", function* () {
  const { base, create } = yield* started({ rateLimit: { perSecond: 1, burst: 4 } })
  const url = yield* create
  const statuses = [
    yield* call("GET", `${base}/v1/tasks/task_${"0".repeat(32)}`),
    yield* call("GET", url),
    yield* call("GET", `${url}?`),
    yield* call("GET", url),
  ].map(({ status }) => status)
  assert.deepStrictEqual(statuses, [404, 200, 200, 429])
  const refused = yield* call("GET", url)
  assert.deepStrictEqual([refused.headers["retry-after"], refused.json.status], ["1", 429])
  yield* TestClock.adjust("1 second")
  assert.strictEqual((yield* call("GET", url)).status, 200)
})

test("is measured once, whoever answers", function* () {
  const measured = Effect.map(Metric.snapshot, (metrics) =>
    ["200", "404"].map((status) => {
      const found = metrics.find(
        ({ attributes, id }) => id === "prefstream_server_request_seconds" && attributes?.["status"] === status,
      )
      return found?.type === "Histogram" ? found.state.count : 0
    }),
  )
  const { base, create } = yield* started()
  const url = yield* create
  const [found = 0, missing = 0] = yield* measured
  yield* call("GET", url)
  yield* call("GET", `${url}?`)
  yield* call("GET", `${base}/v1/tasks/task_${"0".repeat(32)}`)
  assert.deepStrictEqual(yield* measured, [found + 2, missing + 1])
})

test("is left to the application while requests are traced", function* () {
  const spans: Array<Tracer.Span> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    },
  })
  const { create, reached } = yield* Effect.provideService(started(), Tracer.Tracer, tracer)
  const url = yield* create
  const before = spans.filter(({ kind }) => kind === "server").length
  assert.strictEqual((yield* call("GET", url)).status, 200)
  assert.strictEqual(yield* reached, 2)
  assert.strictEqual(spans.filter(({ kind }) => kind === "server").length, before + 1)
})
