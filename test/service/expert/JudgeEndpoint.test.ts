import { inspect } from "node:util"
import { assert, describe } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import * as JudgeEndpoint from "../../../src/service/expert/JudgeEndpoint.ts"
import { httpClient, says, usage } from "../../support/judgeStub.ts"
import * as ScriptedService from "../../support/ScriptedService.ts"
import * as VirtualTime from "../../support/virtualTime.ts"
import { liveOver, testOver } from "../../support/effectTest.ts"

const messages = [{ role: "user", content: "?" }] as const
const key = "sk-A-KEY-THAT-NOBODY-MAY-SEE"

const endpointAt = (baseUrl: string, options: Partial<JudgeEndpoint.EndpointOptions> = {}) =>
  JudgeEndpoint.make({ model: "stub", apiKey: Redacted.make(key), retries: 0, baseUrl, ...options })

const test = liveOver(httpClient)

/** Answers with each of the script in turn, and then with the last for ever. */
const scripted = (answers: ReadonlyArray<ScriptedService.Answer | Promise<ScriptedService.Answer>>) =>
  ScriptedService.make((_, before) => answers[Math.min(before.length, answers.length - 1)]!)

const turn = Effect.promise(() => new Promise(setImmediate))

const never = new Promise<ScriptedService.Answer>(() => {})

type Asked = Parameters<JudgeEndpoint.Endpoint["complete"]>[0]

/** Asks once, in a judgment of its own. */
const complete = (endpoint: JudgeEndpoint.Endpoint, asked: Asked = messages, item = "item") =>
  Effect.scoped(Effect.flatMap(JudgeEndpoint.makeJudgment, (judgment) => endpoint.complete(asked, item, judgment)))

/** Asks in the test's own time. The result, and the times at which requests came. */
const inVirtualTime = Effect.fnUntraced(function* <A, E, R>(
  answers: ReadonlyArray<ScriptedService.Answer>,
  options: Partial<JudgeEndpoint.EndpointOptions>,
  ask: (endpoint: JudgeEndpoint.Endpoint) => Effect.Effect<A, E, R>,
) {
  const time = yield* VirtualTime.make
  const arrivals: Array<number> = []
  const service = yield* ScriptedService.make((_, before) => {
    arrivals.push(time.now())
    return answers[Math.min(before.length, answers.length - 1)]!
  })
  const asking = Effect.flatMap(endpointAt(service.baseUrl, options), (endpoint) =>
    time.run(Effect.result(ask(endpoint)), "50 millis"),
  )
  return { arrivals, result: yield* Effect.provide(asking, time.httpClient) }
})

const wait = (seconds: string): ScriptedService.Answer => ({ status: 429, headers: { "retry-after": seconds } })

/** What one question comes to, with no second try. */
const once = Effect.fnUntraced(function* (
  answers: ReadonlyArray<ScriptedService.Answer | Promise<ScriptedService.Answer>>,
  options: Partial<JudgeEndpoint.EndpointOptions> = {},
) {
  const service = yield* scripted(answers)
  const endpoint = yield* endpointAt(service.baseUrl, options)
  return { service, endpoint, exit: yield* Effect.exit(complete(endpoint)) }
}, Effect.provide(httpClient))

const failureOf = (answer: ScriptedService.Answer, options: Partial<JudgeEndpoint.EndpointOptions> = {}) =>
  Effect.flatMap(once([answer], options), ({ exit }) => Effect.flip(exit))

