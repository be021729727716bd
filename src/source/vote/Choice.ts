/** Finds the completion that a vote's value identifies. Fails if no completion, or more than one, matches the value. */
import { Array as Arr, Result } from "effect"
import type { Ranking } from "../../domain/Ranking.ts"
import * as OptionText from "../../io/OptionText.ts"
import { describeValue, isEmpty, isObject, joinWords, plural, quoteNames } from "../../io/Values.ts"
import * as OutcomeWords from "../record/OutcomeWords.ts"
import { type ChoiceMap, numberOf, places } from "./ChoiceMap.ts"
import * as ChoiceNames from "./ChoiceNames.ts"
import { isOne, isZero, partsOf, unwrap } from "./ChoiceValue.ts"

/**
 * - `index`: the number of the chosen completion, from 0.
 * - `number`: the number of the chosen completion, from 1. The number 0 is a tie.
 * - `scale`: a number below 0 for the first of two completions, above 0 for the second, and 0 for a tie.
 * - `text`: the text of the chosen completion. `name`: its letter, column, model, or side (`left`, `right`).
 * - `scores`, `ranks`, and `one-hot`: one value for each completion. The chosen completion has the highest score, the
 *   lowest rank, or the value 1.
 */
export const choiceKinds = ["index", "number", "scale", "text", "name", "scores", "ranks", "one-hot"] as const
/** How a value identifies a completion. */
export type ChoiceKind = (typeof choiceKinds)[number]

export const isPerCompletion = (kind: ChoiceKind | undefined): boolean =>
  kind === "scores" || kind === "ranks" || kind === "one-hot"

export interface Reading {
  readonly kind?: ChoiceKind | undefined
  readonly map?: ChoiceMap | undefined
  readonly constantChoice?: number | undefined
}

export interface ParsedChoice {
  readonly choice: number | undefined
  /** The strength of the preference: the absolute value of a `scale`, or the number of signs in text such as `A>>B`. */
  readonly strength?: number | undefined
  readonly ranking?: Ranking | undefined
  readonly allBad?: true | undefined
}

export interface ColumnValues {
  readonly columns: ReadonlyArray<string>
  readonly values: ReadonlyArray<unknown>
}

export type ReadResult = Result.Result<ParsedChoice | undefined, string>

const tie: ParsedChoice = { choice: undefined }

export const outcomeOf = (value: unknown, { completions, models = [] }: ChoiceNames.Item): ParsedChoice | undefined => {
  if (typeof value !== "string" || completions.includes(value) || models.includes(value)) return undefined
  const word = OutcomeWords.normalize(value)
  return OutcomeWords.allBad.has(word) ? { ...tie, allBad: true } : OutcomeWords.ties.has(word) ? tie : undefined
}

