import { execFileSync } from "node:child_process"
import { readFileSync, statSync } from "node:fs"
import { connect } from "node:net"
import { dirname, join } from "node:path"
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as NodeServer from "../../src/node/HttpServer.ts"
import * as SqliteClient from "../../src/node/SqliteClient.ts"
import * as ServiceLayers from "../../src/service/ServiceLayers.ts"
import { call, completed, platform, spawned, start, task, temporaryFile, token } from "./support.ts"
import { assertProblem } from "./web/http.ts"
import { liveOver, testOver } from "../support/effectTest.ts"

const test = testOver(platform)

const body = task([["What is 2 + 2?", "4", "It is five."]])

test("a task is completed when its turnaround has passed, not before", function* () {
  const base = yield* start({ experts: ["longest"], turnaround: "1 hour" })
  const one = yield* call("POST", `${base}/v1/tasks`, { body })
  yield* TestClock.adjust("30 minutes")
  const two = yield* call("POST", `${base}/v1/tasks`, { body })

  yield* TestClock.adjust("30 minutes")
  yield* completed(base, one.json.task_id)
  const waiting = yield* call("GET", `${base}/v1/tasks/${two.json.task_id}`)
  assert.deepStrictEqual(waiting.json, { task_id: two.json.task_id, status: "pending" })

  yield* TestClock.adjust("30 minutes")
  yield* completed(base, two.json.task_id)
})

describe("restart", () => {
  test("tasks are there, results are equal, open tasks get finished", function* () {
    const database = yield* temporaryFile("service.sqlite")
    const headers = { "idempotency-key": "a key" }

    const done = yield* Effect.scoped(
      Effect.gen(function* () {
        const base = yield* start({ database, experts: ["longest"] })
        const { json } = yield* call("POST", `${base}/v1/tasks`, { body, headers })
        return yield* completed(base, json.task_id)
      }),
    )
    const open = yield* Effect.scoped(
      Effect.gen(function* () {
        const base = yield* start({ database, experts: ["longest"], turnaround: "1 hour" })
        return yield* call("POST", `${base}/v1/tasks`, { body })
      }),
    )

    const base = yield* start({ database, experts: ["first"] })
    const again = yield* call("GET", `${base}/v1/tasks/${done.json.task_id}`)
    assert.strictEqual(again.text, done.text)

    const repeated = yield* call("POST", `${base}/v1/tasks`, { body, headers })
    assert.strictEqual(repeated.status, 201)
    assert.deepStrictEqual(repeated.json, { task_id: done.json.task_id, status: "completed" })
    const other = yield* call("POST", `${base}/v1/tasks`, { body: { ...body, guidelines: "g" }, headers })
    assert.strictEqual(other.status, 422)

    const finished = yield* completed(base, open.json.task_id)
    assert.strictEqual(finished.json.results[0].annotations.rationale, "First of 2 completions.")
  })

  test("a copy as the guide has it, made while the service runs, is for its owner only, and starts as the original", function* () {
    const database = yield* temporaryFile("prefstream-service.db")
    const folder = dirname(database)
    const guide = readFileSync(new URL("../../src/service/README.md", import.meta.url), "utf8")
    const [line] = guide.split("\n").filter((line) => line.includes("VACUUM INTO"))
    const done = yield* Effect.scoped(
      Effect.gen(function* () {
        const base = yield* start({ database, experts: ["longest"] })
        const { json } = yield* call("POST", `${base}/v1/tasks`, { body })
        const done = yield* completed(base, json.task_id)
        const sqlite3 = `sqlite3() { "$NODE" -e 'new (require("node:sqlite").DatabaseSync)(process.argv[1]).exec(process.argv[2])' "$@"; }`
        const env = { ...process.env, NODE: process.execPath }
        execFileSync("sh", ["-c", `umask 022; ${sqlite3}; ${line}`], { cwd: folder, env })
        return done
      }),
    )
    const copy = join(folder, "copy.db")
    assert.strictEqual((statSync(copy).mode & 0o777).toString(8), "600")
    const base = yield* start({ database: copy, experts: ["longest"] })
    assert.strictEqual((yield* call("GET", `${base}/v1/tasks/${done.json.task_id}`)).text, done.text)
  })

  test("the same key names the same task over a new store", function* () {
    const headers = { "idempotency-key": "a key" }
    const create = Effect.gen(function* () {
      const base = yield* start({ experts: ["first"] })
      return (yield* call("POST", `${base}/v1/tasks`, { body, headers })).json.task_id
    })
    assert.strictEqual(yield* create, yield* create)
  })

  liveOver(platform)("what was answered 201 outlives kill -9", function* () {
    const database = yield* temporaryFile("service.sqlite")
    const { base: first, child } = yield* spawned("serve.ts", database)
    const answers = yield* Effect.forEach(
      Array.from({ length: 20 }, (_, i) => `key ${i}`),
      (key) => call("POST", `${first}/v1/tasks`, { body, headers: { "idempotency-key": key } }),
      { concurrency: 4 },
    )
    yield* child.kill({ killSignal: "SIGKILL" })
    const base = yield* start({ database, experts: ["longest"] })
    for (const { json, status } of answers) {
      assert.strictEqual(status, 201)
      const { results } = (yield* completed(base, json.task_id)).json
      assert.strictEqual(results[0].best_completion_index, 1)
    }
  })
})

