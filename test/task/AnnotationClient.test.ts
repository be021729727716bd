import { inspect } from "node:util"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cause, type Duration, Effect, Exit, Layer, Redacted, type Scope } from "effect"
import { defaults, ServiceProfile, type ServiceSettings } from "../../src/api/ServiceProfile.ts"
import { AnnotationClient } from "../../src/task/AnnotationClient.ts"
import { type AnnotationClientError } from "../../src/task/AnnotationClientError.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import * as VirtualTime from "../support/virtualTime.ts"

const body = JSON.stringify({ task_type: "rlhf_ranking", prompts: [{ prompt: "p", completions: ["a", "b"] }] })

const create = AnnotationClient.use((client) => client.create(body, "key-1"))
const look = AnnotationClient.use((client) => client.look("task_1"))

type Request = Effect.Effect<unknown, AnnotationClientError, AnnotationClient>
type Method = "POST" | "GET"
const requests: Readonly<Record<Method, Request>> = { POST: create, GET: look }

const clientOf = (profile: Layer.Layer<ServiceProfile>) =>
  AnnotationClient.layer.pipe(Layer.provide(profile), Layer.provide(NodeHttpClient.layerUndici))

/** A service that answers everything alike, and a client of it that does not try again. */
const answering = Effect.fnUntraced(function* (
  answer: ScriptedService.Answer | Promise<ScriptedService.Answer>,
  settings: Partial<ServiceSettings> = {},
) {
  const service = yield* ScriptedService.make(() => answer, { retries: 0, ...settings })
  return { service, client: clientOf(service.profile) }
})

const test = (name: string, effect: Effect.Effect<void, unknown, Scope.Scope>) => it.live(name, () => effect)

const failureOf = (request: Request, client: Layer.Layer<AnnotationClient>) =>
  Effect.flip(Effect.provide(request, client))

