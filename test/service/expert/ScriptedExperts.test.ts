import { NodeServices } from "@effect/platform-node"
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem, Layer, Option } from "effect"
import * as Conversation from "../../../src/domain/Conversation.ts"
import type { JudgeVote } from "../../../src/service/expert/Expert.ts"
import * as Expert from "../../../src/service/expert/ScriptedExperts.ts"
import { temporaryFile } from "../support.ts"
import { testOver } from "../../support/effectTest.ts"

const test = testOver(NodeServices.layer)

const judge = (expert: Expert.Expert, prompt: string, completions: ReadonlyArray<string>) =>
  Effect.map(expert.judge({ prompt, completions }, undefined), Option.getOrUndefined)

const vote = (best_completion_index: number, rationale: string): JudgeVote => ({ best_completion_index, rationale })

describe("rules", () => {
  const cases: ReadonlyArray<readonly [Expert.Expert, ReadonlyArray<string>, JudgeVote]> = [
    [Expert.first, ["b", "a"], vote(0, "First of 2 completions.")],
    [Expert.last, ["b", "a", "c"], vote(2, "Last of 3 completions.")],
    [Expert.longest, ["aa", "bbb", "ccc"], vote(1, "Longest of 3 completions (3 characters).")],
    [Expert.shortest, ["bbb", "cc", "dd"], vote(1, "Shortest of 3 completions (2 characters).")],
    // Three characters, though six code units.
    [Expert.longest, ["😀😀😀", "four"], vote(1, "Longest of 2 completions (4 characters).")],
    [Expert.shortest, ["four", "😀😀😀"], vote(1, "Shortest of 2 completions (3 characters).")],
  ]
  for (const [expert, completions, expected] of cases) {
    testOver(Layer.empty)(`${expert.name} of ${JSON.stringify(completions)}`, function* () {
      assert.deepStrictEqual(yield* judge(expert, "p", completions), expected)
    })
  }

  testOver(Layer.empty)("random answers the same question alike, and uses every index", function* () {
    const prompts = Array.from({ length: 200 }, (_, i) => `prompt ${i}`)
    const ask = Effect.forEach(prompts, (prompt) => judge(Expert.random, prompt, ["a", "b", "c"]))
    const votes = yield* ask
    assert.deepStrictEqual(yield* ask, votes)
    const counts = [0, 1, 2].map((index) => votes.filter((vote) => vote?.best_completion_index === index).length)
    assert.isTrue(
      counts.every((count) => count > 30),
      `drawn ${counts.join(", ")} times`,
    )
  })
})

const goldFile = Effect.fnUntraced(function* (lines: ReadonlyArray<unknown>) {
  const file = yield* temporaryFile("gold.jsonl")
  const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n")
  yield* (yield* FileSystem.FileSystem).writeFileString(file, text)
  return file
})

const goldOf = (...records: ReadonlyArray<unknown>) =>
  Effect.flatMap(Effect.orDie(goldFile(records)), (file) => Expert.gold(file))

