/**
 * A line as JSON, or where it stops being JSON and what was expected there.
 *
 * The engine's own messages serve no one who has to mend a file: some lack the
 * position, all differ between versions. So a text that the engine refuses is read
 * once more by a scanner that knows nothing but JSON's grammar (RFC 8259). It keeps
 * its own stack: no depth of nesting breaks it.
 */
import { Result } from "effect"

/** The failure is one line: `column 7: expected "," or "}", found "x"`; columns are one-based. */
export const parse = (text: string): Result.Result<unknown, string> =>
  Result.try({ try: (): unknown => JSON.parse(text), catch: () => fault(text) })

const plainCharacters = /[^"\\\u0000-\u001f]*/y
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const scalar = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y
const space = /[\t\n\r ]*/y
const found = /[\w.+-]{1,20}|./suy

/** Where the match that begins at `at` ends; -1 if there is none. */
const endOf = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : -1
}

const describeFound = (text: string, at: number): string => {
  found.lastIndex = at
  const match = found.exec(text)
  return match === null ? "the end of the line" : JSON.stringify(match[0])
}

const fault = (text: string): string => {
  /** The brackets that would close what is open, innermost last. */
  const open: Array<"}" | "]"> = []
  let next: "value" | "first value" | "key" | "first key" | "colon" | "separator" = "value"
  let at = 0
  const expected = (what: string): string => `column ${at + 1}: expected ${what}, found ${describeFound(text, at)}`
  /** Moves past the string at `at`; what is wrong with it, if anything is. */
  const passString = (): string | undefined => {
    at++
    while (true) {
      at = endOf(plainCharacters, text, at)
      if (text[at] === '"') {
        at++
        return undefined
      }
      if (text[at] !== "\\") return expected('a character of a string or its closing "')
      const end = endOf(escape, text, at)
      if (end === -1) return expected("an escape sequence that JSON has")
      at = end
    }
  }
  while (true) {
    at = endOf(space, text, at)
    const character = text[at]
    if (next === "value" || next === "first value") {
      const closes = next === "first value" && character === "]"
      if (character === "{") {
        open.push("}")
        next = "first key"
        at++
      } else if (character === "[") {
        open.push("]")
        next = "first value"
        at++
      } else if (closes) {
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
      if (close === undefined) return expected("the end of the line")
      if (character === ",") next = close === "}" ? "key" : "value"
      else if (character === close) open.pop()
      else return expected(`"," or "${close}"`)
      at++
    }
  }
}