test("a failing store is a 500 that says nothing about the cause", function* () {
  const filename = yield* temporaryFile("service.sqlite")
  const service = ServiceLayers.layer({ experts: ["first"], token }).pipe(
    Layer.provideMerge([NodeServer.layer(), SqliteClient.layer({ filename })]),
  )
  yield* Effect.gen(function* () {
    const base = HttpServer.formatAddress((yield* HttpServer.HttpServer).address)
    yield* (yield* SqlClient.SqlClient)`DROP TABLE task_result`
    const answer = yield* call("GET", `${base}/v1/tasks/task_0`)
    assert.deepInclude(answer.json, { status: 500, type: "tag:prefstream,2026:service-failure" })
    assert.notInclude(answer.text, "task_result")
  }).pipe(Effect.provide(service))
})

test("a request that comes before the service is up is answered 503, whatever its method", function* () {
  const scope = yield* Effect.scope
  const filename = yield* temporaryFile("service.sqlite")
  const server = yield* Layer.build(ServiceLayers.layerHttp())
  const base = yield* Effect.map(HttpServer.HttpServer, ({ address }) => HttpServer.formatAddress(address)).pipe(
    Effect.provide(server),
  )
  const tooEarly = yield* Effect.all(
    [
      call("GET", `${base}/v1/tasks/task_0`),
      call("POST", `${base}/v1/tasks`, { body: "x".repeat(1_000_000) }),
      call("GET", `${base}/dashboard/`),
    ],
    { concurrency: "unbounded" },
  )
  for (const answer of tooEarly) {
    assertProblem(answer, 503, "service-unavailable")
    assert.strictEqual(answer.headers["retry-after"], "1")
  }

  const database = yield* Deferred.make<void>()
  const service = ServiceLayers.layer({ experts: ["first"], token }).pipe(
    Layer.provide(Layer.succeedContext(server)),
    Layer.provide(Layer.unwrap(Effect.as(Deferred.await(database), SqliteClient.layer({ filename })))),
  )
  const built = yield* Effect.forkIn(Layer.build(service), scope)
  assert.strictEqual((yield* call("GET", `${base}/v1/tasks/task_0`)).status, 503, "while the database is opened")
  yield* Deferred.succeed(database, undefined)
  yield* Fiber.join(built)
  assert.strictEqual((yield* call("GET", `${base}/v1/tasks/task_0`)).status, 404)
})

liveOver(platform)("shutdown does not wait for a client that never finishes its request", function* () {
  const scope = yield* Scope.make()
  const base = new URL(yield* start({ experts: ["first"] }).pipe(Scope.provide(scope)))
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => connect(Number(base.port), base.hostname)),
    (socket) => Effect.sync(() => socket.destroy()),
  )
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()))
  const waitsForBody = new Promise<string>((resolve) => socket.once("data", (data) => resolve(data.toString())))
  const head = ["POST /v1/tasks HTTP/1.1", "host: localhost", `authorization: Bearer ${Redacted.value(token)}`]
  socket.write([...head, "expect: 100-continue", "content-length: 100", "", ""].join("\r\n"))
  assert.match(yield* Effect.promise(() => waitsForBody), /^HTTP\/1.1 100 /)

  yield* Scope.close(scope, Exit.void)
  yield* Effect.promise(() => closed)
})