describe("a request", () => {
  test("goes to /chat/completions with model, messages, temperature 0 and the key", function* () {
    const { exit, service } = yield* once([says("four")])
    assert(Exit.isSuccess(exit))
    const { request: id, ...completion } = exit.value
    assert.match(id, /^[0-9a-f]{64}$/)
    assert.deepStrictEqual(completion, {
      batched: false,
      isCached: false,
      text: "four",
      model: "stub-2024-08-06",
      promptTokens: usage.prompt_tokens,
      completionTokens: usage.completion_tokens,
    })
    const [{ body, headers, method, path }] = service.received as [ScriptedService.Received]
    assert.deepStrictEqual([method, path], ["POST", "/v1/chat/completions"])
    assert.strictEqual(headers.authorization, `Bearer ${key}`)
    assert.strictEqual(headers["content-type"], "application/json")
    assert.isUndefined(headers["traceparent"])
    assert.deepStrictEqual(JSON.parse(body), { model: "stub", temperature: 0, messages: [...messages] })
  })

  test("carries no Authorization without a key, and what the operator adds or takes away", function* () {
    const body = { temperature: null, max_tokens: 500, response_format: { type: "json_object" }, model: "other" }
    const { service } = yield* once([says("four")], { apiKey: undefined, body })
    const [request] = service.received
    assert.isUndefined(request!.headers.authorization)
    assert.deepStrictEqual(JSON.parse(request!.body), {
      model: "stub",
      max_tokens: 500,
      response_format: { type: "json_object" },
      messages: [...messages],
    })
  })

  test("does not go where a redirection points, nor does the key", function* () {
    const elsewhere = yield* scripted([says("four")])
    const failure = yield* failureOf({ status: 307, headers: { location: `${elsewhere.baseUrl}/chat/completions` } })
    assert.include(failure.message, "is not the API's base URL (307)")
    assert.deepStrictEqual(elsewhere.received, [])
  })
})

describe("an answer", () => {
  const contents: ReadonlyArray<readonly [string, unknown, object, string]> = [
    ["text", "a", {}, "a"],
    ["parts", [{ type: "text", text: "a" }, { type: "text", text: "b" }, { type: "other" }], {}, "ab"],
    ["null", null, {}, ""],
    ["no usage", "a", { usage: null }, "a"],
    ["odd usage", "a", { usage: { prompt_tokens: "many" } }, "a"],
    ["unknown members", "a", { x_groq: { id: 1 }, system_fingerprint: null }, "a"],
  ]
  for (const [name, content, more, text] of contents) {
    test(`with ${name} is taken`, function* () {
      const { exit } = yield* once([says(content, more)])
      assert(Exit.isSuccess(exit))
      assert.strictEqual(exit.value.text, text)
      assert.strictEqual(exit.value.promptTokens, "usage" in more ? 0 : usage.prompt_tokens)
    })
  }

  for (const [name, choice] of [
    ["a refusal", { message: { content: null, refusal: "I can't." }, finish_reason: "stop" }],
    ["a filter", { message: { content: "" }, finish_reason: "content_filter" }],
  ] as const) {
    test(`that is ${name} is laid to the question`, function* () {
      const failure = yield* failureOf(says(null, { choices: [choice] }))
      assert.isFalse(failure.isRetryable)
      assert.include(failure.message, "declines to answer")
    })
  }

  const others = ["", "OK", "<html>", "[]", "{}", '{"choices":[]}', '{"error":{"code":429,"message":"upstream"}}']
  for (const body of others) {
    test(`that is ${JSON.stringify(body)} is no chat completion, and tried again`, function* () {
      const failure = yield* failureOf({ status: 200, body })
      assert.isTrue(failure.isRetryable)
      assert.include(failure.message, "something other than a chat completion")
    })
  }

  test("of more than a megabyte is not read to its end", function* () {
    const failure = yield* failureOf(says("x".repeat(1_100_000)))
    assert.include(failure.message, "answers with more than 1 MiB")
  })
})

