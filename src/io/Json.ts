/** Parses JSON. A second scan finds the place of an error, because the messages of JavaScript engines differ. */
import { Result } from "effect"

export const parse = (text: string, end = "the end of the line"): Result.Result<unknown, string> => {
  if (isTooDeep(text)) return Result.fail(tooDeep)
  return Result.try({ try: (): unknown => JSON.parse(text), catch: () => messageOf(fault(text), text, end) })
}

export const isBeginning = (text: string): boolean => {
  if (isTooDeep(text)) return false
  const { at } = fault(text)
  return at >= text.length || /^(?:\\(?:u[0-9a-fA-F]{0,3})?|-?[\w.+-]*)$/.test(text.slice(at))
}

const maxDepth = 100_000

export const tooDeep = `expected at most ${maxDepth.toLocaleString("en")} levels of nesting, found more`

export const isTooDeep = (text: string): boolean => {
  if (text.length <= maxDepth) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) {
      at = endOfString(text, at)
      if (at === -1) return false
    } else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      depth++
      if (depth > maxDepth) return true
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) depth--
  }
  return false
}

export const QUOTE = 0x22
export const BACKSLASH = 0x5c
export const OPEN_BRACKET = 0x5b
export const CLOSE_BRACKET = 0x5d
export const OPEN_BRACE = 0x7b
export const CLOSE_BRACE = 0x7d

export const endOfString = (text: string, start: number): number => {
  let at = start
  do at = text.indexOf('"', at + 1)
  while (at !== -1 && isEscaped(text, at))
  return at
}

const isEscaped = (text: string, at: number): boolean => {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}

interface Fault {
  readonly at: number
  readonly expected: string | undefined
}

const messageOf = ({ at, expected }: Fault, text: string, end: string): string => {
  const before = text.slice(0, at)
  const lines = before.split("\n").length
  const column = at - before.lastIndexOf("\n")
  const where = text.includes("\n") ? `line ${lines}, column ${column}` : `column ${column}`
  token.lastIndex = at
  const match = token.exec(text)
  const actual = match === null ? end : JSON.stringify(match[0]).replace("\uFEFF", "\\uFEFF")
  return `${where}: expected ${expected ?? end}, found ${actual}`
}

const plainCharacters = /[^"\\\u0000-\u001f]*/y
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const scalar = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y
const space = /[\t\n\r ]*/y
const token = /[\w.+-]{1,20}|./suy

const endOf = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : -1
}

const fault = (text: string): Fault => {
  const open: Array<"}" | "]"> = []
  let next: "value" | "first value" | "key" | "first key" | "colon" | "separator" = "value"
  let at = 0
  const expected = (expected: string | undefined): Fault => ({ at, expected })
  const passString = (): Fault | undefined => {
    at++
    while (true) {
      at = endOf(plainCharacters, text, at)
      if (text[at] === '"') {
        at++
        return undefined
      }
      if (text[at] !== "\\") return expected('a string character or a closing "')
      const end = endOf(escape, text, at)
      if (end === -1) return expected("a JSON escape sequence")
      at = end
    }
  }
  while (true) {
    at = endOf(space, text, at)
    const character = text[at]
    if (next === "value" || next === "first value") {
      if (character === "{" || character === "[") {
        open.push(character === "{" ? "}" : "]")
        next = character === "{" ? "first key" : "first value"
        at++
      } else if (next === "first value" && character === "]") {
        open.pop()
        next = "separator"
        at++
      } else if (character === '"') {
        const problem = passString()
        if (problem !== undefined) return problem
        next = "separator"
      } else {
        const end = endOf(scalar, text, at)
        if (end === -1) return expected(next === "first value" ? 'a value or "]"' : "a value")
        at = end
        next = "separator"
      }
    } else if (next === "key" || next === "first key") {
      if (character === '"') {
        const problem = passString()
        if (problem !== undefined) return problem
        next = "colon"
      } else if (next === "first key" && character === "}") {
        open.pop()
        next = "separator"
        at++
      } else return expected(next === "first key" ? 'a name in double quotes or "}"' : "a name in double quotes")
    } else if (next === "colon") {
      if (character !== ":") return expected('":"')
      at++
      next = "value"
    } else {
      const close = open.at(-1)
      if (close === undefined) return expected(undefined)
      if (character === ",") next = close === "}" ? "key" : "value"
      else if (character === close) open.pop()
      else return expected(`"," or "${close}"`)
      at++
    }
  }
}
