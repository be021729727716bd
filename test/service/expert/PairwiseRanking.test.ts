import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import * as PairwiseRanking from "../../../src/service/expert/PairwiseRanking.ts"

type Order = readonly [number, ...ReadonlyArray<number>]

/** A judge that answers by a function of the places shown, and counts what it was asked. */
const judge = (choose: (first: number, second: number) => number | undefined) => {
  const asked: Array<readonly [number, number]> = []
  const answer = (order: readonly [number, number]): PairwiseRanking.Answer => {
    asked.push(order)
    return { order, choice: choose(...order), rationale: "" }
  }
  const compare = (first: number, second: number) =>
    Effect.sync(() => [answer([first, second]), answer([second, first])] as const)
  return { asked, compare }
}

const steady = (values: ReadonlyArray<number>) =>
  judge((first, second) => {
    const more = values[first]! - values[second]!
    return more === 0 ? undefined : more > 0 ? first : second
  })

const orders = fc.integer({ min: 2, max: 8 }).chain((n) => {
  const indices = Array.from({ length: n }, (_, i) => i)
  return fc.shuffledSubarray(indices, { minLength: n }).map((order) => order as unknown as Order)
})
const withValues = orders.chain((order) =>
  fc.tuple(
    fc.constant(order),
    fc.array(fc.integer({ min: 0, max: 3 }), { minLength: order.length, maxLength: order.length }),
  ),
)

/** `0>1`: wins in both orders; `0=1`: a tie in both; `0~1`: whichever is shown first. */
const saying =
  (said: ReadonlyArray<string>) =>
  (first: number, second: number): number | undefined => {
    if (said.includes(`${first}>${second}`)) return first
    if (said.includes(`${second}>${first}`)) return second
    return said.includes(`${first}=${second}`) || said.includes(`${second}=${first}`) ? undefined : first
  }

/** Each way in which a tournament can be said. */
const sayings = fc.integer({ min: 2, max: 4 }).chain((n) => {
  const pairs = Array.from({ length: n }, (_, i) => i).flatMap((i) =>
    Array.from({ length: n - i - 1 }, (_, j) => [i, i + j + 1] as const),
  )
  const one = ([i, j]: readonly [number, number]) => fc.constantFrom(`${i}>${j}`, `${j}>${i}`, `${i}=${j}`, `${i}~${j}`)
  return fc.tuple(fc.constant(n), fc.tuple(...pairs.map(one)))
})

/** What is said where the order makes no difference any more, in all ways in which that can be. */
const outcomes = (said: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const at = said.findIndex((one) => one.includes("~"))
  if (at === -1) return [said]
  const [i, j] = said[at]!.split("~")
  return [`${i}>${j}`, `${j}>${i}`, `${i}=${j}`].flatMap((one) => outcomes(said.with(at, one)))
}

