import { NodeServices } from "@effect/platform-node"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Exit, Fiber, Layer, Option, Queue, Redacted, Result, Scope } from "effect"
import { SqlClient, Statement } from "effect/sql"
import { TestClock } from "effect/testing"
import { messageOf } from "../../../src/cli/output/Failure.ts"
import * as PostgresClient from "../../../src/node/PostgresClient.ts"
import * as PostgresLock from "../../../src/node/PostgresLock.ts"
import { Ledger, LedgerReader } from "../../../src/task/ledger/Ledger.ts"
import * as ReaderLock from "../../../src/task/ledger/writes/ReaderLock.ts"
import * as LedgerMaintenance from "../../../src/task/ledger/care/LedgerMaintenance.ts"
import * as LedgerLocation from "../../../src/task/ledger/LedgerLocation.ts"
import { describePostgres } from "../../support/describePostgres.ts"
import { password } from "../../support/postgres.ts"
import { ledgerConformance } from "./ledgerConformance.ts"
import { openShared, twoWorkers } from "./workers.ts"
import { newTasks, plan, recordStep } from "../support.ts"
import { column, columns } from "../../support/columns.ts"
import { effectTest } from "../../support/effectTest.ts"

const test = effectTest(it.effect)

interface PlanNode {
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Join Filter"?: number
  readonly "Rows Removed by Filter"?: number
  readonly Plans?: ReadonlyArray<PlanNode>
}

interface Explained {
  readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: PlanNode }>
}

