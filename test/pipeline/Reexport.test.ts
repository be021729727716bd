/** Exports of what was exported before: skipped if the existing dataset is what they would write, and only then. */
import { statSync, truncateSync, writeFileSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer } from "effect"
import * as Pairs from "../../src/pair/Pairs.ts"
import * as Reexport from "../../src/pipeline/Reexport.ts"
import * as RunReport from "../../src/pipeline/RunReport.ts"
import { Ledger, LedgerReader } from "../../src/task/ledger/Ledger.ts"
import { submitted } from "../task/support.ts"
import { cli, ends, itemLines, quick, reportOf, to, write } from "../support/cli.ts"
import { hashes } from "../support/hashes.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import * as Logs from "../support/logs.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

type Settings = Omit<Parameters<typeof Reexport.exportDataset>[0], "directory">

/** Which dataset is there: each has other files. */
const written = (directory: string) => {
  const { ino, mtimeNs } = statSync(`${directory}/dataset/manifest.json`, { bigint: true })
  return `${ino} ${mtimeNs}`
}

/** A ledger of six tasks of which the first two have results, and exports of it. */
const makeJob = Effect.gen(function* () {
  const directory = yield* temporaryDirectory
  const ledger = Context.get(yield* Layer.build(Ledger.layerFile(`${directory}/ledger.db`)), Ledger)
  yield* Effect.provideService(submitted(6), Ledger, ledger)
  const complete = (seq: number, best = 0) => {
    const results = [{ prompt: `prompt ${seq}`, best_completion_index: best, annotations: {} }]
    return ledger.markCompleted(seq, JSON.stringify({ results }))
  }
  yield* complete(0)
  yield* complete(1)
  const logged = Logs.make()
  const exportIt = Effect.fnUntraced(function* (settings: Settings) {
    const given = yield* Reexport.exportDataset({ directory, ...settings })
    return { ...(yield* RunReport.make(given)), given }
  })
  const exported = (settings: Settings = {}) =>
    exportIt(settings).pipe(logged.during, Effect.provideService(LedgerReader, ledger))
  const before = Effect.sync(() => {
    logged.messages.splice(0)
    return written(directory)
  })
  return {
    directory,
    ledger,
    complete,
    exported,
    /** Checks that an export with these settings writes the dataset, and that the same one is then skipped. */
    writes: Effect.fnUntraced(function* (name: string, settings: Settings = {}) {
      const dataset = yield* before
      const first = yield* exported(settings)
      assert.notStrictEqual(written(directory), dataset, name)
      assert.notMatch(logged.messages.join("\n"), /up to date/, name)
      return first
    }),
    skips: Effect.fnUntraced(function* (name: string, settings: Settings = {}) {
      const dataset = yield* before
      const result = yield* exported(settings)
      assert.strictEqual(written(directory), dataset, name)
      assert.match(logged.messages.join("\n"), /is up to date.*to write the dataset again, use .*force: true/, name)
      return result
    }),
  }
})

