import { assert, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as ranking from "../../../../src/service/pages/annotate/ranking.ts"

it("gives ranks in any order, and the same rank as a tie", () => {
  let ranks = ranking.none(4)
  ranks = ranking.assign(ranks, 0, 3)
  ranks = ranking.assign(ranks, 1, 1)
  ranks = ranking.assign(ranks, 3, 3)
  assert.deepStrictEqual(ranking.groups(ranks), [[1], [0, 3]])
  assert.deepStrictEqual(ranking.unranked(ranks), [2])
  assert.strictEqual(ranking.format(ranks), "2 > 1 = 4")
  assert.strictEqual(ranking.formatForScreenReader(ranks), "rank 1: completion 2; rank 3: completions 1 and 4")
})

it("takes a rank away where it is given once more", () => {
  assert.deepStrictEqual(ranking.assign(ranking.assign(ranking.none(2), 1, 2), 1, 2), [null, null])
})

it("keeps gaps in a draft, and closes them in a submission", () => {
  const ranks = ranking.assign(ranking.assign(ranking.none(3), 2, 3), 0, 1)
  assert.deepStrictEqual(ranking.toDraft(ranks), [[0], [], [2]])
  assert.deepStrictEqual(ranking.fromDraft(ranking.toDraft(ranks), 3), ranks)
  assert.deepStrictEqual(ranking.groups(ranks), [[0], [2]])
})

it("leaves out what a draft should not have: places that are not there, and the same place twice", () => {
  assert.deepStrictEqual(ranking.fromDraft([[0, 7], [0], [1]], 2), [1, 3])
})

it("ranks in the order of being picked", () => {
  let ranks = ranking.none(3)
  for (const place of [2, 0, 1]) ranks = ranking.toggleNext(ranks, place)
  assert.strictEqual(ranking.format(ranks), "3 > 1 > 2")
  assert.deepStrictEqual(ranking.toggleNext(ranks, 0), [null, 3, 1])
})

it("moves out of a tie first, then past the group beside it", () => {
  const ranks = ranking.fromDraft([[0], [1, 2]], 3)
  const once = ranking.raise(ranks, 2)
  assert.deepStrictEqual(ranking.groups(once), [[0], [2], [1]])
  assert.deepStrictEqual(ranking.groups(ranking.raise(once, 2)), [[2], [0], [1]])
  assert.deepStrictEqual(ranking.groups(ranking.lower(ranks, 1)), [[0], [2], [1]])
  assert.deepStrictEqual(ranking.groups(ranking.lower(ranks, 0)), [[1, 2], [0]])
})

it("stays where there is nothing better or worse", () => {
  const ranks = ranking.fromDraft([[0], [1]], 2)
  assert.deepStrictEqual(ranking.raise(ranks, 0), ranks)
  assert.deepStrictEqual(ranking.lower(ranks, 1), ranks)
})

it("ties with the group above, the best with the one below, the unranked with the last", () => {
  const ranks = ranking.fromDraft([[0], [1], [2]], 4)
  assert.deepStrictEqual(ranking.groups(ranking.tie(ranks, 2)), [[0], [1, 2]])
  assert.deepStrictEqual(ranking.groups(ranking.tie(ranks, 0)), [[0, 1], [2]])
  assert.deepStrictEqual(ranking.groups(ranking.tie(ranks, 3)), [[0], [1], [2, 3]])
  assert.deepStrictEqual(ranking.tie(ranking.none(2), 0), ranking.none(2))
})

it("loses no completion and doubles none, whatever is done", () => {
  const places = 5
  const action = fc.tuple(
    fc.constantFrom("assign", "clear", "toggleNext", "raise", "lower", "tie"),
    fc.nat(places - 1),
    fc.integer({ min: 1, max: 9 }),
  )
  fc.assert(
    fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
      let ranks = ranking.none(places)
      for (const [name, place, rank] of actions) {
        const before = ranking.unranked(ranks)
        if (name === "assign") ranks = ranking.assign(ranks, place, rank)
        else if (name === "clear") ranks = ranking.clear(ranks, place)
        else if (name === "toggleNext") ranks = ranking.toggleNext(ranks, place)
        else if (name === "raise") ranks = ranking.raise(ranks, place)
        else if (name === "lower") ranks = ranking.lower(ranks, place)
        else ranks = ranking.tie(ranks, place)
        // No action touches whether another completion is ranked.
        const others = (all: ReadonlyArray<number>) => all.filter((each) => each !== place)
        assert.deepStrictEqual(others(ranking.unranked(ranks)), others(before))
        assert.deepStrictEqual(
          [...ranking.groups(ranks).flat(), ...ranking.unranked(ranks)].toSorted((a, b) => a - b),
          [0, 1, 2, 3, 4],
        )
        assert.deepStrictEqual(ranking.fromDraft(ranking.toDraft(ranks), places), ranks)
      }
    }),
  )
})
