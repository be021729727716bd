/** What was certainly not taken counts as never sent; what may have been taken as sent, also in later runs. */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Latch, Stream } from "effect"
import type { ServiceSettings } from "../../src/api/ServiceProfile.ts"
import { collect } from "../../src/task/Collect.ts"
import * as Results from "../../src/task/Results.ts"
import { Ledger } from "../../src/task/ledger/Ledger.ts"
import { submit, type SubmitOptions } from "../../src/task/Submit.ts"
import { items, records } from "../support/items.ts"
import { inProcess, temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const batch = { maxPrompts: 2, maxBytes: 1_000_000 }
const honored = { idempotencyKey: "honored", concurrency: 1, patience: "1 minute" } as const

const guidelinesOf = ({ body }: ScriptedService.Received) =>
  (JSON.parse(body) as { readonly guidelines?: string }).guidelines

const later = { status: 429, headers: { "retry-after": "30" } }
const muchLater = { status: 429, headers: { "retry-after": "3600" } }

const counts = Ledger.use((ledger) => ledger.counts)

/** Answers to the first requests; the last one also to all that follow. */
type Script = readonly [ScriptedService.Answer, ...ReadonlyArray<ScriptedService.Answer>]

/** Submits one task to a service that answers so, until it is over, or the job waits and is stopped. */
const attempt = Effect.fnUntraced(function* (directory: string, script: Script, guidelines = "old") {
  const asked = yield* Latch.make()
  const service = yield* ScriptedService.make((_, before) => {
    if (before.length >= script.length - 1) asked.openUnsafe()
    return script[Math.min(before.length, script.length - 1)]!
  }, honored)
  const stopsIt = script.at(-1) === later
  const sending = yield* submit(records(items(2)), { batch, guidelines }).pipe(
    Effect.exit,
    inProcess(directory, service.profile),
    Effect.forkChild,
  )
  yield* stopsIt ? Effect.andThen(asked.await, Fiber.interrupt(sending)) : Fiber.await(sending)
})

/** The number of tasks in doubt, or how the run fails, if the task of such an attempt is submitted again; and what is sent. */
const afterwards = Effect.fnUntraced(function* (
  script: Script,
  settings: Partial<ServiceSettings>,
  options: SubmitOptions = { guidelines: "old" },
) {
  const directory = yield* temporaryDirectory
  yield* attempt(directory, script)
  const service = yield* ScriptedService.make(ScriptedService.obliging, { ...honored, ...settings })
  const ended = yield* submit(records(items(2)), { batch, ...options }).pipe(
    Effect.andThen(Effect.map(counts, ({ in_doubt }) => in_doubt.tasks)),
    Effect.catch((failure) => Effect.succeed(failure._tag)),
    inProcess(directory, service.profile),
  )
  return { ended, received: service.received.map(guidelinesOf) }
})

const certain: ReadonlyArray<readonly [string, Script]> = [
  ["401", [{ status: 401 }]],
  ["429", [muchLater]],
  ["429, while it waited and was stopped", [later]],
]

const doubtful: ReadonlyArray<readonly [string, Script]> = [
  ["500 again and again", [{ status: 500 }]],
  ["a broken connection, then 401", ["reset", { status: 401 }]],
  ["a broken connection, then 429, while it waited and was stopped", ["reset", later]],
]

describe("a task", () => {
  for (const [taken, cases] of [
    [false, certain],
    [true, doubtful],
  ] as const) {
    for (const [how, script] of cases) {
      test(`that ${taken ? "may have been" : "was certainly not"} taken (${how}) counts as ${taken ? "sent" : "never sent"}`, function* () {
        // In a new campaign.
        const anew = yield* afterwards(script, {}, { guidelines: "new", newCampaign: true })
        assert.deepStrictEqual(anew, { ended: 0, received: taken ? ["old", "new"] : ["new"] })
        // Where keys are ignored from then on.
        const ignored = yield* afterwards(script, { idempotencyKey: "ignored" })
        assert.deepStrictEqual(ignored, taken ? { ended: 1, received: [] } : { ended: 0, received: ["old"] })
        // At another service.
        const other = yield* afterwards(script, { identity: "another" })
        assert.deepStrictEqual(other, taken ? { ended: "OtherService", received: [] } : { ended: 0, received: ["old"] })
      })
    }
  }

  test("that may have been taken stays so when later tries are certainly not", function* () {
    const directory = yield* temporaryDirectory
    yield* attempt(directory, [{ status: 500 }])
    for (const [, script] of certain) yield* attempt(directory, script)
    const service = yield* ScriptedService.make(ScriptedService.obliging, honored)
    yield* submit(records(items(2)), { batch, guidelines: "new", newCampaign: true }).pipe(
      inProcess(directory, service.profile),
    )
    assert.deepStrictEqual(service.received.map(guidelinesOf), ["old", "new"])
  })

  for (const [status, what] of [
    [422, "refused"],
    [413, "said to be too large"],
  ] as const) {
    test(`that may have been taken, and is ${what} then, stays in doubt when later runs are told the same`, function* () {
      const directory = yield* temporaryDirectory
      yield* attempt(directory, ["reset", { status }])
      yield* attempt(directory, [{ status: 500 }])
      const service = yield* ScriptedService.make(() => ({ status }), honored)
      const again = submit(records(items(2)), { batch, guidelines: "old", resubmit: ["refused"] }).pipe(
        Effect.andThen(counts),
        inProcess(directory, service.profile),
      )
      for (const tries of [1, 2]) {
        assert.deepStrictEqual((yield* again).in_doubt, { tasks: 1, items: 2 })
        assert.strictEqual(service.received.length, tries)
      }
      assert.strictEqual(new Set(service.received.map(({ headers }) => headers["idempotency-key"])).size, 1)
    })
  }

  test("that is in doubt stays so while results are collected, where keys are honored, too", function* () {
    const directory = yield* temporaryDirectory
    const service = yield* ScriptedService.make(() => ({ status: 201, body: "{}" }), honored)
    yield* submit(records(items(2)), { batch }).pipe(inProcess(directory, service.profile))
    const issues = Ledger.use((ledger) => ledger.issues(9))
    const told = yield* issues.pipe(inProcess(directory, service.profile))
    assert.match(told[0]?.reason ?? "", /no task id/)
    const after = yield* Effect.andThen(collect({ once: true }), issues).pipe(inProcess(directory, service.profile))
    assert.deepStrictEqual(after, told)
  })

  /** One item per task. */
  const single = { maxPrompts: 1, maxBytes: 1_000_000 }

  test("whose id at the service another task has is in doubt, and no result counts as several votes", function* () {
    const directory = yield* temporaryDirectory
    const service = yield* ScriptedService.make(
      (request, before) => {
        if (request.method === "GET") return ScriptedService.obliging(request, before)
        // Equal requests are one task.
        const posts = [...before, request].filter(({ method }) => method === "POST")
        return { status: 201, body: { task_id: `task_${posts.findIndex(({ body }) => body === request.body)}` } }
      },
      { concurrency: 1 },
    )
    const { judgments, issues } = yield* Effect.gen(function* () {
      yield* submit(records(items(2)), { batch: single, votes: 3, shuffleSeed: false })
      yield* collect()
      const ledger = yield* Ledger
      return { judgments: yield* Stream.runCollect(Results.items()), issues: yield* ledger.issues(9) }
    }).pipe(inProcess(directory, service.profile))
    assert.deepStrictEqual(
      judgments.map((item) => item.judgments.map(({ taskId, vote }) => [taskId, vote])),
      [[["task_0", 1]], [["task_3", 1]]],
    )
    assert.deepStrictEqual(
      issues.map(({ number, reason, state, taskId }) => [number, state, taskId, reason]),
      [
        [2, "task_0", 1],
        [3, "task_0", 1],
        [5, "task_3", 4],
        [6, "task_3", 4],
      ].map(([number, id, owner]) => [
        number,
        "in_doubt",
        null,
        `the service answered with the task id ${id}, which task ${owner} already has: one result cannot count for two tasks`,
      ]),
    )
  })
})
