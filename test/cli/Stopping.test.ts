/** Signals, sent to a real process that has a request under way at a service which takes its time. */
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem, Schedule } from "effect"
import * as FileLock from "../../src/node/FileLock.ts"
import { cli, cliStarted, ends, folderWithItems, itemLines, quick, reportOf, to, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { started } from "../support/program.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

/** A run whose first POST is not answered before `answer` is called. */
const atPost = Effect.fnUntraced(function* (...flags: ReadonlyArray<string>) {
  const job = yield* folderWithItems(1)
  const held = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  const service = yield* ScriptedService.make(async (request, before) => {
    if (ScriptedService.isPost(request) && !before.some(ScriptedService.isPost)) {
      arrived.resolve()
      await held.promise
    }
    return ScriptedService.obliging(request, before)
  })
  const args = ["run", `${job}/items.jsonl`, "--dir", job, "--json", ...quick]
  const { child, ended, talks } = yield* started([...args, ...flags], to(service))
  yield* Effect.promise(() => arrived.promise)
  const report = Effect.map(cli(["status", "--dir", job, "--json"]), reportOf)
  return { answer: held.resolve, args, child, ended: Effect.promise(() => ended), job, report, service, talks }
})

describe("a run with a request under way", () => {
  test("SIGTERM: the answer is awaited and recorded, nothing new is sent, and the next run goes on", function* () {
    const { answer, args, child, ended, report, service, talks } = yield* atPost()
    child.kill("SIGTERM")
    yield* Effect.promise(() =>
      talks(/SIGTERM: waiting for 1 request to finish, at most 1m 5s; a second signal ends the process immediately/),
    )
    answer()
    const said = yield* ended
    assert.strictEqual(said.status, 143, said.stderr)
    assert.strictEqual(said.stdout, "")
    assert.match(said.stderr, /stopped; the next run continues where this one stopped/)
    assert.deepStrictEqual((yield* report).tasks.submitted, { tasks: 1, items: 1 })
    assert.strictEqual((yield* cli(args, to(service))).status, 0)
    assert.strictEqual(service.received.filter(ScriptedService.isPost).length, 1)
  })

  test("the grace time runs out: the process ends, and the next run settles it where keys are honored, and not where they are ignored", function* () {
    const fs = yield* FileSystem.FileSystem
    const { answer, args, child, ended, job, report, service } = yield* atPost("--grace", "200ms")
    child.kill("SIGINT")
    const said = yield* ended
    assert.strictEqual(said.status, 130, said.stderr)
    assert.match(said.stderr, /the grace period is over; left unfinished: 1 request; the next run/)
    assert.deepStrictEqual((yield* report).tasks.submitting, { tasks: 1, items: 1 })
    answer()
    const other = yield* temporaryDirectory
    yield* fs.copy(job, other)
    yield* cli([...args, "--idempotency-key", "ignored"], to(service)).pipe(ends(4))
    assert.strictEqual(service.received.filter(ScriptedService.isPost).length, 1)
    yield* cli(
      [...args.map((word) => (word === job ? other : word)), "--idempotency-key", "honored"],
      to(service),
    ).pipe(ends(0))
    const sent = service.received.filter(ScriptedService.isPost).map(({ headers }) => headers["idempotency-key"])
    assert.strictEqual(sent.length, 2)
    assert.strictEqual(new Set(sent).size, 1)
  })

  test("SIGHUP, as when its terminal is closed, stops it like SIGTERM", function* () {
    const { answer, child, ended, report } = yield* atPost()
    child.kill("SIGHUP")
    answer()
    assert.strictEqual((yield* ended).status, 129)
    assert.deepStrictEqual((yield* report).tasks.submitting, { tasks: 0, items: 0 })
  })
})

test("serve: to be stopped is its normal end", function* () {
  const job = yield* temporaryDirectory
  const args = ["serve", "--database", `${job}/s.db`, "--port", "0"]
  const ready = /PREFSTREAM_BASE_URL=\S+\n/
  const service = yield* started(args)
  yield* Effect.promise(() => service.says(ready))
  service.child.kill("SIGTERM")
  const inThisProcess = yield* cliStarted(args)
  yield* inThisProcess.says(ready)
  for (const said of [yield* Effect.promise(() => service.ended), yield* inThisProcess.stop("SIGINT")]) {
    assert.strictEqual(said.status, 0, said.stderr)
    assert.match(said.stderr, /^prefstream: stopped$/m)
    assert.notInclude(said.stderr, "Warning")
  }
})

describe("schedule", () => {
  /** Never in the time of a test. */
  const newYear = ["schedule", "--cron", "0 0 1 1 *", "--time-zone", "UTC"]

  test("runs the command, says how it ended, and goes on", function* () {
    const job = yield* folderWithItems(2)
    const service = yield* ScriptedService.make(ScriptedService.obliging)
    const args = ["run", `${job}/*.jsonl`, "--dir", job, "--once", "--json", ...quick]
    const words = [...newYear, "--now", "--", ...args, "--base-url", service.baseUrl]
    const { child, ended, says, talks } = yield* started(words, { PREFSTREAM_TOKEN: service.token })
    const talk = yield* Effect.promise(() => talks(/ended with .*\n.*next run at/))
    assert.match(talk, /ended with 0 \(done\) after /)
    assert.strictEqual(reportOf({ stdout: yield* Effect.promise(() => says(/\n/)), stderr: "" }).submitted, 2)
    child.kill("SIGTERM")
    const said = yield* Effect.promise(() => ended).pipe(ends(0, /starting: run .* --base-url http/))
    assert.notInclude(said.stderr, service.token)
  })

  test("stopped during a run, it stops the run as a signal does, and waits for it", function* () {
    const job = yield* temporaryDirectory
    const items = `${job}/items.jsonl`
    yield* write(items, itemLines(2))
    const args = ["run", items, "--dir", job, "--batch-size", "1", "--expert", "first", "--turnaround", "1h"]
    const { child, ended } = yield* started([...newYear, "--now", "--", ...args])
    const submitted = cli(["status", "--dir", job, "--json"]).pipe(
      Effect.map((said) => (said.status === 3 ? reportOf(said).tasks.submitted.tasks : 0)),
    )
    yield* Effect.repeat(submitted, { until: (tasks) => tasks > 0, schedule: Schedule.spaced("50 millis") })
    child.kill("SIGTERM")
    const said = yield* Effect.promise(() => ended)
    assert.strictEqual(said.status, 143, said.stderr)
    assert.match(said.stderr, /stopped; the next run continues where this one stopped/)
    // The run has ended, too: its lock is free.
    assert.strictEqual((yield* cli([...args, "--once"])).status, 3)
  })

  test("a second signal ends the run with it", function* () {
    const job = yield* folderWithItems(1)
    const arrived = Promise.withResolvers<void>()
    const service = yield* ScriptedService.make(() => {
      arrived.resolve()
      return new Promise(() => {})
    })
    const args = ["run", `${job}/items.jsonl`, "--dir", job, "--grace", "1h"]
    const { child, ended, talks } = yield* started([...newYear, "--now", "--", ...args], to(service))
    yield* Effect.promise(() => arrived.promise)
    child.kill("SIGTERM")
    yield* Effect.promise(() => talks(/waiting for the run to finish; a second signal ends the process immediately/))
    child.kill("SIGTERM")
    assert.strictEqual((yield* Effect.promise(() => ended)).status, 143)
    // The run would have waited for an hour; killed, it holds no lock.
    yield* Effect.retry(Effect.scoped(FileLock.acquire(`${job}/ledger.db`)), { while: (error) => error.isRetryable })
  })

  test("takes care of a ledger: each backup is a new file in its folder", function* () {
    const job = yield* folderWithItems(2)
    const fs = yield* FileSystem.FileSystem
    yield* fs.makeDirectory(`${job}/backups`)
    assert.strictEqual((yield* cli(["run", `${job}/items.jsonl`, "--dir", job, "--expert", "first"])).status, 0)
    const args = ["ledger", "backup", "--dir", job, `${job}/backups`]
    const { child, ended, talks } = yield* started([...newYear, "--now", "--", ...args])
    yield* Effect.promise(() => talks(/ended with 0 .*\n.*next run at/))
    child.kill("SIGTERM")
    assert.strictEqual((yield* Effect.promise(() => ended)).status, 0)
    const [file = "", ...others] = yield* fs.readDirectory(`${job}/backups`)
    assert.match(file, /^ledger-\d{8}T\d{6}Z\.db$/)
    assert.deepStrictEqual(others, [])
    yield* cli(["ledger", "check", "--ledger", `${job}/backups/${file}`]).pipe(ends(0))
  })

  test("a failing run does not end it, unless told so; then its status is that of the run", function* () {
    const job = yield* folderWithItems(["not JSON"])
    const nowhere = ["--base-url", "http://127.0.0.1:9/v1"]
    const args = ["submit", `${job}/items.jsonl`, "--dir", job, "--max-rejects", "0", ...nowhere]
    const goesOn = yield* started([...newYear, "--now", "--", ...args], { PREFSTREAM_TOKEN: "x" })
    const talk = yield* Effect.promise(() => goesOn.talks(/ended with .*\n.*next run at/))
    assert.match(talk, /ended with 5 \(too many rejects\) after /)
    const givesUp = yield* started([...newYear, "--now", "--stop-on-failure", "--", ...args], { PREFSTREAM_TOKEN: "x" })
    yield* Effect.promise(() => givesUp.ended).pipe(ends(5))
  })

  test("shows a command's help, if that is asked for", function* () {
    const said = yield* cli([...newYear, "--", "run", "--help"]).pipe(ends(0))
    assert.match(said.stdout, /prefstream run \[flags\]/)
  })
})
