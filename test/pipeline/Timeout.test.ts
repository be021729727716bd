/** Runs whose time is over while a request is under way that the service does not answer. */
import { assert, describe } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { ServiceSettings } from "../../src/api/ServiceProfile.ts"
import * as Pipeline from "../../src/pipeline/Pipeline.ts"
import * as Source from "../../src/source/Source.ts"
import { testOver } from "../support/effectTest.ts"
import { platform, temporaryDirectory } from "../support/job.ts"
import * as Logs from "../support/logs.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const test = testOver(platform)

/** A run whose first POST is not answered before `answer` is called. */
const atPost = Effect.fnUntraced(function* (
  keys: "honored" | "ignored",
  grace: Pick<Pipeline.Settings, "grace"> = { grace: "10 seconds" },
  settings: Partial<ServiceSettings> = {},
) {
  const directory = yield* temporaryDirectory
  const held = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  const service = yield* ScriptedService.make(
    async (request, before) => {
      if (before.length > 0) return ScriptedService.obliging(request, before)
      arrived.resolve()
      await held.promise
      return ScriptedService.obliging(request, before)
    },
    // The first run is at the time of the test clock, the next at ours.
    // With limits, keys, and members set, no request for `openapi.json` precedes it, after which it would wait for the test clock.
    {
      idempotencyKey: keys,
      idempotencyKeyLifetime: Duration.infinity,
      maxCompletions: 64,
      taskMembers: { group: false, maxVotes: 0 },
      ...settings,
    },
  )
  const logs = Logs.make()
  const source = Source.make([{ id: "a", prompt: "p", completions: ["x", "y"] }])
  const { profile } = service
  const pipeline = Pipeline.make({ directory, source, service: profile, timeout: "5 seconds", ...grace })
  const run = logs.during(Pipeline.run(pipeline))
  const first = yield* Effect.forkChild(run)
  yield* Effect.promise(() => arrived.promise)
  return { answer: held.resolve, first, logs, run, service }
})

/** Lets time pass until something can be seen. */
const untilSo = (isSo: () => boolean) =>
  TestClock.adjust("100 millis").pipe(
    Effect.andThen(Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))),
    Effect.repeat({ until: isSo }),
  )

const waiting = "timeout: waiting for 1 request to finish, at most 10s"

describe("a run whose time is over", () => {
  for (const [keys, status, posts] of [
    ["honored", "done", 2],
    ["ignored", "in_doubt", 1],
  ] as const) {
    test(`leaves the request to the next run when its grace time is over, too, where keys are ${keys}`, function* () {
      const { answer, first, logs, run, service } = yield* atPost(keys)
      // No further: the request has a time limit of its own.
      yield* untilSo(() => logs.messages.length === 2)
      const report = yield* Fiber.join(first)
      assert.deepStrictEqual(logs.messages, [
        waiting,
        "the grace period is over; left unfinished: 1 request; the next run continues where this one stopped",
      ])
      assert.deepStrictEqual([report.status, report.not_submitted], ["stopped", 1])
      assert.deepStrictEqual(report.tasks.submitting, { tasks: 1, items: 1 })
      answer()
      const next = yield* TestClock.withLive(run)
      assert.strictEqual(next.status, status)
      const sent = service.received.filter(ScriptedService.isPost)
      assert.deepStrictEqual(
        [sent.length, new Set(sent.map(({ headers }) => headers["idempotency-key"])).size],
        [posts, 1],
      )
    })
  }

  test("records the answer that comes within its grace time", function* () {
    const { answer, first, logs } = yield* atPost("ignored")
    yield* untilSo(() => logs.messages.length > 0)
    answer()
    const report = yield* Fiber.join(first)
    assert.deepStrictEqual(logs.messages, [waiting])
    assert.deepStrictEqual(report.tasks.submitted, { tasks: 1, items: 1 })
  })

  test("waits for as long as a request may take, unless another grace time is said", function* () {
    const { answer, first, logs } = yield* atPost("ignored", {}, { requestTimeout: "3 minutes" })
    yield* untilSo(() => logs.messages.length > 0)
    yield* TestClock.adjust("170 seconds")
    answer()
    const report = yield* Fiber.join(first)
    assert.strictEqual(logs.messages.length, 1)
    assert.deepStrictEqual(report.tasks.submitted, { tasks: 1, items: 1 })
  })

  test("and that is stopped then, records the answer all the same", function* () {
    const { answer, first, logs, run } = yield* atPost("ignored")
    yield* untilSo(() => logs.messages.length > 0)
    const stopped = yield* Effect.forkChild(Fiber.interrupt(first))
    // Many times as long as it takes to end without waiting.
    yield* Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void))).pipe(
      Effect.repeat({ times: 500 }),
    )
    assert.isUndefined(stopped.pollUnsafe())
    answer()
    yield* Fiber.join(stopped)
    const next = yield* TestClock.withLive(run)
    assert.deepStrictEqual([next.status, next.tasks.in_doubt.tasks], ["done", 0])
  })
})
