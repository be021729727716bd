import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as SqliteClient from "../../../src/node/SqliteClient.ts"
import { Ledger, LedgerReader } from "../../../src/task/ledger/Ledger.ts"
import { start, temporaryPath } from "../../node/support.ts"
import { ledgerConformance } from "./ledgerConformance.ts"
import { newTasks, plan, reject } from "../support.ts"
import { effectTest } from "../../support/effectTest.ts"

const newPath = temporaryPath("ledger.db")

ledgerConformance(
  "an SQLite file",
  Layer.unwrap(Effect.map(newPath, (filename) => SqliteClient.layer({ filename, synchronous: "off" }))).pipe(
    Layer.provide(NodeServices.layer),
  ),
)

const open = (path: string) => Effect.provide(Effect.void, Ledger.layerFile(path))

const lockedBy = Effect.fnUntraced(function* (path: string) {
  const failure = yield* Effect.flip(open(path))
  assert(failure._tag === "FileLockError" && failure.reason._tag === "FileLocked")
  return failure.reason
})

const look = LedgerReader.use((ledger) =>
  Effect.all({
    counts: ledger.counts,
    completed: Stream.runCollect(ledger.completed),
    rejects: Stream.runCollect(ledger.rejects(1)),
    lastRun: ledger.lastRun,
  }),
)

/** One task completed, one submitted, one planned. */
const work = Effect.gen(function* () {
  const ledger = yield* Ledger
  yield* plan(newTasks([2, 3, 4]))
  const [first, second] = yield* ledger.plannedAfter(-1)
  yield* Effect.forEach([first!, second!], ledger.claim)
  yield* ledger.markSubmitted(0, "task_0", 0)
  yield* ledger.markSubmitted(2, "task_1", 0)
  yield* ledger.markCompleted(0, '{"results":[]}')
  const run = yield* ledger.startRun()
  yield* ledger.record(run, {
    tasks: [],
    known: [],
    rejects: [reject(1)],
    counts: { read: 1, new: 0, known: 0, duplicates: 0, reordered: 0, rejected: 1 },
    finished: true,
  })
})

it.layer(NodeServices.layer)("a ledger's file", (it) => {
  const test = effectTest(it.effect)
  test("holds everything that was recorded when it is opened again", function* () {
    const file = Ledger.layerFile(yield* newPath)
    const before = yield* Effect.andThen(work, look).pipe(Effect.provide(file))
    assert.deepStrictEqual(before.counts.completed, { tasks: 1, items: 2 })
    assert.deepStrictEqual(yield* look.pipe(Effect.provide(Layer.fresh(file))), before)
  })

  test("is worked by one process at a time", function* () {
    const path = yield* newPath
    const holder = yield* start("lockHolder.ts", path)
    const reason = yield* lockedBy(path)
    assert.strictEqual(reason.holder?.pid, holder.pid)
    yield* holder.kill
    yield* open(path)
  })

  test("shows a reader what was recorded after it was opened, and takes nothing from it", function* () {
    const path = yield* newPath
    const writing = yield* Effect.map(Layer.build(Ledger.layerFile(path)), Context.get(Ledger))
    const reading = yield* Effect.map(Layer.build(LedgerReader.layerFile(path)), Context.get(LedgerReader))
    assert.strictEqual((yield* reading.counts).planned.tasks, 0)
    yield* plan(newTasks([1, 1])).pipe(Effect.provideService(Ledger, writing))
    assert.strictEqual((yield* reading.counts).planned.tasks, 2)
    assert.notProperty(reading, "startRun")
    assert.strictEqual((yield* writing.startRun()).run, 2)
  })

  test("is refused to readers too where a newer version wrote it", function* () {
    const path = yield* newPath
    yield* open(path)
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO prefstream_migration ${sql.insert({ migration_id: 7, name: "of_the_future" })}`
    }).pipe(Effect.provide(SqliteClient.layer({ filename: path })))
    for (const layer of [LedgerReader.layerFile(path), Ledger.layerFile(path)]) {
      const failure = yield* Effect.flip(Effect.provide(Effect.void, layer))
      assert.strictEqual(failure._tag, "DatabaseTooNew")
      assert.match(
        failure.message,
        /^the ledger has version 7, but this prefstream supports versions up to \d: install a newer prefstream$/,
      )
    }
  })

  test("must exist to be read, and is not created by reading", function* () {
    const path = yield* newPath
    const failure = yield* Effect.flip(Effect.provide(Effect.void, LedgerReader.layerFile(path)))
    assert.strictEqual(failure._tag, "SqlError")
    assert.include(failure.message, path)
    assert.isFalse(yield* FileSystem.FileSystem.use((fs) => fs.exists(path)))
  })
})
