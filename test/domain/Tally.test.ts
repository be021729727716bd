import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import * as Tally from "../../src/domain/Tally.ts"
import type { Ballot } from "../../src/domain/Tally.ts"

const textsOf = (n: number) => Array.from({ length: n }, (_, i) => `text ${i}`)

/** Of n completions with texts of their own. */
const tally = (n: number, ballots: ReadonlyArray<Ballot>) => Tally.tally(textsOf(n), ballots)

const choose = (choice: number, rationale?: string): Ballot => ({ choice, rationale })
const rank = (...ranking: ReadonlyArray<readonly [number, ...ReadonlyArray<number>]>): Ballot => ({
  choice: ranking[0]![0],
  ranking,
})

/** Examples; the property at the end checks all rules for votes of any kind. */
describe("the best", () => {
  it("is chosen by index where no vote chose any of the equals", () => {
    // 1 and 2 get half a vote of each ranking, and their choice stays 0 for the test's sake.
    const tied: Ballot = { choice: 0, ranking: [[1, 2], [0]] }
    assert.strictEqual(tally(3, [tied]).best, 1)
  })

  it("counts parts of votes exactly", () => {
    // 0 gets 1/3 + 1/3 + 1/3, 3 gets one whole vote: a tie, which floating-point sums of thirds may miss.
    const thirds = Array.from({ length: 3 }, () => rank([0, 1, 2], [3]))
    const { agreement, tie } = tally(4, [...thirds, rank([3], [0], [1, 2])])
    assert.isTrue(tie)
    assert.strictEqual(agreement, 1 / 4)
    // A tenth ten times.
    const tenths = Array.from({ length: 10 }, () => rank([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [10]))
    assert.isTrue(tally(11, [...tenths, choose(10)]).tie)
  })
})

describe("completions of the same text", () => {
  const yesYesNo = (ballots: ReadonlyArray<Ballot>) => {
    const { agreement, best, tie } = Tally.tally(["yes", "yes", "no"], ballots)
    return { agreement, best, tie }
  }

  it("are one choice", () => {
    assert.deepStrictEqual(yesYesNo([choose(2), choose(1), choose(0)]), { agreement: 2 / 3, best: 1, tie: false })
    assert.deepStrictEqual(yesYesNo([choose(2), choose(1), choose(0), choose(2)]), {
      agreement: 1 / 2,
      best: 2,
      tie: true,
    })
    assert.deepStrictEqual(yesYesNo([rank([0, 1], [2])]), { agreement: 1, best: 0, tie: false })
  })

  it("are ranked where the best of them is, and stand together", () => {
    const { best, ranking } = Tally.tally(["a", "b", "c", "b"], [rank([0], [1], [2], [3]), rank([2], [3], [0], [1])])
    // First choices: a and c have one each. Scores of a: 2 + 0, of b: 1 + 1, of c: 0 + 2.
    assert.strictEqual(best, 0)
    assert.strictEqual(JSON.stringify(ranking), "[[0,2],[1,3]]")
  })

  it("lend each other their rationale", () => {
    assert.strictEqual(Tally.tally(["yes", "yes", "no"], [choose(0), choose(1, "it is")]).rationale, "it is")
  })
})

it("the rationale is that of the earliest vote for the best that has one", () => {
  const { rationale } = tally(2, [choose(0, "no"), choose(1), choose(1, " \n"), choose(1, "yes"), choose(1, "too")])
  assert.strictEqual(rationale, "yes")
  assert.isUndefined(tally(2, [choose(0, "no"), choose(1), choose(1)]).rationale)
})

describe("a vote is compared with the others", () => {
  const compared = (...ballots: ReadonlyArray<Ballot>) => Tally.agreesWithOthers(["a", "b", "c", "a"], ballots)

  it("of which most are for its text, or for another one", () => {
    assert.deepStrictEqual(compared(choose(0), choose(3), choose(0)), [true, true, true])
    assert.deepStrictEqual(compared(choose(0), choose(1), choose(1), choose(1)), [false, true, true, true])
    // Each contradicts the other: the earlier one is no majority.
    assert.deepStrictEqual(compared(choose(0), choose(1)), [false, false])
  })

  it("and not where these are tied, it has several at the top itself, or it is alone", () => {
    assert.deepStrictEqual(compared(choose(0)), [undefined])
    assert.deepStrictEqual(compared(choose(0), choose(0), choose(1)), [undefined, undefined, false])
    assert.deepStrictEqual(compared(choose(0), choose(1), choose(2)), [undefined, undefined, undefined])
    assert.deepStrictEqual(compared(rank([0, 1], [2, 3]), choose(0)), [undefined, undefined])
    // Half of a vote, and the half of another.
    assert.deepStrictEqual(compared(rank([0, 1], [2, 3]), rank([1, 2], [0, 3]), choose(1)), [
      undefined,
      undefined,
      true,
    ])
  })
})

/** A ranking of n completions, from a permutation and where its groups end. */
const ranking = (n: number) =>
  fc
    .tuple(
      fc.shuffledSubarray(
        Array.from({ length: n }, (_, i) => i),
        { minLength: n, maxLength: n },
      ),
      fc.array(fc.boolean(), { minLength: n, maxLength: n }),
    )
    .map(([order, ends]) => {
      const groups: Array<[number, ...Array<number>]> = []
      order.forEach((index, i) => {
        if (i === 0 || ends[i - 1] === true) groups.push([index])
        else groups.at(-1)!.push(index)
      })
      return groups
    })

const ballots = fc.integer({ min: 2, max: 6 }).chain((n) =>
  fc.record({
    n: fc.constant(n),
    ballots: fc.array(
      fc.oneof(
        fc.nat({ max: n - 1 }).map((choice): Ballot => ({ choice })),
        ranking(n).map((groups): Ballot => ({ choice: groups[0]![0], ranking: groups })),
      ),
      { minLength: 1, maxLength: 25 },
    ),
  }),
)

/** The rules once more, in floating point and by counting ranks one by one. */
const naive = (n: number, given: ReadonlyArray<Ballot>) => {
  const indices = Array.from({ length: n }, (_, i) => i)
  const first = indices.map((i) =>
    given.reduce((sum, { choice, ranking }) => {
      const top = ranking?.[0] ?? [choice]
      return sum + (top.includes(i) ? 1 / top.length : 0)
    }, 0),
  )
  const ranked = given.filter((ballot) => ballot.ranking !== undefined)
  const borda = indices.map((i) =>
    ranked.length === 0
      ? 0
      : ranked.reduce((sum, { ranking }) => {
          const rankOf = (index: number) => {
            const at = ranking!.findIndex((group) => group.includes(index))
            const above = ranking!.slice(0, at).flat().length
            return above + (ranking![at]!.length + 1) / 2
          }
          return sum + n - rankOf(i)
        }, 0) / ranked.length,
  )
  return { first, borda }
}

describe("of any votes", () => {
  it("the result follows the rules", () => {
    fc.assert(
      fc.property(ballots, ({ ballots, n }) => {
        const { first, borda } = naive(n, ballots)
        const result = tally(n, ballots)
        const near = (a: number, b: number) => Math.abs(a - b) < 1e-9
        const most = Math.max(...first)
        const leaders = first.flatMap((votes, i) => (near(votes, most) ? [i] : []))
        assert.include(leaders, result.best)
        assert.strictEqual(result.tie, leaders.length > 1)
        assert.closeTo(result.agreement, most / ballots.length, 1e-9)
        const highest = Math.max(...leaders.map((i) => borda[i]!))
        const equals = leaders.filter((i) => near(borda[i]!, highest))
        const earliest = ballots.find(({ choice }) => equals.includes(choice))?.choice
        assert.strictEqual(result.best, earliest ?? Math.min(...equals))

        assert.strictEqual(
          result.ranking !== undefined,
          ballots.every(({ ranking }) => ranking !== undefined),
        )
        if (result.ranking === undefined) return
        assert.include(result.ranking[0]!, result.best)
        assert.deepStrictEqual(
          result.ranking.flat().toSorted((a, b) => a - b),
          first.map((_, i) => i),
        )
        const flat = result.ranking.flatMap((group, rank) => group.map((index) => ({ index, rank })))
        for (const a of flat) {
          for (const b of flat) {
            const same = near(first[a.index]!, first[b.index]!) && near(borda[a.index]!, borda[b.index]!)
            assert.strictEqual(a.rank === b.rank, same)
            if (a.rank >= b.rank) continue
            const better = first[a.index]! > first[b.index]! + 1e-9
            assert.isTrue(better || (near(first[a.index]!, first[b.index]!) && borda[a.index]! > borda[b.index]!))
          }
        }
      }),
      { numRuns: 500 },
    )
  })
})
