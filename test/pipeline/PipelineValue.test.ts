/** Pipelines as values: what they may be made of, what is refused before anything is sent, and how far they read ahead. */
import { assert, describe } from "@effect/vitest"
import { Config, ConfigProvider, Context, Data, Effect, FileSystem, Layer, Result, Schema, Stream } from "effect"
import type * as Pairs from "../../src/pair/Pairs.ts"
import * as Pipeline from "../../src/pipeline/Pipeline.ts"
import * as Source from "../../src/source/Source.ts"
import * as TrainerFormats from "../../src/dataset/format/TrainerFormats.ts"
import { layerEmbedded } from "../../src/service/AnnotationService.ts"
import * as Tasks from "../../src/task/Tasks.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import * as Logs from "../support/logs.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

class TableUnreadable extends Data.TaggedError("TableUnreadable") {}

class Table extends Context.Service<Table, { readonly rows: Stream.Stream<unknown, TableUnreadable> }>()(
  "test/Table",
) {}

const itemsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: n, prompt: `Prompt ${n}`, completions: ["right", "wrong!"] }))

const outputs: TrainerFormats.TrainerFormat = {
  name: "outputs",
  description: "The two completions",
  container: "jsonl",
  features: () => ({ outputs: { list: "string" } }),
  encoder: TrainerFormats.rowPerPair(({ chosen, rejected }) => Result.succeed({ outputs: [chosen, rejected] })),
  row: Schema.Struct({ outputs: Schema.Array(Schema.String) }),
}

const shorterChosen: Pairs.OwnCheck = {
  name: "shorter-chosen",
  measure: "share of items whose chosen completion is the shorter one",
  valueOf: (_, [pair]) => pair && pair.chosen.length < pair.rejected.length,
}

const pipelineOf = Effect.fnUntraced(function* (settings: Partial<Pipeline.Settings> = {}) {
  const directory = yield* temporaryDirectory
  const service = layerEmbedded({ database: `${directory}/service.db`, experts: ["shortest"] })
  return Pipeline.make({ directory, source: Source.make(itemsOf(6)), service, ...settings })
})

