import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as SqliteClient from "../../../src/node/SqliteClient.ts"
import { Ledger, LedgerReader } from "../../../src/task/ledger/Ledger.ts"
import { temporaryPath } from "../../node/support.ts"
import { ledgerConformance } from "./ledgerConformance.ts"
import { newTasks, plan } from "../support.ts"

const newPath = temporaryPath("ledger.db")

ledgerConformance(
  "an SQLite file",
  Layer.unwrap(Effect.map(newPath, (filename) => SqliteClient.layer({ filename, synchronous: "off" }))).pipe(
    Layer.provide(NodeServices.layer),
  ),
)

it.effect("a ledger's file shows a reader what was recorded after it was opened, and takes nothing from it", () =>
  Effect.gen(function* () {
    const path = yield* newPath
    const writing = yield* Effect.map(Layer.build(Ledger.layerFile(path)), Context.get(Ledger))
    const reading = yield* Effect.map(Layer.build(LedgerReader.layerFile(path)), Context.get(LedgerReader))
    assert.strictEqual((yield* reading.counts).planned.tasks, 0)
    yield* plan(newTasks([1, 1])).pipe(Effect.provideService(Ledger, writing))
    assert.strictEqual((yield* reading.counts).planned.tasks, 2)
    assert.notProperty(reading, "startRun")
    assert.strictEqual((yield* writing.startRun()).run, 2)
  }).pipe(Effect.provide(NodeServices.layer)),
)
