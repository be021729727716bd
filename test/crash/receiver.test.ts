/** What a webhook delivery that was answered with 204 is worth after kill -9. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { cli, itemLines, reportOf, to, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { started } from "../support/program.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { completed, deliver, secret, urlOf } from "../support/webhooks.ts"

const seldom = ["--poll-min", "5h", "--poll-max", "10h", "--requests-per-second", "1000"]

describe("kill -9 after a delivery was answered with 204", () => {
  for (const [name, payload, due] of [
    ["that named tasks", completed(["task_1", "task_3"]), ["task_1", "task_3"]],
    ["that named none", { event: "done" }, ["task_0", "task_1", "task_2", "task_3"]],
  ] as const) {
    test(`${name}: the next start looks at them at once, though polling would not for hours`, function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, itemLines(4))
      let back = false
      // Until it is back, the service leaves every GET unanswered: no look can end before the kill.
      const service = yield* ScriptedService.make((request, before) =>
        request.method === "POST" || back
          ? ScriptedService.obliging(request, before)
          : new Promise<ScriptedService.Answer>(() => undefined),
      )
      const env = { ...to(service), PREFSTREAM_WEBHOOK_SECRET: secret }
      const submitted = yield* cli(["submit", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", ...seldom], env)
      assert.strictEqual(submitted.status, 0, submitted.stderr)

      const killed = yield* started(["collect", "--dir", job, "--listen", "0", ...seldom], env)
      const url = yield* urlOf(killed)
      assert.strictEqual(yield* deliver(url, payload), 204)
      killed.child.kill("SIGKILL")
      assert.strictEqual((yield* Effect.promise(() => killed.ended)).signal, "SIGKILL")

      back = true
      const before = service.received.length
      const next = yield* started(["collect", "--dir", job, ...seldom], env)
      yield* Effect.repeat(Effect.yieldNow, { until: () => service.received.length === before + due.length })
      next.child.kill("SIGTERM")
      yield* Effect.promise(() => next.ended)
      assert.deepStrictEqual(
        service.received
          .slice(before)
          .map(({ path }) => path.split("/").at(-1) ?? "")
          .toSorted(),
        [...due],
      )
      const status = yield* cli(["status", "--dir", job, "--json"])
      assert.strictEqual(reportOf(status).tasks.completed.tasks, due.length)
    })
  }
})
