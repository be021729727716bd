/**
 * A service of which nobody knows that it honors `Idempotency-Key`, through a network that
 * fails: a request that may have been taken is never sent again, and none of them is forgotten.
 */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { TaskRequest } from "../../src/domain/Task.ts"
import { cases, leftOut } from "../support/cases.ts"
import { cli, itemLines, quick, reportOf, write } from "../support/cli.ts"
import * as FaultProxy from "../support/FaultProxy.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { run } from "../support/program.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { rowsOf, sayChosen, seed } from "./support.ts"

const world = Effect.fnUntraced(function* (n: number, options: Omit<FaultProxy.FaultOptions, "seed">) {
  yield* sayChosen
  const job = yield* temporaryDirectory
  const input = `${job}/items.jsonl`
  yield* write(input, itemLines(n))
  const service = yield* ScriptedService.make(ScriptedService.obliging)
  const proxy = yield* FaultProxy.make(new URL(service.baseUrl).origin, { seed, ...options })
  const env = { PREFSTREAM_BASE_URL: `${proxy.origin}/v1`, PREFSTREAM_TOKEN: service.token }
  const args = ["run", input, "--dir", job, "--batch-size", "1", "--concurrency", "16", "--json", ...quick]

  /** Nothing was bought twice, nothing is lost, and what is in doubt is known to be. */
  const check = Effect.gen(function* () {
    const bought = service.received
      .filter(({ method }) => method === "POST")
      .flatMap(({ body }) => (JSON.parse(body) as TaskRequest).prompts.map(({ prompt }) => prompt))
    assert.strictEqual(new Set(bought).size, bought.length, "an item was bought twice")
    const tasks = rowsOf(`${job}/ledger.db`, "SELECT state, idempotency_key FROM task")
    const inDoubt = tasks.filter(({ state }) => state === "in_doubt").map((task) => String(task["idempotency_key"]))
    const { in_doubt, completed } = reportOf(yield* cli(["status", "--dir", job, "--json"])).tasks
    assert.strictEqual(in_doubt.tasks, inDoubt.length)
    assert.strictEqual(completed.tasks, n - inDoubt.length)
    return inDoubt
  })

  return { args, check, env, proxy }
})

const isLeftOut = leftOut(2)

describe.skipIf(isLeftOut(0))("faults before a service that may ignore idempotency keys", () => {
  test("each request that may have been taken is in doubt, and no other", function* () {
    const rates = Object.fromEntries(
      FaultProxy.faultNames
        .filter((name) => name !== "silence") // a minute each
        .map((name) => [name, FaultProxy.doubtful.has(name) ? cases(0.016, 0.008) : 0.03]),
    )
    const { args, check, env, proxy } = yield* world(cases(120, 250), {
      rates,
      burstEvery: cases(75, 150),
      // 503 may come from a gateway that lost the answer.
      bursts: ["tooManyForASecond", "tooManyUntil", "tooMany"],
    })
    const ended = yield* Effect.promise(() => run(args, env))
    assert.strictEqual(ended.status, 4, ended.stderr)

    const posts = proxy.seen.filter(({ method }) => method === "POST")
    const fatal = posts.filter(({ fault }) => FaultProxy.doubtful.has(fault))
    assert.isAtLeast(fatal.length, 3)
    assert.isAtLeast(
      proxy.seen.filter(({ fault }) => (FaultProxy.burstNames as ReadonlyArray<string>).includes(fault)).length,
      3,
    )
    // After such a fault, nothing was sent under that key; after another one, it was.
    for (const one of fatal)
      assert.strictEqual(
        posts.findLast(({ key }) => key === one.key),
        one,
      )
    assert.sameMembers(
      [...(yield* check)],
      fatal.map(({ key }) => key ?? ""),
    )
  })
})

describe.skipIf(isLeftOut(1))("an outage before a service that may ignore idempotency keys", () => {
  test("in the middle ends the run before much is in doubt; the same command does the rest", function* () {
    const n = cases(100, 160)
    const { args, check, env, proxy } = yield* world(n, {
      rates: { slowRequest: 1 },
      outageEvery: n,
      mostOutages: 1,
    })
    const first = yield* Effect.promise(() => run(args, env))
    assert.strictEqual(proxy.outages(), 1)
    assert.include([1, 4], first.status, first.stderr)
    const last = yield* Effect.promise(() => run(args, env))
    assert.strictEqual(last.status, 4, last.stderr)
    const inDoubt = yield* check
    assert.isAtLeast(inDoubt.length, 1)
    // What was under way when the connections broke.
    assert.isAtMost(inDoubt.length, 16)
  })
})