describe("an export of what was exported before", () => {
  test("is skipped, and gives what the export gave that wrote the dataset", function* () {
    const job = yield* makeJob
    const settings = {
      splits: { train: 0.5, test: 0.5 },
      formats: ["trl"],
      thresholds: { "longer-chosen": 1 },
    } as const
    const first = yield* job.exported(settings)
    assert.isNotNull(first.example)
    const bytes = hashes(`${job.directory}/dataset`)
    assert.deepStrictEqual(yield* job.skips("at once", settings), first)
    assert.deepStrictEqual(yield* job.skips("the same campaign", { ...settings, campaign: 1 }), first)
    const forced = yield* job.writes("by force", { ...settings, force: true })
    assert.deepStrictEqual(forced, first)
    assert.deepStrictEqual(hashes(`${job.directory}/dataset`), bytes)
    assert.deepStrictEqual(yield* job.skips("after force", settings), first)
  })

  test("is written after another result, and after one that replaces another", function* () {
    const job = yield* makeJob
    yield* job.exported()
    yield* job.complete(2)
    assert.strictEqual((yield* job.writes("another result")).dataset?.rows, 3)
    yield* job.skips("another result, again")
    yield* job.complete(2, 1)
    assert.strictEqual((yield* job.writes("a replaced result")).dataset?.rows, 3)
    yield* job.skips("a replaced result, again")
    yield* job.ledger.markFailed(3, "expired")
    yield* job.writes("a failed task, which the report counts")
  })

  test("is written with other settings, in turn", function* () {
    const job = yield* makeJob
    const others: ReadonlyArray<Settings> = [
      {},
      { campaign: "all" },
      { splits: { test: 0.5 } },
      { splits: { test: 0.5 }, splitSeed: 1 },
      { minVotes: 1 },
      { thresholds: { "longer-chosen": 0.9 } },
      { drop: ["near-duplicates"] },
      { formats: ["trl"] },
      { formats: ["trl"], margin: true },
      { expertNames: true },
      { conversational: true },
      { evaluationPrompts: ["a"] },
      { evaluationPrompts: ["b"] },
      { card: { license: "mit" } },
      { pairs: Pairs.fullRanking },
      { pairs: Pairs.bestAgainstOne(1) },
      { pairs: Pairs.bestAgainstOne(2) },
    ]
    yield* job.exported({ allowEmpty: true })
    for (const settings of others) {
      yield* job.writes(JSON.stringify(settings), settings)
      yield* job.skips(JSON.stringify(settings), settings)
    }
    yield* job.skips("the same strategy, made again", { pairs: Pairs.bestAgainstOne(2) })
  })

  test("is always written with a custom strategy, whatever its name", function* () {
    const job = yield* makeJob
    const custom = Object.assign((judgment: Parameters<Pairs.PairStrategy>[0]) => Pairs.bestAgainstRest(judgment), {
      settings: { strategy: "best-against-rest" },
    })
    yield* job.exported()
    yield* job.writes("custom", { pairs: custom })
    yield* job.writes("custom, again", { pairs: custom })
  })

  test("is written if the dataset is damaged, or another version wrote it", function* () {
    const fs = yield* FileSystem.FileSystem
    const job = yield* makeJob
    const { directory } = job
    const rows = `${directory}/dataset/jsonl/train-00000-of-00001.jsonl`
    const manifest = `${directory}/dataset/manifest.json`
    yield* job.exported()
    const bytes = hashes(`${directory}/dataset`)
    const damages = {
      "a removed file": fs.remove(rows),
      "a shorter file": Effect.sync(() => truncateSync(rows, 10)),
      "a longer file": fs.writeFileString(rows, "{}\n", { flag: "a" }),
      "another version": Effect.flatMap(fs.readFileString(manifest), (text) =>
        fs.writeFileString(manifest, text.replace(/"version": "\d+\.\d+\.\d+"/, '"version": "0.0.1"')),
      ),
      "no note": fs.remove(`${directory}/export.json`),
      "an incomplete note": Effect.sync(() => truncateSync(`${directory}/export.json`, 100)),
      "a foreign note": Effect.sync(() => writeFileSync(`${directory}/export.json`, '{"fingerprint":"a"}')),
    }
    for (const [name, damage] of Object.entries(damages)) {
      yield* damage
      yield* job.writes(name)
      assert.deepStrictEqual(hashes(`${directory}/dataset`), bytes, name)
      yield* job.skips(name)
    }
    yield* fs.remove(manifest)
    yield* fs.remove(`${directory}/dataset`, { recursive: true })
    yield* job.exported()
    assert.deepStrictEqual(hashes(`${directory}/dataset`), bytes)
  })

  test("is skipped after one that was refused, whose report is removed", function* () {
    const fs = yield* FileSystem.FileSystem
    const job = yield* makeJob
    yield* job.exported()
    yield* Effect.flip(job.exported({ thresholds: { "position-bias": 1 } }))
    assert.isTrue(yield* fs.exists(`${job.directory}/refused`))
    yield* job.skips("after a refused one")
    assert.isFalse(yield* fs.exists(`${job.directory}/refused`))
  })

  test("removes what a process left that died while it exported", function* () {
    const fs = yield* FileSystem.FileSystem
    const job = yield* makeJob
    yield* job.exported()
    const partial = `${job.directory}/.dataset.partial-abc123`
    yield* fs.makeDirectory(`${partial}/next/data`, { recursive: true })
    yield* job.skips("with leftovers")
    assert.isFalse(yield* fs.exists(partial))
  })
})

