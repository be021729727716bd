import { assert, describe, it } from "@effect/vitest"
import * as MinHash from "../../../src/pair/text/MinHash.ts"
import { signature, similarity, words } from "./support.ts"

const isEastAsian = (unit: string) => unit.charCodeAt(0) >= 0x2e80

/** The shingles as the documentation defines them. */
const shinglesOf = (text: string): Set<string> => {
  const starts = [...Array(text.length).keys()]
  const shingles = starts
    .map((i) => text.slice(i, i + (isEastAsian(text[i]!) ? 3 : 5)))
    .filter((shingle) => shingle.length === (isEastAsian(shingle) ? 3 : 5))
  return new Set(shingles.length > 0 ? shingles : [text])
}

const jaccard = (one: string, other: string): number => {
  const [a, b] = [shinglesOf(one), shinglesOf(other)]
  return [...a].filter((shingle) => b.has(shingle)).length / new Set([...a, ...b]).size
}

const estimate = (one: string, other: string): number => similarity(signature(one), signature(other))

/** Of 112 bytes, each of which is equal with probability J + (1 − J) / 256. */
const deviation = (j: number): number => Math.sqrt(((j + 1 / 255) * (1 - j)) / MinHash.signatureBytes)

/** Texts in pairs, from unlike to equal. */
const pairs = (seed: number, count: number, letters: number, alphabet: string) => {
  const { below } = words(seed)
  const letter = () => alphabet[below(alphabet.length)]!
  return Array.from({ length: count }, (_, i) => {
    const one = Array.from({ length: letters }, letter)
    const other = [...one]
    for (let edit = 0; edit < ((i % 20) * letters) / 100; edit++) other[below(letters)] = letter()
    return [one.join(""), other.join("")] as const
  })
}

const latin = "abcdefghijklmnopqrstuvwxyz "
const han = Array.from({ length: 500 }, (_, i) => String.fromCharCode(0x4e00 + 7 * i)).join("")

describe("MinHash", () => {
  for (const [name, letters, alphabet, seed] of [
    ["6 words", 36, latin, 1],
    ["a paragraph", 300, latin, 2],
    ["a long prompt", 2_000, latin, 3],
    ["a sentence in Chinese", 40, han, 4],
    ["Latin and Chinese mixed", 200, latin + han.slice(0, 30), 5],
  ] as const) {
    it(`estimates the Jaccard index of the sets of shingles without bias, within its error: ${name}`, () => {
      const count = 400
      let squares = 0
      let sum = 0
      let compared = 0
      for (const [one, other] of pairs(seed, count, letters, alphabet)) {
        const exact = jaccard(one, other)
        const estimated = estimate(one, other)
        if (exact === 1) {
          assert.strictEqual(estimated, 1)
          continue
        }
        const z = (estimated - exact) / deviation(exact)
        // Estimates near 0 are skewed: a byte that is equal by chance is a step of more than one deviation.
        if (exact > 0.1) {
          assert.isBelow(Math.abs(z), 4.5, `estimated ${estimated} for ${exact}`)
          squares += z * z
          sum += z
          compared++
        }
      }
      assert.isAbove(compared, 100)
      // The mean of z is within 4 standard deviations of 0, its variance at most 1 within 4 of its own.
      assert.isBelow(Math.abs(sum / compared), 4 / Math.sqrt(compared))
      assert.isBelow(squares / compared, 1 + 4 * Math.sqrt(2 / compared))
    })
  }

  it("takes off what bytes agree by chance: of 112 a share of J + (1 − J) / 256", () => {
    for (const j of [0, 0.3, 0.8, 1]) {
      assert.approximately(MinHash.fromEqualBytes(MinHash.signatureBytes * (j + (1 - j) / 256)), j, 1e-12)
    }
    assert.strictEqual(MinHash.fromEqualBytes(0), 0)
  })

  it("spreads over all values of a byte: what is unlike agrees in 1 of 256", () => {
    const { below } = words(7)
    const unlike = () => Array.from({ length: 300 }, () => String.fromCharCode(97 + below(1_000))).join("")
    const signatures = Array.from({ length: 200 }, () => signature(unlike()))
    const counts = new Uint32Array(256)
    for (const signature of signatures) for (const byte of signature) counts[byte]!++
    const expected = (200 * MinHash.signatureBytes) / 256
    const chiSquare = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
    // 255 degrees of freedom: mean 255, standard deviation √510.
    assert.isBelow(chiSquare, 255 + 5 * Math.sqrt(510))
  })

  it("tells texts apart that are shorter than a shingle", () => {
    assert.isBelow(estimate("", "a"), 0.1)
    assert.isBelow(estimate("abcd", "abcde"), 0.1)
  })
})
