import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import fc from "fast-check"
import type { Annotations } from "../../../src/domain/Task.ts"
import { Vote } from "../../../src/domain/Vote.ts"
import * as CompletionOrder from "../../../src/task/ledger/schema/CompletionOrder.ts"
import * as Shuffle from "../../../src/task/plan/Shuffle.ts"

/** Any order of up to nine, and the seed of nothing else. */
const orders = fc
  .integer({ min: 2, max: 9 })
  .chain((n) => fc.shuffledSubarray([...Array.from({ length: n }).keys()], { minLength: n, maxLength: n }))

const indexIn = (order: ReadonlyArray<number>) => fc.nat(order.length - 1)

/** All indices, in groups of equals. */
const rankingIn = (order: ReadonlyArray<number>) =>
  fc
    .tuple(fc.shuffledSubarray([...order], { minLength: order.length }), fc.array(fc.boolean(), { minLength: 9 }))
    .map(([indices, joined]) => {
      const groups: Array<Array<number>> = []
      indices.forEach((index, i) => {
        if (i > 0 && joined[i] === true) groups.at(-1)!.push(index)
        else groups.push([index])
      })
      return groups
    })

/** One rating per completion, and a list of another length. */
const aspectsIn = ({ length }: ReadonlyArray<number>) =>
  fc.record({
    clarity: fc.array(fc.option(fc.integer({ min: 1, max: 5 })), { minLength: length, maxLength: length }),
    odd: fc.constant([1]),
  })

/** What an expert says who sees the completions as the input has them: as the service would write it. */
const votesIn = (order: ReadonlyArray<number>) =>
  fc.record({
    expert: fc.string(),
    choice: indexIn(order),
    ranking: rankingIn(order),
    aspects: aspectsIn(order),
    order: fc.shuffledSubarray([...order], { minLength: order.length }),
    seconds: fc.nat(),
    details: fc.record({
      model: fc.string(),
      answers: fc.array(
        fc.record({
          order: fc.tuple(indexIn(order), indexIn(order)),
          choice: fc.option(indexIn(order)),
          rationale: fc.string(),
        }),
      ),
    }),
  })

const judged = orders.chain((order) =>
  fc.tuple(
    fc.constant(order),
    fc.record({
      rationale: fc.string(),
      agreement: fc.integer(),
      ranking: rankingIn(order),
      aspects: aspectsIn(order),
      votes: fc.array(votesIn(order), { maxLength: 3 }),
    }),
  ),
)

type Said = (typeof judged extends fc.Arbitrary<infer A> ? A : never)[1]

/** The same as the service says it of the completions in the order in which it got them. */
const asSent = (order: ReadonlyArray<number>, { aspects, ranking, votes, ...more }: Said) => {
  const place = (index: number) => order.indexOf(index)
  const rated = ({ clarity, ...others }: typeof aspects) => ({ ...others, clarity: order.map((i) => clarity[i]) })
  return {
    ...more,
    ranking: ranking.map((group) => group.map(place)),
    aspects: rated(aspects),
    votes: votes.map((vote) => ({
      ...vote,
      choice: place(vote.choice),
      ranking: vote.ranking.map((group) => group.map(place)),
      aspects: rated(vote.aspects),
      order: vote.order.map(place),
      details: {
        ...vote.details,
        answers: vote.details.answers.map((answer) => ({
          ...answer,
          order: answer.order.map(place),
          choice: answer.choice === null ? null : place(answer.choice),
        })),
      },
    })),
  }
}

describe("Order", () => {
  it("is undone, for completions and for all that prefstream's own service says of them", () => {
    fc.assert(
      fc.property(judged, ([order, said]) => {
        const completions = order.map((index) => `completion ${index}`).toSorted()
        assert.deepStrictEqual(CompletionOrder.undo(CompletionOrder.apply(completions, order), order), completions)
        assert.deepStrictEqual(CompletionOrder.undoAnnotations(asSent(order, said) as Annotations, order), said)
        for (const vote of said.votes) assert.isTrue(Schema.is(Vote)(vote))
      }),
    )
  })

  it("leaves alone what is no index of a completion, and what it does not know", () => {
    const order = [2, 0, 1]
    const strange: ReadonlyArray<Annotations> = [
      { rationale: null },
      { ranking: "the second" },
      { ranking: [2, 0, 1] },
      { ranking: [[0], [3]] },
      { ranking: [[0], ["1"]] },
      { votes: 3 },
      { aspects: { depth: 2 } },
      { votes: [7, null, { choice: 9, order: [0, 1, 5], ranking: { best: 1 } }] },
      { scores: [0, 1, 2], best: 1 },
    ]
    for (const annotations of strange) {
      assert.deepStrictEqual(CompletionOrder.undoAnnotations(annotations, order), annotations)
    }
  })

  it("is the same for the same seed, item and vote, and another one elsewhere", () => {
    const one = Shuffle.ofItem(0, "item", 1, 8)
    assert.deepStrictEqual(Shuffle.ofItem(0, "item", 1, 8), one)
    const others = [Shuffle.ofItem(1, "item", 1, 8), Shuffle.ofItem(0, "item", 2, 8), Shuffle.ofItem(0, "other", 1, 8)]
    for (const other of others) assert.notDeepEqual(other, one)
  })

  // Pearson's test; 23 degrees of freedom: below 41.64 in 99 of 100 draws (NIST/SEMATECH e-Handbook, 1.3.6.7.4).
  it("is any of the 24 orders of four equally often", () => {
    const drawn = 24_000
    const counts = new Map<string, number>()
    for (let i = 0; i < drawn; i++) {
      const order = Shuffle.ofItem(0, `item ${i}`, 1, 4) ?? [0, 1, 2, 3]
      counts.set(order.join(), (counts.get(order.join()) ?? 0) + 1)
    }
    assert.strictEqual(counts.size, 24)
    const expected = drawn / 24
    const chiSquare = [...counts.values()].reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0)
    assert.isBelow(chiSquare, 41.64)
  })

  it("orders more completions than one hash has numbers for", () => {
    const order = Shuffle.ofItem(0, "item", 1, 1000)!
    assert.sameMembers([...order], [...Array.from({ length: 1000 }).keys()])
    assert.isAbove(order.filter((index, at) => index !== at).length, 900)
  })
})
