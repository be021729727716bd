/** Finds the completion that a value names. Rejects indexes: some files count from 0, and others from 1. */
import { Result } from "effect"
import * as KnownNames from "../record/KnownNames.ts"
import * as OutcomeWords from "../record/OutcomeWords.ts"
import { describeValue, isEmpty, quoteNames } from "../../io/Values.ts"

export const isNone = (value: unknown): boolean =>
  isEmpty(value) ||
  (typeof value === "string" &&
    [OutcomeWords.ties, OutcomeWords.allBad, OutcomeWords.noGold].some((words) =>
      words.has(OutcomeWords.normalize(value)),
    ))

export const indexOf = (value: unknown): number | undefined => {
  if (typeof value === "string" && /^\d{1,15}$/.test(value)) return Number(value)
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined
}

/** Returns a function that finds the index of the named completion. Callers must handle values with `isNone` first. */
export const among = (
  names: ReadonlyArray<string>,
): ((value: unknown, models: ReadonlyArray<string | undefined>) => Result.Result<number, string>) => {
  const find = finder(names)
  const quoted = quoteNames(names, "or")
  return (value, models) => {
    const indices = find(value, models)
    return indices.length === 1
      ? Result.succeed(indices[0]!)
      : Result.fail(
          `expected ${quoted}, or a unique part of such a name, found ${describeValue(value)}${indices.length > 1 ? `, which matches ${indices.length} completions` : ""}`,
        )
  }
}

export const finder = (names: ReadonlyArray<string>) => {
  const aliases = names.map(aliasesOf)
  return (value: unknown, models: ReadonlyArray<string | undefined>): ReadonlyArray<number> => {
    if (typeof value !== "string" && !Number.isSafeInteger(value)) return []
    const text = String(value).trim()
    const column = names.indexOf(text)
    if (column >= 0) return [column]
    return names.flatMap((_, i) => (models[i] === text || aliases[i]!.has(text.toLowerCase()) ? [i] : []))
  }
}

const maxCharacters = 200
const maxWords = 16

const wordsEnd = /[_\s.:-]+|(?<=\p{Ll})(?=\p{Lu})|(?<=\p{L})(?=\p{N})/gu

/** Other names of a completion. For example, `response_a` is also called `response`, `a`, `model_a`, and `modela`. */
const aliasesOf = (name: string): ReadonlySet<string> => {
  const ends = name.length > maxCharacters ? [] : [...name.matchAll(wordsEnd)]
  if (ends.length >= maxWords) return new Set([name.toLowerCase()])
  const heads = ends.map(({ index }) => name.slice(0, index))
  const tails = ends.map(({ 0: gap, index }) => name.slice(index + gap.length))
  const prefixedTails = tails.flatMap((tail) =>
    KnownNames.completionWords.flatMap((word) => [`${word}_${tail}`, `${word} ${tail}`, word + tail]),
  )
  return new Set([name, ...heads, ...tails, ...prefixedTails].map((alias) => alias.toLowerCase()))
}
