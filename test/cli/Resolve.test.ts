/** Tasks that need attention are listed, settled, and told by `status`. */
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import type { ListedTask } from "../../src/pipeline/Issues.ts"
import * as FileLock from "../../src/node/FileLock.ts"
import { Ledger, LedgerReader } from "../../src/task/ledger/Ledger.ts"
import type { JobStatus } from "../../src/pipeline/JobStatus.ts"
import { cli, cliIn, ends, folderWithItems, printed, quick, readRows, reportOf, to, write } from "../support/cli.ts"
import { pairsOf } from "../support/datasetReaders.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { newTasks, plan } from "../task/support.ts"

/** Four items, a task each: the first is done, the others are in doubt, failed, and refused. */
const makeJob = Effect.gen(function* () {
  const job = yield* folderWithItems(4)
  let isCalm = false
  const service = yield* ScriptedService.make((request, before) => {
    if (!isCalm && request.method === "POST") {
      if (request.body.includes("prompt 1")) return "reset"
      if (request.body.includes("prompt 3"))
        return { status: 422, body: { title: "no", detail: "too odd", status: 422 } }
    }
    const isFailing = !isCalm && request.method === "GET" && request.path.endsWith("/task_2")
    if (isFailing) return { status: 200, body: { task_id: "task_2", status: "cancelled" } }
    return ScriptedService.obliging(request, before)
  })
  const run = (...more: ReadonlyArray<string>) =>
    cli(
      ["run", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", "--concurrency", "1", ...quick, ...more],
      to(service),
    )
  const resolve = (...args: ReadonlyArray<string>) => cli(["resolve", ...args, "--dir", job])
  assert.strictEqual((yield* run()).status, 4)
  return {
    job,
    service,
    run,
    resolve,
    /** From now on the service takes everything. */
    calm: () => void (isCalm = true),
    list: printed<ReadonlyArray<ListedTask>>(["resolve", "--dir", job]),
    status: printed<JobStatus>(["status", "--dir", job]),
    rejects: readRows(`${job}/rejects.jsonl`),
    items: Effect.map(pairsOf(job), (rows) => rows.map(({ item_id }) => item_id)),
  }
})

describe("resolve", () => {
  test("lists the tasks that need attention: which items, since when, under which key, why, and what can be done", function* () {
    const { job, list, resolve } = yield* makeJob
    assert.deepStrictEqual(
      (yield* list).map(({ items, places, state, task, task_id }) => [task, state, items, task_id, places]),
      [
        [2, "in_doubt", 1, null, [{ item_id: "item-1", file: `${job}/items.jsonl`, line: 2 }]],
        [3, "failed", 1, "task_2", [{ item_id: "item-2", file: `${job}/items.jsonl`, line: 3 }]],
        [4, "refused", 1, null, [{ item_id: "item-3", file: `${job}/items.jsonl`, line: 4 }]],
      ],
    )
    const { stdout } = yield* resolve().pipe(ends(0))
    assert.match(
      stdout,
      new RegExp(
        `^Task 2: in doubt, 1 item: ${job}/items.jsonl:2\n  sent +20\\S+Z, Idempotency-Key [0-9a-f]{64}\n  reason `,
      ),
    )
    assert.match(stdout, /^Task 3: failed, .*\n.*\n  task id +task_2\n  reason +.*cancelled/m)
    assert.match(stdout, /^Task 4: refused, .*\n.*\n  reason +.*too odd/m)
    assert.match(stdout, new RegExp(`prefstream resolve 2 --dir ${job} --send-again .*billed twice`))
    assert.match(stdout, new RegExp(`prefstream resolve 3 --dir ${job} --send-again .*as a new, billable task`))
    assert.deepStrictEqual((yield* resolve("--all", "failed", "--json")).stdout.match(/"task":\d/g), ['"task":3'])
    assert.deepStrictEqual((yield* resolve("4", "--json")).stdout.match(/"task":\d/g), ['"task":4'])
  })

  test("adopts, sends again and gives up; then the job is done, and each record is accounted for", function* () {
    const { calm, items, list, rejects, resolve, run, service, status } = yield* makeJob
    calm()
    // The service has the task that was in doubt: it took it before it broke the connection off.
    const adopted = yield* resolve("2", "--adopt", "task_1").pipe(ends(0))
    assert.match(adopted.stdout, /^Task 2 is linked to task_1 at the service/)
    const again = yield* resolve("--all", "failed", "--send-again")
    assert.strictEqual(
      again.stdout,
      "Task 3 will be sent again by the next prefstream run or prefstream submit, as a new, billable task.\n",
    )
    assert.strictEqual((yield* resolve("4", "--give-up")).status, 0)
    assert.deepStrictEqual(yield* list, [])
    assert.deepStrictEqual(
      (yield* rejects).map(({ code, line }) => [code, line]),
      [["given_up", 4]],
    )
    assert.strictEqual((yield* resolve()).stdout, "No task needs attention.\n")
    const before = yield* status
    assert.deepStrictEqual([before.read, before.submitted, before.not_submitted, before.rejected], [4, 2, 1, 1])

    const sent = service.received.filter(ScriptedService.isPost).length
    yield* run().pipe(ends(0))
    assert.strictEqual(service.received.filter(ScriptedService.isPost).length, sent + 1)
    assert.deepStrictEqual(yield* items, ["item-0", "item-1", "item-2"])
    const dropped = yield* rejects
    assert.deepStrictEqual(
      dropped.map(({ code, line }) => [code, line]),
      [["given_up", 4]],
    )
    assert.match(dropped[0]!.reason, /^given up; before: .*too odd/)
    const after = yield* status
    assert.deepStrictEqual([after.read, after.submitted, after.rejected, after.status], [4, 3, 1, "done"])

    // Later it is decided otherwise.
    assert.strictEqual((yield* resolve("--all", "given_up", "--send-again")).status, 0)
    assert.strictEqual((yield* run()).status, 0)
    assert.deepStrictEqual(yield* items, ["item-0", "item-1", "item-2", "item-3"])
  })

  test("adopts several tasks at once, each with its own id", function* () {
    const { job, list, resolve, status } = yield* makeJob
    const { stdout } = yield* resolve("3", "2", "--adopt", "task_9", "--adopt", "task_1").pipe(ends(0))
    assert.match(
      stdout,
      /^2 tasks are linked to task_9 and task_1 at the service, and will be polled by the next run, or by prefstream collect\./,
    )
    assert.strictEqual((yield* list).length, 1)
    assert.strictEqual((yield* status).tasks.submitted.tasks, 2)
    const linked = yield* printed<ReadonlyArray<ListedTask>>(["resolve", "2", "3", "--dir", job])
    assert.deepStrictEqual(
      linked.map(({ task_id }) => task_id),
      ["task_1", "task_9"],
    )
  })

  test("leaves the rejects of another job's folder alone, where the ledger is named alone", function* () {
    const fs = yield* FileSystem.FileSystem
    const { job } = yield* makeJob
    const elsewhere = yield* temporaryDirectory
    const others = `${elsewhere}/prefstream-job/rejects.jsonl`
    yield* fs.makeDirectory(`${elsewhere}/prefstream-job`)
    yield* write(others, ["of another job"])
    yield* cliIn(elsewhere, ["resolve", "--all", "in_doubt", "--give-up", "--ledger", `${job}/ledger.db`]).pipe(ends(0))
    assert.strictEqual(yield* fs.readFileString(others), "of another job\n")
  })

  test("shows a task whose request was pruned", function* () {
    const { job, resolve } = yield* makeJob
    yield* cli(["ledger", "prune", "--before", "1ms", "--results", "--dir", job]).pipe(ends(0))
    const { stdout } = yield* resolve("1").pipe(ends(0))
    assert.match(stdout, /^Task 1: completed, 1 item: pruned from the ledger$/m)
  })

  test("tells how a task that was given up is waited for again, and what is paid for again", function* () {
    const job = yield* temporaryDirectory
    const withIds = Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* plan(newTasks([2, 3]))
      yield* Effect.forEach(yield* ledger.plannedAfter(-1), ledger.claim)
      yield* ledger.markSubmitted(0, "task $1", 0)
      yield* ledger.markInDoubt(2, "hm")
    })
    yield* withIds.pipe(Effect.provide(Ledger.layerFile(`${job}/ledger.db`)))
    const resolve = (...args: ReadonlyArray<string>) => cli(["resolve", ...args, "--dir", job])
    const hint = `To poll task 1 again by its id at the service (not billed): prefstream resolve 1 --dir ${job} --adopt 'task $1'\n`
    const givenUp = yield* resolve("1", "3", "--give-up")
    assert.strictEqual(givenUp.stdout, `2 tasks are given up. Items that are in no other task become rejects.\n${hint}`)
    assert.include((yield* resolve("1")).stdout, hint)
    assert.strictEqual((yield* resolve("1", "--adopt", "task $1")).status, 0)
    assert.match((yield* resolve("1")).stdout, /^Task 1: submitted/)
    yield* resolve("1", "--give-up")
    assert.strictEqual(
      (yield* resolve("1", "3", "--send-again")).stdout,
      "2 tasks will be sent again by the next prefstream run or prefstream submit, 1 of them as new, billable tasks.\n",
    )
  })

  test("takes what was being sent when a process was killed for what is in doubt", function* () {
    const job = yield* temporaryDirectory
    const file = `${job}/ledger.db`
    // What a kill leaves: claimed, and neither submitted nor given back.
    yield* Effect.gen(function* () {
      yield* plan(newTasks([2, 3]))
      const [task] = yield* Ledger.use((ledger) => ledger.plannedAfter(-1))
      yield* Ledger.use((ledger) => ledger.claim(task!))
    }).pipe(Effect.provide(Ledger.layerFile(file)))
    const { stdout } = yield* cli(["status", "--dir", job])
    assert.match(stdout, /^Results are outstanding: 1 task is not sent yet, and 1 task may have been sent\.\n/)
    assert.match(stdout, /unsettled +1 task may or may not have reached the service/)
    const listed = yield* cli(["resolve", "--dir", job])
    assert.match(listed.stdout, /^Task 1: in doubt, 2 items: memory:1-2\n.*\n +reason +the process was killed/)
    const inDoubt = yield* cli(["resolve", "--all", "in_doubt", "--json", "--dir", job])
    assert.deepStrictEqual(inDoubt.stdout.match(/"task":\d/g), ['"task":1'])
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* FileLock.acquire(file)
        // It is being sent now.
        assert.strictEqual((yield* cli(["resolve", "--dir", job])).stdout, "No task needs attention.\n")
      }),
    )
    assert.strictEqual((yield* cli(["resolve", "1", "--adopt", "found", "--dir", job])).status, 0)
    const counts = yield* LedgerReader.use((ledger) => ledger.counts).pipe(Effect.provide(LedgerReader.layerFile(file)))
    assert.deepStrictEqual([counts.submitted.tasks, counts.planned.tasks], [1, 1])
  })

  test("decides nothing while another process works the job; listing goes on, and status says which works it", function* () {
    const { job, list, resolve, status } = yield* makeJob
    const idle = yield* cli(["status", "--dir", job])
    assert.match(idle.stdout, new RegExp(`prefstream resolve --dir ${job}`))
    assert.match(idle.stdout, /process +idle; run 1 finished reading at 20\d\d-/)
    assert.match(idle.stdout, /^in doubt: task 2: /m)
    assert.isNull((yield* status).running_process)
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* FileLock.acquire(`${job}/ledger.db`)
        yield* resolve("2", "--send-again").pipe(ends(75, new RegExp(`in use by process ${process.pid} on`)))
        assert.strictEqual((yield* list).length, 3)
        assert.match((yield* cli(["status", "--dir", job])).stdout, new RegExp(`process +process ${process.pid} on `))
        const { running_process } = yield* status
        assert(running_process !== null && running_process !== "unknown")
        assert.strictEqual(running_process.pid, process.pid)
      }),
    )
    assert.strictEqual((yield* list).length, 3)
    yield* resolve("2", "--send-again").pipe(ends(0))
  })

  test("refuses what makes no sense, in words, and changes nothing", function* () {
    const { job, list, resolve } = yield* makeJob
    const before = yield* list
    const wrong: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
      [["9"], /no task 9/],
      [["2", "9", "--send-again"], /no task 9/],
      [["1", "--send-again"], /cannot resend task 1: its result has arrived/],
      [["2", "1", "--give-up"], /cannot give up task 1: its result has arrived/],
      [["--give-up"], /give task numbers, as listed/],
      [["--adopt", "x"], /give task numbers, as listed/],
      [
        ["--all", "in_doubt", "--adopt", "x"],
        /--adopt: expected one task number for each TASK_ID, found 0 task numbers and 1 TASK_ID/,
      ],
      [["2", "3", "--adopt", "x"], /--adopt: expected .*, found 2 task numbers and 1 TASK_ID/],
      [["2", "2", "--adopt", "x", "--adopt", "y"], /--adopt: expected one task number for each/],
      [["2", "3", "--adopt", "x", "--adopt", "x"], /x already belongs to task 2/],
      [["2", "3", "--adopt", "x", "--adopt", "task_0"], /task_0 already belongs to task 1/],
      [["2", "--adopt", "task_0"], /task_0 already belongs to task 1/],
      [["2", "--adopt", " "], /expected a non-empty task id without control characters/],
      [["2", "--adopt", "x".repeat(1001)], /expected a task id of at most 1,000 bytes/],
      [["2", "--send-again", "--give-up"], /--give-up cannot be combined with --send-again/],
      [["2", "--all", "failed"], /not both/],
      [["--all", "invalid", "--give-up"], /no task is in state invalid/],
      [["two"], /TASK/],
      [["--all", "sent"], /--all/],
    ]
    for (const [args, message] of wrong) {
      const said = yield* resolve(...args)
      assert.strictEqual(said.status, 2, `${args.join(" ")}: ${said.stdout}${said.stderr}`)
      assert.match(said.stderr, message)
    }
    assert.deepStrictEqual(yield* list, before)
    yield* cli(["resolve", "--dir", `${job}/nowhere`]).pipe(ends(2, /no ledger at/))
  })
})

