/** Splits long texts into chunks, never within a surrogate pair. A line break at the end of a chunk is left out. */

const size = 4_000

export const chunks = (text: string): ReadonlyArray<string> => {
  const pieces: Array<string> = []
  let from = 0
  while (text.length - from > size * 1.5) {
    const { end, next } = cut(text, from, size)
    pieces.push(text.slice(from, end))
    from = next
  }
  pieces.push(text.slice(from))
  return pieces
}

/** Cuts a text after about `length` characters or `lines` lines. A text that is only a little longer stays whole. */
export const beginning = (text: string, length: number, lines: number): string => {
  let end = -1
  for (let line = 0; line < lines; line += 1) {
    end = text.indexOf("\n", end + 1)
    if (end < 0) break
  }
  const limit = end < 0 ? length : Math.min(length, end)
  return text.length <= limit * 1.5 ? text : text.slice(0, cut(text, 0, limit).end)
}

/** Cuts at the last line break between `length / 2` and `length` characters, else the last space, else `length`. */
const cut = (text: string, from: number, length: number): { readonly end: number; readonly next: number } => {
  const least = from + length / 2
  const line = text.lastIndexOf("\n", from + length)
  if (line > least) return { end: line, next: line + 1 }
  const space = text.lastIndexOf(" ", from + length)
  if (space > least) return { end: space + 1, next: space + 1 }
  const end = from + length
  const high = text.charCodeAt(end - 1)
  const within = high >= 0xd800 && high <= 0xdbff ? end - 1 : end
  return { end: within, next: within }
}
