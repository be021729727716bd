import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { check, defaultLimits } from "../../../src/service/http/RequestLimits.ts"
import { testOver } from "../../support/effectTest.ts"

const test = testOver(Layer.empty)

const limits = { ...defaultLimits, promptCharacters: 10, completionCharacters: 20, guidelinesCharacters: 30 }

type Request = Parameters<typeof check>[0]

const request = (changes: Partial<Request>): Request => ({
  task_type: "rlhf_ranking",
  prompts: [{ prompt: "p", completions: ["a", "b"] }],
  ...changes,
})
const found = (changes: Partial<Request>) =>
  Effect.map(Effect.flip(check(request(changes), limits)), ({ detail, errors }) => ({ detail, errors }))

test("takes texts up to their limits, and empty completions", function* () {
  const prompts = [{ prompt: "p".repeat(10), completions: ["c".repeat(20), "😀".repeat(20), ""] }]
  yield* check(request({ prompts, guidelines: "g".repeat(30) }), limits)
})

test("names place, limit and what was found", function* () {
  const prompts = [
    { prompt: "p", completions: ["a", "b"] },
    { prompt: "p".repeat(11), completions: ["a", "b", "c".repeat(21)] },
  ]
  const { detail, errors } = yield* found({ prompts, guidelines: "g".repeat(31) })
  assert.deepStrictEqual(errors, [
    { path: ["guidelines"], message: "expected at most 30 characters, found 31" },
    { path: ["prompts", 1, "prompt"], message: "expected at most 10 characters, found 11" },
    { path: ["prompts", 1, "completions", 2], message: "expected at most 20 characters, found 21" },
  ])
  assert.strictEqual(detail, "guidelines: expected at most 30 characters, found 31")
})

test("refuses lone surrogates wherever they stand", function* () {
  const lone = "a\ud800b"
  const { errors } = yield* found({ guidelines: lone, prompts: [{ prompt: lone, completions: ["😀", lone] }] })
  assert.deepStrictEqual(
    errors?.map(({ path }) => path),
    [["guidelines"], ["prompts", 0, "prompt"], ["prompts", 0, "completions", 1]],
  )
  assert.include(errors?.[0]?.message, "lone surrogate")
})

test("refuses a group that no file or database could keep unchanged", function* () {
  for (const group of ["\ud800x", "x\udc00", "a\0b", "a\nb", "\u007f", "a\u0085"]) {
    const { detail, errors } = yield* found({ group })
    assert.deepStrictEqual(
      errors?.map(({ path }) => path),
      [["group"]],
    )
    assert.match(detail ?? "", /^group: expected .*, found a (lone surrogate|control character)$/)
  }
  for (const group of ["nightly 2026-01-02", "größe", "評価", "😀", "\u200d"]) yield* check(request({ group }), limits)
})

test("tells of the first hundred places", function* () {
  const prompts = Array.from({ length: 150 }, () => ({ prompt: " ", completions: ["a"] }))
  const { errors } = yield* found({ prompts })
  assert.lengthOf(errors!, 100)
})
