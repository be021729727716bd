/** Reads lists and dictionaries in Python's `repr`. NumPy's lists of texts have no commas, and are refused. */
import { Result } from "effect"
import { isObject, type Members } from "../../io/Values.ts"

export type Problem = "no commas between its elements" | '"..." instead of some of its elements' | undefined

export const parse = (text: string): Result.Result<unknown, Problem> => {
  const parser = new Parser(text)
  return Result.filterOrFail(
    parser.value(0),
    () => parser.isAtEnd(),
    () => undefined,
  )
}

const maxDepth = 100

const number = /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])/y
const word = /[A-Za-z_]\w*/y
const space = /\s*/y
const plainCharacters = { "'": /[^'\\\n]*/y, '"': /[^"\\\n]*/y }
const escape = /\\(?:([\\'"abfnrtv])|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U(000[\da-fA-F]{5}|0010[\da-fA-F]{4}))/y

const constants: Members = { True: true, False: false, None: null, nan: null }
const escapes: { readonly [letter: string]: string } = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
}

class Parser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  isAtEnd(): boolean {
    this.#match(space)
    return this.#at === this.#text.length
  }

  value(depth: number): Result.Result<unknown, Problem> {
    this.#match(space)
    const character = this.#text[this.#at]
    if (depth > maxDepth) return Result.fail(undefined)
    if (character === "[") return this.#list(depth)
    if (character === "{") return this.#dictionary(depth)
    if (character === "'" || character === '"') return this.#string(character)
    const digits = this.#match(number)
    if (digits !== undefined) return Result.succeed(Number(digits[0]))
    const name = this.#match(word)?.[0]
    return name !== undefined && Object.hasOwn(constants, name)
      ? Result.succeed(constants[name])
      : Result.fail(undefined)
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text) ?? undefined
    if (match !== undefined) this.#at = pattern.lastIndex
    return match
  }

  #passes(characters: string): boolean {
    this.#match(space)
    const comesNext = this.#text.startsWith(characters, this.#at)
    if (comesNext) this.#at += characters.length
    return comesNext
  }

  #list(depth: number): Result.Result<unknown, Problem> {
    this.#at++
    const elements: Array<unknown> = []
    let commas = 0
    while (!this.#passes("]")) {
      if (this.#passes("...") && elements.some(isTextOrObject))
        return Result.fail('"..." instead of some of its elements')
      const element = this.value(depth + 1)
      if (Result.isFailure(element)) return element
      elements.push(element.success)
      if (this.#passes(",")) commas++
    }
    const isPython = commas === elements.length || commas === elements.length - 1
    if (isPython || (commas === 0 && elements.every(isObject))) return Result.succeed(elements)
    return Result.fail(elements.some(isTextOrObject) ? "no commas between its elements" : undefined)
  }

  #dictionary(depth: number): Result.Result<unknown, Problem> {
    this.#at++
    const members: Array<readonly [string, unknown]> = []
    while (!this.#passes("}")) {
      if (members.length > 0 && !this.#passes(",")) return Result.fail(undefined)
      const key = this.value(depth + 1)
      if (Result.isFailure(key)) return key
      if (typeof key.success !== "string" || !this.#passes(":")) return Result.fail(undefined)
      const value = this.value(depth + 1)
      if (Result.isFailure(value)) return value
      members.push([key.success, value.success])
    }
    return Result.succeed(Object.fromEntries(members))
  }

  #string(quote: "'" | '"'): Result.Result<string, Problem> {
    this.#at++
    let text = ""
    while (true) {
      text += this.#match(plainCharacters[quote])?.[0] ?? ""
      if (this.#text[this.#at] === quote) {
        this.#at++
        return Result.succeed(text)
      }
      const match = this.#match(escape)
      if (match === undefined) return Result.fail(undefined)
      const [, character, ...codes] = match
      const code = codes.find((digits) => digits !== undefined)
      text +=
        character === undefined ? String.fromCodePoint(Number.parseInt(code!, 16)) : (escapes[character] ?? character)
    }
  }
}

const isTextOrObject = (value: unknown): boolean => typeof value === "string" || isObject(value)
