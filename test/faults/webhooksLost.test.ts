/** Webhooks that are lost, where polling is too seldom to make up for it: nothing is missing in the end. */
import { fileURLToPath } from "node:url"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { cases } from "../support/cases.ts"
import { cli, itemLines, reportOf, write } from "../support/cli.ts"
import * as FaultProxy from "../support/FaultProxy.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { bin, startSources, until } from "../support/process.ts"
import { scoped } from "../support/program.ts"
import { urlOf } from "../support/webhooks.ts"
import * as WebhookFaults from "../support/WebhookFaults.ts"
import { rowsOf, sayChosen, seed, serveWithWebhook, token } from "./support.ts"

const n = cases(60, 200)
const fixture = fileURLToPath(new URL("fixtures/job.ts", import.meta.url))

test("where webhooks are lost, those that arrive bring their results, and one look finds the rest", function* () {
  yield* sayChosen
  const job = yield* temporaryDirectory
  const input = `${job}/items.jsonl`
  yield* write(input, itemLines(n))
  const hooks = yield* WebhookFaults.make({ seed, rates: { dropped: 0.2, duplicated: 0.2 }, forged: 0.5 })
  const { origin, secret } = yield* serveWithWebhook(`${job}/service.db`, hooks.url, ["--turnaround", "500ms"])
  const proxy = yield* FaultProxy.make(origin, { seed })

  const settings = {
    FAULTS_BASE_URL: `${proxy.origin}/v1`,
    FAULTS_INPUT: input,
    FAULTS_JOB: job,
    FAULTS_POLL_HOURS: "1",
    FAULTS_TOKEN: token,
    PREFSTREAM_WEBHOOK_SECRET: secret,
  }
  const listening = yield* scoped(() => startSources([bin, "run", fixture, "--listen", "0"], { env: settings }))
  hooks.receiver = { url: yield* urlOf(listening), secret }
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

  const collecting = yield* scoped(() => startSources([bin, "collect", fixture, "--once", "--json"], { env: settings }))
  const once = yield* Effect.promise(() => collecting.ended)
  assert.strictEqual(once.status, 0, once.stderr)
  assert.strictEqual(reportOf(once).tasks.completed.tasks, n)
})
