/** What a service's own protocol keeps to, though its functions know nothing of it: they only send requests, and read answers. */

import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Result } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import type { ServiceSettings } from "../../../src/api/ServiceProfile.ts"
import { AnnotationClient } from "../../../src/task/client/AnnotationClient.ts"
import { AnnotationClientError, Unavailable } from "../../../src/task/client/AnnotationClientError.ts"
import type { Protocol } from "../../../src/task/client/Protocol.ts"
import type { TaskView } from "../../../src/task/client/TaskCalls.ts"
import { effectTest } from "../../support/effectTest.ts"
import * as ScriptedService from "../../support/ScriptedService.ts"
import * as VirtualTime from "../../support/virtualTime.ts"

const request = { task_type: "rlhf_ranking", prompts: [{ prompt: "p", completions: ["a", "b"] }] }
const body = new TextEncoder().encode(JSON.stringify(request))
const create = (sending?: Parameters<AnnotationClient["Service"]["create"]>[2]) =>
  AnnotationClient.use((client) => client.create(body, "key-1", sending))
const poll = AnnotationClient.use((client) => client.poll("7"))

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
  protocolOf: Protocol | ((own: HttpClient.HttpClient) => Protocol),
  answer: (nth: number) => ScriptedService.Answer,
  settings: Partial<ServiceSettings> = {},
) {
  const time = yield* VirtualTime.make
  const arrivals: Array<{ readonly what: string; readonly at: number }> = []
  const service = yield* ScriptedService.make(
    ({ method, path }) => {
      arrivals.push({ what: `${method} ${path}`, at: time.now() })
      return answer(arrivals.length)
    },
    { requestTimeout: "10 days", ...settings },
  )
  const http = Context.get(yield* Layer.build(time.httpClient), HttpClient.HttpClient)
  const own = HttpClient.mapRequest(http, HttpClientRequest.prependUrl(service.baseUrl))
  const protocol = typeof protocolOf === "function" ? protocolOf(own) : protocolOf
  const client = yield* Layer.build(
    AnnotationClient.layerProtocol(protocol).pipe(Layer.provide(service.profile), Layer.provide(time.httpClient)),
  )
  const run = <A, E>(effect: Effect.Effect<A, E, AnnotationClient>) =>
    time.run(Effect.result(Effect.provide(effect, client)), "2 millis")
  return { arrivals, run }
})

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

  test("is called only once the task is claimed, and not if it can't be", function* () {
    const events: Array<string> = []
    const note = (event: string) => Effect.sync(() => void events.push(event))
    const { run } = yield* at(
      { create: () => Effect.as(note("create"), "7"), poll: () => Effect.succeed(open) },
      () => ok,
    )
    const sending = {
      isDoubtful: false,
      claim: note("claim"),
      repeat: note("repeat"),
      doubt: note("doubt"),
      release: note("release"),
    }
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
})
