/**
 * The normal form of a text: nearly Unicode's `toNFKC_Casefold` (3.13), with single spaces. Punctuation, digits, and
 * accents remain: `2+1` is not `2-1`. A second normalization changes nothing. `SignatureStage` runs this module in a
 * thread. An import of Effect would slow the thread's start.
 */
import * as Sha256 from "../../node/Sha256.ts"

export const ofText = (text: string): string => {
  const folded = isAscii(text) ? text.toLowerCase() : foldUnicode(text)
  return folded.replace(wideSpace, " ").trim()
}

/** A hash of 64 bits. Among a million texts, a collision has a probability of 1 in 37 million. */
export const hash = (normal: string): string => Sha256.hex(normal).slice(0, 16)

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

const wideSpace = / \s+|[^\S ]\s*/g

/** Upper case turns `ß` into `SS`, and both small sigmas into the same letter. */
const foldUnicode = (text: string): string =>
  text
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}+/gu, "")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .normalize("NFKC")
