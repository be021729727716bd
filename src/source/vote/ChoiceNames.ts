/** Finds completions by exact names, then by derived names, then by positions. */
import * as BestCompletion from "../item/BestCompletion.ts"
import { numberOf, places } from "./ChoiceMap.ts"
import { partsOf } from "./ChoiceValue.ts"

export interface Item {
  readonly completions: ReadonlyArray<string>
  readonly models?: ReadonlyArray<string> | undefined
}

const byLetter = BestCompletion.finder(
  Array.from({ length: 26 }, (_, i) => `completion_${String.fromCharCode(97 + i)}`),
)

const sides = ["left", "right"]

const indicesOf = (names: ReadonlyArray<string>, text: string): ReadonlyArray<number> =>
  names.flatMap((name, i) => (name === text ? [i] : []))

export const finder = (labels: ReadonlyArray<string> | undefined) => {
  const byColumn = labels === undefined ? undefined : BestCompletion.finder(labels)

  const matchesOf = (kind: string | undefined, value: unknown, { completions, models = [] }: Item) => {
    const text = typeof value === "string" || typeof value === "number" ? String(value) : undefined
    if (text === undefined) return []
    const at = kind === "name" ? -1 : completions.indexOf(text)
    if (at >= 0 || kind === "text") return at < 0 ? [] : [at]
    const word = text.trim().toLowerCase()
    const place = completions.length === 2 ? Math.max(sides.indexOf(word), places.indexOf(word)) : places.indexOf(word)
    const mayBePart = kind === "name" || numberOf(text) === undefined
    const finders = [
      () => indicesOf(labels ?? [], text),
      () => indicesOf(models, text),
      () => (mayBePart ? (byColumn?.(value, models) ?? []) : []),
      () => byLetter(value, models).filter((i) => i < completions.length),
      () => (place >= 0 && place < completions.length ? [place] : []),
    ]
    for (const way of finders) {
      const matches = way()
      if (matches.length > 0) return matches
    }
    return []
  }

  const placeOf = (column: string, item: Item): ReadonlyArray<number> => {
    const matches = partsOf(column)
      .toSorted((a, b) => b.length - a.length)
      .map((part) => matchesOf("name", part, item))
    return matches.find(({ length }) => length === 1) ?? matches.find(({ length }) => length > 1) ?? []
  }

  const placesOf = (columns: ReadonlyArray<string>, item: Item): ReadonlyArray<ReadonlyArray<number>> => {
    if (labels === undefined) return columns.map(() => [])
    return matchByDifference(columns, labels)?.map((index) => [index]) ?? columns.map((column) => placeOf(column, item))
  }

  return { named: matchesOf, placesOf }
}

const matchByDifference = (
  columns: ReadonlyArray<string>,
  labels: ReadonlyArray<string>,
): ReadonlyArray<number> | undefined => {
  const labelWords = distinguishingWords(labels)
  const indices = distinguishingWords(columns).map((words) => labelWords.indexOf(words))
  return isOneToOne(indices, labels.length) ? indices : undefined
}

export const isOneToOne = (indices: ReadonlyArray<number | undefined>, length: number): boolean =>
  indices.length === length && Array.from({ length }, (_, i) => i).every((i) => indices.includes(i))

const distinguishingWords = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const words = names.map((name) => name.toLowerCase().split(/[_\s.:-]+/))
  const rests = words.map((some) => some.slice(countShared(words)))
  const ends = countShared(rests.map((some) => some.toReversed()))
  return rests.map((some) => some.slice(0, some.length - ends).join(" "))
}

const countShared = ([first = [], ...others]: ReadonlyArray<ReadonlyArray<string>>): number => {
  const end = first.findIndex((word, i) => !others.every((words) => words[i] === word))
  return end < 0 ? first.length : end
}
