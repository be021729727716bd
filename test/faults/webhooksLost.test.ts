/** Webhooks that are lost, where polling is too seldom to make up for it: nothing is missing in the end. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { cases } from "../support/cases.ts"
import { cli, itemLines, reportOf, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { until } from "../support/process.ts"
import * as WebhookFaults from "../support/WebhookFaults.ts"
import { disturbed, rowsOf, sayChosen, seed } from "./support.ts"

const n = cases(60, 200)

test("where webhooks are lost, those that arrive bring their results, and one look finds the rest", function* () {
  yield* sayChosen
  const folder = yield* temporaryDirectory
  const input = `${folder}/items.jsonl`
  yield* write(input, itemLines(n))
  const hooks = yield* WebhookFaults.make({ seed, rates: { dropped: 0.2, duplicated: 0.2 }, forged: 0.5 })
  const polled = { FAULTS_POLL_HOURS: "1" }
  const { job, listen, proxy, start } = yield* disturbed({ folder, input, turnaround: "500ms" }, hooks, {}, polled)
  const listening = yield* listen("run")
  const named = (fault: (one: WebhookFaults.Taken["fault"]) => boolean) =>
    hooks.taken
      .filter((one) => fault(one.fault))
      .flatMap(({ delivery }) => (JSON.parse(delivery.body) as { data: { task_ids: Array<string> } }).data.task_ids)
  const looked = () => new Set(proxy.seen.filter(({ method }) => method === "GET").map(({ path }) => path))
  yield* Effect.promise(() =>
    until("the result of each task whose delivery arrived", () => {
      const results = "SELECT COUNT(*) AS n FROM task WHERE state = 'completed'"
      return (
        hooks.taken.length === n &&
        Number(rowsOf(`${job}/ledger.db`, results)[0]!["n"]) >= named((fault) => fault !== "dropped").length
      )
    }),
  )
  listening.child.kill("SIGTERM")
  yield* Effect.promise(() => listening.ended)

  const dropped = named((fault) => fault === "dropped")
  assert.isAtLeast(dropped.length, cases(2, 15))
  for (const id of dropped) assert.isFalse(looked().has(`/v1/tasks/${id}`), id)
  const before = reportOf(yield* cli(["status", "--dir", job, "--json"]))
  assert.strictEqual(before.tasks.submitted.tasks, dropped.length)
  assert.strictEqual(before.tasks.completed.tasks, n - dropped.length)
  assert.isAtLeast(hooks.forged.length, cases(10, 50))
  for (const { forgery, status } of hooks.forged) assert.include([400, 401], status, forgery)

  const collecting = yield* start("collect", "--once", "--json")
  const once = yield* Effect.promise(() => collecting.ended)
  assert.strictEqual(once.status, 0, once.stderr)
  assert.strictEqual(reportOf(once).tasks.completed.tasks, n)
})
