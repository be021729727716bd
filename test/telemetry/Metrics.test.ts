import { assert, describe } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { cli, cliServed, cliStarted, folderWithItems, itemLines, quick, to } from "../support/cli.ts"
import { test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { completed, deliver, secret, send } from "../support/webhooks.ts"

/** The samples of Prometheus' text format: `name{label="value"}` and its number. */
const parse = (text: string): Readonly<Record<string, number>> =>
  Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => {
        const [, name, value] = /^([a-z_]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})?) (\S+)$/.exec(line) ?? []
        if (name === undefined) throw new Error(`no sample: ${line}`)
        return [name, Number(value)]
      }),
  )

/** In a process of its own, as far as metrics go. */
const afresh = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, Metric.MetricRegistry, new Map())

const originIn = (said: string) => /metrics are at (\S+)/.exec(said)?.[1] ?? ""

describe("metrics", () => {
  test("what a run and a service did is at /metrics", () =>
    Effect.gen(function* () {
      const folder = yield* folderWithItems([...itemLines(5), itemLines(1)[0]!, "{}"])
      const flags = ["--expert", "longest", "--monitor", "0"]
      const { env, service } = yield* cliServed(["--database", `${folder}/service.db`, ...flags])
      const origin = originIn(yield* service.talks(/metrics are at \S+\n/))
      const run = () =>
        cli(["run", `${folder}/items.jsonl`, "--dir", `${folder}/job`, "--batch-size", "3", ...quick], env)
      assert.strictEqual((yield* run()).status, 0)
      assert.strictEqual((yield* run()).status, 0)

      const answer = yield* send(`${origin}/metrics`, { method: "GET" })
      assert.match(String(answer.headers["content-type"]), /^text\/plain; version=0\.0\.4/)
      const samples = parse(answer.body)
      const polls = samples['prefstream_client_request_seconds_count{request="poll",status="200"}'] ?? 0
      assert.isAtLeast(polls, 2)
      assert.deepInclude(samples, {
        'prefstream_records_total{outcome="new"}': 5,
        'prefstream_records_total{outcome="known"}': 5,
        'prefstream_records_total{outcome="duplicate"}': 2,
        'prefstream_records_total{outcome="rejected"}': 2,
        'prefstream_tasks_total{state="submitted"}': 2,
        'prefstream_tasks_total{state="completed"}': 2,
        prefstream_exported_rows_total: 5,
        'prefstream_client_request_seconds_count{request="create",status="201"}': 2,
        'prefstream_client_request_seconds_bucket{request="create",status="201",le="+Inf"}': 2,
        'prefstream_server_request_seconds_count{status="201"}': 2,
      })
      assert.isAtLeast(samples['prefstream_server_request_seconds_count{status="200"}'] ?? 0, polls)
      assert.isAbove(samples['prefstream_client_request_seconds_sum{request="create",status="201"}'] ?? 0, 0)
    }).pipe(afresh))

  test("requests that wait and that are under way, refusals, failed tasks and webhooks", () =>
    Effect.gen(function* () {
      const released = Promise.withResolvers<void>()
      const service = yield* ScriptedService.make(async ({ method, path }, before) => {
        if (method === "GET") {
          await released.promise
          return { status: 200, body: { task_id: path.split("/").at(-1), status: "cancelled" } }
        }
        if (before.length === 0) return { status: 429, headers: { "retry-after": "0" } }
        return { status: 201, body: { task_id: `task_${before.length}` } }
      })
      // So many that the first poll is under way while others are still to be created.
      const tasks = 40
      const folder = yield* folderWithItems(tasks)
      const job = yield* cliStarted(
        ["run", `${folder}/items.jsonl`, "--dir", `${folder}/job`, "--batch-size", "1", "--concurrency", "1"].concat(
          ["--monitor", "0", "--listen", "0", "--idempotency-key", "honored"],
          quick,
        ),
        { ...to(service), PREFSTREAM_WEBHOOK_SECRET: secret },
      )
      const origin = originIn(yield* job.talks(/metrics are at \S+\n/))
      const [, url = ""] = /received at (\S+)/.exec(yield* job.talks(/received at \S+\n/)) ?? []
      assert.strictEqual(yield* deliver(url, completed(["task_1"])), 204)
      assert.strictEqual((yield* send(url, { body: "{}" })).status, 400)
      const metrics = Effect.map(send(`${origin}/metrics`, { method: "GET" }), ({ body }) => parse(body))
      const requests = (state: string) => `prefstream_client_requests{state="${state}"}`
      // One poll is under way, as many as there may be, and another waits.
      yield* Effect.repeat(metrics, {
        until: (samples) => samples[requests("in_flight")] === 1 && (samples[requests("waiting")] ?? 0) > 0,
      })
      released.resolve()
      assert.strictEqual((yield* job.ended).status, 1)
      const samples = parse(yield* PrometheusMetrics.format())
      assert.deepInclude(samples, {
        'prefstream_client_request_seconds_count{request="create",status="429"}': 1,
        'prefstream_client_request_seconds_count{request="create",status="201"}': tasks,
        'prefstream_tasks_total{state="submitted"}': tasks,
        'prefstream_tasks_total{state="failed"}': tasks,
        'prefstream_webhooks_total{outcome="accepted"}': 1,
        'prefstream_webhooks_total{outcome="refused"}': 1,
      })
      assert.notProperty(samples, requests("waiting"))
    }).pipe(afresh))
})
