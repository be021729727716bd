import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Stream } from "effect"
import * as SqliteClient from "../../../src/node/SqliteClient.ts"
import { Ledger, LedgerReader } from "../../../src/task/ledger/Ledger.ts"
import { temporaryPath } from "../../node/support.ts"
import { ledgerConformance } from "./ledgerConformance.ts"
import { bring, newTasks, plan, recordStep, reject } from "../support.ts"
import { effectTest } from "../../support/effectTest.ts"

const newPath = temporaryPath("ledger.db")

ledgerConformance(
  "an SQLite file",
  Layer.unwrap(Effect.map(newPath, (filename) => SqliteClient.layer({ filename, synchronous: "off" }))).pipe(
    Layer.provide(NodeServices.layer),
  ),
)

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
  yield* bring(0, "completed")
  yield* bring(2, "submitted")
  yield* recordStep(yield* ledger.startRun(), { read: 1, rejected: 1 }, { rejects: [reject(1)] })
})

it.layer(NodeServices.layer)("a ledger's file", (it) => {
  const test = effectTest(it.effect)
  test("holds everything that was recorded when it is opened again", function* () {
    const file = Ledger.layerFile(yield* newPath)
    const before = yield* Effect.andThen(work, look).pipe(Effect.provide(file))
    assert.deepStrictEqual(before.counts.completed, { tasks: 1, items: 2 })
    assert.deepStrictEqual(yield* look.pipe(Effect.provide(Layer.fresh(file))), before)
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
})
