/**
 * The programs of `upstream.md`, each with the output that stands below it: a fault of `hyparquet` that is solved fails
 * here, and its check in `src/source/format/parquet` can go. Each run tries one of them; `ALL_CASES=1` tries all, as another
 * version of `hyparquet` needs it.
 */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import manifest from "../../../../package.json" with { type: "json" }
import { drawn } from "../../../support/cases.ts"
import { root } from "../../../support/process.ts"

const guide = readFileSync(new URL("upstream.md", import.meta.url), "utf8")
const [head = "", ...reports] = guide.split(/^## /m)
const programs = reports.flatMap((report) => {
  const [title = ""] = report.split("\n")
  const blocks = [...report.matchAll(/^```js\n([^]*?)^```\n\nActual:\n\n```text\n([^]*?)^```/gm)]
  return blocks.map(([, program = "", actual = ""]) => [title, program, actual] as const)
})

const endless = "(does not end)\n"

describe("the reports to hyparquet", () => {
  it("are of the installed version, and each has a program", () => {
    assert.include(head, `hyparquet ${manifest.dependencies.hyparquet} `)
    assert.strictEqual(new Set(programs.map(([title]) => title)).size, reports.length)
    assert.strictEqual(programs.length, guide.match(/^```js$/gm)?.length)
  })

  it.each(drawn(programs))("%s", (_, program, actual) => {
    const { error, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
      cwd: root,
      encoding: "utf8",
      // A program that ends after all is soon done.
      timeout: actual === endless ? 3_000 : 0,
      killSignal: "SIGKILL",
    })
    const isStopped = error !== undefined && "code" in error && error.code === "ETIMEDOUT"
    assert.strictEqual(isStopped ? endless : stdout + stderr, actual)
  })
})
