import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import type { PreferencePair } from "../../src/domain/PreferencePair.ts"
import type { JobStatus } from "../../src/pipeline/JobStatus.ts"
import { cli, itemLines, quick, reportOf, type Said, to, write } from "../support/cli.ts"
import { jsonl } from "../support/datasetReaders.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { root } from "../support/process.ts"
import { run } from "../support/program.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const sample = `${root}data/sample.jsonl`

const pairsOf = (job: string): Effect.Effect<ReadonlyArray<PreferencePair>> =>
  Effect.promise(() => jsonl(`${job}/dataset/jsonl/train-00000-of-00001.jsonl`))

/** Expected failures are told in words: on stderr alone, without a stack. */
const assertTold = (said: Said, status: number, message: RegExp) => {
  assert.strictEqual(said.status, status, said.stderr)
  assert.strictEqual(said.stdout, "")
  assert.match(said.stderr, message)
  assert.notMatch(said.stderr, /^\s+at /m)
}

const isPost = ({ method }: ScriptedService.Received) => method === "POST"

describe("0: done", () => {
  test("run on the sample data, with a pair for each completion that is not the best", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      const said = yield* cli(["run", sample, "--dir", job, "--expert", `gold:${sample}`])
      assert.strictEqual(said.status, 0, said.stderr)
      assert.match(said.stdout, /^Done in .*\n\n {2}read +72 records = 72 submitted/)
      assert.strictEqual((yield* pairsOf(job)).length, 216 - 72)
      assert.strictEqual((yield* cli(["status", "--dir", job])).status, 0)
    }))

  test("--help and --version", () =>
    Effect.gen(function* () {
      for (const args of [["--help"], ["run", "--help"], ["--version"]]) {
        const said = yield* cli(args)
        assert.strictEqual(said.status, 0)
        assert.notStrictEqual(said.stdout, "")
        assert.strictEqual(said.stderr, "")
      }
    }))
})

