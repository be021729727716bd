/** Texts of pseudo-random words, the same in each run, and their signatures. */
import * as MinHash from "../../../src/pair/text/MinHash.ts"
import { seeded } from "../stats/support.ts"

export interface Words {
  readonly word: () => string
  readonly text: (words: number) => string
  readonly below: (end: number) => number
}

export const words = (seed: number): Words => {
  const next = seeded(seed)
  const below = (end: number) => Math.floor(next() * end)
  const spell = () => Array.from({ length: 2 + below(8) }, () => String.fromCharCode(97 + below(26))).join("")
  const vocabulary = Array.from({ length: 5_000 }, spell)
  const word = () => vocabulary[below(vocabulary.length)]!
  return { below, word, text: (count) => Array.from({ length: count }, word).join(" ") }
}

/** `text` with some letters replaced. */
export const edited = (text: string, edits: number, below: (end: number) => number): string => {
  const letters = text.split("")
  for (let edit = 0; edit < edits; edit++) letters[below(letters.length)] = String.fromCharCode(97 + below(26))
  return letters.join("")
}

/** Of a text in normal form. */
export const signature = (normal: string): Uint8Array => {
  const bytes = new Uint8Array(MinHash.signatureBytes)
  MinHash.write(normal, bytes, 0)
  return bytes
}

/** The estimated Jaccard index of the texts of two signatures. */
export const similarity = (one: Uint8Array, other: Uint8Array): number =>
  MinHash.fromEqualBytes(one.filter((byte, i) => byte === other[i]).length)

/** What no user means to send, but some program will. */
export const hostile: ReadonlyArray<string> = [
  "",
  " ",
  "\u0000",
  "a",
  "\ufeff",
  "\u200b",
  "\ud800",
  "\udc00x\ud800",
  "😀",
  "👩‍👩‍👧‍👦",
  "__proto__",
  "constructor",
  "toString",
  "ﷺ",
  "!!!",
  "Z" + "\u0300".repeat(1_000),
  "a".repeat(5_000_000),
  "ab ".repeat(100_000),
  " ".repeat(5_000_000),
  "字".repeat(100_000),
]
