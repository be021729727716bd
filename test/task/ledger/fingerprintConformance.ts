/** What every ledger must do with its fingerprint: a change that a dataset may show gives another one, and others do not. */
import { assert, describe } from "@effect/vitest"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { otherTaskColumns, taskColumns } from "../../../src/task/ledger/Fingerprint.ts"
import { Ledger } from "../../../src/task/ledger/Ledger.ts"
import {
  batchItems,
  newTask,
  newTasks,
  nothing,
  plan,
  recordStep,
  reject,
  submitted,
  type LedgerTest,
} from "../support.ts"

const all = Option.none<number>()

const fingerprint = Ledger.use((ledger) => ledger.fingerprint(all))

/** Checks that the fingerprint is another one after the effect, or the same. */
const expecting =
  (change: "another" | "the same") =>
  <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const before = yield* fingerprint
      const result = yield* effect
      const after = yield* fingerprint
      if (change === "another") assert.notStrictEqual(after, before, name)
      else assert.strictEqual(after, before, name)
      return result
    })

const changes = expecting("another")
const keeps = expecting("the same")

/** A run that reads the same input again, with these rejects. */
const readAgain = Effect.fnUntraced(function* (known: ReadonlyArray<string>, rejects: ReadonlyArray<number>) {
  const ledger = yield* Ledger
  const run = yield* ledger.startRun()
  const counts = { read: known.length + rejects.length, known: known.length, rejected: rejects.length }
  yield* recordStep(run, counts, { known, rejects: rejects.map(reject) })
  yield* ledger.recordInputs(run, [{ file: "a.jsonl", bytes: 1 }])
  yield* ledger.endRun(run)
})

export const fingerprintConformance = (test: LedgerTest) => {
  test("a run records more input files than fit into one statement", function* (ledger) {
    const run = yield* ledger.startRun()
    const files = Array.from({ length: 4_000 }, (_, i) => ({ file: `${String(i).padStart(4, "0")}.jsonl`, bytes: i }))
    yield* ledger.recordInputs(run, files)
    const inputs = yield* ledger.inputsOf(Option.none())
    assert.deepStrictEqual(
      inputs.map(({ bytes, file }) => ({ file, bytes })),
      files,
    )
  })

  describe("the fingerprint", () => {
    test("knows each column of a task", function* () {
      const sql = yield* SqlClient.SqlClient
      yield* plan(newTasks([1]))
      const [row] = yield* sql<Record<string, unknown>>`SELECT * FROM task`
      assert.sameMembers(Object.keys(row!), [...taskColumns, ...otherTaskColumns])
    })

    test("changes with each result, with one that replaces another at the same moment, and with its removal", function* (ledger) {
      const sql = yield* SqlClient.SqlClient
      yield* submitted([1, 1, 1, 1])
      yield* changes("a result", ledger.markCompleted(0, "{}", "task_0"))
      yield* changes("a second result", ledger.markCompleted(1, "{}", "task_1"))
      yield* keeps("a recheck", ledger.recheckCompleted)
      yield* changes("another result", ledger.markCompleted(0, `{"a":1}`, "task_0"))
      yield* ledger.recheckCompleted
      yield* changes("and another one", ledger.markCompleted(0, "{}", "task_0"))
      yield* changes("a failure", ledger.markFailed(2, "expired", "task_2"))
      yield* changes("an invalid result", ledger.markInvalid(3, "{}", "no results", "task_3"))
      yield* changes("a task that was given up", ledger.giveUp([3]))
      yield* changes("a task that was sent again", ledger.sendAgain([3]))
      yield* changes("results that were pruned", sql`UPDATE task SET pruned_at = 1 WHERE seq = 0`)
    })

    test("changes with what is planned, and with an imported result that replaces another at the same moment", function* (ledger) {
      yield* changes("a campaign", plan(newTasks([2])))
      const tasks = [{ ...newTask(batchItems(2, 1)), taskId: "import_0", result: "{}" }]
      const run = yield* ledger.startRun()
      const counts = { ...nothing, read: 1, new: 1 }
      const step = { rejects: [], counts, finished: true }
      yield* changes("an import", ledger.recordImport(run, { ...step, tasks, changed: [] }))
      const changed = [{ seq: 2, result: `{"a":1}` }]
      yield* changes("a changed vote", ledger.recordImport(run, { ...step, tasks: [], changed }))
      yield* changes("the next", ledger.recordImport(run, { ...step, tasks: [], changed }))
    })

    test("stays the same in a run that reads nothing new, and when tasks are polled", function* (ledger) {
      yield* submitted([2, 1])
      yield* ledger.markCompleted(0, "{}", "task_0")
      const known = ["item-0", "item-1", "item-2"]
      yield* changes("rejects and inputs", readAgain(known, [1, 2]))
      yield* keeps("the same again", readAgain(known, [1, 2]))
      yield* changes("another reject", readAgain(known, [1, 3]))
      yield* changes("fewer rejects", readAgain(known, [1]))
      yield* keeps("a poll", Effect.andThen(ledger.makeDue, ledger.postpone(2, 1000)))
      const delivery = { id: "1", sentAt: 0, taskIds: Option.none() }
      yield* keeps("a delivery", ledger.recordDelivery(delivery))
    })

    test("is one of the campaign, of its terms, and of what votes cost", function* (ledger) {
      yield* submitted([1])
      assert.notStrictEqual(yield* ledger.fingerprint(Option.some(1)), yield* fingerprint)
      yield* changes("a price", ledger.startRun({ price: "0.10" }))
      yield* keeps("the same price", ledger.startRun({ price: "0.10" }))
      yield* changes("a budget", ledger.startRun({ budget: "5.00" }))
      yield* changes("guidelines", ledger.startRun({ guidelines: "Be brief.", newCampaign: true }))
      yield* changes("another service", ledger.bindService("https://b.example/v1", true))
    })

    test("is another one in each ledger", function* () {
      const sql = yield* SqlClient.SqlClient
      yield* submitted([1])
      yield* changes("key", sql`UPDATE setting SET value = 'another' WHERE name = 'expert_key'`)
    })
  })
}
