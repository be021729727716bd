/** What workers of one job must have of its ledger when they disturb one another. */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Clock, Context, Deferred, Effect, Fiber, Latch, Layer, Metric, Option, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ServiceProfile } from "../../../src/api/ServiceProfile.ts"
import * as PostgresLock from "../../../src/node/PostgresLock.ts"
import { collect } from "../../../src/task/Collect.ts"
import { AnnotationClient } from "../../../src/task/client/AnnotationClient.ts"
import * as SteadyClock from "../../../src/io/SteadyClock.ts"
import { Ledger } from "../../../src/task/ledger/Ledger.ts"
import * as ReaderLock from "../../../src/task/ledger/writes/ReaderLock.ts"
import * as RejectLimit from "../../../src/task/plan/RejectLimit.ts"
import { halve } from "../../../src/task/plan/TaskRequests.ts"
import { send } from "../../../src/task/Send.ts"
import * as Logs from "../../support/logs.ts"
import { describePostgres } from "../../support/describePostgres.ts"
import * as ScriptedService from "../../support/ScriptedService.ts"
import { platform } from "../../support/job.ts"
import { newTasks, plan } from "../support.ts"
import { twoWorkers } from "./workers.ts"
import { column } from "../../support/columns.ts"
import { effectTest } from "../../support/effectTest.ts"

