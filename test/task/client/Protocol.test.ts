/** What a service's own protocol keeps to, though its functions know nothing of it: they only send requests, and read answers. */

import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Redacted, Result, Schema } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import type { ServiceSettings } from "../../../src/api/ServiceProfile.ts"
import { type AnnotationClient, TaskClient } from "../../../src/task/client/AnnotationClient.ts"
import { AnnotationClientError, Unavailable } from "../../../src/task/client/AnnotationClientError.ts"
import type { Http, Protocol } from "../../../src/task/client/Protocol.ts"
import type { PromptResult } from "../../../src/task/client/PromptResult.ts"
import type { TaskView } from "../../../src/task/client/TaskCalls.ts"
import { effectTest } from "../../support/effectTest.ts"
import * as ScriptedService from "../../support/ScriptedService.ts"
import { type Arrival, create, inVirtualTime, poll as pollTask, request } from "./support.ts"

const poll = pollTask("7")

const open: TaskView = { _tag: "Open", status: "open" }

/** Two requests for each call. */
const twoSteps: Protocol = {
  create: (_task, { http }) => Effect.as(Effect.andThen(http.post("/projects"), http.post("/projects/1/jobs")), "7"),
  poll: (taskId, { http }) =>
    Effect.as(Effect.all([http.get(`/jobs/${taskId}`), http.get("/pages")], { concurrency: 2 }), open),
}

const ok: ScriptedService.Answer = { status: 200, body: {} }

/** A protocol at a service that answers like this, in virtual time; how requests of the test end, and what had arrived. */
const at = Effect.fnUntraced(function* (
  protocol: NonNullable<Parameters<typeof inVirtualTime>[2]>,
  answer: (nth: number) => ScriptedService.Answer,
  settings: Partial<ServiceSettings> = {},
) {
  const { run, ...more } = yield* inVirtualTime((_, before) => answer(before.length + 1), settings, protocol)
  return {
    ...more,
    run: <A, E>(effect: Effect.Effect<A, E, AnnotationClient>) => run(Effect.result(effect), "2 millis"),
  }
})

/** What the client tells the ledger about a creation, in order. */
const noting = () => {
  const events: Array<string> = []
  const note = (event: string) => Effect.sync(() => void events.push(event))
  const [claim, beforeRetry, doubt, release] = [note("claim"), note("beforeRetry"), note("doubt"), note("release")]
  return { events, sending: { isDoubtful: false, claim, beforeRetry, doubt, release } }
}

const inAnySecond = (times: ReadonlyArray<number>): number =>
  Math.max(...times.map((from) => times.filter((time) => time >= from && time < from + 1000).length))

const reasonOf = (result: Result.Result<unknown, unknown>) => {
  const failure = Result.isFailure(result) ? result.failure : undefined
  assert.instanceOf(failure, AnnotationClientError)
  return failure.reason
}

const maybeDoneOf = (result: Result.Result<unknown, unknown>) => {
  const reason = reasonOf(result)
  return reason._tag === "Unavailable" ? reason.maybeDone : reason._tag
}

const test = effectTest(it.effect)

