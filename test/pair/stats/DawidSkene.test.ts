import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as DawidSkene from "../../../src/pair/stats/DawidSkene.ts"
import { seeded } from "./support.ts"

type Item = readonly [completions: number, votes: ReadonlyArray<DawidSkene.ExpertVote>]

const fit = (items: ReadonlyArray<Item>, limits?: DawidSkene.Limits) => {
  const coins = DawidSkene.oneCoin()
  for (const [completions, votes] of items) coins.add(completions, votes)
  return coins.fit(limits)
}

/** Items with known truths, and votes by experts of known reliabilities. */
const simulate = (
  seed: number,
  reliabilities: ReadonlyArray<number>,
  items: number,
  votes: number,
  mostCompletions = 5,
) => {
  const random = seeded(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const truths = Array.from({ length: items }, () => {
    const completions = 2 + below(mostCompletions - 1)
    return { completions, truth: below(completions) }
  })
  return truths.map(({ completions, truth }) => {
    const ballots = Array.from({ length: votes }, (): DawidSkene.ExpertVote => {
      const expert = below(reliabilities.length)
      const isRight = random() < reliabilities[expert]!
      return [expert, isRight ? truth : (truth + 1 + below(completions - 1)) % completions]
    })
    return { truth, item: [completions, ballots] as Item }
  })
}

/** By the model's definition: how probable the votes on an item are, if that completion is the best. */
const likelihood = ([completions, votes]: Item, reliability: ArrayLike<number>, truth: number) =>
  votes.reduce(
    (product, [expert, choice]) =>
      product * (choice === truth ? reliability[expert]! : (1 - reliability[expert]!) / (completions - 1)),
    1 / completions,
  )

const likelihoods = (item: Item, reliability: ArrayLike<number>) =>
  Array.from({ length: item[0] }, (_, truth) => likelihood(item, reliability, truth))

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, number) => total + number, 0)

/** The log of the posterior density of the reliabilities, up to a constant. */
const objective = (items: ReadonlyArray<Item>, reliability: ArrayLike<number>) =>
  sum(items.map((item) => Math.log(sum(likelihoods(item, reliability))))) +
  sum(Array.from(reliability, (r) => 2 * Math.log(r) + Math.log(1 - r)))

const randomItems = fc.array(
  fc
    .integer({ min: 2, max: 4 })
    .chain((completions) =>
      fc.tuple(
        fc.constant(completions),
        fc.array(fc.tuple(fc.nat(4), fc.nat(completions - 1)), { minLength: 1, maxLength: 5 }),
      ),
    ),
  { minLength: 1, maxLength: 30 },
)

