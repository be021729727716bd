/** The disk loses what was not synced: a database is opened as it was when a sync began, once that sync has ended. */
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { layer, type SqliteClientConfig } from "../../src/node/SqliteClient.ts"
import * as GroupCommit from "../../src/sql/GroupCommit.ts"
import { layer as platform, temporaryPath } from "./support.ts"
import { effectTest } from "../support/effectTest.ts"

type Callback = (cause: NodeJS.ErrnoException | null) => void

/** Replaces the system's call until the scope closes. */
const patch = (replace: (original: typeof fs.fdatasync) => (descriptor: number, callback: Callback) => void) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const original = fs.fdatasync
      fs.fdatasync = replace(original) as typeof fs.fdatasync
      syncBuiltinESMExports()
      return original
    }),
    (original) =>
      Effect.sync(() => {
        fs.fdatasync = original
        syncBuiltinESMExports()
      }),
  )

const withClient = <A, E, R>(
  config: SqliteClientConfig,
  use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E, R>,
): Effect.Effect<A, unknown, R> =>
  Effect.andThen(SqlClient.SqlClient, use).pipe(
    Effect.provide(Layer.fresh(layer({ syncInBackground: true, ...config }))),
  )

/** The same, in a new database with a table. */
const withTable = (
  config: SqliteClientConfig,
  use: (sql: SqlClient.SqlClient) => Effect.fn.Return<void, unknown, Scope.Scope>,
) =>
  withClient(config, (sql) =>
    Effect.andThen(
      sql`CREATE TABLE entry (id INTEGER PRIMARY KEY, value BLOB)`,
      Effect.gen(() => use(sql)),
    ),
  )

/** What a client finds in a database and its log, as they are in a copy. */
const idsIn = (filename: string) =>
  withClient({ filename }, (sql) => Effect.map(sql`SELECT id FROM entry`.values, (rows) => new Set(rows.flat())))

/** Copies the database and its log whenever a sync begins. `last` is the copy of the last one that succeeded. */
const copies = Effect.fnUntraced(function* (filename: string) {
  const state = { last: "", started: 0, inFlight: 0, maxInFlight: 0 }
  yield* patch((original) => (descriptor, callback) => {
    const copy = `${filename}.${++state.started}`
    for (const suffix of ["", "-wal"]) fs.copyFileSync(`${filename}${suffix}`, `${copy}${suffix}`)
    state.maxInFlight = Math.max(state.maxInFlight, ++state.inFlight)
    original(descriptor, (cause) => {
      state.inFlight--
      if (cause === null) state.last = copy
      callback(cause)
    })
  })
  return state
})

const ids = Array.from({ length: 60 }, (_, i) => i)

const insert = (sql: SqlClient.SqlClient, id: number) =>
  sql`INSERT INTO entry ${sql.insert({ id, value: new Uint8Array(50_000).fill(id) })}`

/** Waits in real time, so that a test that fails ends. */
const waitUntil = (isSo: () => boolean) =>
  Effect.repeat(
    Effect.promise(() => new Promise<void>((resolve) => setTimeout(resolve, 1))),
    { until: isSo, times: 5000 },
  )

const eio = () => Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO", errno: -5 })

