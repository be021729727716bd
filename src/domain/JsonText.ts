/**
 * Text as `JSON.stringify` writes it, in UTF-8: quotes, backslashes, and characters below U+0020 are escaped. The only
 * other escapes are for lone surrogates, which datasets do not have.
 */

/** The methods of Node's `Buffer` that this file uses. Pages import the file, and run without Node. */
export interface Bytes extends Uint8Array {
  toString(encoding?: string, start?: number, end?: number): string
  compare(
    target: Uint8Array,
    targetStart?: number,
    targetEnd?: number,
    sourceStart?: number,
    sourceEnd?: number,
  ): number
}

const backslash = 0x5c
const u = 0x75

const unescaped = new Uint8Array(128)
for (const [letter, text] of Object.entries({
  '"': '"',
  "\\": "\\",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
})) {
  unescaped[letter.charCodeAt(0)] = text.charCodeAt(0)
}

/** Decodes an escape such as `\u001f`. `digits` is the offset of its four digits, of which the first two are 0. */
const controlOf = (bytes: Uint8Array, digits: number): number =>
  Number.parseInt(String.fromCharCode(bytes[digits + 2]!, bytes[digits + 3]!), 16)

/** The byte range of a JSON string, including its quotes. */
export type Place = readonly [start: number, end: number]

/** The length of the decoded text in UTF-8 bytes. */
export const byteLength = (json: Uint8Array): number => {
  const end = json.length - 1
  let length = end - 1
  for (let at = 1; at < end; at++) {
    if (json[at] !== backslash) continue
    const more = json[at + 1] === u ? 5 : 1
    length -= more
    at += more
  }
  return length
}

/** Writes the decoded text into `into`, from the offset `start`. Copies four bytes at a time if none is a backslash. */
export const unescape = (json: Uint8Array, into: Uint8Array, start: number): void => {
  const from = new DataView(json.buffer, json.byteOffset, json.length)
  const to = new DataView(into.buffer, into.byteOffset, into.length)
  const end = json.length - 1
  let at = start
  for (let i = 1; i < end;) {
    while (i + 4 <= end) {
      const four = from.getUint32(i, true)
      // `^` turns each backslash into a zero byte. The condition finds zero bytes (Warren, "Hacker's Delight", 6-1).
      const difference = four ^ 0x5c5c5c5c
      if (((difference - 0x01010101) & ~difference & 0x80808080) !== 0) break
      to.setUint32(at, four, true)
      i += 4
      at += 4
    }
    for (let isPlain = true; isPlain && i < end;) {
      const byte = json[i++]!
      isPlain = byte !== backslash
      if (isPlain) into[at++] = byte
      else if (json[i] === u) {
        into[at++] = controlOf(json, i + 1)
        i += 5
      } else into[at++] = unescaped[json[i++]!]!
    }
  }
}

/** Returns the offset after the closing quote. @param start the offset of the opening quote */
export const endOf = (bytes: Bytes, start: number): number => {
  for (let quote = bytes.indexOf(0x22, start + 1); ; quote = bytes.indexOf(0x22, quote + 1)) {
    let first = quote
    while (bytes[first - 1] === backslash) first--
    if ((quote - first) % 2 === 0) return quote + 1
  }
}

export const decode = (bytes: Bytes, [start, end]: Place): string =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON in quotes
  JSON.parse(bytes.toString("utf8", start, end)) as string

export const areEqual = (bytes: Bytes, [start, end]: Place, [from, to]: Place): boolean =>
  end - start === to - from && bytes.compare(bytes, start, end, from, to) === 0

/** Checks only the first byte. False means that the text is not blank. True means that the text may be blank. */
export const mayBeBlank = (bytes: Uint8Array, [start]: Place): boolean => {
  const first = bytes[start + 1]!
  return first <= 0x22 || first === backslash || first > 0x7e
}

export const characters = (bytes: Uint8Array, [start, end]: Place): number => {
  let count = 0
  for (let at = start + 1; at < end - 1; at++) {
    const byte = bytes[at]!
    // Each code point has exactly one byte that is not a continuation byte.
    if ((byte & 0xc0) !== 0x80) count++
    if (byte === backslash) at += bytes[at + 1] === u ? 5 : 1
  }
  return count
}
