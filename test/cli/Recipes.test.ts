/** The recipes in `pipelines`, each run as its head says. */
import { createHmac } from "node:crypto"
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem, Schedule } from "effect"
import { freePort } from "../../src/node/Cluster.ts"
import { cliIn, ends, itemLines, quick, recipesFolder, reportOf, write } from "../support/cli.ts"
import { jsonl, pairsOf } from "../support/datasetReaders.ts"
import { test } from "../support/job.ts"
import { bin, root, runSources, startSources, until } from "../support/process.ts"
import * as Labeling from "../support/Labeling.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { completed, secret, send, signed } from "../support/webhooks.ts"

/** A program of its own, which imports the sources. */
const ran = (cwd: string, args: ReadonlyArray<string>, env: Record<string, string> = {}) =>
  Effect.promise(() => runSources(args, { cwd, env }))

describe("the example pipelines run", () => {
  test("quickstart.ts twice, submitting nothing twice; joined.ts, with the same pairs; reannotate.ts, which judges them; merge.ts, which has both", function* () {
    const folder = yield* recipesFolder
    const recipe = Effect.fnUntraced(function* (file: string, env: Record<string, string> = {}) {
      const said = yield* cliIn(folder, ["run", file, "--json"], env).pipe(ends(0))
      return reportOf(said)
    })
    // It has a service of its own, whatever address the environment names.
    const env = { PREFSTREAM_BASE_URL: "http://127.0.0.1:1/v1", PREFSTREAM_TOKEN: "t" }
    const first = yield* recipe("pipelines/quickstart.ts", env)
    assert.deepStrictEqual([first.read, first.known, first.dataset?.rows], [72, 0, 144])
    const second = yield* recipe("pipelines/quickstart.ts", env)
    assert.deepStrictEqual([second.read, second.known], [72, 72])
    assert.deepStrictEqual(second.dataset, first.dataset)
    const pairs = yield* pairsOf(`${folder}/quickstart`)
    assert.strictEqual(pairs.length, 144)
    assert.isTrue(
      pairs.every(({ rationale }) => rationale !== null),
      "the experts answer from the gold answers",
    )

    yield* recipe("pipelines/joined.ts")
    const read = (file: string) => Effect.promise(() => jsonl(`${folder}/joined/dataset/${file}`))
    const train = yield* read("jsonl/train-00000-of-00001.jsonl")
    const test = yield* read("jsonl/test-00000-of-00001.jsonl")
    const textsOf = (rows: ReadonlyArray<Record<string, unknown>>) =>
      rows.map(({ chosen, prompt, rejected }) => JSON.stringify([prompt, chosen, rejected])).toSorted()
    assert.deepStrictEqual(textsOf([...train, ...test]), textsOf(pairs))
    assert.lengthOf(yield* read("formats/openrlhf-conversational/test.jsonl"), test.length)
    assert.isNotEmpty(test)

    yield* recipe("pipelines/reannotate.ts")
    const judgedAgain = yield* pairsOf(`${folder}/reannotate`)
    const before = new Set(pairs.map(({ chosen }) => chosen))
    assert.strictEqual(judgedAgain.length, 144)
    for (const { chosen, chosen_index, rejected } of judgedAgain) {
      assert.isAtMost(chosen.length, rejected.length)
      assert.strictEqual(chosen_index === 0, before.has(chosen), "0 where both agree")
    }

    const merging = ran(folder, ["pipelines/merge.ts"])
    const merged = new Set(textsOf([...pairs, ...judgedAgain]))
    assert.strictEqual((yield* ends(0)(merging)).stdout, `${merged.size} pairs in merged, 0 findings\n`)
    const one = ran(folder, ["pipelines/merge.ts", "joined/dataset", "joined/dataset", "again"])
    assert.strictEqual((yield* ends(0)(one)).stdout, "144 pairs in again, 0 findings\n")
    const again = yield* Effect.promise(() => jsonl(`${folder}/again/jsonl/test-00000-of-00001.jsonl`))
    assert.deepStrictEqual(again, test, "in its split")
  })

  test("pipelines/stages.ts, as a program of its own", function* () {
    const folder = yield* recipesFolder
    const said = yield* ran(folder, ["pipelines/stages.ts"]).pipe(ends(0))
    const pairs = yield* pairsOf(`${folder}/stages`)
    assert.strictEqual(said.stdout, `${pairs.length} pairs in stages/dataset\n`)
    assert.isNotEmpty(pairs)
    assert.isAtMost(pairs.length, 72)
    for (const { prompt } of pairs) assert.isBelow(prompt.length, 200)
    assert.strictEqual(new Set(pairs.map(({ item_id }) => item_id)).size, pairs.length, "one pair for each item")
    const own = yield* Effect.promise(() => jsonl(`${folder}/stages/dataset/formats/own/train.jsonl`))
    assert.deepStrictEqual<unknown>(
      own,
      pairs.map(({ chosen, prompt, rejected }) => ({ input: prompt, outputs: [chosen, rejected] })),
    )
  })

  test("pipelines/own-expert.ts, with records and an expert of its own, in a process of its own", function* () {
    const folder = yield* recipesFolder
    const said = yield* ran(folder, [bin, "run", "pipelines/own-expert.ts", "--json"]).pipe(ends(0))
    assert.deepStrictEqual([reportOf(said).read, reportOf(said).dataset?.rows], [20, 20])
    for (const { chosen } of yield* pairsOf(`${folder}/own-expert`)) assert.match(chosen, /^\d+$/)
  })

  test("pipelines/own-service.ts, with a client of a service of another shape, which is busy at times", function* () {
    const folder = yield* recipesFolder
    const service = yield* Labeling.make()
    const env = { LABELING_URL: service.url, LABELING_KEY: Labeling.apiKey }
    const said = yield* ran(folder, [bin, "run", "pipelines/own-service.ts", "--json", ...quick], env).pipe(ends(0))
    assert.deepStrictEqual([reportOf(said).submitted, reportOf(said).dataset?.rows], [72, 144])
    assert.isAbove(service.refusals(), 0)
    const orders = service.orders()
    assert.strictEqual(new Set(orders.map(({ name }) => name)).size, orders.length)
    for (const { key, name } of orders) assert.match(String(key), new RegExp(`^${name}-[0-9a-f]{8}$`))
    for (const { chosen, rationale, rejected } of yield* pairsOf(`${folder}/own-service`)) {
      assert.isAtMost(chosen.length, rejected.length)
      assert.strictEqual(rationale, "The shortest.")
    }
  })

  test("pipelines/own-service.ts, killed between a request and its answer: that task is in doubt, and none is paid for twice", function* () {
    const folder = yield* recipesFolder
    const service = yield* Labeling.make(2)
    yield* write(`${folder}/small.ts`, [
      'import recipe from "./pipelines/own-service.ts"',
      "export default { ...recipe, batch: { maxPrompts: 6, maxBytes: 1_000_000 } }",
    ])
    // One at a time: with more, another task may be claimed that the service never gets.
    const args = [bin, "run", "small.ts", "--json", ...quick, "--concurrency", "1"]
    const env = { LABELING_URL: service.url, LABELING_KEY: Labeling.apiKey }
    const { child, ended } = startSources(args, { cwd: folder, env })
    yield* Effect.promise(() => Promise.race([until("the third order", () => service.orders().length >= 3), ended]))
    child.kill("SIGKILL")
    assert.strictEqual((yield* Effect.promise(() => ended)).signal, "SIGKILL")
    const said = yield* ran(folder, args, env).pipe(ends(4))
    assert.isAtLeast(reportOf(said).tasks.in_doubt.tasks, 1)
    const texts = service.orders().flatMap(({ questions }) => questions.map(({ text }) => text))
    assert.lengthOf(texts, 72)
    assert.strictEqual(new Set(texts).size, 72)
  })

  test("pipelines/promises.ts, as a program without Effect", function* () {
    const folder = yield* recipesFolder
    const said = yield* ran(folder, ["pipelines/promises.ts"])
    assert.deepStrictEqual([said.status, said.stdout], [0, "done: 20 pairs, 20 with a number chosen\n"], said.stderr)
  })

  test("pipelines/webhooks.ts, which verifies webhooks on its own", function* () {
    const env = { WEBHOOK_SECRET: secret, PORT: String(yield* freePort) }
    const { child, ended } = startSources(["pipelines/webhooks.ts"], { cwd: root, env })
    const seconds = Math.floor(Date.now() / 1000)
    const sent = (body: string, signedBody = body) =>
      send(`http://127.0.0.1:${env.PORT}/webhook`, {
        body,
        headers: {
          "x-timestamp": String(seconds),
          "x-signature": createHmac("sha256", secret).update(`${seconds}.${signedBody}`).digest("hex"),
        },
      })
    const { status } = yield* sent("hello").pipe(
      Effect.retry(Schedule.spaced("50 millis")),
      Effect.timeout("30 seconds"),
    )
    assert.strictEqual(status, 204)
    assert.strictEqual((yield* sent("forged", "other")).status, 401)
    child.kill()
    assert.strictEqual((yield* Effect.promise(() => ended)).stdout, `sent at ${seconds}: hello\n`)
  })

  test("pipelines/nightly.ts, which writes the dataset once a webhook has told of the result", function* () {
    const folder = yield* recipesFolder
    const fs = yield* FileSystem.FileSystem
    yield* fs.makeDirectory(`${folder}/items`)
    yield* write(`${folder}/items/today.jsonl`, itemLines(3))
    let isJudged = false
    const service = yield* ScriptedService.except(
      (request) => !isJudged && !ScriptedService.isPost(request) && ScriptedService.pending(request),
    )
    const env = {
      PREFSTREAM_BASE_URL: service.baseUrl,
      PREFSTREAM_TOKEN: service.token,
      PREFSTREAM_WEBHOOK_SECRET: secret,
      WEBHOOK_PORT: "0",
    }
    const { child, ended, says } = startSources(["pipelines/nightly.ts", "--now"], { cwd: folder, env })
    const [, url = ""] = /webhooks are received at (http:\S+)/.exec(
      yield* Effect.promise(() => says(/webhooks are received at http:\S+/)),
    )!
    isJudged = true
    assert.strictEqual((yield* send(url, signed(completed(["task_0"])))).status, 204)
    yield* Effect.promise(() => says(/the dataset has 3 pairs/))
    assert.lengthOf(yield* pairsOf(`${folder}/nightly`), 3)
    child.kill("SIGTERM")
    yield* Effect.promise(() => ended)
  })
})
