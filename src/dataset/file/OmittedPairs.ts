/** Counts all omitted pairs, but lists only the first 20 of them with their reasons. */
import { Schema } from "effect"

const maxNamed = 20

/** A pair that a file omits, with the reason. */
export const Omission = Schema.Struct({
  /** The id of the pair's item. */
  item_id: Schema.String,
  /** The path of the member in the pair, such as `prompt[0].role` or `chosen`. */
  field: Schema.String,
  /** The expected value and the value that was found, on one line. */
  reason: Schema.String,
})
export type Omission = typeof Omission.Type

export const OmittedPairs = Schema.Struct({
  count: Schema.Int,
  /** The first 20 omitted pairs, in the order of the pairs. */
  first: Schema.Array(Omission),
})
export type OmittedPairs = typeof OmittedPairs.Type

export const counter = () => {
  const first: Array<Omission> = []
  let count = 0
  return {
    add: (omission: Omission): void => {
      count++
      if (first.length < maxNamed) first.push(omission)
    },
    omitted: (): OmittedPairs => ({ count, first }),
  }
}

export const combine = (parts: ReadonlyArray<OmittedPairs>): OmittedPairs => ({
  count: parts.reduce((sum, { count }) => sum + count, 0),
  first: parts.flatMap(({ first }) => first).slice(0, maxNamed),
})
