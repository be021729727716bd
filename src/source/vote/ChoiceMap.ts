/**
 * Gives meanings to the values of a choice, such as `0=first,1=second,2=tie`. The entry `=none` means that an empty
 * value is not a vote. An entry can also have a comparison, such as `>0.5=second`. An entry for the exact value has
 * priority over comparisons. Of several comparisons that match, the first in the map has priority.
 */
import { Result } from "effect"
import { isEmpty } from "../../io/Values.ts"

export const places = [
  "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
] // prettier-ignore

/** `all_bad` is a tie of bad completions. `none` is not a vote. */
export const meanings = [...places, "tie", "all_bad", "none"]

export interface ChoiceMap {
  readonly text: string
  readonly meaningOf: (value: unknown) => string | undefined
  readonly names: ReadonlyArray<string>
}

export const numberOf = (value: unknown): number | undefined =>
  typeof value === "number"
    ? value
    : typeof value === "string" && /^\s*[-+]?(?:\d{1,15}(?:\.\d*)?|\.\d+)(?:e[-+]?\d{1,2})?\s*$/i.test(value)
      ? Number(value)
      : undefined

export const truthOf = (value: unknown): boolean | undefined => {
  if (typeof value === "boolean") return value
  const text = typeof value === "string" ? value.trim().toLowerCase() : ""
  return text === "true" ? true : text === "false" ? false : undefined
}

const comparison = /^(<=|>=|<|>)\s*(\S+)$/

const keyOf = (value: unknown): string | undefined => {
  if (isEmpty(value)) return ""
  const number = numberOf(value)
  if (number !== undefined) return String(number)
  return typeof value === "string" || typeof value === "boolean" ? String(value).trim().toLowerCase() : undefined
}

const operators: { readonly [operator: string]: (value: number, limit: number) => boolean } = {
  "<": (value, limit) => value < limit,
  "<=": (value, limit) => value <= limit,
  ">": (value, limit) => value > limit,
  ">=": (value, limit) => value >= limit,
}

export const make = (entries: { readonly [value: string]: string }): Result.Result<ChoiceMap, string> => {
  const exact = new Map<string, string>()
  const comparisons: Array<{ readonly test: (value: number) => boolean; readonly meaning: string }> = []
  const pairs = Object.entries(entries).map(([value, meaning]) => [value.trim(), meaning.trim()] as const)
  for (const [value, meaning] of pairs) {
    if (meaning === "") return Result.fail(`${JSON.stringify(value)} has no meaning: expected ${expectedMeanings}`)
    const [, operator = "", limitText] = comparison.exec(value) ?? []
    const limit = numberOf(limitText)
    const key = keyOf(value) ?? ""
    if (limit !== undefined) comparisons.push({ test: (number) => operators[operator]!(number, limit), meaning })
    else if (exact.has(key)) return Result.fail(`${JSON.stringify(value)} has two meanings`)
    else exact.set(key, meaning)
  }
  if (pairs.length === 0) return Result.fail("expected at least one value with its meaning, such as 0=first")
  return Result.succeed({
    text: pairs.map(([value, meaning]) => `${quoted(value)}=${quoted(meaning)}`).join(","),
    meaningOf: (value) => {
      const key = keyOf(value)
      const exactMeaning = key === undefined ? undefined : exact.get(key)
      if (exactMeaning !== undefined) return exactMeaning
      const number = numberOf(value)
      return number === undefined ? undefined : comparisons.find(({ test }) => test(number))?.meaning
    },
    names: pairs.map(([, meaning]) => meaning).filter((meaning) => !meanings.includes(meaning)),
  })
}

export const expectedMeanings = "first, second, …, tie, all_bad, none (no vote), or the name of a column or model"

export const quoted = (text: string): string =>
  /[",=]/.test(text) && !comparison.test(text) ? JSON.stringify(text) : text

const entry = /\s*(?:("(?:[^"\\]|\\.)*")|([^,]*))\s*=\s*(?:("(?:[^"\\]|\\.)*")|([^,=]*?))\s*(?:,|$)/y

/** A part that contains a comma, an equals sign, or a quote must be a JSON string. */
export const parse = (text: string): Result.Result<{ readonly [value: string]: string }, string> => {
  const entries = new Map<string, string>()
  const unquote = (quote: string | undefined, plain: string | undefined) =>
    quote === undefined ? Result.succeed(plain?.trim() ?? "") : Result.try((): string => JSON.parse(quote))
  for (let at = 0; at < text.length; at = entry.lastIndex) {
    entry.lastIndex = at
    const match = entry.exec(text)
    const pair = match && Result.all([unquote(match[1], match[2]), unquote(match[3], match[4])])
    if (pair === null || Result.isFailure(pair)) {
      return Result.fail(
        `expected VALUE=MEANING, such as 0=first,1=second,2=tie, found ${JSON.stringify(text.slice(at))}`,
      )
    }
    const [value, meaning] = pair.success
    if (entries.has(value)) return Result.fail(`${JSON.stringify(value)} has two meanings`)
    entries.set(value, meaning)
  }
  return Result.succeed(Object.fromEntries(entries))
}
