import { assert, describe } from "@effect/vitest"
import { FileSystem } from "effect"
import type { JobStatus } from "../../src/pipeline/JobStatus.ts"
import { cli, ends, folderWithItems, itemLines, quick, reportOf, type Said, to, write } from "../support/cli.ts"
import { pairsOf } from "../support/datasetReaders.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { root, sample } from "../support/process.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

/** Expected failures are told in words: on stderr alone, without a stack. */
const assertTold = (said: Said, status: number, message: RegExp) => {
  assert.strictEqual(said.status, status, said.stderr)
  assert.strictEqual(said.stdout, "")
  assert.match(said.stderr, message)
  assert.notMatch(said.stderr, /^\s+at /m)
}

describe("0: done", () => {
  test("an input without items: nothing is missing", function* () {
    const job = yield* folderWithItems([])
    yield* cli(["run", `${job}/items.jsonl`, "--dir", job, "--expert", "longest"]).pipe(ends(0))
  })
})

describe("0: what the service refuses is rejected", () => {
  test("run and status name it, and do not say that all is done", function* () {
    const job = yield* folderWithItems(5)
    const service = yield* ScriptedService.except(
      ({ body }) => body.includes("prompt 4") && { status: 415, body: { detail: "too odd" } },
    )
    const args = ["run", `${job}/items.jsonl`, "--dir", job, "--batch-size", "2", ...quick]
    const except = ", except 1 task \\(1 item\\) that the service refused\\.$"
    const said = yield* cli(args, to(service)).pipe(ends(0))
    assert.match(said.stdout, new RegExp(`^Done in .*${except}`, "m"))
    const status = yield* cli(["status", "--dir", job]).pipe(ends(0))
    assert.match(status.stdout, new RegExp(`^All tasks are done${except}`, "m"))
  })
})

