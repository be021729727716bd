import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Conversation from "../../../src/domain/Conversation.ts"
import type { Prompt } from "../../../src/domain/Message.ts"
import * as NormalizedPrompt from "../../../src/pair/text/NormalizedPrompt.ts"
import { hostile } from "./support.ts"

const { ofText } = NormalizedPrompt
const ofPrompt = (prompt: Prompt): string => ofText(Conversation.toText(prompt))

/** Those of the planes that have letters, marks, and characters that do not show. */
const charactersOf = (isOne: (character: string) => boolean) =>
  [
    ...Array.from({ length: 0x20000 }, (_, code) => code),
    ...Array.from({ length: 0x200 }, (_, code) => 0xe0000 + code),
  ].filter((code) => isOne(String.fromCodePoint(code)))

describe("NormalizedPrompt", () => {
  it("is itself in normal form, whatever the text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" })), (text) => {
        assert.strictEqual(ofText(ofText(text)), ofText(text))
      }),
      { numRuns: 1_000 },
    )
    for (const text of hostile) assert.strictEqual(ofText(ofText(text)), ofText(text))
  })

  it("is itself in normal form for each letter and mark of Unicode, alone and with a mark behind it", () => {
    const differing = charactersOf((character) =>
      [character, `x${character}\u0345`].some((text) => ofText(ofText(text)) !== ofText(text)),
    )
    assert.deepStrictEqual(differing, [])
  })

  it("is the same for every case of every letter", () => {
    const differing = charactersOf((character) =>
      [character.toUpperCase(), character.toLowerCase()].some((text) => ofText(text) !== ofText(character)),
    )
    assert.deepStrictEqual(differing, [])
  })

  it("knows no difference of case, spacing, width, or characters that do not show", () => {
    for (const [one, other] of [
      ["What  is\tLove?\r\n", "what is love?"],
      ["Ｈｅｌｌｏ　Ｗｏｒｌｄ", "hello world"],
      ["Straße", "STRASSE"],
      ["ΟΔΟΣ", "οδος"],
      ["\ufeffﬁne", "fine"],
      ["soft\u00adhyphen", "softhyphen"],
      ["e\u0301", "é"],
      ["a\u00a0\u2003b", "a b"],
    ] as const) {
      assert.strictEqual(ofText(one), ofText(other))
    }
  })

  it("keeps what makes another prompt: punctuation, digits, accents", () => {
    for (const [one, other] of [
      ["2+1", "2-1"],
      ["3.5", "35"],
      ["resume", "résumé"],
      ["a b", "ab"],
    ] as const) {
      assert.notStrictEqual(ofText(one), ofText(other))
    }
  })

  // A dataset has the same rows of both, so they must not stand in different splits.
  it("takes a message of the user for the text that it is", () => {
    const asked = ofPrompt([{ role: "user", content: "Hello" }])
    assert.strictEqual(asked, ofPrompt([{ role: "user", content: " HELLO" }]))
    assert.strictEqual(asked, ofPrompt("Hello"))
  })

  it("takes the roles of other conversations for part of them", () => {
    const told = ofPrompt([{ role: "system", content: "Hello" }])
    assert.notStrictEqual(told, ofPrompt("Hello"))
    assert.notStrictEqual(told, ofPrompt([{ role: "assistant", content: "Hello" }]))
  })

  it("hashes to the first 16 digits of SHA-256", () => {
    const reference = createHash("sha256").update("what is love? ☃", "utf8").digest("hex")
    assert.strictEqual(NormalizedPrompt.hash("what is love? ☃"), reference.slice(0, 16))
  })
})
