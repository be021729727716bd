/** Fields that experts may have to see: what commands say of them, and that nothing is sent or written before that. */
import { existsSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { cli, cliIn, ends, folderWithItems, reportOf, to } from "../support/cli.ts"
import { test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const asked =
  "no option uses \"context\" (in 1 of 2 records). If experts need this field, set --prompt-path '{context}\\n\\n{prompt}'. If they do not need it, set --ignore-field context"

const records = [
  { prompt: "Who won?", context: "The Reds did.", baseline: "Reds", candidate: "Blues", winner: "candidate", gold: 1 },
  { prompt: "Who lost?", baseline: "Reds", candidate: "Blues", winner: "baseline", gold: 0, topic: "sport" },
]

describe("fields that experts may have to see", () => {
  for (const [command, ...args] of [
    ["inspect"],
    ["validate"],
    ["plan", "--accuracy", "0.8"],
    ["init"],
    ["run", "--expert", "first", "--dir", "job"],
    ["run", "--expert", "first", "--dir", "job", "--dry-run"],
    ["import", "--dir", "job"],
  ] as const) {
    test(`${[command, ...args].join(" ")} asks about them before it does anything`, function* () {
      const folder = yield* folderWithItems(records)
      const { status, stderr } = yield* cliIn(folder, [command, "items.jsonl", ...args])
      assert.include(stderr, `items.jsonl: ${asked}\n`)
      assert.strictEqual(status, 2)
      assert.isFalse(existsSync(`${folder}/prefstream.yaml`))
      assert.isFalse(existsSync(`${folder}/job/dataset`))
    })
  }

  test("submit sends nothing until it is told, and lists what it does not use", function* () {
    const folder = yield* folderWithItems(records)
    const service = yield* ScriptedService.make(ScriptedService.obliging)
    const submit = (...flags: ReadonlyArray<string>) =>
      cli(["submit", `${folder}/items.jsonl`, "--dir", `${folder}/job`, ...flags], to(service))
    assert.strictEqual((yield* submit()).status, 2)
    assert.deepStrictEqual(service.received.filter(ScriptedService.isPost), [])
    const said = yield* submit("--prompt-path", "{context}\\n\\n{prompt}", "--json")
    assert.include(said.stderr, "\nFields not used: gold (100%), topic (50%)\n")
    assert.strictEqual(reportOf(said).read, 2)
    const [post] = service.received.filter(ScriptedService.isPost)
    assert.include(post!.body, "The Reds did.\\n\\nWho won?")
  })

  test("--ignore-field holds for gold files, too", function* () {
    const folder = yield* folderWithItems(
      records.map(({ baseline, candidate, ...record }) => ({ ...record, completions: [baseline, candidate] })),
    )
    const run = ["run", "items.jsonl", "--dir", "job", "--expert", "gold:items.jsonl", "--json"]
    const said = yield* cliIn(folder, [...run, "--ignore-field", "context"]).pipe(ends(0))
    assert.strictEqual(reportOf(said).dataset?.rows, 2)
  })

  test("pictures are rejects of their records, with the flag that has experts judge without", function* () {
    const folder = yield* folderWithItems(
      records.map((record, i) => ({ ...record, context: "", images: i === 0 ? ["a.png"] : [] })),
    )
    const run = ["run", "items.jsonl", "--expert", "first", "--json"]
    const said = yield* cliIn(folder, [...run, "--dir", "job"])
    assert.deepStrictEqual([reportOf(said).read, reportOf(said).rejected], [2, 1])
    assert.match(
      reportOf(said).rejects![0]!.first.reason,
      /^images: .*\. If experts can judge the item without media, set --ignore-field images$/,
    )
    assert.match(said.stderr, /images, audio, or video \(images\), so 1 of the first 2 records is rejected/)
    const told = yield* cliIn(folder, [...run, "--dir", "other", "--ignore-field", "images"])
    assert.strictEqual(reportOf(told).rejected, 0)
  })
})
