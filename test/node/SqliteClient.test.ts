/**
 * What any SQLite client must do to stand where this one stands, a package that
 * replaces it included. Long because it is that one list.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, FileSystem, Option, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { layer } from "../../src/node/SqliteClient.ts"
import type { SqliteClientConfig } from "../../src/node/SqliteClient.ts"
import { layer as platform, start, temporaryPath } from "./support.ts"
import { effectTest } from "../support/effectTest.ts"

/** A client whose database is in memory, unless a test says otherwise. */
const withClient =
  (config?: Partial<SqliteClientConfig>) =>
  <A, E, R>(use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E, R>) =>
    Effect.andThen(SqlClient.SqlClient, use).pipe(Effect.provide(layer({ filename: ":memory:", ...config })))

const during = <A>(
  config: Partial<SqliteClientConfig>,
  body: (sql: SqlClient.SqlClient) => Effect.fn.Return<A, unknown, FileSystem.FileSystem>,
) => withClient(config)(Effect.fnUntraced(body))

const testInMemory = (name: string, body: (sql: SqlClient.SqlClient) => Effect.fn.Return<void, unknown>) =>
  it.effect(name, () => withClient()(Effect.fnUntraced(body)))

const names = (sql: SqlClient.SqlClient) =>
  Effect.map(sql`SELECT name FROM entry ORDER BY id`.values, (rows) => rows.flat())

const withEntries = (sql: SqlClient.SqlClient) =>
  sql`CREATE TABLE entry (id INTEGER PRIMARY KEY, name TEXT UNIQUE, parent INTEGER REFERENCES entry (id))`

const modeOf = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return (yield* fs.stat(path)).mode & 0o777
})

const numbers = (sql: SqlClient.SqlClient, count: number) =>
  sql`WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ${count}) SELECT n FROM number`

