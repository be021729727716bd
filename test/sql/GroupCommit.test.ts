import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Cause, Context, Effect, Exit, Fiber, Latch, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as SqliteClient from "../../src/node/SqliteClient.ts"
import * as GroupCommit from "../../src/sql/GroupCommit.ts"
import { temporaryPath } from "../node/support.ts"
import { effectTest } from "../support/effectTest.ts"

/** Writes to a table in a file, and what a second connection sees of it. */
const open = Effect.gen(function* () {
  const filename = yield* temporaryPath("group.db")
  const connect = Effect.map(
    Layer.build(Layer.fresh(SqliteClient.layer({ filename, synchronous: "off" }))),
    Context.get(SqlClient.SqlClient),
  )
  const sql = yield* connect
  yield* sql`CREATE TABLE entry (ordinal INTEGER PRIMARY KEY AUTOINCREMENT, n INTEGER UNIQUE)`
  yield* sql`CREATE TABLE orphan (n INTEGER REFERENCES entry (n) DEFERRABLE INITIALLY DEFERRED)`
  const other = yield* connect
  let transactions = 0
  const scope = yield* Scope.make()
  const write = yield* GroupCommit.make({
    withTransaction: (effect) =>
      Effect.suspend(() => {
        transactions++
        return sql.withTransaction(effect)
      }),
  }).pipe(Scope.provide(scope))
  const insert = (n: number) => sql`INSERT INTO entry ${sql.insert({ n })}`

  /** Holds the writer inside a transaction, so that what is asked for meanwhile is one group. */
  const hold = Effect.fnUntraced(function* (statements: Effect.Effect<unknown, SqlError> = Effect.void) {
    const entered = yield* Latch.make()
    const released = yield* Latch.make()
    const fiber = yield* Effect.forkChild(
      write(entered.open.pipe(Effect.andThen(released.await), Effect.andThen(statements))),
      { startImmediately: true },
    )
    yield* entered.await
    return { fiber, release: released.open }
  })

  /** Asks for all writes at once, in order. */
  const ask = <A>(writes: ReadonlyArray<Effect.Effect<A, SqlError>>) =>
    Effect.forEach(writes, (statements) => Effect.forkChild(write(statements), { startImmediately: true }))

  return {
    write,
    insert,
    insertOrphan: sql`INSERT INTO orphan ${sql.insert({ n: -1 })}`,
    hold,
    ask,
    seen: Effect.map(other<{ n: number }>`SELECT n FROM entry ORDER BY ordinal`, (rows) => rows.map(({ n }) => n)),
    transactions: () => transactions,
    close: Scope.close(scope, Exit.void),
  }
})

const upTo = (n: number) => Array.from({ length: n }, (_, i) => i)

it.layer(NodeServices.layer)("GroupCommit", (it) => {
  const test = effectTest(it.effect)

  test("no write of a group succeeds before the whole group is committed", function* () {
    const { ask, hold, insert, seen, write } = yield* open
    const first = yield* hold()
    const early = yield* ask([insert(1)])
    // In the same group, after the early one.
    const second = yield* Effect.forkChild(hold(insert(2)), { startImmediately: true })
    yield* first.release
    const held = yield* Fiber.join(second)
    assert.isUndefined(early[0]!.pollUnsafe())
    assert.deepStrictEqual(yield* seen, [])
    yield* held.release
    yield* Fiber.joinAll(early)
    assert.deepStrictEqual(yield* seen, [1, 2])
    yield* write(insert(3))
  })

  test("writes are carried out in the order in which they were asked for, in few commits", function* () {
    const { ask, hold, insert, seen, transactions } = yield* open
    const held = yield* hold()
    const fibers = yield* ask(upTo(600).map(insert))
    yield* held.release
    yield* Fiber.joinAll(fibers)
    assert.deepStrictEqual(yield* seen, upTo(600))
    // The one that was held, and groups of at most 256.
    assert.strictEqual(transactions(), 4)
  })

  test("a write that fails fails its group, of which nothing has happened; the next group works", function* () {
    const { ask, hold, insert, seen, write } = yield* open
    yield* write(insert(1))
    const held = yield* hold()
    const group = yield* ask([insert(2), insert(1), insert(3)])
    yield* held.release
    for (const fiber of group) {
      assert.strictEqual((yield* Effect.flip(Fiber.join(fiber))).reason._tag, "UniqueViolation")
    }
    assert.deepStrictEqual(yield* seen, [1])
    yield* Fiber.joinAll(yield* ask([insert(2), insert(3)]))
    assert.deepStrictEqual(yield* seen, [1, 2, 3])
  })

  test("a group that can't be committed fails, and has not happened; the next group works", function* () {
    const { ask, hold, insert, insertOrphan, seen, write } = yield* open
    const held = yield* hold()
    // Its foreign key is looked at when the transaction is committed.
    const group = yield* ask([insert(1), insertOrphan])
    yield* held.release
    for (const fiber of group) {
      assert.strictEqual((yield* Effect.flip(Fiber.join(fiber))).reason._tag, "ConstraintError")
    }
    assert.deepStrictEqual(yield* seen, [])
    yield* write(insert(1))
    assert.deepStrictEqual(yield* seen, [1])
  })

  for (const [name, broken, isIt] of [
    ["dies", Effect.die("a bug"), Cause.hasDies],
    ["interrupts itself", Effect.interrupt, Cause.hasInterrupts],
  ] as const) {
    test(`a write that ${name} leaves nobody waiting, and the writer works on`, function* () {
      const { ask, hold, insert, seen, write } = yield* open
      const held = yield* hold()
      const group = yield* ask<unknown>([insert(1), Effect.andThen(insert(2), broken), insert(3)])
      yield* held.release
      for (const fiber of group) {
        const exit = yield* Fiber.await(fiber)
        assert.isTrue(Exit.isFailure(exit) && isIt(exit.cause))
      }
      assert.deepStrictEqual(yield* seen, [])
      yield* write(insert(4))
      assert.deepStrictEqual(yield* seen, [4])
    })
  }

  test("what was asked for is carried out, also when nobody waits for it any more", function* () {
    const { ask, hold, insert, seen } = yield* open
    const held = yield* hold()
    const [first, second] = yield* ask([insert(1), insert(2)])
    yield* Fiber.interrupt(first!)
    yield* held.release
    yield* Fiber.join(second!)
    assert.deepStrictEqual(yield* seen, [1, 2])
  })

  test("a waiter that is interrupted while its group is under way takes nothing from it", function* () {
    const { hold, insert, seen, write } = yield* open
    const held = yield* hold(insert(1))
    yield* Fiber.interrupt(held.fiber)
    yield* held.release
    yield* write(insert(2))
    assert.deepStrictEqual(yield* seen, [1, 2])
  })

  test("closing commits what was asked for, and interrupts what is asked for later", function* () {
    const { ask, close, hold, insert, seen, write } = yield* open
    const held = yield* hold(insert(0))
    const group = yield* ask([insert(1), insert(2)])
    const closing = yield* Effect.forkChild(close, { startImmediately: true })
    assert.isUndefined(closing.pollUnsafe())
    const late = yield* Effect.exit(write(insert(3)))
    assert.isTrue(Exit.isFailure(late) && Cause.hasInterruptsOnly(late.cause))
    yield* held.release
    yield* Fiber.join(closing)
    assert.deepStrictEqual(yield* seen, [0, 1, 2])
    yield* Fiber.joinAll(group)
  })
})
