import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import * as Assessment from "../../src/domain/Assessment.ts"

const abc = ["a", "b", "c"]

it("Assessment.read takes what it knows, and leaves out what has another shape", () => {
  const given = { strength: -2, all_bad: false, edited: "b, better", aspects: { clarity: [1, null, 3], depth: 4 } }
  assert.deepStrictEqual(Assessment.read(given, 1, 3), {
    strength: 2,
    all_bad: false,
    edited: "b, better",
    aspects: { clarity: [1, null, 3], depth: [null, 4, null] },
  })
  const odd = {
    strength: "much",
    all_bad: "yes",
    edited: " ",
    aspects: { clarity: [1, 2], depth: [null, null, "x"] },
  }
  assert.deepStrictEqual(Assessment.read(odd, 1, 3), {})
  assert.deepStrictEqual(Assessment.read({ strength: Number.NaN, aspects: [] }, 0, 3), {})
})

it("the guide of the service lists the parts, and how they are combined", () => {
  const guide = readFileSync("src/service/README.md", "utf8")
  const rows = /\| answer .*\n\|.*\n((?:\|.*\n)+)/.exec(guide)![1]!.trim().split("\n")
  assert.deepStrictEqual(
    Object.fromEntries(
      rows.map((row) => row.split("|").map((cell) => cell.trim())).map((cells) => [cells[1], cells[3]]),
    ),
    Object.fromEntries(Assessment.names.map((name) => [`\`${name}\``, Assessment.combined[name]])),
  )
})

describe("Assessment.combine", () => {
  it("means the strengths of the votes for the best text alone, and takes the earliest of their edits", () => {
    const votes = [
      { choice: 1, strength: 3 },
      { choice: 0, strength: 1, edited: "a!" },
      { choice: 1, strength: 2, edited: "b!" },
      { choice: 1, edited: "b?" },
      { choice: 1, strength: 1, ranking: [[1, 2], [0]] as const },
    ]
    assert.deepStrictEqual(Assessment.combine(abc, 1, votes), { strength: 2.5, edited: "b!" })
    assert.deepStrictEqual(Assessment.combine(["b", "b", "c"], 0, votes.slice(0, 2)), { strength: 2, edited: "a!" })
  })

  it("has all bad by more than half of all votes", () => {
    const bad = (...said: ReadonlyArray<boolean | undefined>) =>
      Assessment.combine(
        abc,
        0,
        said.map((all_bad) => ({ choice: 0, ...(all_bad !== undefined && { all_bad }) })),
      ).all_bad
    assert.isTrue(bad(true, true, false))
    assert.isFalse(bad(true, false))
    assert.isFalse(bad(true, undefined))
    assert.isUndefined(bad(undefined, undefined))
  })

  it("takes the mean of each rating", () => {
    const votes = [{ clarity: [1, null, 4] }, { clarity: [2, null, 5], depth: [null, null, 3] }, {}]
    const { aspects } = Assessment.combine(
      abc,
      2,
      votes.map((aspects) => ({ choice: 2, aspects })),
    )
    assert.deepStrictEqual(aspects, { clarity: [1.5, null, 4.5], depth: [null, null, 3] })
  })

  it("says nothing of votes that say nothing", () => {
    assert.deepStrictEqual(Assessment.combine(abc, 0, [{ choice: 0 }, { choice: 1 }]), {})
  })
})

it.each([
  [0, 1, { clarity: { chosen: 4, rejected: null }, short: { chosen: 3, rejected: null } }],
  [1, 2, { clarity: { chosen: null, rejected: 1 }, depth: { chosen: null, rejected: 2 } }],
  [1, 1, null],
])("Assessment.toColumns of %i and %i has the aspects by which one of them was rated", (chosen, rejected, expected) => {
  const aspects = { clarity: [4, null, 1], depth: [null, null, 2], short: [3] }
  const columns = Assessment.toColumns({ aspects }, abc, 0, [chosen, rejected])
  assert.deepStrictEqual(JSON.parse(columns.aspects ?? "null"), expected)
})
