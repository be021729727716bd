/** Runs over an input that grows: what is new is submitted, and what was there stays. */
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import type { TaskRequest } from "../../src/domain/Task.ts"
import * as Pipeline from "../../src/pipeline/Pipeline.ts"
import * as Source from "../../src/source/Source.ts"
import { qualityOf } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import * as Logs from "../support/logs.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const line = (id: string, prompt = `prompt ${id}`) =>
  JSON.stringify({ id, prompt, completions: [`a ${id}`, `b ${id}`] })

/** A job over files, which the test writes before each run. */
const makeJob = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* temporaryDirectory
  let held = false
  const service = yield* ScriptedService.except(
    (request) => held && !ScriptedService.isPost(request) && ScriptedService.pending(request),
    { concurrency: 1 },
  )
  const dataset = Effect.map(fs.readFileString(`${directory}/dataset/jsonl/train-00000-of-00001.jsonl`), (text) =>
    text.trimEnd().split("\n"),
  )
  return {
    service,
    dataset,
    /** Whether the service has no results yet. */
    hold: (pending: boolean) => void (held = pending),
    items: Effect.map(dataset, (lines) => lines.map((line) => (JSON.parse(line) as { item_id: string }).item_id)),
    /** Prompts of each task that was sent, in order. */
    sent: () =>
      ScriptedService.posts(service).map(({ body }) =>
        (JSON.parse(body) as TaskRequest).prompts.map(({ prompt }) => prompt),
      ),
    write: (file: string, text: string) => fs.writeFileString(`${directory}/${file}`, text),
    run: (files: ReadonlyArray<string>, settings: Partial<Pipeline.Settings> = {}) =>
      Pipeline.run(
        Pipeline.make({
          directory,
          service: service.profile,
          source: Source.files(files.map((file) => `${directory}/${file}`)),
          batch: { maxPrompts: 3 },
          ...settings,
        }),
      ),
    exportOf: (campaign?: number | "all", settings: Partial<Pipeline.Settings> = {}) =>
      Pipeline.exportDataset(
        Pipeline.make({ directory, source: Source.files([]), service: service.profile, ...settings }),
        { campaign },
      ),
    report: qualityOf(directory),
  }
})

const lines = (ids: ReadonlyArray<string>) => ids.map((id) => `${line(id)}\n`).join("")

