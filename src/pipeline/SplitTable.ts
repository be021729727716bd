/**
 * The split of each item, settled before any is written.
 *
 * Guarantees: a split follows from the items planned up to this one, in all campaigns, judged or not, so it does not
 * change when the data grows or results arrive. Items pruned from the ledger do not count: a near-duplicate of a pruned item
 * may get another split; an equal item gets the same.
 *
 * Memory: 8 bytes per item, in addition to what `Splits` takes.
 */
import { Effect, Stream } from "effect"
import type { JudgedItem } from "../domain/JudgedItem.ts"
import type { Split } from "../domain/Split.ts"
import * as Sha256 from "../node/Sha256.ts"
import * as Splits from "../pair/text/Splits.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"

interface Planned extends Pick<JudgedItem, "itemId" | "prompt"> {}

/** The key of an item in the table, of 52 bits. */
const keyOf = ({ itemId, prompt }: Planned): number =>
  Number.parseInt(Sha256.hex(JSON.stringify([itemId, prompt])).slice(0, 13), 16)

/** Passes over all planned items. Fails with `SplitsInvalid` where the shares are none. */
export const make = Effect.fnUntraced(function* (shares: Splits.Shares, seed: number | undefined) {
  const ledger = yield* LedgerReader
  const splits = yield* Splits.make({ shares, seed })
  let keys = new Float64Array(1024)
  let count = 0
  yield* Stream.runForEachArray(ledger.prompts, (planned) =>
    Effect.sync(() => {
      for (const item of planned) {
        splits.add(item.prompt)
        if (count === keys.length) {
          const larger = new Float64Array(2 * count)
          larger.set(keys)
          keys = larger
        }
        keys[count++] = keyOf(item)
      }
    }),
  )

  let next = 0
  return {
    /** Must be called in the order in which the items were planned. */
    splitOf: (item: Planned): Split => {
      const key = keyOf(item)
      let at = next
      while (at < count && keys[at] !== key) at++
      // Items planned since the table was made are not in it.
      if (at === count) return splits.add(item.prompt).split
      next = at + 1
      return splits.splitOf(at) ?? "train"
    },
    crossSplitNearDuplicates: splits.crossSplitNearDuplicates,
  }
})
