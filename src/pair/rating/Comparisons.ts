/**
 * Derives comparisons of models from votes. A vote without a ranking compares its choice with each of the others. This
 * assumes the choice axiom (R. D. Luce, 1959): the odds between two completions do not depend on further completions.
 * Equal texts, or texts by one model, are not compared. A text that several models wrote counts for each of them.
 * Memory: 12 bytes per comparison, 4 per item, 60 per `Cell`.
 */
import type { JudgedItem } from "../../domain/Judgment.ts"
import { charactersAt, firstOfText } from "../../domain/CompletionTexts.ts"
import * as NumberList from "../stats/NumberList.ts"
import { comparisonOf, type ItemVote } from "../votes/ItemVotes.ts"

/** Number of outcomes per cell: a win of `one`, a tie, or a win of `other`. */
export const outcomes = 3

/** Length differences (−1 to 1) are rounded to this step. The rounding shrinks coefficients by at most 0.4%. */
const lengthStep = 0.04
const maxStep = Math.round(1 / lengthStep)
const lengthSteps = 2 * maxStep + 1

/** Maximum number of models. If more names occur, they probably name completions, and `finish` returns undefined. */
export const maxModels = 500

/** Comparisons with the same models and covariates share a cell. */
export interface Cell {
  readonly one: number
  readonly other: number
  /** (a − b) / (a + b), where a is the length of `one` and b the length of `other`, in characters. */
  readonly length: number
  /** 1 if the expert saw `one` first, otherwise −1. */
  readonly position: number
}

/** `outcome` is 1 if `one` is better, 0 for a tie, −1 if `other` is better. */
export interface Comparison {
  readonly one: number
  readonly other: number
  readonly outcome: number
}

export interface Comparisons {
  readonly models: ReadonlyArray<string>
  readonly cells: ReadonlyArray<Cell>
  readonly items: number
  /** For each item, the index after its last entry in `entries`. */
  readonly ends: Uint32Array
  /** An entry is 3 × the index in `cells`, plus 0 if `one` wins, 1 for a tie, or 2 if `other` wins. */
  readonly entries: Uint32Array
  readonly weights: Float64Array
}

export const make = () => {
  const numbers = new Map<string, number>()
  const cellNumbers = new Map<number, number>()
  const cells: Array<Cell> = []
  const ends = NumberList.make(Uint32Array)
  const entries = NumberList.make(Uint32Array)
  const weights = NumberList.make(Float64Array)

  const numberOf = (model: string): number => {
    const number = numbers.get(model) ?? numbers.size
    numbers.set(model, number)
    return number
  }

  const cellOf = (one: number, other: number, step: number, position: number): number => {
    const key = ((one * maxModels + other) * lengthSteps + step + maxStep) * 2 + (position > 0 ? 1 : 0)
    const number = cellNumbers.get(key)
    if (number !== undefined) return number
    cellNumbers.set(key, cells.length)
    cells.push({ one, other, length: step * lengthStep, position })
    return cells.length - 1
  }

  return {
    /** Returns each vote's comparisons. Ignores the item if there are more than `maxModels` models. */
    add: (
      { completions, models }: Pick<JudgedItem, "completions" | "models">,
      votes: ReadonlyArray<ItemVote>,
      weightOf: (vote: ItemVote) => number = () => 1,
      compare: typeof comparisonOf = comparisonOf,
    ): ReadonlyArray<ReadonlyArray<Comparison>> => {
      if (models === undefined || numbers.size > maxModels) return []
      const first = firstOfText(completions)
      const texts = [...new Set(first)]
      const modelsOf = (text: number) =>
        new Set(models.flatMap((model, index) => (first[index] === text ? [numberOf(model)] : [])))
      const owners = texts.map(modelsOf)
      if (numbers.size > maxModels) return []
      const lengths = texts.map((text) => charactersAt(completions, text))
      const inItem = new Map<number, number>()
      const all = votes.map((vote) => {
        const weight = weightOf(vote)
        const shown = texts.map((text) => vote.order.findIndex((index) => first[index] === text))
        const comparisons: Array<Comparison> = []
        for (let i = 0; i < texts.length; i++) {
          for (let j = i + 1; j < texts.length; j++) {
            const preferred = compare(vote, texts[i]!, texts[j]!)
            if (preferred === undefined) continue
            const step = Math.round((lengths[i]! - lengths[j]!) / (lengths[i]! + lengths[j]!) / lengthStep)
            const position = shown[i]! < shown[j]! ? 1 : -1
            for (const a of owners[i]!) {
              for (const b of owners[j]!) {
                if (a === b) continue
                const sign = a < b ? 1 : -1
                const outcome = sign * preferred
                const [one, other] = sign > 0 ? [a, b] : [b, a]
                comparisons.push({ one, other, outcome })
                const entry = outcomes * cellOf(one, other, sign * step, sign * position) + 1 - outcome
                inItem.set(entry, (inItem.get(entry) ?? 0) + weight)
              }
            }
          }
        }
        return comparisons
      })
      if (inItem.size === 0) return all
      for (const [entry, weight] of inItem) {
        entries.push(entry)
        weights.push(weight)
      }
      ends.push(entries.length())
      return all
    },
    finish: (): Comparisons | undefined =>
      numbers.size > maxModels
        ? undefined
        : {
            models: [...numbers.keys()],
            cells,
            items: ends.length(),
            ends: ends.view(),
            entries: entries.view(),
            weights: weights.view(),
          },
  }
}
