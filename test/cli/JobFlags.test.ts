/** What a command does for those who start it unattended. */
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, FileSystem } from "effect"
import * as FileLock from "../../src/node/FileLock.ts"
import { cli, cliStarted, itemLines, quick, reportOf, to, write } from "../support/cli.ts"
import { jsonl } from "../support/datasetReaders.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { root } from "../support/process.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const sample = `${root}data/sample.jsonl`

const pairsOf = (job: string) => Effect.promise(() => jsonl(`${job}/dataset/jsonl/train-00000-of-00001.jsonl`))

/** A service that has judged all tasks but the second one. */
const allButOne = ScriptedService.make((request, before) =>
  request.path.endsWith("/task_1")
    ? { status: 200, body: { task_id: "task_1", status: "pending" } }
    : ScriptedService.obliging(request, before),
)

const isPost = ({ method }: ScriptedService.Received) => method === "POST"

describe("two runs over one job", () => {
  test("--lock-wait: the second waits for the first to end, and says so", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, itemLines(2))
      const service = yield* ScriptedService.make(ScriptedService.obliging)
      const args = ["run", `${job}/items.jsonl`, "--dir", job, "--json", ...quick]
      const done = yield* Deferred.make<void>()
      const first = yield* FileLock.acquire(`${job}/ledger.db`).pipe(
        Effect.andThen(Deferred.await(done)),
        Effect.scoped,
        Effect.forkChild({ startImmediately: true }),
      )
      const tooShort = yield* cli([...args, "--lock-wait", "1ms"], to(service))
      assert.deepStrictEqual([tooShort.status, tooShort.stdout], [75, ""])
      const second = yield* cliStarted([...args, "--lock-wait", "1h"], to(service))
      yield* second.talks(/Waiting: .*ledger\.db is in use by process \d+/)
      assert.deepStrictEqual(service.received, [])
      yield* Deferred.succeed(done, undefined)
      const said = yield* second.ended
      assert.strictEqual(said.status, 0, said.stderr)
      assert.strictEqual(said.stderr.match(/Waiting:/g)?.length, 1)
      assert.isDefined(first)
    }))
})

describe("run --once", () => {
  test("submits what is new, looks once, and writes the dataset of what is there", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      const service = yield* allButOne
      const args = ["run", `${job}/in/*.jsonl`, "--dir", job, "--batch-size", "1", "--once", "--json", ...quick]
      const fs = yield* FileSystem.FileSystem
      yield* fs.makeDirectory(`${job}/in`)
      yield* write(`${job}/in/monday.jsonl`, itemLines(3))
      const monday = yield* cli(args, to(service))
      assert.strictEqual(monday.status, 3, monday.stderr)
      assert.strictEqual(reportOf(monday).dataset?.rows, 2)

      // A file that has come since is found, though no shell expands the pattern.
      yield* write(`${job}/in/tuesday.jsonl`, itemLines(2, 3))
      const tuesday = yield* cli(args, to(service))
      assert.strictEqual(tuesday.status, 3, tuesday.stderr)
      const { known, submitted, tasks } = reportOf(tuesday)
      assert.deepStrictEqual([known, submitted, tasks.submitted.tasks], [3, 5, 1])
      assert.strictEqual(service.received.filter(isPost).length, 5)
      assert.strictEqual((yield* pairsOf(job)).length, 4)
    }))

  test("--waiting-ok: outstanding results are no reason for another status than 0", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, itemLines(3))
      const service = yield* allButOne
      const args = ["--dir", job, "--once", "--waiting-ok", "--json", ...quick]
      const run = yield* cli(["run", `${job}/items.jsonl`, "--batch-size", "1", ...args], to(service))
      assert.strictEqual(run.status, 0, run.stderr)
      assert.strictEqual(reportOf(run).status, "waiting")
      assert.strictEqual((yield* cli(["collect", ...args], to(service))).status, 0)
      assert.strictEqual((yield* cli(["status", "--dir", job])).status, 3)
    }))

  test("not with --listen", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      const service = yield* allButOne
      const said = yield* cli(["run", sample, "--dir", job, "--once", "--listen", "0"], to(service))
      assert.strictEqual(said.status, 2)
      assert.match(said.stderr, /--listen cannot be combined with --once/)
    }))
})

/** A service that has judged one task, given up another, and works on the third. */
const oneOfEach = ScriptedService.make((request, before) =>
  request.path.endsWith("/task_1")
    ? { status: 200, body: { task_id: "task_1", status: "cancelled" } }
    : request.path.endsWith("/task_2")
      ? { status: 200, body: { task_id: "task_2", status: "pending" } }
      : ScriptedService.obliging(request, before),
)