describe("oneCoin", () => {
  it.each([1, 2, 3])("finds the highest posterior density on a grid over all reliabilities (seed %d)", (seed) => {
    const items = simulate(seed, [0.9, 0.75, 0.6], 40, 3).map(({ item }) => item)
    const { converged, reliability } = fit(items, { tolerance: 1e-9 })
    assert.isTrue(converged)
    const grid = Array.from({ length: 25 }, (_, i) => (i + 0.5) / 25)
    const points = grid.flatMap((a) => grid.flatMap((b) => grid.map((c) => [a, b, c])))
    const best = points.reduce(
      (best, point) => {
        const value = objective(items, point)
        return value > best.value ? { point, value } : best
      },
      { point: [0, 0, 0], value: -Infinity },
    )
    assert.isAtLeast(objective(items, reliability), best.value)
    for (const [expert, r] of best.point.entries()) assert.closeTo(reliability[expert]!, r, 0.04)
  })

  it("gives no neighbour of its estimate a higher posterior density", () => {
    fc.assert(
      fc.property(randomItems, (items) => {
        const { converged, reliability } = fit(items, { tolerance: 1e-10, maxIterations: 20_000 })
        fc.pre(converged)
        const value = objective(items, reliability)
        for (const expert of reliability.keys()) {
          for (const step of [-1e-3, 1e-3]) {
            assert.isAtMost(objective(items, reliability.with(expert, reliability[expert]! + step)), value + 1e-9)
          }
        }
      }),
    )
  })

  it("gives each item's choice the probability that the model's definition gives it", () => {
    fc.assert(
      fc.property(randomItems, (items) => {
        const { choice, probability, reliability } = fit(items)
        for (const [i, item] of items.entries()) {
          const all = likelihoods(item, reliability)
          assert.closeTo(probability[i]!, all[choice[i]!]! / sum(all), 1e-9)
          const highest = Math.max(...item[1].map(([, voted]) => all[voted]!))
          assert.isTrue(item[1].some(([, voted]) => voted === choice[i]))
          assert.closeTo(all[choice[i]!]!, highest, 1e-12)
        }
      }),
    )
  })

  it("recovers planted reliabilities within standard errors", () => {
    const planted = Array.from({ length: 20 }, (_, expert) => 0.4 + 0.03 * expert)
    const simulated = simulate(7, planted, 6000, 5)
    const { choice, probability, reliability, shared } = fit(simulated.map(({ item }) => item))
    const distances = planted.map(
      (r, expert) => (reliability[expert]! - r) / Math.sqrt((r * (1 - r)) / shared[expert]!),
    )
    // Errors exceed those of known truths a little: the truths are estimated too.
    assert.isBelow(Math.sqrt(sum(distances.map((distance) => distance ** 2)) / planted.length), 1.5)
    assert.isBelow(Math.max(...distances.map(Math.abs)), 4)

    // A choice is right as often as it says.
    const right = simulated.filter(({ truth }, i) => choice[i] === truth).length
    const expected = sum([...probability])
    assert.closeTo(right, expected, 4 * Math.sqrt(sum(Array.from(probability, (p) => p * (1 - p)))))
  })

  it("beats the majority where experts differ", () => {
    const simulated = simulate(11, [0.95, 0.95, 0.4, 0.4, 0.4], 3000, 3, 3)
    const { choice } = fit(simulated.map(({ item }) => item))
    const majority = ([, votes]: Item) => {
      const counts = votes.map(([, one]) => votes.filter(([, other]) => one === other).length)
      return votes[counts.indexOf(Math.max(...counts))]![1]
    }
    const right = simulated.filter(({ truth }, i) => choice[i] === truth).length
    const byMajority = simulated.filter(({ item, truth }) => majority(item) === truth).length
    assert.isAbove(right, byMajority + 100)
  })

  it("does not take the mirror image for the truth where experts are hardly better than chance", () => {
    for (let seed = 0; seed < 30; seed++) {
      const simulated = simulate(seed, [0.6, 0.6, 0.6, 0.6], 400, 3, 2)
      const { choice } = fit(simulated.map(({ item }) => item))
      assert.isAbove(simulated.filter(({ truth }, i) => choice[i] === truth).length, 200)
    }
  })

  it("keeps reliabilities between 0 and 1, and is bounded", () => {
    fc.assert(
      fc.property(randomItems, (items) => {
        const { iterations, reliability } = fit(items, { maxIterations: 7 })
        assert.isAtMost(iterations, 7)
        for (const r of reliability) assert.isTrue(r > 0 && r < 1)
      }),
    )
    const { probability, reliability } = fit(
      Array.from({ length: 1000 }, (): Item => [
        2,
        [
          [0, 1],
          [1, 1],
        ],
      ]),
    )
    assert.deepStrictEqual([...reliability], [reliability[0]!, reliability[0]!])
    assert.isAbove(reliability[0]!, 0.99)
    assert.isBelow(reliability[0]!, 1)
    assert.isBelow(probability[0]!, 1)
  })

  it("takes an expert for 2/3 reliable who never voted beside another", () => {
    const { choice, probability, reliability, shared } = fit([
      [3, [[0, 2]]],
      [3, [[0, 1]]],
      [
        1,
        [
          [1, 0],
          [0, 0],
        ],
      ],
    ])
    assert.deepStrictEqual([...shared], [0, 0])
    assert.deepStrictEqual([...reliability], [2 / 3, 2 / 3])
    assert.deepStrictEqual([...choice], [2, 1, 0])
    assert.closeTo(probability[0]!, 2 / 3, 1e-12)
    assert.strictEqual(probability[2], 1)
  })

  it("does not let items with one vote change an estimate", () => {
    const items = simulate(3, [0.9, 0.6, 0.7], 50, 3).map(({ item }) => item)
    const single: ReadonlyArray<Item> = Array.from({ length: 200 }, () => [2, [[1, 0]]])
    assert.deepStrictEqual(fit([...items, ...single]).reliability, fit(items).reliability)
  })

  it("leaves open what two experts who always differ would need to settle, and takes the first vote", () => {
    const { choice, probability } = fit([
      [
        2,
        [
          [0, 1],
          [1, 0],
        ],
      ],
      [
        2,
        [
          [0, 0],
          [1, 1],
        ],
      ],
    ])
    assert.deepStrictEqual([...choice], [1, 0])
    for (const p of probability) assert.closeTo(p, 0.5, 1e-9)
  })

  it("takes votes of nobody known for one expert's, several to an item", () => {
    const { choice, reliability, shared } = fit([
      [
        3,
        [
          [0, 2],
          [0, 2],
          [0, 1],
        ],
      ],
      [
        3,
        [
          [0, 0],
          [0, 0],
          [0, 0],
        ],
      ],
    ])
    assert.deepStrictEqual([...choice], [2, 0])
    assert.deepStrictEqual([...shared], [6])
    assert.isTrue(reliability[0]! > 0.6 && reliability[0]! < 0.9)
  })

  it("permutes with experts, with items and with completions", () => {
    const everybody: Item = [2, [0, 1, 2, 3, 4].map((expert) => [expert, 0])]
    fc.assert(
      fc.property(randomItems, (drawn) => {
        const items = [...drawn, everybody]
        const limits = { maxIterations: 50, tolerance: 0 }
        const one = fit(items, limits)
        const mirror = ([completions, votes]: Item): Item => [
          completions,
          votes.map(([expert, choice]) => [4 - expert, completions - 1 - choice]),
        ]
        const other = fit(items.map(mirror).toReversed(), limits)
        for (const [expert, r] of one.reliability.entries()) {
          assert.closeTo(other.reliability[4 - expert]!, r, 1e-6)
        }
        for (const [i, p] of one.probability.entries()) {
          assert.closeTo(other.probability[items.length - 1 - i]!, p, 1e-6)
        }
      }),
    )
  })

  it("has nothing of nothing", () => {
    const { choice, converged, reliability } = fit([])
    assert.deepStrictEqual([choice.length, reliability.length, converged], [0, 0, true])
  })
})

