import { assert, describe } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import * as SqliteClient from "../../src/node/SqliteClient.ts"
import * as Summary from "../../src/cli/output/Summary.ts"
import * as RunReport from "../../src/pipeline/RunReport.ts"
import { Ledger } from "../../src/task/ledger/Ledger.ts"
import { testOver } from "../support/effectTest.ts"
import { recordStep, submitted } from "../task/support.ts"

type Service = (typeof Ledger)["Service"]

const test = testOver(Layer.provide(Ledger.layer(), SqliteClient.layer({ filename: ":memory:" })))

const report = RunReport.make({})

/** What may become of the task of the item `seq`, from the least severe on. */
const fates = {
  completed: (ledger: Service, seq: number) => ledger.markCompleted(seq, "{}"),
  refused: (ledger: Service, seq: number) => ledger.markRefused(seq, "no"),
  invalid: (ledger: Service, seq: number) => ledger.markInvalid(seq, "", "odd"),
  failed: (ledger: Service, seq: number) => ledger.markFailed(seq, "gone"),
  in_doubt: (ledger: Service, seq: number) => ledger.markInDoubt(seq, "hm"),
  submitted: () => Effect.void,
  planned: (ledger: Service, seq: number) => ledger.markPlanned(seq),
}
type Fate = keyof typeof fates

describe("RunReport", () => {
  const statuses: ReadonlyArray<readonly [RunReport.RunStatus, ReadonlyArray<Fate>]> = [
    ["done", []],
    ["done", ["completed"]],
    ["done", ["completed", "refused"]],
    ["results_invalid", ["completed", "invalid"]],
    ["results_invalid", ["completed", "refused", "failed"]],
    ["in_doubt", ["completed", "in_doubt"]],
    ["in_doubt", ["invalid", "failed", "in_doubt"]],
    ["waiting", ["completed", "submitted"]],
    ["waiting", ["completed", "planned"]],
    ["waiting", ["refused", "submitted"]],
    ["results_invalid", ["refused", "failed", "submitted"]],
    ["results_invalid", ["invalid", "planned"]],
    ["in_doubt", ["failed", "in_doubt", "submitted"]],
    ["in_doubt", ["completed", "in_doubt", "submitted"]],
  ]
  for (const [status, of] of statuses) {
    test(`is ${status} with ${of.length === 0 ? "no tasks" : `tasks ${of.join(", ")}`}`, function* () {
      const ledger = yield* Ledger
      yield* submitted(of.length)
      for (const [i, fate] of of.entries()) yield* fates[fate](ledger, i)
      assert.strictEqual((yield* report).status, status)
    })
  }

  test("is done where only an earlier campaign has results that can't be used, and waits for an earlier one's", function* () {
    const ledger = yield* Ledger
    yield* submitted(3)
    yield* ledger.markFailed(0, "gone")
    yield* ledger.markInvalid(1, "", "odd")
    assert.strictEqual((yield* report).status, "results_invalid")
    const run = yield* ledger.startRun({ guidelines: "others", newCampaign: true })
    yield* recordStep(run, { read: 1 })
    assert.strictEqual((yield* report).status, "waiting")
    yield* ledger.markCompleted(2, "{}")
    const done = yield* report
    assert.deepStrictEqual([done.status, done.campaign, done.issues.length], ["done", 2, 2])
  })

  test("shows the first ten issues, and how long the command took", function* () {
    const ledger = yield* Ledger
    yield* submitted(12)
    for (let i = 0; i < 12; i++) yield* ledger.markFailed(i, `reason ${i}`)
    const report = yield* RunReport.make({ elapsed: Duration.millis(1_500) })
    const { seconds, issues } = report
    assert.match(
      Summary.text(report, { directory: "job", given: "--dir job" }),
      /reason 9\n… and 2 more tasks\nTo list/,
    )
    assert.deepStrictEqual(
      issues.map(({ reason, task_id }) => [task_id, reason]),
      Array.from({ length: 10 }, (_, i) => [`task_${i}`, `reason ${i}`]),
    )
    assert.strictEqual(seconds, 1.5)
  })
})