test("what failed is told while other tasks wait, also with --quiet and --waiting-ok", () =>
  Effect.gen(function* () {
    const job = yield* temporaryDirectory
    yield* write(`${job}/items.jsonl`, itemLines(3))
    const service = yield* oneOfEach
    const args = ["run", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", "--once", "--quiet", "--waiting-ok"]
    const said = yield* cli([...args, ...quick], to(service))
    assert.strictEqual(said.status, 1, said.stderr)
    assert.match(
      said.stdout,
      /^Ended after .*: 1 task without a usable result, and 1 task still waits for results\. Next: run the same command again, which polls all of them\.\n/,
    )
    assert.match(said.stdout, /^failed: task 2 \(task_1\)/m)
    const status = yield* cli(["status", "--dir", job])
    assert.deepStrictEqual([status.status, status.stdout.startsWith("1 task without a usable result")], [1, true])
    assert.include(status.stdout, "Next: prefstream collect --dir ")
  }))

describe("who judges, unattended", () => {
  for (const flag of ["--once", "--quiet"]) {
    test(`with ${flag} a service or an expert must be named`, () =>
      Effect.gen(function* () {
        const job = yield* temporaryDirectory
        const said = yield* cli(["run", sample, "--dir", `${job}/new`, flag])
        assert.deepStrictEqual([said.status, said.stdout], [2, ""])
        assert.match(
          said.stderr,
          new RegExp(`^prefstream: ${flag}: choose who judges: .*PREFSTREAM_BASE_URL.*--expert`, "m"),
        )
        yield* write(`${job}/items.jsonl`, itemLines(2))
        const named = yield* cli(["run", `${job}/items.jsonl`, "--dir", `${job}/named`, flag, "--expert", "first"])
        // With --once, it depends on how quick the expert is.
        assert.include([0, 3], named.status, named.stderr)
      }))
  }

  test("under schedule, too", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      const said = yield* cli(["schedule", "--cron", "0 2 * * *", "--", "run", sample, "--dir", job])
      assert.strictEqual(said.status, 2)
      assert.match(said.stderr, /schedule: choose who judges/)
    }))

  test("an address that came to nothing is none", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      for (const address of ["", " "]) {
        const said = yield* cli(["run", sample, "--dir", job], { PREFSTREAM_BASE_URL: address })
        assert.strictEqual(said.status, 2)
        assert.match(said.stderr, /PREFSTREAM_BASE_URL is empty/)
        const flag = yield* cli(["run", sample, "--dir", job, "--expert", "longest", "--base-url", address])
        assert.strictEqual(flag.status, 2)
        assert.match(flag.stderr, /--base-url is empty: give the address/)
      }
    }))
})

describe("--quiet", () => {
  test("says nothing where all is well, also while results are outstanding; --json is still printed", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, itemLines(3))
      const service = yield* allButOne
      const args = ["run", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", "--once", "--quiet", ...quick]
      assert.deepStrictEqual(yield* cli(args, to(service)), { status: 3, stdout: "", stderr: "" })
      const asJson = yield* cli([...args, "--json"], to(service))
      assert.strictEqual(reportOf(asJson).status, "waiting")
      assert.strictEqual(asJson.stderr, "")
    }))

  test("says everything where it is not: what led to it first, each on its stream", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, itemLines(2))
      const service = yield* ScriptedService.make((request, before) =>
        request.path.endsWith("/task_1")
          ? ScriptedService.completedBy(before, "task_1", 7)
          : ScriptedService.obliging(request, before),
      )
      const args = ["run", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", "--quiet", ...quick]
      const said = yield* cli(args, to(service))
      assert.strictEqual(said.status, 1)
      assert.match(said.stderr, /^Reading .*\n[^]*the result of task_1 does not fit its task/)
      assert.match(said.stdout, /^Ended after[^]*invalid: .*task_1/)
      const exported = yield* cli(["export", "--dir", job])
      assert.match(
        exported.stdout,
        /^Ended after .*: some tasks have no usable result\. Next: prefstream collect --dir /,
      )
      const denied = yield* ScriptedService.make(() => ({ status: 401, body: { detail: "who are you?" } }))
      const failed = yield* cli([...args, "--moved"], to(denied))
      assert.strictEqual(failed.status, 1)
      assert.match(failed.stderr, /^Reading [^]*\nprefstream: .*who are you\?/)
    }))
})

test("submit --timeout stops what is being sent, says so, and the next one goes on", () =>
  Effect.gen(function* () {
    const job = yield* temporaryDirectory
    yield* write(`${job}/items.jsonl`, itemLines(50))
    const service = yield* ScriptedService.make(ScriptedService.obliging)
    const args = ["submit", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", "--json"]
    const slow = ["--requests-per-second", "1", "--concurrency", "1", "--timeout", "300ms"]
    const said = yield* cli([...args, ...slow], to(service))
    assert.strictEqual(said.status, 3, said.stderr)
    assert.isAbove(reportOf(said).not_submitted, 0)
    const again = yield* cli([...args, "--requests-per-second", "1000"], to(service))
    assert.strictEqual(again.status, 0, again.stderr)
    const bodies = service.received.filter(isPost).map(({ body }) => body)
    assert.deepStrictEqual([bodies.length, new Set(bodies).size], [50, 50])
  }))
