/**
 * Items that were read and are in no ledger, by hashes.
 *
 * Of each item two hashes of 52 bits stay in memory, about 60 bytes: among a million items, one is taken for a duplicate by
 * chance once in 9,000 times.
 */
import * as Sha256 from "../../node/Sha256.ts"
import type { BatchItem } from "../ledger/schema/Model.ts"

type Identity = Pick<BatchItem, "contentHash" | "itemId">

/** Of 52 bits, which a number holds exactly. */
const short = (hexadecimal: string): number => Number.parseInt(hexadecimal.slice(0, 13), 16)

export const make = () => {
  /** The content of each, by its identity. */
  const seen = new Map<number, number>()
  return {
    add: ({ contentHash, itemId }: Identity): void => void seen.set(short(Sha256.hex(itemId)), short(contentHash)),
    /** How an item relates to those; undefined where its id is new. */
    classify: ({ contentHash, itemId }: Identity): "duplicate" | "conflict" | undefined => {
      if (seen.size === 0) return undefined
      const content = seen.get(short(Sha256.hex(itemId)))
      if (content === undefined) return undefined
      return content === short(contentHash) ? "duplicate" : "conflict"
    },
  }
}
