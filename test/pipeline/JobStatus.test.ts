import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import * as SqliteClient from "../../src/node/SqliteClient.ts"
import * as StatusSummary from "../../src/cli/output/StatusSummary.ts"
import * as JobStatus from "../../src/pipeline/JobStatus.ts"
import { Ledger } from "../../src/task/ledger/Ledger.ts"
import { testOver } from "../support/effectTest.ts"
import { claimAll, newTasks, plan, submitted } from "../task/support.ts"

const memory = SqliteClient.layer({ filename: ":memory:" })
const worker = Layer.provide(Ledger.layer({ shared: { by: "worker", name: "one" } }), memory)

const test = testOver(Layer.provide(Ledger.layer(), memory))

const hour = 3_600_000
const begun = Date.UTC(2026, 10, 2)

/** Ten tasks of ten items each, submitted at the beginning; looked at two minutes later. */
const job = Effect.andThen(
  TestClock.setTime(begun),
  submitted(
    Array.from({ length: 10 }, () => 10),
    120_000,
  ),
)

const complete = Effect.fnUntraced(function* (at: number, ...tasks: ReadonlyArray<number>) {
  const ledger = yield* Ledger
  yield* TestClock.setTime(begun + at)
  for (const i of tasks) yield* ledger.markCompleted(10 * i, "{}")
})

const statusAt = (at: number) => Effect.andThen(TestClock.setTime(begun + at), JobStatus.make(Option.none()))

