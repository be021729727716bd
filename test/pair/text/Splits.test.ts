import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import * as fc from "fast-check"
import * as Conversation from "../../../src/domain/Conversation.ts"
import type { Prompt } from "../../../src/domain/Message.ts"
import { Threads } from "../../../src/node/Thread.ts"
import * as NormalizedPrompt from "../../../src/pair/text/NormalizedPrompt.ts"
import * as SplitGroups from "../../../src/pair/text/SplitGroups.ts"
import * as Splits from "../../../src/pair/text/Splits.ts"
import { allCases } from "../../support/cases.ts"
import { edited, signature, similarity, words } from "./support.ts"

type Groups = ReadonlyArray<string | null>

const settled = Effect.fnUntraced(function* (
  prompts: ReadonlyArray<Prompt>,
  options: Splits.SplitsOptions,
  groups?: Groups,
) {
  const splits = yield* Splits.make(options)
  yield* splits.add(prompts, groups)
  return yield* splits.assign
}, Effect.scoped)

const settle = (prompts: ReadonlyArray<Prompt>, options: Splits.SplitsOptions, groups?: Groups) =>
  Effect.runSync(Effect.provideService(settled(prompts, options, groups), Threads, "never"))

const assign = (prompts: ReadonlyArray<Prompt>, options: Splits.SplitsOptions) => {
  const { earliestOf, splitOf } = settle(prompts, options)
  return prompts.map((_, i) => ({ split: splitOf(i)!, earliest: earliestOf(i)! }))
}

const quarters: Splits.Shares = { train: 0.5, validation: 0.25, test: 0.25 }

/** Prompts of which many repeat another one, nearly or with other case and spacing. */
const family = (seed: number): ReadonlyArray<Prompt> => {
  const { text, word } = words(seed)
  return Array.from({ length: 12 }, () => text(20)).flatMap((one): ReadonlyArray<Prompt> => [
    one,
    ` ${one.toUpperCase()}\n`,
    `${one} ${word()}`,
    `${one}?`,
    [{ role: "user", content: one }],
    one.replace(/^\w+ \w+/, word()),
  ])
}

