import { assert, describe } from "@effect/vitest"
import { FileSystem } from "effect"
import { cli, cliServed, ends, folderWithItems, quick, reportOf } from "../support/cli.ts"
import { pairsOf } from "../support/datasetReaders.ts"
import { test } from "../support/job.ts"
import * as JudgeStub from "../support/judgeStub.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { traces } from "../support/traces.ts"

const key = "sk-5e8c2f-A-KEY-THAT-NOBODY-MAY-SEE"

const items = (n: number) =>
  Array.from({ length: n }, (_, i) => ({
    id: `item-${i}`,
    prompt: `prompt ${i}`,
    completions: [`short ${i}`, `much longer ${i}`, "x"],
  }))

const length = JudgeStub.byValue((completion) => completion.length)

const refusing = ScriptedService.make((request) => {
  const question = JudgeStub.questionOf(request)
  return question.prompt === "prompt 1" ? JudgeStub.says("Hm.") : JudgeStub.verdict(length(question))
})

const withKey = { PREFSTREAM_JUDGE_API_KEY: key }

describe("run --expert judge:MODEL", () => {
  test("asks the endpoint about each pair in both orders, and makes pairs of what it prefers", function* () {
    const job = yield* folderWithItems(items(5))
    const model = yield* JudgeStub.make(length)
    const args = ["run", `${job}/items.jsonl`, "--dir", job, "--json", "--guidelines", "Prefer the longer."]
    const said = yield* cli([...args, "--expert", "judge:org/model", "--judge-base-url", model.baseUrl], withKey).pipe(
      ends(0),
    )
    assert.deepStrictEqual(reportOf(said).tasks.completed, { tasks: 1, items: 5 })
    const pairs = yield* pairsOf(job)
    assert.strictEqual(pairs.length, 10)
    for (const pair of pairs) {
      assert.strictEqual(pair.chosen_index, 1)
      assert.match(pair.rationale ?? "", /Because of: much longer/)
    }
    // Three pairs of completions for each item.
    assert.strictEqual(model.received.length, 5 * 6)
    for (const request of model.received) {
      assert.strictEqual(request.headers.authorization, `Bearer ${key}`)
      assert.strictEqual(JSON.parse(request.body).model, "org/model")
      assert.strictEqual(JudgeStub.questionOf(request).guidelines, "Prefer the longer.")
    }
  })

  test("goes by the template, the concurrency and the further members that are given", function* () {
    const job = yield* folderWithItems(items(1))
    yield* (yield* FileSystem.FileSystem).writeFileString(`${job}/template.txt`, "Which?\n{prompt}\n{completions}")
    const model = yield* JudgeStub.make(length)
    yield* cli(
      `run ${job}/items.jsonl --dir ${job} --expert judge:m --judge-template ${job}/template.txt`
        .concat(" --judge-concurrency 1 --judge-disagreement abstain")
        .split(" ")
        .concat("--judge-body", '{"max_tokens": 50, "temperature": null}'),
      { PREFSTREAM_JUDGE_BASE_URL: model.baseUrl },
    ).pipe(ends(0))
    for (const request of model.received) {
      assert.match(JudgeStub.questionOf(request).user, /^Which\?\n<prompt-/)
      assert.isUndefined(request.headers.authorization)
      const { max_tokens, temperature } = JSON.parse(request.body)
      assert.deepStrictEqual([max_tokens, temperature], [50, undefined])
    }
  })

  test("asks the next expert where a judge has no answer", function* () {
    const job = yield* folderWithItems(items(3))
    const model = yield* refusing
    const args = ["run", `${job}/items.jsonl`, "--dir", job, "--expert", "judge:m", "--expert", "shortest"]
    yield* cli([...args, "--judge-base-url", model.baseUrl]).pipe(ends(0))
    const chosen = (yield* pairsOf(job)).map(({ chosen_index, item_id }) => `${item_id}: ${chosen_index}`)
    assert.sameMembers([...new Set(chosen)], ["item-0: 1", "item-1: 2", "item-2: 1"])
  })
})

test("a prompt without a usable answer is left out, and takes no other prompt of its task with it", function* () {
  const job = yield* folderWithItems(items(3))
  const model = yield* refusing
  const args = ["run", `${job}/items.jsonl`, "--dir", job, "--expert", "judge:m", "--judge-base-url", model.baseUrl]
  const { stderr } = yield* cli(args).pipe(ends(0))
  assert.sameMembers([...new Set((yield* pairsOf(job)).map(({ item_id }) => item_id))], ["item-0", "item-2"])
  assert.match(
    stderr,
    /has fewer votes: more votes are needed on 1 of 3 prompts, .*; these prompts are completed with fewer votes/,
  )
  assert.notMatch(stderr, /cancelled|asks the automatic experts again/)
})

describe("what judges cost", () => {
  test("is shown by run and status with --judge-price alone; a rerun in another folder pays nothing", function* () {
    const job = yield* folderWithItems(items(1))
    const model = yield* JudgeStub.make(length)
    const run = (folder: string, more: ReadonlyArray<string> = []) =>
      cli(["run", `${job}/items.jsonl`, "--dir", folder, "--expert", "judge:m", "--judge-price", "m=1/2", ...more], {
        PREFSTREAM_JUDGE_BASE_URL: model.baseUrl,
      }).pipe(ends(0))
    // 600 tokens at 1 and 60 at 2 per million.
    const row = /judges +m: 6 requests, 660 tokens, 0\.00072/
    assert.match((yield* run(job)).stdout, row)
    assert.match((yield* cli(["status", "--dir", job]).pipe(ends(0))).stdout, row)
    const { stdout } = yield* cli(["status", "--dir", job, "--json"]).pipe(ends(0))
    const paid = { model: "m", requests: 6, prompt_tokens: 600, completion_tokens: 60, cost: "0.00072" }
    assert.deepStrictEqual(JSON.parse(stdout).judges, [paid])
    assert.match((yield* run(`${job}/again`, ["--judge-cache", `${job}/judge-answers.db`])).stdout, row)
    assert.strictEqual(model.received.length, 6)
  })
})

test("serve --expert judge:MODEL keeps the key out of what it prints and stores, at any log level, and the answers in", function* () {
  const folder = yield* folderWithItems(items(4))
  // At first the endpoint refuses and repeats the key; then it prefers whatever stands first.
  const model = yield* ScriptedService.make((_, before) =>
    before.length === 0
      ? { status: 503, headers: { "retry-after": "0" }, body: { error: { message: `no room for ${key}` } } }
      : JudgeStub.verdict("A", "The first is better."),
  )
  const args = ["--database", `${folder}/service.db`, "--expert", "judge:m", "--log-level", "all"]
  const { env, service } = yield* cliServed(args, "a-token", {
    ...withKey,
    PREFSTREAM_JUDGE_BASE_URL: model.baseUrl,
  })
  const submitted = yield* cli(["run", `${folder}/items.jsonl`, "--dir", `${folder}/job`, "--json", ...quick], env)
  // What stands first in both orders is a tie, so that there is no pair.
  assert.strictEqual(submitted.status, 7, submitted.stderr)
  const { stderr, stdout } = yield* service.stop()
  assert.include(model.received[0]!.headers.authorization ?? "", key)
  assert.notInclude(stdout + stderr, key)
  const found = traces(folder)
  for (const [place, text] of found) assert.isFalse(text.includes(key), place)
  // The results, with both answers of each pair.
  assert.isNotEmpty(found.filter(([, text]) => /"consistent":false/.test(text) && /judge:m/.test(text)))
})
