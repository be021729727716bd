import { assert } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { cli, ends, folderWithItems, quick, reportOf, to } from "../support/cli.ts"
import { pairsOf } from "../support/datasetReaders.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { root, sample } from "../support/process.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

test("export writes the results that are there, and all of them later, without the input and the service", function* () {
  const fs = yield* FileSystem.FileSystem
  const job = yield* folderWithItems(3)
  let completed = 1
  const exportIt = cli(["export", "--dir", job])
  yield* Effect.scoped(
    Effect.gen(function* () {
      const service = yield* ScriptedService.make((request, before) => {
        const taskId = request.path.split("/").at(-1)!
        return request.method === "GET" && Number(taskId.slice("task_".length)) >= completed
          ? { status: 200, body: { task_id: taskId, status: "pending" } }
          : ScriptedService.obliging(request, before)
      })
      const say = (...args: ReadonlyArray<string>) => cli([...args, "--dir", job, ...quick], to(service))
      yield* say("submit", `${job}/items.jsonl`, "--batch-size", "1").pipe(ends(0))
      yield* say("collect", "--once").pipe(ends(3))
      yield* exportIt.pipe(ends(3))
      assert.lengthOf(yield* pairsOf(job), 1)
      completed = 3
      yield* say("collect").pipe(ends(0))
    }),
  )
  yield* fs.remove(`${job}/items.jsonl`)
  yield* exportIt.pipe(ends(0))
  assert.lengthOf(yield* pairsOf(job), 3)
})

test("a join from the command line gives the items, and the dataset, of the same data in one file", function* () {
  const job = yield* temporaryDirectory
  const models = ["aspen", "birch", "cedar", "willow"].flatMap((model) => [
    "--completions",
    `${root}data/joined/completions/${model}.jsonl`,
  ])
  const join = ["--completion-path", "choices[0].message.content", "--missing"]
  const of = (name: string, args: ReadonlyArray<string>) =>
    cli(["run", ...args, "--dir", `${job}/${name}`, "--group", "same", "--json", "--expert", `gold:${sample}`]).pipe(
      ends(0),
      Effect.map(reportOf),
    )
  const together = yield* of("together", [sample])
  const joined = yield* of("joined", [`${root}data/joined/prompts.jsonl`, ...models, ...join, "keep"])
  assert.strictEqual(joined.submitted, 72)
  assert.strictEqual(joined.rejected, 0)
  assert.strictEqual(together.submitted, 72)
  // The order of the members of `metadata` may differ.
  const rows = (name: string) =>
    Effect.map(pairsOf(`${job}/${name}`), (pairs) =>
      pairs.map((pair) => ({ ...pair, metadata: JSON.parse(pair.metadata ?? "null") as unknown })),
    )
  const expected = yield* rows("together")
  assert.strictEqual(expected.length, 144)
  assert.isTrue(expected.every(({ chosen_model }) => chosen_model !== null))
  assert.deepStrictEqual(yield* rows("joined"), expected)

  // Without `keep`, the 24 prompts that all four models answered are left.
  const strict = yield* of("strict", [`${root}data/joined/prompts.jsonl`, ...models, ...join, "reject"])
  assert.strictEqual(strict.submitted, 24)
  assert.strictEqual(strict.rejected, 48)
})
