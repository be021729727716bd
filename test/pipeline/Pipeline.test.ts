import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import type { TaskRequest } from "../../src/domain/Task.ts"
import { cli, itemLines, quick, reportOf, to, write } from "../support/cli.ts"
import { jsonl } from "../support/datasetReaders.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import { root } from "../support/process.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

const sample = `${root}data/sample.jsonl`

/** Every file of a dataset with the hash of its bytes. */
const hashes = (job: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(`${job}/dataset`, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.\w+$/.test(name))
      .toSorted()
      .map((name) => [
        name,
        createHash("sha256")
          .update(readFileSync(`${job}/dataset/${name}`))
          .digest("hex"),
      ]),
  )

const pairsOf = (job: string) => Effect.promise(() => jsonl(`${job}/dataset/jsonl/train-00000-of-00001.jsonl`))

const itemsOf = (requests: ReadonlyArray<ScriptedService.Received>) =>
  requests
    .filter(({ method }) => method === "POST")
    .flatMap(({ body }) => (JSON.parse(body) as TaskRequest).prompts.map(({ prompt }) => prompt))

describe("a job over a file that grows", () => {
  test("submits the new items alone, and the dataset holds all", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      const file = `${job}/items.jsonl`
      const service = yield* ScriptedService.make(ScriptedService.obliging)
      const runOver = Effect.fnUntraced(function* (lines: ReadonlyArray<string>) {
        yield* write(file, lines)
        const before = service.received.length
        const said = yield* cli(["run", file, "--dir", job, "--batch-size", "2", "--json", ...quick], to(service))
        assert.strictEqual(said.status, 0, said.stderr)
        return { report: reportOf(said), requests: service.received.slice(before) }
      })

      const first = yield* runOver(itemLines(5))
      assert.strictEqual(itemsOf(first.requests).length, 5)

      const grown = yield* runOver([...itemLines(5), ...itemLines(3, 5)])
      assert.deepStrictEqual(itemsOf(grown.requests).toSorted(), ["prompt 5", "prompt 6", "prompt 7"])
      assert.deepStrictEqual([grown.report.submitted, grown.report.known], [8, 5])
      assert.strictEqual((yield* pairsOf(job)).length, 8)
      const bytes = hashes(job)

      const same = yield* runOver([...itemLines(5), ...itemLines(3, 5)])
      assert.deepStrictEqual(same.requests, [], "nothing is asked, and nothing is looked at again")
      assert.deepStrictEqual([same.report.submitted, same.report.known], [8, 8])
      assert.deepStrictEqual(hashes(job), bytes)

      // What was judged stays in the dataset, also where the input has moved on.
      const moved = yield* runOver(itemLines(1, 8))
      assert.deepStrictEqual(itemsOf(moved.requests), ["prompt 8"])
      assert.deepStrictEqual(
        (yield* pairsOf(job)).map(({ item_id }) => item_id).toSorted(),
        Array.from({ length: 9 }, (_, i) => `item-${i}`),
      )
    }))
})

describe("export", () => {
  test("gives the same bytes twice, and after the dataset was deleted", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      const fs = yield* FileSystem.FileSystem
      yield* cli(["run", sample, "--dir", job, "--expert", `gold:${sample}`])
      const exported = Effect.map(cli(["export", "--dir", job, "--json", "--force"]), (said) => {
        assert.strictEqual(said.status, 0, said.stderr)
        return { bytes: hashes(job), files: reportOf(said).dataset?.files }
      })
      const ofRun = hashes(job)
      assert.isAbove(Object.keys(ofRun).length, 2)
      const first = yield* exported
      assert.deepStrictEqual(first.bytes, ofRun)
      assert.deepStrictEqual(yield* exported, first)
      yield* fs.remove(`${job}/dataset`, { recursive: true })
      assert.deepStrictEqual(yield* exported, first)
      for (const { path, sha256 } of first.files ?? []) assert.strictEqual(first.bytes[path], sha256)
    }))

  test("needs neither the input nor the service", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      const fs = yield* FileSystem.FileSystem
      yield* write(`${job}/items.jsonl`, itemLines(2))
      yield* Effect.scoped(
        Effect.gen(function* () {
          const service = yield* ScriptedService.make(ScriptedService.obliging)
          yield* cli(["run", `${job}/items.jsonl`, "--dir", job, ...quick], to(service))
        }),
      )
      const bytes = hashes(job)
      yield* fs.remove(`${job}/items.jsonl`)
      yield* fs.remove(`${job}/dataset`, { recursive: true })
      assert.strictEqual((yield* cli(["export", "--dir", job])).status, 0)
      assert.deepStrictEqual(hashes(job), bytes)
    }))

  test("writes what is there while results are missing, and the rest later", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, itemLines(3))
      let completed = 1
      const service = yield* ScriptedService.make((request, before) => {
        const taskId = request.path.split("/").at(-1)!
        return request.method === "GET" && Number(taskId.slice("task_".length)) >= completed
          ? { status: 200, body: { task_id: taskId, status: "pending" } }
          : ScriptedService.obliging(request, before)
      })
      const of = (...args: ReadonlyArray<string>) =>
        Effect.map(cli([...args, "--dir", job], to(service)), ({ status }) => status)
      assert.strictEqual(yield* of("submit", `${job}/items.jsonl`, "--batch-size", "1", ...quick), 0)
      assert.strictEqual(yield* of("collect", "--once", ...quick), 3)
      assert.strictEqual(yield* of("export"), 3)
      assert.strictEqual((yield* pairsOf(job)).length, 1)
      completed = 3
      assert.strictEqual(yield* of("collect", ...quick), 0)
      assert.strictEqual(yield* of("export"), 0)
      assert.strictEqual((yield* pairsOf(job)).length, 3)
    }))
})

describe("a join from the command line", () => {
  test("gives the items, and the dataset, of the same data in one file", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      const models = ["aspen", "birch", "cedar", "willow"].flatMap((model) => [
        "--completions",
        `${root}data/joined/completions/${model}.jsonl`,
      ])
      const join = ["--completion-path", "choices[0].message.content", "--missing"]
      const of = (name: string, args: ReadonlyArray<string>) =>
        Effect.map(
          cli(["run", ...args, "--dir", `${job}/${name}`, "--json", "--expert", `gold:${sample}`]),
          (said) => (assert.strictEqual(said.status, 0, said.stderr), reportOf(said)),
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
    }))
})
