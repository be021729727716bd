import { assert, it } from "@effect/vitest"
import * as entries from "../../../../src/service/pages/annotate/entry.ts"
import { item } from "./support.ts"

const { rubric } = item(1)
const blank = entries.open(item(1, 3), null, "best")

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
  assert.deepStrictEqual(entries.submission(entry, rubric, 1.5), {
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
  assert.strictEqual(entries.missing(blank, rubric)?.words, "Choose the best completion first.")
  assert.isNull(entries.submission(blank, rubric, 1))
  const rank = { ...blank, mode: "rank", ranks: [1, null, null] } as const
  assert.strictEqual(entries.missing(rank, rubric)?.words, "Not ranked yet: 2 and 3.")
  assert.isNull(entries.submission(rank, rubric, 1))
})

it("says which required answer is missing, in the order of the page, and how many there are", () => {
  const aspects = [
    { name: "truth", steps: 3, required: true },
    { name: "style", steps: 3 },
  ]
  const asked = { ...rubric, strength: ["a", "b"], aspects, edit: true, required: ["rationale", "strength"] } as const
  const lacks = (entry: entries.Entry) => entries.missing(entry, asked)?.words
  let entry = entries.choose(blank, 1)
  assert.strictEqual(entries.progress(entry, asked), "0 of 8 answered")
  assert.isNull(entries.progress(entry, rubric))
  entry = entries.rate(entries.rate(entry, "truth", 0, 2), "style", 1, 1)
  assert.strictEqual(lacks(entry), "Rate truth of completion 2 first.")
  entry = entries.rate(entries.rate(entry, "truth", 1, 2), "truth", 2, 2)
  assert.strictEqual(lacks(entry), "Write a rationale first.")
  entry = { ...entry, rationale: "why" }
  assert.deepStrictEqual(entries.missing(entry, asked)?.place, "#strength button")
  assert.isNull(entries.submission(entry, asked, 0))
  entry = entries.setStrength(entry, 1)
  assert.strictEqual(entries.progress(entry, asked), "6 of 8 answered")
  assert.strictEqual(entries.submission(entry, asked, 0)?.rationale, "why")
})

it("submits a full ranking with its ties, without gaps", () => {
  const rank = { ...blank, mode: "rank", best: 1, ranks: [4, 2, 4] } as const
  assert.deepStrictEqual(entries.submission(rank, rubric, 0), {
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

it("says nothing more until something is said, and takes it back when it is said once more", () => {
  assert.notProperty(entries.toDraft(blank, 0), "assessment")
  const chosen = entries.choose(blank, 0)
  assert.notProperty(entries.submission(chosen, rubric, 0), "assessment")
  let entry = entries.stepStrength(entries.stepStrength(entries.stepStrength(chosen, 1, 2), 1, 2), 1, 2)
  assert.strictEqual(entry.said.strength, 2)
  entry = entries.rate(entries.toggleFlag(entries.toggleAllBad(entry), "x"), "clarity", 1, 4)
  assert.isFalse(entries.isBlank(entry))
  const assessment = { strength: 2, all_bad: true, flags: ["x"], aspects: { clarity: [null, 4, null] } }
  assert.deepStrictEqual(entries.submission(entry, rubric, 0)?.assessment, { ...assessment, edited: null })
  assert.deepStrictEqual(entries.toDraft(entry, 0).assessment, { ...assessment, edit: null })
  assert.deepStrictEqual(entries.open(item(1, 3), entries.toDraft(entry, 0), "best"), entry)
  entry = entries.rate(entries.toggleFlag(entries.toggleAllBad(entry), "x"), "clarity", 1, 4)
  assert.deepStrictEqual(entries.setStrength(entry, 2), chosen)
  assert.isNull(entries.stepStrength(entries.stepStrength(entry, -1, 2), -1, 2).said.strength)
})

it("submits an edit only of the completion that is best", () => {
  const edited = entries.edit(entries.choose(blank, 1), 1, "better", "worse")
  assert.strictEqual(entries.submission(edited, rubric, 0)?.assessment?.edited, "better")
  const other = entries.choose(edited, 2)
  assert.notProperty(entries.submission(other, rubric, 0), "assessment")
  assert.strictEqual(entries.editOf(entries.choose(other, 1)), "better", "it is kept")
  assert.isNull(entries.editOf(entries.edit(edited, 1, "worse", "worse")), "changed back")
  const ranked = { ...edited, mode: "rank", ranks: [2, 1, 2] } as const
  assert.strictEqual(entries.editOf(ranked), "better")
})
