/**
 * What README.md promises of the command line, against the command line itself.
 */
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { assert, describe } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import * as LogFormat from "../../src/cli/output/LogFormat.ts"
import * as ExitStatus from "../../src/cli/output/ExitStatus.ts"
import { serve } from "../source/place/fileServer.ts"
import { cli, cliIn, cliWith } from "../support/cli.ts"
import { DryRun } from "../../src/cli/flags/PipelineFile.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { root, sample, spawned } from "../support/process.ts"
import { guides as allGuides } from "./guideLines.ts"
import { reference } from "./reference.ts"

/** With the guides that it refers to, and those that they do. */
const guides = allGuides.filter((file) => !/^(CONTRIBUTING|test\/)/.test(file))
const readme = guides.map((file) => readFileSync(`${root}${file}`, "utf8")).join("\n")
const writesReference = process.env["WRITE_REFERENCE"] !== undefined
/** The rows of the Markdown table whose first heading is this, as arrays of cells. */
const tableUnder = (heading: string): ReadonlyArray<ReadonlyArray<string>> => {
  const [, rows = ""] = new RegExp(`^\\| *${heading} *\\|.*\n.*\n((?:\\|.*\n)*)`, "m").exec(readme) ?? []
  const cellsOf = (row: string) => row.split("|").slice(1, -1)
  return rows
    .trim()
    .split("\n")
    .map((row) => cellsOf(row).map((cell) => cell.trim()))
}

const commands = tableUnder("command").map(([command = ""]) => command.replaceAll("`", ""))

const found = (text: string, pattern: RegExp): ReadonlyArray<string> => [...new Set(text.match(pattern))].toSorted()
const flagsIn = (text: string) => found(text, /(?<![\w-])--[a-z][a-z-]+/g)
const variablesIn = (text: string) => found(text, /PREFSTREAM_[A-Z_]+/g)

const helpOf = (command: string) => Effect.map(cli([...command.split(" "), "--help-all"]), ({ stdout }) => stdout)
const nested = ["check", "backup", "compact", "prune"].map((verb) => `ledger ${verb}`)
const allHelp = Effect.map(Effect.forEach([...commands, ...nested], helpOf), (texts) => texts.join("\n"))

/** Commands that do not end, or that ask for a database. */
const endless = ["serve", "worker", "schedule", "completion"]

const environment = { PREFSTREAM_TOKEN: "t", PREFSTREAM_WEBHOOK_SECRET: `whsec_${"A".repeat(32)}` }
const address = { PREFSTREAM_BASE_URL: "http://127.0.0.1:1/v1" }

