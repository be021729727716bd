/**
 * A result item joined to its prompt item: what was asked, and what an expert answered.
 *
 * Guarantees: `bestCompletionIndex` points into `completions`, which stand as the input had
 * them; so do the indices in `annotations` that prefstream's own service writes (`ranking`, `votes`).
 */
import type { Annotations } from "./Task.ts"
import type { Prompt } from "./Message.ts"
import type { Origin } from "./Origin.ts"
import type { Gold, Metadata } from "./PromptItem.ts"

export interface Judgment {
  readonly taskId: string
  /** The user's id, or the hash of the content. */
  readonly itemId: string
  /** A conversation as the messages that the input had. */
  readonly prompt: Prompt
  readonly completions: ReadonlyArray<string>
  /** Who wrote each of the completions, in their order. */
  readonly models: ReadonlyArray<string> | undefined
  /** Zero-based index into `completions`. */
  readonly bestCompletionIndex: number
  readonly annotations: Annotations
  readonly metadata: Metadata | undefined
  readonly gold: Gold | undefined
  /** Whether the item was mixed in to see how well experts judge: it is no part of the dataset. */
  readonly isCheck: boolean
  readonly origin: Origin
  /** Which of the item's tasks this is, from 1 on. */
  readonly vote: number
  /** The order in which the completions were sent, as indices into `completions`. */
  readonly order: ReadonlyArray<number>
}