describe("a pipeline", () => {
  test("takes a source with its own service and error, a service and a client that read settings, a format, a check, and half a batch", function* () {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* temporaryDirectory
    const service = yield* ScriptedService.make(ScriptedService.obliging)
    const pipeline = Pipeline.make({
      directory,
      source: Source.make(Stream.unwrap(Effect.map(Table, ({ rows }) => rows)), { name: "table" }),
      service: Layer.unwrap(Effect.as(Config.String("URL"), service.profile)),
      client: Layer.unwrap(Effect.as(Config.String("KEY"), Tasks.AnnotationClient.layer)),
      formats: ["trl", outputs],
      checks: [shorterChosen],
      batch: { maxPrompts: 4 },
      shuffleSeed: false,
    })
    const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ URL: "x", KEY: "y" }))
    const runOver = (rows: Stream.Stream<unknown, TableUnreadable>) =>
      Pipeline.run(pipeline).pipe(Effect.provideService(Table, { rows }), Effect.provide(settings))

    const failure = yield* Effect.flip(runOver(Stream.fail(new TableUnreadable())))
    assert.strictEqual(failure._tag, "TableUnreadable")
    const report = yield* runOver(Stream.fromIterable(itemsOf(6)))
    assert.deepStrictEqual([report.status, report.dataset?.rows], ["done", 6])
    const sizes = ScriptedService.posts(service).map(({ body }): number => JSON.parse(body).prompts.length)
    assert.sameMembers(sizes, [2, 4])
    const rows = yield* fs.readFileString(`${directory}/dataset/formats/outputs/train.jsonl`)
    assert.strictEqual(rows, '{"outputs":["right","wrong!"]}\n'.repeat(6))
    const { checks } = JSON.parse(yield* fs.readFileString(`${directory}/dataset/report.json`)) as {
      checks: ReadonlyArray<Record<string, unknown>>
    }
    assert.deepInclude(checks.at(-1)!, { check: "shorter-chosen", value: 1, count: 6, passed: true })

    const strict = { ...pipeline, checks: [{ ...shorterChosen, threshold: 0.5 }] }
    const exceeded = yield* Effect.flip(Pipeline.exportDataset(strict))
    assert.match(
      exceeded.message,
      /^the dataset was not written: shorter-chosen is 1 \(threshold: at most 0\.5\)\. See/,
    )
    const above = { ...pipeline, checks: [{ ...shorterChosen, threshold: 0.5, direction: "above" as const }] }
    assert.isTrue((yield* Pipeline.exportDataset(above)).dataset._tag === "Some")
    const { checks: recorded } = JSON.parse(yield* fs.readFileString(`${directory}/dataset/manifest.json`)).settings
    assert.deepStrictEqual(recorded, [{ name: "shorter-chosen", threshold: 0.5 }])
  })

  test("goes step by step, each with the value alone, in the end with the same dataset", function* () {
    const pipeline = yield* pipelineOf({ splits: { test: 0.5 } })
    const submitted = yield* Pipeline.submit(pipeline)
    assert.deepStrictEqual([submitted.read, submitted.submitted, submitted.dataset], [6, 6, null])
    const collected = yield* Pipeline.collect({ ...pipeline, timeout: "1 minute" })
    assert.strictEqual(collected.tasks.completed.items, 6)
    const { dataset } = yield* Pipeline.exportDataset(pipeline)
    assert.strictEqual(dataset._tag === "Some" && dataset.value.rows, 6)
    const report = yield* Pipeline.run(pipeline)
    assert.deepStrictEqual(
      [report.known, report.dataset?.manifestSha256],
      [6, dataset._tag === "Some" && dataset.value.manifestSha256],
    )
    const other = yield* pipelineOf()
    assert.strictEqual((yield* Effect.flip(Pipeline.exportDataset(other)))._tag, "LedgerMissing")
  })

  test("knows that the service declares keys, as a command does", function* () {
    const document = { paths: { "/v1/tasks": { post: { parameters: [{ in: "header", name: "Idempotency-Key" }] } } } }
    for (const [declared, posts] of [
      [document, 2],
      [undefined, 1],
    ] as const) {
      const service = yield* ScriptedService.make(
        (request, before) => (before.length === 0 ? "reset" : ScriptedService.obliging(request, before)),
        {},
        declared,
      )
      const pipeline = yield* pipelineOf()
      const report = yield* Pipeline.run({ ...pipeline, service: service.profile })
      assert.strictEqual(report.status, declared === undefined ? "in_doubt" : "done")
      assert.lengthOf(service.received.filter(ScriptedService.isPost), posts)
    }
  })

  test("with values that no type check has seen, or that are out of range, is refused with the name of the setting, before anything is sent", function* () {
    const fs = yield* FileSystem.FileSystem
    const service = yield* ScriptedService.make(ScriptedService.obliging)
    const pipeline = { ...(yield* pipelineOf()), service: service.profile }
    const refused = Effect.fnUntraced(function* (cases: ReadonlyArray<readonly [settings: object, message: RegExp]>) {
      for (const [settings, message] of cases) {
        const wrong: typeof pipeline = { ...pipeline, directory: `${pipeline.directory}/new`, ...settings }
        assert.match((yield* Effect.flip(Pipeline.run(wrong))).message, message)
      }
    })
    yield* refused([
      [
        { guideline: "x" },
        /^guideline \(did you mean guidelines\?\): expected the name of a pipeline setting, found an unknown name$/,
      ],
      [{ source: "items.jsonl" }, /^source: expected a source, such as Source\.files\(…\), found "items\.jsonl"$/],
      [{ service: { baseUrl: "x" } }, /^service: expected a layer, found an object/],
      [{ directory: "" }, /^directory: expected a non-empty text, found/],
      [{ timeout: "soon" }, /^timeout: expected a time above 0, such as "12 hours", found "soon"$/],
      [{ grace: -1 }, /^grace: expected a time/],
      [{ once: "yes" }, /^once: expected true or false, found "yes"$/],
      [{ formats: "trl" }, /^formats: expected a list, found "trl"$/],
      [
        { webhook: { port: 0 } },
        /^webhook: expected an object with `secrets`, or with a function `verify`, found an object/,
      ],
      [{ thresholds: null }, /^thresholds: expected an object, found null$/],
      [{ pairs: "best-against-one" }, /^pairs: expected a function, found/],
    ])
    assert.isFalse(yield* fs.exists(`${pipeline.directory}/new`))
    yield* refused([
      [{ batch: { maxPrompts: 0 } }, /^batch\.maxPrompts: expected a whole number of at least 1, found 0$/],
      [{ batch: { maxBytes: -1 } }, /^batch\.maxBytes: expected a whole number of at least 1, found -1$/],
      [{ maxPlanned: 0 }, /^maxPlanned: expected a whole number of at least 1, or Infinity, found 0$/],
      [{ maxAttempts: 0.5 }, /^maxAttempts: expected a whole number of at least 1, found 0\.5$/],
      [
        { checks: [{ ...shorterChosen, name: "kappa" }] },
        /^checks\[0\]\.name: expected a name that no other check has, found kappa$/,
      ],
      [
        { checks: [{ ...shorterChosen, threshold: Number.NaN }] },
        /^checks\[0\]\.threshold: expected a number, found NaN$/,
      ],
      [
        { checks: [{} as Pairs.OwnCheck] },
        /^checks\[0\]: expected an object with `name`, `measure`, and `valueOf`, found/,
      ],
      [
        { formats: [{ name: "own" } as typeof outputs] },
        /^formats: expected one of trl, .*, or a custom format, found/,
      ],
      [
        { formats: [{ ...outputs, name: "a/b" }] },
        /^formats: expected a name that has only ASCII letters, .* dot, found "a\/b"$/,
      ],
      [{ formats: ["trl", "trl"] }, /^formats: expected different names, found "trl" twice$/],
    ])
    assert.isEmpty(service.received)
  })

  test("with a protocol that calls a task open logs nothing about the status, and reads no document of the contract", function* () {
    const logs = Logs.make()
    let polls = 0
    const client = Tasks.AnnotationClient.layerProtocol({
      create: () => Effect.succeed("task"),
      poll: (_, { task }) =>
        ++polls === 1
          ? Effect.succeed({ _tag: "Open", status: "WORKING" })
          : Effect.map(task, ({ prompts }) => ({ _tag: "Completed", results: prompts.map(() => ({ best: 0 })) })),
    })
    let documents = 0
    const document = () => {
      documents++
      return { status: 404 }
    }
    const service = yield* ScriptedService.make(ScriptedService.obliging, { idempotencyKey: "declared" }, document)
    const pipeline = yield* pipelineOf()
    const report = yield* Pipeline.run({ ...pipeline, service: service.profile, client }).pipe(logs.during)
    assert.deepStrictEqual([report.status, polls, documents], ["done", 2, 0])
    assert.notInclude(logs.messages.join("\n"), "WORKING")
  })

  test("reads at most maxPlanned items ahead of what is sent, also of a source that never ends", function* () {
    const maxPlanned = 20
    let pulled = 0
    const ahead: Array<number> = []
    const service = yield* ScriptedService.make((request, before) => {
      const posts = before.filter(ScriptedService.isPost).length
      if (ScriptedService.isPost(request)) ahead.push(pulled - posts)
      // The service refuses the organization in the end, so that the run ends.
      return posts < 200
        ? ScriptedService.obliging(request, before)
        : { status: 401, body: { title: "no", status: 401 } }
    })
    const endless = Stream.iterate(0, (n) => n + 1).pipe(
      Stream.map((n) => {
        pulled++
        return { id: n, prompt: `Prompt ${n}`, completions: ["a", "b"] }
      }),
      Stream.rechunk(5),
    )
    const pipeline = yield* pipelineOf({ source: Source.make(endless), batch: { maxPrompts: 1 }, maxPlanned })
    const failure = yield* Effect.flip(Pipeline.submit({ ...pipeline, service: service.profile }))
    assert.strictEqual(failure._tag, "AnnotationClientError")
    assert.isAtLeast(ahead.length, 200)
    // Beside the planned items, a piece of the source may have been pulled.
    assert.isAtMost(Math.max(...ahead), maxPlanned + 5)
  })
})
