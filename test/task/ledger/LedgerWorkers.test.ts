/** What workers of one job must have of its ledger when they disturb one another. */
import { NodeServices } from "@effect/platform-node"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Clock, Context, Deferred, Effect, Fiber, Latch, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ServiceProfile } from "../../../src/api/ServiceProfile.ts"
import * as PostgresClient from "../../../src/node/PostgresClient.ts"
import { AnnotationClient } from "../../../src/task/client/AnnotationClient.ts"
import { Ledger } from "../../../src/task/ledger/Ledger.ts"
import * as RejectLimit from "../../../src/task/plan/RejectLimit.ts"
import { send } from "../../../src/task/Send.ts"
import * as Logs from "../../support/logs.ts"
import { notInstalled, Server } from "../../support/postgres.ts"
import * as ScriptedService from "../../support/ScriptedService.ts"
import { platform } from "../../support/job.ts"
import { newTasks, plan } from "../support.ts"

describe.skipIf(notInstalled)("two workers", () => {
  let server: Server
  beforeAll(async () => {
    server = await Server.make()
  })
  afterAll(() => server.close())

  /** Two workers of one job of so many tasks, each task a part. */
  const two = Effect.fnUntraced(function* (tasks: number) {
    const url = Redacted.make(server.url(server.newSchema()))
    const open = (name: string) =>
      Effect.map(Layer.build(Ledger.layerPostgres({ url, shared: { by: "worker", name } })), (context) =>
        Context.get(context, Ledger),
      )
    const [one, other] = [yield* open("one"), yield* open("other")]
    yield* plan(newTasks(Array.from({ length: tasks }, () => 1))).pipe(Effect.provideService(Ledger, one))
    const connect = Effect.map(Layer.build(Layer.fresh(PostgresClient.layer({ url }))), (context) =>
      Context.get(context, SqlClient.SqlClient),
    )
    const sql = yield* connect
    const states = Effect.map(
      sql<{ state: string; reason: string | null }>`SELECT state, reason FROM task ORDER BY seq`,
      (rows) => rows.map(({ reason, state }) => [state, reason]),
    )
    return { one, other, sql, connect, states }
  })

  it.layer(NodeServices.layer)((it) => {
    it.effect("whose writes wait for one another's rows both get done", () =>
      Effect.gen(function* () {
        const { connect, one, sql } = yield* two(4)
        for (const part of [0, 1, 2, 3]) yield* one.takePart(part)
        const waiting = (count: number) =>
          Effect.repeat(sql`SELECT 1 FROM pg_locks WHERE NOT granted`, { until: (rows) => rows.length >= count })
        const touch = (client: SqlClient.SqlClient, seq: number) =>
          client`UPDATE task SET due_at = 7 WHERE seq = ${seq}`
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
            yield* waiting(1)
            yield* releaseFirst
            yield* waiting(1)
            const blocked = yield* Effect.forkChild(touch(rival, 0))
            yield* waiting(2)
            yield* releaseSecond
            yield* Fiber.join(blocked)
          }),
        )
        yield* Fiber.joinAll(writes)
        assert.deepStrictEqual(
          (yield* sql<{ due: number }>`SELECT due_at AS due FROM task ORDER BY seq`).map(({ due }) => due),
          [0, 0, 0, 0],
        )
      }),
    )

    it.effect("of which one plans again what the other has just got a result of: the result stays", () =>
      Effect.gen(function* () {
        const { connect, one, sql, states } = yield* two(2)
        yield* sql`UPDATE task SET state = 'failed', task_id = 'task_' || seq`
        const rival = yield* connect
        const campaign = (yield* sql<{ campaign: number }>`SELECT campaign FROM task`)[0]!.campaign
        const replanned = yield* rival.withTransaction(
          Effect.gen(function* () {
            yield* rival`UPDATE task SET state = 'completed' WHERE seq = 0`
            const fiber = yield* Effect.forkChild(one.replan(campaign, ["failed"], 9))
            // It has read both as failed.
            yield* Effect.repeat(sql`SELECT 1 FROM pg_locks WHERE NOT granted`, { until: (rows) => rows.length > 0 })
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
      }),
    )

    it.effect("of which one took a part late: who is to work it takes it again", () =>
      Effect.gen(function* () {
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
          "part 0 reclaimed: the ledger still named another worker, probably one that had been suspended",
        ])
        yield* logs.during(one.renewParts(0, 0, 2))
        assert.strictEqual(logs.messages.length, 1)
      }),
    )

    it.effect("know whether the service answers the other", () =>
      Effect.gen(function* () {
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
      }),
    )

    it.effect("are seen by the database's clock, whatever their own", () =>
      Effect.gen(function* () {
        // The test's clock says that it is 1970.
        const { one } = yield* two(1)
        yield* one.takePart(0)
        yield* one.renewParts(5_000, 0, 9)
        const [worker] = yield* one.workers
        assert.isBelow(worker!.renewedAgo, 5_000)
        assert.isAtLeast(worker!.progressedAgo, 5_000)
        assert.isBelow(worker!.progressedAgo, 10_000)
      }),
    )

    it.effect("each have tasks that are to be sent or polled now", () =>
      Effect.gen(function* () {
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
      }),
    )

    it.effect("send half as many requests after a refusal for load, however many were refused at once", () =>
      Effect.gen(function* () {
        const { one, other, sql } = yield* two(1)
        const hour = 3_600_000
        const ask = other.takeSlots(1, 1 / 3600)
        const before = yield* ask
        assert.strictEqual(Math.round(before.spacing), hour)
        assert.strictEqual(Option.getOrThrow(yield* one.budget).rateShare, 1)
        for (const ledger of [one, other]) yield* ledger.slowRequests(before.cuts)
        assert.isBelow(Option.getOrThrow(yield* one.budget).rateShare, 1)
        const after = yield* ask
        assert.strictEqual(after.cuts, before.cuts + 1)
        // It recovers meanwhile.
        assert.isAbove(after.spacing, hour * 1.2)
        assert.isBelow(after.spacing, hour * 2.01)
        yield* sql`UPDATE budget SET cut_at = cut_at - 30000`
        assert.isBelow((yield* ask).spacing, hour * 1.01)
      }),
    )

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
          const due = (ledger: Ledger["Service"], underWay: ReadonlyArray<string> = []) =>
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

    it.effect("both know that webhooks arrive", () =>
      Effect.gen(function* () {
        const { other } = yield* two(1)
        assert.deepStrictEqual(yield* other.lastDelivery, Option.none())
        yield* TestClock.setTime(5_000)
        yield* other.onNotification("planned")
        assert.deepStrictEqual(yield* other.lastDelivery, Option.none())
        yield* other.onNotification("hinted")
        assert.deepStrictEqual(yield* other.lastDelivery, Option.some(5_000))
      }),
    )

    it.effect("that are given the same id for two tasks hold the second in doubt", () =>
      Effect.gen(function* () {
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
        yield* Effect.repeat(one.snapshot(blockedSessions(sql)), { until: (count) => count > 0 })
        yield* released.open
        yield* Fiber.join(first)
        assert.isTrue(Option.isSome(yield* Fiber.join(second)))
        const [, [state, reason] = []] = yield* states
        assert.strictEqual(state, "in_doubt")
        assert.match(reason ?? "", /^the service answered with the task id same, which task 1 already has/)
      }),
    )
  })

  for (const [what, keys, sentAgo, expected] of [
    ["planned to be sent again, where keys are ignored now", "ignored", 0, /when the service was said to honor/],
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

const blockedSessions = (sql: SqlClient.SqlClient) =>
  Effect.map(sql`SELECT 1 FROM pg_locks WHERE NOT granted`, (rows) => rows.length)
