import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { cli, cliServed, quick, reportOf, write } from "../support/cli.ts"
import { jsonl } from "../support/datasetReaders.ts"
import { temporaryDirectory, test } from "../support/job.ts"
import * as JudgeStub from "../support/judgeStub.ts"
import { root } from "../support/process.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { traces } from "../support/traces.ts"

const sample = `${root}data/sample.jsonl`
const key = "sk-5e8c2f-A-KEY-THAT-NOBODY-MAY-SEE"

const items = (n: number) =>
  Array.from({ length: n }, (_, i) =>
    JSON.stringify({ id: `item-${i}`, prompt: `prompt ${i}`, completions: [`short ${i}`, `much longer ${i}`, "x"] }),
  )

const length = JudgeStub.byValue((completion) => completion.length)

const pairsOf = (job: string) => Effect.promise(() => jsonl(`${job}/dataset/jsonl/train-00000-of-00001.jsonl`))

const withKey = { PREFSTREAM_JUDGE_API_KEY: key }

describe("run --expert judge:MODEL", () => {
  test("asks the endpoint about each pair in both orders, and makes pairs of what it prefers", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, items(5))
      const model = yield* JudgeStub.make(length)
      const args = ["run", `${job}/items.jsonl`, "--dir", job, "--json", "--guidelines", "Prefer the longer."]
      const said = yield* cli([...args, "--expert", "judge:org/model", "--judge-base-url", model.baseUrl], withKey)
      assert.strictEqual(said.status, 0, said.stderr)
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
    }))

  test("goes by the template, the concurrency and the further members that are given", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, items(1))
      yield* (yield* FileSystem.FileSystem).writeFileString(`${job}/template.txt`, "Which?\n{prompt}\n{completions}")
      const model = yield* JudgeStub.make(length)
      const said = yield* cli(
        `run ${job}/items.jsonl --dir ${job} --expert judge:m --judge-template ${job}/template.txt`
          .concat(" --judge-concurrency 1 --judge-disagreement abstain")
          .split(" ")
          .concat("--judge-body", '{"max_tokens": 50, "temperature": null}'),
        { PREFSTREAM_JUDGE_BASE_URL: model.baseUrl },
      )
      assert.strictEqual(said.status, 0, said.stderr)
      for (const request of model.received) {
        assert.match(JudgeStub.questionOf(request).user, /^Which\?\n<prompt-/)
        assert.isUndefined(request.headers.authorization)
        const { max_tokens, temperature } = JSON.parse(request.body)
        assert.deepStrictEqual([max_tokens, temperature], [50, undefined])
      }
    }))

  test("asks the next expert where a judge has no answer", () =>
    Effect.gen(function* () {
      const job = yield* temporaryDirectory
      yield* write(`${job}/items.jsonl`, items(3))
      const model = yield* ScriptedService.make((request) =>
        JudgeStub.questionOf(request).prompt === "prompt 1"
          ? JudgeStub.says("I would rather not say.")
          : JudgeStub.verdict(length(JudgeStub.questionOf(request))),
      )
      const args = ["run", `${job}/items.jsonl`, "--dir", job, "--expert", "judge:m", "--expert", "shortest"]
      const said = yield* cli([...args, "--judge-base-url", model.baseUrl])
      assert.strictEqual(said.status, 0, said.stderr)
      const chosen = (yield* pairsOf(job)).map(({ chosen_index, item_id }) => `${item_id}: ${chosen_index}`)
      assert.sameMembers([...new Set(chosen)], ["item-0: 1", "item-1: 2", "item-2: 1"])
    }))

  const wrong: ReadonlyArray<readonly [what: string, args: ReadonlyArray<string>, message: RegExp]> = [
    ["no address", ["--expert", "judge:m"], /judge:m: set the address of its endpoint in PREFSTREAM_JUDGE_BASE_URL/],
    ["an address that is none", ["--expert", "judge:m", "--judge-base-url", "here"], /judge:m: expected a base URL/],
    ["no judge to ask", ["--judge-base-url", "http://host/v1"], /--judge-base-url requires --expert judge:MODEL/],
    [
      "further members that are no object",
      ["--expert", "judge:m", "--judge-body", "[]"],
      /--judge-body.*a JSON object/,
    ],
    ["no file of the template", ["--expert", "judge:m", "--judge-template", "absent.txt"], /absent\.txt/],
    [
      "a template without its placeholders",
      ["--expert", "judge:m", "--judge-base-url", "http://host/v1", "--judge-template", sample],
      /the template .* lacks \{prompt\} and \{completions\}/,
    ],
  ]
  for (const [what, args, message] of wrong) {
    test(`does not start with ${what}`, () =>
      Effect.gen(function* () {
        const job = yield* temporaryDirectory
        const said = yield* cli(["run", sample, "--dir", job, ...args])
        assert.deepStrictEqual([said.status, said.stdout], [2, ""], said.stderr)
        assert.match(said.stderr, message)
        assert.notMatch(said.stderr, /^\s+at /m)
      }))
  }
})

describe("serve --expert judge:MODEL", () => {
  test("keeps the key out of what it prints and stores, at any log level, and the answers in", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryDirectory
      yield* write(`${folder}/items.jsonl`, items(4))
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
    }))
})
