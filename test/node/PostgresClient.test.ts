import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Queue, Redacted } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient } from "effect/sql"
import * as PostgresClient from "../../src/node/PostgresClient.ts"
import * as PostgresUrl from "../../src/node/PostgresUrl.ts"
import * as Logs from "../support/logs.ts"
import { describePostgres } from "../support/describePostgres.ts"
import { password } from "../support/postgres.ts"
import { layer, start } from "./support.ts"
import { effectTest } from "../support/effectTest.ts"

describePostgres("PostgresClient", (server) => {
  /** A new schema with a table, and clients of it. */
  const open = Effect.sync(() => {
    const schema = server.newSchema()
    server.psql("CREATE TABLE entry (n BIGINT PRIMARY KEY, text TEXT, bytes BYTEA)", schema)
    const url = Redacted.make(server.guardedUrl(schema, password))
    return {
      url,
      psql: (statement: string) => server.psql(statement, schema),
      connect: (config: Partial<PostgresClient.PostgresClientConfig> = {}) =>
        Effect.map(
          Layer.build(Layer.fresh(PostgresClient.layer({ url, ...config }))),
          Context.get(SqlClient.SqlClient),
        ),
    }
  })

  type Entry = { readonly n: number; readonly text: string | null; readonly bytes: Uint8Array | null }

  const entry = (n: number, text: string | null = null, bytes: Uint8Array | null = null): Entry => ({ n, text, bytes })

  /** The writing session of a client that holds a lock. */
  const holderSession = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"

  describe("who listens", () => {
    /** Sessions of the role whose last statement began so. */
    const sessions = (like: string) =>
      `SELECT pid FROM pg_stat_activity WHERE usename = 'guarded' AND query LIKE '${like}%' AND state = 'idle'`

    it.live("is told what comes after a loss of the connection, by another one", () =>
      Effect.gen(function* () {
        const { psql, url } = yield* open
        const logs = Logs.make()
        const told = yield* logs.during(PostgresClient.listen({ url }, "news"))
        const session = psql(sessions("LISTEN"))
        psql(`SELECT pg_terminate_backend(${session})`)
        yield* Effect.sync(() => psql(sessions("LISTEN"))).pipe(
          Effect.delay("20 millis"),
          Effect.repeat({ until: (pid) => pid !== "" && pid !== session }),
        )
        psql("NOTIFY news, 'again'")
        assert.strictEqual((yield* Queue.take(told)).payload, "again")
        assert.match(
          logs.messages.join(),
          /^database notifications were interrupted; until they resume, changes by other processes are detected by polling: postgres:/,
        )
      }).pipe(Effect.scoped),
    )

    it.live("keeps its connection, whatever the server does with those that are idle", () =>
      Effect.gen(function* () {
        const { psql, url } = yield* open
        psql("ALTER ROLE guarded SET idle_session_timeout = '300ms'")
        yield* PostgresClient.listen({ url }, "news")
        const session = psql(sessions("LISTEN"))
        // Another one, which is idle for no longer.
        const other = yield* PgClient.makeClient({ url })
        yield* other`SELECT 'other'`
        yield* Effect.sync(() => psql(sessions("SELECT ''other''"))).pipe(
          Effect.delay("20 millis"),
          Effect.repeat({ until: (pid) => pid === "" }),
        )
        assert.match(session, /^\d+$/)
        assert.strictEqual(psql(sessions("LISTEN")), session)
      }).pipe(
        Effect.ensuring(Effect.sync(() => server.psql("ALTER ROLE guarded RESET ALL"))),
        Effect.scoped,
        Effect.provide(Reactivity.layer),
      ),
    )
  })

  it.layer(layer)((it) => {
    const test = effectTest(it.effect)

    test("refuses text with NUL, and names the database and no password", function* () {
      const { connect } = yield* open
      const sql = yield* connect()
      const error = yield* Effect.flip(sql`INSERT INTO entry ${sql.insert(entry(1, "a\0b"))}`)
      assert.match(error.message, /^postgres:\/\/guarded@.*invalid byte sequence/)
      assert.notInclude(JSON.stringify(error), password)
    })

    test("a statement that fails takes its transaction with it, and the next one works", function* () {
      const { connect } = yield* open
      const sql = yield* connect()
      const insert = (n: number) => sql`INSERT INTO entry ${sql.insert(entry(n))}`
      const both = sql.withTransaction(Effect.andThen(insert(1), insert(1)))
      assert.strictEqual((yield* Effect.flip(both)).reason._tag, "UniqueViolation")
      // Caught inside, the failure leaves a transaction that the server has given up.
      const caught = sql.withTransaction(Effect.andThen(Effect.ignore(both), insert(2)))
      yield* caught
      const aborted = sql.withTransaction(Effect.andThen(insert(3), Effect.ignore(insert(3))))
      assert.match((yield* Effect.flip(aborted)).message, /rolled back the transaction/)
      assert.deepStrictEqual(yield* sql`SELECT n FROM entry`, [{ n: 2 }])
    })

    test("an interrupted read cancels no transaction", function* () {
      const { connect } = yield* open
      const sql = yield* connect({ lock: "ledger" })
      for (let n = 0; n < 20; n++) {
        const reading = yield* Effect.forkChild(sql`SELECT pg_sleep(10)`, { startImmediately: true })
        const writing = yield* Effect.forkChild(sql.withTransaction(sql`INSERT INTO entry ${sql.insert(entry(n))}`), {
          startImmediately: true,
        })
        yield* Fiber.interrupt(reading)
        yield* Fiber.join(writing)
      }
      assert.strictEqual((yield* sql`SELECT n FROM entry`).length, 20)
    })

    test("carries out transactions while a connection is reserved, and statements on both", function* () {
      const { connect } = yield* open
      const sql = yield* connect({ lock: "job" })
      const reserved = yield* sql.reserve
      const written = yield* Effect.forkChild(sql.withTransaction(sql`INSERT INTO entry ${sql.insert(entry(1))}`))
      const count = Effect.suspend(() => reserved.execute("SELECT COUNT(*)::int AS n FROM entry", [], undefined))
      // Without a connection of its own, the transaction would wait for ever.
      yield* Effect.repeat(count, { times: 200, until: () => written.pollUnsafe() !== undefined })
      assert.isDefined(written.pollUnsafe())
      assert.deepStrictEqual(yield* count, [{ n: 1 }])
    })

    test("commits durably, whatever the server's own settings are", function* () {
      const { connect, psql } = yield* open
      psql("ALTER ROLE guarded SET synchronous_commit = off")
      psql("ALTER ROLE guarded SET idle_session_timeout = '1s'")
      psql("ALTER ROLE guarded SET default_transaction_isolation = serializable")
      const sql = yield* connect({})
      const settings = yield* sql.withTransaction(sql`SELECT current_setting('synchronous_commit') AS commit,
        current_setting('idle_session_timeout') AS idle, current_setting('transaction_isolation') AS isolation`)
      assert.deepStrictEqual(settings, [{ commit: "on", idle: "0", isolation: "read committed" }])
      psql("ALTER ROLE guarded RESET ALL")
    })

    test("the lock of a process that was killed is free, and what it had begun has not happened", function* () {
      const { connect, url } = yield* open
      const process_ = yield* start("postgresHolder.ts", Redacted.value(url))
      assert.strictEqual(process_.firstLine, "held")
      const refused = yield* Effect.flip(Effect.scoped(connect({ lock: "ledger" })))
      assert.include(refused.message, `${PostgresUrl.redact(url)} is in use by process ${process_.pid} on `)
      assert.notInclude(refused.message, password)
      // Another job in the same schema, and one of the same name in another schema.
      yield* connect({ lock: "another" })
      yield* (yield* open).connect({ lock: "ledger" })
      yield* process_.kill
      const sql = yield* connect({ lock: "ledger" })
      assert.deepStrictEqual(yield* sql`SELECT n FROM entry`, [])
    })

    test("a transaction that loses its session fails with the reason, and has not happened", function* () {
      const { connect, psql } = yield* open
      const sql = yield* connect({ lock: "ledger" })
      const error = yield* sql`INSERT INTO entry ${sql.insert(entry(1))}`.pipe(
        Effect.andThen(Effect.sync(() => psql(`SELECT pg_terminate_backend(pid) FROM (${holderSession}) AS holder`))),
        Effect.andThen(sql`INSERT INTO entry ${sql.insert(entry(2))}`),
        sql.withTransaction,
        Effect.flip,
      )
      assert.strictEqual(error.reason._tag, "ConnectionError")
      assert.deepStrictEqual(yield* sql`SELECT n FROM entry`, [])
    })

    test("whoever loses its session has lost the lock, and commits nothing more", function* () {
      const { connect, psql } = yield* open
      const sql = yield* connect({ lock: "ledger" })
      const insert = (n: number) => sql.withTransaction(sql`INSERT INTO entry ${sql.insert(entry(n))}`)
      yield* insert(1)
      psql(`SELECT pg_terminate_backend(pid) FROM (${holderSession}) AS holder`)
      const next = yield* connect({ lock: "ledger" })
      for (const n of [2, 3]) {
        assert.match((yield* Effect.flip(insert(n))).message, /^postgres:\/\/guarded@/)
      }
      yield* next.withTransaction(next`INSERT INTO entry ${next.insert(entry(4))}`)
      assert.deepStrictEqual(yield* next`SELECT n FROM entry ORDER BY n`, [{ n: 1 }, { n: 4 }])
    })
  })
})
