import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as DawidSkene from "../../../src/pair/stats/DawidSkene.ts"
import { seeded } from "./support.ts"

type Item = readonly [completions: number, votes: ReadonlyArray<DawidSkene.ExpertVote>, known?: number | undefined]

const fit = (items: ReadonlyArray<Item>, limits?: DawidSkene.Limits) => {
  const coins = DawidSkene.make()
  for (const [completions, votes, known] of items) coins.add(completions, votes, known)
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

/** Of the completions that have a vote, the most probable; of several, the one voted for first. */
const choiceOf = (item: Item, reliability: ArrayLike<number>) => {
  const all = likelihoods(item, reliability)
  return item[1].reduce((best, [, choice]) => (all[choice]! > all[best]! * (1 + 1e-9) ? choice : best), item[1][0]![1])
}

/** Votes on an item by experts of these numbers: `0:2 1:0` for choice 2 of expert 0 and choice 0 of expert 1. */
const item = (completions: number, votes: string): Item => [
  completions,
  votes.split(" ").map((vote): DawidSkene.ExpertVote => [Number(vote[0]), Number(vote[2])]),
]

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, number) => total + number, 0)

/** The log of the posterior density of the reliabilities, up to a constant. A known choice is the item's class. */
const objective = (items: ReadonlyArray<Item>, reliability: ArrayLike<number>) =>
  sum(
    items.map((item) =>
      Math.log(item[2] === undefined ? sum(likelihoods(item, reliability)) : likelihood(item, reliability, item[2])),
    ),
  ) + sum(Array.from(reliability, (r) => 2 * Math.log(r) + Math.log(1 - r)))

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

describe("Dawid–Skene", () => {
  const seeds = [1, 2, 3].flatMap((seed) => [[seed, false] as const, [seed, true] as const])
  it.each(seeds)("finds the highest posterior density of a grid (seed %d, some choices known: %s)", (seed, isKnown) => {
    // Where some are known, against what most experts say.
    const simulated = isKnown ? simulate(seed, [0.9, 0.3, 0.2], 60, 3, 3) : simulate(seed, [0.9, 0.75, 0.6], 40, 3)
    const items = simulated.map(({ item: [completions, votes], truth }, i): Item => {
      return [completions, votes, isKnown && i % 5 === 0 ? truth : undefined]
    })
    const { converged, reliability } = fit(items, { tolerance: 1e-9 })
    assert.isTrue(converged)
    const grid = Array.from({ length: 25 }, (_, i) => (i + 0.5) / 25)
    const highest = Math.max(...grid.flatMap((a) => grid.flatMap((b) => grid.map((c) => objective(items, [a, b, c])))))
    assert.isAtLeast(objective(items, reliability), highest)
  })

  it("believes the expert who is right where the choice is known, not two who agree elsewhere", () => {
    const [, votes] = item(2, "0:0 1:0 2:1")
    const items = Array.from({ length: 110 }, (_, i): Item => [2, votes, i < 10 ? 1 : undefined])
    const [ann, bob, cleo] = fit(items, { tolerance: 1e-9 }).reliability
    // By an implementation apart from this one, from 8 random starts.
    assert.closeTo(ann!, 0.017702, 1e-6)
    assert.closeTo(bob!, 0.017702, 1e-6)
    assert.closeTo(cleo!, 0.991148, 1e-6)
    const unknown = fit(items.map(([completions, all]): Item => [completions, all])).reliability
    assert.isAbove(unknown[0]!, 0.9)
  })

  it("does not take the mirror image for the truth where experts are hardly better than chance", () => {
    for (let seed = 0; seed < 30; seed++) {
      const simulated = simulate(seed, [0.6, 0.6, 0.6, 0.6], 400, 3, 2)
      const { reliability } = fit(simulated.map(({ item }) => item))
      assert.isAbove(simulated.filter(({ item, truth }) => choiceOf(item, reliability) === truth).length, 200)
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
    const { reliability } = fit(Array.from({ length: 1000 }, () => item(2, "0:1 1:1")))
    assert.deepStrictEqual([...reliability], [reliability[0]!, reliability[0]!])
    assert.isAbove(reliability[0]!, 0.99)
    assert.isBelow(reliability[0]!, 1)
  })

  it("takes an expert for 2/3 reliable who never voted beside another", () => {
    const { reliability, shared } = fit([item(3, "0:2"), item(3, "0:1"), item(1, "1:0 0:0")])
    assert.deepStrictEqual([...shared], [0, 0])
    assert.deepStrictEqual([...reliability], [2 / 3, 2 / 3])
  })

  it("does not let items with one vote change an estimate", () => {
    const items = simulate(3, [0.9, 0.6, 0.7], 50, 3).map(({ item }) => item)
    const single: ReadonlyArray<Item> = Array.from({ length: 200 }, () => item(2, "1:0"))
    assert.deepStrictEqual(fit([...items, ...single]).reliability, fit(items).reliability)
  })

  it("takes votes of nobody known for one expert's, several to an item", () => {
    const { reliability, shared } = fit([item(3, "0:2 0:2 0:1"), item(3, "0:0 0:0 0:0")])
    assert.deepStrictEqual([...shared], [6])
    assert.isTrue(reliability[0]! > 0.6 && reliability[0]! < 0.9)
  })

  it("has nothing of nothing", () => {
    const { converged, reliability } = fit([])
    assert.deepStrictEqual([reliability.length, converged], [0, true])
  })
})
