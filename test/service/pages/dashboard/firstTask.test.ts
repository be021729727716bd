import { execFileSync } from "node:child_process"
import { assert, it } from "@effect/vitest"
import { curlLines, exportLines, runLines } from "../../../../src/service/pages/dashboard/firstTask.ts"

/** The arguments that a shell makes of a command. */
const args = (lines: string, env: Record<string, string> = {}): ReadonlyArray<string> =>
  execFileSync("sh", ["-c", `show() { printf '%s\\0' "$@"; }; ${lines.replace(/^\S+/, "show")}`], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], ...env },
  })
    .split("\0")
    .slice(0, -1)

const origin = "http://127.0.0.1:8484"

it("name the service where the page is", () => {
  assert.include(exportLines(origin), "PREFSTREAM_BASE_URL=http://127.0.0.1:8484/v1\n")
  assert.deepStrictEqual(args(runLines(origin)), [
    "prefstream",
    "run",
    "items.jsonl",
    "--base-url",
    "http://127.0.0.1:8484/v1",
    "--dir",
    "first-job",
  ])
})

it("are, to a shell, a request with a task that holds what the contract asks for", () => {
  const found = args(curlLines, { PREFSTREAM_BASE_URL: `${origin}/v1`, PREFSTREAM_TOKEN: "secret" })
  assert.deepStrictEqual(found.slice(0, -1), [
    `${origin}/v1/tasks`,
    "-H",
    "Authorization: Bearer secret",
    "-H",
    "Content-Type: application/json",
    "-d",
  ])
  const body: unknown = JSON.parse(found.at(-1) ?? "")
  assert.nestedPropertyVal(body, "task_type", "rlhf_ranking")
  assert.nestedPropertyVal(body, "prompts[0].prompt", "What is the capital of Australia?")
  assert.lengthOf((body as { prompts: Array<{ completions: Array<string> }> }).prompts[0]?.completions ?? [], 2)
})
