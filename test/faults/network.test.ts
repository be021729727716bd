/**
 * The whole flow through a network that fails in every way it can, both ways: the tasks finish,
 * none is paid for twice, and the dataset is the same, byte for byte.
 */
import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { cases } from "../support/cases.ts"
import { reportOf, write } from "../support/cli.ts"
import * as FaultProxy from "../support/FaultProxy.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { run } from "../support/program.ts"
import * as WebhookFaults from "../support/WebhookFaults.ts"
import { disturbed, mixedLines, promptsAt, rowsOf, sayChosen, seed } from "./support.ts"
import { jsonl } from "../support/datasetReaders.ts"

/** Fewer tasks meet more faults each, so that each kind still happens often enough. */
const n = cases(200, 2_000)

/** Of all requests that many are disturbed by each fault, beside bursts and outages. */
const rates = Object.fromEntries(FaultProxy.faultNames.map((name) => [name, cases(0.045, 0.01)]))

test(`on a network that fails, ${n} tasks finish, with the same dataset as without faults, and each item once at the service`, function* () {
  yield* sayChosen
  const scratch = yield* temporaryDirectory
  const input = `${scratch}/items.jsonl`
  const lines = mixedLines(n)
  yield* write(input, lines)

  // A service that is nowhere disturbed: the embedded one, without a proxy and without webhooks.
  const undisturbed = yield* Effect.promise(() =>
    run(["run", input, "--dir", `${scratch}/undisturbed`, "--batch-size", "1", "--expert", "longest", "--json"]),
  ).pipe(Effect.forkChild)

  const hooks = yield* WebhookFaults.make({
    seed,
    rates: {
      dropped: 0.1,
      duplicated: 0.1,
      reordered: 0.1,
      delayed: 0.1,
      unacknowledged: cases(0.1, 0.05),
      refused: cases(0.1, 0.05),
    },
    forged: cases(0.8, 0.2),
  })
  const faults = { rates, mostInARow: 2, burstEvery: n / 4, outageEvery: (n * 3) / 4 }
  const { job, listen, proxy, store } = yield* disturbed({ folder: scratch, input, turnaround: "1s" }, hooks, faults)
  const flaky = yield* listen("run", "--json")
  const ended = yield* Effect.promise(() => flaky.ended)
  assert.strictEqual(ended.status, 0, ended.stderr + ended.stdout)

  // Every fault has happened, and on both kinds of requests; and so has everything to webhooks.
  for (const name of FaultProxy.faultNames) {
    for (const method of ["POST", "GET"]) {
      assert.isAtLeast(proxy.count(name, method), cases(2, 5), `${method} ${name}`)
    }
  }
  for (const name of FaultProxy.burstNames) assert.isAtLeast(proxy.count(name), 2, name)
  assert.isAtLeast(proxy.outages(), 2)
  for (const name of WebhookFaults.deliveryFaultNames) assert.isAtLeast(hooks.count(name), cases(5, 20), name)
  for (const name of WebhookFaults.forgeryNames) {
    const answers = hooks.forged.filter(({ forgery }) => forgery === name).map(({ status }) => status)
    assert.isAtLeast(answers.length, 10, name)
    // The last ones may have come when nobody listened any more.
    for (const status of answers) assert.include([400, 401, 0], status, name)
  }

  // Paid for once.
  const prompts = promptsAt(store)
  assert.lengthOf(prompts, n)
  assert.strictEqual(new Set(prompts).size, n)

  // Forged deliveries have left nothing.
  const ledger = `${job}/ledger.db`
  const ids = new Set(hooks.taken.map(({ delivery }) => delivery.headers["webhook-id"]))
  for (const { delivery_id: id } of rowsOf(ledger, "SELECT delivery_id FROM delivery")) {
    assert.isTrue(ids.has(String(id)), String(id))
  }
  assert.lengthOf(rowsOf(ledger, `SELECT 1 FROM hint WHERE task_id = '${WebhookFaults.forgedTask}'`), 0)
  assert.isFalse(proxy.seen.some(({ path }) => path.includes(WebhookFaults.forgedTask)))

  // The same dataset, and the same account of the input.
  const calm = yield* Fiber.join(undisturbed)
  assert.strictEqual(calm.status, 0, calm.stderr)
  // Only the ids of the tasks differ, since the undisturbed ones are in a group.
  const rows = (directory: string) =>
    Effect.promise(() => jsonl(`${directory}/dataset/jsonl/train-00000-of-00001.jsonl`)).pipe(
      Effect.map((all) => all.map((row) => ({ ...row, task_id: "" }))),
    )
  assert.deepStrictEqual(yield* rows(job), yield* rows(`${scratch}/undisturbed`))
  for (const report of [reportOf(ended), reportOf(calm)]) {
    assert.strictEqual(report.read, lines.length)
    assert.strictEqual(report.submitted, n)
    assert.strictEqual(report.duplicates, n / 40)
    assert.strictEqual(report.rejected, n / 50)
    assert.strictEqual(report.tasks.completed.tasks, n)
    assert.strictEqual(report.dataset?.rows, 2 * n)
  }
})
