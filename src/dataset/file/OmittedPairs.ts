/**
 * Pairs that are missing from the dataset, or from one of its trainer formats.
 *
 * Guarantees: all are counted; the first 20 are listed with their reason, so memory is constant.
 */
import { Schema } from "effect"

const maxNamed = 20

export const Omission = Schema.Struct({
  item_id: Schema.String,
  /** The member of the pair: `prompt[0].role`, `chosen`. */
  field: Schema.String,
  /** One line: what was expected, what was found. */
  reason: Schema.String,
})
export type Omission = typeof Omission.Type

export const OmittedPairs = Schema.Struct({
  count: Schema.Int,
  /** The first 20, in the order of the pairs. */
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

/** Of several files together. */
export const combine = (parts: ReadonlyArray<OmittedPairs>): OmittedPairs => ({
  count: parts.reduce((sum, { count }) => sum + count, 0),
  first: parts.flatMap(({ first }) => first).slice(0, maxNamed),
})