describe("1: failure", () => {
  test("a result that does not fit its task: named, and the dataset holds the others", function* () {
    const job = yield* folderWithItems(4)
    const service = yield* ScriptedService.except(
      ({ path }, before) => path.endsWith("/task_1") && ScriptedService.completedBy(before, "task_1", 7),
    )
    const args = ["run", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", ...quick]
    const said = yield* cli(args, to(service)).pipe(ends(1))
    assert.match(said.stdout, /^invalid: task 2 \(task_1\): .*best_completion_index/m)
    assert.match(said.stderr, /the result of task_1 does not fit its task/)
    const taskIds = (yield* pairsOf(job)).map(({ task_id }) => task_id)
    assert.deepStrictEqual(taskIds.toSorted(), ["task_0", "task_2", "task_3"])
    assert.strictEqual((yield* cli(["status", "--dir", job])).status, 1)

    // Asked again by the next run; once the service has mended it, nothing is wrong any more.
    const mended = yield* ScriptedService.except(
      (request) =>
        !ScriptedService.isPost(request) &&
        ScriptedService.completedBy(service.received, ScriptedService.taskOf(request)),
    )
    // It listens elsewhere now, which is refused unless it is said to be the same service.
    assertTold(yield* cli(args, to(mended)), 1, /this job's tasks are at .*, not at .*--moved/)
    assert.strictEqual((yield* cli([...args, "--moved"], to(mended))).status, 0)
    assert.deepStrictEqual(mended.received.filter(ScriptedService.isPost), [])
    assert.strictEqual((yield* pairsOf(job)).length, 4)
  })

  test("a service that refuses everything: told with its reason, and no task is lost", function* () {
    const job = yield* folderWithItems(3)
    let answer: ScriptedService.Answer | false = { status: 402, body: { detail: "no funds" } }
    const service = yield* ScriptedService.except(() => answer)
    const args = ["run", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", "--concurrency", "1", ...quick]
    assertTold(yield* cli(args, to(service)), 1, /refuses every request \(402 Payment Required\): no funds/)
    assert.lengthOf(service.received, 1)
    answer = { status: 422, body: { detail: "too odd" } }
    const refused = yield* cli(args, to(service)).pipe(ends(1))
    assert.match(refused.stdout, /^Ended .*: the service refused all 3 tasks\. First reason: refused \(422\): too odd/)
    service.received.length = 0
    answer = false
    yield* cli([...args, "--resubmit", "refused"], to(service)).pipe(ends(0))
    assert.strictEqual((yield* pairsOf(job)).length, 3)
  })

  test("gold answers that do not cover the items: told, and mended by the next run with more of them", function* () {
    const job = yield* temporaryDirectory
    const goldLines = (n: number) =>
      itemLines(n).map((line) => ({ ...JSON.parse(line), gold: { best_completion_index: 1 } }))
    yield* write(`${job}/items.jsonl`, itemLines(4))
    yield* write(`${job}/gold.jsonl`, goldLines(3))
    const args = ["run", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", "--expert", `gold:${job}/gold.jsonl`]
    const told =
      /is cancelled: more votes are needed on 1 of 1 prompts, but no automatic expert can give them \(gold:.*gold\.jsonl has no answer\)/
    yield* cli(args).pipe(ends(1, told))
    assert.strictEqual((yield* pairsOf(job)).length, 3)
    yield* write(`${job}/gold.jsonl`, goldLines(4))
    assert.strictEqual((yield* cli(args)).status, 0)
    assert.strictEqual((yield* pairsOf(job)).length, 4)
  })

  test("an address that is no annotation service", function* () {
    const job = yield* temporaryDirectory
    const service = yield* ScriptedService.make(() => ({ status: 404, body: "<h1>Not here</h1>" }))
    const said = yield* cli(["run", sample, "--dir", job], to(service))
    assertTold(said, 1, new RegExp(`^prefstream: no annotation service found at ${service.baseUrl}: .*Not here`, "m"))
  })
})

describe("2: the command line or a setting is wrong", () => {
  const quickstart = `${root}pipelines/quickstart.ts`
  const absent = /absent\.jsonl: there is no such file/
  const schedule = (...words: ReadonlyArray<string>) => ["schedule", "--cron", "0 2 * * *", ...words]
  const wrong: ReadonlyArray<readonly [command: string | ReadonlyArray<string>, message: RegExp]> = [
    ["run", /name at least one input file/],
    [`run ${sample} --nonesuch`, /--nonesuch/],
    ["nonesuch --json", /nonesuch/],
    ["status --once", /--once/],
    ["run absent.jsonl --json", absent],
    [`run ${sample} --completions absent.jsonl`, absent],
    [`run ${sample} --guidelines-file absent.md`, /absent\.md.*There is no such file/],
    [
      `run ${sample} --guidelines a --guidelines-file ${sample}`,
      /--guidelines-file cannot be combined with --guidelines/,
    ],
    [`run ${sample} --completions ${sample}`, /at least two files/],
    [`run ${sample} --completions ${sample} --id-path x`, /--id-path cannot be combined with --completions/],
    [`run ${sample} --timeout soon`, /--timeout.*"soon".*30s/],
    [`run ${sample} --batch-size 0`, /--batch-size.*"0"\. Expected: a value greater than or equal to 1$/m],
    [`submit ${sample} --votes 3 --confidence 0.9`, /--confidence/],
    [`submit ${sample} --votes 5..2`, /--votes/],
    [`submit ${sample} --votes 0..2`, /--votes/],
    [`submit ${sample} --price 1e3`, /--price/],
    [`submit ${sample} --price 0.0000000001`, /9 after it/],
    [`submit ${sample} --price 1 --budget -1`, /--budget/],
    [`submit ${sample} --price 1 --price a=1 --price a=2`, /--price/],
    [`submit ${sample} --price 1 --price =2`, /--price/],
    [`submit ${sample} --price 1 --price a=0`, /--price/],
    [`plan ${sample} --accuracy 80`, /--accuracy/],
    [`submit ${sample} --base-url http://h/v1#x`, /--base-url: expected http/],
    ["export --threshold longer-chosen=1.3", /the VALUE of longer-chosen is a number from 0 to 1/],
    ["export --threshold longer-chosen", /CHECK=VALUE/],
    ["export --split test=lots", /SPLIT=SHARE/],
    ["run --prot 1", /^prefstream: Unrecognized flag: --prot in command prefstream run$/m],
    ["serve --prot 1", /^prefstream: Unrecognized flag: --prot in command prefstream serve: did you mean --port\?$/m],
    ["help rnu", /^prefstream: Unknown subcommand "rnu" for "prefstream": did you mean run\?$/m],
    ["help nosuch", /^prefstream: Unknown subcommand "nosuch" for "prefstream"$/m],
    ["completion csh", /"bash" \| "zsh" \| "fish" \| "powershell"/],
    ["run --batch-size x", /^prefstream: Invalid value for flag --batch-size: "x"\. Expected: a number$/m],
    [
      `run ${sample} --once`,
      /^prefstream: --once requires an annotation service or an automatic expert: .*PREFSTREAM_BASE_URL.*--expert/m,
    ],
    [`submit ${sample} --price 0`, /--price/],
    [`submit ${sample} --price 1 --budget 5EUR`, /--budget/],
    [`submit ${sample} --price model=0.01`, /--price/],
    [`submit ${sample} --price 1 --price 2`, /--price/],
    [`plan ${sample} --accuracy 1`, /--accuracy/],
    [`plan ${sample} --target-accuracy 0`, /--target-accuracy/],
    [`plan ${sample} --accuracy 0.8 --campaign 1`, /--campaign/],
    ["ledger backup copy.db --ledger postgres://me@host/db", /pg_dump .* 'postgres:\/\/me@host\/db'$/m],
    ["ledger compact --ledger postgres://me@host/db", /VACUUM FULL in postgres:\/\/me@host\/db$/m],
    ["status", /there is no ledger at .*--dir/],
    ["export", /there is no ledger at .*--dir/],

    [`submit ${sample}`, /PREFSTREAM_BASE_URL.*--base-url/],
    ["collect", /PREFSTREAM_BASE_URL.*--base-url/],
    [`submit ${sample} --base-url nowhere`, /--base-url: expected http/],
    [`submit ${sample} --base-url http://h/v1?key=k3y`, /--base-url: expected .*without .*query.*fragment$/m],
    [`submit ${sample} --base-url http://me:word@host/v1`, /without user/],
    [`submit ${sample} --base-url http://localhost/v1`, /PREFSTREAM_TOKEN/],

    [`run ${sample} --expert nobody`, /"nobody": expected gold:FILE, first, last/],
    [`run ${sample} --base-url http://h/v1 --expert first`, /--expert cannot be combined with a base URL/],
    [`run ${sample} --expert first --votes 2`, /--votes 2: .* only 1 automatic expert .first.\. .*--base-url/],
    [`run ${sample} --expert gold:absent.jsonl`, absent],
    [`run ${sample} --expert judge:m`, /judge:m: no endpoint is set; give its base URL with --judge-base-url/],
    [`run ${sample} --expert judge:m --judge-base-url here`, /judge:m: invalid base URL/],
    [`run ${sample} --judge-base-url http://h/v1`, /--judge-base-url requires --expert judge:MODEL/],
    [`run ${sample} --expert judge:m --judge-body []`, /--judge-body.*a JSON object/],
    [`run ${sample} --expert judge:m --judge-template absent.txt`, /absent\.txt/],
    [
      `run ${sample} --expert judge:m --judge-base-url http://h/v1 --judge-template ${sample}`,
      /the template .* lacks \{prompt\} and \{completions\}/,
    ],

    [`submit ${quickstart} --batch-size 3`, /--batch-size cannot be combined with a pipeline file/],
    [
      `run ${quickstart} --batch-size 3 --expert first`,
      /--batch-size and --expert cannot be combined with a pipeline file/,
    ],
    ["collect items.jsonl", /expected a pipeline file .*: items\.jsonl/],
    ["run absent.ts", /cannot load the pipeline absent\.ts/],
    [`run ${root}src/domain/Task.ts`, /Task\.ts to have a default export made by Pipeline\.make/],

    ["export --threshold length=0.3", /CHECK=VALUE, where CHECK is one of longer-chosen/],
    ["export --threshold length-effect=big", /the VALUE of length-effect is a number, 0 or more/],
    ["export --threshold longer-chosen=0.3 --threshold longer-chosen=0.4", /name each check only once/],
    ["export --split dev=0.1", /SPLIT=SHARE, such as test=0\.1/],
    ["export --split test=0.6 --split validation=0.6", /expected shares that add up to 1, found 1\.2/],
    ["export --split test=0.1 --split test=0.2", /name each split only once/],
    ["export --split-seed 3", /--split-seed requires --split/],
    ["export --evaluation-path q", /--evaluation-path requires --evaluation-prompts/],
    ["export --drop contamination", /"contamination" requires --evaluation-prompts/],
    ["export --min-agreement 2", /share from 0 to 1/],
    ["export --pair-seed 1", /--pair-seed requires --pairs best-against-one/],
    ["leaderboard --csv --json", /--csv cannot be combined with --json/],

    [["schedule", "--cron", "0 25 * * *", "--", "run", sample], /--cron: expected minute, hour/],
    [
      ["schedule", "--cron", "0 0 31 4 *", "--", "run", sample],
      /--cron: expected an expression that matches some date, found /,
    ],
    [schedule("--time-zone", "Mars", "--", "run", sample), /--time-zone: expected a time zone/],
    [schedule(), /COMMAND/],
    [schedule("--", "run", sample), /schedule requires an annotation service or an automatic expert/],
    [schedule("--", "serve"), /expected run, submit, collect, export or ledger after --, found serve/],
    [schedule("--", "run", sample, "--dri", "x"), /Unrecognized flag: --dri in command prefstream run/],
    [schedule("--", "ledger", "prune", "--results"), /--results requires --before/],
    [schedule("--", "run", sample, "--expert", "foo", "--once"), /unknown expert "foo": expected gold:FILE/],
    [schedule("--", "run", `${root}vitest.config.ts`), /made by Pipeline.make/],
  ]
  for (const [command, message] of wrong) {
    const args = typeof command === "string" ? command.split(" ") : command
    test(args.join(" ").replaceAll(root, ""), function* () {
      const job = `${yield* temporaryDirectory}/job`
      const said = yield* cli(args, { PREFSTREAM_DIR: job })
      assertTold(said, 2, message)
      assert.notMatch(said.stderr, /^Reading |next run/m)
      assert.isFalse(yield* (yield* FileSystem.FileSystem).exists(job), "nothing was begun")
    })
  }

  test("limits of requests that are none", function* () {
    const args = ["run", sample, "--expert", "first", "--dir", yield* temporaryDirectory]
    for (const name of ["PREFSTREAM_CONCURRENCY", "PREFSTREAM_REQUESTS_PER_SECOND"]) {
      for (const value of ["0", "-1", "many"]) assertTold(yield* cli(args, { [name]: value }), 2, new RegExp(name))
    }
  })
})

test("3: waiting: run with slow experts and a time limit; then status, submit and collect --once", function* () {
  const job = yield* temporaryDirectory
  const args = ["run", sample, "--dir", job, "--expert", "first", "--turnaround", "1h", "--timeout", "5s"]
  const ran = yield* cli(args).pipe(ends(3))
  assert.match(ran.stdout, /^Results are outstanding/)
  assert.strictEqual((yield* cli(["status", "--dir", job])).status, 3)

  const service = yield* ScriptedService.except(
    (request) => !ScriptedService.isPost(request) && ScriptedService.pending(request),
  )
  const other = `${job}/other`
  yield* cli(["submit", sample, "--dir", other, ...quick], to(service)).pipe(ends(0))
  yield* cli(["collect", "--once", "--dir", other, ...quick], to(service)).pipe(ends(3))
  assert.strictEqual(
    service.received.filter((request) => !ScriptedService.isPost(request)).length,
    4,
    "looks once at each task",
  )
  yield* cli(["collect", "--timeout", "50ms", "--dir", other, ...quick], to(service)).pipe(ends(3))
})

describe("4: in doubt", () => {
  test("a connection that breaks off, where keys are ignored; not sent again by a later run", function* () {
    const job = yield* folderWithItems(3)
    const service = yield* ScriptedService.except(({ body }) => body.includes("prompt 1") && "reset")
    const args = ["run", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", ...quick]
    const said = yield* cli(args, to(service)).pipe(ends(4))
    assert.match(said.stdout, /^in doubt: task \d+: /m)
    assert.strictEqual((yield* pairsOf(job)).length, 2)
    const sent = service.received.filter(ScriptedService.isPost).length
    for (const again of [args, ["status", "--dir", job]]) {
      assert.strictEqual((yield* cli(again, to(service))).status, 4)
    }
    assert.strictEqual(service.received.filter(ScriptedService.isPost).length, sent)
  })

  test("also where the service broke down and ended the run, which is told before", function* () {
    const job = yield* folderWithItems(20)
    const service = yield* ScriptedService.make(({ method }) => (method === "POST" ? "reset" : { status: 404 }))
    for (const [command, ...flags] of [["run"], ["submit"], ["run", "--once"]] as const) {
      const dir = `${job}/${command}${flags.length}`
      const args = [command, `${job}/items.jsonl`, "--dir", dir, "--batch-size", "1", ...quick, ...flags, "--json"]
      const said = yield* cli(args, to(service)).pipe(ends(4, /^prefstream: .* the connection was lost/m))
      const { status, tasks } = reportOf(said)
      assert.strictEqual(status, "in_doubt")
      assert.isAbove(tasks.planned.tasks, 0)
      const told = yield* cli(["status", "--dir", dir])
      assert.match(told.stdout, /process +idle; run 1 failed at .*: .* the connection was lost/)
      assert.match(told.stdout, /^In addition, \d+ tasks are not sent yet\.$/m)
    }
  })
})

test("a token that the service refuses: submit says so, and status repeats it", function* () {
  const job = yield* folderWithItems(1)
  const service = yield* ScriptedService.make(() => ({ status: 401, body: { detail: "unknown organization" } }))
  const said = yield* cli(["submit", `${job}/items.jsonl`, "--dir", job, ...quick], to(service))
  assertTold(said, 1, /^prefstream: .* refuses the token \(401\): unknown organization.*PREFSTREAM_TOKEN/m)
  const status = reportOf(yield* cli(["status", "--dir", job, "--json"])) as JobStatus
  assert.strictEqual(status.status, "waiting")
  assert.strictEqual(status.last_run?.read_finished, true)
  assert.match(status.last_run?.failure ?? "", /401/)
})
