/** Settings from `prefstream.yaml`, the environment, and the last run, and what `prefstream config` says of them. */
import { readFileSync } from "node:fs"
import { Ajv } from "ajv"
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { parse } from "yaml"
import * as FileLock from "../../src/node/FileLock.ts"
import { cli, cliIn, ends, folderWithItems, reportOf, to, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { root } from "../support/process.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

/** A folder with items and this `prefstream.yaml`, and another one in it. */
const project = Effect.fnUntraced(function* (yaml: string) {
  const folder = yield* folderWithItems(12)
  const fs = yield* FileSystem.FileSystem
  yield* write(`${folder}/gold.jsonl`, [JSON.stringify({ prompt: "Known?", completions: ["yes", "no"], gold: 0 })])
  yield* fs.writeFileString(`${folder}/prefstream.yaml`, yaml)
  yield* fs.makeDirectory(`${folder}/in/here`, { recursive: true })
  return { folder, inner: `${folder}/in/here` }
})

const usual = `
files: items.jsonl
dir: job
gold: gold.jsonl
expert: [gold:gold.jsonl, first] # the second answers what has no gold
split: { test: 0.5 }
title: From the file
`

const settingsOf = Effect.fnUntraced(function* (folder: string, args: ReadonlyArray<string>, env = {}) {
  const { stdout } = yield* cliIn(folder, ["config", ...args, "--json"], env).pipe(ends(0))
  const settings: ReadonlyArray<{ name: string; values: unknown; from: string }> = JSON.parse(stdout)
  return Object.fromEntries(settings.map(({ from, name, values }) => [name, [values, from]]))
})

describe("prefstream.yaml", () => {
  test("is found upward, and its paths are those of its own folder", function* () {
    const { folder, inner } = yield* project(usual)
    const said = yield* cliIn(inner, ["run", "--json"]).pipe(ends(0))
    assert.deepStrictEqual([reportOf(said).read, reportOf(said).dataset?.rows], [12, 12])
    const card = readFileSync(`${folder}/job/dataset/README.md`, "utf8")
    assert.include(card, "From the file")
    assert.include(card, "test")
  })

  test("gives way to what is typed and to the environment, setting by setting", function* () {
    const { inner } = yield* project(`${usual}concurrency: 3\nrequests-per-second: 7\n`)
    const env = { PREFSTREAM_CONCURRENCY: "5" }
    const { concurrency, dir, files, "requests-per-second": rate } = yield* settingsOf(inner, ["--dir", "else"], env)
    assert.deepStrictEqual(concurrency, [["5"], "PREFSTREAM_CONCURRENCY"])
    assert.deepStrictEqual(rate, [["7"], "../../prefstream.yaml:9"])
    assert.deepStrictEqual(files, [["../../items.jsonl"], "../../prefstream.yaml:2"])
    assert.deepStrictEqual(dir, [["else"], "the command line"])
  })

  test("has settings of one command under its name", function* () {
    const { folder } = yield* project(`${usual}export:\n  title: Of export\n  format: [trl, openrlhf]\n`)
    assert.deepStrictEqual((yield* settingsOf(folder, [])).title, [["From the file"], "prefstream.yaml:7"])
    const { format, title } = yield* settingsOf(folder, ["export"])
    assert.deepStrictEqual(
      [format, title],
      [
        [["trl", "openrlhf"], "prefstream.yaml:10"],
        [["Of export"], "prefstream.yaml:9"],
      ],
    )
  })

  test("has a section for the subcommands of ledger; a text of several lines is one line of the table", function* () {
    const { folder } = yield* project("dir: a\nledger: { dir: b }\nguidelines: |\n  One.\n  Two.\n")
    for (const [args, dir] of [
      [["ledger", "check"], "b"],
      [["status"], "a"],
    ] as const) {
      assert.deepStrictEqual((yield* settingsOf(folder, args)).dir?.[0], [dir])
    }
    const { stdout } = yield* cliIn(folder, ["config"])
    assert.match(stdout, /^guidelines +One\. Two\. +prefstream\.yaml:3$/m)
  })

  test("gives way also where what is typed goes with no such setting", function* () {
    const { folder } = yield* project(`${usual}listen: 8485\nwebhook-path: /x\nguidelines: Be kind.\n`)
    yield* cliIn(folder, ["run", "--once", "--guidelines-file", "prefstream.yaml", "--json"]).pipe(ends(0))
  })

  test("prefstream config shows no password, neither as a table nor as JSON", function* () {
    const { folder } = yield* project("")
    for (const [url, shown] of [
      ["postgres://me:word@host/db?sslmode=require", "postgres://me:***@host/db?sslmode=require"],
      ["postgres://me:word/:@host/db", "postgres://me:***@host/db"],
      ["postgres://host/db?user=me&password=word&port=1", "postgres://host/db?user=me&password=***&port=1"],
      ["ledger.db", "ledger.db"],
    ] as const) {
      for (const args of [["config"], ["config", "--json"]]) {
        const { stderr, stdout } = yield* cliIn(folder, args, { PREFSTREAM_LEDGER: url })
        assert.include(stdout, shown)
        assert.notMatch(stdout + stderr, /word(?!=)/)
      }
    }
  })

  test("has flags that a command requires, and switches with a short name", function* () {
    const { folder } = yield* project("cron: often\nquiet: true\n")
    yield* cliIn(folder, ["schedule", "--", "run", "items.jsonl"]).pipe(
      ends(2, /--cron: .*\(cron is set in prefstream\.yaml:1\)$/m),
    )
    assert.deepStrictEqual((yield* settingsOf(folder, [])).quiet, [true, "prefstream.yaml:2"])
    const { folder: empty } = yield* project("")
    const without = yield* cliIn(empty, ["schedule", "--", "run", "items.jsonl"])
    assert.match(without.stderr, /^prefstream: Missing required flag: --cron$/m)
  })

  test("may be another file, by PREFSTREAM_CONFIG", function* () {
    const { folder, inner } = yield* project("votes: 2")
    yield* (yield* FileSystem.FileSystem).writeFileString(`${folder}/other.yaml`, "votes: 4")
    const env = { PREFSTREAM_CONFIG: `${folder}/other.yaml` }
    assert.deepStrictEqual((yield* settingsOf(inner, [], env)).votes, [["4"], "../../other.yaml:1"])
    const missing = yield* cliIn(inner, ["run"], { PREFSTREAM_CONFIG: "none.yaml" })
    assert.deepStrictEqual([missing.status, missing.stdout], [2, ""])
    assert.include(missing.stderr, "PREFSTREAM_CONFIG: there is no file none.yaml")
    const threads = yield* cliIn(inner, ["status"], { PREFSTREAM_THREADS: "many" })
    assert.deepStrictEqual([threads.status, threads.stdout], [2, ""])
    assert.include(threads.stderr, 'PREFSTREAM_THREADS: expected 0 or 1, found "many"')
  })

  test("is not read beside a pipeline file, nor for help", function* () {
    const { folder } = yield* project("nonsense: 1")
    for (const args of [["run", "--help"], ["help", "run"], ["--version"], ["run", "missing.ts"]]) {
      assert.notInclude((yield* cliIn(folder, args)).stderr, "nonsense")
    }
  })

  const wrong: ReadonlyArray<readonly [yaml: string, message: string]> = [
    ["votes: 1\nvots: 3", 'prefstream.yaml:2: unknown setting "vots" (did you mean votes?)'],
    ["batch_size: 3", 'prefstream.yaml:1: unknown setting "batch_size" (did you mean batch-size?)'],
    ["service_token: abc", "secrets are set in the environment, as PREFSTREAM_TOKEN, "],
    ["output: a: b", "prefstream.yaml:1: invalid YAML: a value with a colon and a space needs quotes"],
    ["- votes", "prefstream.yaml:1: expected settings as NAME: VALUE, one per line"],
    ["votes: [", "prefstream.yaml:1: invalid YAML: "],
    ["votes: 1\nvotes: 2", "prefstream.yaml:2: invalid YAML: the setting is already set above"],
    ["\nonce: perhaps", "prefstream.yaml:2: once: expected true or false"],
    ["votes: true", "prefstream.yaml:1: votes: expected a value"],
    ["votes: { a: 1 }", "prefstream.yaml:1: votes: expected a value, or a list of values"],
    ["votes: many", "(votes is set in prefstream.yaml:1)"],
    ["votes:", "prefstream.yaml:1: votes: expected a value"],
    ["json: true", "prefstream.yaml:1: json cannot be set in a file: give it on the command line as --json"],
    ["token: secret", "set the environment variable PREFSTREAM_TOKEN"],
    ["run: { webhook-secret: secret }", "set the environment variable PREFSTREAM_WEBHOOK_SECRET"],
    ["guidelines: a\nguidelines-file: items.jsonl", "(guidelines is set in prefstream.yaml:1; guidelines-file is set in prefstream.yaml:2)"],
    ["ledger: postgres://me:word@host/db", "prefstream.yaml:1: ledger: a password must not be in a file, which may be copied or committed: set the password in PGPASSWORD"],
    ["export: { ledger: 'postgresql://host/db?user=me&password=word' }", "set the password in PGPASSWORD"],
  ] // prettier-ignore
  test("that is wrong: the message names file, line, key, and what was expected", function* () {
    for (const [yaml, message] of wrong) {
      const { folder } = yield* project(yaml)
      const said = yield* cliIn(folder, ["run", "items.jsonl", "--expert", "first"])
      assert.deepStrictEqual([said.status, said.stdout], [2, ""], yaml)
      assert.include(said.stderr, message)
      assert.isFalse(yield* (yield* FileSystem.FileSystem).exists(`${folder}/prefstream-job`))
    }
  })

  test("is named if a file that it names is missing", function* () {
    const { folder } = yield* project("expert: first\nfiles: missing.jsonl")
    const { stderr } = yield* cliIn(folder, ["run"]).pipe(ends(2))
    assert.include(stderr, "missing.jsonl: there is no such file; check the path (files is set in prefstream.yaml:2)")
    assert.notInclude((yield* cliIn(folder, ["run", "typed.jsonl"])).stderr, "prefstream.yaml")
  })

  test("has a schema for editors", function* () {
    const { stdout } = yield* cli(["config", "--schema"])
    const validate = new Ajv({ allowUnionTypes: true }).compile(JSON.parse(stdout))
    for (const yaml of [
      `${usual}votes: 3\nserve: { port: 8484 }`,
      "price: { default: 0.4, judge: 0.01 }\nthreshold: { kappa: 0.2 }\nformat: [trl]\nrun: { dir: a }",
    ]) {
      assert.isTrue(validate(parse(yaml)), JSON.stringify(validate.errors))
    }
    for (const yaml of [
      "vots: 3",
      "once: perhaps",
      "batch-size: many",
      "serve: { prt: 1 }",
      "title: [a, b]",
      "json: true",
    ]) {
      assert.isFalse(validate(parse(yaml)), yaml)
    }
  })
})

describe("a job folder", () => {
  test("keeps what the last run was given; a bare export and collect go on with it, and say so", function* () {
    const { folder } = yield* project("title: From the file\nformat: openrlhf")
    const run = ["run", "items.jsonl", "--dir", "job", "--expert", "first", "--format", "trl", "--once", "--json"]
    assert.strictEqual((yield* cliIn(folder, run)).status, 0)
    const fs = yield* FileSystem.FileSystem
    assert.strictEqual(
      yield* fs.readFileString(`${folder}/job/settings.yaml`),
      "# Settings of this job's last run. audit, collect, doctor, export, export-votes, leaderboard, ledger, plan, resolve, and status reuse them.\nformat: trl\nproject:\n  prefstream.yaml: ../prefstream.yaml\n  title: From the file\n",
    )
    const { format, once, title } = yield* settingsOf(folder, ["export", "--dir", "job"])
    assert.deepStrictEqual(
      [format, once, title],
      [[["trl"], "job/settings.yaml:2"], undefined, [["From the file"], "prefstream.yaml:1"]],
    )
    yield* fs.remove(`${folder}/job/dataset`, { recursive: true })
    const again = yield* cliIn(folder, ["export", "--dir", "job", "--json"]).pipe(ends(0))
    assert.include(again.stderr, "Using settings of the last run: --format (see settings.yaml in the job folder)\n")
    assert.deepStrictEqual(yield* fs.readDirectory(`${folder}/job/dataset/formats`), ["trl"])

    const other = yield* cliIn(folder, ["export", "--dir", "job", "--format", "openrlhf"])
    assert.notInclude(other.stderr, "last run")
    assert.deepStrictEqual(yield* fs.readDirectory(`${folder}/job/dataset/formats`), ["openrlhf"])

    // A run begins anew, and what it is not given is not kept.
    yield* cliIn(
      folder,
      run.filter((word) => !/^(--format|trl)$/.test(word)),
    ).pipe(ends(0))
    assert.isUndefined((yield* settingsOf(folder, ["status", "--dir", "job"])).format)
  })

  test("keeps what prefstream.yaml said: export and collect from another folder go on with it; submit keeps what it has no flags for", function* () {
    const yaml = `${usual}run: { format: trl }\npoll-min: 2s\n`
    const { folder } = yield* project(yaml)
    const fs = yield* FileSystem.FileSystem
    assert.strictEqual((yield* cliIn(folder, ["run", "--once", "--title", "Typed"])).status, 0)
    const manifest = `${folder}/job/dataset/manifest.json`
    const before = yield* fs.readFileString(manifest)
    const other = yield* temporaryDirectory
    yield* fs.writeFileString(`${other}/prefstream.yaml`, "format: openrlhf\nsplit: { test: 0.1 }")
    for (const from of [other, folder]) {
      yield* cliIn(from, ["export", "--dir", `${folder}/job`]).pipe(ends(0))
      assert.strictEqual(yield* fs.readFileString(manifest), before)
    }
    assert.deepStrictEqual((yield* settingsOf(other, ["collect", "--dir", `${folder}/job`]))["poll-min"]?.[0], ["2s"])

    // The same file is read again.
    yield* fs.writeFileString(`${folder}/prefstream.yaml`, yaml.replace("test: 0.5", "test: 0.2"))
    assert.deepStrictEqual((yield* settingsOf(folder, ["export"])).split?.[0], ["test=0.2"])
    assert.deepStrictEqual((yield* settingsOf(other, ["export", "--dir", `${folder}/job`])).split?.[0], ["test=0.5"])

    const service = yield* ScriptedService.make(() => ({ status: 402, body: {} }))
    yield* cliIn(other, ["submit", `${folder}/gold.jsonl`, "--dir", `${folder}/job`, "--moved"], to(service))
    const { format, split, title } = yield* settingsOf(other, ["export", "--dir", `${folder}/job`])
    assert.deepStrictEqual([format?.[0], split?.[0], title?.[0]], [["trl"], ["test=0.5"], ["Typed"]])
  })

  test("is left alone by a run that finds another one at work", function* () {
    const { folder } = yield* project("")
    const fs = yield* FileSystem.FileSystem
    yield* fs.makeDirectory(`${folder}/job`)
    yield* FileLock.acquire(`${folder}/job/ledger.db`)
    yield* cliIn(folder, ["run", "items.jsonl", "--dir", "job", "--expert", "first", "--title", "Second"]).pipe(
      ends(75),
    )
    assert.isFalse(yield* fs.exists(`${folder}/job/settings.yaml`))
  })

  test("keeps the pipeline file, too", function* () {
    const job = `${yield* temporaryDirectory}/job`
    yield* cli(["run", `${root}pipelines/quickstart.ts`, "--dir", job]).pipe(ends(0))
    const { files } = yield* settingsOf(root, ["export", "--dir", job])
    assert.deepStrictEqual(files, [[`${root}pipelines/quickstart.ts`], `${job}/settings.yaml:2`])
    yield* cli(["export", "--dir", job]).pipe(ends(0))
  })

  test("keeps no secret and no address of a file, and nothing of another job in the same folder", function* () {
    const { folder } = yield* project("")
    const ledger = ["--ledger", "a.db", "--title", "A"]
    const run = ["run", "items.jsonl", "--dir", "job", "--expert", "first", "--webhook-path", "/x", "--listen", "0"]
    yield* cliIn(folder, [...run, ...ledger], { PREFSTREAM_WEBHOOK_SECRET: "whsec_c2VjcmV0" })
    yield* cliIn(folder, ["run", "items.jsonl", "--dir", "job", "--expert", "first", ...ledger])
    const kept = yield* (yield* FileSystem.FileSystem).readFileString(`${folder}/job/settings.yaml`)
    assert.deepStrictEqual(parse(kept), { ledger: "../a.db", title: "A" })
    assert.deepStrictEqual((yield* settingsOf(folder, ["status", "--dir", "job"])).ledger?.[0], ["a.db"])
    assert.isUndefined((yield* settingsOf(folder, ["export", "--dir", "job"], { PREFSTREAM_JOB: "b" })).title)
  })
})
