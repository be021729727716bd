import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import * as SqliteClient from "../../src/node/SqliteClient.ts"
import * as Summary from "../../src/cli/output/Summary.ts"
import * as RunReport from "../../src/pipeline/RunReport.ts"
import { Ledger, type LedgerReader } from "../../src/task/ledger/Ledger.ts"
import { newTasks, plan, reject } from "../task/support.ts"

type Service = Ledger["Service"]

const test = (name: string, effect: Effect.Effect<void, unknown, Ledger | LedgerReader>) =>
  it.effect(name, () =>
    Effect.provide(effect, Ledger.layer().pipe(Layer.provide(SqliteClient.layer({ filename: ":memory:" })))),
  )

const report = RunReport.make({})

const submitted = Effect.fnUntraced(function* (n: number) {
  const ledger = yield* Ledger
  yield* plan(newTasks(Array.from({ length: n }, () => 2)))
  yield* Effect.forEach(yield* ledger.plannedAfter(-1), ledger.claim)
  for (let i = 0; i < n; i++) yield* ledger.markSubmitted(2 * i, `task_${i}`, 0)
})

/** What may become of the task that begins with the item `seq`, from the least severe on. */
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
    test(
      `is ${status} with ${of.length === 0 ? "no tasks" : `tasks ${of.join(", ")}`}`,
      Effect.gen(function* () {
        const ledger = yield* Ledger
        yield* submitted(of.length)
        for (const [i, fate] of of.entries()) yield* fates[fate](ledger, 2 * i)
        assert.strictEqual((yield* report).status, status)
      }),
    )
  }

  test(
    "counts items that the service refused as rejected, not as submitted",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* plan(newTasks([3, 2]))
      const run = yield* ledger.startRun()
      // The first item of each old task is read again, beside two new ones, a repeat and a record that is none.
      yield* ledger.record(run, {
        tasks: newTasks([1, 1], 5),
        known: ["item-0", "item-3"],
        rejects: [reject(1)],
        counts: { read: 6, new: 2, known: 2, duplicates: 1, reordered: 0, rejected: 1 },
        finished: true,
      })
      const before = yield* report
      assert.deepStrictEqual(
        [before.read, before.submitted, before.not_submitted, before.known, before.duplicates, before.rejected],
        [6, 0, 4, 2, 1, 1],
      )
      yield* ledger.markRefused(0, "no")
      yield* ledger.markRefused(5, "no")
      const after = yield* report
      assert.deepStrictEqual(
        [after.read, after.submitted, after.not_submitted, after.duplicates, after.rejected],
        [6, 0, 2, 1, 3],
      )
      yield* Effect.forEach(yield* ledger.plannedAfter(-1), ({ seq }) => ledger.markSubmitted(seq, `task_${seq}`, 0))
      const sent = yield* report
      assert.deepStrictEqual([sent.submitted, sent.not_submitted], [2, 0])
      assert.strictEqual(sent.read, sent.submitted + sent.duplicates + sent.rejected)
      assert.deepStrictEqual(after.tasks.refused, { tasks: 2, items: 4 })
    }),
  )

  test(
    "is done where only an earlier campaign has results that can't be used, and waits for an earlier one's",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* submitted(3)
      yield* ledger.markFailed(0, "gone")
      yield* ledger.markInvalid(2, "", "odd")
      assert.strictEqual((yield* report).status, "results_invalid")
      const run = yield* ledger.startRun({ guidelines: "others", newCampaign: true })
      const counts = { read: 1, new: 0, known: 0, duplicates: 0, reordered: 0, rejected: 0 }
      yield* ledger.record(run, { tasks: [], known: [], rejects: [], counts, finished: true })
      assert.strictEqual((yield* report).status, "waiting")
      yield* ledger.markCompleted(4, "{}")
      const done = yield* report
      assert.deepStrictEqual([done.status, done.campaign, done.issues.length], ["done", 2, 2])
    }),
  )

  test(
    "shows the first ten issues, and how long the command took",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* submitted(12)
      for (let i = 0; i < 12; i++) yield* ledger.markFailed(2 * i, `reason ${i}`)
      const report = yield* RunReport.make({ elapsed: Duration.millis(1_500) })
      const { seconds, issues } = report
      assert.match(Summary.text(report, { directory: "job", given: "--dir job" }), /reason 9\n… and 2 more\nTo list/)
      assert.deepStrictEqual(
        issues.map(({ reason, task_id }) => [task_id, reason]),
        Array.from({ length: 10 }, (_, i) => [`task_${i}`, `reason ${i}`]),
      )
      assert.strictEqual(seconds, 1.5)
    }),
  )

  test(
    "is all zeros for a ledger that has read nothing",
    Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* ledger.startRun()
      const { known, dataset, duplicates, example, read, rejected, seconds, submitted } = yield* report
      assert.deepStrictEqual(
        { read, submitted, known, duplicates, rejected },
        {
          read: 0,
          submitted: 0,
          known: 0,
          duplicates: 0,
          rejected: 0,
        },
      )
      assert.deepStrictEqual([dataset, example, seconds], [null, null, null])
    }),
  )
})
