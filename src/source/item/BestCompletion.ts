/**
 * Resolves a value that names the best completion: by its column (`output_1`), by the part that distinguishes the
 * column (`1`, `a`), by this part after another word (`model_a` for `response_a`), or by its model.
 *
 * Guarantees: a column's exact name is this column. Another value that matches none or several is a failure; a tie or an
 * empty value is no gold. Numbers count only as part of a name, since they may start from 0 or 1.
 */
import { Result } from "effect"
import * as KnownNames from "../record/KnownNames.ts"
import { describeValue, isEmpty, quoteNames } from "../../io/Values.ts"

/** Whether the value says that no completion is the best. */
export const isNone = (value: unknown): boolean =>
  isEmpty(value) ||
  (typeof value === "string" &&
    [KnownNames.ties, KnownNames.allBad, KnownNames.noGold].some((words) => words.has(KnownNames.outcomeWord(value))))

/** The index that a value is, also as text of digits. */
export const indexOf = (value: unknown): number | undefined => {
  if (typeof value === "string" && /^\d{1,15}$/.test(value)) return Number(value)
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined
}

/**
 * @param names of the completions' columns
 * @returns of a value that is not `isNone` and of the record's models, the zero-based index; the failure is the
 * reason, without path
 */
export const among = (
  names: ReadonlyArray<string>,
): ((value: unknown, models: ReadonlyArray<string | undefined>) => Result.Result<number, string>) => {
  const find = finder(names)
  const quoted = quoteNames(names, "or")
  return (value, models) => {
    const named = find(value, models)
    return named.length === 1
      ? Result.succeed(named[0]!)
      : Result.fail(
          `expected what names one of ${quoted}, found ${describeValue(value)}${named.length > 1 ? `, which names ${named.length}` : ""}`,
        )
  }
}

/** As `among`, all that a value names. */
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

/** Names beyond these are no more than themselves: no one would write a part of them, and the parts would be many. */
const maxCharacters = 200
const maxWords = 16

const wordsEnd = /[_\s.:-]+|(?<=\p{Ll})(?=\p{Lu})|(?<=\p{L})(?=\p{N})/gu

/** The name, what it begins and ends with, and these ends after other words; in small letters. */
const aliasesOf = (name: string): ReadonlySet<string> => {
  const ends = name.length > maxCharacters ? [] : [...name.matchAll(wordsEnd)]
  if (ends.length >= maxWords) return new Set([name.toLowerCase()])
  const heads = ends.map(({ index }) => name.slice(0, index))
  const tails = ends.map(({ 0: gap, index }) => name.slice(index + gap.length))
  const renamed = tails.flatMap((tail) =>
    KnownNames.completionWords.flatMap((word) => [`${word}_${tail}`, `${word} ${tail}`, word + tail]),
  )
  return new Set([name, ...heads, ...tails, ...renamed].map((alias) => alias.toLowerCase()))
}
