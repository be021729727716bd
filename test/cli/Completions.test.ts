/** The script that `prefstream completion bash` prints, in a real bash. */
import { execFileSync } from "node:child_process"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { cli } from "../support/cli.ts"
import { test } from "../support/job.ts"

describe("completion", () => {
  for (const [typed, completed] of [
    ["prefstream sta", "status"],
    ["prefstream ledger pr", "prune"],
    ["prefstream run --thr", "--threshold"],
    ["prefstream export --format ver", "verl"],
  ] as const) {
    test(`of ${typed}`, () =>
      Effect.gen(function* () {
        const { status, stdout } = yield* cli(["completion", "bash"])
        assert.strictEqual(status, 0)
        const words = typed.split(" ")
        const asked = `COMP_LINE="${typed}"; COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _prefstream prefstream ${words.at(-1)} ${words.at(-2)}; echo "\${COMPREPLY[@]}"`
        assert.strictEqual(
          execFileSync("bash", ["-c", `${stdout}\n${asked}`])
            .toString()
            .trim(),
          completed,
        )
      }))
  }

  test("of another shell is a usage error", () =>
    Effect.gen(function* () {
      const { status, stderr } = yield* cli(["completion", "csh"])
      assert.strictEqual(status, 2)
      assert.match(stderr, /"bash" \| "zsh" \| "fish" \| "powershell"/)
    }))
})