it.layer(platform)("SqliteSync", (it) => {
  const test = effectTest(it.effect)
  for (const [name, pageBytes, grouped] of [
    ["a transaction", undefined, false],
    ["a group's write", undefined, true],
    ["a group's write, with pages of 64 kB", 65_536, true],
  ] as const) {
    test(`${name} is on disk when it succeeds, also when checkpoints come between`, function* () {
      const filename = yield* temporaryPath("a.db")
      const state = yield* copies(filename)
      const acknowledged: Array<readonly [id: number, copy: string]> = []
      yield* withTable({ filename, walBytes: 500_000, pageBytes }, function* (sql) {
        const log = fs.statSync(`${filename}-wal`).ino
        const write = grouped ? yield* GroupCommit.make(sql) : sql.withTransaction
        yield* Effect.forEach(
          ids,
          (id) =>
            Effect.map(write(insert(sql, id)), () => {
              acknowledged.push([id, state.last])
            }),
          { concurrency: 8, discard: true },
        )
        assert.strictEqual(fs.statSync(`${filename}-wal`).ino, log)
      })
      assert.lengthOf(acknowledged, ids.length)
      assert.strictEqual(state.maxInFlight, 1)
      const found = new Map<string, Set<unknown>>()
      for (const [id, copy] of acknowledged) {
        if (!found.has(copy)) found.set(copy, yield* idsIn(copy))
        assert.isTrue(found.get(copy)!.has(id), `${id} is missing in ${copy}`)
      }
      // Otherwise all could be on disk by a checkpoint.
      assert.isAbove(found.size, 5)
    })
  }

  test("SQLite syncs the statements outside of a transaction itself", function* () {
    const filename = yield* temporaryPath("a.db")
    const state = yield* copies(filename)
    yield* withTable({ filename }, function* (sql) {
      const level = sql`PRAGMA synchronous`.values
      yield* insert(sql, 1)
      assert.strictEqual(state.started, 0)
      assert.deepStrictEqual(yield* sql.withTransaction(level), [[1]])
      assert.deepStrictEqual(yield* level, [[2]])
      const nested = sql.withTransaction(insert(sql, 2))
      yield* sql.withTransaction(
        Effect.andThen(
          nested,
          Effect.sync(() => assert.strictEqual(state.started, 1)),
        ),
      )
      assert.strictEqual(state.started, 2)
      yield* Effect.exit(sql.withTransaction(Effect.andThen(insert(sql, 3), Effect.fail("rolled back"))))
      assert.strictEqual(state.started, 2)
    })
  })

  test("the connection is free while a sync is under way; those that wait share the next", function* () {
    const filename = yield* temporaryPath("a.db")
    const held: Array<() => void> = []
    yield* patch((original) => (descriptor, callback) => {
      held.push(() => original(descriptor, callback))
    })
    const began = waitUntil(() => held.length > 0)
    yield* withTable({ filename }, function* (sql) {
      const done = yield* Deferred.make<void>()
      const first = yield* Effect.forkChild(sql.withTransaction(insert(sql, 1)))
      yield* began
      const later = yield* Effect.forkChild(
        Effect.all(
          [2, 3].map((id) => sql.withTransaction(insert(sql, id))),
          { concurrency: 2 },
        ).pipe(Effect.andThen(Deferred.succeed(done, undefined))),
      )
      const count = Effect.map(sql`SELECT id FROM entry`, (rows) => rows.length)
      yield* Effect.repeat(count, { until: (n) => n === 3, times: 1000 })
      assert.strictEqual(yield* count, 3)
      assert.lengthOf(held, 1)
      assert.isUndefined(first.pollUnsafe())
      held.pop()?.()
      yield* Fiber.join(first)
      yield* began
      assert.isFalse(yield* Deferred.isDone(done))
      held.pop()?.()
      yield* Fiber.join(later)
      assert.lengthOf(held, 0)
    })
  })

  test("the log is synced that is beside the database, where its path is a link", function* () {
    const filename = yield* temporaryPath("a.db")
    const link = yield* temporaryPath("link.db")
    fs.symlinkSync(filename, link)
    fs.writeFileSync(`${link}-wal`, "of another database")
    const synced: Array<number> = []
    yield* patch((original) => (descriptor, callback) => {
      synced.push(fs.fstatSync(descriptor).ino)
      original(descriptor, callback)
    })
    yield* withTable({ filename: link }, function* (sql) {
      yield* sql.withTransaction(insert(sql, 1))
      assert.deepStrictEqual(synced, [fs.statSync(`${filename}-wal`).ino])
    })
  })

  test("closing waits for a sync whose transaction was interrupted", function* () {
    const filename = yield* temporaryPath("a.db")
    const descriptors: Array<number> = []
    yield* patch((original) => (descriptor, callback) => {
      descriptors.push(descriptor)
      setTimeout(() => original(descriptor, callback), 50)
    })
    yield* withTable({ filename }, function* (sql) {
      const fiber = yield* Effect.forkChild(sql.withTransaction(insert(sql, 1)))
      yield* waitUntil(() => descriptors.length > 0)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
    })
    assert.throws(() => fs.fstatSync(descriptors[0]!), "EBADF")
    assert.deepStrictEqual(yield* idsIn(filename), new Set([1]))
  })

  test("a sync that fails makes its transaction and all later ones fail, and statements outside of one", function* () {
    const filename = yield* temporaryPath("a.db")
    let isBroken = false
    yield* patch((original) => (descriptor, callback) => {
      if (isBroken) setImmediate(callback, eio())
      else original(descriptor, callback)
    })
    yield* withTable({ filename }, function* (sql) {
      yield* sql.withTransaction(insert(sql, 1))
      const write = yield* GroupCommit.make(sql)
      isBroken = true
      const failures = [yield* Effect.flip(write(insert(sql, 2)))]
      isBroken = false
      for (const later of [write(insert(sql, 3)), sql.withTransaction(insert(sql, 4)), insert(sql, 5)]) {
        failures.push(yield* Effect.flip(later))
      }
      for (const { isRetryable, message } of failures) {
        assert.include(message, "failed to write to the disk: EIO")
        assert.isFalse(isRetryable)
      }
    })
    const found = yield* idsIn(filename)
    assert.deepStrictEqual(
      [1, 3, 4, 5].map((id) => found.has(id)),
      [true, false, false, false],
    )
  })
})
