import { hostname } from "node:os"
import { PgClient } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Latch, Layer, Redacted } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient, Statement } from "effect/sql"
import * as PostgresClient from "../../src/node/PostgresClient.ts"
import * as PostgresLock from "../../src/node/PostgresLock.ts"
import * as SqliteClient from "../../src/node/SqliteClient.ts"
import * as Migrations from "../../src/sql/Migrations.ts"
import { layer, start } from "../node/support.ts"
import { notInstalled, Server } from "../support/postgres.ts"
import { effectTest } from "../support/effectTest.ts"

const testLive = effectTest(it.live)

const options = (migrations: Migrations.Migrations): Migrations.MigrationsOptions => ({
  what: "the test database",
  table: "applied",
  migrations,
})

/** A migration that leaves a table with a row, and can't run twice. */
const create = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE ${sql(name)} (n INTEGER)`
  yield* sql`INSERT INTO ${sql(name)} ${sql.insert({ n: 1 })}`
})

const tables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ name: string }>`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid`
  return rows.map(({ name }) => name)
})

const applied = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ id: number }>`SELECT migration_id AS id FROM applied ORDER BY id`
  return rows.map(({ id }) => id)
})

const test = (name: string, body: () => Effect.fn.Return<void, unknown, SqlClient.SqlClient>) =>
  it.effect(name, () => Effect.provide(Effect.gen(body), SqliteClient.layer({ filename: ":memory:" })))

describe("Migrations", () => {
  test("run once each, in the order of their numbers", function* () {
    const one = { "0001_a": create("a") }
    yield* Migrations.run(options(one))
    yield* Migrations.run(options(one))
    assert.deepStrictEqual(yield* tables, ["applied", "a"])
    const three = options({ "0003_c": create("c"), "0002_b": create("b"), ...one })
    yield* Migrations.run(three)
    yield* Migrations.run(three)
    assert.deepStrictEqual(yield* tables, ["applied", "a", "b", "c"])
    assert.deepStrictEqual(yield* applied, [1, 2, 3])
  })

  test("refuse a database that has another migration under a number, and leave it as it is", function* () {
    yield* Migrations.run(options({ "0001_draft": create("a") }))
    const now = options({ "0001_release": create("b"), "0002_c": create("c") })
    for (const refused of [Migrations.run(now), Migrations.check(now)]) {
      const failure = yield* Effect.flip(refused)
      assert.strictEqual(failure._tag, "DatabaseForeign")
      assert.include(failure.message, 'expected migration "release", found "draft"')
    }
    assert.deepStrictEqual(yield* tables, ["applied", "a"])
  })

  test("refuse a database that holds something else, and leave it as it is", function* () {
    yield* create("stranger")
    const failure = yield* Effect.flip(Migrations.run(options({ "0001_a": create("a") })))
    assert.strictEqual(failure._tag, "DatabaseOccupied")
    assert.include(failure.message, "this database is not the test database, but has other tables (stranger)")
    assert.deepStrictEqual(yield* tables, ["stranger"])
  })

  test("leave nothing of those that were to run with one that failed, and run again once it is mended", function* () {
    const one = { "0001_a": create("a") }
    yield* Migrations.run(options(one))
    const failing = Effect.gen(function* () {
      yield* create("c")
      yield* create("a")
    })
    const failure = yield* Effect.flip(
      Migrations.run(options({ ...one, "0002_b": create("b"), "0003_broken": failing })),
    )
    assert.strictEqual(failure._tag, "MigrationError")
    assert.include(failure.message, "3_broken")
    assert.deepStrictEqual(yield* tables, ["applied", "a"])
    assert.deepStrictEqual(yield* applied, [1])
    yield* Migrations.run(options({ ...one, "0002_b": create("b"), "0003_c": create("c") }))
    assert.deepStrictEqual(yield* applied, [1, 2, 3])
  })

  test("refuse a database of a newer version, and change nothing in it", function* () {
    const one = { "0001_a": create("a") }
    yield* Migrations.run(options({ ...one, "0002_b": create("b"), "0003_c": create("c") }))
    for (const refusing of [Migrations.run(options(one)), Migrations.check(options(one))]) {
      const failure = yield* Effect.flip(refusing)
      assert(failure._tag === "DatabaseTooNew")
      assert.deepStrictEqual([failure.found, failure.supported], [3, 1])
      assert.strictEqual(
        failure.message,
        "the test database has version 3, but this prefstream supports versions up to 1: install a newer prefstream",
      )
    }
    assert.deepStrictEqual(yield* tables, ["applied", "a", "b", "c"])
    assert.deepStrictEqual(yield* applied, [1, 2, 3])
  })

  test("are only looked at by a check", function* () {
    yield* Migrations.run(options({ "0001_a": create("a") }))
    yield* Migrations.check(options({ "0001_a": create("a"), "0002_b": create("b") }))
    assert.deepStrictEqual(yield* tables, ["applied", "a"])
  })
})

describe.skipIf(notInstalled)("Migrations in PostgreSQL", () => {
  let server: Server
  beforeAll(async () => {
    server = await Server.make()
  })
  afterAll(() => server.close())

  it.live("do not change a database that another process uses", () =>
    Effect.gen(function* () {
      const schema = server.newSchema()
      const url = server.url(schema)
      const client = PostgresClient.layer({ url: Redacted.make(url) })
      const one = { "0001_a": create("entry") }
      const two = { ...one, "0002_b": create("b") }
      yield* Effect.provide(Migrations.run(options(one)), client)
      const other = yield* start("postgresHolder.ts", url)
      assert.strictEqual(other.firstLine, "held")
      // Of the same version, it may begin beside the other.
      yield* Effect.provide(Migrations.run(options(one)), client)
      const failure = yield* Effect.flip(Effect.provide(Migrations.run(options(two)), client))
      assert.strictEqual(failure._tag, "DatabaseInUse")
      assert.include(failure.message, "cannot upgrade the test database from version 1 to version 2")
      assert.include(failure.message, `stop them (process ${other.pid} on ${hostname()})`)
      yield* other.kill
      // As a worker's session is named.
      yield* Effect.gen(function* () {
        const worker = { url: Redacted.make(url), applicationName: "prefstream worker 7 elsewhere" }
        yield* PostgresLock.shareTables(yield* PgClient.makeClient(worker))
        const failure = yield* Effect.flip(Effect.provide(Migrations.run(options(two)), client))
        assert.include(failure.message, "stop them (process 7 on elsewhere)")
      }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
      yield* Effect.provide(Migrations.run(options(two)), client)
      assert.strictEqual(server.psql("SELECT COUNT(*) FROM applied", schema), "2")
    }).pipe(Effect.provide(layer), Effect.scoped),
  )

  const one = { "0001_a": create("a") }
  const two = { ...one, "0002_b": create("b") }

  it.live("keep a process of an older version waiting that comes between the look and the change, and refuse it", () =>
    Effect.gen(function* () {
      const url = Redacted.make(server.url(server.newSchema()))
      const run = (migrations: Migrations.Migrations) =>
        Effect.provide(Migrations.run(options(migrations)), Layer.fresh(PostgresClient.layer({ url })))
      yield* run(one)
      const sql = Context.get(yield* Layer.build(Layer.fresh(PgClient.layer({ url }))), SqlClient.SqlClient)
      const older = yield* Latch.make()
      /** First for the table of migrations, then for the migration. */
      let locked = 0
      const opening = yield* Effect.forkChild(Effect.andThen(older.await, Effect.flip(run(one))))
      const comes = Effect.andThen(
        older.open,
        Effect.repeat(sql`SELECT 1 FROM pg_locks WHERE NOT granted`, {
          until: (rows) => rows.length > 0 || opening.pollUnsafe() !== undefined,
        }),
      ).pipe(Effect.provideService(Statement.CurrentTransformer, undefined), Effect.orDie)
      yield* run(two).pipe(
        Effect.provideService(Statement.CurrentTransformer, (statement) =>
          statement.compile()[0].startsWith("LOCK TABLE") && ++locked === 2
            ? Effect.as(comes, statement)
            : Effect.succeed(statement),
        ),
      )
      assert.strictEqual((yield* Fiber.join(opening))._tag, "DatabaseTooNew")
    }).pipe(Effect.scoped),
  )

  testLive("run once where several processes of the new version come at the same time", function* () {
    const schema = server.newSchema()
    const open = (migrations: Migrations.Migrations) =>
      Effect.map(
        Layer.build(Layer.fresh(PostgresClient.layer({ url: Redacted.make(server.url(schema)) }))),
        Context.get(SqlClient.SqlClient),
      ).pipe(
        Effect.flatMap((sql) => Effect.provideService(Migrations.run(options(migrations)), SqlClient.SqlClient, sql)),
      )
    for (const migrations of [one, two]) {
      // They stay.
      yield* Effect.scoped(
        Effect.all(
          [1, 2, 3].map(() => open(migrations)),
          { concurrency: 3 },
        ),
      )
    }
    assert.strictEqual(server.psql("SELECT COUNT(*) FROM applied", schema), "2")
  })
})