/** Table 1 of Dawid and Skene 1979: 45 patients by five anaesthetists, the first of whom saw each three times. */
const anaesthetists = `
  111 1 1 1 1, 333 4 3 3 4, 112 2 1 2 2, 222 3 1 2 1, 222 3 2 2 2, 222 3 3 2 2, 122 2 1 1 1, 333 3 4 3 3, 222 2 2 2 3,
  232 2 2 2 3, 444 4 4 4 4, 222 3 3 4 3, 111 1 1 1 1, 222 3 2 1 2, 121 1 1 1 1, 111 2 1 1 1, 111 1 1 1 1, 111 1 1 1 1,
  222 2 2 2 1, 222 1 3 2 2, 222 2 2 2 2, 222 2 2 2 1, 222 3 2 2 2, 221 2 2 2 2, 111 1 1 1 1, 111 1 1 1 1, 232 2 2 2 2,
  111 1 1 1 1, 111 1 1 1 1, 112 1 1 2 1, 111 1 1 1 1, 333 3 2 3 3, 111 1 1 1 1, 222 2 2 2 2, 222 3 2 3 2, 433 4 3 4 3,
  221 2 2 3 2, 232 3 2 3 3, 333 3 4 3 2, 111 1 1 1 1, 111 1 1 1 1, 121 2 1 1 1, 232 2 2 2 2, 121 1 1 1 1, 222 2 2 2 2`
  .trim()
  .split(/,\s*/)
  .flatMap((patient, item) =>
    patient
      .split(" ")
      .flatMap((labels, observer) =>
        Array.from(labels, (label): DawidSkene.Observation => [item, observer, Number(label) - 1]),
      ),
  )

