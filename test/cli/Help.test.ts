/** The house style of help: one line per flag, at most 100 characters, and a name for each value. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Option } from "effect"
import type { HelpDoc } from "effect/cli/HelpDoc"
import * as Help from "../../src/cli/flags/Help.ts"
import { cli } from "../support/cli.ts"
import { test } from "../support/job.ts"

const commands = [
  "run", "submit", "collect", "export", "import", "export-votes", "plan", "leaderboard", "audit", "status", "inspect", "validate", "verify", "push", "resolve", "schedule", "serve",
  "worker", "init", "config", "doctor", "ledger check", "ledger backup", "ledger compact", "ledger prune",
] // prettier-ignore

/** What the library calls values without a name of their own. */
const unnamed = /^(--\S+ )(string|integer|number|choice|redacted|path|file|directory|date)$/

/** The lines of the flags, under any heading. */
const flagLines = (help: string) => help.split("\n").filter((line) => /^ {2}--/.test(line))
const namesIn = (help: string) => flagLines(help).map((line) => /--[a-z-]+/.exec(line)![0])

describe("help", () => {
  for (const command of commands) {
    test(`of ${command}`, function* () {
      const { stdout } = yield* cli([...command.split(" "), "--help-all"])
      const flags = flagLines(stdout.split("GLOBAL FLAGS")[0]!).map((line) => line.trim().split(/ {2,}/))
      assert.isNotEmpty(flags)
      for (const [flag = "", help = ""] of flags) {
        assert.notMatch(flag, unnamed, "name the value")
        // The library lists the choices after our own words.
        const words = help.replace(/ \(choices: [^)]*\)$/, "")
        assert.isAtMost(words.length, 100, `${flag}: ${words}`)
        assert.match(words, /^([A-Z][a-z]+|CSV|JSON|JSONL|OpenAI|SQLite|standard-webhooks)\b/, flag)
        assert.notMatch(words, /\.$/, flag)
      }
    })
  }

  test("of a command with many flags shows what most people need, and how many more there are", function* () {
    for (const command of ["run", "submit", "collect", "export", "worker", "inspect", "validate"]) {
      const [some, all] = [yield* cli([command, "--help"]), yield* cli([command, "--help-all"])]
      const [shown, every] = [namesIn(some.stdout), namesIn(all.stdout)]
      assert.includeMembers(every, shown)
      assert.isBelow(shown.length, 25)
      assert.include(some.stdout, `\n\n${every.length - shown.length} more flags: prefstream ${command} --help-all\n`)
      assert.notInclude(all.stdout, "more flags")
      assert.match(all.stdout, /^(INPUT|SERVICE|DATASET)$/m)
    }
  })

  test("and version are words, too", function* () {
    for (const [word, flag] of [
      [["help"], ["--help"]],
      [
        ["help", "ledger", "check"],
        ["ledger", "check", "--help"],
      ],
      [["version"], ["--version"]],
    ] as const) {
      const [byWord, byFlag] = [yield* cli(word), yield* cli(flag)]
      assert.deepStrictEqual(byWord, byFlag)
      assert.strictEqual(byWord.status, 0)
    }
  })

  it("is wrapped to the terminal", () => {
    const doc: HelpDoc = {
      description: "word ".repeat(30).trim(),
      usage: "program [flags]",
      annotations: Context.empty(),
      flags: [
        { name: "short", aliases: ["-s"], type: "N", description: Option.some("more ".repeat(20).trim()), required: false },
        { name: "a-name-longer-than-its-column", aliases: [], type: "VALUE", description: Option.some("A text"), required: false },
      ],
      examples: [{ command: "program --short 1", description: "word ".repeat(30).trim() }],
    } // prettier-ignore
    const all = { isAll: true }
    const lines = Help.text(doc, { ...all, columns: 60 }).split("\n")
    assert.isAtMost(Math.max(...lines.map((line) => line.length)), 60)
    assert.isAbove(lines.length, Help.text(doc, { ...all, columns: 0 }).split("\n").length)
    const name = lines.indexOf("  --a-name-longer-than-its-column VALUE")
    assert.strictEqual(lines[name + 1], `${" ".repeat(34)}A text`)
    const example = lines.slice(lines.indexOf("EXAMPLES") + 1, -1)
    assert.isAbove(example.length, 1)
    for (const line of example) assert.match(line, /^ {2}# word/, "a shell takes each line as a comment")

    const narrow = Help.text(doc, { ...all, columns: 40 }).split("\n")
    assert.isAtMost(Math.max(...narrow.map((line) => line.length)), 40)
    const short = narrow.indexOf("  --short, -s N")
    assert.match(narrow[short + 1] ?? "", /^ {6}more more more/, "below the flag")
  })
})
