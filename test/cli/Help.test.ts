/** The house style of help: one line per flag, at most 100 characters, and a name for each value. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { cli } from "../support/cli.ts"
import { test } from "../support/job.ts"

const commands = [
  "run", "submit", "collect", "export", "status", "inspect", "validate", "verify", "resolve", "schedule", "serve",
  "ledger check", "ledger backup", "ledger compact", "ledger prune",
] // prettier-ignore

/** What the library calls values without a name of their own. */
const unnamed = /^(--\S+ )(string|integer|number|choice|redacted|path|file|directory|date)$/

describe("help", () => {
  for (const command of commands) {
    test(`of ${command}`, () =>
      Effect.gen(function* () {
        const { stdout } = yield* cli([...command.split(" "), "--help"])
        const [, section = ""] = /^FLAGS\n([^]*?)\n\n/m.exec(stdout) ?? []
        const flags = section.split("\n").map((line) => line.trim().split(/ {2,}/))
        assert.isNotEmpty(flags)
        for (const [flag = "", help = ""] of flags) {
          assert.notMatch(flag, unnamed, "name the value")
          // The library lists the choices after our own words.
          const words = help.replace(/ \(choices: [^)]*\)$/, "")
          assert.isAtMost(words.length, 100, `${flag}: ${words}`)
          assert.match(words, /^([A-Z][a-z]+|CSV|JSONL|OpenAI|SQLite|judge:MODEL|standard-webhooks)\b/, flag)
          assert.notMatch(words, /\.$/, flag)
        }
      }))
  }
})
