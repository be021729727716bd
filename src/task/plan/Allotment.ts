/** Selects the first batches within a budget. The last one keeps only items for which the budget allows all votes. */
import { Array as Arr } from "effect"
import type { BatchItem } from "../ledger/schema/Model.ts"
import type { Batch } from "./Batch.ts"

export interface Allotment {
  readonly batches: ReadonlyArray<Batch>
  readonly beyond: ReadonlyArray<BatchItem>
}

export const within = (batches: ReadonlyArray<Batch>, votes: number, votesLeft: number): Allotment => {
  if (votesLeft === Infinity) return { batches, beyond: [] }
  let items = Math.floor(votesLeft / votes)
  const cut = batches.map((batch) => {
    const first = batch.slice(0, items)
    items -= first.length
    return { first, rest: batch.slice(first.length) }
  })
  return {
    batches: cut.flatMap(({ first }) => (Arr.isArrayNonEmpty(first) ? [first] : [])),
    beyond: cut.flatMap(({ rest }) => rest).filter(({ isCheck }) => isCheck !== true),
  }
}
