/**
 * Assigns a split to each item before any row is written.
 *
 * Guarantees: an item's split depends only on that item and the items planned before it, in all campaigns, judged or
 * not. So the split does not change when the data grows or results arrive. Exception: items pruned from the ledger do
 * not count, so a near-duplicate of a pruned item can get another split than that item had. An item with the same
 * prompt gets the same split.
 *
 * Memory: 8 bytes per item, in addition to `Splits`. Make the table in the same ledger snapshot in which you use it.
 */
import { Effect, Stream } from "effect"
import type { JudgedItem } from "../domain/Judgment.ts"
import type { Split } from "../domain/Split.ts"
import * as Sha256 from "../node/Sha256.ts"
import * as NumberList from "../pair/stats/NumberList.ts"
import * as Splits from "../pair/text/Splits.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"

interface Planned extends Pick<JudgedItem, "itemId" | "prompt"> {}

const keyOf = ({ itemId, prompt }: Planned): number => Sha256.leading52Bits(JSON.stringify([itemId, prompt]))

/** Reads all planned items. Fails with `SplitsInvalid` if the shares are invalid. */
export const make = Effect.fnUntraced(function* (options: Splits.SplitsOptions) {
  const ledger = yield* LedgerReader
  const splits = yield* Splits.make(options)
  const keys = NumberList.make(Float64Array)
  yield* Stream.runForEachArray(ledger.prompts, (planned) => {
    for (const item of planned) keys.push(keyOf(item))
    return splits.add(planned.map(({ prompt }) => prompt))
  })
  const { crossSplitNearDuplicates, splitOf } = yield* splits.assign
  const all = keys.view()

  let next = 0
  return {
    /** Call it in the order in which the items were planned: it searches from the previous item on. */
    splitOf: (item: Planned): Split => {
      const at = all.indexOf(keyOf(item), next)
      const split = splitOf(at)
      if (split === undefined) throw new Error(`item ${item.itemId} was not planned when the splits were assigned`)
      next = at + 1
      return split
    },
    crossSplitNearDuplicates,
  }
})
