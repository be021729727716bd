import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Layer, Scope } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import * as NodeServer from "../../src/node/HttpServer.ts"
import { raw } from "../service/web/http.ts"

const address = Effect.map(HttpServer.HttpServer, ({ address }) => HttpServer.formatAddress(address))

describe("HttpServer", () => {
  it.effect("what answers first answers while an application is served, and leaves requests to it", () =>
    Effect.gen(function* () {
      const base = yield* address
      const scope = yield* Scope.make()
      const interrupted = yield* Deferred.make<void>()
      const answers: Record<string, Effect.Effect<HttpServerResponse.HttpServerResponse | undefined, string>> = {
        "/now": Effect.succeed(HttpServerResponse.text("now", { status: 201, headers: { "x-first": "yes" } })),
        "/waits": Effect.as(Effect.never, HttpServerResponse.text("later")).pipe(
          Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined)),
        ),
        "/leaves": Effect.succeed(undefined),
        "/fails": Effect.fail("no"),
        "/dies": Effect.die("no"),
      }
      yield* NodeServer.answerFirst(({ url = "" }) => answers[url]).pipe(Scope.provide(scope))
      assert.strictEqual((yield* raw(base, "/now")).status, 503)
      const routes = HttpRouter.add("GET", "/*", HttpServerResponse.text("application"))
      yield* Layer.build(HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }))
      const now = yield* raw(base, "/now")
      assert.deepStrictEqual([now.status, now.text, now.headers["x-first"]], [201, "now", "yes"])
      for (const path of ["/waits", "/leaves", "/fails", "/dies", "/other"]) {
        assert.strictEqual((yield* raw(base, path)).text, "application", path)
      }
      yield* Deferred.await(interrupted)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* raw(base, "/now")).text, "application")
    }).pipe(Effect.provide(NodeServer.layer())),
  )
})