describe("a growing input", () => {
  test("a file that grows: each run submits what is new, and the dataset grows at its end", function* () {
    const job = yield* makeJob
    yield* job.write("a.jsonl", lines(["1", "2", "3", "4"]))
    const first = yield* job.run(["a.jsonl"])
    const before = yield* job.dataset
    // The last task of a run is sent as it is, though it is not full: nobody's item waits for the next night.
    assert.deepStrictEqual(job.sent(), [["prompt 1", "prompt 2", "prompt 3"], ["prompt 4"]])
    assert.deepStrictEqual([first.read, first.submitted, first.known], [4, 4, 0])

    yield* job.write("a.jsonl", lines(["1", "2", "3", "4", "5", "2", "6"]))
    const second = yield* job.run(["a.jsonl"])
    assert.deepStrictEqual(job.sent().slice(2), [["prompt 5", "prompt 6"]])
    assert.deepStrictEqual(
      [second.read, second.submitted, second.known, second.duplicates, second.rejected],
      [7, 6, 4, 1, 0],
    )
    const after = yield* job.dataset
    assert.deepStrictEqual(after.slice(0, before.length), before)
    assert.deepStrictEqual(yield* job.items, ["1", "2", "3", "4", "5", "6"])

    const third = yield* job.run(["a.jsonl"])
    assert.strictEqual(job.sent().length, 3)
    assert.strictEqual(third.status, "done")
    assert.deepStrictEqual(yield* job.dataset, after)
  })

  test("a line that was being written when it was read is rejected, and submitted once it is whole", function* () {
    const job = yield* makeJob
    const whole = lines(["1", "2"])
    yield* job.write("a.jsonl", whole.slice(0, -10))
    const first = yield* job.run(["a.jsonl"])
    assert.deepStrictEqual([first.submitted, first.rejected], [1, 1])
    yield* job.write("a.jsonl", whole)
    const second = yield* job.run(["a.jsonl"])
    assert.deepStrictEqual([second.submitted, second.rejected], [2, 0])
    assert.deepStrictEqual(job.sent(), [["prompt 1"], ["prompt 2"]])
  })

  test("files that come and go: what came is submitted, what went stays in the dataset", function* () {
    const job = yield* makeJob
    yield* job.write("b.jsonl", lines(["1", "2"]))
    yield* job.run(["b.jsonl"])
    const before = yield* job.dataset
    // A file that stands before the other by its name does not push anything aside.
    yield* job.write("a.jsonl", lines(["0", "2", "3"]))
    const second = yield* job.run(["a.jsonl", "b.jsonl"])
    assert.deepStrictEqual([second.read, second.submitted, second.known, second.duplicates], [5, 4, 2, 1])
    assert.deepStrictEqual(yield* job.items, ["1", "2", "0", "3"])
    assert.deepStrictEqual((yield* job.dataset).slice(0, before.length), before)
    const third = yield* job.run(["a.jsonl"])
    assert.deepStrictEqual([third.read, third.submitted, third.known], [3, 3, 3])
    assert.deepStrictEqual(yield* job.items, ["1", "2", "0", "3"])
    assert.strictEqual(job.sent().length, 2)
  })

  test("items without an id are known by their content, in whatever place they stand", function* () {
    const job = yield* makeJob
    const item = (prompt: string, more = {}) => `${JSON.stringify({ prompt, completions: ["x", "y"], ...more })}\n`
    yield* job.write("a.jsonl", item("one") + item("two"))
    yield* job.run(["a.jsonl"])
    yield* job.write("a.jsonl", item("three") + item("two", { metadata: { n: 1 } }) + item("one"))
    const second = yield* job.run(["a.jsonl"])
    assert.deepStrictEqual(job.sent(), [["one", "two"], ["three"]])
    assert.deepStrictEqual([second.submitted, second.known], [3, 2])
  })

  test("neither a run that looks once nor export replaces a dataset by an empty one", function* () {
    const job = yield* makeJob
    yield* job.write("a.jsonl", lines(["1", "2"]))
    yield* job.run(["a.jsonl"], { guidelines: "Be brief." })
    const before = yield* job.dataset
    job.hold(true)
    const again = { guidelines: "Be long.", newCampaign: true, once: true }
    const logged = Logs.make()
    const waiting = yield* logged.during(job.run(["a.jsonl"], again))
    assert.deepStrictEqual([waiting.status, waiting.campaign, waiting.dataset], ["waiting", 2, null])
    assert.deepStrictEqual(yield* job.dataset, before)
    assert.match(
      logged.messages.join("\n"),
      /the ledger has no results for campaign 2: the existing dataset .* is kept/,
    )
    job.hold(false)
    const done = yield* job.run(["a.jsonl"], again)
    assert.strictEqual(done.dataset?.rows, 2)
    yield* job.write("a.jsonl", lines(["1"]))
    job.hold(true)
    yield* job.run(["a.jsonl"], { ...again, guidelines: "Be kind." })
    assert.strictEqual((yield* job.dataset).length, 2)
    yield* job.exportOf()
    assert.strictEqual((yield* job.dataset).length, 2)
  })

  test("a new campaign judges all items anew, and keeps the results of the one before", function* () {
    const job = yield* makeJob
    yield* job.write("a.jsonl", lines(["1", "2"]))
    yield* job.run(["a.jsonl"], { guidelines: "Be brief." })
    const brief = yield* job.dataset
    yield* job.write("a.jsonl", lines(["1", "2", "3"]))
    const long = { guidelines: "Be long.", newCampaign: true }
    const second = yield* job.run(["a.jsonl"], long)
    assert.deepStrictEqual([second.campaign, second.submitted, second.known], [2, 3, 0])
    const posts = ScriptedService.posts(job.service)
    assert.deepStrictEqual(
      posts.map(({ body }) => (JSON.parse(body) as TaskRequest).guidelines),
      ["Be brief.", "Be long."],
    )
    assert.strictEqual(new Set(posts.map(({ headers }) => headers["idempotency-key"])).size, 2)
    assert.deepStrictEqual(yield* job.items, ["1", "2", "3"])
    const latest = yield* job.dataset
    yield* job.exportOf(1)
    assert.deepStrictEqual(yield* job.dataset, brief)
    yield* job.exportOf("all")
    assert.deepStrictEqual(yield* job.dataset, [...brief, ...latest])
    // An item is no near-duplicate of itself, nor is what is said of it again a copy, as of 2 and 3 it is.
    yield* job.exportOf("all", {
      drop: ["near-duplicates", "contamination"],
      evaluationPrompts: ["prompt 2"],
    })
    assert.deepStrictEqual(yield* job.items, ["1", "1", "3"])
    const report = yield* job.report
    assert.deepStrictEqual(
      report.checks.flatMap(({ check, count, of }) =>
        ["near-duplicates", "contamination", "copied-rationale"].includes(check) ? [[check, count, of]] : [],
      ),
      [
        ["near-duplicates", 0, 2],
        ["contamination", 1, 3],
        ["copied-rationale", 3, 5],
      ],
    )
    assert.strictEqual(
      report.languages.reduce((sum, { items }) => sum + items, 0),
      3,
    )
    assert.strictEqual(report.position.known, 3)
    yield* job.exportOf()
    assert.deepStrictEqual(yield* job.dataset, latest)

    // Each goes on under its own guidelines, and asks for nothing twice.
    assert.strictEqual((yield* job.run(["a.jsonl"], long)).known, 3)
    const back = { guidelines: "Be brief." }
    assert.strictEqual((yield* Effect.flip(job.run(["a.jsonl"], back)))._tag, "TermsChanged")
    const third = yield* job.run(["a.jsonl"], { ...back, newCampaign: true })
    assert.deepStrictEqual([third.campaign, third.submitted, third.known], [1, 3, 2])
    assert.deepStrictEqual(yield* job.items, ["1", "2", "3"])
    assert.deepStrictEqual(job.sent(), [["prompt 1", "prompt 2"], ["prompt 1", "prompt 2", "prompt 3"], ["prompt 3"]])
  })
})
