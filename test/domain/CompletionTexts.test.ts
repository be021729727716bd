import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as CompletionTexts from "../../src/domain/CompletionTexts.ts"
import * as PairBytes from "../../src/domain/PairBytes.ts"
import { charactersOf, isBlank } from "../../src/domain/Text.ts"
import * as JsonText from "../../src/domain/JsonText.ts"
import { bestAgainstRest } from "../../src/pair/PairStrategy.ts"
import { judgedItem } from "../support/judged.ts"

const [judgment] = judgedItem(["yes", "no"], [{ best: 0 }]).judgments

const text = fc.string({ unit: fc.constantFrom(...Array.from('ab \\"\n\t\u00a0\u2028é—😀')) })
const texts = fc.array(text, { minLength: 2, maxLength: 5 })

/** The list as the bytes of a request have it. */
const asBytes = (prompt: string, completions: ReadonlyArray<string>) => {
  const body = Buffer.from(JSON.stringify({ prompt, completions }))
  let at = body.indexOf(":") + 1
  const place = (): JsonText.Place => [at, (at = JsonText.endOf(body, at))]
  const promptPlace = place()
  at += ',"completions":['.length
  const places = completions.map(() => {
    const found = place()
    at++
    return found
  })
  return CompletionTexts.make({ body, prompt: { text: prompt, place: promptPlace }, places })
}

describe("CompletionTexts", () => {
  it("is a list like any other, and knows of its texts what others would have to read", () => {
    fc.assert(
      fc.property(text, texts, (prompt, completions) => {
        const lazy = asBytes(prompt, completions)
        assert.deepStrictEqual(CompletionTexts.firstOfText(lazy), CompletionTexts.firstOfText(completions))
        assert.strictEqual(CompletionTexts.countDifferent(lazy), new Set(completions).size)
        completions.forEach((completion, i) => {
          assert.strictEqual(CompletionTexts.charactersAt(lazy, i), charactersOf(completion))
          assert.strictEqual(CompletionTexts.isBlankAt(lazy, i), isBlank(completion))
        })
        assert.isTrue(Array.isArray(lazy))
        assert.lengthOf(lazy, completions.length)
        assert.deepStrictEqual([...lazy], completions)
        assert.deepStrictEqual(lazy, completions)
        assert.deepStrictEqual(structuredClone(lazy), completions)
        assert.strictEqual(JSON.stringify(lazy), JSON.stringify(completions))
        assert.deepStrictEqual(
          lazy.map((each) => each.length),
          completions.map((each) => each.length),
        )
      }),
    )
  })

  it("gives the same pairs, whose copies are pairs, too", () => {
    fc.assert(
      fc.property(text, texts, (prompt, completions) => {
        const pairs = bestAgainstRest({ ...judgment, prompt, completions, bestCompletionIndex: 0 })
        const lazy = bestAgainstRest({
          ...judgment,
          prompt,
          completions: asBytes(prompt, completions),
          bestCompletionIndex: 0,
        })
        for (const pair of lazy) {
          const { body, places } = PairBytes.of(pair)!
          assert.deepStrictEqual(
            places.map((place) => JsonText.decode(body, place)),
            [pair.prompt, pair.chosen, pair.rejected],
          )
          assert.isUndefined(PairBytes.of({ ...pair }))
        }
        assert.deepStrictEqual(lazy, pairs)
        assert.strictEqual(JSON.stringify(lazy), JSON.stringify(pairs))
        assert.deepStrictEqual(
          lazy.map((pair) => ({ ...pair })),
          pairs,
        )
      }),
    )
  })

  it("leaves the bytes of another prompt alone", () => {
    const completions = asBytes("One?", ["yes", "no"])
    const [pair] = bestAgainstRest({ ...judgment, prompt: "Another?", completions, bestCompletionIndex: 1 })
    assert.isUndefined(PairBytes.of(pair!))
    assert.deepStrictEqual([pair!.prompt, pair!.chosen, pair!.rejected], ["Another?", "no", "yes"])
  })
})