describe("prefstream export", () => {
  test("says that the dataset is up to date, with the same summary; run does so, too, if nothing is new", function* () {
    const directory = yield* temporaryDirectory
    const file = `${directory}/items.jsonl`
    const service = yield* ScriptedService.make(ScriptedService.obliging)
    const run = ["run", file, "--dir", directory, "--batch-size", "2", ...quick]
    const exportIt = ["export", "--dir", directory]
    yield* write(file, [...itemLines(5), "{"])
    const first = yield* cli(run, to(service)).pipe(ends(0))
    const dataset = written(directory)

    const line =
      /^.*the dataset \S+\/dataset is up to date: .*to write the dataset again, use prefstream export --force$/m
    const skipped = yield* cli(exportIt).pipe(ends(0))
    assert.match(skipped.stderr, line)
    const summary = (stdout: string) => stdout.slice(stdout.indexOf("  dataset"))
    assert.strictEqual(summary(skipped.stdout), summary(first.stdout))
    for (let i = 0; i < 2; i++) {
      const again = yield* cli(run, to(service)).pipe(ends(0))
      assert.match(again.stderr, line)
      assert.strictEqual(summary(again.stdout), summary(first.stdout))
    }
    assert.strictEqual(written(directory), dataset)

    const report = reportOf(yield* cli([...exportIt, "--json"]))
    const forced = yield* cli([...exportIt, "--json", "--force"])
    assert.notMatch(forced.stderr, line)
    assert.notStrictEqual(written(directory), dataset)
    assert.deepStrictEqual({ ...report, seconds: 0 }, { ...reportOf(forced), seconds: 0 })
  })

  /** Runs commands, and checks after each that an export, skipped or not, leaves what `--force` writes. */
  const leavesTheSame = Effect.fnUntraced(function* (
    directory: string,
    commands: ReadonlyArray<{ readonly args: ReadonlyArray<string>; readonly skipped: boolean }>,
    env: Record<string, string> = {},
  ) {
    let forced: string | undefined
    for (const { args, skipped } of commands) {
      const name = args.join(" ")
      const said = yield* cli([...args, "--dir", directory], env)
      assert.include([0, 3, 5], said.status, `${name}: ${said.stderr}`)
      yield* cli(["export", "--dir", directory], env)
      const bytes = hashes(`${directory}/dataset`)
      assert.strictEqual(written(directory) === forced, skipped, name)
      yield* cli(["export", "--force", "--dir", directory], env)
      assert.deepStrictEqual(hashes(`${directory}/dataset`), bytes, name)
      forced = written(directory)
    }
  })

  test("leaves what --force writes, whatever commands came before", function* () {
    const directory = yield* temporaryDirectory
    const file = `${directory}/items.jsonl`
    const service = yield* ScriptedService.except(
      ({ body }) => body.includes("prompt 3") && { status: 422, body: { title: "no" } },
    )
    const run = (skipped: boolean, ...flags: ReadonlyArray<string>) => ({
      args: ["run", file, "--batch-size", "1", ...quick, ...flags],
      skipped,
    })
    const other = (skipped: boolean, ...args: ReadonlyArray<string>) => ({ args, skipped })
    yield* write(file, [...itemLines(4), "{"])
    yield* leavesTheSame(
      directory,
      [
        run(false),
        run(true),
        run(false, "--votes", "2"),
        run(false, "--votes", "2", "--price", "0.10"),
        run(true, "--votes", "2"),
        run(false, "--votes", "2", "--budget", "100"),
        other(true, "collect", "--once", ...quick),
        other(false, "collect", "--once", "--recheck-completed", ...quick),
        other(true, "ledger", "compact"),
        other(false, "resolve", "--give-up", "4"),
        run(true, "--votes", "2"),
        run(false, "--guidelines", "Be brief.", "--new-campaign"),
        run(true, "--guidelines", "Be brief."),
        other(true, "ledger", "prune", "--before", "1ms"),
      ],
      to(service),
    )
  })

  test("leaves what --force writes after imports, also of votes that replace others", function* () {
    const directory = yield* temporaryDirectory
    const vote = (id: string, expert: string, choice: string) =>
      JSON.stringify({ id, prompt: `ask ${id}`, response_a: `one ${id}`, response_b: `two ${id}`, choice, expert })
    const importing = Effect.fnUntraced(function* (skipped: boolean, lines: ReadonlyArray<string>, i: number) {
      const file = `${directory}/votes-${i}.jsonl`
      yield* write(file, lines)
      return { args: ["import", file], skipped }
    })
    const first = [vote("1", "ann", "response_a"), vote("2", "ann", "response_b")]
    const more = [vote("1", "bob", "response_b")]
    yield* leavesTheSame(directory, [
      yield* importing(false, first, 0),
      { args: ["import", `${directory}/votes-0.jsonl`], skipped: false },
      { args: ["import", `${directory}/votes-0.jsonl`], skipped: true },
      yield* importing(false, more, 1),
      yield* importing(false, [...more, vote("2", "bob", "response_b")], 2),
    ])
  })
})

test("a dataset of another job is replaced by force alone, and a run says so before it sends anything", function* () {
  const directory = yield* temporaryDirectory
  yield* write(`${directory}/items.jsonl`, itemLines(2))
  const service = yield* ScriptedService.make(ScriptedService.obliging)
  const job = (command: string, name: string, folder: string, ...more: ReadonlyArray<string>) =>
    cli([command, "--ledger", `${directory}/l.db`, "--job", name, "--dir", folder, ...more], to(service))
  const run = (name: string, folder: string) => job("run", name, folder, `${directory}/items.jsonl`, ...quick)
  yield* run("one", directory).pipe(ends(0))
  const dataset = written(directory)
  const told = /--dir: expected a folder without a dataset of another job \(.*\), found .*dataset of job one$/m
  yield* run("two", directory).pipe(ends(2, told))
  assert.lengthOf(service.received.filter(ScriptedService.isPost), 1)
  yield* run("two", `${directory}/two`).pipe(ends(0))
  yield* job("export", "two", directory).pipe(ends(2, told))
  yield* job("export", "one", directory).pipe(ends(0, /up to date/))
  assert.strictEqual(written(directory), dataset)
  yield* job("export", "two", directory, "--force").pipe(ends(0))
  assert.notStrictEqual(written(directory), dataset)
  yield* run("two", directory).pipe(ends(0))
})
