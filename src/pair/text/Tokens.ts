/**
 * Splits a text in normal form into hashed tokens. A run of letters, marks, and digits is one token. Some characters
 * are tokens by themselves: symbols, hyphens outside words, and letters of scripts without word boundaries (Thai, Han).
 */

const separates = 0
const joins = 1
const standsAlone = 2
const standsAloneOutsideWords = 3

const alone =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{S}\p{Surrogate}\p{Co}*/%&#@\\]/u

const kindOf = (code: number): number => {
  const character = String.fromCharCode(code)
  if (character === "-") return standsAloneOutsideWords
  if (character === "`") return separates
  if (alone.test(character)) return standsAlone
  return /[\p{L}\p{M}\p{N}]/u.test(character) ? joins : separates
}

const unknown = 255
const kinds = new Uint8Array(0x10000).fill(unknown)

const kindAt = (text: string, i: number): number => {
  const code = text.charCodeAt(i)
  const kind = kinds[code]!
  return kind === unknown ? (kinds[code] = kindOf(code)) : kind
}

/** Returns the end of the token that begins at `start`, or `start` if no token begins there. */
const endOf = (text: string, start: number): number => {
  const kind = kindAt(text, start)
  if (kind === separates || (kind === standsAloneOutsideWords && isInsideWord(text, start))) return start
  if (kind !== joins) return start + ((text.codePointAt(start) ?? 0) > 0xffff ? 2 : 1)
  let end = start + 1
  while (end < text.length && kindAt(text, end) === joins) end++
  return end
}

const isInsideWord = (text: string, i: number): boolean =>
  i > 0 && i + 1 < text.length && kindAt(text, i - 1) === joins && kindAt(text, i + 1) === joins

/** Calls `take` with two independent 32-bit hashes of each token. Returns the number of tokens. */
export const forEach = (normal: string, take: (a: number, b: number) => void): number => {
  let count = 0
  let i = 0
  while (i < normal.length) {
    const end = endOf(normal, i)
    if (end === i) {
      i++
      continue
    }
    let a = 0x811c9dc5
    let b = 0x2545f491
    for (; i < end; i++) {
      const code = normal.charCodeAt(i)
      a = Math.imul(a ^ code, 0x01000193)
      b = Math.imul(b + code, 0x9e3779b1)
    }
    take(a ^ (a >>> 15), b ^ (b >>> 13))
    count++
  }
  return count
}
