/** What a service, or something between it and us, may answer about a task beside what it should. */
import { gzipSync } from "node:zlib"
import { assert, describe } from "@effect/vitest"
import { Effect, Latch, Layer, Stream } from "effect"
import { ServiceProfile, type ServiceSettings } from "../../../src/api/ServiceProfile.ts"
import { collect } from "../../../src/task/Collect.ts"
import * as Results from "../../../src/task/Results.ts"
import { Ledger } from "../../../src/task/ledger/Ledger.ts"
import type { TaskState } from "../../../src/task/ledger/schema/Model.ts"
import { submit } from "../../../src/task/Submit.ts"
import { items, records } from "../../support/items.ts"
import { inProcess, temporaryDirectory, test } from "../../support/job.ts"
import * as Logs from "../../support/logs.ts"
import { until } from "../../support/process.ts"
import { column } from "../../support/columns.ts"
import * as ScriptedService from "../../support/ScriptedService.ts"

/** Pieces without end, and whether anyone stopped taking them. */
const endless = (piece: string, pause: Promise<void> = Promise.resolve()) => {
  const state = { pieces: 0, isStopped: false }
  const body = (async function* () {
    try {
      while (true) {
        state.pieces++
        yield piece
        await pause
      }
    } finally {
      state.isStopped = true
    }
  })()
  return { state, body }
}

const collectAll = Effect.gen(function* () {
  yield* collect({ submittingDone: yield* Latch.make(true) })
})

/** Three tasks, of which `task_1` is answered oddly the given number of times; what becomes of them. */
const asked = Effect.fnUntraced(function* (
  odd: (before: ReadonlyArray<ScriptedService.Received>) => ScriptedService.Answer | Promise<ScriptedService.Answer>,
  times: number,
  settings: Partial<ServiceSettings> = {},
) {
  const logs = Logs.make()
  let seen = 0
  const service = yield* ScriptedService.make(
    (request, before) =>
      request.path.endsWith("/task_1") && seen++ < times ? odd(before) : ScriptedService.obliging(request, before),
    { downAfter: 100, ...settings },
  )
  const directory = yield* temporaryDirectory
  // A short time limit is for the answers that are odd.
  const patient = Layer.effect(
    ServiceProfile,
    Effect.map(ServiceProfile, (profile) => ({ ...profile, requestTimeout: "20 seconds" })),
  ).pipe(Layer.provide(service.profile))
  yield* submit(records(items(3)), { batch: { maxPrompts: 1, maxBytes: 1_000_000 } }).pipe(
    inProcess(directory, patient),
  )
  const { counts, judgments, issues } = yield* Effect.gen(function* () {
    yield* collectAll
    const ledger = yield* Ledger
    return {
      counts: yield* ledger.counts,
      issues: yield* ledger.issues(10),
      judgments: yield* Stream.runCollect(Results.ofCampaign()),
    }
  }).pipe(logs.during, inProcess(directory, service.profile))
  return { counts, judgments, issues, messages: logs.messages, seen }
})

const completed = (before: ReadonlyArray<ScriptedService.Received>) => ScriptedService.resultOf(before, "task_1")
const json = (value: unknown) => ({ status: 200, body: value })