/** The words that a shell makes of a line with `prefstream` in it, up to a comment or another command. */
const commandLineIn = (line: string) => {
  const [, assignments = "", rest] = /^\s*((?:[A-Z_]+=\S+ )*)(?:npx )?prefstream (.*)$/.exec(line) ?? []
  if (rest === undefined) return []
  const words = [...rest.matchAll(/\s*((?:'[^']*'|"[^"]*"|[^\s'"#|>;&]|(?<=\S)#)+)|\s*([#|>;&])/g)]
  const end = words.findIndex(([, , other]) => other !== undefined)
  const args = words.slice(0, end < 0 ? undefined : end).map(([, word = ""]) => word.replaceAll(/['"]/g, ""))
  const variables = assignments
    .trim()
    .split(" ")
    .filter((text) => text !== "" && !/\.\.\.|…/.test(text))
  const env = Object.fromEntries(
    variables.map((text) => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)]),
  )
  return endless.includes(args[0] ?? "") || args.some((word) => /^[<[]/.test(word)) ? [] : [{ args, env, line }]
}

describe("README.md", () => {
  test("npx in a clone starts what npm ci built, and builds nothing", function* () {
    const cache = yield* temporaryDirectory
    const builtAt = () => statSync(`${root}dist/bin.js`).mtimeMs
    const before = builtAt()
    const { status, stdout } = yield* Effect.promise(
      () => spawned("npx", ["--cache", cache, "--offline", "prefstream", "--version"]).ended,
    )
    assert.deepStrictEqual([status, builtAt()], [0, before])
    assert.match(stdout, /^prefstream v/)
  })

  test("and each guide link to what is there", () =>
    Effect.sync(() => {
      // As GitHub makes them.
      const anchorsIn = (text: string) =>
        [...text.replaceAll(/^```[^]*?^```/gm, "").matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
          title
            .toLowerCase()
            .replaceAll(/[^\p{L}\p{N} -]/gu, "")
            .replaceAll(" ", "-"),
        )
      const { files }: { files: ReadonlyArray<string> } = JSON.parse(readFileSync(`${root}package.json`, "utf8"))
      // npm adds these by itself.
      const shipped = [...files, "package.json", "README.md", "LICENSE"]
      for (const file of [...guides, "CONTRIBUTING.md", "test/bench/README.md"]) {
        const text = readFileSync(`${root}${file}`, "utf8")
        for (const [link, target = "", anchor] of text.matchAll(/\]\(([^)#:]*)(?:#([^)]*))?\)/g)) {
          const path = target === "" ? `${root}${file}` : join(root, dirname(file), target)
          assert.isTrue(existsSync(path), `${file}: ${link}`)
          const inside = relative(root, path)
          const isShipped = shipped.some((each) => inside === each || inside.startsWith(`${each}/`))
          assert.isTrue(isShipped, `${file}: ${link} is not in the package`)
          if (anchor !== undefined) assert.include(anchorsIn(readFileSync(path, "utf8")), anchor, `${file}: ${link}`)
        }
      }
    }))

  test("lists the commands that --help lists", function* () {
    const { stdout } = yield* cli(["--help"])
    const [, listed = ""] = stdout.split("SUBCOMMANDS\n")
    assert.isNotEmpty(commands)
    assert.deepStrictEqual(
      listed.split("\n").flatMap((line) => /^ {2}(\w[\w-]*) {2,}/.exec(line)?.[1] ?? []),
      [...commands],
    )
  })

  test("names flags only that a command has", function* () {
    const flags = flagsIn(readme)
    assert.includeMembers([...flags], ["--dir", "--max-rejects", "--json"])
    assert.includeMembers([...flagsIn(yield* allHelp)], [...flags])
  })

  test("each command line of help is one that its command accepts, as far as files need not be there", function* () {
    const folder = yield* temporaryDirectory
    for (const name of ["data", "pipelines"]) symlinkSync(`${root}${name}`, `${folder}/${name}`)
    const lines = (yield* allHelp).replaceAll("\\\n", " ").split("\n").flatMap(commandLineIn)
    assert.isAbove(lines.length, 25)
    for (const { args, env, line } of lines) {
      const usual = { ...environment, ...(/^(submit|collect)$/.test(args[0] ?? "") ? address : {}) }
      const said = yield* cliIn(folder, args, { ...usual, ...env }).pipe(Effect.provideService(DryRun, true))
      // What stands there must be right; what is not there, or has not been run, may be missing.
      const problems = said.stderr
        .split("\n")
        .filter((text) => text.startsWith("prefstream: "))
        .filter(
          (text) =>
            !/[Nn]o such (file|folder)|no ledger|no dataset|no matching file|no readable|nothing to|no input|no item can be read|no region/.test(
              text,
            ),
        )
      assert.deepStrictEqual(problems, [], `${line}\n${said.stderr}`)
    }
  })

  test("the guide to the command line has all commands and flags (WRITE_REFERENCE=1 writes it)", function* () {
    const file = `${root}src/cli/README.md`
    const mark = "<!-- What follows is written by WRITE_REFERENCE=1 npx vitest run test/cli/Readme.test.ts -->\n"
    const [before, found] = readFileSync(file, "utf8").split(mark)
    const names = [...commands.filter((command) => command !== "ledger"), ...nested]
    const helps = yield* Effect.forEach(names, (name) => Effect.map(helpOf(name), (help) => [name, help] as const))
    const expected = reference(new Map(helps))
    if (writesReference) writeFileSync(file, [before, expected].join(mark))
    else assert.strictEqual(found, expected)
  })

  test("has the exit statuses of src/cli/output/ExitStatus.ts", function* () {
    const promised = tableUnder("exit status")
    assert.deepStrictEqual(
      promised.map(([status]) => Number(status)),
      Object.values(ExitStatus)
        .filter((value) => typeof value === "number")
        .toSorted((a, b) => a - b),
    )
  })

  test("and --help name environment variables that are read, and all of them", function* () {
    const job = yield* temporaryDirectory
    const read = new Set<string>()
    const watching = ConfigProvider.make((path) => {
      // Under PREFSTREAM_BASE is only looked whether the URL is there and empty.
      if (path.join("_") !== "PREFSTREAM_BASE") read.add(path.join("_"))
      return Effect.succeed(path.join("_") === "PREFSTREAM_TOKEN" ? ConfigProvider.makeValue("t") : undefined)
    })
    const { url } = yield* serve((_, response) => response.writeHead(404).end())
    // Each ends at once, after it has read its settings.
    for (const args of [
      ["inspect", `${url}/absent.jsonl`],
      ["submit", sample],
      ["collect", "--dir", job],
      ["collect", "--dir", job, "--base-url", "http://127.0.0.1:1/v1", "--listen", "0"],
      ["export", "--dir", job],
      ["serve", "--port", "0", "--database", `${job}/s.db`, "--expert", "nobody"],
      ["evaluate", job, "--scores", "http://127.0.0.1:1/score"],
      ["serve", "--port", "0", "--database", `${job}/s.db`, "--expert", "judge:m"],
    ]) {
      assert.isAbove((yield* cliWith(args, watching)).status, 0)
    }
    // Asked for by the process around the command.
    yield* Effect.provideService(LogFormat.applied([], 2, Effect.succeed(0)), ConfigProvider.ConfigProvider, watching)
    assert.isNotEmpty(variablesIn(readme))
    // They are no settings of a command: threads and inputs at URLs read them by themselves.
    const others = ["PREFSTREAM_THREADS", "PREFSTREAM_HTTP_TOKENS"]
    assert.includeMembers([...read], [...variablesIn(readme)])
    assert.deepStrictEqual(
      variablesIn(yield* allHelp),
      [...read].filter((name) => name.startsWith("PREFSTREAM_") && !others.includes(name)).toSorted(),
    )
  })
})
