/**
 * Remembers items that were read and are not in the ledger. Each item takes about 60 bytes, for two hashes of 52 bits.
 * With a million items, the probability that any new item counts as already seen is 1 in 9,000.
 */
import * as Sha256 from "../../node/Sha256.ts"
import type { BatchItem } from "../ledger/schema/Model.ts"

type Identity = Pick<BatchItem, "contentHash" | "itemId">

/** The first 52 bits of a hash, which a JavaScript number represents exactly. */
const short = (hexadecimal: string): number => Number.parseInt(hexadecimal.slice(0, 13), 16)

export const make = () => {
  const seen = new Map<number, number>()
  return {
    add: ({ contentHash, itemId }: Identity): void => void seen.set(short(Sha256.hex(itemId)), short(contentHash)),
    classify: ({ contentHash, itemId }: Identity): "duplicate" | "conflict" | undefined => {
      if (seen.size === 0) return undefined
      const content = seen.get(short(Sha256.hex(itemId)))
      if (content === undefined) return undefined
      return content === short(contentHash) ? "duplicate" : "conflict"
    },
  }
}
