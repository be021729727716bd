import { assert, describe, it } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { Duration, Effect, Fiber, Latch, type Layer, Option, Redacted, type Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { defaults, type ServiceSettings } from "../../src/api/ServiceProfile.ts"
import { collect, pollDelay } from "../../src/task/Collect.ts"
import * as Results from "../../src/task/Results.ts"
import { Ledger } from "../../src/task/ledger/Ledger.ts"
import { submit } from "../../src/task/Submit.ts"
import { items, records } from "../support/items.ts"
import { inProcess, platform, temporaryDirectory, test } from "../support/job.ts"
import * as Logs from "../support/logs.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import * as VirtualTime from "../support/virtualTime.ts"
import * as WallClock from "../support/wallClock.ts"
import { submitted as outstanding } from "./support.ts"

const batch = { maxPrompts: 2, maxBytes: 1_000_000 }

const ledgerState = Ledger.use((ledger) => Effect.all({ counts: ledger.counts, issues: ledger.issues(10) }))
const judgments = Stream.runCollect(Results.ofCampaign())
const collectAll = Effect.gen(function* () {
  yield* collect({ submittingDone: yield* Latch.make(true) })
})
const gets = (service: ScriptedService.ScriptedService) => service.received.filter(({ method }) => method === "GET")

/** Six items in three tasks, and a service that answers a GET as the test says. */
const submitted = Effect.fnUntraced(function* (
  answer: (taskId: string, seen: number, before: ReadonlyArray<ScriptedService.Received>) => ScriptedService.Answer,
  settings: Partial<ServiceSettings> = {},
) {
  const directory = yield* temporaryDirectory
  const service = yield* ScriptedService.make(
    (request, before) => {
      if (request.method === "POST") return ScriptedService.obliging(request, before)
      const seen = before.filter(({ method, path }) => method === "GET" && path === request.path).length
      return answer(request.path.split("/").at(-1)!, seen, before)
    },
    { retries: 1, concurrency: 1, ...settings },
  )
  const process = inProcess(directory, service.profile)
  yield* submit(records(items(6)), { batch, shuffleSeed: false }).pipe(process)
  return { service, process }
})

const testInVirtualTime = (
  name: string,
  body: () => Effect.fn.Return<void, unknown, Scope.Scope | Layer.Success<typeof NodeServices.layer>>,
) => it.effect(name, () => Effect.gen(body).pipe(Effect.provide(NodeServices.layer)))

describe("collect", () => {
  test("goes on at its intervals where the clock is set back by an hour", function* () {
    const wall = yield* WallClock.make
    const { process, service } = yield* submitted((taskId, seen, before) => {
      if (before.length === 4) wall.setBack(3_600_000)
      return seen < 3
        ? { status: 200, body: { task_id: taskId, status: "in_progress" } }
        : ScriptedService.completedBy(before, taskId, 1)
    })
    // Until its timeout, if polls wait for the wall clock.
    const found = yield* wall.provide(collectAll.pipe(Effect.andThen(judgments), process))
    assert.strictEqual(found.length, 6)
    assert.strictEqual(gets(service).length, 12)
  })

  test("warns at the first answer in which an expert has judged an item again, whichever process collected the other", function* () {
    // By task: who judged its two prompts, as a list of votes or for the result.
    const experts = [
      ["ann", "bob"],
      ["bob", "ann"],
      ["ann", "ann"],
    ]
    let done = 0
    const service = yield* ScriptedService.make(
      (request, before) => {
        if (request.method === "POST") return ScriptedService.obliging(request, before)
        const taskId = request.path.split("/").at(-1)!
        const n = Number(taskId.at(-1))
        if (n >= done) return { status: 200, body: { task_id: taskId, status: "in_progress" } }
        const { results, ...body } = ScriptedService.resultOf(before, taskId)
        const judged = results.map((result, i) => {
          const expert = experts[n]![i]!
          const annotations = n === 0 ? { expert } : { votes: [{ expert, choice: 0 }] }
          return { ...result, annotations }
        })
        // In another order than they were sent.
        return { status: 200, body: { ...body, results: judged.toReversed() } }
      },
      { retries: 1, concurrency: 1 },
    )
    const process = inProcess(yield* temporaryDirectory, service.profile)
    yield* submit(records(items(2)), { batch, votes: 3, shuffleSeed: false }).pipe(process)
    const repeats = Effect.fnUntraced(function* (tasks: number) {
      done = tasks
      const logs = Logs.make()
      yield* collect({ once: true }).pipe(process, logs.during)
      return logs.messages.filter((message) => message.includes("judged"))
    })
    assert.deepStrictEqual(yield* repeats(2), [])
    const [warning, sum, ...others] = yield* repeats(3)
    assert.match(warning!, /^task_2: ann already judged "prompt [01]" in task_[01]\. .*stop the run\. Then set fewer/)
    assert.match(sum!, /^2 votes do not count/)
    assert.deepStrictEqual(others, [])
  })

  test("records a result that the service changed, and has a withdrawn one judged again, but keeps what it loses", function* () {
    let now: (taskId: string, before: ReadonlyArray<ScriptedService.Received>) => ScriptedService.Answer = (
      taskId,
      before,
    ) => ScriptedService.completedBy(before, taskId, 0)
    const { process, service } = yield* submitted((taskId, _, before) => now(taskId, before))
    const recheck = Effect.andThen(collect({ once: true, recheckCompleted: true }), judgments).pipe(process)
    const choices = (found: Effect.Success<typeof judgments>) => found.map((one) => one.bestCompletionIndex)
    assert.deepStrictEqual(choices(yield* recheck), [0, 0, 0, 0, 0, 0])
    const seen = gets(service).length
    yield* collect({ once: true }).pipe(process)
    assert.strictEqual(gets(service).length, seen)

    now = (taskId, before) => ScriptedService.completedBy(before, taskId, taskId === "task_1" ? 1 : 0)
    assert.deepStrictEqual(choices(yield* recheck), [0, 0, 1, 1, 0, 0])

    now = (taskId) =>
      taskId === "task_0"
        ? { status: 404, body: { detail: "no such task" } }
        : taskId === "task_1"
          ? { status: 200, body: { task_id: taskId, status: "cancelled" } }
          : { status: 200, body: { task_id: taskId, status: "in_progress" } }
    const logs = Logs.make()
    assert.deepStrictEqual(choices(yield* recheck.pipe(logs.during)), [0, 0, 1, 1])
    assert.include(logs.messages.join("\n"), "task_0 keeps its earlier result")
    const { counts } = yield* ledgerState.pipe(process)
    assert.deepStrictEqual([counts.completed.tasks, counts.submitted.tasks, counts.failed.tasks], [2, 1, 0])

    // A webhook says the same of one task.
    now = (taskId, before) => ScriptedService.completedBy(before, taskId, 1)
    const hinted = Effect.gen(function* () {
      yield* (yield* Ledger).recordDelivery({ id: "msg_1", sentAt: 0, taskIds: Option.some(["task_0"]) })
      yield* collect()
      return yield* judgments
    })
    assert.deepStrictEqual(choices(yield* hinted.pipe(process)), [1, 1, 1, 1, 1, 1])
  })

  test("does not let a slow task hold up the others", function* () {
    const { process, service } = yield* submitted(
      (taskId, seen, before) =>
        taskId === "task_0"
          ? { status: 425 }
          : seen < 2
            ? { status: 200, body: { task_id: taskId, status: "in_progress" } }
            : ScriptedService.completedBy(before, taskId),
      { concurrency: 2 },
    )
    const { counts } = yield* Effect.gen(function* () {
      const collecting = yield* Effect.forkChild(collect())
      const ledger = yield* Ledger
      yield* Effect.repeat(Effect.andThen(Effect.yieldNow, ledger.counts), {
        until: ({ completed }) => completed.tasks === 2,
      })
      yield* Fiber.interrupt(collecting)
      return yield* ledgerState
    }).pipe(process)
    assert.strictEqual(counts.submitted.tasks, 1)
    assert.isAtLeast(gets(service).length, 3)
  })
})

describe("collect, once", () => {
  for (const [age, state] of [
    ["30 seconds", "submitted"],
    ["2 minutes", "failed"],
  ] as const) {
    it.effect(`a task that the service does not know is ${state} when it was submitted ${age} ago`, () =>
      Effect.gen(function* () {
        const service = yield* ScriptedService.make(() => ({ status: 404 }))
        const { counts } = yield* Effect.gen(function* () {
          yield* outstanding(1)
          yield* TestClock.adjust(age)
          yield* collect({ once: true })
          return yield* ledgerState
        }).pipe(inProcess(yield* temporaryDirectory, service.profile), Logs.make().during)
        assert.strictEqual(counts[state].tasks, 1)
      }).pipe(Effect.provide(platform)),
    )
  }
})

describe("collect, while webhook deliveries arrive", () => {
  testInVirtualTime("polls slower, and as before an hour after the last one", function* () {
    const time = yield* VirtualTime.make
    const looks: Array<number> = []
    const service = yield* ScriptedService.make(
      (_, before) => {
        looks.push(time.now())
        return { status: 200, body: { task_id: "task_0", status: before.length < 16 ? "in_progress" : "failed" } }
      },
      { pollInterval: { min: "2 seconds", max: "5 minutes" } },
    )
    yield* Effect.gen(function* () {
      yield* outstanding(1, 2_000)
      const ledger = yield* Ledger
      yield* ledger.recordDelivery({ id: "msg_0", sentAt: 0, taskIds: Option.some(["task_0"]) })
      yield* time.run(collect(), "1 second")
    }).pipe(inProcess(yield* temporaryDirectory, service.profile), Effect.provide(time.httpClient))
    const gaps = looks.slice(1).map((at, i) => ({ from: looks[i]!, gap: at - looks[i]! }))
    const slow = gaps.filter(({ from }) => from < 3_600_000)
    assert.isAtLeast(slow.length, 4)
    for (const { from, gap } of slow) {
      assert.isAtLeast(gap, 0.8 * Math.max(300_000, from / 2))
      assert.isAtMost(gap, 1.2 * Math.max(300_000, from / 2) + 60_000)
    }
    const after = gaps.filter(({ from }) => from >= 3_600_000)
    assert.isAtLeast(after.length, 4)
    for (const { gap } of after) assert.isAtMost(gap, 1.2 * 300_000 + 60_000)
  })

  const busy = (status: number) => ({ status, headers: { "retry-after": "1" } })
  const pending = { status: 200, body: { task_id: "task_0", status: "pending" } }
  for (const [what, status, earlier, min] of [
    ["429 after polls that failed, too", 429, busy(429), "2 seconds"],
    ["429 where polls are rare", 429, pending, "5 minutes"],
    ["503 where polls are rare", 503, pending, "5 minutes"],
  ] as const) {
    testInVirtualTime(`polls a task that a delivery names soon again after ${what}`, function* () {
      const time = yield* VirtualTime.make
      const looks: Array<number> = []
      let hintedAt = Infinity
      const afterHint = () => looks.filter((at) => at >= hintedAt)
      const service = yield* ScriptedService.make(
        () => {
          looks.push(time.now())
          const polls = afterHint().length
          if (polls === 0) return earlier
          return polls < 3 ? busy(status) : { status: 200, body: { task_id: "task_0", status: "failed" } }
        },
        { pollInterval: { min, max: "5 minutes" } },
      )
      yield* Effect.gen(function* () {
        yield* outstanding(1, 2_000)
        const ledger = yield* Ledger
        const deliver = Effect.gen(function* () {
          yield* Effect.sleep("1 hour")
          hintedAt = time.now()
          yield* ledger.recordDelivery({ id: "msg_0", sentAt: 0, taskIds: Option.some(["task_0"]) })
        })
        yield* time.run(Effect.all([collect(), deliver], { concurrency: 2 }), "1 second")
      }).pipe(
        inProcess(yield* temporaryDirectory, service.profile),
        Effect.provide(time.httpClient),
        Logs.make().during,
      )
      const [first, , last, ...more] = afterHint()
      assert.deepStrictEqual(more, [])
      assert.isAtMost(last! - first!, 20_000)
    })
  }

  test("follows a hint before what polling had made due, of which it has a page in hand", function* () {
    const answered = Promise.withResolvers<void>()
    const service = yield* ScriptedService.make(
      async ({ path }, before) => {
        const taskId = path.split("/").at(-1)
        if (before.length === 0) await answered.promise
        return { status: 200, body: { task_id: taskId, status: "cancelled" } }
      },
      { concurrency: 1 },
    )
    yield* Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* outstanding(40)
      const collecting = yield* Effect.forkChild(collect())
      yield* Effect.repeat(Effect.yieldNow, { until: () => service.received.length > 0 })
      yield* ledger.recordDelivery({ id: "msg_0", sentAt: 0, taskIds: Option.some(["task_33"]) })
      answered.resolve()
      yield* Fiber.join(collecting)
    }).pipe(inProcess(yield* temporaryDirectory, service.profile))
    const looks = service.received.map(({ path }) => path.split("/").at(-1))
    assert.deepStrictEqual(looks.slice(0, 3), ["task_0", "task_33", "task_1"])
    assert.strictEqual(looks.length, 40)
  })
})

