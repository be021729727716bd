/** Results that a service may send and no reader could read: one of them stops no other. */
import { DatabaseSync } from "node:sqlite"
import { assert, describe } from "@effect/vitest"
import { cli, ends, folderWithItems, quick, reportOf, to } from "../support/cli.ts"
import { pairsOf } from "../support/datasetReaders.ts"
import { test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`

/** The annotations of `task_1` are those that are given, as JSON. */
const answering = (annotations: () => string) =>
  ScriptedService.make((request, before) => {
    if (request.method === "POST" || !request.path.endsWith("/task_1")) return ScriptedService.obliging(request, before)
    const body = JSON.stringify(ScriptedService.resultOf(before, "task_1"))
    return { status: 200, body: body.replace('{"rationale":"because"}', annotations()) }
  })

const runArgs = (job: string) => ["run", `${job}/items.jsonl`, "--dir", job, "--batch-size", "1", ...quick]

const readers = [
  // The ledger is changed behind its back, which no later export looks for.
  ["export", "--force"],
  ["export-votes"],
  ["leaderboard", "--resamples", "0"],
  ["plan", "--price", "1", "--target-accuracy", "0.9"],
  ["status"],
]

describe("annotations", () => {
  test("of too many levels are no result; the others are exported, and the task is named and can be given up", function* () {
    for (const annotations of [
      `{"rationale":${nested(5_000)}}`,
      `{"votes":[{"expert":"e","choice":0,"details":{"x":${nested(20_000)}}}]}`,
    ]) {
      const job = yield* folderWithItems(5)
      const service = yield* answering(() => annotations)
      const said = yield* cli(runArgs(job), to(service)).pipe(ends(1))
      assert.match(said.stdout, /^invalid: task 2 \(task_1\): results\[0\]\.annotations.*100 levels/m)
      assert.lengthOf(yield* pairsOf(job), 4)
      assert.strictEqual((yield* cli(["resolve", "2", "--give-up", "--dir", job])).status, 0)
      assert.strictEqual((yield* cli(["export", "--dir", job])).status, 0)
    }
  })

  test("may have members of any name: nothing of the result is lost", function* () {
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty", "__defineGetter__"]) {
      const job = yield* folderWithItems(5)
      const vote = `{"expert":"e","choice":0,"${name}":"v","aspects":{"${name}":[1,2]},"details":{"${name}":{"x":1}}}`
      const annotations = `{"rationale":"because","${name}":"v","flags":[{"${name}":"f"}],"votes":[${vote}]}`
      const service = yield* answering(() => annotations)
      yield* cli([...runArgs(job), "--shuffle-seed", "3", "--expert-names"], to(service)).pipe(ends(0))
      const row = (yield* pairsOf(job)).find(({ task_id }) => task_id === "task_1")
      assert.include(row?.aspects, `{"${name}":{"chosen":`)
      assert.include(row?.flags, `"${name}":"f"`)
      const votes = yield* cli(["export-votes", "--dir", job]).pipe(ends(0))
      assert.match(votes.stdout, new RegExp(`"aspects":\\{"${name}":\\[[12],[12]\\]\\}`))
    }
  })
})

test("a recorded result that cannot be read is named and left out; a poll that brings no better one makes its task invalid", function* () {
  const job = yield* folderWithItems(5)
  let annotations = '{"rationale":"because"}'
  const service = yield* answering(() => annotations)
  assert.strictEqual((yield* cli(runArgs(job), to(service))).status, 0)
  annotations = `{"rationale":${nested(5_000)}}`
  const ledger = new DatabaseSync(`${job}/ledger.db`)
  const { body } = ledger.prepare("SELECT body FROM task_result WHERE seq = 1").get() as { body: Uint8Array }
  const spoiled = Buffer.from(body).toString().replace('{"rationale":"because"}', annotations)
  ledger.prepare("UPDATE task_result SET body = ? WHERE seq = 1").run(Buffer.from(spoiled))
  ledger.close()

  for (const [command, ...args] of readers) {
    const said = yield* cli([command!, ...(command === "plan" ? [`${job}/items.jsonl`] : []), ...args, "--dir", job])
    assert.notMatch(said.stderr, /RangeError|^\s+at /m, command)
    if (command === "status") continue
    assert.lengthOf(
      [...said.stderr.matchAll(/the result of task 2 \(task_1\) cannot be used, and is left out/g)],
      1,
      command,
    )
  }
  const exported = yield* cli(["export", "--aggregate", "dawid-skene", "--dir", job, "--json"])
  assert.lengthOf([...exported.stderr.matchAll(/task 2 \(task_1\)/g)], 1)
  assert.deepStrictEqual(reportOf(exported).left_out, [{ reason: "unusable", count: 1 }])
  assert.lengthOf(yield* pairsOf(job), 4)
  const checked = yield* cli(["ledger", "check", "--dir", job])
  assert.match(checked.stdout, /the result of task 2 \(task_1\) cannot be used: results\[0\]\.annotations/)

  const polled = yield* cli(["collect", "--once", "--recheck-completed", "--dir", job], to(service)).pipe(ends(1))
  assert.match(polled.stdout, /^invalid: task 2 \(task_1\)/m)
})
