/** An evenly split jury: its result depends on votes alone, whatever the judges' names and their order are. */
import { assert, describe, it } from "@effect/vitest"
import * as Consensus from "../../../src/pair/votes/Consensus.ts"
import { votesOf } from "../../../src/pair/votes/ItemVotes.ts"
import * as Reliabilities from "../../../src/pair/votes/Reliabilities.ts"
import { judgedItem } from "../../support/judged.ts"
import { column } from "../../support/columns.ts"

type Votes = ReadonlyArray<readonly [judge: string, choice: number]>

const judges = ["one", "two", "three", "four"]
const orders = [judges, judges.toReversed(), ["three", "one", "four", "two"]]

/** @param right the known answer, or null */
const item = (votes: Votes, completions: number, right: number | null, isReversed: boolean) =>
  judgedItem(
    Array.from({ length: completions }, (_, i) => `text ${i}`),
    [
      {
        best: 0,
        annotations: {
          votes: (isReversed ? votes.toReversed() : votes).map(([expert, choice]) => ({
            expert,
            kind: expert.startsWith("person") ? "person" : "judge",
            choice,
          })),
        },
      },
    ],
    right === null ? {} : { gold: { best_completion_index: right } },
  )

type Planted = readonly [votes: string, right?: number]

/** Each item has one vote per judge in order, as digits; then `p` and the vote of a person. */
const outcomes = (planted: ReadonlyArray<Planted>, completions = 2) => {
  const results = orders.flatMap((names) =>
    [false, true].map((isReversed) => {
      const items = planted.map(([votes, right]) => {
        const [ofJudges = "", ofPerson = ""] = votes.split("p")
        const parsed: Votes = [
          ...Array.from(ofJudges, (choice, judge) => [names[judge]!, Number(choice)] as const),
          ...Array.from(ofPerson, (choice, person) => [`person ${person}`, Number(choice)] as const),
        ]
        return item(parsed, completions, right ?? null, isReversed)
      })
      const estimate = Reliabilities.make({ jury: true })
      for (const each of items) estimate.add(each, votesOf(each))
      const { of, probabilitiesOf } = estimate.fit()
      const reliabilities = names.map((name) => of(name)?.toFixed(9))
      return items.map((each) => {
        const probabilities = probabilitiesOf(each)
        const { isTie, judgment } = Consensus.byProbability(each, probabilities)
        return {
          result: isTie ? "tie" : judgment.bestCompletionIndex,
          probabilities: probabilities.map((p) => p.toFixed(9)),
          reliabilities,
        }
      })
    }),
  )
  for (const each of results) assert.deepStrictEqual(each, results[0])
  return results[0]!
}

const resultsOf = (planted: ReadonlyArray<Planted>, completions?: number) =>
  outcomes(planted, completions).map(({ result }) => result)

const repeated = (times: number, planted: Planted) => Array.from({ length: times }, () => planted)

describe("an evenly split jury", () => {
  it("is a tie if nothing measures its judges", () => {
    assert.deepStrictEqual(resultsOf([["01"], ["10"], ["00"], ["11"]]), ["tie", "tie", 0, 1])
    assert.deepStrictEqual(resultsOf([["0011"], ["0101"], ["0001"]]), ["tie", "tie", 0])
    assert.deepStrictEqual(resultsOf([["012"], ["01"], ["0122"]], 3), ["tie", "tie", 2])
    assert.deepStrictEqual(resultsOf([["01"], ["0112"]], 4), ["tie", 1])
  })

  it("is a tie if its parties are right equally often", () => {
    const measured = [...repeated(5, ["01", 0]), ...repeated(5, ["01", 1])]
    assert.deepStrictEqual(resultsOf([...measured, ["01"]]).at(-1), "tie")
  })

  it("follows the party that is more often right, as often as it is", () => {
    const measured = [...repeated(15, ["01", 0]), ...repeated(5, ["10", 0])]
    const open = outcomes([...measured, ["01"], ["10"], ["11"]]).slice(-3)
    assert.deepStrictEqual(column(open, "result"), [0, 1, 1])
    // The first judge is right 15 times of 20, with one and a half right and wrong ones before.
    assert.deepStrictEqual(open[0]!.probabilities, [(16.5 / 23).toFixed(9), (6.5 / 23).toFixed(9)])
    const three = [...repeated(12, ["012", 1]), ...repeated(3, ["012", 2])]
    assert.deepStrictEqual(resultsOf([...three, ["012"], ["201"]], 4).slice(-2), [1, 0])
  })

  it("is decided by people who vote on its items, and measured by them", () => {
    assert.deepStrictEqual(resultsOf([["01p1"], ["01p0"]]), [1, 0])
    const open = resultsOf([...repeated(20, ["01p000"]), ["01"], ["10"], ["0011"]]).slice(-3)
    assert.deepStrictEqual(open, [0, 1, "tie"])
  })
})
