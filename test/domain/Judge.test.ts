import { assert, it } from "@effect/vitest"
import * as Judge from "../../src/domain/Judge.ts"

it("who judged is told apart by name: people, rules, gold files, language models", () => {
  const judges = Judge.judgesOf(["expert_1", "longest", "judge:qwen2.5:7b", "gold:b.jsonl", "Ann", "gold:a.jsonl"])
  assert.deepStrictEqual(judges, {
    people: 2,
    rules: ["longest"],
    gold_files: ["a.jsonl", "b.jsonl"],
    models: ["qwen2.5:7b"],
  })
  assert.strictEqual(
    Judge.describe(judges),
    "2 experts, the rule `longest`, the gold files `a.jsonl` and `b.jsonl` and the language model `qwen2.5:7b`",
  )
  assert.strictEqual(Judge.describe(Judge.judgesOf([])), "")
})
