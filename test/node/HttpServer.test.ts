import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import * as NodeServer from "../../src/node/HttpServer.ts"
import { raw } from "../service/web/http.ts"

const address = Effect.map(HttpServer.HttpServer, ({ address }) => HttpServer.formatAddress(address))

describe("HttpServer", () => {
  it.effect("answers 503 while no application is served, and its answers from then on", () =>
    Effect.gen(function* () {
      const base = yield* address
      const tooEarly = yield* raw(base, "/", { method: "POST", body: "x" })
      assert.deepStrictEqual([tooEarly.status, tooEarly.text, tooEarly.headers["retry-after"]], [503, "", "1"])
      const routes = HttpRouter.add("POST", "/", HttpServerResponse.text("here"))
      yield* Layer.build(HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }))
      assert.strictEqual((yield* raw(base, "/", { method: "POST", body: "x" })).text, "here")
    }).pipe(Effect.provide(NodeServer.layer())),
  )
})
