import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem, Schedule } from "effect"
import { cli, itemLines, reportOf, write } from "../support/cli.ts"
import { jsonl } from "../support/datasetReaders.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { root } from "../support/process.ts"
import { run, started } from "../support/program.ts"

const sample = `${root}data/sample.jsonl`

/** Repeats, a line that is no JSON, an id under which other content stands: 6 records, 3 items. */
const mixedLines = [
  ...itemLines(3),
  itemLines(1)[0]!,
  "not JSON",
  '{"id":"item-0","prompt":"other","completions":["x","y"]}',
]

const escape = "\u001b"

describe("stdout is data, messages go to stderr", () => {
  test("run --json, in a process of its own, prints one line of JSON, and counts every record", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, mixedLines)
      const said = yield* Effect.promise(() =>
        run(["run", `${job}/items.jsonl`, "--dir", job, "--expert", "first", "--json"]),
      )
      assert.strictEqual(said.status, 0, said.stderr)
      const { duplicates, read, rejected, submitted } = reportOf(said)
      assert.deepStrictEqual(
        { duplicates, read, rejected, submitted },
        { duplicates: 1, read: 6, rejected: 2, submitted: 3 },
      )
      assert.include(said.stderr, `Reading ${job}/items.jsonl`)
      assert.notInclude(said.stderr, escape)
    }))

  test("read = submitted + duplicates + rejected, in every command that reports", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, mixedLines)
      const args = ["--dir", job, "--json"]
      for (const command of [
        ["run", `${job}/items.jsonl`, "--expert", "first"],
        ["run", `${job}/items.jsonl`, "--expert", "first"],
        ["status"],
        ["export"],
      ]) {
        const report = reportOf(yield* cli([...command, ...args]))
        assert.strictEqual(report.read, 6)
        assert.strictEqual(report.submitted + report.duplicates + report.rejected, 6)
      }
    }))

  test("a pair in both orders is judged once; the first one keeps its models, gold answer and metadata; --keep-reordered judges both", () =>
    Effect.gen(function* () {
      const layouts = {
        wide: [
          {
            prompt: "p",
            "response_gpt-4": "longer",
            "response_llama-3-8b": "short",
            best: "response_llama-3-8b",
            at: 1,
          },
          {
            prompt: "p",
            "response_gpt-4": "short",
            "response_llama-3-8b": "longer",
            best: "response_llama-3-8b",
            at: 2,
          },
        ],
        pairs: [
          { prompt: "p", chosen: "short", rejected: "longer", at: 1 },
          { prompt: "p", chosen: "longer", rejected: "short", at: 2 },
        ],
      }
      for (const [layout, records] of Object.entries(layouts)) {
        const job = yield* temporaryDirectory
        yield* write(
          `${job}/items.jsonl`,
          records.map((record) => JSON.stringify(record)),
        )
        const gold = layout === "wide" ? ["--gold-path", "best"] : []
        const args = ["run", `${job}/items.jsonl`, "--layout", layout, "--keep", "at", ...gold, "--expert", "longest"]
        const judged = Effect.fnUntraced(function* (...flags: ReadonlyArray<string>) {
          const report = reportOf(yield* cli([...args, "--dir", job, "--json", ...flags]))
          const { duplicates, known, read, rejected, reordered, submitted } = report
          assert.strictEqual(read, submitted + duplicates + rejected)
          const rows = yield* Effect.promise(() => jsonl(`${job}/dataset/jsonl/train-00000-of-00001.jsonl`))
          const metadata = rows.map(({ metadata }) => JSON.parse(String(metadata)) as { at: number })
          return { known, duplicates, reordered, submitted, at: metadata.map(({ at }) => at), rows }
        })
        const { rows, ...first } = yield* judged()
        assert.deepStrictEqual(first, { known: 0, duplicates: 1, reordered: 1, submitted: 1, at: [1] }, layout)
        const [row] = rows
        assert.strictEqual(row?.["chosen"], "longer")
        if (layout === "wide") assert.strictEqual(row?.["chosen_model"], "gpt-4")
        const { rows: _, ...both } = yield* judged("--keep-reordered")
        assert.deepStrictEqual(both, { known: 1, duplicates: 0, reordered: 0, submitted: 2, at: [1, 2] }, layout)
        const { rows: __, ...again } = yield* judged("--keep-reordered")
        assert.deepStrictEqual({ ...again, known: 1 }, both)
      }
    }))

  test("in words, too, the report alone stands on stdout, without escape codes", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      const said = yield* cli(["run", sample, "--dir", job, "--expert", `gold:${sample}`])
      assert.strictEqual(said.status, 0)
      assert.match(said.stdout, /^Done in /)
      assert.match(said.stdout, /dataset +144 pairs in /)
      assert.match(said.stdout, /\n {2}chosen +\S/)
      assert.notInclude(said.stdout + said.stderr, escape)
      assert.match(
        said.stderr,
        /^Reading .*data\/sample\.jsonl; the job folder is .*\nFound in .*: JSONL; items: .*\n(\d+ of \d+\+? items judged, .*\n)*$/,
      )
    }))

  test("a failure leaves stdout empty, also with --json", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, ["{"])
      for (const args of [["run", "absent.jsonl"], ["run", `${job}/items.jsonl`, "--max-rejects", "0"], ["nonesuch"]]) {
        const said = yield* cli([...args, "--dir", job, "--json", "--expert", "first"])
        assert.isAbove(said.status, 0)
        assert.strictEqual(said.stdout, "")
        assert.match(said.stderr, /^prefstream: /m)
      }
    }))

  test("a bug, here of a pipeline file, is logged with its stack on stderr", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFileString(
        `${job}/buggy.ts`,
        `import { AnnotationService, Pipeline, Source } from "${root}src/index.ts"
        export default Pipeline.make({
          directory: "${job}",
          source: Source.files("${sample}"),
          service: AnnotationService.layerEmbedded({ database: "${job}/service.db", experts: ["first"] }),
          pairs: () => { throw new Error("a bug in pairs") },
        })`,
      )
      const said = yield* cli(["run", `${job}/buggy.ts`])
      assert.strictEqual(said.status, 1)
      assert.strictEqual(said.stdout, "")
      assert.match(said.stderr, /a bug in pairs\n\s+at .*buggy\.ts/)
      assert.isFalse(yield* fs.exists(`${job}/dataset`))
    }))
})

