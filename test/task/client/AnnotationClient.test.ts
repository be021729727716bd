import { inspect } from "node:util"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cause, type Duration, Effect, Exit, Layer, Redacted } from "effect"
import { defaults, ServiceProfile, type ServiceSettings } from "../../../src/api/ServiceProfile.ts"
import { AnnotationClient } from "../../../src/task/client/AnnotationClient.ts"
import { type AnnotationClientError } from "../../../src/task/client/AnnotationClientError.ts"
import { effectTest } from "../../support/effectTest.ts"
import * as ScriptedService from "../../support/ScriptedService.ts"
import { create as createTask, inVirtualTime, poll, request } from "./support.ts"

const create = createTask()
const look = poll("task_1")

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
  const service = yield* ScriptedService.make(() => answer, { retries: 0, patience: 0, ...settings })
  return { service, client: clientOf(service.profile) }
})

const test = effectTest(it.live)
const testInTestTime = effectTest(it.effect)

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
      [[402, 407, 426], "ServiceBlocked"],
      [[400, 406, 411, 412, 414, 415, 417, 418, 421, 422, 423, 424, 428, 431, 451, 499], "Refused"],
      [[425, 429], "not done"],
      [[408, 500, 501, 502, 504, 507, 508, 511, 520, 529, 599], "maybe done"],
    ]
    for (const [all, post, get = post] of statuses) {
      for (const [method, meaning] of [
        ["POST", post],
        ["GET", get],
      ] as const) {
        test(`${method} answered with ${all.join(", ")}: ${meaning}`, function* () {
          for (const status of all) {
            // What a further try may change is tested below.
            const settings = meaning.endsWith("done") ? {} : ({ retries: 5, patience: "1 minute" } as const)
            const { client, service } = yield* answering({ status, body: { detail: "the service's words" } }, settings)
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
          }
        })
      }
    }

    test("a redirection is not followed, and the token goes nowhere else", function* () {
      const elsewhere = yield* ScriptedService.make(ScriptedService.obliging)
      for (const status of [301, 302, 307, 308]) {
        const { client } = yield* answering({ status, headers: { location: `${elsewhere.baseUrl}/tasks` } })
        for (const request of Object.values(requests)) {
          assert.strictEqual((yield* failureOf(request, client)).reason._tag, "NoSuchService")
        }
      }
      assert.deepStrictEqual(elsewhere.received, [])
    })

    for (const status of [200, 201, 202, 207]) {
      test(`a task is taken by ${status}`, function* () {
        const { client } = yield* answering({ status, body: { task_id: "task_7" } })
        assert.strictEqual(yield* Effect.provide(create, client), "task_7")
      })
    }
  })

  describe("what is sent", () => {
    test("goes to the service's address with the token, once", function* () {
      const service = yield* ScriptedService.make(ScriptedService.obliging)
      const profile = ServiceProfile.layer({ baseUrl: `${service.baseUrl}//`, token: Redacted.make("abc") }).pipe(
        Layer.orDie,
      )
      yield* Effect.andThen(create, poll("task_0")).pipe(Effect.provide(clientOf(profile)))
      assert.deepStrictEqual(
        service.received.map(({ headers, method, path }) => [method, path, headers.authorization]),
        [
          ["POST", "/v1/tasks", "Bearer abc"],
          ["GET", "/v1/tasks/task_0", "Bearer abc"],
        ],
      )
      const [sent] = service.received
      assert.deepStrictEqual(JSON.parse(sent!.body), request)
      assert.strictEqual(sent!.headers["idempotency-key"], "key-1")
    })

    test("names any task id, whatever stands in it", function* () {
      const { client, service } = yield* answering({ status: 200, body: { status: "pending" } })
      for (const id of ["a/b", "a?b#c", "../up", "ü 100%"]) {
        yield* Effect.provide(poll(id), client)
        const path = service.received.at(-1)!.path
        assert.strictEqual(decodeURIComponent(path.slice("/v1/tasks/".length)), id)
        assert.strictEqual(path.split("/").length, 4)
      }
    })
  })

  describe("no answer", () => {
    const noAnswer = { _tag: "Unavailable", maybeDone: true } as const
    const seen = (failure: AnnotationClientError) =>
      failure.reason._tag === "Unavailable"
        ? { _tag: failure.reason._tag, maybeDone: failure.reason.maybeDone }
        : failure.reason

    for (const method of ["POST", "GET"] as const) {
      test(`in time may have been done (${method})`, function* () {
        const { client, service } = yield* answering(new Promise(() => {}), { requestTimeout: "100 millis" })
        const failure = yield* failureOf(requests[method], client)
        assert.deepStrictEqual(seen(failure), noAnswer)
        assert.match(failure.message, /unavailable: .*100/)
        assert.strictEqual(service.received.length, 1)
      })

      test(`because the body broke off may have been done (${method})`, function* () {
        const { client } = yield* answering({ status: 201, body: '{"task_id":"task_1"', breaksOff: true })
        const failure = yield* failureOf(requests[method], client)
        assert.deepStrictEqual(seen(failure), noAnswer)
        assert.match(failure.message, /the connection ended before the answer was complete/)
      })

      test(`because nobody listens has not been done (${method})`, function* () {
        const { profile } = yield* Effect.scoped(ScriptedService.make(() => "reset", { patience: 0 }))
        const failure = yield* failureOf(requests[method], clientOf(profile))
        assert.deepStrictEqual(seen(failure), { _tag: "Unavailable", maybeDone: false })
        assert.match(failure.message, /ECONNREFUSED/)
      })
    }

    test("but a status is one, also where its body breaks off", function* () {
      const { client } = yield* answering({ status: 403, body: '{"detail":"not', breaksOff: true })
      assert.include((yield* failureOf(create, client)).message, "(403): no reason given")
    })

    test("is asked for of an address that is none", function* () {
      for (const baseUrl of ["not an address", "example.invalid/v1", "http://127.0.0.1/v1?key=k"]) {
        const profile = Layer.build(ServiceProfile.layer({ baseUrl, token: Redacted.make("t") }))
        const failure = yield* Effect.flip(Effect.scoped(profile))
        assert.strictEqual(failure.setting, "baseUrl", baseUrl)
        assert.notInclude(failure.message, baseUrl)
      }
    })
  })

  describe("trying again", () => {
    /** Time is the test's own, the client one for all requests. The first answers are given, then the service obliges. */
    const timed = (
      name: string,
      answers: ReadonlyArray<ScriptedService.Answer>,
      settings: Partial<ServiceSettings>,
      check: (
        run: <A, E>(
          request: Effect.Effect<A, E, AnnotationClient>,
          step?: Duration.Input,
        ) => Effect.Effect<Exit.Exit<A, E>>,
        arrivals: ReadonlyArray<number>,
        now: () => number,
      ) => Effect.fn.Return<void, unknown>,
    ) =>
      testInTestTime(name, function* () {
        const arrivals: Array<number> = []
        const taken = { status: 200, body: { task_id: "task_0", status: "pending" } }
        const { now, run } = yield* inVirtualTime(({ at }) => answers[arrivals.push(at) - 1] ?? taken, settings)
        yield* Effect.fnUntraced(check)((request, step) => run(Effect.exit(request), step), arrivals, now)
      })

    const later = (retryAfter: string, status = 429): ScriptedService.Answer => ({
      status,
      headers: { "retry-after": retryAfter },
      body: { detail: "slow down" },
    })
    const twice = poll("task_1", 2)

    for (const [form, retryAfter, seconds] of [
      ["seconds", "90", 90],
      ["an HTTP date", new Date(120_000).toUTCString(), 120],
      ["as long as a run waits", "900", 900],
    ] as const) {
      for (const status of [429, 503]) {
        timed(
          `waits as long as Retry-After says, in ${form}, and not much longer (${status})`,
          [later(retryAfter, status)],
          { idempotencyKey: status === 503 ? "honored" : "ignored" },
          function* (run, arrivals) {
            assert.deepStrictEqual(yield* run(create, "1 second"), Exit.succeed("task_0"))
            assert.strictEqual(arrivals.length, 2)
            const [first, second] = arrivals
            const from = form === "an HTTP date" ? 0 : first!
            assert.isAtLeast(second!, from + 1000 * seconds)
            assert.isAtMost(second!, first! + 1000 * (seconds + 5))
          },
        )
      }
    }

    for (const retryAfter of ["3700", "86400", new Date(4_000_000).toUTCString()]) {
      timed(
        `does not wait for a Retry-After beyond the run's patience: ${retryAfter}; neither does what comes later`,
        [later(retryAfter)],
        { idempotencyKey: "honored", patience: "1 hour" },
        function* (run, arrivals, now) {
          for (const request of [create, look, create]) {
            const failure = yield* Effect.flip(yield* run<unknown, AnnotationClientError>(request, "1 second"))
            assert.isBelow(now(), 60_000)
            assert(failure.reason._tag === "Unavailable")
            assert.isAbove(failure.reason.retryAfter ?? 0, 3_600_000)
            assert.match(failure.message, /\(429\): slow down/)
          }
          assert.strictEqual(arrivals.length, 1)
        },
      )
    }

    timed(
      "does not wait for a quota beyond the run's patience either",
      [{ status: 200, headers: { ratelimit: '"default";r=0;t=3600' }, body: { status: "pending" } }],
      { patience: "15 minutes", idempotencyKey: "honored" },
      function* (run, arrivals, now) {
        assert.isTrue(Exit.isSuccess(yield* run<unknown, AnnotationClientError>(look, "1 second")))
        for (const request of [poll("task_0", 5), create]) {
          const failure = yield* Effect.flip(yield* run<unknown, AnnotationClientError>(request, "1 second"))
          assert(failure.reason._tag === "Unavailable")
          assert.isFalse(failure.reason.maybeDone)
          assert.isAbove(failure.reason.retryAfter ?? 0, 3_500_000)
          assert.match(
            failure.message,
            /is unavailable: the service's request quota is used up for another (1h|59m.*); a run waits at most 15m$/,
          )
        }
        assert.isBelow(now(), 10_000)
        assert.strictEqual(arrivals.length, 1)
      },
    )

    for (const retryAfter of ["soon", "-5", "", new Date(0).toUTCString()]) {
      timed(
        `goes by its own backoff where Retry-After says nothing of use: "${retryAfter}"`,
        [later(retryAfter)],
        {},
        function* (run, arrivals) {
          assert.isTrue(Exit.isSuccess(yield* run(create)))
          assert.isAtMost(arrivals[1]! - arrivals[0]!, 1_500)
        },
      )
    }

    /** Half a second and its doubles up to half a minute, give or take the jitter of a fifth and the step of the clock. */
    const assertGrowing = (arrivals: ReadonlyArray<number>, atLeast = 0) => {
      for (let i = 1; i < arrivals.length; i++) {
        const delay = Math.min(500 * 2 ** (i - 1), 30_000)
        assert.isAtLeast(arrivals[i]! - arrivals[i - 1]!, Math.max(0.8 * delay, atLeast))
        assert.isAtMost(arrivals[i]! - arrivals[i - 1]!, Math.max(1.2 * delay, atLeast) + 1_000)
      }
    }

    const down: ScriptedService.Answer = { status: 500, body: { detail: "down" } }
    for (const retries of [0, 1, 6]) {
      timed(
        `gives a creation that may have been done up after ${retries} retries, at growing distances`,
        Array.from({ length: 20 }, () => down),
        { retries, idempotencyKey: "honored", downAfter: 100 },
        function* (run, arrivals, now) {
          assert.isTrue(Exit.isFailure(yield* run(create, "10 millis")))
          assert.strictEqual(arrivals.length, 1 + retries)
          // There is no wait after the last.
          assert.isBelow(now() - arrivals.at(-1)!, 300)
          assertGrowing(arrivals)
        },
      )
    }

    timed(
      "goes on with a creation that was refused for its number until the run's patience is over",
      Array.from({ length: 100 }, () => ({ status: 429 })),
      { retries: 0, patience: "10 minutes" },
      function* (run, arrivals) {
        assert.isTrue(Exit.isFailure(yield* run(create, "100 millis")))
        assert.isAtLeast(arrivals.at(-1)! - arrivals[0]!, 600_000)
        assert.isAtMost(arrivals.at(-1)! - arrivals[0]!, 600_000 + 36_000)
        // The pace is one in five seconds at the least.
        assertGrowing(arrivals.slice(0, 4))
        for (let i = 1; i < arrivals.length; i++) assert.isAtMost(arrivals[i]! - arrivals[i - 1]!, 36_200)
      },
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
        function* (run, arrivals, now) {
          const failure = yield* Effect.flip(yield* run(create, "10 millis"))
          assert.isTrue(failure.reason._tag === "Unavailable" && failure.reason.maybeDone)
          assert.strictEqual(arrivals.length, 1)
          assert.isBelow(now() - arrivals[0]!, 300)
        },
      )
      timed(
        `creates a task again after ${name} where keys are honored`,
        [answer],
        { idempotencyKey: "honored", retries: 3 },
        function* (run, arrivals) {
          assert.deepStrictEqual(yield* run(create), Exit.succeed("task_0"))
          assert.strictEqual(arrivals.length, 2)
        },
      )
      timed(
        `a look is over after ${name}, unless it is to be tried again`,
        [answer, answer],
        { idempotencyKey: "ignored", retries: 3 },
        function* (run, arrivals, now) {
          assert.isTrue(Exit.isFailure(yield* run(look, "10 millis")))
          assert.strictEqual(arrivals.length, 1)
          assert.isBelow(now() - arrivals[0]!, 300)
          assert.isTrue(Exit.isSuccess(yield* run(twice)))
          assert.strictEqual(arrivals.length, 3)
        },
      )
    }

    timed(
      "stops where a retry may have been done and keys are ignored",
      [{ status: 429, headers: { "retry-after": "0" } }, "reset"],
      { idempotencyKey: "ignored", retries: 5 },
      function* (run, arrivals) {
        const failure = yield* Effect.flip(yield* run(create))
        assert.isTrue(failure.reason._tag === "Unavailable" && failure.reason.maybeDone)
        assert.strictEqual(arrivals.length, 2)
      },
    )

    for (const [idempotencyKey, answer, expected] of [
      ["ignored", later("60"), ["claim", "POST", "release", "claim", "POST"]],
      ["honored", later("60"), ["claim", "POST", "POST"]],
      ["honored", "reset", ["claim", "POST", "doubt", "POST"]],
    ] as const) {
      timed(
        `holds no claim while it waits, where one could come to be in doubt for nothing, and says what is doubtful: keys ${idempotencyKey}, after ${answer === "reset" ? answer : answer.status}`,
        [answer],
        { idempotencyKey },
        function* (run, arrivals) {
          const steps: Array<string> = []
          let seen = 0
          const step = (name: string) =>
            Effect.sync(() => {
              while (seen++ < arrivals.length) steps.push("POST")
              seen = arrivals.length
              steps.push(name)
            })
          const sending = {
            isDoubtful: false,
            claim: step("claim"),
            beforeRetry: Effect.void,
            doubt: step("doubt"),
            release: step("release"),
          }
          yield* run(createTask(sending), "1 second")
          while (seen++ < arrivals.length) steps.push("POST")
          assert.deepStrictEqual(steps, [...expected])
        },
      )
    }
  })

  describe("the answer to a poll, of a service near the contract", () => {
    const resultPaths = { status: "state", results: "data", prompt: "input", choice: "pick", annotations: "why" }
    const viewOf = Effect.fnUntraced(function* (answer: unknown, choice = "index") {
      const { client } = yield* answering({ status: 200, body: answer }, { resultPaths, choice })
      return yield* Effect.provide(look, client)
    })
    const done = (members: object) => ({ state: "completed", data: [{ input: "p", pick: 0, ...members }] })

    for (const [answer, problem, choice] of [
      [{ ...done({}), data: { pick: 0 } }, "data: expected an array of results, found an object"],
      [done({ input: undefined }), "data[0].input: expected a text or a position, found nothing"],
      [done({ input: ["p"] }), "data[0].input: expected a text or a position, found an array"],
      [done({ pick: null }), "data[0].pick: expected an index of 0 or greater, found null"],
      [done({}), "data[0].pick: expected an index of 1 or greater, found 0", "index-1"],
      [done({ pick: "top" }), 'data[0].pick: expected left or right, found "top"', "left,right"],
      [done({}), "data[0].pick: expected the text of a completion, found 0", "text"],
    ] satisfies ReadonlyArray<readonly [object, string, string?]>) {
      test(`is no result: ${problem}`, function* () {
        assert.deepInclude(yield* viewOf(answer, choice), { _tag: "Completed", problem })
      })
    }

    for (const [members, annotations, best_completion_index] of [
      [{ why: "short" }, { rationale: "short" }, 0],
      [{ why: { flags: ["odd"] } }, { flags: ["odd"] }, 0],
      [{ why: 7, input: 0 }, {}, 0],
      [{ pick: null, why: { withdrawn: {} } }, { withdrawn: true }, null],
    ] as const) {
      test(`with ${JSON.stringify(members)} is read`, function* () {
        const view = yield* viewOf(done(members))
        assert(view._tag === "Completed")
        assert.deepStrictEqual(JSON.parse(view.body).results, [{ prompt: "p", best_completion_index, annotations }])
      })
    }

    test("needs a status, and is no result before the task is completed", function* () {
      assert.deepStrictEqual(yield* viewOf({ state: "queued" }), { _tag: "Open", status: "queued" })
      assert.deepStrictEqual(yield* viewOf({ state: "failed" }), { _tag: "Failed", status: "failed" })
      const { reason } = yield* Effect.flip(viewOf({ state: 3 }))
      assert.match(reason._tag === "UnusableAnswer" ? reason.detail : reason._tag, /with the status of task_1/)
    })
  })

  describe("the task id in the answer to a creation", () => {
    const nested = (path: string, value: unknown): unknown =>
      path.split(".").reduceRight((inner, member) => ({ [member]: inner }), value)

    for (const path of defaults.taskIdPaths) {
      test(`is found at ${path}`, function* () {
        const { client } = yield* answering({ status: 201, body: nested(path, "task_9") })
        assert.strictEqual(yield* Effect.provide(create, client), "task_9")
      })
    }

    const answers: ReadonlyArray<readonly [string, unknown, string]> = [
      ["a number counts as its digits", { id: 12345 }, "12345"],
      ["the first path that leads to one counts", { id: "second", task_id: "first" }, "first"],
      ["what is empty or none is passed over", { task_id: "", id: null, task: { task_id: "third" } }, "third"],
      ["what is no id is passed over", { task_id: { a: 1 }, id: ["x"], data: { id: "fourth" } }, "fourth"],
      ["a number that has lost digits is passed over", { task_id: 2 ** 60, data: { id: "exact" } }, "exact"],
    ]
    for (const [name, answer, expected] of answers) {
      test(name, function* () {
        const { client } = yield* answering({ status: 201, body: answer })
        assert.strictEqual(yield* Effect.provide(create, client), expected)
      })
    }

    test("is found where the profile says, and only there", function* () {
      const settings = { taskIdPaths: ["result.task.uid"] }
      const { client } = yield* answering(
        { status: 201, body: { task_id: "other", result: { task: { uid: "task_5" } } } },
        settings,
      )
      assert.strictEqual(yield* Effect.provide(create, client), "task_5")
      const { client: without } = yield* answering({ status: 201, body: { task_id: "other" } }, settings)
      const failure = yield* failureOf(create, without)
      assert.strictEqual(failure.reason._tag, "UnusableAnswer")
      assert.match(failure.message, /no task id at any of result\.task\.uid, found \{"task_id":"other"\}/)
    })

    for (const [answer, isJson] of [
      ["", false],
      ["OK", false],
      ["null", true],
      ["[]", true],
      ['"task_1"', true],
      ["{}", true],
      ['{"__proto__":{"task_id":"x"}}', true],
    ] as const) {
      test(`is missed in ${JSON.stringify(answer)}${isJson ? "" : ", which is asked for again where keys are honored"}`, function* () {
        for (const idempotencyKey of ["honored", "ignored"] as const) {
          const { client, service } = yield* answering({ status: 201, body: answer }, { idempotencyKey, retries: 1 })
          assert.strictEqual((yield* failureOf(create, client)).reason._tag, "UnusableAnswer")
          assert.strictEqual(service.received.length, idempotencyKey === "honored" && !isJson ? 2 : 1)
        }
      })
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
      test(`${status} is ${expected}`, function* () {
        const text = `{ "status": "${status}",\n"results": [1.50, "\\u00e4"], "task_id": "task_1" }`
        const { client } = yield* answering({ status: 200, body: text }, settings)
        const view = yield* Effect.provide(look, client)
        assert.strictEqual(view._tag, expected)
        // Kept as it came.
        if (view._tag === "Completed") assert.strictEqual(view.body, text)
        else assert.strictEqual(view.status, status)
      })
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
      test(`is taken from ${name}`, function* () {
        const { client } = yield* answering({ status: 400, body: answer })
        const { reason } = yield* failureOf(create, client)
        assert(reason._tag === "Refused")
        assert.deepStrictEqual([reason.status, reason.detail], [400, expected])
      })
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
      test(`does not stand in the error after ${name}`, function* () {
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
      })
    }

    test("is not looked for where it is too short to be one: any word may hold it", function* () {
      const service = yield* ScriptedService.make(() => ({ status: 422, body: '{"odd":"thing"}' }))
      const profile = ServiceProfile.layer({ baseUrl: service.baseUrl, token: Redacted.make("t") }).pipe(Layer.orDie)
      assert.strictEqual((yield* failureOf(create, clientOf(profile))).message, 'refused (422): {"odd":"thing"}')
    })
  })
})