describe("1: failure", () => {
  test("a result that does not fit its task: named, and the dataset holds the others", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, itemLines(4))
      const service = yield* ScriptedService.make((request, before) =>
        request.path.endsWith("/task_1")
          ? ScriptedService.completedBy(before, "task_1", 7)
          : ScriptedService.obliging(request, before),
      )
      const args = ["run", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", ...quick]
      const said = yield* cli(args, to(service))
      assert.strictEqual(said.status, 1)
      assert.match(said.stdout, /^invalid: task 2 \(task_1\): .*best_completion_index/m)
      assert.match(said.stderr, /the result of task_1 does not fit its task/)
      const taskIds = (yield* pairsOf(job)).map(({ task_id }) => task_id)
      assert.deepStrictEqual(taskIds.toSorted(), ["task_0", "task_2", "task_3"])
      assert.strictEqual((yield* cli(["status", "--dir", job])).status, 1)

      // Asked again by the next run; once the service has mended it, nothing is wrong any more.
      const mended = yield* ScriptedService.make((request, before) =>
        request.method === "POST"
          ? ScriptedService.obliging(request, before)
          : ScriptedService.completedBy(service.received, request.path.split("/").at(-1)!),
      )
      // It listens elsewhere now, which is refused unless it is said to be the same service.
      assertTold(yield* cli(args, to(mended)), 1, /tasks of this job are at .*, not at .*--moved/)
      assert.strictEqual((yield* cli([...args, "--moved"], to(mended))).status, 0)
      assert.deepStrictEqual(mended.received.filter(isPost), [])
      assert.strictEqual((yield* pairsOf(job)).length, 4)
    }))

  test("a service that refuses everything: told with its reason, and no task is lost", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, itemLines(3))
      let answer: ScriptedService.Answer | undefined = { status: 402, body: { detail: "no funds" } }
      const service = yield* ScriptedService.make(
        (request, before) => answer ?? ScriptedService.obliging(request, before),
      )
      const args = ["run", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", "--concurrency", "1", ...quick]
      assertTold(yield* cli(args, to(service)), 1, /refuses every request \(402 Payment Required\): no funds/)
      assert.lengthOf(service.received, 1)
      answer = { status: 422, body: { detail: "too odd" } }
      const refused = yield* cli(args, to(service))
      assert.strictEqual(refused.status, 1)
      assert.match(
        refused.stdout,
        /^Ended .*: the service refused all 3 tasks\. First reason: refused \(422\): too odd/,
      )
      service.received.length = 0
      answer = undefined
      const said = yield* cli([...args, "--resubmit", "refused"], to(service))
      assert.strictEqual(said.status, 0, said.stderr)
      assert.strictEqual((yield* pairsOf(job)).length, 3)
    }))

  test("a task that the service gave up", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, itemLines(2))
      const service = yield* ScriptedService.make((request, before) =>
        request.path.endsWith("/task_0")
          ? { status: 200, body: { task_id: "task_0", status: "cancelled" } }
          : ScriptedService.obliging(request, before),
      )
      const said = yield* cli(
        ["run", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", "--json", ...quick],
        to(service),
      )
      assert.strictEqual(said.status, 1)
      const report = reportOf(said)
      assert.strictEqual(report.status, "results_invalid")
      assert.deepStrictEqual(
        report.issues.map(({ reason, state, task_id }) => ({ reason, state, taskId: task_id })),
        [{ reason: "the service reports the status cancelled", state: "failed", taskId: "task_0" }],
      )
      assert.strictEqual(report.dataset?.rows, 1)
    }))

  test("gold answers that do not cover the items: told, and mended by the next run with more of them", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      const goldLines = (n: number) =>
        itemLines(n).map((line) => JSON.stringify({ ...JSON.parse(line), gold: { best_completion_index: 1 } }))
      yield* write(`${job}/items.jsonl`, itemLines(4))
      yield* write(`${job}/gold.jsonl`, goldLines(3))
      const args = [
        "run",
        `${job}/items.jsonl`,
        "--dir",
        job,
        "--batch-size",
        "1",
        "--expert",
        `gold:${job}/gold.jsonl`,
      ]
      const said = yield* cli(args)
      assert.strictEqual(said.status, 1)
      assert.match(said.stderr, /is cancelled: no automatic expert can give the votes that 1 of 1 prompts miss/)
      assert.strictEqual((yield* pairsOf(job)).length, 3)
      yield* write(`${job}/gold.jsonl`, goldLines(4))
      assert.strictEqual((yield* cli(args)).status, 0)
      assert.strictEqual((yield* pairsOf(job)).length, 4)
    }))

  test("an address that is no annotation service", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      const service = yield* ScriptedService.make(() => ({ status: 404, body: "<h1>Not here</h1>" }))
      const said = yield* cli(["run", sample, "--dir", job], to(service))
      assertTold(said, 1, new RegExp(`^prefstream: no annotation service at ${service.baseUrl}: .*Not here`, "m"))
    }))

  test("a token that the service refuses", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      const service = yield* ScriptedService.make(() => ({ status: 401, body: { detail: "unknown organization" } }))
      const said = yield* cli(["submit", sample, "--dir", job], to(service))
      assertTold(said, 1, /^prefstream: .* refuses the token \(401\): unknown organization.*PREFSTREAM_TOKEN/m)
    }))

  test("a ledger that is no database", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/ledger.db`, [
        "This is a text, and it is longer than the header of a database is. ".repeat(20),
      ])
      assertTold(yield* cli(["status", "--dir", job]), 1, /ledger\.db: not a ledger, or damaged/)
    }))
})

describe("2: the command line or a setting is wrong", () => {
  const wrong: ReadonlyArray<readonly [what: string, args: ReadonlyArray<string>, message: RegExp]> = [
    ["no input", ["run"], /name at least one input file/],
    ["no input to submit", ["submit"], /name at least one input file/],
    ["an unknown flag", ["run", sample, "--nonesuch"], /--nonesuch/],
    ["an unknown command", ["nonesuch"], /nonesuch/],
    ["a flag of another command", ["status", "--once"], /--once/],
    ["an unknown expert", ["run", sample, "--expert", "nobody"], /"nobody": expected gold:FILE, first, last/],
    ["a missing file", ["run", "absent.jsonl"], /absent\.jsonl: there is no such file/],
    ["a missing file of completions", ["run", sample, "--completions", "absent.jsonl"], /absent\.jsonl: there is no/],
    [
      "a missing file of guidelines",
      ["run", sample, "--guidelines-file", "absent.md"],
      /absent\.md.*There is no such file/,
    ],
    ["a join of one file of completions", ["run", sample, "--completions", sample], /at least two files/],
    ["no address to submit to", ["submit", sample], /PREFSTREAM_BASE_URL.*--base-url/],
    ["no address to collect from", ["collect"], /PREFSTREAM_BASE_URL.*--base-url/],
    ["an address that is none", ["submit", sample, "--base-url", "nowhere"], /--base-url: expected http/],
    [
      "an address with a query",
      ["submit", sample, "--base-url", "http://h/v1?key=k3y"],
      /--base-url: expected .*without .*query.*fragment$/m,
    ],
    ["an address with a fragment", ["submit", sample, "--base-url", "http://h/v1#x"], /--base-url: expected http/],
    ["a password in the address", ["submit", sample, "--base-url", "http://me:word@host/v1"], /without user/],
    ["one file of completions", ["run", sample, "--completions", sample], /at least two files/],
    [
      "an expert with a base URL",
      ["run", sample, "--base-url", "http://h/v1", "--expert", "first"],
      /--expert cannot be combined with a base URL/,
    ],
    [
      "several votes of automatic experts, which give one together",
      ["run", sample, "--expert", "first", "--expert", "last", "--votes", "2"],
      /--votes: .* one vote per item together: .*--base-url/,
    ],
    [
      "guidelines twice",
      ["run", sample, "--guidelines", "a", "--guidelines-file", sample],
      /--guidelines-file cannot be combined with --guidelines/,
    ],
    [
      "a gold file that is missing",
      ["run", sample, "--expert", "gold:absent.jsonl"],
      /absent\.jsonl: there is no such/,
    ],
    [
      "a pipeline to submit, with flags that it says itself",
      ["submit", `${root}pipelines/quickstart.ts`, "--batch-size", "3"],
      /--batch-size cannot be combined with a pipeline file/,
    ],
    ["no token", ["submit", sample, "--base-url", "http://localhost/v1"], /PREFSTREAM_TOKEN/],
    ["no ledger", ["status"], /there is no ledger at .*--dir/],
    ["no ledger to export from", ["export"], /there is no ledger at .*--dir/],
    ["a time that is none", ["run", sample, "--timeout", "soon"], /--timeout.*"soon".*30s/],
    [
      "a batch of nothing",
      ["run", sample, "--batch-size", "0"],
      /--batch-size.*"0"\. Expected: a value greater than or equal to 1$/m,
    ],
    [
      "flags that no join has",
      ["run", sample, "--completions", sample, "--id-path", "x"],
      /--id-path cannot be combined with --completions/,
    ],
    [
      "a pipeline file together with what it says itself",
      ["run", `${root}pipelines/quickstart.ts`, "--batch-size", "3", "--expert", "first"],
      /--batch-size and --expert cannot be combined with a pipeline file/,
    ],
    ["data where a pipeline file belongs", ["collect", "items.jsonl"], /expected a pipeline file .*: items\.jsonl/],
    ["a pipeline file that is missing", ["run", "absent.ts"], /cannot load the pipeline absent\.ts/],
    [
      "a pipeline file without a pipeline",
      ["run", `${root}src/domain/Task.ts`],
      /Task\.ts to have a default export made by Pipeline\.make/,
    ],
  ]
  for (const [what, args, message] of wrong) {
    test(what, () =>
      Effect.gen(function* () {
        const job = `${yield* temporaryDirectory}/job`
        const said = yield* cli(args, { PREFSTREAM_DIR: job })
        assertTold(said, 2, message)
        assert.notMatch(said.stderr, /^Reading /m)
        const fs = yield* FileSystem.FileSystem
        assert.isFalse(yield* fs.exists(job), "nothing was begun")
      }),
    )
  }

  for (const name of ["PREFSTREAM_CONCURRENCY", "PREFSTREAM_REQUESTS_PER_SECOND"]) {
    for (const value of ["0", "-1", "many"]) {
      test(`${name}=${value}`, () =>
        Effect.gen(function* () {
          const job = yield* temporaryDirectory
          assertTold(
            yield* cli(["run", sample, "--expert", "first", "--dir", job], { [name]: value }),
            2,
            new RegExp(name),
          )
        }))
    }
  }
})

describe("3: waiting", () => {
  test("run with slow experts and a time limit; then status, submit and collect --once", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      const args = ["run", sample, "--dir", job, "--expert", "first", "--turnaround", "1h", "--timeout", "1s"]
      const ran = yield* cli(args)
      assert.strictEqual(ran.status, 3, ran.stderr)
      assert.match(ran.stdout, /^Results are outstanding/)
      assert.strictEqual((yield* cli(["status", "--dir", job])).status, 3)

      const service = yield* ScriptedService.make((request, before) =>
        request.method === "GET"
          ? { status: 200, body: { task_id: request.path.split("/").at(-1)!, status: "in_progress" } }
          : ScriptedService.obliging(request, before),
      )
      const other = `${job}/other`
      const submitted = yield* cli(["submit", sample, "--dir", other, ...quick], to(service))
      assert.strictEqual(submitted.status, 0, submitted.stderr)
      const collected = yield* cli(["collect", "--once", "--dir", other, ...quick], to(service))
      assert.strictEqual(collected.status, 3, collected.stderr)
      assert.strictEqual(service.received.filter((request) => !isPost(request)).length, 4, "looks once at each task")
      const timed = yield* cli(["collect", "--timeout", "50ms", "--dir", other, ...quick], to(service))
      assert.strictEqual(timed.status, 3, timed.stderr)
    }))
})

describe("4: in doubt", () => {
  test("a connection that breaks off, where keys are ignored; not sent again by a later run", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, itemLines(3))
      const service = yield* ScriptedService.make((request, before) =>
        request.body.includes("prompt 1") ? "reset" : ScriptedService.obliging(request, before),
      )
      const args = ["run", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", ...quick]
      const said = yield* cli(args, to(service))
      assert.strictEqual(said.status, 4, said.stderr)
      assert.match(said.stdout, /^in doubt: task \d+: /m)
      assert.strictEqual((yield* pairsOf(job)).length, 2)
      const sent = service.received.filter(isPost).length
      for (const again of [args, ["status", "--dir", job]]) {
        assert.strictEqual((yield* cli(again, to(service))).status, 4)
      }
      assert.strictEqual(service.received.filter(isPost).length, sent)
    }))

  test("submit says so too", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      const service = yield* ScriptedService.make(() => "reset")
      assert.strictEqual((yield* cli(["submit", sample, "--dir", job, ...quick], to(service))).status, 4)
    }))

  test("also where the service broke down and ended the run, which is told before", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, itemLines(20))
      const service = yield* ScriptedService.make(({ method }) => (method === "POST" ? "reset" : { status: 404 }))
      for (const [command, ...flags] of [["run"], ["submit"], ["run", "--once"]] as const) {
        const dir = `${job}/${command}${flags.length}`
        const args = [command, `${job}/items.jsonl`, "--dir", dir, "--batch-size", "1", ...quick, ...flags, "--json"]
        const said = yield* cli(args, to(service))
        assert.strictEqual(said.status, 4, said.stderr)
        assert.match(said.stderr, /^prefstream: .* the connection broke off/m)
        const { status, tasks } = reportOf(said)
        assert.strictEqual(status, "in_doubt")
        assert.isAbove(tasks.planned.tasks, 0)
        const told = yield* cli(["status", "--dir", dir])
        assert.match(told.stdout, /process +idle; run 1 failed at .*: .* the connection broke off/)
        assert.match(told.stdout, /^In addition, \d+ tasks are not sent yet\.$/m)
      }
    }))
})

describe("a run that failed", () => {
  test("with a token that is wrong: status tells why", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, itemLines(1))
      const service = yield* ScriptedService.make(() => ({ status: 401 }))
      const said = yield* cli(["run", `${job}/items.jsonl`, "--dir", job, "--once", ...quick], to(service))
      assert.strictEqual(said.status, 1)
      const status = reportOf(yield* cli(["status", "--dir", job, "--json"])) as JobStatus
      assert.strictEqual(status.status, "waiting")
      assert.strictEqual(status.last_run?.read_finished, true)
      assert.match(status.last_run?.failure ?? "", /401/)
    }))
})

describe("5: too many rejects", () => {
  test("more than --max-rejects; as many are allowed", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, ["{", ...itemLines(2)])
      const args = ["run", `${job}/items.jsonl`, "--dir", job, "--expert", "first", "--max-rejects"]
      assertTold(yield* cli([...args, "0"]), 5, /1 records? w(as|ere) rejected, 0 are allowed/)
      assert.strictEqual((yield* cli([...args, "1"])).status, 0)
    }))
})

describe("a process", () => {
  test("ends with these statuses", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      const [bad, items] = [`${job}/bad.jsonl`, `${job}/items.jsonl`]
      yield* write(bad, ["{"])
      yield* write(items, itemLines(1))
      const resetting = yield* ScriptedService.make(() => "reset")
      const absent = yield* ScriptedService.make(() => ({ status: 404 }))
      const slow = ["run", items, "--dir", `${job}/3`, "--expert", "first", "--turnaround", "1h", "--once"]
      assert.strictEqual((yield* cli(slow)).status, 3)
      const of = (args: ReadonlyArray<string>, env: Record<string, string> = {}) =>
        Effect.promise(() => run(args, env)).pipe(Effect.map(({ status }) => status))
      const statuses = yield* Effect.all(
        [
          of(["run", items, "--dir", `${job}/0`, "--expert", "first"]),
          of(["submit", items, "--dir", `${job}/1`], to(absent)),
          of(["run"]),
          of(["status", "--dir", `${job}/3`]),
          of(["submit", items, "--dir", `${job}/4`, ...quick], to(resetting)),
          of(["submit", bad, "--dir", `${job}/5`, "--max-rejects", "0"], to(absent)),
        ],
        { concurrency: 2 },
      )
      assert.deepStrictEqual(statuses, [0, 1, 2, 3, 4, 5])
    }))
})
