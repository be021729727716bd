/**
 * Resolves what a vote names: a completion by its index, number, text, letter, column or model, a side of a scale, a score of
 * each completion, or none of them (a tie).
 *
 * Guarantees: a value that names none or several completions is a failure, never a guess. A number means what `Reading` says;
 * without one, it names a completion only if it is its text, column or model.
 */
import { Array as Arr, Result } from "effect"
import type { Ranking } from "../../domain/Ranking.ts"
import { describeValue, isEmpty, isObject, joinWords, quoteNames } from "../../io/Values.ts"
import * as KnownNames from "../record/KnownNames.ts"
import { type ChoiceMap, numberOf, places } from "./ChoiceMap.ts"
import * as ChoiceNames from "./ChoiceNames.ts"
import { isOne, isZero, partsOf, unwrap } from "./ChoiceValue.ts"

/**
 * `index`: from 0 on. `number`: from 1 on, and 0 is a tie. `scale`: below 0 the first of two completions, above 0 the second,
 * 0 a tie. `text`: the completion itself. `name`: its letter, column or model, or `left` and `right`. Of a list or of several
 * columns, one value per completion: `scores` (the highest is the best), `ranks` (the lowest is), `one-hot` (the one that is 1 is).
 */
export const choiceKinds = ["index", "number", "scale", "text", "name", "scores", "ranks", "one-hot"] as const
export type ChoiceKind = (typeof choiceKinds)[number]

/** Kinds whose choice is a value per completion. */
export const isPerCompletion = (kind: ChoiceKind | undefined): boolean =>
  kind === "scores" || kind === "ranks" || kind === "one-hot"

/** What values mean. */
export interface Reading {
  readonly kind?: ChoiceKind | undefined
  readonly map?: ChoiceMap | undefined
  /** The index of the completion that is always the choice, whose column the choice's column is. */
  readonly own?: number | undefined
}

export interface Chosen {
  /** None prefers all completions equally. */
  readonly choice: number | undefined
  /** Of a scale, how far from the middle; of `A>>B`, the number of signs. */
  readonly strength?: number | undefined
  readonly ranking?: Ranking | undefined
  readonly allBad?: true | undefined
}

/** One value per column. */
export interface ColumnValues {
  readonly columns: ReadonlyArray<string>
  readonly values: ReadonlyArray<unknown>
}

/** A vote, or undefined where the value is mapped to no vote. */
export type ReadResult = Result.Result<Chosen | undefined, string>

const tie: Chosen = { choice: undefined }

/** What a text says instead of naming a completion. */
export const outcomeOf = (value: unknown, { completions, models = [] }: ChoiceNames.Item): Chosen | undefined => {
  if (typeof value !== "string" || completions.includes(value) || models.includes(value)) return undefined
  const word = KnownNames.outcomeWord(value)
  return KnownNames.allBad.has(word) ? { ...tie, allBad: true } : KnownNames.ties.has(word) ? tie : undefined
}

