/** What a command does for those who start it unattended. */
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, FileSystem } from "effect"
import * as FileLock from "../../src/node/FileLock.ts"
import { cli, cliStarted, ends, folderWithItems, itemLines, quick, reportOf, to, write } from "../support/cli.ts"
import { pairsOf } from "../support/datasetReaders.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { sample } from "../support/process.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

/** A service that has judged all tasks but the second one. */
const allButOne = ScriptedService.except(
  (request) => request.path.endsWith("/task_1") && ScriptedService.pending(request),
)

test("--lock-wait: a second run over the job waits for the first to end, and says so", function* () {
  const job = yield* folderWithItems(2)
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
  const said = yield* second.ended.pipe(ends(0))
  assert.strictEqual(said.stderr.match(/Waiting:/g)?.length, 1)
  assert.isDefined(first)
})

describe("run --once", () => {
  test("submits what is new, looks once, and writes the dataset of what is there", function* () {
    const job = yield* temporaryDirectory
    const service = yield* allButOne
    const args = ["run", `${job}/in/*.jsonl`, "--dir", job, "--batch-size", "1", "--once", "--json", ...quick]
    const fs = yield* FileSystem.FileSystem
    yield* fs.makeDirectory(`${job}/in`)
    yield* write(`${job}/in/monday.jsonl`, itemLines(3))
    const monday = yield* cli(args, to(service)).pipe(ends(3))
    assert.strictEqual(reportOf(monday).dataset?.rows, 2)

    // A file that has come since is found, though no shell expands the pattern.
    yield* write(`${job}/in/tuesday.jsonl`, itemLines(2, 3))
    const tuesday = yield* cli(args, to(service)).pipe(ends(3))
    const { known, submitted, tasks } = reportOf(tuesday)
    assert.deepStrictEqual([known, submitted, tasks.submitted.tasks], [3, 5, 1])
    assert.strictEqual(service.received.filter(ScriptedService.isPost).length, 5)
    assert.strictEqual((yield* pairsOf(job)).length, 4)
  })

  test("--waiting-ok: outstanding results are no reason for another status than 0", function* () {
    const job = yield* folderWithItems(3)
    const service = yield* allButOne
    const args = ["--dir", job, "--once", "--waiting-ok", "--json", ...quick]
    const run = yield* cli(["run", `${job}/items.jsonl`, "--batch-size", "1", ...args], to(service)).pipe(ends(0))
    assert.strictEqual(reportOf(run).status, "waiting")
    assert.strictEqual((yield* cli(["collect", ...args], to(service))).status, 0)
    assert.strictEqual((yield* cli(["status", "--dir", job])).status, 3)
  })
})

/** A service that has judged one task, given up another, and works on the third. */
const oneOfEach = ScriptedService.except((request) => {
  if (request.path.endsWith("/task_1")) return { status: 200, body: { task_id: "task_1", status: "cancelled" } }
  return request.path.endsWith("/task_2") && ScriptedService.pending(request)
})

test("what failed is told while other tasks wait, also with --quiet and --waiting-ok", function* () {
  const job = yield* folderWithItems(3)
  const service = yield* oneOfEach
  const args = ["run", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", "--once", "--quiet", "--waiting-ok"]
  const said = yield* cli([...args, ...quick], to(service)).pipe(ends(1))
  assert.match(
    said.stdout,
    /^Ended after .*: 1 task has no usable result, and 1 task still waits for results\. Next: run the same command again\. This command asks the service for all missing results\.\n/,
  )
  assert.match(said.stdout, /^failed: task 2 \(task_1\)/m)
  const status = yield* cli(["status", "--dir", job])
  assert.deepStrictEqual([status.status, status.stdout.startsWith("1 task has no usable result")], [1, true])
  assert.include(status.stdout, "Next: prefstream collect --dir ")
})

test("an empty address of the service is refused", function* () {
  const job = yield* temporaryDirectory
  for (const address of ["", " "]) {
    yield* cli(["run", sample, "--dir", job], { PREFSTREAM_BASE_URL: address }).pipe(
      ends(2, /PREFSTREAM_BASE_URL is empty/),
    )
    yield* cli(["run", sample, "--dir", job, "--expert", "longest", "--base-url", address]).pipe(
      ends(2, /--base-url is empty: give the address/),
    )
  }
})

describe("--quiet", () => {
  test("says nothing where all is well, also while results are outstanding; --json is still printed", function* () {
    const job = yield* folderWithItems(3)
    const service = yield* allButOne
    const args = ["run", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", "--once", "--quiet", ...quick]
    assert.deepStrictEqual(yield* cli(args, to(service)), { status: 3, stdout: "", stderr: "" })
    const asJson = yield* cli([...args, "--json"], to(service))
    assert.strictEqual(reportOf(asJson).status, "waiting")
    assert.strictEqual(asJson.stderr, "")
  })

  test("says everything where it is not: what led to it first, each on its stream", function* () {
    const job = yield* folderWithItems(2)
    const service = yield* ScriptedService.except(
      ({ path }, before) => path.endsWith("/task_1") && ScriptedService.completedBy(before, "task_1", 7),
    )
    const args = ["run", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", "--quiet", ...quick]
    const said = yield* cli(args, to(service)).pipe(
      ends(1, /^Reading .*\n[^]*the result of task_1 does not fit its task/),
    )
    assert.match(said.stdout, /^Ended after[^]*invalid: .*task_1/)
    const exported = yield* cli(["export", "--dir", job])
    assert.match(exported.stdout, /^Ended after .*: some tasks have no usable result\. Next: prefstream collect --dir /)
    const denied = yield* ScriptedService.make(() => ({ status: 401, body: { detail: "who are you?" } }))
    yield* cli([...args, "--moved"], to(denied)).pipe(ends(1, /^Reading [^]*\nprefstream: .*who are you\?/))
  })
})

test("submit --timeout stops what is being sent, says so, and the next one goes on", function* () {
  const job = yield* folderWithItems(50)
  const service = yield* ScriptedService.make(ScriptedService.obliging)
  const args = ["submit", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", "--json"]
  const slow = ["--requests-per-second", "1", "--concurrency", "1", "--timeout", "300ms"]
  const said = yield* cli([...args, ...slow], to(service)).pipe(ends(3))
  assert.isAbove(reportOf(said).not_submitted, 0)
  yield* cli([...args, "--requests-per-second", "1000"], to(service)).pipe(ends(0))
  const bodies = service.received.filter(ScriptedService.isPost).map(({ body }) => body)
  assert.deepStrictEqual([bodies.length, new Set(bodies).size], [50, 50])
})
