import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Distribution from "../../../src/pair/stats/Distribution.ts"
import { normal, seeded } from "./support.ts"

const distributionOf = (values: Iterable<number>) => {
  const summary = Distribution.make()
  for (const value of values) summary.add(value)
  return summary.distribution()
}

const quantiles = ({ p05, p50, p95, p99 }: ReturnType<typeof distributionOf>) => [p05, p50, p95, p99]

const assertAllClose = (actual: ReadonlyArray<number | null>, expected: ReadonlyArray<number>) => {
  for (const [i, value] of expected.entries()) assert.closeTo(actual[i]!, value, 1e-9)
}

/** Without the sizes that nobody writes as decimals. */
const double = (min: number, max: number) =>
  fc.double({ min, max, noNaN: true }).map((value) => (Math.abs(value) < 1e-12 ? 0 : value))

const values = fc.oneof(
  fc.array(fc.integer({ min: -2_000_000_000, max: 2_000_000_000 }), { minLength: 1 }),
  fc.array(fc.nat(100_000), { minLength: 1 }),
  fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 1 }),
  fc.array(double(-1e6, 1e6), { minLength: 1 }),
  fc.array(double(0, 1e12), { minLength: 1 }),
  fc.array(double(0, 1), { minLength: 1 }),
  fc.array(double(1e9, 1e9 + 1e-5), { minLength: 2 }),
  fc.array(double(1e9, 1e9 + 1), { minLength: 1 }),
)

describe("Distribution", () => {
  it("has the quantiles and the deviation (ddof=1) of NumPy 2.4.6", () => {
    const few = distributionOf([3.5, -1, 2, 2, 8, 13, 0.25, 7])
    assertAllClose(quantiles(few), [-0.5625, 2.75, 11.249999999999996, 12.649999999999999])
    assert.closeTo(few.standard_deviation!, 4.665484012557386, 1e-12)

    const many = distributionOf(Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1009))
    assertAllClose(quantiles(many), [49.95, 505.5, 958.05, 998.01])
    assert.closeTo(many.standard_deviation!, 291.50485999276134, 1e-9)
    assert.closeTo(many.mean!, 504.678, 1e-9)
    assert.deepStrictEqual([many.count, many.min, many.max], [1000, 0, 1008])
  })

  it("has nothing of nothing, and little of one number", () => {
    const none = distributionOf([])
    assert.deepStrictEqual([none.count, none.mean, none.min, none.p50, none.max], [0, null, null, null, null])
    assert.deepStrictEqual(none.histogram, { edges: [], counts: [] })
    const one = distributionOf([7])
    assert.deepStrictEqual([one.p05, one.p50, one.p99, one.standard_deviation], [7, 7, 7, null])
  })

  it("keeps numbers that are not whole, or large, as they are, also after whole ones", () => {
    const summary = Distribution.make()
    for (let i = 0; i < 5000; i++) summary.add(i)
    assert.strictEqual(summary.distribution().max, 4999)
    summary.add(2 ** 31)
    summary.add(-0.5)
    const { count, max, min, p50 } = summary.distribution()
    assert.deepStrictEqual([count, min, p50, max], [5002, -0.5, 2499.5, 2 ** 31])
  })
})

it("Distribution of many numbers has the quantiles of the sorted numbers, whether few or most of them are different", () => {
  for (const different of [10, 100_000]) {
    const random = seeded(different)
    const values = Array.from({ length: 50_001 }, () => Math.floor(random() * different) / 4)
    const sorted = values.toSorted((a, b) => a - b)
    const { count, max, min, p05, p50, p95 } = distributionOf(values)
    assert.deepStrictEqual(
      [count, min, p05, p50, p95, max],
      [50_001, sorted[0], sorted[2_500], sorted[25_000], sorted[47_500], sorted.at(-1)],
    )
  }
})