describe("SqliteClient", () => {
  describe("values", () => {
    const values: ReadonlyArray<readonly [string, unknown]> = [
      ["null", null],
      ["zero", 0],
      ["minus zero", -0],
      ["an integer", -42],
      ["the largest integer", Number.MAX_SAFE_INTEGER],
      ["the smallest integer", Number.MIN_SAFE_INTEGER],
      ["a float", 0.1],
      ["the largest float", Number.MAX_VALUE],
      ["infinity", -Infinity],
      ["an empty text", ""],
      ["text", "naïve 😀 \u{1F468}\u200D\u{1F469} \uFEFF \\ ' \" \n"],
      ["no bytes", new Uint8Array(0)],
      ["every byte", Uint8Array.from({ length: 256 }, (_, i) => i)],
      ["a window on bytes", Uint8Array.from([1, 2, 3, 4, 5]).subarray(1, 4)],
    ]

    testInMemory("comes back as it went in", function* (sql) {
      yield* sql`CREATE TABLE cell (value)`
      for (const [what, value] of values) {
        yield* sql`INSERT INTO cell ${sql.insert({ value })}`
        assert.deepStrictEqual(yield* sql`DELETE FROM cell RETURNING value`, [{ value }], what)
      }
    })

    testInMemory("text with NUL comes back as it went in, or is refused where Node would cut it", function* (sql) {
      const rows = yield* sql`SELECT ${"a\0b\0"} AS value`.pipe(
        Effect.catch((error) => Effect.succeed(error.message.includes("NUL") ? "refused" : error)),
      )
      const [major = 0] = process.versions.node.split(".").map(Number)
      if (major < 24 && rows === "refused") return
      assert.deepStrictEqual(rows, [{ value: "a\0b\0" }])
    })

    testInMemory("booleans go in as 0 and 1, undefined as null, integers as integers", function* (sql) {
      const rows = yield* sql`SELECT ${true} AS yes, ${false} AS no, ${undefined} AS missing, json_array(${5}) AS json`
      assert.deepStrictEqual(rows, [{ yes: 1, no: 0, missing: null, json: "[5]" }])
    })

    testInMemory("an integer beyond 2^53 is an error, and a bigint where bigints are asked for", function* (sql) {
      const beyond = sql`SELECT ${2n ** 53n + 1n} AS n`
      const error = yield* Effect.flip(beyond)
      assert.include(error.message, "9007199254740993")
      const rows = yield* Effect.provideService(beyond, SqlClient.SafeIntegers, true)
      assert.deepStrictEqual(rows, [{ n: 9007199254740993n }])
      assert.deepStrictEqual(yield* sql`SELECT 1 AS n`, [{ n: 1 }])
    })

    const refused: ReadonlyArray<readonly [string, unknown]> = [
      ["a Date", new Date(0)],
      ["NaN", NaN],
      ["a Object", { a: 1 }],
      ["a Array", [1]],
      ["a Map", new Map()],
      ["a function", () => 1],
      ["a symbol", Symbol("s")],
    ]

    // As the first parameter Node would take an object for named parameters, and shift the others.
    testInMemory("of other types are refused", function* (sql) {
      for (const [found, value] of refused) {
        const error = yield* Effect.flip(sql.unsafe("SELECT ? AS a, ? AS b", [value, 3]))
        assert.include(error.message, "parameter 1: expected")
        assert.include(error.message, `found ${found}`)
      }
    })

    testInMemory("rows are plain objects", function* (sql) {
      const rows = yield* sql`SELECT 1 AS n`
      assert.strictEqual(Object.getPrototypeOf(rows[0]), Object.prototype)
    })
  })

  describe("statements", () => {
    testInMemory("more statements than the cache holds", function* (sql) {
      for (let n = 0; n < 250; n++)
        assert.deepStrictEqual(yield* sql.unsafe(`SELECT ${n % 210} AS n`), [{ n: n % 210 }])
    })

    testInMemory("a statement that failed for want of its table works once the table is there", function* (sql) {
      const error = yield* Effect.flip(names(sql))
      assert.include(error.message, "no such table: entry")
      yield* withEntries(sql)
      assert.deepStrictEqual(yield* names(sql), [])
    })

    testInMemory("a second statement in one text is refused, not forgotten", function* (sql) {
      const error = yield* Effect.flip(sql`SELECT 1; SELECT 2;`)
      assert.include(error.message, "found more after it: SELECT 2;")
      assert.deepStrictEqual(yield* sql`SELECT 1 AS n ; `, [{ n: 1 }])
    })
  })

  describe("errors", () => {
    testInMemory("a duplicate is a unique violation that names its columns, also in a primary key", function* (sql) {
      yield* withEntries(sql)
      yield* sql`INSERT INTO entry ${sql.insert({ id: 1, name: "a" })}`
      const unique = yield* Effect.flip(sql`INSERT INTO entry ${sql.insert({ id: 2, name: "a" })}`)
      assert(unique.reason._tag === "UniqueViolation")
      assert.strictEqual(unique.reason.constraint, "entry.name")
      const primary = yield* Effect.flip(sql`INSERT INTO entry ${sql.insert({ id: 1, name: "b" })}`)
      assert(primary.reason._tag === "UniqueViolation")
      assert.strictEqual(primary.reason.constraint, "entry.id")
      yield* sql`CREATE TABLE pair (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID`
      yield* sql`INSERT INTO pair VALUES (1, 2)`
      const compound = yield* Effect.flip(sql`INSERT INTO pair VALUES (1, 2)`)
      assert(compound.reason._tag === "UniqueViolation")
      assert.strictEqual(compound.reason.constraint, "pair.a, pair.b")
    })

    testInMemory("a full database", function* (sql) {
      yield* sql`CREATE TABLE cell (value)`
      yield* sql`PRAGMA max_page_count = 10`
      const error = yield* Effect.flip(sql`INSERT INTO cell ${sql.insert({ value: new Uint8Array(100_000) })}`)
      assert.include(error.message, "database or disk is full")
      assert.isFalse(error.isRetryable)
    })
  })

  describe("transactions", () => {
    testInMemory("a failure rolls back, a nested one only to its savepoint", function* (sql) {
      yield* withEntries(sql)
      const insert = (name: string) => sql`INSERT INTO entry (name) VALUES (${name})`
      const failing = (name: string) => sql.withTransaction(Effect.andThen(insert(name), Effect.fail("no")))

      yield* Effect.gen(function* () {
        yield* insert("outer")
        yield* sql.withTransaction(insert("kept"))
        assert.strictEqual(yield* Effect.flip(failing("undone")), "no")
        yield* insert("after")
      }).pipe(sql.withTransaction)
      assert.deepStrictEqual(yield* names(sql), ["outer", "kept", "after"])

      assert.strictEqual(yield* Effect.flip(failing("undone")), "no")
      const exit = yield* Effect.exit(sql.withTransaction(Effect.andThen(insert("undone"), Effect.die("bug"))))
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(yield* names(sql), ["outer", "kept", "after"])
    })

    testInMemory("an interrupted one rolls back and lets the next one in", function* (sql) {
      yield* withEntries(sql)
      const inserted = yield* Deferred.make<void>()
      const fiber = yield* sql`INSERT INTO entry (name) VALUES ('undone')`.pipe(
        Effect.andThen(Deferred.succeed(inserted, undefined)),
        Effect.andThen(Effect.never),
        sql.withTransaction,
        Effect.forkChild,
      )
      yield* Deferred.await(inserted)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* names(sql), [])
      yield* sql.withTransaction(sql`INSERT INTO entry (name) VALUES ('a')`)
      assert.deepStrictEqual(yield* names(sql), ["a"])
    })

    testInMemory("a commit that is refused rolls back and lets the next one in", function* (sql) {
      yield* sql`CREATE TABLE parent (id INTEGER PRIMARY KEY)`
      yield* sql`CREATE TABLE child (parent INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)`
      const error = yield* Effect.flip(sql.withTransaction(sql`INSERT INTO child VALUES (1)`))
      assert.strictEqual(error.reason._tag, "ConstraintError")
      yield* sql.withTransaction(sql`INSERT INTO parent VALUES (1)`)
      assert.deepStrictEqual(yield* sql`SELECT * FROM child`, [])
    })

    testInMemory("other fibers' statements stay out of one", function* (sql) {
      yield* withEntries(sql)
      const add = Effect.fnUntraced(function* (n: number) {
        const [row] = yield* sql<{ readonly count: number }>`SELECT count(*) AS count FROM entry`
        yield* Effect.yieldNow
        yield* sql`INSERT INTO entry ${sql.insert({ id: row!.count + 1, name: `t${n}` })}`
        yield* Effect.yieldNow
        if (n % 3 === 0) return yield* Effect.fail("no")
      }, sql.withTransaction)
      const outside = (n: number) => sql`SELECT name FROM entry WHERE name = ${`t${n * 3}`}`
      const numbered = Array.from({ length: 60 }, (_, n) => n)
      const [exits, seen] = yield* Effect.all(
        [
          Effect.forEach(numbered, (n) => Effect.exit(add(n)), { concurrency: "unbounded" }),
          Effect.forEach(numbered, outside, { concurrency: "unbounded" }),
        ],
        { concurrency: "unbounded" },
      )
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 40)
      assert.deepStrictEqual(seen.flat(), [])
      assert.strictEqual((yield* names(sql)).length, 40)
    })
  })

  describe("stream", () => {
    testInMemory("100,000 rows, a bounded array of them at a time", function* (sql) {
      const sizes: Array<number> = []
      const sum = yield* numbers(sql, 100_000).stream.pipe(
        Stream.chunks,
        Stream.runFold(
          () => 0,
          (sum, rows) => {
            sizes.push(rows.length)
            return rows.reduce((total, row) => total + Number(row.n), sum)
          },
        ),
      )
      assert.strictEqual(sum, (100_000 * 100_001) / 2)
      assert.isAtMost(Math.max(...sizes), 128)
    })

    testInMemory("rows are read when they are asked for", function* (sql) {
      // Without end: only a lazy reader gets out of it.
      const rows = sql`WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number) SELECT n FROM number`
      const last = yield* rows.stream.pipe(Stream.take(1000), Stream.runLast)
      assert.deepStrictEqual(Option.getOrThrow(last), { n: 1000 })
    })

    testInMemory("gives every row and no other, around multiples of what is read at once", function* (sql) {
      for (const count of [0, 1, 127, 128, 129, 256]) {
        const rows = yield* Stream.runCollect(sql`SELECT * FROM (${numbers(sql, 256)}) WHERE n <= ${count}`.stream)
        assert.deepStrictEqual(
          rows.map((row) => row.n),
          Array.from({ length: count }, (_, i) => i + 1),
        )
      }
    })

    testInMemory("one that is left early closes its cursor and gives the connection back", function* (sql) {
      yield* sql`CREATE TABLE cell (value)`
      yield* sql`INSERT INTO cell SELECT n FROM (${numbers(sql, 1000)})`
      const some = yield* sql`SELECT value FROM cell`.stream.pipe(Stream.take(3), Stream.runCollect)
      assert.deepStrictEqual(some, [{ value: 1 }, { value: 2 }, { value: 3 }])
      const failed = yield* sql`SELECT value FROM cell`.stream.pipe(
        Stream.runForEach(() => Effect.fail("enough")),
        Effect.flip,
      )
      assert.strictEqual(failed, "enough")
      // SQLite refuses this while a cursor stands open on the table.
      yield* sql`DROP TABLE cell`
    })

    testInMemory("in a transaction, the same statement can be run while its stream is read", function* (sql) {
      const statement = numbers(sql, 300)
      const lengths = yield* statement.stream.pipe(
        Stream.mapEffect(() => statement),
        Stream.map((rows) => rows.length),
        Stream.runCollect,
        sql.withTransaction,
      )
      assert.deepStrictEqual(
        lengths,
        Array.from({ length: 300 }, () => 300),
      )
    })

    testInMemory("a row that can't be read fails the stream and frees the connection", function* (sql) {
      yield* sql`CREATE TABLE cell (value)`
      yield* sql`INSERT INTO cell VALUES (1), (${2n ** 60n})`
      const error = yield* Effect.flip(Stream.runDrain(sql`SELECT value FROM cell`.stream))
      assert.include(error.message, "1152921504606846976")
      yield* sql`DROP TABLE cell`
    })
  })

  it.layer(platform)("files", (it) => {
    const test = effectTest(it.effect)
    test("a file keeps its rows, in WAL, with every commit synced", function* () {
      const filename = yield* temporaryPath("a.db")
      yield* during({ filename }, function* (sql) {
        assert.deepStrictEqual(yield* sql`PRAGMA journal_mode`, [{ journal_mode: "wal" }])
        assert.deepStrictEqual(yield* sql`PRAGMA synchronous`, [{ synchronous: 2 }])
        yield* withEntries(sql)
        yield* sql`INSERT INTO entry (name) VALUES ('a')`
      })
      const fs = yield* FileSystem.FileSystem
      // The last connection to close takes the log back into the file.
      assert.isFalse(yield* fs.exists(`${filename}-wal`))
      assert.deepStrictEqual(yield* withClient({ filename })(names), ["a"])
    })

    test("a file that it creates, and what SQLite puts beside it, is its owner's alone", function* () {
      const fs = yield* FileSystem.FileSystem
      const filename = yield* temporaryPath("a.db")
      yield* during({ filename }, function* (sql) {
        yield* withEntries(sql)
        for (const beside of ["", "-wal", "-shm"]) assert.strictEqual(yield* modeOf(`${filename}${beside}`), 0o600)
      })
      yield* fs.chmod(filename, 0o640)
      yield* withClient({ filename })(names)
      assert.strictEqual(yield* modeOf(filename), 0o640)
    })

    test("settings reach the database", function* () {
      const settings = { synchronous: "normal", cacheBytes: 1_048_576, walBytes: 1_000_000 } as const
      yield* during({ ...settings, busyTimeout: "1 second" }, function* (sql) {
        assert.deepStrictEqual(yield* sql`PRAGMA synchronous`, [{ synchronous: 1 }])
        assert.deepStrictEqual(yield* sql`PRAGMA cache_size`, [{ cache_size: -1024 }])
        // In pages of 4 kB.
        assert.deepStrictEqual(yield* sql`PRAGMA wal_autocheckpoint`, [{ wal_autocheckpoint: 245 }])
        assert.deepStrictEqual(yield* sql`PRAGMA busy_timeout`, [{ timeout: 1000 }])
      })
    })

    test("the size of pages is that of a new file, and an old one keeps its own", function* () {
      const filename = yield* temporaryPath("a.db")
      for (const pageBytes of [65_536, 8192]) {
        yield* during({ filename, pageBytes, walBytes: 1_000_000 }, function* (sql) {
          yield* sql`CREATE TABLE ${sql(`of_${pageBytes}`)} (value)`
          assert.deepStrictEqual(yield* sql`PRAGMA page_size`, [{ page_size: 65_536 }])
          assert.deepStrictEqual(yield* sql`PRAGMA wal_autocheckpoint`, [{ wal_autocheckpoint: 16 }])
        })
      }
    })

    test("read-only, nothing is created and nothing is changed", function* () {
      const fs = yield* FileSystem.FileSystem
      const filename = yield* temporaryPath("a.db")
      const absent = yield* Effect.flip(withClient({ filename, readonly: true })(names))
      assert.include(absent.message, filename)
      assert.isFalse(yield* fs.exists(filename))

      yield* withClient({ filename })(withEntries)
      const before = yield* fs.readFile(filename)
      const error = yield* during({ filename, readonly: true }, function* (sql) {
        assert.deepStrictEqual(yield* sql.withTransaction(names(sql)), [])
        return yield* Effect.flip(sql`INSERT INTO entry (name) VALUES ('a')`)
      })
      assert.include(error.message, "readonly")
      assert.deepStrictEqual(yield* fs.readFile(filename), before)
    })

    test("while another process writes, it can be read, and a second writer is refused", function* () {
      const filename = yield* temporaryPath("a.db")
      const writer = yield* start("writer.ts", filename)
      assert.strictEqual(writer.firstLine, "in a transaction")

      const count = yield* withClient({ filename, readonly: true })((sql) => sql`SELECT count(*) AS n FROM entry`)
      assert.deepStrictEqual(count, [{ n: 20 }])

      yield* during({ filename, busyTimeout: 0 }, function* (sql) {
        const write = sql`INSERT INTO entry (n) VALUES (100)`
        for (const attempt of [write, sql.withTransaction(write)]) {
          const error = yield* Effect.flip(attempt)
          assert.strictEqual(error.reason._tag, "LockTimeoutError")
          assert.isTrue(error.isRetryable)
          assert.include(error.message, "database is locked")
        }
        const begun = yield* Effect.flip(sql.withTransaction(Effect.die("began without the write lock")))
        assert.strictEqual(begun.reason._tag, "LockTimeoutError")
      })
    })

    test("after a kill -9, what was committed is there and the rest is not", function* () {
      const filename = yield* temporaryPath("a.db")
      const writer = yield* start("writer.ts", filename)
      const fs = yield* FileSystem.FileSystem
      // The unfinished transaction has reached the disk: it takes a recovery to be rid of it.
      assert.isAbove(Number((yield* fs.stat(`${filename}-wal`)).size), 3_000_000)
      yield* writer.kill

      yield* during({ filename }, function* (sql) {
        const rows = yield* sql<{ readonly n: number }>`SELECT n FROM entry ORDER BY n`
        assert.deepStrictEqual(
          rows.map((row) => row.n),
          Array.from({ length: 20 }, (_, n) => n),
        )
        assert.deepStrictEqual(yield* sql`PRAGMA integrity_check`, [{ integrity_check: "ok" }])
        yield* sql`INSERT INTO entry (n) VALUES (100)`
      })
    })
  })
})
