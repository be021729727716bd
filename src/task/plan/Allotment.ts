/**
 * Selects the batches that can be planned within a budget.
 *
 * Guarantees: batches are selected in order. The last batch contains only the items that the budget allows. An item is
 * selected only if the budget allows all of its votes. A plan and a preview of the same batches have the same result.
 */
import { Array as Arr } from "effect"
import type { BatchItem } from "../ledger/schema/Model.ts"
import type { Batch } from "./Batch.ts"

export interface Allotment {
  readonly batches: ReadonlyArray<Batch>
  /** Items of the input for which no votes are left. */
  readonly beyond: ReadonlyArray<BatchItem>
}

export const within = (batches: ReadonlyArray<Batch>, votes: number, votesLeft: number): Allotment => {
  if (votesLeft === Infinity) return { batches, beyond: [] }
  let items = Math.floor(votesLeft / votes)
  const cut = batches.map((batch) => {
    const taken = batch.slice(0, items)
    items -= taken.length
    return { taken, rest: batch.slice(taken.length) }
  })
  return {
    batches: cut.flatMap(({ taken }) => (Arr.isArrayNonEmpty(taken) ? [taken] : [])),
    beyond: cut.flatMap(({ rest }) => rest).filter(({ isCheck }) => isCheck !== true),
  }
}
