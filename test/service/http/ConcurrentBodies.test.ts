import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import * as ConcurrentBodies from "../../../src/service/http/ConcurrentBodies.ts"
import { call, platform, start, task } from "../support.ts"
import { testOver } from "../../support/effectTest.ts"
import { defaultLimits } from "../../../src/service/http/RequestLimits.ts"

const test = testOver(Layer.empty)

const limits = { ...defaultLimits, bodyBytes: 100 }

/** Requests whose handler waits for `done`, and the tokens of those that have reached it. */
const requests = Effect.gen(function* () {
  const admit = ConcurrentBodies.make(limits)
  const done = yield* Deferred.make<void>()
  const reached: Array<string> = []
  const send = (tokenId: string, bytes: number) => {
    const web = new Request("http://localhost/v1/tasks", {
      method: "POST",
      body: "x".repeat(bytes),
      headers: { "content-length": String(bytes) },
    })
    return admit(
      tokenId,
      Effect.suspend(() => {
        reached.push(tokenId)
        return Effect.as(Deferred.await(done), HttpServerResponse.empty())
      }),
    ).pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(web)),
      Effect.scoped,
      Effect.forkChild,
    )
  }
  return { done, reached, send }
})

/** Lets each fiber go on as far as it can. */
const settle = Effect.repeat(
  Effect.promise(() => new Promise((resolve) => setImmediate(resolve))),
  { times: 9 },
)

describe("bodies under way", () => {
  test("are bounded for each token; another one's go on, and what waits has its turn", function* () {
    const { done, reached, send } = yield* requests
    const first = yield* Effect.forEach([100, 100, 100], (bytes) => send("a", bytes))
    yield* settle
    assert.deepStrictEqual(reached, ["a", "a"])
    yield* send("b", 100)
    yield* settle
    assert.deepStrictEqual(reached, ["a", "a", "b"])
    yield* Deferred.succeed(done, undefined)
    for (const fiber of first) assert.strictEqual((yield* Fiber.join(fiber)).status, 204)
    assert.lengthOf(reached, 4)
  })

  test("that find no room in time are answered 429 for their token's sake, 503 for all others'", function* () {
    const { reached, send } = yield* requests
    for (const tokenId of ["a", "a", "b", "b"]) yield* send(tokenId, 100)
    const own = yield* send("a", 1)
    const others = yield* send("c", 1)
    yield* settle
    assert.deepStrictEqual(reached, ["a", "a", "b", "b"])
    yield* TestClock.adjust("15 seconds")
    for (const [fiber, status] of [
      [own, 429],
      [others, 503],
    ] as const) {
      const answer = yield* Fiber.join(fiber)
      assert.deepStrictEqual([answer.status, answer.headers["retry-after"]], [status, "5"])
    }
  })
})

testOver(platform)("the values of a body are counted before it is decoded", function* () {
  const bodyBytes = 20_000
  const base = yield* start({
    limits: { bodyBytes, promptsPerTask: 3, completionsPerPrompt: 4 },
  })
  const post = (body: unknown) => call("POST", `${base}/v1/tasks`, { body })
  const many = yield* post({ ...task([]), prompts: Array.from({ length: 6_000 }, () => ({})) })
  assert.strictEqual(many.status, 422, many.text)
  assert.strictEqual(many.json.detail, "Invalid body: expected at most 1072 JSON values, found more")
  const text = '[{},{},"\\'.repeat(1_000)
  assert.strictEqual((yield* post(task([[text, "a", "b", "c", "d"]]))).status, 201, "in a string nothing counts")
})
