import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit } from "effect"
import type { ServiceSettings } from "../../../src/api/ServiceProfile.ts"
import type { AnnotationClient } from "../../../src/task/client/AnnotationClient.ts"
import type { AnnotationClientError } from "../../../src/task/client/AnnotationClientError.ts"
import * as Logs from "../../support/logs.ts"
import type * as ScriptedService from "../../support/ScriptedService.ts"
import { column } from "../../support/columns.ts"
import { type Arrival, create as createTask, inVirtualTime, poll } from "./support.ts"

const create = createTask()
const look = poll("task_1")

type Run = <A, E>(request: Effect.Effect<A, E, AnnotationClient>) => Effect.Effect<Exit.Exit<A, E>>

const taken: ScriptedService.Answer = { status: 200, body: { task_id: "task_1", status: "pending" } }
const broken: ScriptedService.Answer = { status: 500, body: { detail: "oops" } }
const gone: ScriptedService.Answer = { status: 502, body: { detail: "oops" } }
const isProbe = ({ path }: Arrival) => path.endsWith("/prefstream-probe")

/** A client of a service that answers by the time and the order of requests, in the test's own time. */
const timed = (
  name: string,
  answer: (arrival: Arrival, before: ReadonlyArray<Arrival>) => ScriptedService.Answer,
  settings: Partial<ServiceSettings>,
  check: (
    run: Run,
    arrivals: ReadonlyArray<Arrival>,
    messages: ReadonlyArray<string>,
  ) => Effect.fn.Return<void, unknown>,
) =>
  it.effect(name, () => {
    const logs = Logs.make()
    return Effect.gen(function* () {
      const { arrivals, run } = yield* inVirtualTime(answer, { idempotencyKey: "honored", ...settings })
      yield* Effect.fnUntraced(check)((request) => run(Effect.exit(request), "100 millis"), arrivals, logs.messages)
    }).pipe(Effect.scoped, logs.during)
  })

/** Many requests at once; how each ended. */
const all = (requests: ReadonlyArray<Effect.Effect<unknown, AnnotationClientError, AnnotationClient>>) =>
  Effect.forEach(requests, Effect.exit, { concurrency: "unbounded" })

const mixed = Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? create : look))

