import { assert, describe, it } from "@effect/vitest"
import * as entries from "../../../../src/service/pages/annotate/entry.ts"
import { item } from "./support.ts"

const blank = entries.open(item(1, 3), null, "best")

describe("entry", () => {
  it("opens with the draft, or blank in the mode used last", () => {
    assert.isTrue(entries.isBlank(blank))
    assert.strictEqual(entries.open(item(1, 3), null, "rank").mode, "rank")
    const draft = { mode: "rank", best: 1, ranking: [[2], [0, 1]], rationale: "r", seconds: 4 } as const
    const entry = entries.open(item(1, 3), draft, "best")
    assert.deepStrictEqual(entries.toDraft(entry, 4), draft)
  })

  it("forgets a choice that the item does not have", () => {
    const draft = { mode: "best", best: 5, ranking: [], rationale: "", seconds: 0 } as const
    assert.isNull(entries.open(item(1, 2), draft, "best").best)
  })

  it("submits the choice, without blanks around the rationale", () => {
    const entry = { ...entries.choose(blank, 2), rationale: " because \n" }
    assert.deepStrictEqual(entries.submission(entry, 1.5), {
      best: 2,
      ranking: null,
      rationale: "because",
      seconds: 1.5,
    })
  })

  it("takes a choice back when it is chosen once more, and ignores what is not there", () => {
    assert.isNull(entries.choose(entries.choose(blank, 1), 1).best)
    assert.strictEqual(entries.choose(blank, 3), blank)
  })

  it("says what is missing", () => {
    assert.strictEqual(entries.missing(blank), "Choose the best completion first.")
    assert.isNull(entries.submission(blank, 1))
    const rank = { ...blank, mode: "rank", ranks: [1, null, null] } as const
    assert.strictEqual(entries.missing(rank), "Not ranked yet: 2 and 3.")
    assert.isNull(entries.submission(rank, 1))
  })

  it("submits a full ranking with its ties, without gaps", () => {
    const rank = { ...blank, mode: "rank", best: 1, ranks: [4, 2, 4] } as const
    assert.deepStrictEqual(entries.submission(rank, 0), {
      best: null,
      ranking: [[1], [0, 2]],
      rationale: "",
      seconds: 0,
    })
    assert.strictEqual(entries.format(rank), "2 > 1 = 3")
  })

  it("takes the best along when the mode changes, and keeps the ranking", () => {
    const ranked = entries.switchMode(entries.choose(blank, 1))
    assert.deepStrictEqual([ranked.mode, ranked.ranks], ["rank", [null, 1, null]])
    const back = entries.switchMode({ ...blank, mode: "rank", ranks: [2, 1, 2] })
    assert.deepStrictEqual([back.mode, back.best, back.ranks], ["best", 1, [2, 1, 2]])
    assert.isNull(entries.switchMode({ ...blank, mode: "rank", ranks: [1, 1, 2] }).best)
  })
})
