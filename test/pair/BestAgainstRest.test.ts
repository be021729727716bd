import { assert, describe, it } from "@effect/vitest"
import type { Judgment } from "../../src/domain/Judgment.ts"
import { bestAgainstRest } from "../../src/pair/PairStrategy.ts"

const judgment: Judgment = {
  taskId: "task_1",
  itemId: "item",
  prompt: "p",
  completions: ["a", "b", "c"],
  models: ["small", "large", "small"],
  bestCompletionIndex: 1,
  annotations: { rationale: "b is right" },
  metadata: { subject: "maths" },
  gold: undefined,
  isCheck: false,
  origin: { file: "f", line: 1 },
  vote: 1,
  order: [0, 1, 2],
}

describe("bestAgainstRest", () => {
  it("pairs the best with each of the rest, in order", () => {
    assert.deepStrictEqual(bestAgainstRest(judgment), [
      {
        prompt: "p",
        chosen: "b",
        rejected: "a",
        rationale: "b is right",
        item_id: "item",
        task_id: "task_1",
        chosen_index: 1,
        rejected_index: 0,
        chosen_model: "large",
        rejected_model: "small",
        weight: 0.5,
        votes: 1,
        agreement: null,
        vote_margin: null,
        strength: null,
        all_bad: null,
        aspects: null,
        edited: null,
        flags: null,
        metadata: '{"subject":"maths"}',
      },
      {
        prompt: "p",
        chosen: "b",
        rejected: "c",
        rationale: "b is right",
        item_id: "item",
        task_id: "task_1",
        chosen_index: 1,
        rejected_index: 2,
        chosen_model: "large",
        rejected_model: "small",
        weight: 0.5,
        votes: 1,
        agreement: null,
        vote_margin: null,
        strength: null,
        all_bad: null,
        aspects: null,
        edited: null,
        flags: null,
        metadata: '{"subject":"maths"}',
      },
    ])
  })

  it("makes no pair of equal texts", () => {
    const pairs = bestAgainstRest({ ...judgment, completions: ["b", "b", "c"] })
    assert.deepStrictEqual(
      pairs.map(({ chosen_index, rejected_index }) => [chosen_index, rejected_index]),
      [[1, 2]],
    )
  })

  it("makes no pair of completions that were ranked as equally good", () => {
    const rejected = (ranking: unknown) =>
      bestAgainstRest({ ...judgment, annotations: { ranking } }).map(({ rejected_index }) => rejected_index)
    assert.deepStrictEqual(rejected([[1, 0], [2]]), [2])
    assert.deepStrictEqual(rejected([[2, 1, 0]]), [])
    assert.deepStrictEqual(rejected([[1], [0, 2]]), [0, 2])
    assert.deepStrictEqual(rejected("b > a"), [0, 2])
  })

  it("leaves null what is not there", () => {
    assert.isNull(bestAgainstRest({ ...judgment, annotations: { rationale: " " } })[0]?.rationale)
    const [pair] = bestAgainstRest({ ...judgment, annotations: {}, metadata: undefined })
    assert.isNull(pair?.rationale)
    assert.isNull(pair?.metadata)
  })
})