describe("AnnotationClient", () => {
  describe("what a status means", () => {
    type Meaning = AnnotationClientError["reason"]["_tag"] | "maybe done" | "not done"
    const statuses: ReadonlyArray<readonly [statuses: ReadonlyArray<number>, post: Meaning, get?: Meaning]> = [
      [[300, 301, 302, 303, 304, 307, 308], "NoSuchService"],
      [[401, 403], "AccessDenied"],
      [[404, 410], "NoSuchService", "TaskUnknown"],
      [[405], "NoSuchService"],
      [[413], "TooLarge"],
      [[400, 402, 406, 407, 411, 412, 414, 415, 417, 418, 421, 422, 423, 424, 426, 428, 431, 451, 499], "Refused"],
      [[425, 429], "not done"],
      [[408, 500, 501, 502, 504, 507, 508, 511, 520, 529, 599], "maybe done"],
    ]
    for (const [all, post, get = post] of statuses) {
      for (const [method, meaning] of [
        ["POST", post],
        ["GET", get],
      ] as const) {
        test(
          `${method} answered with ${all.join(", ")}: ${meaning}`,
          Effect.forEach(all, (status) =>
            Effect.gen(function* () {
              const { client, service } = yield* answering({ status, body: { detail: "the service's words" } })
              const { reason } = yield* failureOf(requests[method], client)
              assert.strictEqual(
                reason._tag === "Unavailable" ? (reason.maybeDone ? "maybe done" : "not done") : reason._tag,
                meaning,
                `${status}`,
              )
              // 304 has no body by definition.
              if (status !== 304) assert.include(reason.detail, "the service's words", `${status}`)
              if ("status" in reason) assert.strictEqual(reason.status, status)
              assert.strictEqual(service.received.length, 1)
            }),
          ).pipe(Effect.asVoid),
        )
      }
    }

    test(
      "a redirection is not followed, and the token goes nowhere else",
      Effect.gen(function* () {
        const elsewhere = yield* ScriptedService.make(ScriptedService.obliging)
        for (const status of [301, 302, 307, 308]) {
          const { client } = yield* answering({ status, headers: { location: `${elsewhere.baseUrl}/tasks` } })
          for (const request of Object.values(requests)) {
            assert.strictEqual((yield* failureOf(request, client)).reason._tag, "NoSuchService")
          }
        }
        assert.deepStrictEqual(elsewhere.received, [])
      }),
    )

    for (const status of [200, 201, 202, 207]) {
      test(
        `a task is taken by ${status}`,
        Effect.gen(function* () {
          const { client } = yield* answering({ status, body: { task_id: "task_7" } })
          assert.strictEqual(yield* Effect.provide(create, client), "task_7")
        }),
      )
    }
  })

  describe("what is sent", () => {
    test(
      "goes to the service's address with the token, once",
      Effect.gen(function* () {
        const service = yield* ScriptedService.make(ScriptedService.obliging)
        const profile = ServiceProfile.layer({ baseUrl: `${service.baseUrl}//`, token: Redacted.make("abc") })
        yield* Effect.andThen(
          create,
          AnnotationClient.use((client) => client.look("task_0")),
        ).pipe(Effect.provide(clientOf(profile)))
        assert.deepStrictEqual(
          service.received.map(({ headers, method, path }) => [method, path, headers.authorization]),
          [
            ["POST", "/v1/tasks", "Bearer abc"],
            ["GET", "/v1/tasks/task_0", "Bearer abc"],
          ],
        )
        const [sent] = service.received
        assert.deepStrictEqual(JSON.parse(sent!.body), JSON.parse(body))
        assert.strictEqual(sent!.headers["idempotency-key"], "key-1")
      }),
    )

    test(
      "names any task id, whatever stands in it",
      Effect.gen(function* () {
        const { client, service } = yield* answering({ status: 200, body: { status: "pending" } })
        for (const id of ["a/b", "a?b#c", "../up", "ü 100%"]) {
          yield* AnnotationClient.use((client) => client.look(id)).pipe(Effect.provide(client))
          const path = service.received.at(-1)!.path
          assert.strictEqual(decodeURIComponent(path.slice("/v1/tasks/".length)), id)
          assert.strictEqual(path.split("/").length, 4)
        }
      }),
    )
  })

  describe("no answer", () => {
    const noAnswer = { _tag: "Unavailable", maybeDone: true } as const
    const seen = (failure: AnnotationClientError) =>
      failure.reason._tag === "Unavailable"
        ? { _tag: failure.reason._tag, maybeDone: failure.reason.maybeDone }
        : failure.reason

    for (const method of ["POST", "GET"] as const) {
      test(
        `in time may have been done (${method})`,
        Effect.gen(function* () {
          const { client, service } = yield* answering(new Promise(() => {}), { requestTimeout: "100 millis" })
          const failure = yield* failureOf(requests[method], client)
          assert.deepStrictEqual(seen(failure), noAnswer)
          assert.match(failure.message, /unavailable: .*100/)
          assert.strictEqual(service.received.length, 1)
        }),
      )

      test(
        `because the connection broke off may have been done (${method})`,
        Effect.gen(function* () {
          const { client } = yield* answering("reset")
          assert.deepStrictEqual(seen(yield* failureOf(requests[method], client)), noAnswer)
        }),
      )

      test(
        `because the body broke off may have been done (${method})`,
        Effect.gen(function* () {
          const { client } = yield* answering({ status: 201, body: '{"task_id":"task_1"', breaksOff: true })
          const failure = yield* failureOf(requests[method], client)
          assert.deepStrictEqual(seen(failure), noAnswer)
          assert.match(failure.message, /the answer broke off/)
        }),
      )

      test(
        `because nobody listens has not been done (${method})`,
        Effect.gen(function* () {
          const { profile } = yield* Effect.scoped(ScriptedService.make(() => "reset", { retries: 0 }))
          const failure = yield* failureOf(requests[method], clientOf(profile))
          assert.deepStrictEqual(seen(failure), { _tag: "Unavailable", maybeDone: false })
          assert.match(failure.message, /ECONNREFUSED/)
        }),
      )
    }

    test(
      "but a status is one, also where its body breaks off",
      Effect.gen(function* () {
        const { client } = yield* answering({ status: 403, body: '{"detail":"not', breaksOff: true })
        assert.include((yield* failureOf(create, client)).message, "(403): no reason given")
      }),
    )

    test(
      "comes from an address that is none",
      Effect.gen(function* () {
        for (const baseUrl of ["not an address", "example.invalid/v1"]) {
          const profile = ServiceProfile.layer({ baseUrl, token: Redacted.make("t"), retries: 0 })
          const failure = yield* failureOf(create, clientOf(profile))
          assert.strictEqual(failure.reason._tag, "NoSuchService", baseUrl)
          assert.include(failure.message, baseUrl)
        }
      }),
    )
  })

  describe("trying again", () => {
    /** Time is the test's own. The first answers are given, then the service obliges. */
    const timed = (
      name: string,
      answers: ReadonlyArray<ScriptedService.Answer>,
      settings: Partial<ServiceSettings>,
      check: (
        run: (method: Method, step?: Duration.Input) => Effect.Effect<Exit.Exit<unknown, AnnotationClientError>>,
        arrivals: ReadonlyArray<number>,
        now: () => number,
      ) => Effect.Effect<void, unknown>,
    ) =>
      it.effect(name, () =>
        Effect.gen(function* () {
          const time = yield* VirtualTime.make
          const arrivals: Array<number> = []
          const service = yield* ScriptedService.make(
            (request) => {
              arrivals.push(time.now())
              return (
                answers[arrivals.length - 1] ??
                (request.method === "POST"
                  ? { status: 201, body: { task_id: "task_0" } }
                  : { status: 200, body: { status: "pending" } })
              )
            },
            { requestTimeout: "10 days", ...settings },
          )
          const client = AnnotationClient.layer.pipe(Layer.provide(service.profile), Layer.provide(time.httpClient))
          yield* check(
            (method, step) => time.run(Effect.exit(Effect.provide(requests[method], client)), step),
            arrivals,
            time.now,
          )
        }),
      )

    const later = (retryAfter: string): ScriptedService.Answer => ({
      status: 429,
      headers: { "retry-after": retryAfter },
      body: { detail: "slow down" },
    })

    for (const [form, retryAfter, seconds] of [
      ["seconds", "90", 90],
      ["an HTTP date", new Date(120_000).toUTCString(), 120],
      ["exactly an hour", "3600", 3600],
    ] as const) {
      for (const method of ["POST", "GET"] as const) {
        timed(
          `waits as long as Retry-After says, in ${form}, and not much longer (${method})`,
          [later(retryAfter)],
          {},
          Effect.fnUntraced(function* (run, arrivals) {
            assert.isTrue(Exit.isSuccess(yield* run(method, "1 second")))
            assert.strictEqual(arrivals.length, 2)
            const [first, second] = arrivals
            const from = form === "an HTTP date" ? 0 : first!
            assert.isAtLeast(second!, from + 1000 * seconds)
            assert.isAtMost(second!, first! + 1000 * (seconds + 5))
          }),
        )
      }
    }

    for (const retryAfter of ["3601", "86400", new Date(4_000_000).toUTCString()]) {
      timed(
        `does not wait for a Retry-After beyond an hour: ${retryAfter}`,
        [later(retryAfter)],
        { idempotencyKey: "honoured" },
        Effect.fnUntraced(function* (run, arrivals, now) {
          const failure = yield* Effect.flip(yield* run("POST", "1 second"))
          assert.isBelow(now(), 60_000)
          assert(failure.reason._tag === "Unavailable")
          assert.isAbove(failure.reason.retryAfter ?? 0, 3_600_000)
          assert.strictEqual(arrivals.length, 1)
          assert.match(failure.message, /\(429\): slow down/)
        }),
      )
    }

    for (const retryAfter of ["soon", "-5", "", new Date(0).toUTCString()]) {
      timed(
        `goes by its own backoff where Retry-After says nothing of use: "${retryAfter}"`,
        [later(retryAfter)],
        {},
        Effect.fnUntraced(function* (run, arrivals) {
          assert.isTrue(Exit.isSuccess(yield* run("POST")))
          assert.isAtMost(arrivals[1]! - arrivals[0]!, 1_500)
        }),
      )
    }

    const down: ScriptedService.Answer = { status: 429, body: { detail: "down" } }
    for (const retries of [0, 1, 6]) {
      timed(
        `gives up after ${retries} retries, at growing distances`,
        Array.from({ length: 20 }, () => down),
        { retries },
        Effect.fnUntraced(function* (run, arrivals, now) {
          for (const method of ["POST", "GET"] as const) {
            const before = arrivals.length
            assert.isTrue(Exit.isFailure(yield* run(method, "10 millis")))
            const own = arrivals.slice(before)
            assert.strictEqual(own.length, 1 + retries)
            // There is no wait after the last.
            assert.isBelow(now() - own.at(-1)!, 300)
            // Half a second and its doubles, give or take the jitter of a fifth and the step of the clock.
            for (let i = 1; i < own.length; i++) {
              assert.isAtLeast(own[i]! - own[i - 1]!, 0.8 * 500 * 2 ** (i - 1))
              assert.isAtMost(own[i]! - own[i - 1]!, 1.2 * 500 * 2 ** (i - 1) + 1_000)
            }
          }
        }),
      )
    }

    timed(
      "is no farther apart than about half a minute",
      Array.from({ length: 20 }, () => down),
      { retries: 12 },
      Effect.fnUntraced(function* (run, arrivals) {
        assert.isTrue(Exit.isFailure(yield* run("GET", "1 second")))
        assert.strictEqual(arrivals.length, 13)
        for (let i = 1; i < arrivals.length; i++) assert.isAtMost(arrivals[i]! - arrivals[i - 1]!, 40_000)
      }),
    )

    const lost: ReadonlyArray<readonly [string, ScriptedService.Answer]> = [
      ["a broken connection", "reset"],
      ["a broken body", { status: 201, body: "{", breaksOff: true }],
      ["500", { status: 500 }],
      ["502", { status: 502 }],
      ["504", { status: 504 }],
      ["408", { status: 408 }],
    ]
    for (const [name, answer] of lost) {
      timed(
        `does not create a task again after ${name} where keys are ignored`,
        [answer],
        { idempotencyKey: "ignored", retries: 3 },
        Effect.fnUntraced(function* (run, arrivals, now) {
          const failure = yield* Effect.flip(yield* run("POST", "10 millis"))
          assert.isTrue(failure.reason._tag === "Unavailable" && failure.reason.maybeDone)
          assert.strictEqual(arrivals.length, 1)
          assert.isBelow(now() - arrivals[0]!, 300)
        }),
      )
      timed(
        `creates a task again after ${name} where keys are honoured`,
        [answer],
        { idempotencyKey: "honoured", retries: 3 },
        Effect.fnUntraced(function* (run, arrivals) {
          assert.deepStrictEqual(yield* run("POST"), Exit.succeed("task_0"))
          assert.strictEqual(arrivals.length, 2)
        }),
      )
      timed(
        `looks again after ${name}, whatever is done with keys`,
        [answer],
        { idempotencyKey: "ignored", retries: 3 },
        Effect.fnUntraced(function* (run, arrivals) {
          assert.isTrue(Exit.isSuccess(yield* run("GET")))
          assert.strictEqual(arrivals.length, 2)
        }),
      )
    }

    timed(
      "stops where a retry may have been done and keys are ignored",
      [{ status: 503, headers: { "retry-after": "0" } }, "reset"],
      { idempotencyKey: "ignored", retries: 5 },
      Effect.fnUntraced(function* (run, arrivals) {
        const failure = yield* Effect.flip(yield* run("POST"))
        assert.isTrue(failure.reason._tag === "Unavailable" && failure.reason.maybeDone)
        assert.strictEqual(arrivals.length, 2)
      }),
    )

    for (const status of [400, 401, 403, 404, 405, 413, 422]) {
      timed(
        `is of no use after ${status}`,
        [{ status }],
        { idempotencyKey: "honoured", retries: 5 },
        Effect.fnUntraced(function* (run, arrivals, now) {
          assert.isTrue(Exit.isFailure(yield* run("POST", "10 millis")))
          assert.strictEqual(arrivals.length, 1)
          assert.isBelow(now() - arrivals[0]!, 300)
        }),
      )
    }
  })

  describe("requests per second", () => {
    const many = (n: number) =>
      Effect.forEach(
        Array.from({ length: n }, (_, i) => i),
        (i) => requests[i % 2 === 0 ? "GET" : "POST"],
        { concurrency: "unbounded", discard: true },
      )

    it.effect("are no more than set, over creating and looking together", () =>
      Effect.gen(function* () {
        const time = yield* VirtualTime.make
        const arrivals: Array<number> = []
        const service = yield* ScriptedService.make(
          () => {
            arrivals.push(time.now())
            return { status: 200, body: { task_id: "task_1", status: "pending" } }
          },
          { requestsPerSecond: 10 },
        )
        const client = AnnotationClient.layer.pipe(Layer.provide(service.profile), Layer.provide(time.httpClient))
        const start = time.now()
        yield* time.run(Effect.provide(many(50), client), "50 millis")
        assert.strictEqual(arrivals.length, 50)
        // Ten at once, and then one each tenth of a second.
        for (const [i, at] of arrivals.toSorted((a, b) => a - b).entries()) {
          assert.isAtLeast(at - start, 100 * (i - 10), `request ${i}`)
        }
      }),
    )

    it.effect("are no more than set when a request is tried again", () =>
      Effect.gen(function* () {
        const time = yield* VirtualTime.make
        const arrivals: Array<number> = []
        const service = yield* ScriptedService.make(
          () => {
            arrivals.push(time.now())
            return { status: 503, headers: { "retry-after": "0" } }
          },
          { requestsPerSecond: 1, retries: 2 },
        )
        const client = AnnotationClient.layer.pipe(Layer.provide(service.profile), Layer.provide(time.httpClient))
        for (const request of Object.values(requests)) {
          yield* time.run(Effect.exit(Effect.provide(request, client)), "50 millis")
        }
        assert.strictEqual(arrivals.length, 6)
        // The first retry would come after half a second by itself.
        for (const first of [0, 3]) assert.isAtLeast(arrivals[first + 1]! - arrivals[first]!, 800)
      }),
    )

    it.effect("may make a request wait for its turn longer than for its answer", () =>
      Effect.gen(function* () {
        const time = yield* VirtualTime.make
        const service = yield* ScriptedService.make(
          () => ({ status: 200, body: { task_id: "task_1", status: "pending" } }),
          { requestsPerSecond: 1, requestTimeout: "5 seconds", retries: 0 },
        )
        const client = AnnotationClient.layer.pipe(Layer.provide(service.profile), Layer.provide(time.httpClient))
        yield* time.run(Effect.provide(many(20), client), "20 millis")
        assert.strictEqual(service.received.length, 20)
      }),
    )
  })

  describe("the task id in the answer to a creation", () => {
    const nested = (path: string, value: unknown): unknown =>
      path.split(".").reduceRight((inner, member) => ({ [member]: inner }), value)

    for (const path of defaults.taskIdPaths) {
      test(
        `is found at ${path}`,
        Effect.gen(function* () {
          const { client } = yield* answering({ status: 201, body: nested(path, "task_9") })
          assert.strictEqual(yield* Effect.provide(create, client), "task_9")
        }),
      )
    }

    const answers: ReadonlyArray<readonly [string, unknown, string]> = [
      ["a number counts as its digits", { id: 12345 }, "12345"],
      ["the first path that leads to one counts", { id: "second", task_id: "first" }, "first"],
      ["what is empty or none is passed over", { task_id: "", id: null, task: { task_id: "third" } }, "third"],
      ["what is no id is passed over", { task_id: { a: 1 }, id: ["x"], data: { id: "fourth" } }, "fourth"],
      ["a number that has lost digits is passed over", { task_id: 2 ** 60, data: { id: "exact" } }, "exact"],
    ]
    for (const [name, answer, expected] of answers) {
      test(
        name,
        Effect.gen(function* () {
          const { client } = yield* answering({ status: 201, body: answer })
          assert.strictEqual(yield* Effect.provide(create, client), expected)
        }),
      )
    }

    test(
      "is found where the profile says, and only there",
      Effect.gen(function* () {
        const settings = { taskIdPaths: ["result.task.uid"] }
        const { client } = yield* answering(
          { status: 201, body: { task_id: "other", result: { task: { uid: "task_5" } } } },
          settings,
        )
        assert.strictEqual(yield* Effect.provide(create, client), "task_5")
        const { client: without } = yield* answering({ status: 201, body: { task_id: "other" } }, settings)
        const failure = yield* failureOf(create, without)
        assert.strictEqual(failure.reason._tag, "UnusableAnswer")
        assert.match(failure.message, /no task id at any of result\.task\.uid: \{"task_id":"other"\}/)
      }),
    )

    for (const answer of ["", "OK", "null", "[]", '"task_1"', "{}", '{"__proto__":{"task_id":"x"}}']) {
      test(
        `is missed in ${JSON.stringify(answer)}`,
        Effect.gen(function* () {
          const { client, service } = yield* answering(
            { status: 201, body: answer },
            { idempotencyKey: "honoured", retries: 2 },
          )
          assert.strictEqual((yield* failureOf(create, client)).reason._tag, "UnusableAnswer")
          assert.strictEqual(service.received.length, 1)
        }),
      )
    }
  })

  describe("what a look finds", () => {
    const settings = { completedStatuses: ["completed", "done"], failedStatuses: ["failed", "lapsed"] }
    for (const [status, expected] of [
      ["completed", "Completed"],
      ["done", "Completed"],
      ["lapsed", "Failed"],
      ["in_progress", "Open"],
      ["Completed", "Open"],
    ] as const) {
      test(
        `${status} is ${expected}`,
        Effect.gen(function* () {
          const text = `{ "status": "${status}",\n"results": [1.50, "\\u00e4"], "task_id": "task_1" }`
          const { client } = yield* answering({ status: 200, body: text }, settings)
          const view = yield* Effect.provide(look, client)
          assert.strictEqual(view._tag, expected)
          // Kept as it came.
          if (view._tag === "Completed") assert.strictEqual(view.body, text)
          else assert.strictEqual(view.status, status)
        }),
      )
    }

    for (const answer of ["", "<html>", "[]", "{}", '{"status":7}', '{"status":null}']) {
      test(
        `${JSON.stringify(answer)} is of no use`,
        Effect.gen(function* () {
          const { client } = yield* answering({ status: 200, body: answer })
          assert.strictEqual((yield* failureOf(look, client)).reason._tag, "UnusableAnswer")
        }),
      )
    }
  })

  describe("the reason that a service gives", () => {
    const html = `<!doctype html>\n<html>\n  <body>${"<p>Bad gateway</p>".repeat(100)}</body></html>`
    const reasons: ReadonlyArray<readonly [string, unknown, string]> = [
      [
        "problem details",
        { type: "about:blank", title: "Bad", status: 400, detail: "prompts is empty" },
        "prompts is empty",
      ],
      ["a title alone", { type: "about:blank", title: "Bad request" }, "Bad request"],
      [
        "problem details with places",
        { detail: "invalid", errors: [{ pointer: "#/prompts/0", detail: "blank" }] },
        'invalid: [{"pointer":"#/prompts/0","detail":"blank"}]',
      ],
      ["a message", { message: "no credit left" }, "no credit left"],
      ["an error", { error: "no credit left" }, "no credit left"],
      ["an error that has members", { error: { code: 17, message: "no" } }, '{"code":17,"message":"no"}'],
      ["other JSON", { reason: "because" }, '{"reason":"because"}'],
      ["plain text", "no\n  credit left \n", "no credit left"],
      ["nothing", "", "no reason given"],
      ["blanks", " \n ", "no reason given"],
      ["a page", html, `${html.replace(/\s+/g, " ").slice(0, 300)}…`],
    ]
    for (const [name, answer, expected] of reasons) {
      test(
        `is taken from ${name}`,
        Effect.gen(function* () {
          const { client } = yield* answering({ status: 400, body: answer })
          const { reason } = yield* failureOf(create, client)
          assert(reason._tag === "Refused")
          assert.deepStrictEqual([reason.status, reason.detail], [400, expected])
        }),
      )
    }
  })

  describe("the token", () => {
    const failing: ReadonlyArray<readonly [string, ScriptedService.Answer | Promise<ScriptedService.Answer>]> = [
      ["a refusal of it", { status: 401, body: { detail: "unknown token" } }],
      ["a refusal", { status: 422 }],
      ["a redirection", { status: 302 }],
      ["an unavailable service", { status: 503 }],
      ["a broken connection", "reset"],
      ["a broken body", { status: 200, body: "{", breaksOff: true }],
      ["silence", new Promise(() => {})],
      ["an answer of no use", { status: 200, body: "?" }],
    ]
    for (const [name, answer] of failing) {
      test(
        `does not stand in the error after ${name}`,
        Effect.gen(function* () {
          const { client, service } = yield* answering(answer, { requestTimeout: "100 millis" })
          for (const request of Object.values(requests)) {
            const exit = yield* Effect.exit(Effect.provide(request, client))
            assert(Exit.isFailure(exit))
            const failure = yield* Effect.flip(exit)
            const shown = [
              failure.message,
              String(failure),
              failure.stack,
              JSON.stringify(failure),
              inspect(failure, { depth: Infinity, showHidden: true }),
              Cause.pretty(exit.cause),
              inspect(exit, { depth: Infinity, showHidden: true }),
            ].join("\n")
            assert.include(service.received[0]!.headers.authorization ?? "", service.token)
            assert.notInclude(shown, service.token)
          }
        }),
      )
    }

    test(
      "does not stand in the error about an address that is none",
      Effect.gen(function* () {
        const profile = ServiceProfile.layer({ baseUrl: "nowhere", token: Redacted.make("secret-token"), retries: 0 })
        const exit = yield* Effect.exit(Effect.provide(create, clientOf(profile)))
        assert.isTrue(Exit.isFailure(exit))
        assert.notInclude(inspect(exit, { depth: Infinity, showHidden: true }), "secret-token")
      }),
    )
  })
})