/** @param labels what the record calls the completions: their columns */
export const reader = ({ kind, map, own }: Reading, labels: ReadonlyArray<string> | undefined) => {
  const { named: allNamed, placesOf } = ChoiceNames.finder(labels)

  const read = (given: unknown, item: ChoiceNames.Item): ReadResult => {
    if (own !== undefined && !lacksSome(item)) return Result.succeed({ choice: own })
    if (isColumnValues(given)) return perCompletion(given.columns, given.values, item)
    const value = unwrap(given, item.completions)
    if (isPerCompletion(kind)) {
      return Array.isArray(value)
        ? perCompletion(undefined, value, item)
        : Result.fail(`expected a list with one value per completion, found ${describeValue(value)}`)
    }
    return one(value, item)
  }

  const one = (value: unknown, item: ChoiceNames.Item): ReadResult => {
    if (map !== undefined) return mapped(map, value, item)
    if (isEmpty(value)) return Result.fail("expected a choice, found nothing")
    const outcome = outcomeOf(value, item)
    if (outcome !== undefined) return Result.succeed(outcome)
    const { completions } = item
    // Where columns are empty, the places of the others are not those of the columns.
    if (lacksSome(item)) return byItself(value, item)
    const number = numberOf(value)
    const range = (from: number) => {
      const choice = number === undefined ? -1 : number - from
      return Number.isInteger(choice) && choice >= 0 && choice < completions.length
        ? Result.succeed({ choice })
        : Result.fail(`expected ${from} to ${completions.length - 1 + from}, found ${describeValue(value)}`)
    }
    switch (kind) {
      case "index":
        return range(0)
      case "number":
        return number === 0 ? Result.succeed(tie) : range(1)
      case "scale":
        return number === undefined || completions.length !== 2
          ? Result.fail(`expected a number, and two completions, found ${describeValue(value)}`)
          : Result.succeed({ choice: number === 0 ? undefined : number < 0 ? 0 : 1, strength: Math.abs(number) })
      default:
        return named(value, item)
    }
  }

  const lacksSome = ({ completions }: ChoiceNames.Item): boolean =>
    labels !== undefined && labels.length !== completions.length

  const mapped = (map: ChoiceMap, value: unknown, item: ChoiceNames.Item): ReadResult => {
    const meaning = map.meaningOf(value)
    if (meaning === undefined) {
      return Result.fail(`expected a value of --choice-map (${map.text}), found ${describeValue(value)}`)
    }
    if (meaning === "none") return Result.succeed(undefined)
    if (meaning === "tie") return Result.succeed(tie)
    if (meaning === "all_bad") return Result.succeed({ ...tie, allBad: true })
    const place = places.indexOf(meaning)
    if (lacksSome(item)) return byItself(place < 0 ? meaning : value, item)
    if (place < 0) return withKind("name", meaning, item)
    return place < item.completions.length
      ? Result.succeed({ choice: place })
      : Result.fail(`${meaning} (--choice-map): the record has ${item.completions.length} completions`)
  }

  const byItself = (value: unknown, { completions, models = [] }: ChoiceNames.Item): Result.Result<Chosen, string> => {
    const found = [completions, models].flatMap((all) => all.flatMap((one, i) => (one === value ? [i] : [])))
    return found.length === 1
      ? Result.succeed({ choice: found[0] })
      : Result.fail(
          `expected the text or the model of a completion, as the record has ${completions.length} of ${labels?.length} completions, found ${describeValue(value)}`,
        )
  }

  const named = (value: unknown, item: ChoiceNames.Item): Result.Result<Chosen, string> => {
    const text = typeof value === "string" ? value.replace(/^\s*\[\[(.*)\]\]\s*$/s, "$1") : value
    const found = withKind(kind, text, item)
    return Result.isSuccess(found) || typeof text !== "string" || kind === "text"
      ? found
      : (compared(text, item) ?? found)
  }

  /** `A>B`, `B<A`, `A=B`, `A>>B`: all completions, each once, in the order of preference. */
  const compared = (text: string, item: ChoiceNames.Item): Result.Result<Chosen, string> | undefined => {
    const [first = "", ...rest] = text.split(/\s*(>+|<+|=+)\s*/)
    const signs = rest.filter((_, i) => i % 2 === 0)
    const names = [first, ...rest.filter((_, i) => i % 2 === 1)].map((name) => name.trim())
    const isDown = signs.some((sign) => sign.startsWith("<"))
    if (signs.length === 0 || (isDown && signs.some((sign) => sign.startsWith(">")))) return undefined
    const found = Result.all(numbersIn(names) ?? names.map((name) => withKind("name", name, item)))
    const indices = Result.getOrElse(found, () => []).flatMap(({ choice }) => choice ?? [])
    if (indices.length !== item.completions.length || new Set(indices).size < indices.length) return undefined
    const groups: Array<Arr.NonEmptyArray<number>> = []
    for (const [i, index] of indices.entries()) {
      if (i > 0 && signs[i - 1]!.startsWith("=")) groups.at(-1)!.push(index)
      else groups.push([index])
    }
    const ranking = isDown ? groups.toReversed() : groups
    return Result.succeed({
      ...ranked(ranking),
      ...(indices.length === 2 && ranking.length === 2 && { strength: signs[0]!.length }),
    })
  }

  const withKind = (
    kind: ChoiceKind | undefined,
    value: unknown,
    item: ChoiceNames.Item,
  ): Result.Result<Chosen, string> => {
    const { completions, models = [] } = item
    const found = allNamed(kind, value, item)
    const names = [...(labels ?? []), ...models]
    return found.length === 1
      ? Result.succeed({ choice: found[0] })
      : Result.fail(
          `expected what names one of ${completions.length} completions${names.length === 0 ? "" : ` (${quoteNames(names)})`}, found ${describeValue(value)}${found.length > 1 ? `, which names ${found.length}` : ""}; --choice-map says what other values mean`,
        )
  }

  const perCompletion = (
    columns: ReadonlyArray<string> | undefined,
    values: ReadonlyArray<unknown>,
    item: ChoiceNames.Item,
  ): ReadResult => {
    if (kind === "one-hot") return oneHot(columns, values, item)
    const { completions } = item
    const named = columns === undefined ? [] : placesOf(columns, item)
    const isNamed = named.some((found) => found.length > 0)
    const order = isNamed
      ? named.map(([only, ...others]) => (others.length === 0 ? only : undefined))
      : [...values.keys()]
    if (isNamed && values.length === completions.length && !ChoiceNames.isOneToOne(order, completions.length)) {
      const each = columns?.map((column, i) => {
        const labelsOf = named[i]!.map((at) => labels?.[at] ?? "")
        return `${JSON.stringify(column)} names ${labelsOf.length === 0 ? "none" : quoteNames(labelsOf)}`
      })
      return Result.fail(
        `expected a column that is named after each of ${completions.length} completions (${quoteNames(labels ?? [])}), but ${joinWords(each ?? [])}: rename the columns`,
      )
    }
    const numbers = completions.flatMap((_, i) => numberOf(values[order.indexOf(i)]) ?? [])
    if (lacksSome(item) || values.length !== completions.length || numbers.length < completions.length) {
      const count = values.filter((value) => numberOf(value) !== undefined).length
      const among = count === values.length ? "" : ` among ${values.length} values`
      const described =
        columns === undefined
          ? `${count} number${count === 1 ? "" : "s"}${among}`
          : joinWords(values.map(describeValue))
      return Result.fail(`expected a number for each of ${completions.length} completions, found ${described}`)
    }
    const sign = kind === "scores" ? -1 : 1
    const levels = [...new Set(numbers.map((number) => sign * number))].toSorted((a, b) => a - b)
    return Result.succeed(
      ranked(levels.map((level) => numbers.flatMap((number, i) => (sign * number === level ? [i] : [])))),
    )
  }

  const oneHot = (
    columns: ReadonlyArray<string> | undefined,
    values: ReadonlyArray<unknown>,
    item: ChoiceNames.Item,
  ): ReadResult => {
    const set = values.flatMap((value, i) => (isOne(value) ? [i] : []))
    const [at] = set
    if (at === undefined || set.length > 1 || !values.every((value) => isOne(value) || isZero(value))) {
      return Result.fail(`expected 1 once and 0 otherwise, found ${joinWords(values.map(describeValue))}`)
    }
    const column = columns?.[at]
    if (column === undefined) {
      return at < item.completions.length ? Result.succeed({ choice: at }) : Result.fail(`found 1 in place ${at + 1}`)
    }
    if (map !== undefined) return mapped(map, column, item)
    const outcome = columnOutcome(column, item)
    if (outcome !== undefined) return Result.succeed(outcome)
    if (lacksSome(item)) return byItself(column, item)
    const rest = columns?.filter((one) => columnOutcome(one, item) === undefined) ?? []
    const [choice, ...others] = placesOf(rest, item)[rest.indexOf(column)] ?? []
    return choice === undefined || others.length > 0 ? withKind("name", column, item) : Result.succeed({ choice })
  }

  return read
}

