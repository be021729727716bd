import { assert, describe, it } from "@effect/vitest"
import * as AnnotationPaths from "../../src/api/AnnotationPaths.ts"

describe("AnnotationPaths", () => {
  it("reads members of annotations and of their votes where another service has them", () => {
    const read = AnnotationPaths.reader({ strength: "preference.strength", all_bad: "both_bad", rationale: "why" })
    const votes = [{ expert: "ann", choice: 0, preference: { strength: 2 }, both_bad: null }, "odd"]
    assert.deepStrictEqual(read({ preference: { strength: 3 }, both_bad: true, why: "So.", votes }), {
      preference: { strength: 3 },
      both_bad: true,
      why: "So.",
      strength: 3,
      all_bad: true,
      rationale: "So.",
      votes: [{ expert: "ann", choice: 0, preference: { strength: 2 }, both_bad: null, strength: 2 }, "odd"],
    })
  })

  it("changes nothing without paths, or where they lead nowhere", () => {
    const annotations = { rationale: "r", strength: 1 }
    assert.strictEqual(AnnotationPaths.reader()(annotations), annotations)
    assert.deepStrictEqual(AnnotationPaths.reader({ strength: "a.b", rationale: "c" })(annotations), annotations)
  })

  it("reads a rationale that is no text as its JSON", () => {
    assert.deepStrictEqual(AnnotationPaths.reader({ rationale: "why" })({ why: [5] }), { why: [5], rationale: "[5]" })
  })
})
