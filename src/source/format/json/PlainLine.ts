/**
 * Reads plain lines of JSON Lines without a JSON parser. A plain line has no fields except `id`, `prompt`, and
 * `completions`. The line looks like output of `JSON.stringify` or Python's `json.dumps`, and has no `\u` escapes.
 * `JsonLines` reads all other lines. For equal texts, the two readers produce equal bytes.
 */
import type { ItemBytes } from "../../../domain/ItemBytes.ts"

export type Id = string | number | undefined

export interface PlainLine {
  readonly id: Id
  readonly prompt: string
  readonly isSpaced: boolean
  readonly texts: ReadonlyArray<number>
}

const [QUOTE, BACKSLASH, SPACE, ZERO, NINE] = [0x22, 0x5c, 0x20, 0x30, 0x39]

const isEscape = new Uint8Array(256)
for (const letter of '"\\bfnrt') isEscape[letter.charCodeAt(0)] = 1

const utf8 = (text: string) => Buffer.from(text)

const wordsOf = (space: string) => ({
  id: utf8(`{"id":${space}`),
  prompt: utf8(`{"prompt":${space}`),
  afterId: utf8(`,${space}"prompt":${space}`),
  completions: utf8(`,${space}"completions":${space}[`),
  comma: utf8(`,${space}`),
  end: utf8("]}"),
})

const [compact, spaced] = [wordsOf(""), wordsOf(" ")]

const maxIdLength = 200
const maxDigits = 15

const afterWord = (bytes: Buffer, at: number, word: Buffer): number => {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return -1
  return at + word.length
}

/** Returns -1 if `JSON.stringify` would write the text differently. */
const afterText = (bytes: Buffer, view: DataView, start: number, end: number): number => {
  if (bytes[start] !== QUOTE) return -1
  let at = start + 1
  while (at < end) {
    while (at + 4 <= end) {
      const four = view.getInt32(at)
      const quote = four ^ 0x22222222
      const backslash = four ^ 0x5c5c5c5c
      const isMet =
        ((quote - 0x01010101) & ~quote) | ((backslash - 0x01010101) & ~backslash) | ((four - 0x20202020) & ~four)
      if ((isMet & 0x80808080) !== 0) break
      at += 4
    }
    const byte = bytes[at]!
    if (byte === QUOTE) return at < end ? at + 1 : -1
    if (byte < SPACE) return -1
    if (byte !== BACKSLASH) at++
    else if (isEscape[bytes[at + 1]!] === 1) at += 2
    else return -1
  }
  return -1
}

const textOf = (bytes: Buffer, start: number, end: number): string => {
  const text = bytes.toString("utf8", start + 1, end - 1)
  return text.includes("\\") ? JSON.parse(`"${text}"`) : text
}

const isBlank = (bytes: Buffer, start: number, end: number): boolean => {
  const first = bytes[start + 1]!
  const isVisible = first > SPACE && first < 0x7f && first !== BACKSLASH && first !== QUOTE
  return !isVisible && textOf(bytes, start, end).trim() === ""
}

const areDistinct = (bytes: Buffer, texts: ReadonlyArray<number>): boolean => {
  let first = -1
  for (let i = 2; i < texts.length; i += 2) {
    if (isBlank(bytes, texts[i]!, texts[i + 1]!)) continue
    if (first === -1) first = i
    else if (bytes.compare(bytes, texts[first], texts[first + 1], texts[i], texts[i + 1]) !== 0) return true
  }
  return false
}

/** @param view a view of the same bytes, which must be UTF-8 from `start` to `end` */
export const parse = (bytes: Buffer, view: DataView, start: number, end: number): PlainLine | undefined => {
  let id: Id
  let at = afterWord(bytes, start, compact.id)
  const hasId = at !== -1
  if (!hasId) at = afterWord(bytes, start, compact.prompt)
  if (at === -1) return undefined
  const isSpaced = bytes[at] === SPACE
  const words = isSpaced ? spaced : compact
  if (isSpaced) at++
  if (hasId) {
    const from = at
    if (bytes[at] === QUOTE) {
      at = afterText(bytes, view, at, end)
      if (at === -1 || at - from > 6 * maxIdLength) return undefined
      id = textOf(bytes, from, at)
      if (id.length > maxIdLength || id.trim() === "") return undefined
    } else {
      while (bytes[at]! >= ZERO && bytes[at]! <= NINE) at++
      const digits = at - from
      if (digits < 1 || digits > maxDigits || (bytes[from] === ZERO && digits > 1)) return undefined
      id = Number(bytes.toString("latin1", from, at))
    }
    at = afterWord(bytes, at, words.afterId)
    if (at === -1) return undefined
  }
  const texts: Array<number> = []
  for (;;) {
    texts.push(at)
    at = afterText(bytes, view, at, end)
    if (at === -1) return undefined
    texts.push(at)
    const next = afterWord(bytes, at, texts.length === 2 ? words.completions : words.comma)
    if (next === -1) break
    at = next
  }
  at = afterWord(bytes, at, words.end)
  const isComplete = at === end || (at === end - 1 && bytes[at] === 0x0d)
  if (!isComplete || texts.length < 6 || isBlank(bytes, texts[0]!, texts[1]!) || !areDistinct(bytes, texts)) {
    return undefined
  }
  return { id, prompt: textOf(bytes, texts[0]!, texts[1]!), isSpaced, texts }
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

export const toText = (id: Id, isSpaced: boolean, { starts, utf8 }: ItemBytes): string => {
  const comma = isSpaced ? ", " : ","
  const colon = isSpaced ? ": " : ":"
  const json = (start: number, end: number) => decoder.decode(utf8.subarray(start, end))
  const first = starts[0]!
  const prompt = json('{"prompt":'.length, first - ',"completions":['.length)
  const completions = starts.slice(1).map((start, i) => json(starts[i]!, start - 1))
  const beforePrompt = id === undefined ? "" : `"id"${colon}${JSON.stringify(id)}${comma}`
  return `{${beforePrompt}"prompt"${colon}${prompt}${comma}"completions"${colon}[${completions.join(comma)}]}`
}
