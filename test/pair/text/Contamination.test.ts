import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Contamination from "../../../src/pair/text/Contamination.ts"
import { hostile, words } from "./support.ts"

const { below, text } = words(1)
const evaluations = Array.from({ length: 500 }, () => text(8 + below(60)))
const contamination = Contamination.make(evaluations)

/** Words of Latin letters alone: the coverage as the paper defines it. */
const coverageOf = (evaluation: string, within: string): number => {
  const [of, tokens] = [evaluation.split(" "), within.split(" ")]
  const gramAt = (from: ReadonlyArray<string>, i: number) => from.slice(i, i + 8).join(" ")
  const grams = new Set(tokens.slice(7).map((_, i) => gramAt(tokens, i)))
  const covered = of.filter((_, token) =>
    [...Array(8).keys()].some((back) => {
      const start = token - back
      return start >= 0 && start + 8 <= of.length && grams.has(gramAt(of, start))
    }),
  )
  return covered.length / of.length
}

describe("Contamination", () => {
  it("finds each evaluation prompt within a longer text, whatever its case, spacing and punctuation", () => {
    evaluations.forEach((evaluation, i) => {
      const shown = evaluation.toUpperCase().replaceAll(" ", i % 2 === 0 ? " \n" : ", ")
      assert.deepStrictEqual(contamination.find(`${text(30)}. "${shown}" ${text(30)}`), {
        promptOrdinal: i,
        coverage: 1,
      })
    })
  })

  it("finds the same as counting token by token, also where evaluation prompts have much in common", () => {
    const token = fc.oneof(fc.constant("0"), fc.integer({ min: 0, max: 3 }).map(String))
    const sequence = fc.array(token, { minLength: 8, maxLength: 40 })
    const cases = fc.array(sequence, { minLength: 1, maxLength: 12 }).chain((evaluations) =>
      fc.record({
        evaluations: fc.constant(evaluations.map((tokens) => tokens.join(" "))),
        // Pieces of evaluation prompts, so that many of them are covered in part.
        within: fc
          .array(
            fc
              .record({ of: fc.constantFrom(...evaluations), start: fc.nat(20), length: fc.nat(30) })
              .map(({ length, of, start }) => of.slice(start, start + length)),
            { maxLength: 5 },
          )
          .map((pieces) => pieces.flat().join(" ")),
      }),
    )
    fc.assert(
      fc.property(cases, ({ evaluations, within }) => {
        const coverages = evaluations.map((evaluation) => coverageOf(evaluation, within))
        const most = Math.max(...coverages)
        assert.deepStrictEqual(
          Contamination.make(evaluations).find(within),
          most > 0.5 ? { promptOrdinal: coverages.indexOf(most), coverage: most } : undefined,
        )
      }),
      { numRuns: 1_000 },
    )
  })

  it("finds the question, not the template that all questions begin with", () => {
    const template = text(30)
    const questions = Array.from({ length: 300 }, () => text(40))
    const of = Contamination.make(questions.map((question) => `${template} ${question}`))
    assert.isUndefined(of.find(`${template} ${text(40)}`))
    assert.deepStrictEqual(of.find(`${template} ${questions[299]}`), { promptOrdinal: 299, coverage: 1 })
    assert.strictEqual(of.find(questions[7]!)?.promptOrdinal, 7)
  })

  it("finds an evaluation prompt of 5 to 7 tokens as a whole, one of up to 4 only alone", () => {
    const of = Contamination.make(["What is the capital of France?", "Who wrote Hamlet?", "Tell me a joke", "2+2"])
    assert.deepStrictEqual(of.find("Please tell me: what is the capital of france, and why?"), {
      promptOrdinal: 0,
      coverage: 1,
    })
    assert.isUndefined(of.find("What is the capital of Germany?"))
    assert.isUndefined(of.find("what is the capital"))
    assert.strictEqual(of.find("who wrote Hamlet")?.promptOrdinal, 1)
    assert.isUndefined(of.find("Who wrote Hamlet, and when was it first performed?"))
    assert.strictEqual(of.find("tell me a joke!")?.promptOrdinal, 2)
    assert.isUndefined(of.find("tell me a joke about cats"))
    assert.strictEqual(of.find("2 + 2")?.promptOrdinal, 3)
    assert.isUndefined(of.find("2-2"))
    assert.isUndefined(of.find("2"))
  })

  it("takes the characters of scripts that do not separate words for tokens", () => {
    const of = Contamination.make([
      "请用简单的语言解释量子计算机的工作原理",
      "ช่วยอธิบายเรื่องนี้ให้ฉันฟัง",
      "日本の首都は?",
      "日本",
    ])
    assert.deepStrictEqual(of.find("问题一：请用简单的语言，解释量子计算机的工作原理。谢谢"), {
      promptOrdinal: 0,
      coverage: 1,
    })
    assert.strictEqual(of.find("สวัสดี ช่วยอธิบายเรื่องนี้ให้ฉันฟังหน่อย")?.promptOrdinal, 1)
    assert.strictEqual(of.find("すみません、日本の首都は何ですか")?.promptOrdinal, 2)
    assert.isUndefined(of.find("请解释一下经典计算机的历史"))
    assert.isUndefined(of.find("日本語を教えて"))
  })

  it("takes any text, on either side", () => {
    const of = Contamination.make([...hostile, "toString valueOf __proto__ constructor hasOwnProperty", ...evaluations])
    for (const one of hostile) {
      assert.isUndefined(contamination.find(one))
      of.find(one)
    }
    assert.isUndefined(of.find(""))
    assert.isUndefined(of.find("!!!"))
    assert.strictEqual(of.find("a".repeat(5_000_000))?.coverage, 1)
    assert.strictEqual(of.find("字".repeat(100_000))?.coverage, 1)
    assert.strictEqual(of.find("tostring valueof __proto__ constructor hasownproperty")?.promptOrdinal, hostile.length)
    assert.isUndefined(Contamination.make([]).find("anything"))
  })
})
