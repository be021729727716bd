import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpClient } from "effect/http"
import * as NodeHttpClient from "../../src/node/HttpClient.ts"

/** A server that answers with the trace that a request belongs to. */
const serve = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer(({ headers }, response) => response.end(String(headers["traceparent"]).split("-")[1]))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return server
  }),
  (server) => Effect.sync(() => server.close().closeAllConnections()),
)

it.effect("a request has the trace of its own caller, whoever asked first", () =>
  Effect.gen(function* () {
    const { port } = (yield* serve).address() as AddressInfo
    const ask = Effect.flatMap(HttpClient.get(`http://127.0.0.1:${port}/`), ({ text }) => text)
    const traced = Effect.withSpan(
      Effect.zip(
        ask,
        Effect.map(Effect.currentSpan, ({ traceId }) => traceId),
      ),
      "caller",
    )
    const [first, firstTrace] = yield* traced
    const alone = yield* ask
    const [second, secondTrace] = yield* traced
    assert.deepStrictEqual([first, second], [firstTrace, secondTrace])
    assert.notInclude([first, second], alone)
    assert.strictEqual(alone.length, 32)
  }).pipe(Effect.provide(NodeHttpClient.layer)),
)
