import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { cli, cliServed, folderWithItems, itemLines, quick } from "../support/cli.ts"
import * as Collector from "../support/collector.ts"
import { test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { column } from "../support/columns.ts"
import { send } from "../support/webhooks.ts"

const token = "token-of-a-test"

/** A run of five items in two tasks over a service in another process, as it were, and what the collector has of it. */
const observed = Effect.gen(function* () {
  const collector = yield* Collector.make
  const folder = yield* folderWithItems([...itemLines(5), "{}"])
  const variables = (service: string) => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_SERVICE_NAME: service,
  })
  const { env, service } = yield* cliServed(
    ["--database", `${folder}/service.db`, "--expert", "longest"],
    token,
    variables("annotations"),
  )
  const flags = ["--batch-size", "3", "--pairs", "full-ranking", ...quick]
  const run = yield* cli(["run", `${folder}/items.jsonl`, "--dir", `${folder}/job`, ...flags], {
    ...env,
    ...variables("pipeline"),
  })
  assert.strictEqual(run.status, 0, run.stderr)
  const ready = yield* send(new URL("/readyz", env.PREFSTREAM_BASE_URL).href, { method: "GET" })
  assert.strictEqual(ready.status, 200)
  yield* service.stop()
  return collector
})

/** A span and those that led to it, the outermost first, as `service: name`. */
const pathTo = (spans: ReadonlyArray<Collector.Span>, span: Collector.Span): ReadonlyArray<string> => {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId)
  if (parent !== undefined) assert.strictEqual(parent.traceId, span.traceId)
  return [...(parent === undefined ? [] : pathTo(spans, parent)), `${String(span.service)}: ${span.name}`]
}

