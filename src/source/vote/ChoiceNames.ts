/**
 * The completions that a value or a column's name can mean: by column, model, letter, side or place.
 *
 * Guarantees: exact names go before what is derived from them, and this before what places are called. All completions that
 * are meant are returned, since a name that means several is an error that the caller reports.
 */
import * as BestCompletion from "../item/BestCompletion.ts"
import { numberOf, places } from "./ChoiceMap.ts"
import { partsOf } from "./ChoiceValue.ts"

/** The completions of a record, and the models that wrote them. */
export interface Item {
  readonly completions: ReadonlyArray<string>
  readonly models?: ReadonlyArray<string> | undefined
}

/** By the letter of its place, from `a` on, also after a word: `model_a`. */
const byLetter = BestCompletion.finder(
  Array.from({ length: 26 }, (_, i) => `completion_${String.fromCharCode(97 + i)}`),
)

const sides = ["left", "right"]

const indicesOf = (names: ReadonlyArray<string>, text: string): ReadonlyArray<number> =>
  names.flatMap((name, i) => (name === text ? [i] : []))

/** @param labels what the record calls the completions: their columns */
export const finder = (labels: ReadonlyArray<string> | undefined) => {
  const byColumn = labels === undefined ? undefined : BestCompletion.finder(labels)

  /** @param kind `name` or `text` if it can only be this */
  const named = (kind: string | undefined, value: unknown, { completions, models = [] }: Item) => {
    const text = typeof value === "string" || typeof value === "number" ? String(value) : undefined
    if (text === undefined) return []
    // A text is itself, whatever else it could be the name of.
    const at = kind === "name" ? -1 : completions.indexOf(text)
    if (at >= 0 || kind === "text") return at < 0 ? [] : [at]
    const word = text.trim().toLowerCase()
    const place = completions.length === 2 ? Math.max(sides.indexOf(word), places.indexOf(word)) : places.indexOf(word)
    // A part of a column's name may be a number that counts otherwise: `kind` says that it is a name.
    const mayBePart = kind === "name" || numberOf(text) === undefined
    const ways = [
      () => indicesOf(labels ?? [], text),
      () => indicesOf(models, text),
      () => (mayBePart ? (byColumn?.(value, models) ?? []) : []),
      () => byLetter(value, models).filter((i) => i < completions.length),
      () => (place >= 0 && place < completions.length ? [place] : []),
    ]
    for (const way of ways) {
      const found = way()
      if (found.length > 0) return found
    }
    return []
  }

  /** The longest part of a name that names one completion goes before those that name several. */
  const placeOf = (column: string, item: Item): ReadonlyArray<number> => {
    const found = partsOf(column)
      .toSorted((one, other) => other.length - one.length)
      .map((part) => named("name", part, item))
    return found.find(({ length }) => length === 1) ?? found.find(({ length }) => length > 1) ?? []
  }

  /** The completions that each column is about: of `score_a` and `a_score`, that of `response_a`. */
  const placesOf = (columns: ReadonlyArray<string>, item: Item): ReadonlyArray<ReadonlyArray<number>> => {
    if (labels === undefined) return columns.map(() => [])
    return matched(columns, labels)?.map((index) => [index]) ?? columns.map((column) => placeOf(column, item))
  }

  return { named, placesOf }
}

/**
 * The completion that each column is about, if columns differ as those of the completions do: `bart.rank` and
 * `bart-dpr.rank` as `bart.text` and `bart-dpr.text`. Undefined unless each completion has one column.
 */
const matched = (columns: ReadonlyArray<string>, labels: ReadonlyArray<string>): ReadonlyArray<number> | undefined => {
  const own = ownWords(labels)
  const found = ownWords(columns).map((words) => own.indexOf(words))
  return isOneToOne(found, labels.length) ? found : undefined
}

/** Whether each index below the length is there once. */
export const isOneToOne = (indices: ReadonlyArray<number | undefined>, length: number): boolean =>
  indices.length === length && Array.from({ length }, (_, i) => i).every((i) => indices.includes(i))

/** What tells names apart: their words without those that all begin or end with. */
const ownWords = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const words = names.map((name) => name.toLowerCase().split(/[_\s.:-]+/))
  const rests = words.map((some) => some.slice(countShared(words)))
  const ends = countShared(rests.map((some) => some.toReversed()))
  return rests.map((some) => some.slice(0, some.length - ends).join(" "))
}

/** The number of words that all begin with. */
const countShared = ([first = [], ...others]: ReadonlyArray<ReadonlyArray<string>>): number => {
  const end = first.findIndex((word, i) => !others.every((words) => words[i] === word))
  return end < 0 ? first.length : end
}
