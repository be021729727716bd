/** What a command says is to be done next finds the same job. */
import { assert, describe } from "@effect/vitest"
import { cli, folderWithItems, itemLines, quick, reportOf, to, write } from "../support/cli.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

describe("what is to be done next", () => {
  test("repeats the flags by which the job was found, as a shell takes them; not what the environment says", function* () {
    const job = yield* folderWithItems(2)
    const service = yield* ScriptedService.except(({ body }) => body.includes("prompt 1") && "reset")
    const place = ["--dir", job, "--ledger", `${job}/one's ledger.db`]
    const named = ["--job", "a2"]
    const submit = ["submit", `${job}/items.jsonl`, "--batch-size", "1", ...quick]
    const given = `--dir ${job} --ledger '${job}/one'\\''s ledger.db'`
    for (const [flags, env, expected] of [
      [[...place, ...named], {}, `${given} --job a2`],
      [place, { PREFSTREAM_JOB: "a3" }, given],
      [["--dir", job], { PREFSTREAM_LEDGER: `${job}/other.db`, PREFSTREAM_JOB: "a2" }, `--dir ${job}`],
    ] as const) {
      const submitted = yield* cli([...submit, ...flags], { ...to(service), ...env })
      assert.include(submitted.stdout, `: prefstream resolve ${expected}\n`)
      const status = yield* cli(["status", ...flags], env)
      assert.include(status.stdout, `: prefstream resolve ${expected}\n`)
      const listed = yield* cli(["resolve", ...flags], env)
      assert.include(listed.stdout, ` ${expected} --send-again `)
      assert.strictEqual((yield* cli(["resolve", "--all", "in_doubt", "--give-up", ...flags], env)).status, 0)
      const waiting = yield* cli(["status", ...flags], env)
      assert.include(waiting.stdout, `Next: prefstream collect ${expected}, then prefstream export ${expected}.`)
    }
  })

  test("after --max-rejects ended a reading: correct the input, or allow more", function* () {
    const job = yield* temporaryDirectory
    const items = `${job}/items.jsonl`
    yield* write(items, ["{", "{"])
    const run = (limit: string) => cli(["run", items, "--dir", job, "--expert", "first", "--max-rejects", limit])
    assert.match((yield* run("1")).stderr, /2 records were rejected, but --max-rejects allows 1/)
    const stopped = yield* cli(["status", "--dir", job])
    assert.match(
      stopped.stdout,
      /^The last run stopped at 2 rejected records \(--max-rejects 1\)\. Correct the input, or raise --max-rejects/,
    )
    const report = reportOf(yield* cli(["export", "--dir", job, "--json"]))
    assert.deepStrictEqual([report.status, report.max_rejects], ["unfinished", 1])
    yield* write(items, ["{", ...itemLines(1)])
    assert.match((yield* run("0")).stderr, /1 record was rejected, but --max-rejects allows 0/)
    assert.strictEqual((yield* run("1")).status, 0)
    assert.isNull(reportOf(yield* cli(["status", "--dir", job, "--json"])).max_rejects)
  })
})