describe("what a status means", () => {
  type Fault = "question" | "endpoint" | "moment"
  const meanings: ReadonlyArray<readonly [number, unknown, Fault, RegExp]> = [
    [401, { error: { message: "wrong" } }, "endpoint", /refuses the API key \(401\); set .*_KEY: wrong$/],
    [403, { error: { message: "no" } }, "endpoint", /refuses the API key \(403\)/],
    [403, { error: { message: "flagged", metadata: { reasons: ["violence"] } } }, "question", /flagged/],
    [404, { error: { message: "The model `stub` does not exist" } }, "endpoint", /has no model stub.*does not exist/],
    [402, { error: { message: "Insufficient credits" } }, "endpoint", /no credit is left/],
    [405, "", "endpoint", /is not the API's base URL \(405\): no reason given/],
    [302, "", "endpoint", /is not the API's base URL/],
    [400, { error: { message: "too long", code: "context_length_exceeded" } }, "question", /too long/],
    [400, { error: { message: "filtered", code: "content_filter" } }, "question", /filtered/],
    [413, "", "question", /refuses the question/],
    [400, { error: { message: "unknown member" } }, "endpoint", /refuses the request \(400\): unknown member/],
    [422, { detail: "bad" }, "endpoint", /: bad$/],
    [429, { error: { message: "quota", code: "insufficient_quota" } }, "endpoint", /no credit is left.*\(429\): quota/],
    [429, { error: "slow down" }, "moment", /unavailable \(429\): slow down/],
    [500, "<html>\n  oops", "moment", /unavailable \(500\): <html> oops/],
    [503, "", "moment", /unavailable \(503\)/],
    [529, { message: "overloaded" }, "moment", /: overloaded/],
  ]
  for (const [status, body, fault, message] of meanings) {
    test(`${status} ${JSON.stringify(body)}: ${fault}`, function* () {
      const { exit, service } = yield* once([{ status, body }], { retries: fault === "moment" ? 0 : 4 })
      const failure = yield* Effect.flip(exit)
      assert.lengthOf(service.received, 1, "another try is of no use")
      assert.match(failure.message, message)
      assert.strictEqual(failure.isRetryable, fault !== "question")
      assert.strictEqual(failure.retryAfter, fault === "endpoint" ? 60_000 : undefined)
    })
  }

  for (const status of [400, 422]) {
    testOver(httpClient)(`${status} without a code is laid to the question once another was answered`, function* () {
      const service = yield* scripted([{ status, body: "" }, says("four"), { status, body: "" }])
      const endpoint = yield* endpointAt(service.baseUrl)
      const ask = Effect.exit(complete(endpoint))
      assert.isTrue((yield* Effect.flip(yield* ask)).isRetryable)
      yield* TestClock.adjust("1 minute")
      assert.isTrue(Exit.isSuccess(yield* ask))
      assert.isFalse((yield* Effect.flip(yield* ask)).isRetryable)
    })
  }

  test("no connection is of the moment, and named by its code", function* () {
    const endpoint = yield* endpointAt("http://127.0.0.1:9/v1")
    const failure = yield* Effect.flip(complete(endpoint))
    assert.isTrue(failure.isRetryable)
    assert.strictEqual(failure.message, "no answer from http://127.0.0.1:9/v1: ECONNREFUSED")
  })

  test("a model that takes no temperature is asked without one, from then on", function* () {
    const refusal = { error: { message: "Unsupported value", param: "temperature", code: "unsupported_value" } }
    const service = yield* scripted([{ status: 400, body: refusal }, says("four")])
    const endpoint = yield* endpointAt(service.baseUrl)
    assert.strictEqual(yield* endpoint.temperature, 0)
    yield* complete(endpoint)
    yield* complete(endpoint)
    assert.deepStrictEqual(
      service.received.map(({ body }) => JSON.parse(body).temperature),
      [0, undefined, undefined],
    )
    assert.isUndefined(yield* endpoint.temperature)
    // One that was asked for is not given up in silence.
    const asked = yield* once([{ status: 400, body: refusal }], { body: { temperature: 0.7 } })
    assert.include((yield* Effect.flip(asked.exit)).message, "does not accept this temperature")
    assert.strictEqual(asked.service.received.length, 1)
  })
})

describe("another try", () => {
  const timed = (
    name: string,
    answers: ReadonlyArray<ScriptedService.Answer>,
    options: Partial<JudgeEndpoint.EndpointOptions>,
    /** The failure is undefined where the question was answered. */
    check: (
      failure: { readonly isRetryable: boolean; readonly retryAfter?: number } | undefined,
      arrivals: ReadonlyArray<number>,
    ) => void,
  ) =>
    testOver(httpClient)(name, function* () {
      const { arrivals, result } = yield* inVirtualTime(answers, options, complete)
      check(Result.isFailure(result) ? result.failure : undefined, arrivals)
    })

  const waits = [wait("20"), wait("7"), says("four")]
  timed("waits as long as Retry-After says", waits, { retries: 4 }, (failure, arrivals) => {
    assert.isUndefined(failure)
    const gaps = arrivals.slice(1).map((at, i) => at - arrivals[i]!)
    // The clock goes on by 50 ms at a time.
    assert.deepStrictEqual(
      gaps.map((gap) => Math.floor(gap / 500) / 2),
      [20, 7],
    )
  })

  for (const [seconds, retryAfter] of [
    ["61", 61_000],
    ["86400", 3_600_000],
  ] as const) {
    timed(
      `is left to others for ${seconds} s, at most an hour`,
      [wait(seconds)],
      { retries: 4 },
      (failure, arrivals) => {
        assert.deepStrictEqual([failure?.isRetryable, failure?.retryAfter, arrivals.length], [true, retryAfter, 1])
      },
    )
  }

  test("is not made while the endpoint asks for a pause of more than a minute, by no question", function* () {
    const service = yield* scripted([wait("3600")])
    const endpoint = yield* endpointAt(service.baseUrl)
    yield* Effect.flip(complete(endpoint))
    const failure = yield* Effect.flip(complete(endpoint))
    assert.include(failure.message, "asks us to wait")
    assert.isAbove(failure.retryAfter!, 3_500_000)
    assert.strictEqual(service.received.length, 1)
  })

  testOver(httpClient)(
    "is not made within a minute after the key was refused, and then once, by no question",
    function* () {
      const service = yield* scripted([{ status: 401 }, { status: 401 }, says("four")])
      const endpoint = yield* endpointAt(service.baseUrl, { concurrency: 1, retries: 4 })
      const ask = Effect.exit(complete(endpoint))
      const askMany = Effect.forEach(Array.from({ length: 10 }), () => ask, { concurrency: "unbounded" })
      for (const requests of [1, 2]) {
        for (const exit of yield* askMany) {
          const failure = yield* Effect.flip(exit)
          assert.include(failure.message, "refuses the API key (401)")
          assert.deepStrictEqual([failure.isRetryable, failure.retryAfter], [true, 60_000])
        }
        assert.strictEqual(service.received.length, requests)
        yield* TestClock.adjust("1 minute")
      }
      assert.isTrue((yield* askMany).every(Exit.isSuccess))
    },
  )

  timed("comes at growing distances, and not without end", [{ status: 503 }], { retries: 4 }, (failure, arrivals) => {
    assert.isDefined(failure)
    assert.strictEqual(arrivals.length, 5)
    for (let i = 1; i < arrivals.length; i++) {
      const gap = arrivals[i]! - arrivals[i - 1]!
      assert.isAtLeast(gap, 0.8 * 1_000 * 2 ** (i - 1))
      assert.isAtMost(gap, 1.2 * 1_000 * 2 ** (i - 1) + 200)
    }
  })

  for (const answer of [
    "reset",
    { status: 200, body: "{", breaksOff: true },
    { status: 500 },
    { status: 200, body: "OK" },
  ] as const) {
    timed(`follows ${JSON.stringify(answer)}`, [answer, says("four")], { retries: 1 }, (failure, arrivals) => {
      assert.isUndefined(failure)
      assert.strictEqual(arrivals.length, 2)
    })
  }

  test("follows a timeout; the endpoint is at fault where it answers nobody", function* () {
    const { exit, service } = yield* once([never, never], { timeout: "50 millis" })
    const failure = yield* Effect.flip(exit)
    assert.isTrue(failure.isRetryable)
    assert.strictEqual(failure.message, `no answer from ${service.baseUrl} within 50ms`)
  })

  testOver(httpClient)("comes to nothing for a question that takes too long while others are answered", function* () {
    const service = yield* ScriptedService.make(({ body }) => (body.includes("endless") ? never : says("four")))
    const endpoint = yield* endpointAt(service.baseUrl)
    const long = yield* Effect.forkChild(Effect.flip(complete(endpoint, [{ role: "user", content: "endless" }])))
    yield* Effect.repeat(turn, { until: () => service.received.length > 0 })
    yield* complete(endpoint)
    yield* TestClock.adjust("2 minutes")
    const failure = yield* Fiber.join(long)
    assert.isFalse(failure.isRetryable)
    assert.include(failure.message, "within 2m")
  })
})

describe("many requests", () => {
  const numbered = (i: number) => [{ role: "user", content: `Question ${i}` }] as const

  testOver(httpClient)("that are equal and made at the same time are sent once, and counted once", function* () {
    const service = yield* scripted([says("four")])
    const endpoint = yield* endpointAt(service.baseUrl)
    const all = yield* Effect.forEach(["a", "b", "c"], (item) => complete(endpoint, messages, item), { concurrency: 3 })
    assert.strictEqual(service.received.length, 1)
    assert.deepStrictEqual(
      all.map(({ isCached }) => isCached),
      [false, true, true],
    )
  })

  testOver(httpClient)("that are equal do not depend on the first, which may be interrupted", function* () {
    const service = yield* ScriptedService.make((_, before) => (before.length === 0 ? never : says("four")))
    const endpoint = yield* endpointAt(service.baseUrl)
    const first = yield* Effect.forkChild(complete(endpoint, messages, "a"))
    yield* Effect.repeat(turn, { until: () => service.received.length > 0 })
    const second = yield* Effect.forkChild(complete(endpoint, messages, "b"))
    yield* turn
    yield* Fiber.interrupt(first)
    assert.strictEqual((yield* Fiber.join(second)).text, "four")
  })

  test("are under way at once no more than allowed", function* () {
    const waiting: Array<() => void> = []
    let most = 0
    let underWay = 0
    const service = yield* ScriptedService.make(async () => {
      most = Math.max(most, ++underWay)
      await new Promise<void>((resume) => waiting.push(resume))
      underWay--
      return says("four")
    })
    const endpoint = yield* endpointAt(service.baseUrl, { concurrency: 3 })
    const all = yield* Effect.forkChild(
      Effect.forEach(Array.from({ length: 9 }), (_, i) => complete(endpoint, numbered(i)), {
        concurrency: "unbounded",
      }),
    )
    for (let round = 0; round < 3; round++) {
      yield* Effect.repeat(turn, { until: () => waiting.length === 3 })
      for (const resume of waiting.splice(0)) resume()
    }
    yield* Fiber.join(all)
    assert.deepStrictEqual([most, service.received.length], [3, 9])
  })

  testOver(httpClient)("wait together while the endpoint asks for a pause", function* () {
    const { arrivals } = yield* inVirtualTime([wait("30"), says("four")], { concurrency: 1, retries: 2 }, (endpoint) =>
      Effect.forEach([1, 2, 3, 4], (i) => complete(endpoint, numbered(i)), { concurrency: 4 }),
    )
    assert.strictEqual(arrivals.length, 5)
    for (const at of arrivals.slice(1)) assert.isAtLeast(at - arrivals[0]!, 30_000)
  })
})

const failing: ReadonlyArray<readonly [string, ScriptedService.Answer | Promise<ScriptedService.Answer>]> = [
  ["a refusal that repeats it", { status: 401, body: { error: { message: `Incorrect API key provided: ${key}` } } }],
  ["a refusal in plain text", { status: 400, body: `Bearer ${key} is no good` }],
  ["an answer of no use", { status: 200, body: `"${key}"` }],
  ["a refusal to answer", says(null, { choices: [{ message: { content: null, refusal: key } }] })],
  ["a redirection", { status: 302 }],
  ["a broken connection", "reset"],
  ["a broken body", { status: 200, body: "{", breaksOff: true }],
  ["silence", never],
]
for (const [name, answer] of failing) {
  test(`the key does not stand in the failure after ${name}`, function* () {
    const { exit, service } = yield* once([answer], { timeout: answer === never ? "1 second" : "1 minute" })
    assert(Exit.isFailure(exit))
    const failure = yield* Effect.flip(exit)
    const shown = [
      failure.message,
      failure.stack,
      JSON.stringify(failure),
      Cause.pretty(exit.cause),
      inspect(exit, { depth: Infinity, showHidden: true }),
    ].join("\n")
    assert.include(service.received[0]!.headers.authorization ?? "", key)
    assert.notInclude(shown, key)
  })
}