describe("confusion", () => {
  const { converged, errorRates, posterior, prevalence } = DawidSkene.confusion(4, anaesthetists)

  it("has the prevalence that Dawid and Skene 1979 found for the anaesthetists' patients", () => {
    assert.isTrue(converged)
    for (const [k, share] of [0.4, 0.42, 0.11, 0.07].entries()) assert.closeTo(prevalence[k]!, share, 0.0051)
  })

  it("has the error rates that Dawid and Skene 1979 found for the five anaesthetists", () => {
    const published = [
      [
        [0.89, 0.11, 0, 0],
        [0.07, 0.88, 0.05, 0],
        [0, 0.34, 0.66, 0],
        [0, 0, 0.56, 0.44],
      ],
      [
        [0.83, 0.17, 0, 0],
        [0.05, 0.63, 0.31, 0],
        [0, 0, 1, 0],
        [0, 0, 0, 1],
      ],
      [
        [1, 0, 0, 0],
        [0.11, 0.79, 0.11, 0],
        [0, 0.4, 0.2, 0.4],
        [0, 0, 0.67, 0.33],
      ],
      [
        [0.94, 0.06, 0, 0],
        [0.05, 0.84, 0.1, 0],
        [0, 0, 0.8, 0.2],
        [0, 0, 0.33, 0.67],
      ],
      [
        [1, 0, 0, 0],
        [0.16, 0.73, 0.11, 0],
        [0, 0.21, 0.79, 0],
        [0, 0, 0.33, 0.67],
      ],
    ]
    for (const [observer, matrix] of published.entries()) {
      for (const [k, row] of matrix.entries()) {
        for (const [label, rate] of row.entries()) {
          assert.closeTo(errorRates[observer]![k]![label]!, rate, 0.0051, `${observer} ${k} ${label}`)
        }
      }
    }
  })

  it("has the classes that Dawid and Skene 1979 found for the patients, with three in doubt", () => {
    const classes = "142222132243121111222222112111131224233111212"
    assert.strictEqual(posterior.map((row) => 1 + row.indexOf(Math.max(...row))).join(""), classes)
    const doubts = new Map([
      [7, 0.98],
      [35, 0.95],
      [38, 0.98],
    ])
    for (const [i, row] of posterior.entries()) assert.closeTo(Math.max(...row), doubts.get(i + 1) ?? 1, 0.0051)
  })

  it("permutes with classes, observers and items", () => {
    const other = DawidSkene.confusion(
      4,
      anaesthetists.map(([item, observer, label]) => [44 - item, 4 - observer, 3 - label] as const),
    )
    assert.closeTo(other.prevalence[3]!, prevalence[0]!, 1e-9)
    assert.closeTo(other.errorRates[4]![2]![1]!, errorRates[0]![1]![2]!, 1e-9)
    assert.closeTo(other.posterior[44 - 34]![1]!, posterior[34]![2]!, 1e-9)
  })

  it("finds the same classes as oneCoin where all observers err alike", () => {
    const simulated = simulate(5, [0.8, 0.8, 0.8, 0.8], 300, 5, 2)
    const items = simulated.map(({ item }) => item)
    const { posterior } = DawidSkene.confusion(
      2,
      items.flatMap(([, votes], item) => votes.map(([expert, choice]) => [item, expert, choice] as const)),
    )
    const { choice } = fit(items)
    const same = posterior.filter((row, i) => row[choice[i]!]! > 0.5).length
    assert.isAtLeast(same, 290)
  })
})
