/** What holds for every strategy, whatever the completions and the experts' ranking are. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { Judgment } from "../../src/domain/Judgment.ts"
import { bestAgainstOne, bestAgainstRest, fullRanking } from "../../src/pair/PairStrategy.ts"

interface Case {
  readonly texts: ReadonlyArray<string>
  readonly groups: ReadonlyArray<ReadonlyArray<number>>
  readonly isRanked: boolean
}

const cases: fc.Arbitrary<Case> = fc.integer({ min: 2, max: 7 }).chain((k) => {
  return fc.record({
    // Few texts, so that some are equal, and some blank.
    texts: fc.array(fc.constantFrom("a", "b", "c", "d", "e", "", " "), { minLength: k, maxLength: k }),
    groups: fc
      .record({
        order: fc.shuffledSubarray([...Array(k).keys()], { minLength: k, maxLength: k }),
        ends: fc.array(fc.boolean(), { minLength: k, maxLength: k }),
      })
      .map(({ ends, order }) =>
        order.reduce<Array<Array<number>>>(
          (groups, index, i) =>
            i === 0 || ends[i]! ? [...groups, [index]] : [...groups.slice(0, -1), [...groups.at(-1)!, index]],
          [],
        ),
      ),
    isRanked: fc.boolean(),
  })
})

const judgmentOf = ({ groups, isRanked, texts }: Case): Judgment => ({
  taskId: "task",
  itemId: "item",
  prompt: "p",
  models: undefined,
  completions: texts,
  bestCompletionIndex: groups[0]![0]!,
  annotations: isRanked ? { ranking: groups } : {},
  metadata: undefined,
  gold: undefined,
  isCheck: false,
  origin: { file: "f", line: 1 },
  vote: 1,
  order: [0, 1, 2],
})

const isText = (text: string) => text.trim() !== ""

/** All pairs of texts, by an independent count: the better one has a completion in an earlier group than all of the other's. */
const countOf = ({ groups, isRanked, texts }: Case, isBetter: (text: string) => boolean) => {
  const rankOf = (index: number) =>
    isRanked ? groups.findIndex((group) => group.includes(index)) : index === groups[0]![0] ? 0 : 1
  const rankOfText = (text: string) => Math.min(...texts.flatMap((other, i) => (other === text ? [rankOf(i)] : [])))
  const distinct = [...new Set(texts)].filter(isText)
  return distinct.flatMap((a) => distinct.filter((b) => isBetter(a) && rankOfText(a) < rankOfText(b))).length
}

describe("each strategy", () => {
  for (const [name, strategy, pairsOf] of [
    ["bestAgainstRest", bestAgainstRest, (one: Case) => countOf(one, (text) => text === one.texts[one.groups[0]![0]!])],
    [
      "bestAgainstOne",
      bestAgainstOne(7),
      (one: Case) =>
        Math.min(
          1,
          countOf(one, (text) => text === one.texts[one.groups[0]![0]!]),
        ),
    ],
    ["fullRanking", fullRanking, (one: Case) => countOf(one, () => true)],
  ] as const) {
    it(`${name} makes as many pairs as its formula says, which share a weight of 1`, () => {
      fc.assert(
        fc.property(cases, (one) => {
          const pairs = strategy(judgmentOf(one))
          assert.strictEqual(pairs.length, pairsOf(one))
          if (pairs.length > 0)
            assert.approximately(
              pairs.reduce((sum, { weight }) => sum + weight, 0),
              1,
              1e-12,
            )
          for (const { chosen, chosen_index, rejected, rejected_index } of pairs) {
            assert.deepStrictEqual([one.texts[chosen_index], one.texts[rejected_index]], [chosen, rejected])
          }
        }),
      )
    })
  }

  const plain = judgmentOf({ texts: ["a", "b", "c"], groups: [[1]], isRanked: false })

  it("bestAgainstRest pairs the best with each of the rest, in order, with all columns", () => {
    const judgment: Judgment = {
      ...plain,
      models: ["small", "large", "small"],
      annotations: { rationale: "b is right" },
      metadata: { subject: "maths" },
    }
    const common = {
      prompt: "p",
      chosen: "b",
      rationale: "b is right",
      item_id: "item",
      task_id: "task",
      chosen_index: 1,
      chosen_model: "large",
      rejected_model: "small",
      weight: 0.5,
      votes: 1,
      agreement: null,
      vote_margin: null,
      decided_votes: null,
      strength: null,
      all_bad: null,
      aspects: null,
      edited: null,
      flags: null,
      metadata: '{"subject":"maths"}',
    }
    assert.deepStrictEqual(bestAgainstRest(judgment), [
      { ...common, rejected: "a", rejected_index: 0 },
      { ...common, rejected: "c", rejected_index: 2 },
    ])
  })

  it("leaves null what is not there", () => {
    for (const annotations of [{}, { rationale: " " }]) {
      assert.deepInclude(bestAgainstRest({ ...plain, annotations })[0], { rationale: null, metadata: null })
    }
  })

  it("bestAgainstOne draws each of the rest about equally often, and by its seed alone", () => {
    const judgment = judgmentOf({ texts: ["best", "b", "c", "d"], groups: [[0]], isRanked: false })
    const drawn = (seed: number) =>
      Array.from({ length: 300 }, (_, i) => bestAgainstOne(seed)({ ...judgment, itemId: `item ${i}` })[0]!.rejected)
    const counts = ["b", "c", "d"].map((text) => drawn(1).filter((rejected) => rejected === text).length)
    // Of 300 draws each is expected 100 times, with a standard deviation of 8.2.
    for (const count of counts) assert.approximately(count, 100, 41)
    assert.deepStrictEqual(drawn(1), drawn(1))
    assert.notDeepEqual(drawn(1), drawn(2))
  })

  it("a ranking that does not fit counts as none", () => {
    const fits = judgmentOf({ texts: ["a", "b", "c"], groups: [[0], [1], [2]], isRanked: true })
    for (const ranking of [[[0], [1, 1]], [[0], [3]], [[1], [0]], [], [[0], []], "a > b"]) {
      const pairs = fullRanking({ ...fits, annotations: { ranking } })
      assert.strictEqual(pairs.map(({ rejected }) => rejected).join(), "b,c")
    }
  })
})
