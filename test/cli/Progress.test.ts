import { spawnSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Sink, Stdio } from "effect"
import { TestClock } from "effect/testing"
import * as Progress from "../../src/cli/output/Progress.ts"
import * as SqliteClient from "../../src/node/SqliteClient.ts"
import { Ledger } from "../../src/task/ledger/Ledger.ts"
import { reportOf } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { newTasks, nothing, plan } from "../task/support.ts"
import { root, spawned } from "../support/process.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { prefstream } from "../support/program.ts"

/** `script` of util-linux runs a command on a terminal of its own. */
const hasScript = /util-linux/.test(spawnSync("script", ["--version"], { encoding: "utf8" }).stdout ?? "")

const clearLine = "\r\u001b[2K"

const quote = (argument: string) => `'${argument.replaceAll("'", `'\\''`)}'`

/** What stands on a terminal after `prefstream ARGS`, whose stdout goes to a file. */
const onTerminal = Effect.fnUntraced(function* (args: ReadonlyArray<string>, columns: number) {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* temporaryDirectory
  const command = [...prefstream, ...args, "--dir", `${directory}/job`].map(quote).join(" ")
  const { status, stdout: screen } = yield* Effect.promise(
    () =>
      spawned("script", [
        "-qec",
        `stty cols ${columns}; PREFSTREAM_TOKEN=t ${command} > ${quote(`${directory}/stdout`)}`,
        "/dev/null",
      ]).ended,
  )
  return { status, screen, stdout: yield* fs.readFileString(`${directory}/stdout`), directory }
})

const run = (...more: ReadonlyArray<string>) => [
  "run", `${root}data/sample.jsonl`, "--expert", "first", "--turnaround", "500ms", "--json", ...more,
] // prettier-ignore

describe.skipIf(!hasScript)("on a terminal (needs script of util-linux)", () => {
  test("the bar is redrawn within the width, with rate and time left, and removed; stdout stays data", function* () {
    const slowly = ["--batch-size", "8", "--concurrency", "1", "--requests-per-second", "2"]
    const { screen, status, stdout } = yield* onTerminal(run(...slowly), 80)
    assert.strictEqual(status, 0, screen)
    assert.match(screen, /\[[#-]{12}\] [\d.]+\/s, [\d.]+ s left, \d+ of 72 items judged, /)
    const [, ...drawn] = screen.split(clearLine)
    assert.isAtLeast(drawn.length, 2)
    // A line that filled the width would scroll when it is redrawn.
    for (const line of drawn) assert.isBelow(line.length, 80)
    assert.strictEqual(drawn.at(-1)?.trim(), "", "the last thing drawn is an empty line")
    assert.strictEqual(reportOf({ stdout, stderr: screen }).read, 72)
  })

  test("a log line replaces the bar, and is not appended to it", function* () {
    const { baseUrl } = yield* ScriptedService.make(() => ({ status: 503, body: {} }))
    const args = ["run", `${root}data/sample.jsonl`, "--base-url", baseUrl, "--patience", "1s"]
    const { screen } = yield* onTerminal(args, 80)
    const [before, at = ""] = screen.split(/(\d{4}-\d\d-\d\dT\S+ warning: )/)
    assert.isNotEmpty(at, screen)
    assert.match(before ?? "", /\[-{12}\] 0 of /)
    assert.match(before ?? "", /(\r\u001b\[2K|\n)$/)
  })

  test("the bar is removed before a failure is told", function* () {
    const { screen, status } = yield* onTerminal(["run", `${root}data/sample.jsonl`, "--expert", "gold:absent"], 200)
    assert.isAbove(status ?? 0, 0)
    assert.match(screen.split(clearLine).at(-1) ?? "", /(^|\n)prefstream: .*absent/)
  })
})

it.effect("where there is no terminal a line is written when something has changed, and else every ten minutes", () => {
  const lines: Array<string> = []
  const stdio = Stdio.layerTest({
    stderr: () => Sink.forEach((text) => Effect.sync(() => void lines.push(String(text)))),
  })
  const ledger = Layer.provide(Ledger.layer(), SqliteClient.layer({ filename: ":memory:" }))
  return Effect.gen(function* () {
    yield* Effect.forkScoped(Progress.during(Effect.never))
    yield* TestClock.adjust("5 seconds")
    assert.deepStrictEqual(lines, ["0 of 0 items judged, 0 submitted, 0 rejected, 5.0 s\n"])
    yield* TestClock.adjust("1 minute")
    assert.lengthOf(lines, 1)
    yield* plan(newTasks([2]))
    yield* TestClock.adjust("5 seconds")
    assert.lengthOf(lines, 2)
    assert.match(lines[1]!, /^0 of 2 items judged, .*, 1 min 10 s\n$/)
    yield* TestClock.adjust("595 seconds")
    assert.lengthOf(lines, 2)
    yield* TestClock.adjust("5 seconds")
    assert.lengthOf(lines, 3)
    yield* plan(newTasks([3, 5, 7, 11, 13], 2))
    const ledger = yield* Ledger
    yield* Effect.forEach(yield* ledger.plannedAfter(-1), ledger.claim)
    for (const seq of [2, 5, 10]) yield* ledger.markSubmitted(seq, `task_${seq}`, 0)
    yield* ledger.markCompleted(2, "{}")
    yield* ledger.markFailed(5, "gone")
    yield* ledger.markInvalid(10, "{}", "odd")
    yield* ledger.markInDoubt(17, "hm")
    yield* ledger.markRefused(28, "no")
    yield* TestClock.adjust("5 seconds")
    assert.match(
      lines[3] ?? "",
      /^3 of 41 items judged, 26 submitted, 13 rejected, 5 failed, 7 invalid, 11 in doubt, 0\.\d\/s, .* left, \d+ min /,
    )
    yield* TestClock.adjust("1 minute")
    yield* plan(newTasks([20, 20, 20], 41))
    const more = (yield* ledger.plannedAfter(40)).filter(({ seq }) => seq > 40)
    yield* Effect.forEach(more, ledger.claim)
    for (const { seq } of more) yield* ledger.markSubmitted(seq, `task_${seq}`, 0)
    yield* ledger.markCompleted(more[0]!.seq, "{}")
    yield* TestClock.adjust("5 seconds")
    // 20 in the last minute, which began with 3; 42 are left: 40 submitted, and 2 that are still being sent.
    assert.match(lines.at(-1) ?? "", /^23 of 101 items judged, 86 submitted, .*, 0\.3\/s, 2 min 6\.?\d* s left, /)
    // A run that still reads, and that asks for several votes: no time left, and whole numbers from 10 per second on.
    const run = yield* ledger.startRun({ votes: 2 })
    const { counts, tasks } = { counts: { ...nothing, read: 900, new: 900 }, tasks: newTasks([900], 101) }
    yield* ledger.record(run, { tasks, known: [], rejects: [], counts, finished: false })
    const [last] = yield* ledger.plannedAfter(more.at(-1)!.seq)
    yield* ledger.claim(last!)
    yield* ledger.markSubmitted(last!.seq, "task_last", 0)
    yield* ledger.markCompleted(last!.seq, "{}")
    yield* TestClock.adjust("5 seconds")
    assert.match(
      lines.at(-1) ?? "",
      /^923 of 1,001\+ votes given, 986 submitted, 13 rejected, .*, 15\/s, 12 min \d+ s\n$/,
    )
  }).pipe(Effect.provide(Layer.merge(stdio, ledger)))
})
