/**
 * What is asked of a dataset: choices, filters, pairs, limits, splits, formats, and what its card says.
 */
import type { DatasetFacts } from "../dataset/DatasetFacts.ts"
import type { FormatName } from "../dataset/format/Formats.ts"
import type { CurationOptions } from "../pair/Curation.ts"
import type { Shares } from "../pair/text/Splits.ts"

/** Which campaign is written: a number, all, or, without it, that of the last run. */
export type Which = number | "all" | undefined

export interface DatasetSettings extends CurationOptions {
  /**
   * How several votes become one choice: the most votes, or those of reliable experts more than others'
   * (Dawid & Skene, 1979). Default `majority`.
   */
  readonly aggregate?: "majority" | "dawid-skene" | undefined
  /** Shares of the items, such as `{ train: 0.9, test: 0.1 }`. Default: all are in `train`. */
  readonly splits?: Shares | undefined
  /** Another whole number draws other splits. Default 0. */
  readonly splitSeed?: number | undefined
  /** Formats of trainers that are written besides. */
  readonly formats?: ReadonlyArray<FormatName> | undefined
  /** Whether those formats that have one get a `margin` from the votes. */
  readonly margin?: boolean | undefined
  /** Whether prompt, chosen and rejected are lists of messages. Default: text. */
  readonly conversational?: boolean | undefined
  /** What the card says that the ledger does not know. */
  readonly card?: Pick<DatasetFacts, "name" | "description" | "license" | "languages" | "tags"> | undefined
}
