/** What README.md says of scheduled jobs, as far as it can be tried: the lines are taken from there. */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem, Result } from "effect"
import { DryRun } from "../../src/cli/flags/PipelineFile.ts"
import * as CronJob from "../../src/pipeline/CronJob.ts"
import { cli, ends } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { root } from "../support/process.ts"

const readme = readFileSync(`${root}README.md`, "utf8")

const guide = readFileSync(`${root}src/pipeline/README.md`, "utf8")
const section = (/^## Scheduled jobs\n([^]*?)^## /m.exec(readme)?.[1] ?? "") + guide

const blocks = (language: string): ReadonlyArray<string> =>
  [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, "gm"))].map(([, text = ""]) => text)

const found = (text: string | undefined, pattern: RegExp): string => {
  const [, match] = pattern.exec(text ?? "") ?? []
  if (match === undefined) throw new Error(`found no ${pattern} in: ${text}`)
  return match
}

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0

/** Whether the words after `prefstream` are a command line that would be carried out. */
const assertRight = Effect.fnUntraced(function* (words: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* temporaryDirectory
  yield* fs.makeDirectory(`${folder}/items`)
  const here = words.map((word) => (/^(\/data\/)?items$/.test(word) ? `${folder}/items` : word))
  assert.notDeepEqual(here, words)
  const env = {
    PREFSTREAM_BASE_URL: "http://127.0.0.1:1/v1",
    PREFSTREAM_TOKEN: "token",
    PREFSTREAM_LEDGER: "postgres://me@127.0.0.1:1/prefs",
  }
  yield* Effect.provideService(cli(here, env), DryRun, true).pipe(ends(0))
})

const wordsOf = (line: string): ReadonlyArray<string> => line.trim().split(/\s+/)

const assertCron = (expression: string, timeZone?: string) =>
  assert.isTrue(Result.isSuccess(CronJob.parse(expression, timeZone)), expression)

describe("the README's scheduled jobs", () => {
  test("cron", function* () {
    const [crontab] = blocks("crontab")
    const line = found(crontab, /^(\d.*)$/m)
    // To cron a % is the end of the line.
    assert.notInclude(line, "%")
    assertCron(wordsOf(line).slice(0, 5).join(" "))
    yield* assertRight(wordsOf(found(line, /\.bin\/prefstream (.*)$/)))
    const shell = spawnSync("sh", ["-n", "-c", wordsOf(line).slice(5).join(" ")], { encoding: "utf8" })
    assert.strictEqual(shell.status, 0, shell.stderr)
  })

  test("systemd: the command", () => assertRight(wordsOf(found(blocks("ini")[0], /^ExecStart=\S+ (.*)$/m))))

  test("Kubernetes", function* () {
    const [yaml] = blocks("yaml")
    assertCron(found(yaml, /schedule: "(.*)"/), found(yaml, /timeZone: (\S+)/))
    yield* assertRight(JSON.parse(found(yaml, /args: (\[.*\])$/m)) as ReadonlyArray<string>)
  })

  test("workers", function* () {
    const [, , unit] = blocks("ini")
    yield* assertRight(wordsOf(found(unit, /^ExecStart=\S+ (worker .*)$/m)))
    const [, deployment] = blocks("yaml")
    yield* assertRight(JSON.parse(found(deployment, /args: (\["worker".*\])$/m)) as ReadonlyArray<string>)
  })
})

describe.skipIf(!hasSystemd)("the README's systemd units (needs systemd-analyze)", () => {
  test("have nothing that systemd finds fault with", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* temporaryDirectory
    const units = blocks("ini")
    const files: Array<string> = []
    for (const unit of units) {
      const name = found(unit, /^# \/etc\/systemd\/system\/(\S+)$/m)
      files.push(`${folder}/${name}`)
      yield* fs.writeFileString(`${folder}/${name}`, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`))
    }
    assert.lengthOf(files, 3)
    const verified = spawnSync("systemd-analyze", ["verify", "--man=no", ...files], { encoding: "utf8" })
    assert.deepStrictEqual([verified.status, verified.stderr], [0, ""])
  })
})