describe("export by OTLP", () => {
  test("a trace leads from a task that is sent or polled into the service", function* () {
    const spans = (yield* observed).spans()
    const served = (route: string) =>
      spans.filter(({ attributes, kind }) => kind === 2 && attributes["http.route"] === route)
    const created = served("/v1/tasks")
    assert.deepStrictEqual(
      created.map((span) => pathTo(spans, span)),
      Array.from({ length: 2 }, () => [
        "pipeline: Send.task",
        "pipeline: AnnotationClient.create",
        "pipeline: POST",
        "annotations: POST",
      ]),
    )
    const polled = served("/v1/tasks/:task_id")
    assert.isAtLeast(polled.length, 2)
    for (const span of polled) {
      assert.deepStrictEqual(pathTo(spans, span), [
        "pipeline: Collect.task",
        "pipeline: AnnotationClient.poll",
        "pipeline: GET",
        "annotations: GET",
      ])
    }
    // Each task is a trace, from the request that sends it to the last that polls it.
    const ids = created.map(({ attributes }) => attributes["prefstream.task_id"])
    assert.strictEqual(new Set(created.map(({ traceId }) => traceId)).size, 2)
    for (const { attributes, traceId } of created) {
      const ofTask = spans.filter((span) => span.traceId === traceId && /^(Send|Collect)\.task$/.test(span.name))
      assert.isAtLeast(ofTask.length, 2)
      assert.deepStrictEqual(
        [...new Set(ofTask.map((span) => span.attributes["prefstream.task_id"]))],
        [attributes["prefstream.task_id"]],
      )
      for (const span of polled.filter((span) => span.traceId === traceId)) {
        assert.strictEqual(span.attributes["prefstream.task_id"], attributes["prefstream.task_id"])
      }
    }
    const sent = spans.filter(({ name }) => name === "Send.task").map(({ attributes }) => attributes)
    assert.sameDeepMembers(
      sent.map((of) => [of["prefstream.task"], of["prefstream.items"]]),
      [
        [1, 3],
        [4, 2],
      ],
    )
    const collected = spans.filter(({ name }) => name === "Collect.task")
    assert.sameMembers([...new Set(collected.map(({ attributes }) => attributes["prefstream.task_id"]))], ids)
  })

  test("the trace of the command has its stages alone, and those of its tasks link to it", function* () {
    const spans = (yield* observed).spans()
    const command = spans.find(({ name }) => name === "prefstream run")
    assert.isDefined(command)
    assert.sameMembers(
      column(
        spans.filter(({ traceId }) => traceId === command.traceId),
        "name",
      ),
      ["prefstream run", "Pipeline.run", "Submit.submit", "Collect.collect", "Export.exportDataset", "Dataset.write"],
    )
    const submit = spans.find(({ name }) => name === "Submit.submit")
    assert.deepInclude(submit?.attributes, { "prefstream.run": 1, "prefstream.campaign": 1 })
    assert.strictEqual(spans.find(({ name }) => name === "Export.exportDataset")?.attributes["prefstream.rows"], 5)
    for (const { links, name } of spans) {
      if (name === "Send.task") assert.deepStrictEqual(column(links, "spanId"), [submit!.spanId])
    }
    // What looks into a database again and again begins no trace, nor does a health check.
    const known = new Set(spans.map(({ spanId }) => spanId))
    const outermost = spans.filter(({ parentSpanId }) => parentSpanId === undefined || !known.has(parentSpanId))
    assert.sameMembers([...new Set(outermost.map(({ name }) => name))], ["Collect.task", "Send.task", "prefstream run"])
  })

  test("metrics and logs arrive, and nothing has a secret or a text", function* () {
    const collector = yield* observed
    const warning = collector.logs().find(({ body }) => JSON.stringify(body).includes("full-ranking: 5 of 5 items"))
    const command = collector.spans().find(({ name }) => name === "prefstream run")
    assert.isDefined(command)
    assert.strictEqual(warning?.traceId, command.traceId)
    assert.include(collector.metrics(), "prefstream_tasks_total")
    assert.include(collector.metrics(), "prefstream_server_request_seconds")
    const all = collector.texts().join("\n")
    assert.isAbove(collector.spans().length, 10)
    for (const secret of [token, "prompt 3", "item-3"]) assert.notInclude(all, secret)
  })

  test("a collector that is down, or refuses, is one warning, and the work goes on", function* () {
    const folder = yield* folderWithItems(1)
    const refusing = yield* ScriptedService.make(() => ({ status: 403, body: {} }))
    for (const [endpoint, what] of [
      ["http://127.0.0.1:1", "cannot be reached"],
      [refusing.baseUrl, "answers 403"],
    ] as const) {
      const args = ["run", `${folder}/items.jsonl`, "--dir", `${folder}/job`, "--expert", "first"]
      const { status, stderr } = yield* cli(args, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })
      assert.strictEqual(status, 0, stderr)
      const warnings = stderr.split("\n").filter((line) => line.includes("OpenTelemetry"))
      assert.lengthOf(warnings, 1, stderr)
      assert.include(warnings[0], ` warning: the OpenTelemetry collector ${what}: check OTEL_EXPORTER_OTLP_ENDPOINT`)
    }
  })

  test("a setting that cannot be used is refused before anything is done", function* () {
    const folder = yield* folderWithItems(1)
    const run = (variables: Record<string, string>) =>
      cli(["run", `${folder}/items.jsonl`, "--dir", `${folder}/job`, "--expert", "first"], {
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
        ...variables,
      })
    const grpc = yield* run({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })
    assert.strictEqual(grpc.status, 2)
    assert.match(grpc.stderr, /^prefstream: Expected "http\/json" \| "http\/protobuf" at .*OTEL_EXPORTER_OTLP_PROTOCOL/)
    const nowhere = yield* run({ OTEL_EXPORTER_OTLP_ENDPOINT: "collector" })
    assert.strictEqual(nowhere.status, 2)
    assert.match(nowhere.stderr, /^prefstream: Expected a valid URL.*OTEL_EXPORTER_OTLP_ENDPOINT/)
    assert.notInclude(grpc.stderr + nowhere.stderr, "Reading")
  })
})
