/**
 * What a budget allows of the batches that are to be planned.
 *
 * Guarantees: batches are taken in their order, each item with all of its votes; the last one is cut where the votes end. A
 * plan and a preview of the same batches come to the same end.
 */
import { Array as Arr } from "effect"
import type { BatchItem } from "../ledger/schema/Model.ts"
import type { Batch } from "./Batch.ts"

export interface Allotment {
  readonly batches: ReadonlyArray<Batch>
  /** Items of the input that no votes are left for. */
  readonly beyond: ReadonlyArray<BatchItem>
}

/** @param votesLeft any number, or `Infinity` without a budget */
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