describe("an odd answer about a task", () => {
  type Odd = Parameters<typeof asked>[0]
  const page = "<!doctype html><title>Sign in</title>"
  /** Given without end. */
  const lasting: ReadonlyArray<readonly [string, Odd, TaskState, looks: number, RegExp, Partial<ServiceSettings>?]> = [
    ["a page", () => ({ status: 200, headers: { "content-type": "text/html; charset=utf-8" }, body: page }), "invalid", 3, /expected a JSON object with the status of task_1, found text\/html: <!doctype/],
    ["nothing", () => ({ status: 204 }), "invalid", 3, /the status of task_1, found nothing \(204\)/],
    ["an empty body", () => ({ status: 200 }), "invalid", 3, /the status of task_1, found nothing \(200\)/],
    ["another type of JSON", () => json(["task_1"]), "invalid", 3, /the status of task_1, found \["task_1"\]/],
    ["no status", () => json({ task_id: "task_1" }), "invalid", 3, /the status of task_1, found \{"task_id":"task_1"\}/],
    ["a status that is no text", () => json({ status: 7 }), "invalid", 3, /the status of task_1, found \{"status":7\}/],
    ["JSON that ends too soon", () => json('{"task_id":"task_1","status":"comp'), "invalid", 3, /the status of task_1, found \{"task_id"/],
    ["a result without results", () => json({ task_id: "task_1", status: "completed" }), "invalid", 1, /results/],
    ["a result that names another task", (before) => json({ ...completed(before), task_id: "task_0" }), "invalid", 1, /task_id: expected "task_1", found "task_0"/],
    ["more than is taken", () => ({ status: 200, body: endless("x".repeat(65_536)).body }), "invalid", 3, /expected an answer of at most 1000000 bytes, found a larger answer/, { maxAnswerBytes: 1_000_000 }],
    ["more than is taken, and says so", () => ({ status: 200, body: "x".repeat(1_000_001) }), "invalid", 3, /expected an answer of at most 1000000 bytes, found a larger answer/, { maxAnswerBytes: 1_000_000 }],
    ["what unfolds to a thousand times its size", () => ({ status: 200, headers: { "content-encoding": "gzip" }, body: Stream.toAsyncIterable(Stream.make(gzipSync(Buffer.alloc(10_000_000)))) }), "invalid", 3, /expected JSON without content encoding, found gzip/],
    ["no such task", () => ({ status: 404, body: { detail: "no such task" } }), "failed", 3, /the service does not know the task \(404\): no such task/],
    ["a task that is gone", () => ({ status: 410, body: { detail: "deleted" } }), "failed", 1, /the service does not know the task \(410\): deleted/],
    ["a task that failed", () => json({ status: "failed" }), "failed", 1, /the service reports the status failed/],
    ["a task that was cancelled", () => json({ status: "cancelled" }), "failed", 1, /the service reports the status cancelled/],
    ["a refusal", () => ({ status: 400, body: { detail: "what?" } }), "invalid", 3, /refused \(400\): what\?/],
  ] // prettier-ignore
  for (const [name, odd, state, looks, reason, settings] of lasting) {
    test(`that lasts, ${name}, leaves the task ${state}, names it, and costs no other`, function* () {
      const { counts, judgments, messages, seen, issues } = yield* asked(odd, Infinity, settings)
      assert.strictEqual(counts[state].tasks, 1)
      assert.strictEqual(counts.completed.tasks, 2)
      assert.strictEqual(judgments.length, 2)
      assert.strictEqual(seen, looks)
      assert.deepStrictEqual(column(issues, "taskId"), ["task_1"])
      assert.match(issues[0]?.reason ?? "", reason)
      if (messages.length > 0) assert.include(messages.join("\n"), "task_1")
      assert.isAtMost(messages.length, 1)
    })
  }

  test("that has an id of another kind beside its result completes the task", function* () {
    const internal = (before: ReadonlyArray<ScriptedService.Received>) =>
      json({ ...completed(before), id: "task_1", task_id: "internal_7" })
    const { counts, judgments, seen } = yield* asked(internal, Infinity, { taskIdPaths: ["id", "task_id"] })
    assert.deepStrictEqual([counts.completed.tasks, judgments.length, seen], [3, 3, 1])
  })

  const never = new Promise<void>(() => {})
  /** Given twice. */
  const passing: ReadonlyArray<readonly [string, Odd, Partial<ServiceSettings>?]> = [
    ["an error", () => ({ status: 500, body: "oops" })],
    ["a broken connection", () => "reset"],
    ["a body that breaks off", () => ({ status: 200, body: '{"status":', breaksOff: true })],
    ["a body of a promised length that breaks off", () => ({ status: 200, headers: { "content-length": "100" }, body: '{"status":', breaksOff: true })],
    ["silence", () => never.then(() => "reset" as const), { requestTimeout: "100 millis" }],
    ["a body that comes in drops", () => ({ status: 200, body: endless(" ", new Promise((resolve) => void setTimeout(resolve, 5))).body }), { requestTimeout: "100 millis" }],
    ["a body that does not end", () => ({ status: 200, body: endless(" ", never).body }), { requestTimeout: "100 millis" }],
    ["a page", () => ({ status: 200, headers: { "content-type": "text/html" }, body: page })],
    ["no such task", () => ({ status: 404 })],
    ["an error with a body without end", () => ({ status: 502, body: endless("x".repeat(65_536)).body })],
  ] // prettier-ignore
  for (const [name, odd, settings] of passing) {
    test(`that passes, ${name}, costs a look`, function* () {
      const { counts, judgments, seen } = yield* asked(odd, 2, settings)
      assert.strictEqual(counts.completed.tasks, 3)
      assert.strictEqual(judgments.length, 3)
      assert.isAtLeast(seen, 3)
    })
  }

  test("of more than is taken is not read on", function* () {
    const bodies: Array<ReturnType<typeof endless>["state"]> = []
    yield* asked(
      () => {
        const { body, state } = endless("x".repeat(65_536))
        bodies.push(state)
        return { status: bodies.length === 1 ? 500 : 200, body }
      },
      Infinity,
      { maxAnswerBytes: 1_000_000 },
    )
    // The first says that the service is in trouble, the others are of no use.
    assert.strictEqual(bodies.length, 4)
    yield* Effect.promise(() => until("nobody takes more", () => bodies.every(({ isStopped }) => isStopped)))
    for (const { pieces } of bodies) {
      // What stands in the buffers between the two is on top of it.
      assert.isBelow(pieces * 65_536, 16_000_000)
    }
  })

  test("an unknown status is treated as open, and logged once", function* () {
    const { counts, messages, seen } = yield* asked(() => json({ status: "on hold" }), 5)
    assert.strictEqual(counts.completed.tasks, 3)
    assert.strictEqual(seen, 6)
    assert.deepStrictEqual(messages, [
      'the service reports the unknown status "on hold" for task_1, so the task is treated as open; if the status means completed or failed, add the status to the service profile',
    ])
  })

  test("another type than JSON's own is of no matter where it is JSON", function* () {
    const { counts } = yield* asked(
      (before) => ({ status: 200, headers: { "content-type": "text/plain" }, body: completed(before) }),
      Infinity,
    )
    assert.strictEqual(counts.completed.tasks, 3)
  })

  test("a page in place of every answer ends the run in the end, and costs no task anything", function* () {
    const directory = yield* temporaryDirectory
    let isSignedIn = true
    const service = yield* ScriptedService.make(
      (request, before) => (isSignedIn ? ScriptedService.obliging(request, before) : { status: 200, body: page }),
      { patience: "2 seconds" },
    )
    const process = inProcess(directory, service.profile)
    yield* submit(records(items(30)), { batch: { maxPrompts: 1, maxBytes: 1_000_000 } }).pipe(process)
    isSignedIn = false
    const failure = yield* collectAll.pipe(Effect.flip, process)
    assert.match(String((failure as Error).message), /has been down since .*not JSON: .*<!doctype html>/)
    const { counts } = yield* Ledger.use((ledger) => Effect.all({ counts: ledger.counts })).pipe(process)
    assert.strictEqual(counts.submitted.tasks, 30)
  })
})
