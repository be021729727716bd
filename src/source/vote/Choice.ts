/**
 * Resolves what a vote names: a completion by its index, number, text, letter, column or model, a side of a scale, or none
 * of them (a tie).
 *
 * Guarantees: a value that names none or several completions is a failure, never a guess. `detect` decides how numbers are
 * meant only if one reading fits all values and the others do not, with one exception: values that also fit `number` are
 * `index` if each index occurs among at least `minVotes` of them. As numbers, they would have ties, and never the last completion.
 */
import { Result } from "effect"
import { describeValue, isEmpty, joinWords } from "../../io/Values.ts"
import * as BestCompletion from "../item/BestCompletion.ts"
import * as KnownNames from "../record/KnownNames.ts"

/**
 * `index`: from 0 on. `number`: from 1 on, and 0 is a tie. `scale`: below 0 the first of two completions, above 0 the second,
 * 0 a tie. `text`: the completion itself. `name`: its letter, column or model, or `left` and `right`.
 */
export const choiceKinds = ["index", "number", "scale", "text", "name"] as const
export type ChoiceKind = (typeof choiceKinds)[number]

/** None prefers all completions equally. */
export interface Chosen {
  readonly choice: number | undefined
  /** Of a scale, how far from the middle. */
  readonly strength?: number
}

const sides = [["left"], ["right"]] as const

const numberOf = (value: unknown): number | undefined =>
  typeof value === "number"
    ? value
    : typeof value === "string" && /^\s*-?\d{1,15}\s*$/.test(value)
      ? Number(value)
      : undefined

/** Among fewer votes, it may be by chance that none is for the last completion. */
const minVotes = 20

/** How numbers name completions: one kind, all kinds that fit, or none if values are no numbers. */
export const detect = (
  values: ReadonlyArray<unknown>,
  completions: number,
): { readonly kind: ChoiceKind } | { readonly fits: ReadonlyArray<ChoiceKind> } | undefined => {
  const given = values.filter((value) => !isEmpty(value))
  const numbers = given.flatMap((value) => numberOf(value) ?? [])
  if (numbers.length === 0 || numbers.length < given.length) return undefined
  const found = new Set(numbers)
  const within = (from: number, to: number) =>
    [...found].every((number) => Number.isInteger(number) && number >= from && number <= to)
  if ([...found].some((number) => number < 0)) return completions === 2 ? { kind: "scale" } : { fits: [] }
  const isIndex = within(0, completions - 1)
  const isNumber = within(0, completions)
  if (isIndex && found.size === completions && numbers.length >= minVotes) return { kind: "index" }
  if (isIndex && isNumber) return { fits: ["index", "number"] }
  return isNumber ? { kind: "number" } : { fits: [] }
}

/** @param labels what the record calls the completions: their columns */
export const reader = (kind: ChoiceKind | undefined, labels: ReadonlyArray<string> | undefined) => {
  const byColumn = labels === undefined ? undefined : BestCompletion.finder(labels)
  return (
    given: unknown,
    completions: ReadonlyArray<string>,
    models: ReadonlyArray<string> | undefined,
  ): Result.Result<Chosen, string> => {
    const number = numberOf(given)
    const range = (from: number) => {
      const choice = number === undefined ? -1 : number - from
      return Number.isInteger(choice) && choice >= 0 && choice < completions.length
        ? Result.succeed({ choice })
        : Result.fail(`expected ${from} to ${completions.length - 1 + from}, found ${describeValue(given)}`)
    }
    if (isEmpty(given)) return Result.fail("expected a choice, found nothing")
    if (isTie(given, completions, models)) return Result.succeed({ choice: undefined })
    // Where columns are empty, the places of the others are not those of the columns.
    if (labels !== undefined && labels.length !== completions.length) return byItself(given, completions, models)
    switch (kind) {
      case "index":
        return range(0)
      case "number":
        return number === 0 ? Result.succeed({ choice: undefined }) : range(1)
      case "scale":
        return number === undefined || completions.length !== 2
          ? Result.fail(`expected a number, and two completions, found ${describeValue(given)}`)
          : Result.succeed({ choice: number === 0 ? undefined : number < 0 ? 0 : 1, strength: Math.abs(number) })
      default:
        return named(given, completions, models, kind)
    }
  }

  function byItself(
    given: unknown,
    completions: ReadonlyArray<string>,
    models: ReadonlyArray<string> | undefined,
  ): Result.Result<Chosen, string> {
    const found = [completions, models ?? []].flatMap((all) => all.flatMap((one, i) => (one === given ? [i] : [])))
    return found.length === 1
      ? Result.succeed({ choice: found[0] })
      : Result.fail(
          `expected the text or the model of a completion, as the record has ${completions.length} of ${labels?.length} completions, found ${describeValue(given)}`,
        )
  }

  function named(
    given: unknown,
    completions: ReadonlyArray<string>,
    models: ReadonlyArray<string> | undefined,
    kind: "text" | "name" | undefined,
  ): Result.Result<Chosen, string> {
    const text = typeof given === "string" || typeof given === "number" ? String(given) : undefined
    const found = new Set<number>()
    if (kind !== "name" && text !== undefined) {
      const at = completions.indexOf(text)
      if (at >= 0) found.add(at)
    }
    // A text is itself, whatever else it could be the name of.
    if (kind !== "text" && text !== undefined && found.size === 0) {
      const own = completions.map((_, i) => `completion_${String.fromCharCode(97 + i)}`)
      const bySide = completions.length === 2 ? sides.findIndex(([side]) => side === text.trim().toLowerCase()) : -1
      // Exact names go before what is derived from them, and this before what places are called.
      const named = [
        (labels ?? []).flatMap((label, i) => (label === text ? [i] : [])),
        (models ?? []).flatMap((model, i) => (model === text ? [i] : [])),
        byColumn?.(given, models ?? []) ?? [],
        BestCompletion.finder(own.slice(0, 26))(given, models ?? []),
        bySide >= 0 ? [bySide] : [],
      ]
      for (const at of named.find(({ length }) => length > 0) ?? []) found.add(at)
    }
    const [choice] = found
    const names = [...(labels ?? []), ...(models ?? [])]
    return found.size === 1
      ? Result.succeed({ choice })
      : Result.fail(
          `expected what names one of ${completions.length} completions${names.length === 0 ? "" : ` (${joinWords(names.map((name) => JSON.stringify(name)))})`}, found ${describeValue(given)}${found.size > 1 ? `, which names ${found.size}` : ""}`,
        )
  }
}

const isTie = (
  given: unknown,
  completions: ReadonlyArray<string>,
  models: ReadonlyArray<string> | undefined,
): boolean =>
  typeof given === "string" &&
  KnownNames.ties.has(given.trim().toLowerCase()) &&
  !completions.includes(given) &&
  models?.includes(given) !== true
