/**
 * The normal form of a text: prompts with the same normal form are duplicates.
 *
 * Guarantees: Unicode's `toNFKC_Casefold` (3.13) with single spaces, so case, white space, compatibility forms and
 * invisible characters make no difference; idempotent; the same on every machine. Punctuation, digits and accents are
 * kept: `2+1` is not `2-1`. It runs in a thread, so it does not load Effect.
 */
import * as Sha256 from "../../node/Sha256.ts"

export const ofText = (text: string): string => {
  const folded = isAscii(text) ? text.toLowerCase() : foldUnicode(text)
  return folded.replace(wideSpace, " ").trim()
}

/**
 * 16 hexadecimal digits, the first 64 bits of SHA-256: among a million texts two have the same
 * by chance once in 37 million times.
 */
export const hash = (normal: string): string => Sha256.hex(normal).slice(0, 16)

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

/** White space other than one space between words. */
const wideSpace = / \s+|[^\S ]\s*/g

/** Lower case of the upper case, so that `ß` is `ss` and a final sigma is a sigma. */
const foldUnicode = (text: string): string =>
  text
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}+/gu, "")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .normalize("NFKC")