describe("JobStatus", () => {
  test("of an empty ledger has nothing to tell", function* () {
    const status = yield* JobStatus.make(Option.none())
    assert.deepInclude(status, {
      campaigns: [],
      estimate: null,
      last_run: null,
      next_poll_at: null,
      oldest_outstanding: null,
      webhook: { deliveries: 0, last_at: null },
      running_process: null,
    })
    assert.deepInclude(status.results, { since: null, last_at: null, items_per_day: null })
    assert.strictEqual(status.status, "unfinished")
    const begun = yield* JobStatus.make(Option.some("unknown"))
    assert.strictEqual(begun.status, "waiting")
  })

  test("tells how long the oldest waits, and when the next look is: now, where it is due", function* () {
    yield* job
    const soon = yield* statusAt(60_000)
    assert.deepInclude(soon.oldest_outstanding!, { task_id: "task_0", age_seconds: 60 })
    assert.strictEqual(soon.next_poll_at, "2026-11-02T00:02:00.000Z")
    const later = yield* statusAt(hour)
    assert.deepStrictEqual([later.at, later.next_poll_at], ["2026-11-02T01:00:00.000Z", "2026-11-02T01:00:00.000Z"])
    yield* Ledger.use((ledger) => ledger.makeDue)
    assert.strictEqual((yield* statusAt(hour)).next_poll_at, "2026-11-02T01:00:00.000Z")
  })

  test("estimates the end from the last day, or the job's age where it is younger; not where nothing came in", function* () {
    yield* job
    assert.isNull((yield* statusAt(hour)).estimate)
    yield* complete(2 * hour, 0, 1)
    // 20 items in four hours: 80 more take sixteen.
    assert.deepStrictEqual((yield* statusAt(4 * hour)).estimate, {
      ends_at: "2026-11-02T20:00:00.000Z",
      seconds_left: 16 * 3600,
      items_left: 80,
      window_seconds: 4 * 3600,
      window_items: 20,
    })
    yield* complete(40 * hour, 2, 3, 4, 5)
    // 40 items in a day: 40 more take another; what came in two days ago does not count.
    const status = yield* statusAt(48 * hour)
    assert.deepInclude(status.estimate!, { seconds_left: 86_400, window_seconds: 86_400, window_items: 40 })
    assert.deepStrictEqual(status.results, {
      since: "2026-11-02T00:00:00.000Z",
      last_at: "2026-11-03T16:00:00.000Z",
      last_hour: { tasks: 0, items: 0 },
      last_day: { tasks: 4, items: 40 },
      items_per_day: 30,
    })
    assert.isNull((yield* statusAt(65 * hour)).estimate)
    yield* complete(65 * hour, 6, 7, 8, 9)
    const done = yield* statusAt(66 * hour)
    assert.deepStrictEqual([done.status, done.estimate, done.oldest_outstanding], ["done", null, null])
  })

  test("estimates nothing while no result has come for much longer than before", function* () {
    yield* job
    for (const i of [1, 2, 3, 4, 5]) yield* complete((i * hour) / 2, i)
    // Half an hour between two results.
    assert.strictEqual((yield* statusAt(7 * hour)).estimate?.items_left, 50)
    const status = yield* statusAt(8 * hour)
    assert.isNull(status.estimate)
    const text = StatusSummary.text(status, { directory: "job", given: "--dir job" })
    assert.match(text, /estimate +none: the last result arrived 5 h 30 min ago/)
    yield* complete(8.5 * hour, 6)
    assert.strictEqual((yield* statusAt(9 * hour)).estimate?.items_left, 40)
  })

  test("estimates between two polls whose results arrive together", function* () {
    yield* job
    yield* complete(60_000, 0, 1, 2, 3, 4)
    assert.strictEqual((yield* statusAt(10 * 60_000)).estimate?.items_left, 50)
  })

  test("estimates from the time that is waited since, not from a time in which there was nothing to judge", function* () {
    yield* job
    yield* complete(hour, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
    const ledger = yield* Ledger
    yield* TestClock.setTime(begun + 72 * hour)
    yield* plan(newTasks([100, 900], 100))
    yield* claimAll
    yield* ledger.markSubmitted(100, "task_100", 0)
    yield* ledger.markSubmitted(200, "task_200", 0)
    assert.isNull((yield* statusAt(72.5 * hour)).estimate)
    yield* TestClock.setTime(begun + 73 * hour)
    yield* ledger.markCompleted(100, "{}")
    // 100 items in an hour: 900 more take nine.
    assert.deepInclude((yield* statusAt(73 * hour)).estimate!, { seconds_left: 9 * 3600, window_seconds: 3600 })
  })

  test("estimates from results of the campaigns that are waited for alone", function* () {
    yield* job
    yield* complete(hour, 0, 1, 2, 3, 4, 5, 6, 7, 8)
    const ledger = yield* Ledger
    yield* ledger.markInvalid(90, "{}", "odd")
    yield* plan(newTasks([2, 2], 100), { guidelines: "Be brief.", newCampaign: true })
    yield* claimAll
    yield* ledger.markSubmitted(100, "task_a", 0)
    yield* ledger.markSubmitted(102, "task_b", 0)
    // A task of the first campaign, which nobody waits for any more, has a result after all.
    yield* TestClock.setTime(begun + 2 * hour)
    yield* ledger.markCompleted(90, "{}")
    assert.isNull((yield* statusAt(3 * hour)).estimate)
    yield* ledger.markCompleted(100, "{}")
    yield* TestClock.setTime(begun + 3 * hour)
    assert.deepInclude((yield* statusAt(3 * hour)).estimate ?? {}, { items_left: 2, window_items: 2 })
  })

  test("counts each campaign's tasks, and reports the last run's", function* () {
    const ledger = yield* Ledger
    yield* job
    yield* complete(hour, 0)
    yield* ledger.endRun(yield* plan(newTasks([2, 2]), { guidelines: "Be brief.", newCampaign: true }))
    const status = yield* statusAt(hour)
    assert.deepStrictEqual([status.campaign, status.read, status.submitted, status.not_submitted], [2, 4, 0, 4])
    assert.deepStrictEqual(
      status.campaigns.map(({ campaign, guidelines, tasks, task_type }) => [
        campaign,
        task_type,
        guidelines,
        tasks.completed.items,
        tasks.submitted.items,
        tasks.planned.items,
      ]),
      [
        [1, "rlhf_ranking", null, 10, 90, 0],
        [2, "rlhf_ranking", "Be brief.", 0, 0, 4],
      ],
    )
    assert.deepStrictEqual(status.tasks.completed, { tasks: 1, items: 10 })
    assert.deepInclude(status.last_run!, { run: 2, ended_at: "2026-11-02T01:00:00.000Z", read_finished: true })
  })

  test("tells of webhooks, and who works the ledger", function* () {
    const ledger = yield* Ledger
    yield* job
    yield* TestClock.setTime(begun + hour)
    yield* ledger.recordDelivery({ id: "a", sentAt: 1, taskIds: Option.none() })
    const holder = { pid: 7, host: "here", since: "2026-11-02T00:00:00.000Z" }
    const status = yield* JobStatus.make(Option.some(holder))
    assert.deepStrictEqual(status.webhook, { deliveries: 1, last_at: "2026-11-02T01:00:00.000Z" })
    assert.deepStrictEqual(status.running_process, holder)
  })

  testOver(worker)("tells of workers, and not of those whose job a process works alone since", function* () {
    const ledger = yield* Ledger
    yield* ledger.takePart(0)
    const holder = { pid: 7, host: "here", since: "2026-11-02T00:00:00.000Z" }
    const found = yield* Effect.forEach([{ ...holder, worker: true } as const, holder], (holder) =>
      Effect.map(JobStatus.make(Option.some(holder)), ({ shared_with_workers, workers }) => [
        shared_with_workers,
        workers.map(({ name }) => name),
      ]),
    )
    assert.deepStrictEqual(found, [
      [true, ["one"]],
      [false, []],
    ])
  })
})
