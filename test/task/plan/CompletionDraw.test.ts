import { assert, describe, it } from "@effect/vitest"
import type { PromptItem } from "../../../src/domain/PromptItem.ts"
import * as CompletionDraw from "../../../src/task/plan/CompletionDraw.ts"
import { identify, newTasks } from "../../../src/task/plan/TaskRequests.ts"

const origin = { file: "memory", line: 1 }
const models = Array.from({ length: 227 }, (_, i) => `model-${i}`)

const itemOf = (id: string, more: Partial<PromptItem> = {}): PromptItem => ({
  id,
  prompt: `prompt ${id}`,
  completions: models.map((model) => `${id} by ${model}`),
  models,
  ...more,
})

const drawn = (options: CompletionDraw.DrawOptions, item: PromptItem) =>
  CompletionDraw.make(options)(identify({ item, origin })).item

describe("CompletionDraw.make", () => {
  // 805 items of 227 models, 4 of each: 14.2 draws a model. Within four standard deviations of a binomial distribution.
  it("draws each model about as often, and each completion with its model", () => {
    const counts = new Map(models.map((model) => [model, 0]))
    for (let i = 0; i < 805; i++) {
      const { completions, models: chosen = [] } = drawn({ completionsPerItem: 4 }, itemOf(`item-${i}`))
      assert.deepStrictEqual(
        completions,
        chosen.map((model) => `item-${i} by ${model}`),
      )
      assert.strictEqual(new Set(chosen).size, 4)
      for (const model of chosen) counts.set(model, counts.get(model)! + 1)
    }
    const mean = (805 * 4) / 227
    const deviation = Math.sqrt(805 * (4 / 227) * (1 - 4 / 227))
    for (const [model, often] of counts) assert.approximately(often, mean, 4 * deviation, model)
    const variance = [...counts.values()].reduce((sum, often) => sum + (often - mean) ** 2, 0) / 226
    assert.approximately(Math.sqrt(variance), deviation, deviation / 4)
  })

  it("follows from the seed, the item's id and the models' names, in whatever order these stand", () => {
    const modelsOf = (options: CompletionDraw.DrawOptions, item = itemOf("a")) =>
      drawn(options, item).models?.toSorted()
    const four = modelsOf({ completionsPerItem: 4 })
    const turned = itemOf("a", {
      models: models.toReversed(),
      completions: models.toReversed().map((model) => `a by ${model}`),
    })
    assert.deepStrictEqual(modelsOf({ completionsPerItem: 4 }, turned), four)
    assert.notDeepEqual(modelsOf({ completionsPerItem: 4, completionsSeed: 1 }), four)
    assert.notDeepEqual(modelsOf({ completionsPerItem: 4 }, itemOf("b")), four)
    assert.includeMembers([...(modelsOf({ completionsPerItem: 6 }) ?? [])], [...(four ?? [])])
  })

  it("keeps the gold completion, and takes no text twice while there are others", () => {
    for (let gold = 0; gold < 12; gold++) {
      const completions = Array.from({ length: 12 }, (_, i) => (i < 10 ? "same" : `other ${i}`))
      const { completions: two, gold: kept } = drawn(
        { completionsPerItem: 2 },
        { id: `${gold}`, prompt: "p", completions, gold: { best_completion_index: gold, rationale: "r" } },
      )
      assert.strictEqual(new Set(two).size, 2)
      assert.strictEqual(two[kept!.best_completion_index], completions[gold])
      assert.strictEqual(kept?.rationale, "r")
    }
    const few = drawn({ completionsPerItem: 4 }, { prompt: "p", completions: ["a", "a", "a", "a", "b"] })
    assert.deepStrictEqual(few.completions.toSorted(), ["a", "a", "a", "b"])
  })

  it("draws no blank completion while there are others", () => {
    for (let i = 0; i < 12; i++) {
      const completions = ["one", "", "two", " ", "one", "three"]
      const { completions: four } = drawn({ completionsPerItem: 4 }, { id: `${i}`, prompt: "p", completions })
      assert.includeMembers([...four], ["one", "two", "three"])
      assert.strictEqual(four.filter((text) => text.trim() === "").length, 1)
    }
  })

  it("takes lists that are known to follow the completions along, and says which were drawn", () => {
    const completions = Array.from({ length: 5 }, (_, i) => `completion ${i}`)
    const metadata = {
      score: [0, 1, 2, 3, 4],
      tags: ["a", "b", "c", "d", "e"],
      deep: [{ of: ["0", "1", "2", "3", "4"] }],
    }
    const whole = identify({
      item: { prompt: "p", completions, metadata },
      origin,
      completionOrigins: completions.map((_, i) => ({ file: "f", line: i + 1 })),
      completionLists: [["score"], ["deep", 0, "of"], ["absent"]],
    })
    const { completionOrigins, item } = CompletionDraw.make({ completionsPerItem: 3 })(whole)
    const indices = item.completions.map((completion) => completions.indexOf(completion))
    assert.deepStrictEqual(item.metadata, {
      score: indices,
      tags: metadata.tags,
      deep: [{ of: indices.map(String) }],
      drawn_completions: indices,
    })
    assert.deepStrictEqual(
      completionOrigins?.map(({ line }) => line),
      indices.map((i) => i + 1),
    )
  })

  it("leaves an item its identity, and gives another task another key", () => {
    const whole = identify({ item: itemOf("a"), origin })
    const [four, five] = [4, 5].map((n) => CompletionDraw.make({ completionsPerItem: n })(whole))
    assert.deepStrictEqual([four!.itemId, four!.contentHash], [whole.itemId, whole.contentHash])
    assert.notStrictEqual(newTasks([four!], {})[0]!.idempotencyKey, newTasks([five!], {})[0]!.idempotencyKey)
    const untouched = identify({ item: itemOf("a", { completions: ["x", "y"], models: ["m", "n"] }), origin })
    assert.strictEqual(CompletionDraw.make({ completionsPerItem: 2 })(untouched), untouched)
  })
})