describePostgres("PostgreSQL", (server) => {
  const newUrl = Effect.sync(() => Redacted.make(server.url(server.newSchema())))

  const fresh = Layer.unwrap(Effect.map(newUrl, (url) => PostgresClient.layer({ url })))

  // To connect and to create the tables takes longer than most tests: both stay, without their rows.
  describe("of which the tests share the tables", () => {
    const scope = Effect.runSync(Scope.make())
    let client: Context.Context<SqlClient.SqlClient>
    beforeAll(async () => {
      client = await Effect.runPromise(Layer.buildWithScope(fresh, scope))
    })
    afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

    // DELETE is quicker, and leaves dead rows, which nobody vacuums.
    const emptied = Layer.effectContext(
      Effect.suspend(() =>
        SqlClient.SqlClient.use(
          (sql) => sql`DO $$ DECLARE found RECORD; BEGIN
            FOR found IN SELECT oid::regclass AS name, pg_total_relation_size(oid) > 200000 AS large FROM pg_class
              WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname <> 'prefstream_migration'
            LOOP
              EXECUTE CASE WHEN found.large THEN 'TRUNCATE ' ELSE 'DELETE FROM ' END || found.name;
            END LOOP;
          END $$`,
        ).pipe(Effect.as(client), Effect.provide(client)),
      ),
    )
    ledgerConformance("PostgreSQL", emptied)
  })

  /** A test over a new ledger, in tables of its own. */
  const testFresh = (name: string, body: () => Effect.fn.Return<void, unknown, Ledger | SqlClient.SqlClient>) =>
    it.live(name, () => Effect.gen(body).pipe(Effect.provide(Ledger.layer().pipe(Layer.provideMerge(fresh)))))

  const newLocation = Effect.gen(function* () {
    const url = yield* newUrl
    return (job?: string) => LedgerLocation.of({ ledger: url, file: "unused", job })
  })

  /** Why it can be neither worked nor read. */
  const failuresOf = (location: LedgerLocation.LedgerLocation) =>
    Effect.all([
      Effect.flip(Effect.provide(Effect.void, LedgerLocation.layer(location))),
      Effect.flip(Effect.provide(Effect.void, LedgerLocation.layerReadonly(location))),
    ])

  /** The rows that a plan's nodes went through, also those that a join or filter left out. */
  const rowsOf = (node: PlanNode): number =>
    node["Actual Loops"] *
      (node["Actual Rows"] + (node["Rows Removed by Join Filter"] ?? 0) + (node["Rows Removed by Filter"] ?? 0)) +
    (node.Plans ?? []).reduce((sum, inner) => sum + rowsOf(inner), 0)

  /** What an effect gives, and how many rows each of its statements goes through that has this text. */
  const rowsRead = Effect.fnUntraced(function* <A, E, R>(text: string, effect: Effect.Effect<A, E, R>) {
    const rows: Array<number> = []
    const result = yield* Effect.provideService(
      effect,
      Statement.CurrentTransformer,
      Effect.fnUntraced(function* (statement, sql) {
        const [query, params] = statement.compile()
        if (!query.includes(text)) return statement
        const [row] = yield* Effect.orDie(
          sql
            .unsafe<Explained>(`EXPLAIN (ANALYZE, FORMAT JSON) ${query}`, params)
            .pipe(Effect.provideService(Statement.CurrentTransformer, undefined)),
        )
        rows.push(rowsOf(row!["QUERY PLAN"][0]!.Plan))
        return statement
      }),
    )
    return { result, rows }
  })

  testFresh("counts items by going through each row a few times, whatever their number", function* () {
    const ledger = yield* Ledger
    const sql = yield* SqlClient.SqlClient
    const run = yield* plan(newTasks([1]))
    const tasks = 2000
    const perTask = 5
    yield* sql`INSERT INTO task (job, seq, campaign, item_count, new_items, batch, batch_items, vote, votes, part, idempotency_key, state, planned_at)
        SELECT 1, ${perTask} * i, 1, ${perTask}, ${perTask}, ${perTask} * i, ${perTask}, 1, 1, 0, 'key ' || i, 'refused', 0
        FROM generate_series(1, ${tasks}) AS i`
    yield* sql`INSERT INTO item (job, campaign, item_id, batch, seq, run)
        SELECT 1, 1, 'id ' || i, i / ${perTask} * ${perTask}, i, ${run.run}
        FROM generate_series(${perTask}, ${perTask * (tasks + 1) - 1}) AS i`
    yield* sql`ANALYZE`
    const items = perTask * tasks
    const { result, rows } = yield* rowsRead(
      "",
      Effect.all([
        ledger.itemsIn(run.run, ["refused"]),
        ledger.itemsLost(run.run),
        ledger.itemsLostWith(perTask),
        Effect.map(ledger.itemsByOutcome(Option.none()), (standing) => standing("refused")),
      ]),
    )
    assert.deepStrictEqual(result, [items, items, perTask, items])
    assert.lengthOf(rows, 4)
    for (const count of rows) assert.isBelow(count, 20 * (tasks + items))
  })

  testFresh("rewrites no item that is read again", function* () {
    const ledger = yield* Ledger
    const sql = yield* SqlClient.SqlClient
    const tasks = newTasks(Array.from({ length: 50 }, () => 20))
    yield* plan(tasks)
    const items = tasks.flatMap((task) => task.items)
    const run = yield* ledger.startRun()
    // The transaction that wrote each row as it stands.
    const versions = sql`SELECT item_id, xmin::text FROM item ORDER BY item_id`
    const before = yield* versions
    const known = items.map(({ itemId }) => itemId)
    yield* recordStep(run, { read: known.length, known: known.length }, { known })
    assert.deepStrictEqual(yield* versions, before)
    assert.deepStrictEqual(yield* sql`SELECT COUNT(*)::int AS rows FROM known`, [{ rows: 1 }])
    assert.strictEqual(yield* ledger.itemsIn(run.run, ["planned"]), items.length)
    assert.deepStrictEqual(new Set(yield* ledger.classify(run, items)), new Set(["duplicate"]))
  })

  it.live("prunes results by going through each task a few times, whatever their number", () =>
    Effect.gen(function* () {
      const url = yield* newUrl
      const location = yield* LedgerLocation.of({ ledger: url, file: "unused" })
      yield* plan(newTasks([1])).pipe(Effect.provide(LedgerLocation.layer(location)))
      const tasks = 5000
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`INSERT INTO task (job, seq, campaign, item_count, new_items, batch, batch_items, vote, votes, part, idempotency_key, state, planned_at, completed_at)
          SELECT 1, i, 1, 1, 1, i, 1, 1, 1, 0, 'key ' || i, 'completed', 0, 0 FROM generate_series(1, ${tasks}) AS i`
        yield* sql`ANALYZE`
      }).pipe(Effect.provide(PostgresClient.layer({ url })))
      const pruning = LedgerMaintenance.prune(location, { before: 1, results: true })
      const { result, rows } = yield* rowsRead("SELECT seq FROM task", pruning)
      assert.strictEqual(result.results.tasks, tasks)
      assert.isNotEmpty(rows)
      assert.isBelow(
        rows.reduce((sum, count) => sum + count),
        8 * tasks,
      )
    }).pipe(Effect.provide(NodeServices.layer)),
  )

  describe("a ledger's database", () => {
    it.layer(NodeServices.layer)((it) => {
      const test = effectTest(it.effect)
      test("is made by the first who works it, and not by a reader", function* () {
        const location = yield* (yield* newLocation)()
        const missing = yield* Effect.flip(Effect.provide(Effect.void, LedgerLocation.layerReadonly(location)))
        assert.strictEqual(missing._tag, "LedgerMissing")
        assert.match(missing.message, /^there is no ledger at postgres:\/\/prefstream@/)
        yield* plan(newTasks([2])).pipe(Effect.provide(LedgerLocation.layer(location)))
        const counts = yield* LedgerReader.use((ledger) => ledger.counts).pipe(
          Effect.provide(LedgerLocation.layerReadonly(location)),
        )
        assert.deepStrictEqual(counts.planned, { tasks: 1, items: 2 })
        assert.deepStrictEqual((yield* LedgerMaintenance.check(location)).findings, [])
      })

      test("is worked by one process for each job, and read meanwhile", function* () {
        const of = yield* newLocation
        const [one, two] = [yield* of("one"), yield* of("two")]
        const scope = yield* Scope.make()
        // Both make the tables, at the same time.
        yield* TestClock.withLive(
          Effect.all([Layer.build(LedgerLocation.layer(one)), Layer.build(LedgerLocation.layer(two))], {
            concurrency: 2,
          }).pipe(Scope.provide(scope)),
        )
        const refused = yield* Effect.flip(Effect.provide(Effect.void, LedgerLocation.layer(one)))
        assert(refused._tag === "FileLockError" && refused.reason._tag === "FileLocked")
        assert.strictEqual(refused.reason.holder?.pid, process.pid)
        assert.deepInclude(yield* LedgerLocation.holder(two), { _tag: "Some" })
        yield* Effect.provide(Effect.void, LedgerLocation.layerReadonly(one))
        yield* Scope.close(scope, Exit.void)
        yield* Effect.provide(Effect.void, LedgerLocation.layer(one))
        assert.deepInclude(yield* LedgerLocation.holder(two), { _tag: "None" })
      })

      test("says which jobs it has", function* () {
        const of = yield* newLocation
        yield* plan(newTasks([1])).pipe(Effect.provide(LedgerLocation.layer(yield* of("one"))))
        const missing = yield* Effect.flip(Effect.provide(Effect.void, LedgerLocation.layerReadonly(yield* of("1"))))
        assert.match(missing.message, /has no job 1; its jobs are one$/)
      })

      test("compresses requests and results with LZ4, if the server has it", function* () {
        const schema = server.newSchema()
        const location = yield* LedgerLocation.of({ ledger: server.url(schema), file: "unused" })
        yield* plan(newTasks([1])).pipe(Effect.provide(LedgerLocation.layer(location)))
        const methods =
          "SELECT DISTINCT attcompression FROM pg_attribute WHERE attname = 'body' AND attrelid IN ('task_request'::regclass, 'task_result'::regclass)"
        const hasLz4 =
          "SELECT count(*) FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY(enumvals)"
        const found = server.psql(`${methods}; ${hasLz4}`, schema).trim().split("\n")
        assert.deepStrictEqual(found, found[1] === "1" ? ["l", "1"] : ["", "0"])
      })

      test("holds nothing else", function* () {
        const schema = server.newSchema()
        server.psql("CREATE TABLE task (n INT)", schema)
        for (const failure of yield* failuresOf(yield* LedgerLocation.of({ ledger: server.url(schema), file: "" }))) {
          assert.strictEqual(failure._tag, "DatabaseOccupied")
          assert.match(failure.message, /has other tables \(task\)/)
        }
      })

      it.effect("takes a service's words with NUL", () =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          yield* plan(newTasks([1]))
          yield* Effect.forEach(yield* ledger.plannedAfter(-1), ledger.claim)
          yield* ledger.markRefused(0, "no\0good")
          assert.strictEqual((yield* ledger.issues(1))[0]!.reason, "no\uFFFDgood")
        }).pipe(Effect.provide(Layer.unwrap(Effect.map(newUrl, (url) => Ledger.layerPostgres({ url }))))),
      )

      test("takes the password of PGPASSWORD where the URL has none, and shows neither", function* () {
        const location = yield* LedgerLocation.of({ ledger: server.guardedUrl(server.newSchema()), file: "unused" })
        const open = (env: Record<string, string>) =>
          Effect.provide(Effect.void, LedgerLocation.layer(location)).pipe(
            Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
          )
        yield* open({ PGPASSWORD: password })
        const wrong = yield* Effect.flip(open({ PGPASSWORD: "a wrong one" }))
        assert.match(wrong.message, /password authentication failed/)
        assert.notInclude(JSON.stringify(wrong), "a wrong one")
        const none = yield* Effect.flip(open({}))
        assert.match(messageOf(none), /requested password authentication: set the password in PGPASSWORD$/)
      })

      describe("worked by two", () => {
        /** Two workers of one job of two tasks, each of which is a part. */
        const two = Effect.gen(function* () {
          const url = yield* newUrl
          const { one, other, sql } = yield* twoWorkers(url, 2)
          const take = (ledger: (typeof Ledger)["Service"], part: number) => Effect.asVoid(ledger.takePart(part))
          const states = Effect.map(
            sql<{ state: string; taskId: string | null }>`SELECT state, task_id AS "taskId" FROM task ORDER BY seq`,
            (rows) => rows.map(({ state, taskId }) => [state, taskId]),
          )
          /** As after a time longer than a request may take. */
          const later = sql`UPDATE task SET claim_until = 0`
          return { one, other, later, states, take, url }
        })

        const aCommand = (url: Redacted.Redacted<string>) => openShared(url, { by: "command", name: "" })

        describe("who reads", () => {
          /** A process beside others, with an effect by which it is the one that reads. */
          const process_ = Effect.fnUntraced(function* (url: Redacted.Redacted<string>, by: "worker" | "command") {
            const context = yield* Layer.build(PostgresClient.layer({ url, lock: "night", sharedBy: by }))
            const sql = Context.get(context, SqlClient.SqlClient)
            const write = sql.withTransaction(sql`SELECT 1`)
            return { write, read: ReaderLock.acquire(sql, "night", by, 0), sql }
          })

          test("is another worker, once that is placed, and the one before writes no more", function* () {
            const url = yield* newUrl
            const [frozen, other] = [yield* process_(url, "worker"), yield* process_(url, "worker")]
            yield* frozen.read
            yield* frozen.write
            yield* TestClock.withLive(other.read)
            assert.strictEqual((yield* Effect.flip(frozen.write)).reason._tag, "ConnectionError")
            yield* other.write
          })

          test("is no command beside a worker, and no worker before a command has ended", function* () {
            const url = yield* newUrl
            const [worker, command] = [yield* process_(url, "worker"), yield* process_(url, "command")]
            const busy = yield* Effect.scoped(Effect.andThen(worker.read, Effect.flip(command.read)))
            assert(busy._tag === "FileLockError")
            assert.match(busy.message, new RegExp(`^the input of this job is in use by process ${process.pid} on `))
            yield* Effect.scoped(
              Effect.gen(function* () {
                yield* command.read
                assert.deepStrictEqual(yield* PostgresLock.endWorker(worker.sql, "night reader"), [])
                yield* command.write
              }),
            )
            yield* worker.read
          })
        })

        test("is held by them, whatever commands are beside them", function* () {
          const url = yield* newUrl
          const location = yield* LedgerLocation.of({ ledger: url, file: "unused" })
          const holder = Effect.map(LedgerLocation.holder(location), Option.getOrThrow)
          const open = (layer: ReturnType<typeof LedgerLocation.layer>) => Layer.build(Layer.fresh(layer))
          yield* open(LedgerLocation.layer(location)).pipe(
            Effect.andThen(holder),
            Effect.tap((holder) => Effect.sync(() => assert.notProperty(holder, "worker"))),
            Effect.scoped,
          )
          assert(location._tag === "Postgres")
          yield* open(LedgerLocation.layerWorker(location, "one"))
          for (const _ of [1, 2]) yield* open(LedgerLocation.layerAlongsideWorkers(location))
          assert.propertyVal(yield* holder, "worker", true)
        })

        test("each is told what the others and commands did, once it is committed", function* () {
          const { one, other, take, url } = yield* two
          const command = yield* aCommand(url)
          const messages = yield* PostgresClient.listen({ url }, yield* other.channel)
          const next = Effect.map(Queue.take(messages), ({ payload }) => payload)
          yield* plan(newTasks([1], 2)).pipe(Effect.provideService(Ledger, one))
          assert.strictEqual(yield* next, "planned")
          yield* take(one, 0)
          const [task] = yield* one.plannedAfter(-1)
          yield* one.claim(task!)
          yield* one.markSubmitted(0, "task_1", 0)
          yield* other.recordDelivery({ id: "delivery_1", sentAt: 0, taskIds: Option.some(["task_1"]) })
          assert.strictEqual(yield* next, "hinted")
          yield* one.markFailed(0, "failed there", "task_1")
          const [before] = yield* command.sendAgain([1])
          assert.strictEqual(before!.state, "failed")
          assert.strictEqual(yield* next, "again")
        })

        test("a decision about a task that a worker is just claiming is of one of both", function* () {
          const { one, states, take, url } = yield* two
          const command = yield* aCommand(url)
          yield* take(one, 0)
          const [task] = yield* one.plannedAfter(-1)
          const [claimed, decision] = yield* Effect.all([one.claim(task!), Effect.result(command.giveUp([1]))], {
            concurrency: 2,
          })
          assert.strictEqual(claimed, Result.isFailure(decision))
          assert.strictEqual((yield* states)[0]![0], claimed ? "submitting" : "given_up")
          const given = yield* command.giveUp([1, 2], "planned")
          assert.deepStrictEqual(column(given, "number"), [2])
        })

        test("has shares that come to the whole, by those who have parts", function* () {
          const { one, other, take, url } = yield* two
          const command = yield* aCommand(url)
          const shares = Effect.gen(function* () {
            for (const ledger of [one, other, command]) yield* ledger.countWorkers
            return [one, other, command].map((ledger) => ledger.shareOf(5))
          })
          assert.deepStrictEqual(yield* shares, [0, 0, 0])
          yield* take(other, 0)
          assert.deepStrictEqual(yield* shares, [0, 5, 0])
          yield* take(one, 1)
          assert.deepStrictEqual(yield* shares, [3, 2, 0])
        })

        test("take no more requests together than there are, and none while the service asks to wait", function* () {
          const { one, other, take, url } = yield* two
          const sql = Context.get(yield* Layer.build(PostgresClient.layer({ url })), SqlClient.SqlClient)
          // So slow that time does not count: a request an hour.
          const [hour, hourly] = [3_600_000, 1 / 3600]
          const first = yield* one.takeSlots(3, hourly)
          assert.deepStrictEqual([first.count, first.first, Math.round(first.spacing)], [1, 0, hour])
          // Both come while a third holds the row.
          const blocked = sql`SELECT 1 FROM pg_locks WHERE NOT granted`
          const takes = yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`UPDATE budget SET free_at = 0`
              const takes = yield* Effect.forkChild(
                Effect.all([one.takeSlots(1, hourly), other.takeSlots(1, hourly)], { concurrency: 2 }),
              )
              yield* Effect.repeat(blocked, { until: (rows) => rows.length >= 2 })
              return takes
            }),
          )
          const [now, later] = (yield* Fiber.join(takes)).map(({ first }) => first).toSorted((a, b) => a - b)
          assert.strictEqual(now, 0)
          assert.isAbove(later!, hour - 60_000)
          assert.isAbove((yield* other.takeSlots(1, hourly)).first, 2 * hour - 60_000)
          // A clock that was set back.
          yield* sql`UPDATE budget SET free_at = free_at + 1e9`
          const { count, first: soon } = yield* other.takeSlots(1000, 100)
          // No more than those of a quarter of a second.
          assert.deepStrictEqual([count, soon], [25, 0])

          yield* take(one, 0)
          yield* plan(newTasks([1], 2)).pipe(Effect.provideService(Ledger, one))
          assert.isTrue(yield* one.isDue)
          yield* one.pauseRequests(7_200_000)
          const paused = yield* other.takeSlots(1, 100)
          assert.deepStrictEqual([paused.count, paused.pause > 7_100_000], [0, true])
          assert.isFalse(yield* one.isDue)
          yield* sql`UPDATE budget SET free_at = free_at + ${hour}`
          const { pausedFor, takenFor } = Option.getOrThrow(yield* one.budget)
          assert.deepStrictEqual([takenFor > hour - 60_000, pausedFor > 7_100_000], [true, true])
          yield* sql`UPDATE budget SET paused_at = paused_at + ${hour}, paused_until = paused_until + ${hour}`
          const { count: none, pause } = yield* other.takeSlots(1, 100)
          assert.deepStrictEqual([none, pause > 7_100_000, pause <= 7_200_000], [0, true, true])
        })

        test("has as many parts as it was begun with", function* () {
          const url = yield* newUrl
          const open = (parts?: number) => Effect.scoped(Layer.build(Ledger.layerPostgres({ url, parts })))
          const partsOf = (context: Context.Context<Ledger>) => Context.get(context, Ledger).partCount
          assert.strictEqual(partsOf(yield* open(200)), 200)
          assert.strictEqual(partsOf(yield* open()), 200)
          assert.strictEqual(
            (yield* Effect.flip(open(64))).message,
            "job default was created with 200 parts, and this number cannot be changed to 64: omit `parts`",
          )
        })

        test("each sees and claims the tasks of its parts alone", function* () {
          const { one, other, states, take } = yield* two
          assert.deepStrictEqual(yield* one.plannedAfter(-1), [])
          yield* take(one, 0)
          yield* take(other, 1)
          const [[first], [second]] = [yield* one.plannedAfter(-1), yield* other.plannedAfter(-1)]
          assert.deepStrictEqual([first!.seq, second!.seq], [0, 1])
          assert.isFalse(yield* one.claim(second!))
          assert.isTrue(yield* one.claim(first!))
          assert.isTrue(yield* other.claim(second!))
          yield* other.markSubmitted(1, "task_1", 0)
          assert.deepStrictEqual(column((yield* other.due(10, Option.none())).tasks, "taskId"), ["task_1"])
          assert.deepStrictEqual((yield* one.due(10, Option.none())).tasks, [])
          assert.deepStrictEqual(yield* states, [
            ["submitting", null],
            ["submitted", "task_1"],
          ])
          assert.deepStrictEqual(columns(yield* one.workers, "name", "parts"), [
            ["one", 1],
            ["other", 1],
          ])
        })

        test("an owner whose part was taken claims no more, however late it notices", function* () {
          const { one, other, take } = yield* two
          yield* take(one, 0)
          const [task] = yield* one.plannedAfter(-1)
          yield* take(other, 0)
          assert.isFalse(yield* one.claim(task!))
          assert.isTrue(yield* other.claim(task!))
          assert.isTrue(yield* other.keepClaim(task!, 0))
          assert.isFalse(yield* one.keepClaim(task!, 0))
        })

        for (const outcome of ["planned", "in_doubt"] as const) {
          test(`what an owner was sending when it was lost is ${outcome}, once it has had its time`, function* () {
            const { later, one, other, states, take } = yield* two
            yield* take(one, 0)
            yield* one.claim((yield* one.plannedAfter(-1))[0]!, 60_000)
            yield* take(other, 0)
            assert.strictEqual(yield* other.settleAbandoned(outcome, 60_000), 0)
            yield* later
            assert.strictEqual(yield* one.settleAbandoned(outcome, 60_000), 0)
            assert.strictEqual(yield* other.settleAbandoned(outcome, 60_000), 1)
            assert.deepStrictEqual((yield* states)[0], [outcome, null])
            // The answer comes late: it settles a doubt, and does not count where the task may be claimed again.
            yield* one.markSubmitted(0, "task_0", 0)
            assert.deepStrictEqual(
              (yield* states)[0],
              outcome === "in_doubt" ? ["submitted", "task_0"] : ["planned", null],
            )
          })
        }
      })

      test("ends the work of whoever loses the connection", function* () {
        const location = yield* (yield* newLocation)()
        const ledger = Context.get(yield* Layer.build(LedgerLocation.layer(location)), Ledger)
        yield* plan(newTasks([1, 1])).pipe(Effect.provideService(Ledger, ledger))
        const [first, second] = yield* ledger.plannedAfter(-1)
        assert.isTrue(yield* ledger.claim(first!))
        yield* Effect.promise(() => server.crash())
        const lost = yield* Effect.flip(ledger.claim(second!))
        assert.strictEqual(lost.reason._tag, "ConnectionError")
        yield* Effect.promise(() => server.start())
        // Another may have taken it over meanwhile.
        yield* Effect.flip(ledger.claim(second!))
        const after = yield* Ledger.use((ledger) => ledger.counts).pipe(Effect.provide(LedgerLocation.layer(location)))
        assert.deepStrictEqual([after.submitting.tasks, after.planned.tasks], [1, 1])
      })
    })
  })
})

describe("LedgerLocation", () => {
  const of = (ledger: string, job?: string) => LedgerLocation.of({ ledger, job, file: "job/ledger.db" })

  test("shows no password, wherever it stands", function* () {
    for (const url of ["postgres://me:hidden@host:5433/db", "postgres://me@host:5433/db?password=hidden"]) {
      const location = yield* of(url, "x")
      assert.strictEqual(LedgerLocation.describe(location), "postgres://me@host:5433/db (job x)")
      assert.notInclude(JSON.stringify(location), "hidden")
    }
  })

  test("refuses what it does not know, and shows none of it", function* () {
    for (const [text, job, expected] of [
      ["postgres://me:hid@host:port/db", undefined, /URL is invalid/],
      ["mysql://me:hidden@host/db", undefined, /mysql:\/\/ are not supported/],
      [" ", undefined, /is empty/],
      ["x.db", "a b", /job name/],
      ["x.db", "", /job name/],
    ] as const) {
      const { message } = yield* Effect.flip(of(text, job))
      assert.match(message, expected)
      assert.notInclude(message, "hid")
    }
  })
})
