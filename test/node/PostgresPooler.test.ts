/** A ledger through PgBouncer: in `session` mode as without it, otherwise refused. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PgClient } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient } from "effect/sql"
import * as PostgresClient from "../../src/node/PostgresClient.ts"
import { cli, cliServed, cliStarted, itemLines, quick } from "../support/cli.ts"
import { datasetHashes } from "../support/hashes.ts"
import { test } from "../support/job.ts"
import { notInstalled, type PoolMode, type Settings, start } from "../support/pgbouncer.ts"
import { Server } from "../support/postgres.ts"
import { until } from "../support/process.ts"

type Config = Partial<PostgresClient.PostgresClientConfig>
type Options = Readonly<Record<string, string>>

describe.skipIf(notInstalled)("PgBouncer", () => {
  let server: Server
  let databases = 0
  const scratch = mkdtempSync(join(tmpdir(), "prefstream-pool-"))
  const input = join(scratch, "items.jsonl")
  beforeAll(async () => {
    server = await Server.make()
    writeFileSync(input, `${itemLines(40).join("\n")}\n`)
  })
  afterAll(async () => {
    await server.close()
    rmSync(scratch, { recursive: true })
  })

  /** A new database behind a PgBouncer of its own. */
  const pooled = Effect.fnUntraced(function* (pool_mode: PoolMode, default_pool_size: number, settings: Settings = {}) {
    const database = `pooled_${databases++}`
    server.psql(`CREATE DATABASE ${database}`)
    const pool = yield* Effect.acquireRelease(
      Effect.promise(() => start(server, { pool_mode, default_pool_size, ...settings })),
      ({ stop }) => Effect.promise(stop),
    )
    return {
      url: pool.url(database),
      psql: (statement: string) => server.psql(statement, "public", database),
      connect: (config: Config = {}, options: Options = {}) => {
        const url = Redacted.make(pool.url(database, options))
        return Effect.map(
          Layer.build(Layer.fresh(PostgresClient.layer({ url, ...config }))),
          Context.get(SqlClient.SqlClient),
        )
      },
    }
  })

  type Pooled = Effect.Success<ReturnType<typeof pooled>>

  /** The message of the refusal. */
  const refusal = Effect.fnUntraced(function* ({ connect }: Pooled, config: Config = {}, options: Options = {}) {
    const { message } = yield* Effect.flip(Effect.scoped(connect(config, options)))
    assert.match(message, /^postgres:\/\/prefstream@\S+\/pool-\d+\/pooled_\d+: /)
    return message
  })

  const locks = "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory'"
  const tables = "SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'"

  for (const mode of ["transaction", "statement"] as const) {
    for (const size of [1, 2, 20]) {
      test(`in ${mode} mode, with ${size} sessions, is refused before anything is locked or written`, function* () {
        const pool = yield* pooled(mode, size)
        for (const config of [{ lock: "job" }, { lock: "job", sharedBy: "worker" as const }, { readonly: true }]) {
          assert.match(yield* refusal(pool, config), /in transaction or statement mode: .* a pool in session mode$/)
        }
        const { status, stderr } = yield* cli(["run", input, "--dir", join(scratch, `${mode}-${size}`)], {
          PREFSTREAM_LEDGER: pool.url,
        })
        assert.strictEqual(status, 1)
        assert.match(stderr.trim().split("\n").at(-1)!, /in transaction or statement mode: .* a pool in session mode$/)
        assert.deepStrictEqual([pool.psql(locks), pool.psql(tables)], ["0", "0"])
      })
    }
  }

  for (const [size, server_round_robin, clients] of [
    [2, 0, 3],
    [2, 1, 1],
    [20, 0, 3],
    [20, 1, 30],
  ] as const) {
    test(`is refused also while ${clients} others keep its ${size} sessions busy (server_round_robin = ${server_round_robin})`, () =>
      Effect.gen(function* () {
        const pool = yield* pooled("transaction", size, { server_round_robin })
        const others = yield* PgClient.make({ url: Redacted.make(pool.url), maxConnections: clients })
        let asked = 0
        const other = Effect.forever(Effect.map(others`SELECT pg_sleep(0.0005)`.unprepared, () => asked++))
        yield* Effect.forEach(Array.from({ length: clients }), () => Effect.forkScoped(other))
        yield* Effect.promise(() => until("others to be busy", () => asked > 10 * clients))
        for (let n = 0; n < 10; n++) {
          assert.include(yield* refusal(pool, { lock: "job" }), "in transaction or statement mode")
        }
      }).pipe(Effect.provide(Reactivity.layer)))
  }

  test("in session mode carries a run, a worker, and what reads their ledger", function* () {
    const pool = yield* pooled("session", 10)
    const served = yield* cliServed(["--database", join(scratch, "service.db"), "--expert", "first"])
    const env = { ...served.env, PREFSTREAM_LEDGER: pool.url }
    const flags = [input, "--group", "compared", "--batch-size", "4", ...quick]
    const ran = yield* cli(["run", ...flags, "--job", "alone", "--dir", join(scratch, "alone")], env)
    assert.strictEqual(ran.status, 0, ran.stderr)

    const worker = yield* cliStarted(["worker", ...flags, "--job", "many", "--dir", join(scratch, "many")], env)
    const left =
      "SELECT COUNT(*) FILTER (WHERE state <> 'completed'), COUNT(*) FROM task JOIN job USING (job) WHERE name = 'many'"
    yield* Effect.promise(() => until("all results", () => pool.psql(left) === "0|10", 500))
    assert.strictEqual((yield* worker.stop()).status, 0)

    const status = yield* cli(["status", "--job", "many", "--json"], env)
    assert.strictEqual(status.status, 0, status.stderr)
    const exported = yield* cli(["export", "--job", "many", "--dir", join(scratch, "many")], env)
    assert.strictEqual(exported.status, 0, exported.stderr)
    assert.deepStrictEqual(
      datasetHashes(join(scratch, "many", "dataset")),
      datasetHashes(join(scratch, "alone", "dataset")),
    )
  })

  test("in session mode has one holder of a lock, and lets no reader change anything", function* () {
    const { connect } = yield* pooled("session", 20)
    const sql = yield* connect({ lock: "job" })
    yield* sql.withTransaction(sql`CREATE TABLE entry (n INTEGER)`)
    const second = yield* Effect.flip(Effect.scoped(connect({ lock: "job" })))
    assert.strictEqual(second._tag, "FileLockError")
    const reader = yield* connect({ readonly: true })
    const insert = reader`INSERT INTO entry VALUES (1)`
    const reserved = Effect.scoped(
      Effect.flatMap(reader.reserve, (connection) => connection.execute("INSERT INTO entry VALUES (1)", [], undefined)),
    )
    for (const change of [insert, reader.withTransaction(insert), reserved]) {
      assert.match((yield* Effect.flip(change)).message, /read-only transaction/)
    }
    assert.deepStrictEqual(yield* reader`SELECT n FROM entry`, [])
  })

  test("in session mode is refused with fewer sessions than a process needs", function* () {
    const smaller = yield* pooled("session", 1)
    const pool = yield* pooled("session", 5)
    const messages = yield* Effect.all(
      [refusal(smaller, { lock: "job" }), refusal(pool, { lock: "job", sharedBy: "worker" })],
      { concurrency: "unbounded" },
    )
    assert.include(messages[0], "provides only 1 of the 5 connections that a process needs")
    assert.include(messages[1], "provides only 5 of the 10 connections that a process needs")
    assert.deepStrictEqual([pool.psql(locks), pool.psql(tables)], ["0", "0"])
    yield* pool.connect({ lock: "job" })
  })

  test("is refused if it refuses or ignores the schema in the URL", function* () {
    const options = { options: "-c search_path=elsewhere" }
    const refusing = yield* pooled("session", 20)
    assert.include(yield* refusal(refusing, { lock: "job" }, options), "unsupported startup parameter")
    const { status, stderr } = yield* cli(["status"], { PREFSTREAM_LEDGER: `${refusing.url}&options=-cjit%3Doff` })
    assert.deepStrictEqual([status, stderr.trim().split("\n").length], [1, 1])
    assert.include(stderr, "connect directly to PostgreSQL")
    const ignoring = yield* pooled("session", 20, { ignore_startup_parameters: "options" })
    assert.include(yield* refusal(ignoring, { lock: "job" }, options), "ignores the schema in the URL's options")
    const set = yield* pooled("session", 20, { ignore_startup_parameters: "options" })
    set.psql(`ALTER DATABASE ${new URL(set.url).pathname.slice(1)} SET search_path = elsewhere`)
    yield* set.connect({ lock: "job" }, options)
  })

  test("costs nobody else a connection", function* () {
    const database = `pooled_${databases++}`
    server.psql(`CREATE DATABASE ${database}`)
    const url = Redacted.make(`postgres://prefstream@localhost/${database}?host=${server.folder}`)
    yield* Layer.build(Layer.fresh(PostgresClient.layer({ url, lock: "job" })))
    assert.strictEqual(server.psql(`SELECT COUNT(*) FROM pg_stat_activity WHERE datname = '${database}'`), "1")
  })
})