test("campaigns: other guidelines are refused with what differs; --new-campaign takes them; --campaign exports either", function* () {
  const job = yield* folderWithItems(2)
  const run = (...more: ReadonlyArray<string>) =>
    cli(["run", `${job}/items.jsonl`, "--dir", job, "--expert", "first", ...more])
  const rows = (...more: ReadonlyArray<string>) =>
    Effect.map(cli(["export", "--dir", job, "--json", ...more]), (said) => reportOf(said).dataset?.rows)
  assert.strictEqual((yield* run("--guidelines", "Be brief.")).status, 0)
  yield* run("--guidelines", "Be kind.").pipe(
    ends(2, /^prefstream: .*"Be brief\." and are now "Be kind\.".*--new-campaign/m),
  )
  assert.notMatch((yield* cli(["status", "--dir", job])).stdout, /campaigns/)
  const started = yield* run("--guidelines", "Be kind.", "--new-campaign")
  const same = yield* run("--guidelines", "Be kind.", "--new-campaign")
  assert.deepStrictEqual([started.status, same.status], [0, 0])
  const notice = "--new-campaign has no effect, because guidelines and task type have not changed: campaign 2 continues"
  assert.notInclude(started.stderr, "has no effect")
  assert.include(same.stderr, notice)
  assert.match(
    (yield* cli(["status", "--dir", job])).stdout,
    /campaigns +1: .*"Be brief\."\n +2 \(last run\): .*"Be kind\."/,
  )
  assert.deepStrictEqual(yield* Effect.all([rows(), rows("--campaign", "1"), rows("--campaign", "all")]), [2, 2, 4])
  yield* cli(["export", "--dir", job, "--campaign", "3"]).pipe(ends(2, /has no campaign 3: its campaigns are 1, 2/))
  assert.strictEqual((yield* cli(["export", "--dir", job, "--campaign", "0"])).status, 2)
  assert.strictEqual((yield* run("--max-attempts", "2")).status, 2)
})
