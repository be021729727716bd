import { assert, describe } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { cli, cliServed, itemLines, quick, reportOf, write } from "../support/cli.ts"
import { jsonl } from "../support/datasetReaders.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { root } from "../support/process.ts"
import { run, started } from "../support/program.ts"

const sample = `${root}data/sample.jsonl`

describe("one job folder", () => {
  test("submit, collect, export and status work it as processes of their own, against a service in this one", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryDirectory
      const job = `${folder}/job`
      const { env } = yield* cliServed(["--database", `${folder}/service.db`, "--expert", `gold:${sample}`])
      const report = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
        const said = yield* Effect.promise(() => run([...args, "--dir", job, "--json"], env))
        assert.strictEqual(said.status, 0, said.stderr)
        return reportOf(said)
      })
      const submitted = yield* report("submit", sample, "--batch-size", "9", "--requests-per-second", "1000")
      assert.deepStrictEqual(submitted.tasks.submitted, { tasks: 8, items: 72 })
      assert.isNull(submitted.dataset)
      const collected = yield* report("collect", ...quick)
      assert.deepStrictEqual(collected.tasks.completed, { tasks: 8, items: 72 })
      const exported = yield* report("export")
      assert.strictEqual(exported.dataset?.rows, 144)
      const status = yield* report("status")
      assert.strictEqual(status.status, "done")
      assert.deepStrictEqual([status.read, status.submitted], [72, 72])
      const pairs = yield* Effect.promise(() => jsonl(`${job}/dataset/jsonl/train-00000-of-00001.jsonl`))
      assert.strictEqual(pairs.length, 144)
    }))

  test("while a run works it: status and export look on, a second run, submit or collect is refused", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, itemLines(3))
      const items = `${job}/items.jsonl`
      const args = ["run", items, "--dir", job, "--expert", "first"]
      const first = yield* started([...args, "--turnaround", "1h"])
      const status = cli(["status", "--dir", job, "--json"])
      const said = yield* Effect.repeat(status, {
        until: (said) => said.status === 3 && reportOf(said).tasks.submitted.items === 3,
        schedule: Schedule.spaced("50 millis"),
      })
      assert.strictEqual(reportOf(said).status, "waiting")
      const exported = yield* cli(["export", "--dir", job, "--json"])
      assert.strictEqual(exported.status, 3, exported.stderr)
      assert.isNull(reportOf(exported).dataset)
      assert.match(exported.stderr, /there are no results yet: no dataset is written/)

      const env = { PREFSTREAM_BASE_URL: "http://127.0.0.1:9/v1", PREFSTREAM_TOKEN: "t" }
      const others = [
        cli(args),
        cli(["run", items, "--dir", job], env),
        cli(["submit", items, "--dir", job], env),
        cli(["collect", "--dir", job], env),
      ]
      for (const other of others) {
        const refused = yield* other
        assert.strictEqual(refused.status, 75)
        assert.strictEqual(refused.stdout, "")
        assert.match(refused.stderr, new RegExp(`is in use by process ${first.child.pid} on .+ since \\d{4}-`))
      }
      assert.isNull(first.child.exitCode, "the first run goes on undisturbed")

      first.child.kill("SIGKILL")
      yield* Effect.promise(() => first.ended)
      const next = yield* cli([...args, "--json"])
      assert.strictEqual(next.status, 0, next.stderr)
      assert.strictEqual(reportOf(next).known, 3)
    }))
})
