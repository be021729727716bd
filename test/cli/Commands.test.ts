import { assert } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { cli, ends, folderWithItems, reportOf } from "../support/cli.ts"
import { test } from "../support/job.ts"
import { started } from "../support/program.ts"

test("while a run works a job folder, status and export can read it; a second run, submit or collect is refused", function* () {
  const job = yield* folderWithItems(3)
  const items = `${job}/items.jsonl`
  const args = ["run", items, "--dir", job, "--expert", "first"]
  const first = yield* started([...args, "--turnaround", "1h"])
  const status = cli(["status", "--dir", job, "--json"])
  const said = yield* Effect.repeat(status, {
    until: (said) => said.status === 3 && reportOf(said).tasks.submitted.items === 3,
    schedule: Schedule.spaced("50 millis"),
  })
  assert.strictEqual(reportOf(said).status, "waiting")
  const exported = yield* cli(["export", "--dir", job, "--json"]).pipe(ends(3))
  assert.isNull(reportOf(exported).dataset)
  assert.match(exported.stderr, /there are no results yet: no dataset was written$/m)

  const env = { PREFSTREAM_BASE_URL: "http://127.0.0.1:9/v1", PREFSTREAM_TOKEN: "t" }
  const others = [
    cli(args),
    cli(["run", items, "--dir", job], env),
    cli(["submit", items, "--dir", job], env),
    cli(["collect", "--dir", job], env),
  ]
  for (const other of others) {
    const refused = yield* other.pipe(ends(75))
    assert.strictEqual(refused.stdout, "")
    assert.match(refused.stderr, new RegExp(`is in use by process ${first.child.pid} on .+ since \\d{4}-`))
  }
  assert.isNull(first.child.exitCode, "the first run goes on undisturbed")

  first.child.kill("SIGKILL")
  yield* Effect.promise(() => first.ended)
  const next = yield* cli([...args, "--json"]).pipe(ends(0))
  assert.strictEqual(reportOf(next).known, 3)
})
