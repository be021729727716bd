import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { Judgment } from "../../../../src/domain/Judgment.ts"
import * as ResultMatch from "../../../../src/task/ledger/reads/ResultMatch.ts"
import { column } from "../../../support/columns.ts"
import type { StoredRequest } from "../../../../src/task/ledger/schema/Model.ts"

/** Of results in which no prompt is withdrawn. */
const match = (...given: Parameters<typeof ResultMatch.match>) =>
  Result.map(ResultMatch.match(...given), (outcomes) =>
    outcomes.filter((outcome): outcome is Judgment => !("reason" in outcome)),
  )

const question = (prompts: ReadonlyArray<string>): Omit<StoredRequest, "body"> => ({
  prompts: prompts.map((prompt) => ({ prompt, completions: ["a", "b"] })),
  items: prompts.map((_, i) => ({ item_id: `item-${i}`, origin: { file: "f", line: i + 1 } })),
})

const answer = (results: ReadonlyArray<unknown>) => JSON.stringify({ task_id: "task_1", status: "completed", results })
const item = (prompt: string, index: number) => ({
  prompt,
  best_completion_index: index,
  annotations: { rationale: "r" },
})

describe("ResultMatch.match", () => {
  it("gives no judgment of a prompt that the service withdrew, but takes no missing choice without that", () => {
    const withdrawn = { prompt: "p", best_completion_index: null, annotations: { withdrawn: { by: "Lea" } } }
    assert.deepStrictEqual(Result.getOrThrow(ResultMatch.match("task_1", question(["p"]), answer([withdrawn]))), [
      { reason: "withdrawn", taskId: "task_1", itemId: "item-0", isCheck: false },
    ])
    for (const annotations of [undefined, null, {}, { withdrawn: false }, { withdrawn: "yes" }]) {
      const outcome = ResultMatch.match("task_1", question(["p"]), answer([{ ...withdrawn, annotations }]))
      assert.include(
        Result.getOrThrow(Result.flip(outcome)),
        "results[0].best_completion_index: expected 0 to 1, found null",
      )
    }
  })

  it("uses nothing of annotations that are not an object, and names a list of several", () => {
    const several = [{ rationale: "r" }, { rationale: "s" }]
    for (const [annotations, unread] of [
      [several, "annotations"],
      [[{ rationale: "r" }], undefined],
      [[], undefined],
      ["It is better.", undefined],
      [7, undefined],
      [null, undefined],
    ] as const) {
      const [judgment] = Result.getOrThrow(match("task_1", question(["p"]), answer([{ ...item("p", 1), annotations }])))
      assert.deepStrictEqual(judgment?.annotations, {})
      assert.deepStrictEqual([judgment?.bestCompletionIndex, judgment?.unread], [1, unread])
    }
  })

  it("reads a rationale that is no text as its JSON, and keeps the rest", () => {
    for (const [rationale, text] of [
      ["r", "r"],
      ["", ""],
      [null, null],
      [5, "5"],
      [false, "false"],
      [{ why: ["a"] }, '{"why":["a"]}'],
    ] as const) {
      const annotations = { rationale, agreement: 0.7 }
      const [judgment] = Result.getOrThrow(match("task_1", question(["p"]), answer([{ ...item("p", 1), annotations }])))
      assert.deepStrictEqual(judgment?.annotations, { rationale: text, agreement: 0.7 })
    }
  })

  it("takes no annotations of more than 100 levels, wherever they are, and names the place", () => {
    const of = (annotations: object, levels: number) => {
      const said = answer([item("o", 0), { ...item("p", 0), annotations }])
      return match("task_1", question(["o", "p"]), said.replace('"…"', "[".repeat(levels) + "]".repeat(levels)))
    }
    for (const levels of [101, 5_000]) {
      for (const annotations of [
        { rationale: "…" },
        { other: "…" },
        { flags: "…" },
        { votes: [{ expert: "e", choice: 0, details: { x: "…" } }] },
        { aspects: { x: "…" } },
      ]) {
        assert.strictEqual(
          Result.getOrThrow(Result.flip(of(annotations, levels))),
          "results[1].annotations: expected at most 100 levels of nesting, found more",
        )
      }
    }
    assert.isTrue(Result.isSuccess(of({ rationale: "…" }, 99)))
    const elsewhere = answer([{ ...item("p", 0), other: "…" }]).replace('"…"', "[".repeat(5_000) + "]".repeat(5_000))
    assert.isTrue(Result.isSuccess(match("task_1", question(["p"]), elsewhere)))
  })

  it("goes by position where a prompt occurs twice", () => {
    const judgments = match("task_1", question(["p", "p"]), answer([item("p", 0), item("p", 1)]))
    assert.deepStrictEqual(column(Result.getOrThrow(judgments), "bestCompletionIndex"), [0, 1])
  })

  const misfits: ReadonlyArray<readonly [name: string, prompts: ReadonlyArray<string>, body: string, reason: RegExp]> =
    [
      ["too few results", ["p", "q"], answer([item("p", 0)]), /expected 2 results, one per prompt, found 1/],
      ["too many results", ["p"], answer([item("p", 0), item("p", 0)]), /expected 1 result, one per prompt, found 2/],
      [
        "an index beyond the completions",
        ["p"],
        answer([item("p", 2)]),
        /results\[0\]\.best_completion_index: expected 0 to 1, found 2/,
      ],
      ["a negative index", ["p"], answer([item("p", -1)]), /expected 0 to 1, found -1/],
      [
        "another prompt",
        ["p", "q"],
        answer([item("p", 0), item("x", 0)]),
        /results\[1\]: expected the prompt "q", found "x"/,
      ],
      [
        "an unordered duplicate",
        ["p", "p", "q"],
        answer([item("q", 0), item("p", 0), item("p", 0)]),
        /results\[0\]: expected the prompt "p"/,
      ],
      ["no results", ["p"], JSON.stringify({ task_id: "task_1", status: "completed" }), /results/],
      [
        "a result without an index",
        ["p"],
        answer([{ prompt: "p" }]),
        /best_completion_index: expected a value, found nothing/,
      ],
      [
        "a label in place of an index",
        ["p"],
        answer([{ prompt: "p", best_completion_index: "B" }]),
        /results\[0\]\.best_completion_index: expected number or null, found "B" \(.*set `service\.choice`\)/,
      ],
      [
        "an index that is no integer",
        ["p"],
        answer([item("p", 0.5)]),
        /best_completion_index: expected an integer, found 0\.5/,
      ],
      ["no JSON", ["p"], '{"task_id":"task_1","status":"comp', /JSON/i],
    ]
  for (const [name, prompts, body, reason] of misfits) {
    it(`gives no judgment for ${name}, but a reason`, () => {
      const judgments = match("task_1", question(prompts), body)
      assert.isTrue(Result.isFailure(judgments))
      if (Result.isFailure(judgments)) assert.match(judgments.failure, reason)
    })
  }
})
