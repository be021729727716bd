/** Further votes: a simulation with planted truth and experts, which fixed numbers of votes have to beat. */
import { assert, describe, it } from "@effect/vitest"
import * as DawidSkene from "../../../src/pair/stats/DawidSkene.ts"
import * as NextVotes from "../../../src/pair/votes/NextVotes.ts"
import { cases, drawn } from "../../support/cases.ts"
import { seeded } from "../stats/support.ts"
import { column } from "../../support/columns.ts"

const items = 2000
const experts = 20

/** Experts of accuracy 0.6 to 0.95, each item's in an order of its own, with the vote that each would give. */
const planted = (seed: number, completions: number) => {
  const random = seeded(seed)
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

/** The same with so many votes on each item. */
const sameFor = (of: Planted, votes: number, completions: number): number => {
  const given = of.map(() => votes)
  return weighted(of, given, completions)
}

/** Gives each item its least votes, then further ones as they are chosen, at most so many in all. */
const adaptive = (
  of: Planted,
  [least, most]: readonly [number, number],
  confidence: number,
  completions: number,
  maxVotes = Infinity,
) => {
  const given = of.map(() => least)
  while (true) {
    const votesLeft = maxVotes - given.reduce((sum, votes) => sum + votes, 0)
    const open = of.map(({ truth, votes }, i) => ({
      i,
      completions,
      votes: votes.slice(0, given[i]),
      truth: isGold(i) ? truth : undefined,
      isSettled: given[i]! >= most,
    }))
    const { atOnce, wanted } = NextVotes.choose(open, { confidence, waiting: 0, votesLeft })
    const chosen = wanted.slice(0, Math.min(atOnce, votesLeft))
    if (chosen.length === 0) return given
    for (const { i } of chosen) given[i]!++
  }
}

/** More with `SHOW`, which prints the table of the guide. */
const seeds = Array.from({ length: process.env["SHOW"] === undefined ? cases(3, 6) : 30 }, (_, i) => i + 1)

const mean = (numbers: ReadonlyArray<number>) => numbers.reduce((sum, n) => sum + n, 0) / numbers.length

/** Range, confidence, and votes per item that the budget allows: the rows of the guide's table. */
const settings: ReadonlyArray<readonly [range: readonly [number, number], confidence: number, budget?: number]> = [
  [[1, 7], 0.95, 1.8],
  [[1, 7], 0.95, 2.1],
  [[2, 5], 0.95, 2.4],
  [[1, 5], 0.8],
  [[1, 5], 0.85],
  [[1, 5], 0.9],
  [[1, 5], 0.95],
  [[2, 5], 0.95],
]

describe("NextVotes", () => {
  it.runIf(process.env["SHOW"] !== undefined)("the table of the guide", { timeout: 600_000 }, () => {
    for (const completions of [2, 4]) {
      const all = seeds.map((seed) => planted(seed, completions))
      const fixed = (votes: number) => all.map((of) => sameFor(of, votes, completions))
      const three = fixed(3)
      const percent = (share: number) => (100 * share).toFixed(1)
      console.log(`${completions} completions: majority of three ${percent(mean(all.map(majority)))}`)
      for (const votes of [2, 3, 4, 5]) console.log(`${votes} weighted: ${percent(mean(fixed(votes)))}`)
      for (const [range, confidence, budget = Infinity] of settings) {
        const found = all.map((of, i) => {
          const given = adaptive(of, range, confidence, completions, budget * items)
          const right = weighted(of, given, completions)
          return { right, votes: mean(given), more: right - three[i]! }
        })
        const [right, votes] = [mean(found.map(({ right }) => right)), mean(found.map(({ votes }) => votes))]
        const worst = Math.min(...found.map(({ more }) => more))
        assert.isAtMost(votes, budget + 1e-9)
        const below = found.filter(({ more }) => more < 0).length
        console.log(
          `${range.join("..")} ${confidence} ${budget}: ${votes.toFixed(2)} votes, ${percent(right)} right, ` +
            `at worst ${percent(worst)} beside three weighted votes, below these in ${below} of ${seeds.length}`,
        )
      }
    }
  })

  describe.each(drawn([2, 4]))(`%d completions, ${seeds.length} seeds`, (completions) => {
    const worlds = seeds.map((seed) => {
      const of = planted(seed, completions)
      return { of, majority: majority(of), three: sameFor(of, 3, completions) }
    })

    it("a budget of 30% fewer votes than three on each item is spent, for at least their accuracy with each seed", () => {
      const gains = worlds.map(({ of, three }) => {
        const maxVotes = 2.1 * items
        const given = adaptive(of, [1, 7], 0.95, completions, maxVotes)
        assert.isAtMost(Math.max(...given), 7)
        assert.strictEqual(mean(given), 2.1)
        return weighted(of, given, completions) - three
      })
      assert.isAtLeast(Math.min(...gains), 0, JSON.stringify(gains))
      assert.isAtLeast(mean(gains), 0.01, JSON.stringify(gains))
    })

    it("without a budget, at least 30% fewer votes have the accuracy of three on each item on average", () => {
      const found = worlds.map(({ of, ...fixed }) => {
        const given = adaptive(of, [1, 5], 0.8, completions)
        assert.isAtMost(Math.max(...given), 5)
        return { ...fixed, adaptive: weighted(of, given, completions), votes: mean(given) }
      })
      const right = mean(found.map(({ adaptive }) => adaptive))
      assert.isAtLeast(right, mean(found.map(({ majority }) => majority)), JSON.stringify(found))
      assert.isAtLeast(right, mean(found.map(({ three }) => three)), JSON.stringify(found))
      assert.isAtMost(mean(found.map(({ votes }) => votes)), 3 * 0.7, JSON.stringify(found))
    })
  })

  it("takes the least certain first, of equals the first, and none that is settled or certain", () => {
    /** Votes of experts 0, 1, … for these completions. */
    const item = (id: string, choices: ReadonlyArray<number>, isSettled = false) => ({
      id,
      isSettled,
      completions: 2,
      votes: choices.map((choice, expert): DawidSkene.ExpertVote => [expert, choice]),
    })
    const agreed = Array.from({ length: 30 }, () => item("agreed", [1, 1], true))
    const open = [
      item("one", [0]),
      item("split", [0, 1]),
      item("none", []),
      item("settled", [0, 1], true),
      item("certain", [0, 0]),
    ]
    const chosen = NextVotes.choose([...agreed, ...open], { confidence: 0.98, waiting: 0 })
    assert.deepStrictEqual(column(chosen.wanted, "id"), ["split", "none", "one"])
    assert.strictEqual(NextVotes.choose([...agreed, ...open], { confidence: 0.98, waiting: 49 }).atOnce, 1)
    assert.strictEqual(NextVotes.choose([...agreed, ...open], { confidence: 0.98, waiting: 50 }).atOnce, 0)
  })

  it("has a quarter of the uncertain items wait, or a sixteenth of what the budget has left, but 50 of them", () => {
    const open = Array.from({ length: 1000 }, () => ({ isSettled: false, completions: 2, votes: [] }))
    const atOnce = (votesLeft: number | undefined, waiting = 0) =>
      NextVotes.choose(open, { confidence: 0.9, waiting, votesLeft }).atOnce
    assert.strictEqual(atOnce(undefined), 250)
    assert.strictEqual(atOnce(16_000), 250)
    assert.strictEqual(atOnce(1_600), 100)
    // Those that wait came out of the same budget.
    assert.strictEqual(atOnce(1_600 - 60, 60), 40)
    assert.strictEqual(atOnce(100), 50)
  })
})
