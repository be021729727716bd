/** Turns pairs into labeled completions (KTO). A completion that is both chosen and rejected in pairs has no row. */
import { Result } from "effect"
import type { PreferencePair } from "../../domain/PreferencePair.ts"
import * as Sha256 from "../../node/Sha256.ts"
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

type ToRow = (completion: string, label: boolean, side: Completion["side"]) => JsonRow

interface Completion {
  readonly side: "chosen" | "rejected"
  readonly pair: PreferencePair
  readonly toRow: ToRow
  readonly isUnclear: boolean
  readonly label: boolean
}

/**
 * Writes one row with a label (good or bad) per completion of an item. Omits a pair if its completions are equal, or if
 * a text is empty or not well-formed Unicode. `prepare` returns a function that makes the row of one completion.
 */
export const rowPerCompletion =
  (prepare: (pair: PreferencePair, options: FormatOptions) => Checked<ToRow>): TrainerFormat["encoder"] =>
  (options = {}) => {
    let itemId: string | undefined
    let completions = new Map<string, Completion>()

    const add = (pair: PreferencePair, side: "chosen" | "rejected", toRow: ToRow) => {
      const earlier = completions.get(pair[side])
      const label = side === "chosen" && pair.all_bad !== true
      if (earlier === undefined) completions.set(pair[side], { side, label, pair, toRow, isUnclear: false })
      else if (earlier.label !== label) completions.set(pair[side], { ...earlier, isUnclear: true })
    }

    const end = (): ReadonlyArray<Encoded> => {
      const item = completions
      completions = new Map()
      return Array.from(item, ([text, { isUnclear, label, pair, side, toRow }]) =>
        isUnclear
          ? Result.fail(
              omission(pair, {
                field: side,
                expected: "a completion that is either chosen in all its pairs or rejected in all its pairs",
                found: `a completion that is both chosen and rejected: ${describeValue(text)}`,
              }),
            )
          : Result.succeed(toRow(text, label, side)),
      )
    }

    return {
      encode: (pair) => {
        const earlierRows = pair.item_id === itemId ? [] : end()
        itemId = pair.item_id
        const toRow = Result.flatMap(checkPair(pair), (pair) => prepare(pair, options))
        if (Result.isFailure(toRow)) return [...earlierRows, Result.fail(omission(pair, toRow.failure))]
        add(pair, "chosen", toRow.success)
        add(pair, "rejected", toRow.success)
        return earlierRows
      },
      end,
    }
  }

interface Parts {
  readonly prompt: unknown
  readonly completion: unknown
  readonly label: unknown
}

export const promptOf =
  (partsOf: (row: JsonRow) => Parts) =>
  (row: JsonRow): string => {
    const { prompt } = partsOf(row)
    return typeof prompt === "string" ? prompt : JSON.stringify(prompt)
  }

const maxRememberedCompletions = 200_000

export const check = (
  partsOf: (row: JsonRow) => Parts,
  columns: { readonly prompt: string; readonly completion: string; readonly label: string },
): ((row: JsonRow) => ReadonlyArray<Problem>) => {
  const textOf = promptOf(partsOf)
  const labels = new Map<string, unknown>()
  let lastPrompt: string | undefined
  return (row) => {
    const { completion, label } = partsOf(row)
    const prompt = textOf(row)
    const key = Sha256.hex(JSON.stringify([prompt, completion]))
    const earlierLabel = labels.get(key)
    labels.delete(key)
    labels.set(key, label)
    if (labels.size > maxRememberedCompletions) for (const oldest of labels.keys()) if (labels.delete(oldest)) break
    const isNeighbor = prompt === lastPrompt
    lastPrompt = prompt
    return [
      ...(earlierLabel === label
        ? [
            {
              field: columns.completion,
              expected: "a completion that no earlier row has with this prompt and label",
              found: describeValue(JSON.stringify(completion)),
            },
          ]
        : []),
      ...(earlierLabel !== undefined && earlierLabel !== label
        ? [
            {
              field: columns.label,
              expected: `${describeValue(earlierLabel)}, as in an earlier row with the same prompt and completion`,
              found: describeValue(label),
            },
          ]
        : []),
      ...(isNeighbor
        ? [
            {
              field: columns.prompt,
              expected:
                "a different prompt than in the previous row (KTO trainers also combine this prompt with the previous row's completion, as an answer that does not fit the prompt)",
              found: "the same prompt",
            },
          ]
        : []),
    ]
  }
}