describe("gold", () => {
  test("follows the text of the best completion, whatever the order", function* () {
    const file = yield* goldFile([
      { prompt: "p", completions: ["a", "b", "c"], gold: { best_completion_index: 2, rationale: "c is right" } },
      "",
      { id: "2", prompt: "p2", completions: ["a", "b"], gold: { best_completion_index: 0 }, metadata: { any: [1] } },
    ])
    const gold = yield* Expert.parse(`gold:${file}`)
    assert.deepStrictEqual(yield* judge(gold, "p", ["a", "b", "c"]), vote(2, "c is right"))
    assert.deepStrictEqual(yield* judge(gold, "p", ["c", "a", "b"]), vote(0, "c is right"))
    assert.strictEqual((yield* judge(gold, "p2", ["b", "a"]))?.best_completion_index, 1)
  })

  test("knows a conversation by the text that is sent of it", function* () {
    const prompt = [
      { role: "system", content: "" },
      { role: "user", content: "[a]\n\n[b]\n" },
    ] as const
    const gold = yield* goldOf({ prompt, completions: ["a", "b"], gold: { best_completion_index: 1 } })
    assert.strictEqual((yield* judge(gold, Conversation.render(prompt), ["b", "a"]))?.best_completion_index, 0)
    assert.isUndefined(yield* judge(gold, "[a]\n\n[b]\n", ["a", "b"]))
  })

  test("reads any format and layout of the input, such as a JSON array of two outputs with a label", function* () {
    const row = { input: "p", output_1: "a", output_2: "b", label: 2 }
    const gold = yield* goldOf([row, { ...row, input: "q", label: 1 }])
    assert.strictEqual((yield* judge(gold, "p", ["b", "a"]))?.best_completion_index, 0)
    assert.strictEqual((yield* judge(gold, "q", ["b", "a"]))?.best_completion_index, 1)
  })

  test("tells records of one prompt apart by their completions", function* () {
    const gold = yield* goldOf(
      { prompt: "p", completions: ["a", "b"], gold: { best_completion_index: 0 } },
      { prompt: "p", completions: ["a", "c"], gold: { best_completion_index: 1 } },
      { prompt: "p", completions: ["a", "d"] },
    )
    assert.strictEqual((yield* judge(gold, "p", ["b", "a"]))?.best_completion_index, 1)
    assert.strictEqual((yield* judge(gold, "p", ["a", "c"]))?.best_completion_index, 1)
    assert.isUndefined(yield* judge(gold, "p", ["a", "d"]), "no gold")
    assert.isUndefined(yield* judge(gold, "p", ["b", "c"]), "never weighed against each other")
    assert.isUndefined(yield* judge(gold, "q", ["a", "b"]), "another prompt")
  })

  test("takes the same answer twice, but not another one", function* () {
    const record = { prompt: "p", completions: ["a", "b"], gold: { best_completion_index: 0 } }
    yield* goldOf(record, record)
    const file = yield* goldFile([record, { ...record, gold: { best_completion_index: 1 } }])
    const error = yield* Effect.flip(Expert.gold(file))
    assert.deepStrictEqual([error.file, error.line], [file, 2])
    assert.include(error.problem, "gold.best_completion_index")
  })

  const good = { prompt: "p", completions: ["a", "b"], gold: { best_completion_index: 0 } }
  const bad: ReadonlyArray<readonly [name: string, line: unknown, field: string]> = [
    ["not JSON", "{", ""],
    ["no completions", { prompt: "p" }, "completions"],
    ["an index that is no number", { ...good, gold: { best_completion_index: "0" } }, "gold.best_completion_index"],
    ["an index out of range", { ...good, gold: { best_completion_index: 2 } }, "gold.best_completion_index"],
    ["a rationale that is no text", { ...good, gold: { best_completion_index: 0, rationale: 1 } }, "gold.rationale"],
  ]
  for (const [name, line, field] of bad) {
    test(`stops at ${name}`, function* () {
      const file = yield* goldFile([good, line])
      const error = yield* Effect.flip(Expert.gold(file))
      assert.strictEqual(error.line, 2)
      assert.isTrue(error.problem.startsWith(field), error.problem)
      assert.isTrue(error.message.startsWith(`gold file ${file}:2: `), error.message)
    })
  }

  test("stops at a file that isn't there, or has no answer", function* () {
    const missing = yield* Effect.flip(Expert.gold("no/such/file.jsonl"))
    assert.include(missing.message, "no/such/file.jsonl")
    const { gold: _, ...question } = good
    const empty = yield* Effect.flip(goldOf(question))
    assert.strictEqual(empty.problem, "no record has a gold answer")
  })
})

test("experts are known by their exact names", function* () {
  for (const name of ["first", "last", "longest", "shortest", "random"]) {
    assert.strictEqual((yield* Expert.parse(name)).name, name)
  }
  for (const name of ["", "gold:", "judge:", "Longest", "constructor", "__proto__"]) {
    const error = yield* Effect.flip(Expert.parse(name))
    assert.strictEqual(error._tag, "UnknownExpert")
    assert.include(error.message, "gold:FILE, first, last, longest, shortest, random, judge:MODEL")
  }
})
