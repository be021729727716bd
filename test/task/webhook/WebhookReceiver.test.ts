import { connect } from "node:net"
import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Predicate, Redacted } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import * as NodeServer from "../../../src/node/HttpServer.ts"
import { AnnotationClient } from "../../../src/task/client/AnnotationClient.ts"
import type { Protocol } from "../../../src/task/client/Protocol.ts"
import * as WebhookReceiver from "../../../src/task/webhook/WebhookReceiver.ts"
import { test } from "../../support/job.ts"
import { listening } from "../../support/listening.ts"
import { completed, deliver, otherSecret, secrets, send, signed } from "../../support/webhooks.ts"
import { due, logged, outstanding, received, receiving, testReceived, withLedger } from "./webhookSupport.ts"

const statusOf = (url: string) => fetch(url).then(({ status }) => status)

describe("WebhookReceiver", () => {
  const payloads: ReadonlyArray<readonly [string, unknown, ReadonlyArray<string>]> = [
    ["data.task_ids", { data: { task_ids: ["task_2", "task_0", "task_0"] } }, ["task_0", "task_2"]],
    ["data.task_id", { data: { task_id: "task_2" } }, ["task_2"]],
    ["task_ids", { task_ids: ["task_2"] }, ["task_2"]],
    ["task_id", { task_id: "task_2" }, ["task_2"]],
    ["none of the places", { data: { group: "g" } }, ["task_0", "task_1", "task_2"]],
    ["a place with nothing in it", { task_id: null, task_ids: {} }, ["task_0", "task_1", "task_2"]],
    ["something that is not JSON", "done!", ["task_0", "task_1", "task_2"]],
    ["an empty body", "", ["task_0", "task_1", "task_2"]],
    ["an empty list", { data: { task_ids: [] } }, []],
    ["ids of others", { task_ids: ["task_9", 7, "__proto__", "", "a\0b", "x".repeat(10_000)] }, []],
    ["an id that no task can have", { task_id: "x".repeat(1001) }, ["task_0", "task_1", "task_2"]],
    ["ids of others beside one of ours", { task_ids: ["task_9", "task_1"] }, ["task_1"]],
  ]
  for (const [name, payload, expected] of payloads) {
    testReceived(`answers 204 without a body, and finds task ids in a payload with ${name}`, function* (url) {
      const answer = yield* send(url, signed(payload))
      assert.deepStrictEqual([answer.status, answer.body], [204, ""])
      assert.deepStrictEqual(yield* due, expected)
    })
  }

  testReceived(
    "finds task ids where the profile says, and only there",
    function* (url) {
      const tasks = [{ id: "task_1" }, { name: "no id" }, { id: "task_2" }]
      assert.strictEqual(yield* deliver(url, { data: { tasks, task_ids: ["task_0"] } }), 204)
      assert.deepStrictEqual(yield* due, ["task_1", "task_2"])
    },
    { secrets },
    { webhook: { taskIdPaths: ["data.tasks[*].id"] } },
  )

  testReceived(
    "finds task ids where its own options say, rather than where the profile does",
    function* (url) {
      assert.strictEqual(yield* deliver(url, { finished: [{ task: "task_1" }], task_id: "task_0" }), 204)
      assert.deepStrictEqual(yield* due, ["task_1"])
    },
    { secrets, taskIdPaths: ["finished[*].task"] },
  )

  test("finds task ids as the client's protocol reads them, if there is one", function* () {
    const protocol: Protocol = {
      create: () => Effect.die("not sent"),
      poll: () => Effect.die("not polled"),
      taskIdsOf: (payload) => (Predicate.hasProperty(payload, "done") ? [`task_${String(payload.done)}`] : undefined),
    }
    const client = AnnotationClient.layerProtocol(protocol)
    yield* Effect.gen(function* () {
      yield* outstanding
      const url = yield* receiving()
      assert.strictEqual(yield* deliver(url, { done: 2, task_id: "task_0" }), 204)
      assert.deepStrictEqual(yield* due, ["task_2"])
      assert.strictEqual(yield* deliver(url, { task_id: "task_0" }), 204)
      assert.deepStrictEqual((yield* due).toSorted(), ["task_0", "task_1", "task_2"])
    }).pipe(Effect.provide(client), withLedger())
  })

  const forged: ReadonlyArray<readonly [string, number, () => Parameters<typeof send>[1]]> = [
    ["another body", 401, () => ({ ...signed(completed(["task_0"])), body: JSON.stringify(completed(["task_1"])) })],
    ["a secret that is not ours", 401, () => signed(completed(["task_0"]), { secret: otherSecret })],
    ["a time that is 6 minutes ago", 401, () => signed(completed(["task_0"]), { at: Date.now() - 360_000 })],
    ["no headers at all", 400, () => ({ body: JSON.stringify(completed(["task_0"])) })],
  ]
  testReceived("refuses a forged delivery, says nothing of why, and changes nothing", function* (url) {
    const sql = yield* SqlClient.SqlClient
    for (const [what, status, make] of forged) {
      const answer = yield* send(url, make())
      assert.deepStrictEqual([answer.status, answer.body], [status, ""], what)
      assert.deepStrictEqual([yield* due, yield* sql`SELECT * FROM delivery`], [[], []], what)
    }
  })

  test("logs a delivery to another path, once per path and without its query, and answers 404", function* () {
    const lines = yield* logged(
      received(function* (url) {
        const origin = new URL(url).origin
        const post = (path: string) =>
          Effect.map(send(`${origin}${path}`, signed(completed(["task_0"]))), ({ status }) => status)
        assert.strictEqual(yield* post("/webhooks?key=secret"), 404)
        assert.strictEqual(yield* post("/webhooks"), 404)
        // Within the minute.
        assert.strictEqual(yield* post("/"), 404)
        assert.strictEqual(yield* Effect.promise(() => statusOf(`${origin}/favicon.ico`)), 404)
        assert.strictEqual(yield* Effect.promise(() => statusOf(`${origin}/healthz`)), 200)
        assert.deepStrictEqual(yield* due, [])
        assert.strictEqual(yield* post("/webhook"), 204)
        assert.deepStrictEqual(yield* due, ["task_0"])
      }),
    )
    assert.deepStrictEqual(lines, [
      "a webhook delivery to /webhooks was refused, because webhooks are received at /webhook: correct the webhook URL at the service, or set `webhook.path`",
    ])
  })

  testReceived("takes a body of 1 MiB, and refuses a larger one with 413, announced or not", function* (url) {
    const padded = (bytes: number) => {
      const payload = { task_id: "task_0", padding: "" }
      return { ...payload, padding: "x".repeat(bytes - JSON.stringify(payload).length) }
    }
    const tooLarge = signed(padded(1_048_577))
    assert.strictEqual((yield* send(url, tooLarge)).status, 413)
    const chunked = { ...tooLarge, headers: { ...tooLarge.headers, "transfer-encoding": "chunked" } }
    assert.strictEqual((yield* send(url, chunked)).status, 413)
    assert.deepStrictEqual(yield* due, [])
    assert.strictEqual((yield* send(url, signed(padded(1_048_576)))).status, 204)
    assert.deepStrictEqual(yield* due, ["task_0"])
  })

  testReceived("answers 500 while the ledger can't record, so that it is sent again", function* (url) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`ALTER TABLE delivery RENAME TO away`
    const delivery = signed(completed(["task_0"]))
    assert.strictEqual((yield* send(url, delivery)).status, 500)
    yield* sql`ALTER TABLE away RENAME TO delivery`
    assert.strictEqual((yield* send(url, delivery)).status, 204)
    assert.deepStrictEqual(yield* due, ["task_0"])
  })

  testReceived("is a route for a server of one's own, at a path of one's own", function* () {
    const own = HttpRouter.add("GET", "/health", HttpServerResponse.text("well"))
    const routes = Layer.merge(own, WebhookReceiver.route({ secrets, path: "/hooks/annotation" }))
    const context = yield* Layer.build(
      HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provideMerge(NodeServer.layer()),
      ),
    )
    const base = HttpServer.formatAddress((yield* HttpServer.HttpServer.pipe(Effect.provide(context))).address)
    assert.strictEqual((yield* send(`${base}/health`, { method: "GET" })).body, "well")
    assert.strictEqual(yield* deliver(`${base}/hooks/annotation`, completed(["task_2"])), 204)
    assert.deepStrictEqual(yield* due, ["task_2"])
  })

  testReceived("tells whoever watches over the process that it listens, unless its path is taken", function* (url) {
    const at = (url: string) => new URL("/healthz", url).href
    assert.deepInclude(yield* send(at(url), { method: "GET" }), { status: 200, body: "listening\n" })
    assert.deepInclude(yield* send(at(url), { method: "HEAD" }), { status: 200, body: "" })
    const ready = yield* send(new URL("/readyz", url).href, { method: "GET" })
    assert.deepInclude(ready, { status: 200, body: "ready\n" })
    assert.strictEqual((yield* send(at(url), signed(completed(["task_0"])))).status, 404)
    const taken = yield* receiving({ secrets, path: "/healthz" })
    assert.strictEqual((yield* send(taken, { method: "GET" })).status, 405)
    assert.strictEqual(yield* deliver(taken, completed(["task_1"])), 204)
    assert.deepStrictEqual(yield* due, ["task_1"])
  })

  testReceived("stops when its scope closes, also with a connection open", function* () {
    const url = yield* Effect.scoped(
      Effect.gen(function* () {
        const url = yield* receiving()
        yield* Effect.callback<void>((resume) => {
          const socket = connect(Number(new URL(url).port), "127.0.0.1", () => resume(Effect.void))
          socket.on("error", () => undefined)
        })
        return url
      }),
    )
    const failure = yield* Effect.flip(send(url, signed(completed(["task_0"]))))
    assert.match(failure.message, /ECONNREFUSED/)
  })

  testReceived("refuses a port that is in use, and a secret that is none, in words", function* () {
    const { port } = yield* listening(() => {})
    const inUse = yield* Effect.flip(receiving({ secrets, port }))
    assert.strictEqual(
      inUse.message,
      `cannot receive webhooks at 127.0.0.1:${port}: the port is in use; set another one with \`webhook.port\``,
    )
    const unknown = yield* Effect.flip(receiving({ secrets, host: "no-such-host.invalid" }))
    assert.strictEqual(unknown._tag, "CannotListen")
    const misnamed = yield* Effect.flip(receiving({ secrets: [Redacted.make("hunter2")] }))
    assert.strictEqual(misnamed._tag, "MalformedSecret")
    assert.notInclude(misnamed.message, "hunter2")
  })
})
