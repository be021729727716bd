import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { Judgment } from "../../../../src/domain/Judgment.ts"
import * as ResultMatch from "../../../../src/task/ledger/reads/ResultMatch.ts"
import { column, columns } from "../../../support/columns.ts"
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

/** One prompt, whose completions were sent in another order. */
const asked = {
  prompts: [{ prompt: "p", completions: ["a", "b", "c"] }],
  items: [{ item_id: "item", origin: { file: "f", line: 1 }, order: [2, 0, 1] }],
}

describe("ResultMatch.match", () => {
  it("joins results to their items, and keeps unknown annotations", () => {
    const judgments = match(
      "task_1",
      question(["p", "q"]),
      answer([item("p", 0), { ...item("q", 1), annotations: { rationale: "r", agreement: 0.7 }, extra: true }]),
    )
    assert.isTrue(Result.isSuccess(judgments))
    if (Result.isFailure(judgments)) return
    assert.deepStrictEqual(columns(judgments.success, "taskId", "itemId", "bestCompletionIndex"), [
      ["task_1", "item-0", 0],
      ["task_1", "item-1", 1],
    ])
    assert.deepStrictEqual(judgments.success[1]?.annotations, { rationale: "r", agreement: 0.7 })
  })

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

  it("tells choices of the completions as the input has them, in whatever order they were sent", () => {
    const asked = {
      prompts: [{ prompt: "p", completions: ["a", "b", "c"] }],
      items: [{ item_id: "item", origin: { file: "f", line: 1 }, order: [2, 0, 1], check: true as const }],
    }
    const votes = [{ expert: "e", choice: 0, order: [1, 0, 2], seconds: 1 }]
    const said = { ...item("p", 0), annotations: { ranking: [[0], [1, 2]], votes } }
    const [judgment] = Result.getOrThrow(match("task_1", asked, answer([said]), { vote: 2 }))
    assert.deepInclude(judgment, {
      bestCompletionIndex: 2,
      completions: ["a", "b", "c"],
      order: [2, 0, 1],
      vote: 2,
      isCheck: true,
    })
    assert.deepStrictEqual(judgment?.annotations, {
      ranking: [[2], [0, 1]],
      votes: [{ expert: "e", choice: 2, order: [0, 2, 1], seconds: 1 }],
    })
  })

  it("has ratings in the order of the input, of votes, too", () => {
    const aspects = { clarity: [1, null, 3], depth: 2, odd: [1] }
    const votes = [{ expert: "e", choice: 0, aspects }]
    const said = { ...item("p", 0), annotations: { aspects, votes } }
    const [judgment] = Result.getOrThrow(match("task_1", asked, answer([said])))
    const undone = { clarity: [null, 3, 1], depth: 2, odd: [1] }
    assert.deepStrictEqual(judgment?.annotations, {
      aspects: undone,
      votes: [{ expert: "e", choice: 2, aspects: undone }],
    })
  })

  it("keeps members of any name, wherever they are", () => {
    for (const name of Object.getOwnPropertyNames(Object.prototype)) {
      const own = (value: unknown): object => JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`)
      for (const value of ["text", 1, [2, 0], null, { x: 1 }]) {
        const votes = [{ expert: "e", choice: 0, ...own(value), aspects: own(value), details: own(value) }]
        const annotations = { rationale: "r", ...own(value), votes }
        const said = answer([{ ...item("p", 0), annotations }])
        const [judgment] = Result.getOrThrow(match("task_1", asked, said))
        assert.strictEqual(
          JSON.stringify(judgment?.annotations),
          JSON.stringify({ ...annotations, votes: [{ ...votes[0], choice: 2 }] }),
          name,
        )
      }
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

  it("matches by text where results come in another order", () => {
    const judgments = match("task_1", question(["p", "q", "r"]), answer([item("r", 1), item("p", 0), item("q", 1)]))
    assert.deepStrictEqual(columns(Result.getOrThrow(judgments), "prompt", "bestCompletionIndex"), [
      ["p", 0],
      ["q", 1],
      ["r", 1],
    ])
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