describe("collect, with more tasks than its requests suffice for", () => {
  const many = 100

  testInVirtualTime(
    "looks at what is longest due first, starves none, keeps to its rate, and says that it is late",
    function* () {
      const time = yield* VirtualTime.make
      const logs = Logs.make()
      const looks: Array<{ readonly task: string; readonly at: number }> = []
      const service = yield* ScriptedService.make(
        ({ path }) => {
          looks.push({ task: path.split("/").at(-1)!, at: time.now() })
          return { status: 200, body: { status: looks.length < 4 * many ? "in_progress" : "failed" } }
        },
        { pollInterval: { min: "2 seconds", max: "20 seconds" }, requestsPerSecond: 2, concurrency: 4 },
      )
      yield* Effect.gen(function* () {
        yield* outstanding(many, (i) => (i * 7919) % many)
        yield* time.run(collect(), "500 millis")
      }).pipe(inProcess(yield* temporaryDirectory, service.profile), Effect.provide(time.httpClient), logs.during)
      const byDueTime = Array.from({ length: many }, (_, i) => ({ i, due: (i * 7919) % many }))
        .toSorted((a, b) => a.due - b.due)
        .map(({ i }) => `task_${i}`)
      // Four are under way at once, and may overtake each other by as many.
      for (const [i, { task }] of looks.slice(0, many).entries()) {
        assert.isAtMost(Math.abs(byDueTime.indexOf(task) - i), 8, task)
      }
      // A round takes 50 seconds where 20 were wanted; nobody waits for two.
      const last = new Map<string, number>()
      for (const { at, task } of looks) {
        assert.isAtMost(at - (last.get(task) ?? 0), 100_000)
        last.set(task, at)
      }
      for (let i = 2; i < looks.length; i++) assert.isAtLeast(looks[i]!.at - looks[i - 2]!.at, 1000)
      assert.deepStrictEqual(
        logs.messages.filter((message) => message.includes("arrive late")),
        [
          "results arrive late, because the limits are too low to poll each unfinished task every 20s (2 requests per second, 4 concurrent requests). Raise `requestsPerSecond`, raise `pollInterval.max` to poll less often, or receive webhooks (`webhook`)",
        ],
      )
    },
  )

  testInVirtualTime("goes on looking while much is submitted, and on submitting while much is due", function* () {
    const time = yield* VirtualTime.make
    const methods: Array<string> = []
    const service = yield* ScriptedService.make(
      (request, before) => {
        methods.push(request.method)
        if (request.method === "POST") return ScriptedService.obliging(request, before)
        return { status: 200, body: { status: methods.length < 200 ? "in_progress" : "failed" } }
      },
      { pollInterval: { min: "1 second", max: "2 seconds" }, requestsPerSecond: 10, concurrency: 4 },
    )
    yield* Effect.gen(function* () {
      const submittingDone = yield* Latch.make()
      const both = Effect.all(
        [
          submit(records(items(100)), { batch: { maxPrompts: 1, maxBytes: 1_000_000 } }).pipe(
            Effect.ensuring(submittingDone.open),
          ),
          collect({ submittingDone }),
        ],
        { concurrency: 2 },
      )
      yield* time.run(both, "100 millis")
    }).pipe(inProcess(yield* temporaryDirectory, service.profile), Effect.provide(time.httpClient), Logs.make().during)
    const lastPost = methods.lastIndexOf("POST")
    const during = methods.slice(20, lastPost)
    const share = during.filter((method) => method === "GET").length / during.length
    assert.isAtLeast(share, 0.2)
    assert.isAtMost(share, 0.3)
  })
})

describe("nextLook", () => {
  const profile = {
    ...defaults,
    baseUrl: "",
    token: Redacted.make(""),
    pollInterval: { min: "2 seconds", max: "5 minutes" },
  } as const
  it("is half the task's age, within the bounds", () => {
    assert.strictEqual(pollDelay(profile, 0), 2_000)
    assert.strictEqual(pollDelay(profile, 60_000), 30_000)
    assert.strictEqual(pollDelay(profile, Duration.toMillis("3 days")), 300_000)
  })
})
