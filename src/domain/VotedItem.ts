/** A prompt item with votes that were given elsewhere. Records of one item can list completions in different orders. */
import type { Array as Arr, Result } from "effect"
import type { Decision } from "./Decision.ts"
import type { SourceItem } from "./PromptItem.ts"
import type { Reject } from "./Reject.ts"
import type { ImportedVote } from "./Vote.ts"

/** A prompt item with votes that were given elsewhere. */
export interface VotedItem extends SourceItem {
  /** The votes, at least one. Their indices refer to `completions`. */
  readonly votes: Arr.NonEmptyReadonlyArray<ImportedVote>
  /** Whether the item is a gold item that was mixed in to measure experts; such items are not part of the dataset. */
  readonly isCheck?: boolean
  /** Problems that experts reported, as `Flag.flagsIn` reads them. */
  readonly flags?: unknown
  /** The id of the votes' task. If several records of an item have the same task, the import adds `flags` only once. */
  readonly taskId?: string
  /** A lead's decision that counts instead of the votes. */
  readonly decision?: Decision
  /** The text of the input record. If the ledger refuses the item, the file of rejected records contains this text. */
  readonly raw?: string | undefined
}

/** An item of a vote table with its votes, or the reason why the record was rejected. */
export type VoteRecord = Result.Result<VotedItem, Reject>