const isColumnValues = (value: unknown): value is ColumnValues =>
  isObject(value) && Array.isArray(value["columns"]) && Array.isArray(value["values"])

/** What a column says that is about no completion, such as `winner_tie`. */
const columnOutcome = (column: string, item: ChoiceNames.Item): Chosen | undefined =>
  partsOf(column)
    .map((part) => outcomeOf(part, item))
    .find((outcome) => outcome !== undefined)

/** Where each of the numbers occurs once, from 0 or from 1 on. */
const numbersIn = (names: ReadonlyArray<string>): ReadonlyArray<Result.Result<Chosen, string>> | undefined => {
  const numbers = names.map(Number)
  const from = Math.min(...numbers)
  const isCounted = names.every((name) => /^\d+$/.test(name)) && from <= 1 && Math.max(...numbers) - from < names.length
  return isCounted ? numbers.map((number) => Result.succeed({ choice: number - from })) : undefined
}

/** Of groups of completions, best first. */
const ranked = (groups: ReadonlyArray<ReadonlyArray<number>>): Chosen => {
  const ranking = groups.filter((group) => Arr.isReadonlyArrayNonEmpty(group))
  const [best] = ranking
  if (best === undefined || ranking.length === 1 || !Arr.isReadonlyArrayNonEmpty(ranking)) return tie
  return { choice: best[0], ranking }
}
