/** A job whose items wait for another person says so, in `collect`, and in `status`, which reads only the ledger. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { joined, judgeAll } from "../service/web/support.ts"
import { cli, cliServed, ends, firstOperator, folderWithItems, quick } from "../support/cli.ts"
import { test } from "../support/job.ts"

/** A service without automatic experts, and a job of three items. */
const started = Effect.gen(function* () {
  const folder = yield* folderWithItems(3)
  const served = yield* cliServed(["--database", `${folder}/service.db`, "--undo-grace", "0s"])
  const { origin } = new URL(served.env.PREFSTREAM_BASE_URL)
  const operator = yield* firstOperator(served)
  return { folder, origin, operator, env: served.env, dir: ["--dir", `${folder}/job`] }
})

test("three votes on each item, and two people", function* () {
  const { dir, env, folder, operator, origin } = yield* started
  yield* cli(["submit", `${folder}/items.jsonl`, ...dir, "--votes", "3"], env).pipe(ends(0))
  const people = yield* Effect.forEach(["Bea", "Cem"], (name) => joined(origin, operator, name))
  assert.notInclude((yield* cli(["status", ...dir]).pipe(ends(3))).stdout, "another expert")

  assert.deepStrictEqual(yield* Effect.forEach(people, (person) => judgeAll(person, "a")), [3, 3])
  const collected = yield* cli(["collect", "--once", ...dir, ...quick], env).pipe(ends(3))
  assert.match(
    collected.stderr,
    /3 items of task_\w+ wait for another expert: every expert with permission has already judged these items, or items with the same content\. Invite/,
  )
  const status = yield* cli(["status", ...dir]).pipe(ends(3))
  assert.match(status.stdout, /^ *waiting +3 items in 1 task wait at the service for another expert/m)
  const { json: queue } = yield* operator.ask("GET", "/dashboard/api/groups")
  assert.strictEqual(queue.groups[0].waiting, 3)

  assert.strictEqual(yield* judgeAll(yield* joined(origin, operator, "Dan"), "a"), 3)
  const done = yield* cli(["collect", ...dir, ...quick], env).pipe(ends(0))
  assert.notInclude(done.stderr, "another expert")
  assert.notInclude((yield* cli(["status", ...dir]).pipe(ends(0))).stdout, "another expert")
})

test("votes that only judges may give, and a person", function* () {
  const { dir, env, folder, operator, origin } = yield* started
  const bea = yield* joined(origin, operator, "Bea")
  const rule = ["--votes", "2..3", "--people-when", "jury<0.9"]
  yield* cli(["submit", `${folder}/items.jsonl`, ...dir, ...rule], env).pipe(ends(0))
  assert.strictEqual(yield* judgeAll(bea, "a"), 0)
  // "Votes needed" on a person's page.
  const { json: work } = yield* bea.ask("POST", "/annotate/api/next")
  assert.strictEqual(work.progress.needed, 0)
  const collected = yield* cli(["collect", "--once", ...dir, ...quick], env).pipe(ends(3))
  assert.match(
    collected.stderr,
    /3 items of task_\w+ wait for the vote of a judge \(a language model\)\. The service has no judge that can still vote on these items\. Start/,
  )
  assert.notInclude(collected.stderr, "another expert")
  const { stdout } = yield* cli(["status", ...dir]).pipe(ends(3))
  assert.match(stdout, /^ *waiting +3 items in 1 task wait for the vote of a judge/m)
  assert.notInclude(stdout, "another expert")
  const { json: queue } = yield* operator.ask("GET", "/dashboard/api/groups")
  assert.deepStrictEqual([queue.groups[0].waiting, queue.groups[0].waiting_for_judges], [0, 3])
  const { json: overview } = yield* operator.ask("GET", "/dashboard/api/overview/report")
  assert.deepStrictEqual(
    overview.stuck.map(({ kind }: { readonly kind: string }) => kind),
    ["unassignable"],
  )
})
