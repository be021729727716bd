/**
 * Pairs as single completions with a label, desirable or undesirable (KTO).
 *
 * Guarantees: each completion of an item gives one row, however many pairs it is in, in order of first occurrence. A
 * completion that is preferred in one pair and not in another, as in the middle of a ranking, gives no row and is
 * reported. Where experts say that all completions are bad, none is desirable. Memory holds one item.
 */
import { Result } from "effect"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import type { JsonRow } from "../file/Features.ts"
import { describeValue } from "../../io/Values.ts"
import {
  type Checked,
  checkPair,
  type Encoded,
  type FormatOptions,
  omission,
  type Problem,
  type TrainerFormat,
} from "./TrainerFormat.ts"

/** @param side where the completion is in the pair that was given to `prepare` */
type ToRow = (completion: string, label: boolean, side: Completion["side"]) => JsonRow

interface Completion {
  readonly side: "chosen" | "rejected"
  readonly pair: PreferencePair
  readonly toRow: ToRow
  readonly isUnclear: boolean
  readonly label: boolean
}

/** @param prepare gives what makes a row of a completion of the pair */
export const rowPerCompletion =
  (prepare: (pair: PreferencePair, options: FormatOptions) => Checked<ToRow>): TrainerFormat["encoder"] =>
  (options = {}) => {
    let itemId: string | undefined
    let completions = new Map<string, Completion>()

    const add = (pair: PreferencePair, side: "chosen" | "rejected", toRow: ToRow) => {
      const met = completions.get(pair[side])
      const label = side === "chosen" && pair.all_bad !== true
      if (met === undefined) completions.set(pair[side], { side, label, pair, toRow, isUnclear: false })
      else if (met.label !== label) completions.set(pair[side], { ...met, isUnclear: true })
    }

    const end = (): ReadonlyArray<Encoded> => {
      const item = completions
      completions = new Map()
      return Array.from(item, ([text, { isUnclear, label, pair, side, toRow }]) =>
        isUnclear
          ? Result.fail(
              omission(pair, {
                field: side,
                expected: "a completion that is preferred in all its pairs or in none",
                found: `one between others: ${describeValue(text)}`,
              }),
            )
          : Result.succeed(toRow(text, label, side)),
      )
    }

    return {
      encode: (pair) => {
        const before = pair.item_id === itemId ? [] : end()
        itemId = pair.item_id
        const toRow = Result.flatMap(checkPair(pair), (pair) => prepare(pair, options))
        if (Result.isFailure(toRow)) return [...before, Result.fail(omission(pair, toRow.failure))]
        add(pair, "chosen", toRow.success)
        add(pair, "rejected", toRow.success)
        return before
      },
      end,
    }
  }

/**
 * Finds rows of a prompt that repeat a completion, or contradict its label, where they are one
 * after another.
 *
 * @param columns where a repeated completion, or a contradictory label, is
 */
export const check = (
  partsOf: (row: JsonRow) => { readonly prompt: unknown; readonly completion: unknown; readonly label: unknown },
  columns: { readonly completion: string; readonly label: string },
): ((row: JsonRow) => ReadonlyArray<Problem>) => {
  let current: string | undefined
  let labels = new Map<string, unknown>()
  return (row) => {
    const { prompt, completion, label } = partsOf(row)
    const next = JSON.stringify(prompt)
    if (next !== current) labels = new Map()
    current = next
    const key = JSON.stringify(completion)
    const before = labels.get(key)
    labels.set(key, label)
    if (before === undefined) return []
    return before === label
      ? [
          {
            field: columns.completion,
            expected: "a completion that this prompt has not had",
            found: describeValue(key),
          },
        ]
      : [
          {
            field: columns.label,
            expected: `${describeValue(before)}, as in an earlier row with this prompt and completion`,
            found: describeValue(label),
          },
        ]
  }
}
