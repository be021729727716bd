/** Further votes: a simulation with planted truth and experts, which fixed numbers of votes have to beat. */
import { assert, describe, it } from "@effect/vitest"
import * as DawidSkene from "../../../src/pair/stats/DawidSkene.ts"
import * as NextVotes from "../../../src/pair/votes/NextVotes.ts"

const items = 2000
const experts = 20

/** mulberry32: numbers from 0 to below 1. */
const randomOf = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
}

/** Experts of accuracy 0.6 to 0.95, each item's in an order of its own, with the vote that each would give. */
const planted = (seed: number, completions: number) => {
  const random = randomOf(seed)
  const below = (n: number) => Math.floor(random() * n)
  const accuracies = Array.from({ length: experts }, (_, i) => 0.6 + (0.35 * i) / (experts - 1))
  return Array.from({ length: items }, () => {
    const truth = below(completions)
    const order = accuracies.map((accuracy, expert) => ({ accuracy, expert, at: random() }))
    const votes = order
      .toSorted((a, b) => a.at - b.at)
      .map(({ accuracy, expert }): DawidSkene.ExpertVote => [
        expert,
        random() < accuracy ? truth : (truth + 1 + below(completions - 1)) % completions,
      ])
    return { truth, votes }
  })
}

type Planted = ReturnType<typeof planted>

/** Every 20th item is a gold item, as by default. */
const isGold = (i: number) => i % 20 === 0

/** The share of the other items whose truth the majority of the first three votes names; there are no ties of three. */
const majority = (of: Planted): number => shareOf(of, ({ truth, votes }) => mostOf(votes.slice(0, 3)) === truth)

const shareOf = (of: Planted, isRight: (item: Planted[number], i: number) => boolean): number => {
  const judged = of.filter((_, i) => !isGold(i))
  return of.filter((item, i) => !isGold(i) && isRight(item, i)).length / judged.length
}

/** The first of those with the highest sum of weights. */
const mostOf = (votes: ReadonlyArray<DawidSkene.ExpertVote>, weight: (expert: number) => number = () => 1): number => {
  const scores = new Map<number, number>()
  for (const [expert, choice] of votes) scores.set(choice, (scores.get(choice) ?? 0) + weight(expert))
  return [...scores].toSorted((a, b) => b[1] - a[1])[0]![0]
}

/** The same of the most probable completion, with the estimated reliabilities. */
const weighted = (of: Planted, given: ReadonlyArray<number>, completions: number): number => {
  const model = DawidSkene.make()
  of.forEach(({ truth, votes }, i) => model.add(completions, votes.slice(0, given[i]), isGold(i) ? truth : undefined))
  const { reliability } = model.fit()
  const weight = (expert: number) => Math.log((reliability[expert]! / (1 - reliability[expert]!)) * (completions - 1))
  return shareOf(of, ({ truth, votes }, i) => mostOf(votes.slice(0, given[i]), weight) === truth)
}

/** Gives each item its least votes, then further ones as they are chosen. */
const adaptive = (of: Planted, [least, most]: readonly [number, number], confidence: number, completions: number) => {
  const given = of.map(() => least)
  while (true) {
    const open = of.map(({ truth, votes }, i) => ({
      i,
      completions,
      votes: votes.slice(0, given[i]),
      truth: isGold(i) ? truth : undefined,
      isSettled: given[i]! >= most,
    }))
    const { atOnce, wanted } = NextVotes.choose(open, { confidence, waiting: 0 })
    const chosen = wanted.slice(0, atOnce)
    if (chosen.length === 0) return given
    for (const { i } of chosen) given[i]!++
  }
}

const mean = (numbers: ReadonlyArray<number>) => numbers.reduce((sum, n) => sum + n, 0) / numbers.length

describe("NextVotes", () => {
  for (const completions of [2, 4]) {
    it(`${completions} completions: the accuracy of three votes on each item for at least 30% fewer, over six seeds`, () => {
      const found = [1, 2, 3, 4, 5, 6].map((seed) => {
        const of = planted(seed, completions)
        const given = adaptive(of, [1, 5], 0.8, completions)
        assert.isAtMost(Math.max(...given), 5)
        return {
          majority: majority(of),
          weighted: weighted(
            of,
            of.map(() => 3),
            completions,
          ),
          adaptive: weighted(of, given, completions),
          votes: mean(given),
        }
      })
      const all = {
        majority: mean(found.map(({ majority }) => majority)),
        weighted: mean(found.map(({ weighted }) => weighted)),
        adaptive: mean(found.map(({ adaptive }) => adaptive)),
        votes: mean(found.map(({ votes }) => votes)),
      }
      const said = JSON.stringify([all, ...found], undefined, 1)
      if (process.env["SHOW"] !== undefined) console.log(said)
      assert.isAtLeast(all.adaptive, all.majority, said)
      assert.isAtLeast(all.adaptive, all.weighted, said)
      assert.isAtMost(all.votes, 3 * 0.7, said)
    })
  }

  it("takes the least certain first, of equals the first, and none that is settled or certain", () => {
    const item = (id: string, votes: ReadonlyArray<DawidSkene.ExpertVote>, isSettled = false) => ({
      id,
      isSettled,
      completions: 2,
      votes,
    })
    const agreed = Array.from({ length: 30 }, () =>
      item(
        "agreed",
        [
          [0, 1],
          [1, 1],
        ],
        true,
      ),
    )
    const open = [
      item("one", [[0, 0]]),
      item("split", [
        [0, 0],
        [1, 1],
      ]),
      item("none", []),
      item(
        "settled",
        [
          [0, 0],
          [1, 1],
        ],
        true,
      ),
      item("certain", [
        [0, 0],
        [1, 0],
      ]),
    ]
    const chosen = NextVotes.choose([...agreed, ...open], { confidence: 0.98, waiting: 0 })
    assert.deepStrictEqual(
      chosen.wanted.map(({ id }) => id),
      ["split", "none", "one"],
    )
    assert.strictEqual(NextVotes.choose([...agreed, ...open], { confidence: 0.98, waiting: 49 }).atOnce, 1)
    assert.strictEqual(NextVotes.choose([...agreed, ...open], { confidence: 0.98, waiting: 50 }).atOnce, 0)
  })
})
