/**
 * Pairs that have no place in the dataset, or in one of its trainer formats.
 *
 * Guarantees: every one is counted; the first of them are named with the reason, so that memory
 * does not grow with their number.
 */
import { Schema } from "effect"

/** How many are named. */
export const named = 20

export const Refusal = Schema.Struct({
  item_id: Schema.String,
  /** The member of the pair. */
  field: Schema.String,
  reason: Schema.String,
})
export type Refusal = typeof Refusal.Type

export const Refused = Schema.Struct({
  count: Schema.Int,
  /** The first 20, in the order of the pairs. */
  first: Schema.Array(Refusal),
})
export type Refused = typeof Refused.Type

export interface Counter {
  readonly add: (refusal: Refusal) => void
  readonly refused: () => Refused
}

export const counter = (): Counter => {
  const first: Array<Refusal> = []
  let count = 0
  return {
    add: (refusal) => {
      count++
      if (first.length < named) first.push(refusal)
    },
    refused: () => ({ count, first }),
  }
}

/** Of several files together. */
export const all = (parts: ReadonlyArray<Refused>): Refused => ({
  count: parts.reduce((sum, { count }) => sum + count, 0),
  first: parts.flatMap(({ first }) => first).slice(0, named),
})