describe("Splits", () => {
  it("gives an item the same split, whatever comes after it", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...family(1)), { maxLength: 100 }),
        fc.nat(100),
        fc.integer(),
        (prompts, end, seed) => {
          const options = { shares: quarters, seed }
          assert.deepStrictEqual(assign(prompts.slice(0, end), options), assign(prompts, options).slice(0, end))
        },
      ),
    )
  })

  it("has no normal form in two splits, and what nearly repeats a prompt in its split", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...family(2)), { maxLength: 100 }), fc.integer(), (prompts, seed) => {
        const assigned = assign(prompts, { shares: quarters, seed })
        const splitOf = new Map<string, string>()
        assigned.forEach(({ earliest, split }, i) => {
          const normal = NormalizedPrompt.ofText(Conversation.toText(prompts[i]!))
          assert.strictEqual(splitOf.get(normal) ?? split, split)
          splitOf.set(normal, split)
          assert.strictEqual(assigned[earliest]!.split, split)
          assert.isAtMost(earliest, i)
        })
      }),
    )
  })

  it("keeps chains together, whose ends do not resemble each other", () => {
    const { below, text } = words(8)
    const likeness = (one: string, other: string) => similarity(signature(one), signature(other))
    const chains = Array.from({ length: 300 }, () => {
      const a = text(60)
      const b = edited(a, 5, below)
      return [a, b, edited(b, 7, below)] as const
    }).filter(([a, b, c]) => likeness(a, b) >= 0.83 && likeness(b, c) >= 0.8 && likeness(a, c) < 0.8)
    assert.isAbove(chains.length, 80)
    const assigned = assign(chains.flat(), { shares: quarters })
    const apart = chains.filter((_, i) => assigned[3 * i + 1]!.split !== assigned[3 * i + 2]!.split)
    // Some that hardly resemble each other share no band.
    assert.isAtMost(apart.length / chains.length, 0.02)
  })

  it("has about the shares that were asked for", () => {
    const { text } = words(4)
    const count = 25_000
    const shares = { train: 0.9, validation: 0.02, test: 0.08 } as const
    const prompts = Array.from({ length: count }, () => text(12))
    const { crossSplitNearDuplicates, splitOf } = settle(prompts, { shares, seed: 11 })
    const counts = { train: 0, validation: 0, test: 0 }
    for (let i = 0; i < count; i++) counts[splitOf(i)!]++
    for (const split of ["train", "validation", "test"] as const) {
      // The binomial distribution's standard deviation.
      const deviation = Math.sqrt(count * shares[split] * (1 - shares[split]))
      assert.approximately(counts[split], count * shares[split], 4 * deviation, split)
    }
    assert.strictEqual(crossSplitNearDuplicates, 0)
  })

  it("keeps what test and validation have when their shares grow", () => {
    const { text } = words(6)
    const prompts = Array.from({ length: 2_000 }, () => text(12))
    const drawn = (shares: Splits.Shares) => assign(prompts, { shares }).map(({ split }) => split)
    const before = drawn({ train: 0.8, validation: 0.1, test: 0.1 })
    for (const after of [
      drawn({ train: 0.7, validation: 0.1, test: 0.2 }),
      drawn({ train: 0.6, validation: 0.2, test: 0.2 }),
      drawn({ validation: 0.5, test: 0.5 }),
    ]) {
      const held = before.flatMap((split, i) => (split === "train" ? [] : [i]))
      assert.deepStrictEqual(
        held.map((i) => after[i]),
        held.map((i) => before[i]),
      )
    }
  })

  it("fills every split that has a share, and no other", () => {
    const { text } = words(7)
    const prompts = Array.from({ length: 500 }, () => text(12))
    for (const shares of [
      { train: 1 },
      { test: 1 },
      { validation: 1 },
      { train: 0.5, test: 0.5 },
      { validation: 0.5, test: 0.5 },
      { train: 0.7, validation: 0.2, test: 0.1 },
    ] satisfies ReadonlyArray<Splits.Shares>) {
      const found = new Set(assign(prompts, { shares }).map(({ split }) => split))
      assert.deepStrictEqual([...found].toSorted(), Object.keys(shares).toSorted())
    }
  })

  it("counts the prompts that resemble earlier ones of two splits, which go with the earliest", () => {
    const { below, text } = words(2)
    const one = text(100)
    const other = edited(one, 20, below)
    const between = one.slice(0, one.length / 2) + other.slice(one.length / 2)
    const seed = Array.from({ length: 100 }, (_, seed) => seed).find((seed) => {
      const [a, b] = assign([one, other], { shares: quarters, seed, threshold: 0.78 })
      return a!.split !== b!.split
    })!
    const options = { shares: quarters, seed, threshold: 0.78 }
    assert.strictEqual(settle([one, other], options).crossSplitNearDuplicates, 0)
    const { crossSplitNearDuplicates, splitOf } = settle([one, other, between], options)
    assert.strictEqual(splitOf(2), splitOf(0))
    assert.strictEqual(crossSplitNearDuplicates, 1)
    assert.isUndefined(splitOf(3))
  })

  it("has each component of groups and near-duplicates in one split, and meets the shares to within a component", () => {
    const prompts = [...family(4), ...family(5)]
    const groupOf = fc.option(fc.integer({ min: 0, max: 30 }).map(String), { nil: null })
    fc.assert(
      fc.property(fc.array(groupOf, { minLength: prompts.length, maxLength: prompts.length }), (groups) => {
        const { groups: sizes, splitOf } = settle(prompts, { shares: quarters, seed: 5 }, groups)
        const alone = assign(prompts, { shares: quarters })
        const counts = { train: 0, validation: 0, test: 0 }
        const splitOfGroup = new Map<string | null, string>()
        for (const [i, group] of groups.entries()) {
          const split = splitOf(i)!
          counts[split]++
          assert.strictEqual(split, splitOf(alone[i]!.earliest))
          if (group !== null) assert.strictEqual(splitOfGroup.get(group) ?? split, split)
          splitOfGroup.set(group, split)
        }
        if (groups.every((group) => group === null)) return assert.isUndefined(sizes)
        assert.strictEqual(sizes!.ungrouped, groups.filter((group) => group === null).length)
        for (const split of ["train", "validation", "test"] as const) {
          const wanted = prompts.length * quarters[split]!
          assert.isAtMost(Math.abs(counts[split] - wanted), Math.max(sizes!.largest, prompts.length - wanted))
          assert.isAtMost(counts[split], Math.max(wanted + sizes!.largest, sizes!.largest))
        }
      }),
      { numRuns: 40 },
    )
  })

  it("draws the splits of groups by the seed: the largest is in each split for some seed, and the shares are kept", () => {
    const { text } = words(9)
    const sizes = [20, 20, 12, 9, 7, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 1, 1]
    const groups = sizes.flatMap((size, group) => Array.from({ length: size }, () => `g${group}`))
    const prompts = groups.map(() => text(20))
    const shares = { train: 0.7, validation: 0.15, test: 0.15 } as const
    const drawn = (seed: number, order: ReadonlyArray<number> = prompts.map((_, i) => i)) => {
      const [inOrder, groupsInOrder] = [order.map((i) => prompts[i]!), order.map((i) => groups[i]!)]
      const { splitOf } = settle(inOrder, { shares, seed }, groupsInOrder)
      const all = new Map(order.map((i, at) => [i, splitOf(at)!]))
      return prompts.map((_, i) => all.get(i)!)
    }
    const seeds = Array.from({ length: 200 }, (_, seed) => drawn(seed))
    const ofLargest = Map.groupBy(seeds, ([first]) => first!)
    for (const split of ["train", "validation", "test"] as const) {
      // The binomial distribution's standard deviation.
      const deviation = Math.sqrt(200 * shares[split] * (1 - shares[split]))
      assert.approximately(ofLargest.get(split)?.length ?? 0, 200 * shares[split], 4 * deviation, split)
      for (const splits of seeds) {
        const count = splits.filter((one) => one === split).length
        // The largest group can exceed a share of 15 by 5; otherwise the small groups fill the shares.
        assert.isAtMost(Math.abs(count - 100 * shares[split]), 10, split)
      }
    }
    const misses = seeds.filter((splits) => !splits.some((_, i) => i < 40 && splits[i] !== "train"))
    for (const splits of misses)
      assert.lengthOf(
        splits.filter((split) => split === "test"),
        15,
      )
    assert.deepStrictEqual(drawn(3), seeds[3])
    assert.deepStrictEqual(drawn(3, prompts.map((_, i) => i).toReversed()), seeds[3])
  })

  it.skipIf(!allCases)("assigns more groups than a Map can have, with ALL_CASES", () => {
    const count = 2 ** 24 + 2
    const draws = Float64Array.from({ length: count }, (_, i) => ((i * 7919) % count) / count)
    const joined = new Array<readonly [number, number]>()
    const keys = Float64Array.from({ length: count }, (_, i) => (i % (count - 1)) * 2 ** 20)
    SplitGroups.joinEqual(keys, (one, other) => void joined.push([one, other]))
    assert.deepStrictEqual(joined, [[0, count - 1]])
    const { components, splitOf } = SplitGroups.assign(
      Uint32Array.from({ length: count }, (_, i) => i),
      [["train", 0.5], ["test", 0.5]],
      draws,
    ) // prettier-ignore
    assert.strictEqual(components, count)
    let train = 0
    for (let i = 0; i < count; i++) if (splitOf(i) === "train") train++
    assert.strictEqual(train, count / 2)
  })

  it("refuses shares that are none, with the field and what was expected", () => {
    const refused = (options: unknown) => {
      const exit = Effect.runSyncExit(Effect.flip(Effect.scoped(Splits.make(options as Splits.SplitsOptions))))
      return Exit.isSuccess(exit) ? [exit.value._tag, exit.value.field, exit.value.message] : []
    }
    assert.deepStrictEqual(refused({ shares: { train: 0.9, test: 0 } }), [
      "SplitsInvalid",
      "shares.test",
      "shares.test: expected a share above 0 and at most 1, found 0",
    ])
    for (const [field, options] of [
      ["shares.test", { shares: { train: 1, test: -0.1 } }],
      ["shares.test", { shares: { test: Number.NaN } }],
      ["shares.dev", { shares: { train: 0.9, dev: 0.1 } }],
      ["shares", { shares: { train: 0.9, test: 0.2 } }],
      ["shares", { shares: {} }],
      ["seed", { shares: { train: 1 }, seed: 0.5 }],
      ["threshold", { shares: { train: 1 }, threshold: 0 }],
    ] as const) {
      assert.strictEqual(refused(options)[1], field)
    }
    assert.deepStrictEqual(refused({ shares: { train: 0.7, validation: 0.2, test: 0.1 } }), [])
  })
})