describe("ServiceHealth", () => {
  const downFor = 200_000
  for (const [what, answer] of [
    ["is gone", gone],
    ["breaks off", "reset"],
    ["has a proxy before it that shows a page", { status: 200, headers: { "content-type": "text/html" }, body: "<p>" }],
  ] as const) {
    timed(
      `while the service ${what}, everything waits for single questions at growing distances, and goes on then`,
      ({ at }) => (at < downFor ? answer : taken),
      { concurrency: 3, retries: 10 },
      function* (run, arrivals, messages) {
        // What shows a page in place of an answer to a creation may have created a task: that one is not sent again.
        const request = what === "has a proxy before it that shows a page" ? look : create
        const ended = yield* run(all(Array.from({ length: 12 }, () => request)))
        assert(Exit.isSuccess(ended))
        const failed = ended.value.filter(Exit.isFailure).length
        const early = arrivals.filter(({ at }) => at < downFor)
        // Two more may be under way when the third failure is seen.
        const sent = early.filter(({ at }) => at < 500).length
        assert.isAtLeast(sent, 3)
        assert.isAtMost(sent, 5)
        assert.strictEqual(failed, request === look ? sent : 0)
        const probes = early.slice(sent)
        for (const { method, path } of probes)
          assert.deepStrictEqual([method, path], ["GET", "/v1/tasks/prefstream-probe"])
        assert.isAtLeast(probes.length, 8)
        assert.isAtMost(probes.length, 12)
        for (const [i, { at }] of probes.entries()) {
          const gap = at - (probes[i - 1]?.at ?? 0)
          const expected = Math.min(1000 * 2 ** i, 30_000)
          assert.isAtLeast(gap, 0.8 * expected)
          assert.isAtMost(gap, 1.2 * expected + 300)
        }
        // The one that found it, and then all that waited.
        const later = arrivals.filter(({ at }) => at >= downFor)
        assert.strictEqual(later[0]?.path, "/v1/tasks/prefstream-probe")
        assert.strictEqual(later.length, 1 + 12 - failed)
        assert.strictEqual(messages.length, 2, messages.join("\n"))
        assert.match(
          messages[0]!,
          /^http\S+ has been down since 1970-01-01T00:00:00Z \(.+\): waiting until 1970-01-01T00:15:00Z at the latest$/,
        )
        assert.match(messages[1]!, /^http\S+ answers again, after 3m 2\ds|^http\S+ answers again, after 3m/)
      },
    )
  }

  let isBack = false
  timed(
    "when it was down for longer than a run waits, all that waits fails, and says why; what comes later begins anew",
    () => (isBack ? taken : { ...broken, status: 502 }),
    { concurrency: 2, patience: "3 minutes", retries: 100 },
    function* (run, arrivals, messages) {
      const ended = yield* run(all(mixed))
      assert(Exit.isSuccess(ended))
      for (const exit of ended.value) {
        const failure = yield* Effect.flip<unknown, unknown, never>(exit)
        const { message, reason } = failure as AnnotationClientError
        if (reason._tag === "Unavailable") continue
        assert.strictEqual(reason._tag, "Down")
        assert.match(
          message,
          /^http\S+ has been down since 1970-01-01T00:00:00Z, longer than a run waits \(3m\): 502: oops\. Nothing is lost: run the job again\.$/,
        )
      }
      // Only looks that were under way when it went down failed by themselves.
      assert.isAtMost(ended.value.filter((exit) => String(exit).includes("Unavailable")).length, 3)
      assert.isAtMost(arrivals.at(-1)!.at, 181_000)
      assert.isAtLeast(arrivals.at(-1)!.at, 150_000)
      assert.strictEqual(messages.length, 1)
      const before = arrivals.length
      const anew = yield* Effect.flip<unknown, unknown, never>(yield* run(create))
      assert.match(
        (anew as AnnotationClientError).message,
        /has been down since 1970-01-01T00:0[34]:\d\dZ, longer than/,
      )
      assert.isAtLeast(arrivals.length, before + 3)
      isBack = true
      assert.isTrue(Exit.isSuccess(yield* run(create)))
      assert.isTrue(Exit.isSuccess(yield* run(look)))
    },
  )

  for (const at of ["creation", "poll"] as const) {
    timed(
      `a service that answers whatever it is asked with 500 is down for as long, and has one ${at} at a time to answer`,
      ({ at }) => (at < downFor ? broken : taken),
      { concurrency: 3, retries: 20 },
      function* (run, arrivals, messages) {
        const request = at === "creation" ? create : poll("task_1", 20)
        const ended = yield* run(all(Array.from({ length: 12 }, () => request)))
        assert(Exit.isSuccess(ended))
        assert.isTrue(ended.value.every(Exit.isSuccess))
        const early = arrivals.filter(({ at }) => at < downFor)
        const sent = early.findIndex(isProbe)
        assert.isAtMost(sent, 5)
        // A probe and what it let go, at growing distances.
        const tried = early.slice(sent)
        assert.isAtLeast(tried.length, 2 * 8)
        assert.isAtMost(tried.length, 2 * 12)
        for (const [i, arrival] of tried.entries()) assert.strictEqual(isProbe(arrival), i % 2 === 0)
        for (let i = 2; i < tried.length; i += 2) {
          assert.isAtLeast(tried[i]!.at - tried[i - 1]!.at, 0.8 * Math.min(1000 * 2 ** (i / 2), 30_000))
        }
        assert.strictEqual(messages.length, 2, messages.join("\n"))
        assert.match(messages[0]!, /has been down since 1970-01-01T00:00:00Z \(500: oops\)/)
        assert.match(messages[1]!, /answers again, after 3m/)
      },
    )
  }

  timed(
    "and its patience is the same",
    () => broken,
    { concurrency: 3, retries: 100, patience: "3 minutes" },
    function* (run, arrivals) {
      const failure = yield* Effect.flip<unknown, unknown, never>(yield* run(create))
      assert.strictEqual((failure as AnnotationClientError).reason._tag, "Down")
      assert.isAtLeast(arrivals.at(-1)!.at, 150_000)
      // The request is tried once more just before the end, and learns of it after that. It comes to both from a pause of its
      // own, of at most 30 s and a fifth. The test's time passes in steps of 250 ms.
      assert.isAtMost(arrivals.at(-1)!.at, 181_000 + 2 * 36_000 + 1_000)
    },
  )

  for (const [what, ofNobody] of [
    ["says that it does not know it", { status: 404 }],
    ["breaks over the form of its id", broken],
  ] as const) {
    timed(
      `a service of which one task is broken is up, also where nothing else is known of it and it, asked about another, ${what}`,
      (arrival) => (isProbe(arrival) ? ofNobody : arrival.path.endsWith("task_9") ? broken : taken),
      { concurrency: 1, patience: "3 minutes" },
      function* (run, arrivals, messages) {
        const poison = poll("task_9")
        for (let i = 0; i < 4; i++) {
          for (let k = 0; k < 3; k++) assert.match(String(yield* run(poison)), /unavailable \(500\)/)
          assert.isTrue(Exit.isSuccess(yield* run<unknown, AnnotationClientError>(i % 2 === 0 ? look : create)))
        }
        assert.isAtMost(arrivals.at(-1)!.at, 60_000)
        assert.deepStrictEqual(messages, [])
      },
    )
  }

  timed(
    "a task that was created last, and is broken, does not make the service seem down",
    (arrival) => (arrival.path.endsWith("task_9") ? broken : isProbe(arrival) ? broken : taken),
    { concurrency: 1, patience: "3 minutes" },
    function* (run, arrivals, messages) {
      assert.isTrue(Exit.isSuccess(yield* run(look)))
      assert.isTrue(Exit.isSuccess(yield* run(create)))
      const poison = poll("task_9")
      for (let i = 0; i < 12; i++) assert.match(String(yield* run(poison)), /unavailable \(500\)/)
      assert.isTrue(Exit.isSuccess(yield* run(look)))
      assert.isAtMost(arrivals.at(-1)!.at, 60_000)
      assert.deepStrictEqual(messages, [])
    },
  )

  timed(
    "each question is about another task",
    (arrival, before) => (before.length < 3 ? taken : arrival.at < 20_000 ? gone : taken),
    { concurrency: 1, retries: 20 },
    function* (run, arrivals) {
      for (const id of ["a", "b", "c"]) yield* run(poll(id))
      assert.isTrue(Exit.isSuccess(yield* run(create)))
      const probes = arrivals.slice(3).filter(({ method }) => method === "GET")
      assert.deepStrictEqual(
        probes.slice(0, 4).map(({ path }) => path.split("/").at(-1)),
        ["a", "b", "c", "prefstream-probe"],
      )
    },
  )

  timed(
    "tells no more than the beginning of what was wrong",
    () => ({ status: 502, body: { detail: "x".repeat(1000) } }),
    { patience: "1 minute", retries: 100 },
    function* (run, _, messages) {
      const failure = yield* Effect.flip<unknown, unknown, never>(yield* run(create))
      for (const message of [...messages, (failure as AnnotationClientError).message]) {
        assert.include(message, `502: ${"x".repeat(75)}…`)
      }
      assert.strictEqual(messages.length, 1)
    },
  )

  timed(
    "is waited for as long as it takes, where that is what is wanted",
    ({ at }) => (at < 7_200_000 ? { ...broken, status: 502 } : taken),
    { patience: Duration.infinity, retries: 100 },
    function* (run, _, messages) {
      assert.isTrue(Exit.isSuccess(yield* run(create)))
      assert.lengthOf(messages, 2)
      assert.match(messages[0]!, /: waiting without a time limit$/)
      assert.match(messages[1]!, / answers again, after 2h/)
    },
  )

  timed(
    "a service of which only some answers fail is up, and nothing is said of it",
    ({ path }, before) =>
      path.endsWith("prefstream-probe") ? { status: 404 } : before.length % 4 < 2 ? broken : taken,
    { concurrency: 1, retries: 100 },
    function* (run, arrivals, messages) {
      const ended = yield* run(all(mixed))
      assert(Exit.isSuccess(ended))
      assert.isTrue(ended.value.filter((_, i) => i % 2 === 0).every(Exit.isSuccess))
      assert.deepStrictEqual(
        arrivals.filter(({ path }) => path.endsWith("prefstream-probe")),
        [],
      )
      assert.deepStrictEqual(messages, [])
    },
  )

  for (const status of [404, 401, 400, 429]) {
    timed(
      `whatever a service answers to the first question, it is up: ${status}`,
      ({ method }, before) => (method === "GET" ? { status } : before.length < 4 ? broken : taken),
      { concurrency: 1, retries: 3 },
      function* (run, arrivals, messages) {
        assert.isTrue(Exit.isSuccess(yield* run(create)))
        assert.deepStrictEqual(column(arrivals, "method"), ["POST", "POST", "POST", "GET", "POST"])
        assert.deepStrictEqual(messages, [])
      },
    )
  }

  timed(
    "is not asked sooner than it asks for",
    ({ at }) => (at < 300_000 ? { status: 503, headers: { "retry-after": "100" } } : taken),
    { concurrency: 3 },
    function* (run, arrivals) {
      const ended = yield* run(all(Array.from({ length: 6 }, () => create)))
      assert(Exit.isSuccess(ended))
      assert.isTrue(ended.value.every(Exit.isSuccess))
      const early = arrivals.filter(({ at }) => at < 300_000)
      assert.isAtMost(early.length, 3 + 2)
      for (const { at } of early.slice(3)) assert.isAtLeast(at, 100_000)
    },
  )

  timed(
    "one that refuses requests for their number is not down",
    (_, before) => (before.length < 30 ? { status: 429 } : taken),
    { concurrency: 4 },
    function* (run, arrivals, messages) {
      const ended = yield* run(all(Array.from({ length: 6 }, () => create)))
      assert(Exit.isSuccess(ended))
      assert.isTrue(ended.value.every(Exit.isSuccess))
      assert.isTrue(arrivals.every(({ method }) => method === "POST"))
      assert.isAtLeast(messages.length, 1)
      // One a minute at the most.
      assert.isAtMost(messages.length, 1 + arrivals.at(-1)!.at / 60_000)
      assert.isTrue(
        messages.every((message) => message.startsWith("the service limits requests or is overloaded (429). ")),
      )
    },
  )
})