describe("a protocol of a program's own", () => {
  test("sends at most requestsPerSecond in any second, further requests of a call included, with one in flight, too", function* () {
    for (const concurrency of [1, 4]) {
      const { arrivals, run } = yield* at(twoSteps, () => ok, { requestsPerSecond: 2, concurrency })
      const calls = [...Array.from({ length: 4 }, () => create()), ...Array.from({ length: 4 }, () => poll)]
      assert.isTrue(Result.isSuccess(yield* run(Effect.all(calls, { concurrency: "unbounded" }))))
      assert.lengthOf(arrivals, 16)
      assert.isAtMost(inAnySecond(arrivals.map(({ at }) => at)), 2)
    }
  })

  test("counts a call that sends by other means as one request", function* () {
    const times: Array<number> = []
    const now = yield* Clock.currentTimeMillis
    const note = Effect.map(Clock.currentTimeMillis, (at) => void times.push(at - now))
    const { run } = yield* at({ create: () => Effect.as(note, "7"), poll: () => Effect.as(note, open) }, () => ok, {
      requestsPerSecond: 2,
      concurrency: 4,
    })
    yield* run(Effect.all([create(), create(), create(), poll, poll, poll], { concurrency: "unbounded" }))
    assert.lengthOf(times, 6)
    assert.isAtMost(inAnySecond(times), 2)
  })

  for (const [name, protocol] of [
    ["over http", twoSteps],
    [
      "over an HTTP client of its own",
      (own: HttpClient.HttpClient) => ({
        ...twoSteps,
        create: () => Effect.as(HttpClient.filterStatusOk(own).post("/jobs"), "7"),
      }),
    ],
    [
      "with a failure of its own",
      (own: HttpClient.HttpClient) => ({
        ...twoSteps,
        create: () =>
          Effect.flatMap(own.post("/jobs"), ({ headers, status }) => {
            const detail = "slow down"
            const retryAfter = Number(headers["retry-after"]) * 1000
            if (status === 200) return Effect.succeed("7")
            const reason = new Unavailable({ status, detail, retryAfter, maybeDone: false })
            return Effect.fail(new AnnotationClientError({ baseUrl: "own", reason }))
          }),
      }),
    ],
  ] satisfies ReadonlyArray<readonly [string, Parameters<typeof at>[0]]>) {
    test(`waits as long as Retry-After says with all requests, ${name}`, function* () {
      const { arrivals, run } = yield* at(
        protocol,
        (nth) => (nth === 1 ? { status: 429, headers: { "retry-after": "5" } } : ok),
        { requestsPerSecond: 100 },
      )
      assert.isTrue(Result.isSuccess(yield* run(Effect.andThen(create(), poll))))
      const [first, ...others] = arrivals
      for (const { at } of others) assert.isAtLeast(at - first!.at, 5000)
      assert.isAtLeast(others.length, 3)
    })
  }

  test("creates a task after a lost read, which is no doubt, and with ignored keys, too", function* () {
    const { events, sending } = noting()
    const { arrivals, run } = yield* at(
      {
        ...twoSteps,
        create: (_, { http }) => Effect.as(Effect.andThen(http.get("/jobs?key=1"), http.post("/jobs")), "7"),
      },
      (nth) => (nth === 1 ? "reset" : ok),
      { idempotencyKey: "ignored" },
    )
    assert.deepStrictEqual(yield* run(create(sending)), Result.succeed("7"))
    assert.notInclude(events, "doubt")
    assert.lengthOf(arrivals, 3)
  })

  test("is in doubt after a write that the program gives up, and a lost read", function* () {
    const arrived = Promise.withResolvers<void>()
    const given = (http: Http) =>
      Effect.raceFirst(
        Effect.asVoid(Effect.orDie(http.post("/jobs"))),
        Effect.promise(() => arrived.promise),
      )
    const { run } = yield* at(
      { ...twoSteps, create: (_, { http }) => Effect.as(Effect.andThen(given(http), http.get("/jobs?key=1")), "7") },
      (nth) => {
        if (nth > 1) return "reset"
        arrived.resolve()
        return new Promise(() => {}) as never
      },
      { idempotencyKey: "ignored" },
    )
    assert.isTrue(maybeDoneOf(yield* run(create())))
  })

  test("is called only once the task is claimed, and not if it can't be", function* () {
    const { events, sending } = noting()
    const called = Effect.sync(() => void events.push("create"))
    const { run } = yield* at({ create: () => Effect.as(called, "7"), poll: () => Effect.succeed(open) }, () => ok)
    yield* run(create(sending))
    assert.deepStrictEqual(events, ["claim", "create"])
    assert.isTrue(Result.isFailure(yield* run(create({ ...sending, claim: Effect.fail("taken") as never }))))
    assert.deepStrictEqual(events, ["claim", "create"])
  })

  test("writes nothing after a request that may have been carried out, unless keys are honored", function* () {
    const insistent: Protocol = {
      ...twoSteps,
      create: (_task, { http }) => Effect.as(Effect.retry(http.post("/jobs"), { times: 3 }), "7"),
    }
    const ignored = yield* at(insistent, () => "reset", { idempotencyKey: "ignored" })
    assert.strictEqual(maybeDoneOf(yield* ignored.run(create())), true)
    assert.lengthOf(ignored.arrivals, 1)
    const honored = yield* at(insistent, (nth) => (nth < 3 ? "reset" : ok), { idempotencyKey: "honored" })
    assert.isTrue(Result.isSuccess(yield* honored.run(create())))
    assert.lengthOf(honored.arrivals, 3)
  })

  for (const status of [400, 401, 413, 429]) {
    test(`may have created a task if a second request is answered with ${status}`, function* () {
      const { arrivals, run } = yield* at(twoSteps, (nth) => (nth === 1 ? ok : { status }), { patience: 0 })
      assert.strictEqual(maybeDoneOf(yield* run(create())), true)
      assert.lengthOf(arrivals, 2)
    })
  }

  test("may have created a task wherever a failure does not say that it did not", function* () {
    const failing = (failure: unknown): Protocol => ({ ...twoSteps, create: () => Effect.fail(failure) })
    const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" })
    for (const [failure, expected] of [
      [new Error("an SDK's own"), true],
      ["no error at all", true],
      [refused, false],
    ] as const) {
      const { run } = yield* at(failing(failure), () => ok, { patience: 0 })
      assert.strictEqual(maybeDoneOf(yield* run(create())), expected)
    }
    const misread = yield* at(
      {
        ...twoSteps,
        create: (_task, { http }) => Effect.flatMap(http.post("/"), ({ json }) => Effect.map(json, String)),
      },
      () => ({
        status: 200,
        body: "<html>",
      }),
    )
    assert.strictEqual(reasonOf(yield* misread.run(create()))._tag, "UnusableAnswer")
  })

  test("learns from the failure of a poll that a task is unknown", function* () {
    const { run } = yield* at(twoSteps, () => ({ status: 404 }))
    assert.strictEqual(reasonOf(yield* run(poll))._tag, "TaskUnknown")
  })

  const put = (path: string) => HttpClientRequest.put(path).pipe(HttpClientRequest.bodyJsonUnsafe({ name: "n" }))
  /** An upsert that may be repeated, and a request that may not. */
  const upsert: Protocol = {
    ...twoSteps,
    create: (_task, { http, repeatable }) =>
      Effect.as(Effect.andThen(repeatable.execute(put("/p")), http.post("/j")), "7"),
  }
  const paths = (arrivals: ReadonlyArray<Arrival>) => arrivals.map(({ method, path }) => `${method} ${path}`)

  test("repeats a repeatable write whose answer was lost, with the same key and body, and is in no doubt", function* () {
    const { arrivals, received, run } = yield* at(upsert, (nth) => (nth < 3 ? "reset" : ok), {
      idempotencyKey: "ignored",
    })
    const { events, sending } = noting()
    assert.isTrue(Result.isSuccess(yield* run(create(sending))))
    assert.deepStrictEqual(paths(arrivals), ["PUT /v1/p", "PUT /v1/p", "PUT /v1/p", "POST /v1/j"])
    assert.deepStrictEqual(events, ["claim"])
    const puts = received.filter(({ method }) => method === "PUT")
    assert.strictEqual(new Set(puts.map(({ body, headers }) => body + String(headers["idempotency-key"]))).size, 1)
    const keys = received.map(({ headers }) => String(headers["idempotency-key"]))
    assert.strictEqual(new Set(keys).size, 2)
    for (const key of keys) assert.match(key, /^key-1-[0-9a-f]{8}$/)
  })

  test("repeats a lost repeatable write whose repetition is answered with 429, and is in no doubt", function* () {
    const { arrivals, run } = yield* at(upsert, (nth) => (nth === 1 ? "reset" : nth === 2 ? { status: 429 } : ok), {
      idempotencyKey: "ignored",
    })
    const { events, sending } = noting()
    assert.isTrue(Result.isSuccess(yield* run(create(sending))))
    assert.deepStrictEqual(paths(arrivals), ["PUT /v1/p", "PUT /v1/p", "PUT /v1/p", "POST /v1/j"])
    assert.deepStrictEqual(events, ["claim"])
  })

  test("may have created a task if no repetition of a repeatable write is answered, and sends nothing after it", function* () {
    const { arrivals, run } = yield* at(upsert, () => "reset", { idempotencyKey: "ignored", retries: 2 })
    assert.strictEqual(maybeDoneOf(yield* run(create())), true)
    assert.deepStrictEqual(paths(arrivals), ["PUT /v1/p", "PUT /v1/p", "PUT /v1/p"])
  })

  test("may have created a task if a repetition of a lost write is refused", function* () {
    const { run } = yield* at(upsert, (nth) => (nth === 1 ? "reset" : { status: 400 }), { idempotencyKey: "ignored" })
    assert.strictEqual(maybeDoneOf(yield* run(create())), true)
  })

  test("refuses a second step that is answered with 409 at once, so that a protocol can take it as done", function* () {
    const reasons: Array<string> = []
    const published: Protocol = {
      ...upsert,
      create: (_task, { repeatable }) =>
        Effect.andThen(repeatable.post("/drafts"), repeatable.post("/drafts/1/publish")).pipe(
          Effect.catch(({ reason }) => Effect.sync(() => void reasons.push(reason._tag))),
          Effect.as("1"),
        ),
    }
    const { arrivals, run } = yield* at(published, (nth) => (nth === 1 ? ok : nth === 2 ? "reset" : { status: 409 }), {
      idempotencyKey: "ignored",
    })
    assert.isTrue(Result.isSuccess(yield* run(create())))
    assert.deepStrictEqual(reasons, ["Refused"])
    assert.deepStrictEqual(paths(arrivals), [
      "POST /v1/drafts",
      "POST /v1/drafts/1/publish",
      "POST /v1/drafts/1/publish",
    ])
  })

  test("does not repeat a lost write that is not repeatable, as a second step", function* () {
    const { arrivals, run } = yield* at(upsert, (nth) => (nth === 1 ? ok : "reset"), { idempotencyKey: "ignored" })
    assert.strictEqual(maybeDoneOf(yield* run(create())), true)
    assert.deepStrictEqual(paths(arrivals), ["PUT /v1/p", "POST /v1/j"])
  })

  test("sends a later step again after 429, at the time that the service names", function* () {
    const busy: ScriptedService.Answer = { status: 429, headers: { "retry-after": "5" } }
    const { arrivals, run } = yield* at(twoSteps, (nth) => (nth === 2 ? busy : ok), { idempotencyKey: "ignored" })
    assert.isTrue(Result.isSuccess(yield* run(create())))
    assert.deepStrictEqual(paths(arrivals), [
      "POST /v1/projects",
      "POST /v1/projects/1/jobs",
      "POST /v1/projects/1/jobs",
    ])
    assert.isAtLeast(arrivals[2]!.at - arrivals[1]!.at, 5000)
  })

  test("is in doubt if it is interrupted between two steps", function* () {
    const busy: ScriptedService.Answer = { status: 429, headers: { "retry-after": "60" } }
    const { arrivals, run } = yield* at(twoSteps, (nth) => (nth === 2 ? busy : ok), { idempotencyKey: "ignored" })
    const { events, sending } = noting()
    yield* run(
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(create(sending))
        while (arrivals.length < 2) yield* Effect.sleep("10 millis")
        yield* Effect.sleep("1 second")
        yield* Fiber.interrupt(fiber)
      }),
    )
    assert.lengthOf(arrivals, 2)
    assert.include(events, "doubt")
  })

  test("finishes creations that have begun before it begins others, also if it is interrupted", function* () {
    const { arrivals, run } = yield* at(twoSteps, () => ok, { requestsPerSecond: 1, concurrency: 4 })
    yield* run(
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(
          Effect.forEach([1, 2, 3], () => Effect.uninterruptible(create()), {
            concurrency: "unbounded",
            discard: true,
          }),
        )
        while (arrivals.length < 3) yield* Effect.sleep("10 millis")
        yield* Fiber.interrupt(fiber)
      }),
    )
    const [project, job] = ["POST /v1/projects", "POST /v1/projects/1/jobs"]
    assert.deepStrictEqual(paths(arrivals), [project, job, project, job])
  })

  test("is in no doubt if it is interrupted before a request is sent", function* () {
    const waiting: Protocol = { ...twoSteps, create: () => Effect.never }
    const { run } = yield* at(waiting, () => ok, { idempotencyKey: "ignored" })
    const { events, sending } = noting()
    yield* run(Effect.timeoutOption(create(sending), "1 second"))
    assert.strictEqual(events[0], "claim")
    assert.notInclude(events, "doubt")
  })

  test("takes an empty answer, and says what is missing from another", function* () {
    const decoded = HttpClientResponse.schemaBodyJson(Schema.Struct({ id: Schema.String }))
    const { run } = yield* at(
      {
        create: (_task, { http }) => Effect.flatMap(http.post("/j"), ({ text }) => text),
        poll: (_taskId, { http }) => Effect.as(Effect.flatMap(http.get("/j"), decoded), open),
      },
      (nth) => (nth === 1 ? { status: 204 } : ok),
    )
    assert.deepStrictEqual(yield* run(create()), Result.succeed(""))
    const reason = reasonOf(yield* run(poll))
    assert.match(reason._tag === "UnusableAnswer" ? reason.detail : reason._tag, /\bid\b/)
  })

  test("authorizes each request at the service, by the token's scheme unless the protocol does, and none elsewhere", function* () {
    const other = yield* ScriptedService.make(() => ok)
    const asking: Protocol = {
      ...twoSteps,
      create: (_task, { http }) =>
        Effect.as(Effect.all([http.post("/a"), http.post("/b"), http.get(`${other.baseUrl}/c`)]), "7"),
    }
    const authorize: NonNullable<Protocol["authorize"]> = (request, token) =>
      Effect.succeed(HttpClientRequest.setHeader(request, "x-api-key", Redacted.value(token)))
    for (const [protocol, settings, header, value] of [
      [asking, {}, "authorization", "Bearer secret-token"],
      [asking, { authorization: "Basic" }, "authorization", "Basic c2VjcmV0LXRva2Vu"],
      [asking, { authorization: "X-Auth: Key" }, "x-auth", "Key secret-token"],
      [{ ...asking, authorize }, {}, "x-api-key", "secret-token"],
    ] as const) {
      const { received, run } = yield* at(protocol, () => ok, settings)
      assert.isTrue(Result.isSuccess(yield* run(create())))
      assert.deepStrictEqual(
        received.map(({ headers }) => headers[header]),
        [value, value],
      )
    }
    for (const { headers } of other.received)
      assert.deepStrictEqual([headers["authorization"], headers["x-api-key"]], [undefined, undefined])
  })

  test("removes the token from messages in the form in which it was sent, and sends nothing without it", function* () {
    const echo = yield* at(
      twoSteps,
      () => ({ status: 400, body: { detail: "bad identity: Basic c2VjcmV0LXRva2Vu secret-token" } }),
      { authorization: "Basic" },
    )
    const refused = reasonOf(yield* echo.run(create()))
    assert.include(JSON.stringify(refused), "bad identity: <token> <token>")
    assert.notMatch(JSON.stringify(refused), /c2VjcmV0LXRva2Vu|secret-token/)
    const failing = yield* at({ ...twoSteps, authorize: () => Effect.fail("expired") }, () => ok, { patience: 0 })
    assert.strictEqual(maybeDoneOf(yield* failing.run(create())), false)
    assert.lengthOf(failing.arrivals, 0)
  })

  const read = Effect.fnUntraced(function* (results: ReadonlyArray<PromptResult>) {
    const own: Protocol = {
      ...twoSteps,
      poll: (taskId, { http }) => Effect.as(http.get(`/jobs/${taskId}`), { _tag: "Completed", results }),
    }
    const { run } = yield* at(own, () => ({ status: 200, body: { raw: 1 } }))
    const two = [...request.prompts, { prompt: "q", completions: ["c", "d", "e"] }]
    const asked = Effect.succeed(new TextEncoder().encode(JSON.stringify({ ...request, prompts: two })))
    const view = Result.getOrThrow(yield* run(TaskClient.use((client) => client.poll("7", asked))))
    assert(view._tag === "Completed")
    const { answers, results: items } = JSON.parse(view.body)
    assert.deepStrictEqual(answers, ['{"raw":1}'])
    return view.problem ?? items
  })

  test("reads results by position or text, as an index, a text or a ranking", function* () {
    const expected = [
      { prompt: "p", best_completion_index: 1, annotations: { rationale: "r" } },
      { prompt: "q", best_completion_index: 2, annotations: { ranking: [[2], [0, 1]] } },
    ]
    const first = { best: "b", annotations: { rationale: "r" } }
    assert.deepStrictEqual(yield* read([first, { ranking: ["e", [0, "d"]] }]), expected)
    assert.deepStrictEqual(
      yield* read([
        { prompt: "q", best: 2, ranking: [2, ["c", "d"]] },
        { ...first, prompt: "p", best: 1 },
      ]),
      expected,
    )
    assert.deepStrictEqual(
      yield* read([
        { prompt: 1, withdrawn: true },
        { prompt: 0, best: 0 },
      ]),
      [
        { prompt: "p", best_completion_index: 0, annotations: {} },
        { prompt: "q", best_completion_index: null, annotations: { withdrawn: true } },
      ],
    )
  })

  test("finds the best completion of votes: that with the most first places, of several that of the earliest vote", function* () {
    const votes = [
      { expert: "lea", choice: "c", rationale: "short" },
      { expert: "ben", choice: 2, ranking: [["e", "d"], 0] },
      { choice: "e", rationale: "right" },
    ] as const
    const [, item] = yield* read([{ best: 0 }, { votes }])
    assert.deepStrictEqual(item, {
      prompt: "q",
      best_completion_index: 2,
      annotations: {
        rationale: "right",
        votes: [
          { expert: "lea", choice: 0, rationale: "short" },
          { expert: "ben", choice: 2, ranking: [[2, 1], [0]] },
          { expert: null, choice: 2, rationale: "right" },
        ],
      },
    })
    const [tied] = yield* read([{ votes: [{ choice: 1 }, { choice: 0 }] }, { best: 0 }])
    assert.strictEqual(tied.best_completion_index, 1)
  })

  for (const [results, problem] of [
    [
      [{ votes: undefined } as never, { best: 0 }],
      "results[0]: expected one of the members best, ranking, votes, and withdrawn",
    ],
    [
      [{ votes: [{ choice: 1, ranking: [0, 1] }] }, { best: 0 }],
      "results[0].votes[0].ranking: expected the choice (1) first",
    ],
    [
      [{ votes: [{ choice: 1, ranking: [1] }] }, { best: 0 }],
      "results[0].votes[0].ranking: expected each of 2 completions once",
    ],
    [[{ votes: [] }, { best: 0 }], "results[0].votes: expected at least one vote, found none"],
    [
      [{ votes: [{ choice: "c" }] }, { best: 0 }],
      'results[0].votes[0].choice: expected the text of a completion that was sent, found "c"',
    ],
    [[{ best: 0 }], "expected 2 results, one per prompt, found 1"],
    [[{ best: 0 }, { best: 3 }], "results[1].best_completion_index: expected 0 to 2, found 3"],
    [[{ best: 0.5 }, { best: 0 }], "results[0].best_completion_index: expected 0 to 1, found 0.5"],
    [
      [{ best: "a" }, { best: "a" }],
      'results[1].best_completion_index: expected the text of a completion that was sent, found "a"',
    ],
    [[{ prompt: "x", best: 0 }, { best: 0 }], 'results[0].prompt: expected a prompt of the task, found "x"'],
    [
      [
        { prompt: 1, best: 0 },
        { prompt: 2, best: 0 },
      ],
      "results[1].prompt: expected 0 to 1, found 2",
    ],
    [
      [
        { prompt: 1, best: 0 },
        { prompt: "q", best: 0 },
      ],
      "results[1].prompt: expected one result per prompt, found a second result for the prompt at index 1",
    ],
    [[{ best: 0 }, { ranking: [0, 1] }], "results[1].ranking: expected each of 3 completions once"],
    [[{ best: 0 }, { ranking: [0, 1, 1] }], "results[1].ranking: expected each of 3 completions once"],
    [
      [{ best: 0 }, { best: 1, ranking: [0, 1, 2] }],
      "results[1].ranking: expected the best completion (1) first, found 0",
    ],
  ] satisfies ReadonlyArray<readonly [ReadonlyArray<PromptResult>, string]>) {
    test(`keeps the raw answer, and says: ${problem}`, function* () {
      assert.strictEqual(yield* read(results), problem)
    })
  }
})
