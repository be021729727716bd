import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import type { SqlClient } from "effect/sql"
import * as NodeServer from "../../src/node/HttpServer.ts"
import * as PostgresClient from "../../src/node/PostgresClient.ts"
import * as SqliteClient from "../../src/node/SqliteClient.ts"
import * as HealthRoutes from "../../src/telemetry/HealthRoutes.ts"
import * as Readiness from "../../src/telemetry/Readiness.ts"
import { cliServed, cliStarted, folderWithItems, quick, to } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { notInstalled, Server } from "../support/postgres.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { send } from "../support/webhooks.ts"

/** The origin of a server that answers nothing else. */
const listening = Effect.gen(function* () {
  const served = HttpRouter.serve(HealthRoutes.layer, { disableLogger: true, disableListenLog: true })
  const context = yield* Layer.build(Layer.provideMerge(served, NodeServer.layer()))
  return HttpServer.formatAddress((yield* Effect.provide(HttpServer.HttpServer, context)).address)
})

/** What `/healthz` and `/readyz` are answered. */
const health = (origin: string) =>
  Effect.forEach(HealthRoutes.paths, (path) =>
    Effect.map(send(`${origin}${path}`, { method: "GET" }), ({ status }) => status),
  )

/** A client whose scope, and nothing else, is closed by `close`. */
const opened = Effect.fnUntraced(function* <E>(layer: Layer.Layer<SqlClient.SqlClient, E>) {
  const scope = yield* Scope.make()
  const client = yield* Layer.buildWithScope(layer, scope)
  yield* Effect.provide(Readiness.requireDatabase, client)
  return { close: Scope.close(scope, Exit.void) }
})

describe("health", () => {
  test("a process is ready while its SQLite file answers", function* () {
    const origin = yield* listening
    assert.deepStrictEqual(yield* health(origin), [200, 503])
    const filename = `${yield* temporaryDirectory}/some.db`
    const { close } = yield* opened(SqliteClient.layer({ filename }))
    assert.deepStrictEqual(yield* health(origin), [200, 200])
    yield* close
    assert.deepStrictEqual(yield* health(origin), [200, 503])
  })

  it.live.skipIf(notInstalled)("a process is not ready while PostgreSQL is stopped", () =>
    Effect.gen(function* () {
      const origin = yield* listening
      const server = yield* Effect.acquireRelease(Effect.promise(Server.make), (server) =>
        Effect.promise(() => server.close()),
      )
      yield* opened(PostgresClient.layer({ url: Redacted.make(server.url(server.newSchema())) }))
      assert.deepStrictEqual(yield* health(origin), [200, 200])
      yield* Effect.promise(() => server.stop())
      assert.deepStrictEqual(yield* health(origin), [200, 503])
      yield* Effect.promise(() => server.start())
      assert.deepStrictEqual(yield* health(origin), [200, 200])
    }).pipe(Effect.scoped),
  )

  test("the service answers beside its contract, without a token", function* () {
    const folder = yield* temporaryDirectory
    const { env } = yield* cliServed(["--database", `${folder}/service.db`, "--expert", "longest"])
    const { origin } = new URL(env.PREFSTREAM_BASE_URL)
    assert.deepStrictEqual(yield* health(origin), [200, 200])
    assert.strictEqual((yield* send(`${origin}/readyz`, { method: "POST" })).status, 405)
    assert.strictEqual((yield* send(`${origin}/metrics`, { method: "GET" })).status, 404)
  })

  test("a job is not ready while it is stopping", function* () {
    const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const service = yield* ScriptedService.make(async () => {
      asked.resolve()
      await released.promise
      return { status: 201, body: { task_id: "task_1" } }
    })
    const folder = yield* folderWithItems(1)
    const job = yield* cliStarted(
      ["submit", `${folder}/items.jsonl`, "--dir", `${folder}/job`, "--monitor", "0", ...quick],
      to(service),
    )
    const said = yield* job.talks(/Health checks and metrics are at \S+\n/)
    const [, origin = ""] = /metrics are at (\S+)/.exec(said) ?? []
    yield* Effect.promise(() => asked.promise)
    assert.deepStrictEqual(yield* health(origin), [200, 200])
    const stopped = yield* Effect.forkScoped(job.stop())
    yield* job.talks(/SIGTERM: waiting for 1 request to finish/)
    assert.deepStrictEqual(yield* health(origin), [200, 503])
    released.resolve()
    assert.strictEqual((yield* Fiber.join(stopped)).status, 143)
  })
})