describe("Distribution's histogram", () => {
  it("holds each number in the bin whose edges are around it, the last bin closed", () => {
    fc.assert(
      fc.property(values, (values) => {
        const { counts, edges } = distributionOf(values).histogram
        assert.strictEqual(edges.length, counts.length + 1)
        assert.isAtMost(counts.length, 42)
        for (const [i, count] of counts.entries()) {
          const [start, end] = [edges[i]!, edges[i + 1]!]
          assert.isBelow(start, end)
          const inside = values.filter(
            (value) => value >= start && (value < end || (value === end && i === counts.length - 1)),
          )
          assert.strictEqual(count, inside.length, `${start} to ${end}`)
        }
        assert.strictEqual(
          counts.reduce((sum, count) => sum + count, 0),
          values.length,
        )
      }),
      { numRuns: 500 },
    )
  })

  it("holds numbers that are next to an edge, where a division would round them onto it", () => {
    const low = 0.000014999999999999999
    const below = distributionOf([low, 0.00005]).histogram.edges
    assert.deepStrictEqual(below.slice(0, 2), [0.000014, 0.000015])
    const above = distributionOf([0.1, 2.8000000000000003]).histogram.edges
    assert.deepStrictEqual(above.slice(-2), [2.8, 2.9])
  })

  it("has bins that hold equally many whole numbers: 5 wide, not 2.5", () => {
    assert.deepStrictEqual(distributionOf([900, 903, 995]).histogram.edges.slice(0, 3), [900, 905, 910])
    assert.deepStrictEqual(distributionOf([900.5, 903, 995]).histogram.edges.slice(0, 3), [900, 902.5, 905])
  })

  it("has whole edges for whole numbers, and edges that are short to write for all", () => {
    fc.assert(
      fc.property(values, (values) => {
        const { edges } = distributionOf(values).histogram
        if (values.every(Number.isInteger)) assert.isTrue(edges.every(Number.isInteger))
        const step = Math.min(...edges.slice(1).map((edge, i) => edge - edges[i]!))
        const size = Math.max(...edges.map(Math.abs))
        // Digits from the largest edge down to the step, two for the step itself, and no rounding dust.
        const digits = Math.ceil(Math.log10(size / step)) + 3
        for (const edge of edges) assert.strictEqual(Number(edge.toPrecision(Math.min(digits, 17))), edge)
      }),
    )
  })

  it("has some 20 to 40 bins of one width where numbers span two factors of ten at the most", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 900, noNaN: true }),
        fc.double({ min: 1, max: 1000, noNaN: true }),
        (low, span) => {
          const least = low + span / 50
          const random = seeded(1)
          const { edges } = distributionOf([
            least,
            least + span,
            ...Array.from({ length: 50 }, () => least + span * random()),
          ]).histogram
          assert.isTrue(edges.length - 1 >= 19 && edges.length - 1 <= 40)
          const width = edges[1]! - edges[0]!
          for (const [i, edge] of edges.slice(1).entries()) assert.closeTo(edge - edges[i]!, width, 1e-9)
        },
      ),
    )
    const thirds = distributionOf([50, 60, 55, 52.25]).histogram.edges
    assert.deepStrictEqual(thirds.slice(0, 4), [50, 50.25, 50.5, 50.75])
    assert.deepStrictEqual(distributionOf([1, 2, 2, 5]).histogram, {
      edges: [1, 2, 3, 4, 5, 6],
      counts: [1, 2, 0, 0, 1],
    })
  })

  it("is log-spaced where none is negative and they span more, with a bin from 0 for zeros", () => {
    const random = seeded(2)
    const lengths = Array.from({ length: 5000 }, () => Math.round(Math.exp(6 + normal(random))))
    const { edges } = distributionOf(lengths).histogram
    for (const [i, edge] of edges.slice(1).entries())
      assert.isTrue(edge / edges[i]! >= 1.19 && edge / edges[i]! <= 1.34)
    assert.isTrue(edges.includes(100) && edges.includes(1000) && edges.length >= 20)

    const withZero = distributionOf([...lengths, 0, 0]).histogram
    assert.deepStrictEqual(withZero.edges, [0, ...edges])
    assert.strictEqual(withZero.counts[0], 2)

    const seconds = distributionOf(Array.from({ length: 5000 }, () => Math.exp(2 * normal(random)))).histogram.edges
    assert.isTrue(seconds.length >= 20 && seconds.length <= 41 && seconds.includes(0.01) && seconds.includes(1))
  })

  it("is mirrored at 0 where some are negative, with one more bin for each long tail", () => {
    const random = seeded(3)
    const differences = Array.from({ length: 5000 }, () => Math.round(200 * normal(random)))
    const { counts, edges } = distributionOf([...differences, -90_000, 40_000]).histogram
    const middle = edges.slice(1, -1)
    assert.deepStrictEqual(middle.map((edge) => 0 - edge).toReversed(), middle)
    assert.isTrue(middle.includes(0) && middle.length >= 21 && middle.length <= 41)
    assert.isTrue(edges[0]! <= -90_000 && edges.at(-1)! >= 40_000)
    assert.isAtMost(counts[0]! + counts.at(-1)!, 102)
  })
})