describePostgres("two workers", (server) => {
  /** Two workers of one job of so many tasks, each task a part. */
  const two = Effect.fnUntraced(function* (tasks: number) {
    const workers = yield* twoWorkers(Redacted.make(server.url(server.newSchema())), tasks)
    const states = Effect.map(
      workers.sql<{ state: string; reason: string | null }>`SELECT state, reason FROM task ORDER BY seq`,
      (rows) => rows.map(({ reason, state }) => [state, reason]),
    )
    return { ...workers, states }
  })

  /** Waits until so many sessions wait for a lock. */
  const waiting = (sql: SqlClient.SqlClient, count = 1) =>
    Effect.repeat(sql`SELECT 1 FROM pg_locks WHERE NOT granted`, { until: (rows) => rows.length >= count })

  it.layer(NodeServices.layer)((it) => {
    const test = effectTest(it.effect)
    test("whose writes wait for one another's rows both get done", function* () {
      const { connect, one, sql } = yield* two(4)
      for (const part of [0, 1, 2, 3]) yield* one.takePart(part)
      const touch = (client: SqlClient.SqlClient, seq: number) => client`UPDATE task SET due_at = 7 WHERE seq = ${seq}`
      /** Takes the row, and gives what lets go of it. */
      const hold = Effect.fnUntraced(function* (seq: number) {
        const holder = yield* connect
        const [held, released] = [yield* Latch.make(), yield* Latch.make()]
        const fiber = yield* Effect.forkChild(
          holder.withTransaction(Effect.andThen(touch(holder, seq), Effect.andThen(held.open, released.await))),
        )
        yield* held.await
        return Effect.andThen(released.open, Fiber.join(fiber))
      })
      // The first group waits, so that what follows is one; that one waits with the row of task 0, before it takes that of task 1.
      const [releaseFirst, releaseSecond] = [yield* hold(3), yield* hold(2)]
      const writes = yield* Effect.forEach([3, 0, 2, 1], (seq) =>
        Effect.forkChild(one.postpone(seq, 0), { startImmediately: true }),
      )
      const rival = yield* connect
      yield* rival.withTransaction(
        Effect.gen(function* () {
          // The other one is to notice, and to lose.
          yield* rival`SET LOCAL deadlock_timeout = '1h'`
          yield* touch(rival, 1)
          yield* waiting(sql)
          yield* releaseFirst
          yield* waiting(sql)
          const blocked = yield* Effect.forkChild(touch(rival, 0))
          yield* waiting(sql, 2)
          yield* releaseSecond
          yield* Fiber.join(blocked)
        }),
      )
      yield* Fiber.joinAll(writes)
      assert.deepStrictEqual(
        column(yield* sql<{ due: number }>`SELECT due_at AS due FROM task ORDER BY seq`, "due"),
        [0, 0, 0, 0],
      )
    })

    test("of which one plans again what the other has just got a result of: the result stays", function* () {
      const { connect, one, sql, states } = yield* two(2)
      yield* sql`UPDATE task SET state = 'failed', task_id = 'task_' || seq`
      const rival = yield* connect
      const campaign = (yield* sql<{ campaign: number }>`SELECT campaign FROM task`)[0]!.campaign
      const replanned = yield* rival.withTransaction(
        Effect.gen(function* () {
          yield* rival`UPDATE task SET state = 'completed' WHERE seq = 0`
          const fiber = yield* Effect.forkChild(one.replan(campaign, ["failed"], 9))
          // It has read both as failed.
          yield* waiting(sql)
          return fiber
        }),
      )
      assert.strictEqual(yield* Fiber.join(replanned), 1)
      assert.deepStrictEqual(yield* states, [
        ["completed", null],
        ["planned", null],
      ])
      // Nor does an answer that was read before the result came.
      yield* one.markOpen(0, "task_0")
      assert.deepStrictEqual((yield* states)[0], ["completed", null])
    })

    test("of which one took a part late: who is to work it takes it again", function* () {
      const { one, other } = yield* two(1)
      const logs = Logs.make()
      yield* one.takePart(0)
      yield* Effect.scoped(other.takePart(0))
      const [task] = yield* one.plannedAfter(-1)
      for (let renewal = 0; renewal < 3; renewal++) {
        assert.isFalse(yield* one.claim(task!), `before renewal ${renewal}`)
        yield* logs.during(one.renewParts(0, 0, 2))
      }
      assert.isTrue(yield* one.claim(task!))
      assert.deepStrictEqual(logs.messages, [
        "this worker took over part 0 of the job from another worker, which is probably suspended",
      ])
      yield* logs.during(one.renewParts(0, 0, 2))
      assert.strictEqual(logs.messages.length, 1)
    })

    test("know whether the service answers the other", function* () {
      const { one, other } = yield* two(1)
      yield* one.takePart(0)
      yield* other.takePart(1)
      assert.isFalse(yield* one.othersAnsweredWithin(60_000))
      yield* other.renewParts(0, 61_000, 9)
      assert.isFalse(yield* one.othersAnsweredWithin(60_000))
      assert.isTrue(yield* one.othersAnsweredWithin(90_000))
      yield* other.renewParts(0, 1_000, 9)
      assert.isTrue(yield* one.othersAnsweredWithin(60_000))
      assert.isFalse(yield* other.othersAnsweredWithin(60_000))
    })

    test("are seen by the database's clock, whatever their own", function* () {
      // The test's clock says that it is 1970.
      const { one } = yield* two(1)
      yield* one.takePart(0)
      yield* one.renewParts(5_000, 0, 9)
      const [worker] = yield* one.workers
      assert.isBelow(worker!.renewedAgo, 5_000)
      assert.isAtLeast(worker!.progressedAgo, 5_000)
      assert.isBelow(worker!.progressedAgo, 10_000)
    })

    test("each have tasks that are to be sent or polled now", function* () {
      const { one, other, sql } = yield* two(5)
      for (const part of [-1, 0, 1, 2]) yield* one.takePart(part)
      for (const part of [3, 4]) yield* other.takePart(part)
      const due = Effect.map(one.workers, (workers) => workers.map(({ due, name, parts }) => [name, parts, due]))
      assert.deepStrictEqual(yield* due, [
        ["one", 3, 3],
        ["other", 2, 2],
      ])
      yield* sql`UPDATE task SET state = 'submitted', due_at = 100 WHERE seq > 0`
      yield* sql`UPDATE task SET state = 'completed' WHERE seq = 4`
      assert.deepStrictEqual(yield* due, [
        ["one", 3, 1],
        ["other", 2, 0],
      ])
      yield* TestClock.setTime(100)
      assert.deepStrictEqual(yield* due, [
        ["one", 3, 3],
        ["other", 2, 1],
      ])
    })

    test("send half as many requests after a refusal for load, however many were refused at once", function* () {
      const { one, other, sql } = yield* two(1)
      const hour = 3_600_000
      const ask = other.takeSlots(1, 1 / 3600)
      const before = yield* ask
      assert.strictEqual(Math.round(before.spacing), hour)
      assert.strictEqual(Option.getOrThrow(yield* one.budget).rateShare, 1)
      for (const ledger of [one, other]) yield* ledger.slowRequests(before.halvings)
      assert.isBelow(Option.getOrThrow(yield* one.budget).rateShare, 1)
      const after = yield* ask
      assert.strictEqual(after.halvings, before.halvings + 1)
      // It recovers meanwhile.
      assert.isAbove(after.spacing, hour * 1.2)
      assert.isBelow(after.spacing, hour * 2.01)
      yield* sql`UPDATE budget SET cut_at = cut_at - 30000`
      assert.isBelow((yield* ask).spacing, hour * 1.01)
      // The clock was set back.
      yield* sql`UPDATE budget SET cut_at = cut_at + ${hour}`
      assert.closeTo((yield* ask).spacing, hour, hour / 100)
    })

    it.effect(
      "each look once more at all their tasks after a delivery that names none, also at those being polled",
      () =>
        Effect.gen(function* () {
          const { one, other } = yield* two(2)
          for (const [part, ledger] of [one, other].entries()) {
            yield* ledger.takePart(part)
            const [task] = yield* ledger.plannedAfter(-1)
            yield* ledger.claim(task!)
            yield* ledger.markSubmitted(part, `task_${part}`, 3_600_000)
          }
          const due = (ledger: (typeof Ledger)["Service"], underWay: ReadonlyArray<string> = []) =>
            Effect.map(ledger.due(10, Option.none(), new Set(underWay)), ({ tasks }) =>
              tasks.map(({ taskId }) => taskId),
            )
          assert.deepStrictEqual([yield* due(one), yield* due(other)], [[], []])
          yield* one.recordDelivery({ id: "1", sentAt: 1, taskIds: Option.none() })
          // The other's task is being polled, and the answer to that comes from before the delivery.
          assert.deepStrictEqual([yield* due(one), yield* due(other, ["task_1"])], [["task_0"], ["task_1"]])
          for (const [part, ledger] of [one, other].entries()) yield* ledger.postpone(part, 3_600_000)
          assert.deepStrictEqual([yield* due(one), yield* due(other)], [[], ["task_1"]])
          yield* other.postpone(1, 3_600_000)
          assert.deepStrictEqual([yield* due(one), yield* due(other)], [[], []])
          // Whoever takes the part does not know whether its last owner looked.
          yield* one.takePart(1)
          assert.deepStrictEqual(yield* due(one), ["task_0", "task_1"])
        }),
    )

    test("record deliveries while another receiver removes the same old ones", function* () {
      const { one, sql } = yield* two(1)
      const long = 24 * 3_600_000
      for (const id of ["a", "b"]) {
        yield* one.recordDelivery({ id, sentAt: 1, taskIds: Option.some([`task_${id}`]) })
      }
      yield* TestClock.setTime(long)
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`DELETE FROM delivery WHERE delivery_id = 'a'`
          yield* sql`DELETE FROM hint WHERE task_id = 'task_a'`
          yield* one.recordDelivery({ id: "c", sentAt: 1, taskIds: Option.some(["task_c"]) })
        }),
      )
      assert.deepStrictEqual(yield* sql`SELECT delivery_id FROM delivery`, [{ delivery_id: "c" }])
      assert.deepStrictEqual(yield* sql`SELECT task_id FROM hint`, [{ task_id: "task_c" }])
    })

    /** One task of two items, claimed by the first of two workers. */
    const claimed = Effect.gen(function* () {
      const { one, other, ...rest } = yield* two(0)
      const [whole] = newTasks([2])
      yield* plan([whole!]).pipe(Effect.provideService(Ledger, other))
      yield* one.takePart(0)
      const claim = Effect.flatMap(one.plannedAfter(-1), ([task]) => one.claim(task!))
      yield* claim
      const split = Effect.flatMap(one.request(0), (request) => one.split(0, halve(request, 1)))
      return { one, other, whole: whole!, claim, split, ...rest }
    })

    test("of which one splits what the other planned: each sends the halves", function* () {
      const { other, split, whole } = yield* claimed
      yield* split
      yield* other.takePart(0)
      const body = yield* other.requestBody(0)
      assert.isBelow(body.length, whole.body.length)
      assert.deepStrictEqual(Buffer.from(body), Buffer.from((yield* other.request(0)).body))
    })

    test("of which one gives back or splits a task after the other has begun a campaign: it stays unsent", function* () {
      const { claim, one, other, split, sql, states } = yield* claimed
      const superseded = ["superseded", "campaign 2 began before it was sent"]
      yield* other.startRun({ guidelines: "others", newCampaign: true })
      yield* one.release(0)
      assert.deepStrictEqual(yield* states, [superseded])
      // At the same time.
      yield* other.startRun({ newCampaign: true })
      assert.isTrue(yield* claim)
      const released = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SELECT 1 FROM job FOR UPDATE`
          const released = yield* Effect.forkChild(one.release(0))
          yield* waiting(sql)
          yield* sql`INSERT INTO run (job, run, campaign, started_at) VALUES (1, 99, 2, 0)`
          return released
        }),
      )
      yield* Fiber.join(released)
      assert.deepStrictEqual(yield* states, [superseded])
      yield* other.startRun({ newCampaign: true })
      assert.isTrue(yield* claim)
      yield* one.release(0)
      assert.deepStrictEqual(yield* states, [["planned", null]])
      assert.isTrue(yield* claim)
      yield* other.startRun({ guidelines: "others", newCampaign: true })
      yield* split
      assert.deepStrictEqual(yield* states, [superseded, superseded])
    })

    test("count a task in the state that it came to, and not what came too late", function* () {
      const { one, other, sql } = yield* two(2)
      yield* one.takePart(0)
      yield* one.claim((yield* one.plannedAfter(-1))[0]!)
      yield* other.takePart(0)
      // The clock was set back since.
      yield* sql`UPDATE task SET claim_until = claim_until + 3600000`
      const tasks = Effect.map(Metric.snapshot, (metrics) =>
        Object.fromEntries(
          metrics.flatMap(({ attributes, id, state }) =>
            id === "prefstream_tasks_total"
              ? [[attributes?.["state"], (state as { readonly count: number }).count]]
              : [],
          ),
        ),
      )
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* other.settleAbandoned("in_doubt", 60_000), 1)
        assert.deepStrictEqual(yield* tasks, { in_doubt: 1 })
        yield* one.markSubmitted(0, "task_0", 0)
        assert.deepStrictEqual(yield* tasks, { in_doubt: 1, submitted: 1 })
        yield* one.markSubmitted(0, "task_0", 0)
        yield* one.markRefused(0, "no")
        yield* other.sendAgain([1]).pipe(Effect.flip)
        yield* other.giveUp([1])
        yield* one.markCompleted(0, "{}", "task_0")
        yield* one.markInvalid(0, "{}", "odd", "task_0")
        yield* one.markFailed(0, "gone", "task_0")
        assert.deepStrictEqual(yield* tasks, { in_doubt: 1, submitted: 1 })
      }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
    })

    test("of which one is interrupted just when the lock for reading is taken let the other read", function* () {
      const { connect } = yield* two(1)
      const [sql, other] = [yield* connect, yield* connect]
      const taken = yield* Latch.make()
      const withTransaction = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.tap(sql.withTransaction(effect), () => Effect.andThen(taken.open, Effect.yieldNow))
      const interrupted = Object.assign(sql.bind(undefined), sql, { withTransaction })
      const reading = yield* Effect.forkChild(Effect.scoped(ReaderLock.acquire(interrupted, "night", "worker")))
      yield* taken.await
      yield* Fiber.interrupt(reading)
      assert.isTrue(yield* PostgresLock.tryTake(other, "night reader"))
    })

    test("both know that webhooks arrive", function* () {
      const { other } = yield* two(1)
      assert.deepStrictEqual(yield* other.lastDelivery, Option.none())
      yield* other.onNotification("planned")
      assert.deepStrictEqual(yield* other.lastDelivery, Option.none())
      yield* other.onNotification("hinted")
      assert.deepStrictEqual(yield* other.lastDelivery, Option.some(yield* SteadyClock.now))
    })

    test("that are given the same id for two tasks hold the second in doubt", function* () {
      const { one, other, sql, states } = yield* two(2)
      for (const [part, ledger] of [one, other].entries()) {
        yield* ledger.takePart(part)
        yield* ledger.claim((yield* ledger.plannedAfter(-1))[0]!)
      }
      // The first is recorded, and not committed, when the second looks for its id.
      const recorded = yield* Deferred.make<void>()
      const released = yield* Latch.make()
      const first = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`UPDATE task SET state = 'submitted', task_id = 'same' WHERE seq = 0`
            yield* Deferred.succeed(recorded, undefined)
            yield* released.await
          }),
        ),
      )
      yield* Deferred.await(recorded)
      const second = yield* Effect.forkChild(other.markSubmitted(1, "same", 0), { startImmediately: true })
      yield* waiting(sql)
      yield* released.open
      yield* Fiber.join(first)
      assert.isTrue(Option.isSome(yield* Fiber.join(second)))
      const [, [state, reason] = []] = yield* states
      assert.strictEqual(state, "in_doubt")
      assert.match(reason ?? "", /^the service answered with the task id same, which task 1 already has/)
    })
  })

  for (const [what, answer] of [
    ["that it is open", { status: 200, body: { task_id: "task_0", status: "in_progress" } }],
    ["that it does not know it", { status: 404 }],
    ["nothing of use", { status: 503 }],
  ] as const) {
    it.live(`send a task that a person has sent again while the service was asked for it, and says ${what}`, () =>
      Effect.gen(function* () {
        const { one, other } = yield* two(1)
        yield* one.takePart(0)
        yield* one.claim((yield* one.plannedAfter(-1))[0]!)
        yield* one.markSubmitted(0, "task_0", 0)
        yield* one.markFailed(0, "gone", "task_0")
        const context = yield* Effect.context()
        const service = yield* ScriptedService.make(
          async () => {
            await Effect.runPromiseWith(context)(Effect.ignore(other.sendAgain([1])))
            return answer
          },
          { retries: 0 },
        )
        yield* collect({ once: true }).pipe(
          Effect.provide(Layer.provideMerge(AnnotationClient.layer, service.profile)),
          Effect.provideService(Ledger, one),
        )
        assert.isTrue(yield* one.isDue)
        assert.deepStrictEqual(column(yield* one.plannedAfter(-1), "seq"), [0])
      }).pipe(Effect.scoped, Effect.provide(platform)),
    )
  }

  for (const [what, keys, sentAgo, expected] of [
    [
      "planned to be sent again, where keys are ignored now",
      "ignored",
      0,
      /if the service ignores the Idempotency-Key, resending/,
    ],
    ["planned to be sent again, under a key that may be forgotten", "honored", 25 * 3_600_000, /may have forgotten/],
  ] as const) {
    it.live(`hold a task in doubt that was ${what}`, () =>
      Effect.gen(function* () {
        const { one, sql, states } = yield* two(1)
        yield* sql`UPDATE task SET sent_at = ${(yield* Clock.currentTimeMillis) - sentAgo}`
        yield* one.takePart(0)
        const service = yield* ScriptedService.make(ScriptedService.obliging, { idempotencyKey: keys })
        const profile = yield* Layer.build(service.profile)
        const halt = yield* Deferred.make<never, never>()
        yield* send(yield* Latch.make(true), halt as never, RejectLimit.counter(undefined)).pipe(
          Effect.provide(
            Layer.provide(AnnotationClient.layer, Layer.succeed(ServiceProfile, Context.get(profile, ServiceProfile))),
          ),
          Effect.provideService(ServiceProfile, Context.get(profile, ServiceProfile)),
          Effect.provideService(Ledger, one),
        )
        assert.deepStrictEqual(service.received, [])
        const [[state, reason] = []] = yield* states
        assert.strictEqual(state, "in_doubt")
        assert.match(reason ?? "", expected)
      }).pipe(Effect.scoped, Effect.provide(platform)),
    )
  }
})
