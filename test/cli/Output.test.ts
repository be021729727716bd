/** Output that can't be written, and output that nobody wants to read to its end. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { cli, ends, folderWithItems, itemLines, quick, reportOf, rowsIn, write } from "../support/cli.ts"
import { copiesOf, test } from "../support/job.ts"
import { spawned } from "../support/process.ts"
import { prefstream, run, started } from "../support/program.ts"

const long = "x".repeat(90_000)

/** A finished job whose report has more than a pipe takes at once. */
const finished = copiesOf(
  Effect.fnUntraced(function* (job) {
    yield* write(`${job}/items.jsonl`, [{ id: "a", prompt: long, completions: ["b", "c"] }])
    yield* cli(["run", `${job}/items.jsonl`, "--dir", job, "--expert", "first", "--quiet", ...quick]).pipe(ends(0))
  }),
)

/** `prefstream ARGS` with its output redirected by a shell. */
const redirected = (args: ReadonlyArray<string>, how: string) =>
  Effect.promise(() => {
    const command = `{ "$0" "$@"; echo "status $?" >&2; } ${how}`
    return spawned("sh", ["-c", command, ...prefstream, ...args]).ended
  })

describe("standard output", () => {
  test("that is full is a failure, and said, also in JSON", function* () {
    const job = yield* finished
    const said = yield* redirected(["status", "--json", "--dir", job], ">/dev/full")
    assert.match(said.stderr, /^prefstream: cannot write to standard output: ENOSPC.*\nstatus 1\n$/)
    const inJson = yield* redirected(["export", "--json", "--force", "--log-format=json", "--dir", job], ">/dev/full")
    const { level, message } = rowsIn(inJson.stderr.replace(/status 1\n$/, "")).at(-1)!
    assert.strictEqual(level, "error")
    assert.include(message, "cannot write to standard output: ENOSPC")
  })

  test("of which a reader has read enough is none", function* () {
    const said = yield* redirected(["export", "--json", "--force", "--dir", yield* finished], "| head -c 9")
    assert.deepStrictEqual([said.stdout, said.stderr], [`{"status"`, "status 0\n"])
  })

  test("is written to its end before the process ends, also with a status that is not 0", function* () {
    const job = yield* finished
    const exported = yield* Effect.promise(() => run(["export", "--json", "--force", "--dir", job]))
    assert.strictEqual(reportOf(exported).example?.prompt.length, long.length)
    yield* write(`${job}/more.jsonl`, [{ id: "d", prompt: long, completions: ["b", "c"] }])
    const slow = ["--expert", "first", "--turnaround", "1h", "--once", "--json"]
    const waiting = yield* Effect.promise(() => run(["run", `${job}/more.jsonl`, "--dir", job, ...slow])).pipe(ends(3))
    assert.strictEqual(reportOf(waiting).example?.prompt.length, long.length)
  })
})

describe("--log-format json", () => {
  test("makes every line on stderr an object, also what --quiet held back, and leaves stdout as it is", function* () {
    const job = yield* folderWithItems([...itemLines(3), "not JSON"])
    const args = ["run", `${job}/items.jsonl`, "--dir", job, "--expert", "first", "--json", "--log-format", "json"]
    const done = yield* Effect.promise(() => run(args))
    assert.strictEqual(reportOf(done).read, 4)
    const lines = rowsIn(done.stderr)
    assert.include(
      lines.map(({ message }) => message),
      `Reading ${job}/items.jsonl; the job folder is ${job}/`,
    )
    for (const { level, time } of lines) {
      assert.strictEqual(level, "info")
      assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    }

    const refused = yield* Effect.promise(() =>
      run(["run", `${job}/missing.jsonl`, "--dir", job, "--expert", "first", "--quiet"], {
        PREFSTREAM_LOG_FORMAT: "json",
      }),
    )
    assert.isAbove(refused.status ?? 0, 0)
    const last = rowsIn(refused.stderr).at(-1)
    assert.strictEqual(last?.level, "error")
    assert.include(last?.message, "missing.jsonl")
  })

  test("holds for progress, and for warnings of Node", function* () {
    const job = yield* folderWithItems(3)
    const args = ["run", `${job}/items.jsonl`, "--dir", job, "--expert", "first", "--turnaround", "1h"]
    const running = yield* started([...args, "--log-format", "json"])
    yield* Effect.promise(() => running.talks(/0 of 3 items judged/))
    running.child.kill("SIGTERM")
    const { stderr } = yield* Effect.promise(() => running.ended)
    const progress = rowsIn(stderr).filter(({ message }) => message.startsWith("0 of 3 items judged, 3 submitted"))
    assert.isNotEmpty(progress)

    // Node warns where a package.json does not say what kind of modules these are.
    yield* write(`${job}/package.json`, ["{}"])
    yield* write(`${job}/pipeline.ts`, ["export default 1"])
    const typeless = yield* Effect.promise(() => run(["run", `${job}/pipeline.ts`, "--log-format", "json"]))
    assert.include(rowsIn(typeless.stderr).find(({ level }) => level === "warning")?.message, "Warning: ")
  })

  test("reaches the runs of a schedule, and log lines have their level", function* () {
    const said = yield* Effect.promise(
      () =>
        run([
          "schedule", "--cron", "* * * * *", "--now", "--stop-on-failure", "--log-format=json",
          "--", "ledger", "check", "--dir", "nowhere",
        ]), // prettier-ignore
    )
    const lines = rowsIn(said.stderr)
    assert.match(lines[0]?.message ?? "", /^starting: ledger check/)
    assert.isTrue(lines.some(({ level, message }) => level === "error" && message.includes("nowhere")))
  })

  test("is text or json", function* () {
    const env = { PREFSTREAM_LOG_FORMAT: "json" }
    const said = yield* Effect.promise(() => run(["status", "--log-format", "xml"], env)).pipe(ends(2))
    const [{ level, message } = {}] = rowsIn(said.stderr)
    assert.deepStrictEqual([level, message], ["error", '--log-format: expected text or json, found "xml"'])
  })
})
