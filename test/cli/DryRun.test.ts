/** `--dry-run` of `run` and `submit`: what it says is what the run then does. */
import { assert, describe } from "@effect/vitest"
import { FileSystem } from "effect"
import type { Preview } from "../../src/pipeline/Preview.ts"
import { cli, ends, folderWithItems, itemLines, quick, reportOf, to, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { root } from "../support/process.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const item = (id: string, prompt: string, ...completions: ReadonlyArray<string>) => ({
  ...(id === "" ? {} : { id }),
  prompt,
  completions,
})

const previewOf = ({ stdout }: { readonly stdout: string }): Preview => JSON.parse(stdout)

describe("--dry-run", () => {
  const cases: ReadonlyArray<readonly [name: string, flags: ReadonlyArray<string>]> = [
    ["by default", []],
    ["with two votes and small tasks", ["--votes", "2", "--batch-size", "3"]],
    ["with reordered items kept", ["--keep-reordered"]],
    ["with completions drawn", ["--completions-per-item", "2"]],
    ["with a limit of the service", ["--max-completions", "3"]],
  ]
  for (const [name, flags] of cases) {
    test(`${name}: counts as the run that follows, also over a ledger that knows some`, function* () {
      const job = yield* temporaryDirectory
      const service = yield* ScriptedService.make(ScriptedService.obliging)
      yield* write(`${job}/1.jsonl`, [...itemLines(7), item("", "Which?", "a", "b", "c")])
      yield* write(`${job}/2.jsonl`, [
        ...itemLines(10, 3),
        ...itemLines(1, 4),
        item("", "Which?", "c", "b", "a"),
        item("", "And now?", "a", "b", "c", "d"),
        item("", "And now?", "d", "c", "b", "a"),
        item("item-5", "another text under a known id", "x", "y"),
        "not JSON",
      ])
      const known = ["1", "2", "2"]
      let sent = 0
      for (const file of known) {
        const args = ["submit", `${job}/${file}.jsonl`, "--dir", job, "--json", ...flags, ...quick]
        const preview = previewOf(yield* cli([...args, "--dry-run"], to(service)))
        assert.strictEqual(service.received.filter(ScriptedService.isPost).length, sent)
        const report = reportOf(yield* cli(args, to(service)))
        const { duplicates, items, known, read, rejected, reordered } = preview
        assert.deepInclude(report, { duplicates, known, read, rejected, reordered, submitted: items + known })
        sent += preview.tasks
        assert.strictEqual(service.received.filter(ScriptedService.isPost).length, sent)
      }
    })
  }

  test("leaves no trace, starts no service, and says in words what would be sent", function* () {
    const folder = yield* temporaryDirectory
    const fs = yield* FileSystem.FileSystem
    const job = `${folder}/job`
    const args = ["run", `${root}data/sample.jsonl`, "--dir", job, "--expert", "first", "--dry-run"]
    const said = yield* cli(args).pipe(ends(0))
    assert.strictEqual(
      said.stdout,
      "Nothing was sent or recorded.\n\n  records    72 = 72 items + 0 duplicates + 0 rejected\n  to send    4 tasks with 72 items\n",
    )
    assert.deepStrictEqual(yield* cli([...args, "--quiet"]), { ...said, stderr: "" })
    assert.isFalse(yield* fs.exists(job))
    const ofPipeline = yield* cli(["run", `${root}pipelines/quickstart.ts`, "--dir", job, "--dry-run", "--json"])
    assert.strictEqual(previewOf(ofPipeline).tasks, 4)
    assert.isFalse(yield* fs.exists(job))
  })

  test("of a join and of layout long needs no job folder, and leaves none", function* () {
    const folder = yield* temporaryDirectory
    const fs = yield* FileSystem.FileSystem
    const service = yield* ScriptedService.make(ScriptedService.obliging)
    yield* write(`${folder}/p.jsonl`, [
      { id: "a", prompt: "A?" },
      { id: "b", prompt: "B?" },
    ])
    for (const model of ["one", "two"]) {
      const answers = ["a", "b"].map((id) => ({ id, response: `${model} on ${id}` }))
      yield* write(`${folder}/${model}.jsonl`, answers)
    }
    const long = ["a", "b"].flatMap((id) => [1, 2].map((n) => ({ prompt: `${id}?`, completion: `${n} of ${id}` })))
    yield* write(`${folder}/long.jsonl`, long)
    const joined = ["p.jsonl", "--completions", `${folder}/one.jsonl`, "--completions", `${folder}/two.jsonl`]
    for (const [file, ...flags] of [joined, ["long.jsonl", "--layout", "long"]]) {
      const args = [`${folder}/${file}`, ...flags, "--dir", `${folder}/job`, "--dry-run", "--json"]
      const said = [yield* cli(["run", ...args, "--expert", "first"]), yield* cli(["submit", ...args], to(service))]
      for (const one of said) {
        assert.strictEqual(one.status, 0, one.stderr)
        assert.strictEqual(previewOf(one).items, 2)
        const others = file === "p.jsonl" ? " and 2 completions files" : ""
        assert.include(one.stderr, `Found in ${folder}/${file}${others}: JSONL; `)
      }
      assert.isFalse(yield* fs.exists(`${folder}/job`))
    }
  })

  test("counts tasks of earlier runs that were not sent, and refuses what the run would refuse", function* () {
    const job = yield* folderWithItems(4)
    const down = yield* ScriptedService.make(() => ({ status: 401, body: {} }))
    const args = ["submit", `${job}/items.jsonl`, "--dir", job, "--batch-size", "2", ...quick]
    assert.strictEqual((yield* cli(args, to(down))).status, 1)
    const { planned, tasks } = previewOf(yield* cli([...args, "--dry-run", "--json"], to(down)))
    assert.deepStrictEqual([planned, tasks], [2, 0])
    const changed = yield* cli([...args, "--dry-run", "--guidelines", "other"], to(down)).pipe(ends(2))
    assert.include(changed.stderr, "--new-campaign")
  })
})
