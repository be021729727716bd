import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpClient } from "effect/http"
import * as NodeHttpClient from "../../src/node/HttpClient.ts"
import { listening } from "../support/listening.ts"

/** A server that answers with the trace that a request belongs to. */
const serve = listening(({ headers }, response) => response.end(String(headers["traceparent"]).split("-")[1]))

it.effect("a request has the trace of its own caller, whoever asked first", () =>
  Effect.gen(function* () {
    const { origin } = yield* serve
    const ask = Effect.flatMap(HttpClient.get(`${origin}/`), ({ text }) => text)
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