describe("allPairs", () => {
  it("ranks as a steady judge values, each pair asked once in both orders", () => {
    fc.assert(
      fc.property(withValues, ([order, values]) => {
        const { asked, compare } = steady(values)
        const ranked = Effect.runSync(PairwiseRanking.allPairs(order, compare))
        const expected = [...new Set(values)]
          .toSorted((a, b) => b - a)
          .map((value) => order.filter((index) => values[index] === value))
        assert.deepStrictEqual(ranked.ranking, expected as never)
        assert.strictEqual(ranked.best, expected[0]![0])
        assert.isFalse(ranked.isUncertain)
        assert.strictEqual(new Set(asked.map(String)).size, order.length * (order.length - 1))
        assert.strictEqual(asked.length, order.length * (order.length - 1))
      }),
    )
  })

  for (const place of [0, 1]) {
    it(`finds no difference with a judge that looks at place ${place} only`, () => {
      fc.assert(
        fc.property(orders, (order) => {
          const { compare } = judge((...shown) => shown[place])
          const ranked = Effect.runSync(PairwiseRanking.allPairs(order, compare))
          assert.deepStrictEqual(ranked.ranking, [order])
          assert.strictEqual(ranked.best, order[0])
          assert.isTrue(ranked.isUncertain)
          assert.isFalse(ranked.comparisons.some(PairwiseRanking.isConsistent))
        }),
      )
    })
  }

  it("counts a win 1, equals 1/2: as by hand", () => {
    // 0 beats 1 and 2, 3 beats 0, 1 and 2 beat 3, all in both orders; 1 and 2 win against each other when shown first.
    const better = new Set(["0,1", "0,2", "3,0", "1,3", "2,3"])
    const { compare } = judge((first, second) => (better.has(`${second},${first}`) ? second : first))
    const ranked = Effect.runSync(PairwiseRanking.allPairs([2, 3, 0, 1], compare))
    // 0: 1+1+0 = 2. 1 and 2: 0+1/2+1 = 3/2. 3: 1+0+0 = 1.
    assert.deepStrictEqual(ranked.ranking, [[0], [2, 1], [3]])
    assert.strictEqual(ranked.best, 0)
  })

  it("is open exactly where another outcome of what was not told apart has another best one", () => {
    fc.assert(
      fc.property(sayings, ([n, said]) => {
        const order = Array.from({ length: n }, (_, i) => i) as unknown as Order
        const of = (said: ReadonlyArray<string>) =>
          Effect.runSync(PairwiseRanking.allPairs(order, judge(saying(said)).compare))
        const { best, isUncertain: open } = of(said)
        const stays = outcomes(said).every((outcome) => of(outcome).ranking![0]!.includes(best))
        assert.strictEqual(open, !stays)
      }),
      { numRuns: 300 },
    )
  })

  it("is open where of two equally good ones the second was not told apart from a third", () => {
    const said = ["0=1", "0>2", "0=3", "1>2", "1~3", "2=3"]
    const ranked = Effect.runSync(PairwiseRanking.allPairs([0, 1, 2, 3], judge(saying(said)).compare))
    assert.deepStrictEqual(ranked.ranking, [[0, 1], [3], [2]])
    assert.isTrue(ranked.isUncertain)
  })
})

describe("slidingPass", () => {
  it("finds a best one of a steady judge, with each other compared once", () => {
    fc.assert(
      fc.property(withValues, ([order, values]) => {
        const { asked, compare } = steady(values)
        const ranked = Effect.runSync(PairwiseRanking.slidingPass(order, compare))
        const most = Math.max(...values)
        assert.strictEqual(
          ranked.best,
          order.find((index) => values[index] === most),
        )
        assert.isUndefined(ranked.ranking)
        assert.strictEqual(asked.length, 2 * (order.length - 1))
        assert.isFalse(ranked.isUncertain)
      }),
    )
  })

  const passes: ReadonlyArray<readonly [string, ReadonlyArray<string>, number, boolean]> = [
    ["is open where one that is equal to the best was not told apart from another", ["0=1", "1~2"], 0, true],
    ["is not open where the best beat the one that was not told apart", ["0>1", "1~2"], 0, false],
    ["is not open where all of it was told apart", ["0=1", "1>2"], 0, false],
    ["is open where the best went on by default", ["1>0", "1~2"], 1, true],
    ["is not open where the best beat that one, and others after it", ["1>0", "1>2", "2~3"], 1, false],
  ]
  for (const [what, said, best, open] of passes) {
    it(`after ${said.join(", ")} ${what}`, () => {
      const order = [0, 1, 2, 3].slice(0, said.length + 1) as unknown as Order
      const ranked = Effect.runSync(PairwiseRanking.slidingPass(order, judge(saying(said)).compare))
      assert.deepStrictEqual([ranked.best, ranked.isUncertain], [best, open])
    })
  }

  it("is of no use for one alone, and says so by asking nothing", () => {
    const { asked, compare } = judge((first) => first)
    assert.strictEqual(Effect.runSync(PairwiseRanking.slidingPass([7], compare)).best, 7)
    assert.deepStrictEqual(asked, [])
  })
})
