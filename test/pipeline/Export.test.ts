/** The dataset of a ledger that others work meanwhile. */
import { assert } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer } from "effect"
import * as Dataset from "../../src/dataset/Dataset.ts"
import type { QualityReport } from "../../src/domain/QualityReport.ts"
import { exportDataset } from "../../src/pipeline/Export.ts"
import * as RunReport from "../../src/pipeline/RunReport.ts"
import { Ledger, LedgerReader } from "../../src/task/ledger/Ledger.ts"
import { submitted } from "../task/support.ts"
import { qualityOf } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"

/** The answer to the task of this item: the first completion. */
const answerTo = (seq: number): string =>
  JSON.stringify({ results: [{ prompt: `prompt ${seq}`, best_completion_index: 0, annotations: {} }] })

/** Each step's count, beside the count of the one before less what was lost. */
const countsOf = ({ funnel }: QualityReport) =>
  funnel.slice(1, -1).map(({ count, lost, step }, i) => ({
    step,
    count,
    left: funnel[i]!.count - lost.reduce((sum, { count }) => sum + count, 0),
  }))

test("exportDataset is of one moment, though results come in between its reads, and holds them up in nothing", function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* temporaryDirectory
  const file = `${directory}/ledger.db`
  const worker = Context.get(yield* Layer.build(Ledger.layerFile(file)), Ledger)
  yield* Effect.provideService(submitted(6), Ledger, worker)
  const complete = (seqs: ReadonlyArray<number>) =>
    Effect.forEach(seqs, (seq) => worker.markCompleted(seq, answerTo(seq)), { discard: true })

  let arriving: Array<number> = []
  const report = Effect.fnUntraced(function* (judged: number) {
    assert.deepStrictEqual(countsOf(yield* qualityOf(directory)), [
      { step: "submitted", count: 6, left: 6 },
      { step: "judged", count: judged, left: judged },
      { step: "kept", count: judged, left: judged },
    ])
    assert.deepStrictEqual((yield* Dataset.verify(`${directory}/dataset`)).findings, [])
  })
  // What the export does first of all with its folder comes after its first reads, and before the others.
  const whileWriting: FileSystem.FileSystem = {
    ...fs,
    makeDirectory: (...of) =>
      Effect.andThen(Effect.orDie(Effect.suspend(() => complete(arriving.splice(0)))), fs.makeDirectory(...of)),
  }
  const write = exportDataset({ directory, splits: { train: 0.5, test: 0.5 } }).pipe(
    Effect.provideService(FileSystem.FileSystem, whileWriting),
  )

  yield* complete([0])
  arriving = [1, 2]
  yield* Effect.provide(write, LedgerReader.layerFile(file))
  yield* report(1)
  // Also from the process that collects.
  arriving = [3, 4]
  yield* Effect.provideService(write, LedgerReader, worker)
  yield* report(3)
  // What is said of the tasks beside it is of that moment, too.
  arriving = [5]
  const said = Effect.flatMap(write, RunReport.make).pipe(
    LedgerReader.snapshot,
    Effect.provideService(LedgerReader, worker),
  )
  assert.strictEqual((yield* said).tasks.completed.tasks, 5)
  yield* report(5)
})