describe("what is told while a command works", () => {
  test("is a line each, with the time and what it is", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      // Nothing listens there.
      const nowhere = ["--base-url", "http://127.0.0.1:9/v1", "--idempotency-key", "honored"]
      const said = yield* cli(["run", sample, "--dir", job, "--once", "--patience", "1500ms", ...nowhere], {
        PREFSTREAM_TOKEN: "x",
      })
      assert.strictEqual(said.status, 1)
      assert.match(said.stderr, /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ warning: http:\S+ has been down since .*$/m)
    }))
})

describe("broken off", () => {
  test("Ctrl+C ends a run with 130; it says how to go on, and the same command does", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, itemLines(2))
      const args = ["run", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", "--expert", "first"]
      const slow = yield* started([...args, "--turnaround", "1h"])
      const submitted = cli(["status", "--dir", job, "--json"]).pipe(
        Effect.map((said) => (said.status === 3 ? reportOf(said).tasks.submitted.tasks : 0)),
      )
      yield* Effect.repeat(submitted, { until: (tasks) => tasks > 0, schedule: Schedule.spaced("50 millis") })
      slow.child.kill("SIGINT")
      const ended = yield* Effect.promise(() => slow.ended)
      assert.strictEqual(ended.status, 130)
      assert.strictEqual(ended.stdout, "")
      assert.match(ended.stderr, /the next run continues from here/)

      const again = yield* cli([...args, "--json"])
      assert.strictEqual(again.status, 0, again.stderr)
      assert.isAbove(reportOf(again).known, 0)
    }))
})