export const reader = ({ kind, map, constantChoice }: Reading, labels: ReadonlyArray<string> | undefined) => {
  const { named: allNamed, placesOf } = ChoiceNames.finder(labels)

  const read = (rawValue: unknown, item: ChoiceNames.Item): ReadResult => {
    if (constantChoice !== undefined && !lacksSome(item)) return Result.succeed({ choice: constantChoice })
    if (isColumnValues(rawValue)) return perCompletion(rawValue.columns, rawValue.values, item)
    const value = unwrap(rawValue, item.completions)
    if (isPerCompletion(kind)) {
      return Array.isArray(value)
        ? perCompletion(undefined, value, item)
        : Result.fail(`expected a list with one value per completion, found ${describeValue(value)}`)
    }
    return readOne(value, item)
  }

  const readOne = (value: unknown, item: ChoiceNames.Item): ReadResult => {
    if (map !== undefined) return readMapped(map, value, item)
    if (isEmpty(value)) return Result.fail("expected a choice, found nothing")
    const outcome = outcomeOf(value, item)
    if (outcome !== undefined) return Result.succeed(outcome)
    const { completions } = item
    if (lacksSome(item)) return readByTextOrModel(value, item)
    const number = numberOf(value)
    const range = (from: number) => {
      const choice = number === undefined ? -1 : number - from
      return Number.isInteger(choice) && choice >= 0 && choice < completions.length
        ? Result.succeed({ choice })
        : Result.fail(
            `expected a number from ${from} to ${completions.length - 1 + from}, found ${describeValue(value)}`,
          )
    }
    switch (kind) {
      case "index":
        return range(0)
      case "number":
        return number === 0 ? Result.succeed(tie) : range(1)
      case "scale":
        if (completions.length !== 2) {
          return Result.fail(`a scale requires records with two completions, found ${completions.length} completions`)
        }
        return number === undefined
          ? Result.fail(`expected a number, found ${describeValue(value)}`)
          : Result.succeed({ choice: number === 0 ? undefined : number < 0 ? 0 : 1, strength: Math.abs(number) })
      default:
        return readName(value, item)
    }
  }

  const lacksSome = ({ completions }: ChoiceNames.Item): boolean =>
    labels !== undefined && labels.length !== completions.length

  const readMapped = (map: ChoiceMap, value: unknown, item: ChoiceNames.Item): ReadResult => {
    const meaning = map.meaningOf(value)
    if (meaning === undefined) {
      return Result.fail(
        `expected a value of ${OptionText.of("choiceMap")} (${map.text}), found ${describeValue(value)}`,
      )
    }
    if (meaning === "none") return Result.succeed(undefined)
    if (meaning === "tie") return Result.succeed(tie)
    if (meaning === "all_bad") return Result.succeed({ ...tie, allBad: true })
    const place = places.indexOf(meaning)
    if (lacksSome(item)) return readByTextOrModel(place < 0 ? meaning : value, item)
    if (place < 0) return withKind("name", meaning, item)
    return place < item.completions.length
      ? Result.succeed({ choice: place })
      : Result.fail(
          `${OptionText.of("choiceMap")} gives ${describeValue(value)} the meaning ${meaning}, but the record has only ${item.completions.length} completions: correct ${OptionText.of("choiceMap")}, or correct the record`,
        )
  }

  const readByTextOrModel = (
    value: unknown,
    { completions, models = [] }: ChoiceNames.Item,
  ): Result.Result<ParsedChoice, string> => {
    const indices = [completions, models].flatMap((all) => all.flatMap((one, i) => (one === value ? [i] : [])))
    return indices.length === 1
      ? Result.succeed({ choice: indices[0] })
      : Result.fail(
          `the record has only ${completions.length} of the ${labels?.length} completions, so positions and columns do not identify a completion: expected the text of a completion or the name of its model, found ${describeValue(value)}`,
        )
  }

  const readName = (value: unknown, item: ChoiceNames.Item): Result.Result<ParsedChoice, string> => {
    const text = typeof value === "string" ? value.replace(/^\s*\[\[(.*)\]\]\s*$/s, "$1") : value
    const result = withKind(kind, text, item)
    return Result.isSuccess(result) || typeof text !== "string" || kind === "text"
      ? result
      : (readComparison(text, item) ?? result)
  }

  const readComparison = (text: string, item: ChoiceNames.Item): Result.Result<ParsedChoice, string> | undefined => {
    const [first = "", ...rest] = text.split(/\s*(>+|<+|=+)\s*/)
    const signs = rest.filter((_, i) => i % 2 === 0)
    const names = [first, ...rest.filter((_, i) => i % 2 === 1)].map((name) => name.trim())
    const isDown = signs.some((sign) => sign.startsWith("<"))
    if (signs.length === 0 || (isDown && signs.some((sign) => sign.startsWith(">")))) return undefined
    const results = Result.all(numbersIn(names) ?? names.map((name) => withKind("name", name, item)))
    const indices = Result.getOrElse(results, () => []).flatMap(({ choice }) => choice ?? [])
    if (indices.length !== item.completions.length || new Set(indices).size < indices.length) return undefined
    const groups: Array<Arr.NonEmptyArray<number>> = []
    for (const [i, index] of indices.entries()) {
      if (i > 0 && signs[i - 1]!.startsWith("=")) groups.at(-1)!.push(index)
      else groups.push([index])
    }
    const ranking = isDown ? groups.toReversed() : groups
    return Result.succeed({
      ...fromGroups(ranking),
      ...(indices.length === 2 && ranking.length === 2 && { strength: signs[0]!.length }),
    })
  }

  const withKind = (
    kind: ChoiceKind | undefined,
    value: unknown,
    item: ChoiceNames.Item,
  ): Result.Result<ParsedChoice, string> => {
    const { completions, models = [] } = item
    const indices = allNamed(kind, value, item)
    const names = [...(labels ?? []), ...models]
    return indices.length === 1
      ? Result.succeed({ choice: indices[0] })
      : Result.fail(
          `expected the name of one of the ${completions.length} completions${names.length === 0 ? "" : ` (${quoteNames(names)})`}, found ${describeValue(value)}${indices.length > 1 ? `, which matches ${indices.length} completions` : ""}; to give this value a meaning, set ${OptionText.of("choiceMap")}`,
        )
  }

  const perCompletion = (
    columns: ReadonlyArray<string> | undefined,
    values: ReadonlyArray<unknown>,
    item: ChoiceNames.Item,
  ): ReadResult => {
    if (kind === "one-hot") return oneHot(columns, values, item)
    const { completions } = item
    const columnPlaces = columns === undefined ? [] : placesOf(columns, item)
    const isNamed = columnPlaces.some((places) => places.length > 0)
    const order = isNamed
      ? columnPlaces.map(([first, ...others]) => (others.length === 0 ? first : undefined))
      : [...values.keys()]
    if (isNamed && values.length === completions.length && !ChoiceNames.isOneToOne(order, completions.length)) {
      const each = columns?.map((column, i) => {
        const labelsOf = columnPlaces[i]!.map((at) => labels?.[at] ?? "")
        return `${JSON.stringify(column)} names ${labelsOf.length === 0 ? "none" : quoteNames(labelsOf)}`
      })
      return Result.fail(
        `expected one column for each of the ${completions.length} completions (${quoteNames(labels ?? [])}), but ${joinWords(each ?? [])}: rename the columns, so that each one names a different completion`,
      )
    }
    const numbers = completions.flatMap((_, i) => numberOf(values[order.indexOf(i)]) ?? [])
    if (lacksSome(item) || values.length !== completions.length || numbers.length < completions.length) {
      const count = values.filter((value) => numberOf(value) !== undefined).length
      const among = count === values.length ? "" : ` among ${values.length} values`
      const description =
        columns === undefined ? `${count} ${plural(count, "number")}${among}` : joinWords(values.map(describeValue))
      return Result.fail(
        lacksSome(item)
          ? `scores and ranks can be read only if a record has all of the ${labels?.length} completions, found ${completions.length}`
          : `expected a number for each of ${completions.length} completions, found ${description}`,
      )
    }
    const sign = kind === "scores" ? -1 : 1
    const levels = [...new Set(numbers.map((number) => sign * number))].toSorted((a, b) => a - b)
    return Result.succeed(
      fromGroups(levels.map((level) => numbers.flatMap((number, i) => (sign * number === level ? [i] : [])))),
    )
  }

  const oneHot = (
    columns: ReadonlyArray<string> | undefined,
    values: ReadonlyArray<unknown>,
    item: ChoiceNames.Item,
  ): ReadResult => {
    const onePlaces = values.flatMap((value, i) => (isOne(value) ? [i] : []))
    const [at] = onePlaces
    // The cells without the 1 must be all 0 or all empty: an empty cell among zeros is a missing value (perhaps a 1).
    const isRest = values.includes("") || values.includes(null) ? isEmpty : isZero
    if (at === undefined || onePlaces.length > 1 || !values.every((value) => isOne(value) || isRest(value))) {
      return Result.fail(
        `expected 1 for one completion and 0 for the others, found ${joinWords(values.map(describeValue))}`,
      )
    }
    const column = columns?.[at]
    if (column === undefined) {
      return at < item.completions.length
        ? Result.succeed({ choice: at })
        : Result.fail(
            `expected the value 1 at position 1 to ${item.completions.length} (one value per completion), found the value 1 at position ${at + 1}`,
          )
    }
    if (map !== undefined) return readMapped(map, column, item)
    const outcome = columnOutcome(column, item)
    if (outcome !== undefined) return Result.succeed(outcome)
    if (lacksSome(item)) return readByTextOrModel(column, item)
    const rest = columns?.filter((one) => columnOutcome(one, item) === undefined) ?? []
    const [choice, ...others] = placesOf(rest, item)[rest.indexOf(column)] ?? []
    return choice === undefined || others.length > 0 ? withKind("name", column, item) : Result.succeed({ choice })
  }

  return read
}

const isColumnValues = (value: unknown): value is ColumnValues =>
  isObject(value) && Array.isArray(value["columns"]) && Array.isArray(value["values"])

const columnOutcome = (column: string, item: ChoiceNames.Item): ParsedChoice | undefined =>
  partsOf(column)
    .map((part) => outcomeOf(part, item))
    .find((outcome) => outcome !== undefined)

const numbersIn = (names: ReadonlyArray<string>): ReadonlyArray<Result.Result<ParsedChoice, string>> | undefined => {
  const numbers = names.map(Number)
  const from = Math.min(...numbers)
  const isCounted = names.every((name) => /^\d+$/.test(name)) && from <= 1 && Math.max(...numbers) - from < names.length
  return isCounted ? numbers.map((number) => Result.succeed({ choice: number - from })) : undefined
}

const fromGroups = (groups: ReadonlyArray<ReadonlyArray<number>>): ParsedChoice => {
  const ranking = groups.filter((group) => Arr.isReadonlyArrayNonEmpty(group))
  const [best] = ranking
  if (best === undefined || ranking.length === 1 || !Arr.isReadonlyArrayNonEmpty(ranking)) return tie
  return { choice: best[0], ranking }
}
