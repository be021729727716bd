/**
 * A result joined to its prompt item: what was sent, and what an expert answered.
 *
 * Guarantees: `bestCompletionIndex` refers to `completions`, which are in the input's order; so do the indices in
 * `annotations.ranking` and `annotations.votes` of the built-in service.
 */
import type { Annotations } from "./Task.ts"
import type { Prompt } from "./Message.ts"
import type { Origin } from "./Origin.ts"
import type { Gold, Metadata } from "./PromptItem.ts"

/** Says that a task has no judgment of an item, since the service withdrew its prompt. */
export interface Withdrawn extends Pick<Judgment, "taskId" | "itemId" | "isCheck"> {
  readonly isWithdrawn: true
}

/** What one task said of one item. */
export interface Judgment {
  /** The id at the service. */
  readonly taskId: string
  /** The user's id, or the hash of the content. */
  readonly itemId: string
  /** Text, or the messages of the input. */
  readonly prompt: Prompt
  /** In the order of the input. */
  readonly completions: ReadonlyArray<string>
  /** The model of each completion, in the same order. */
  readonly models: ReadonlyArray<string> | undefined
  /** Which completions are messages, of which `completions` has the rendered text; absent if none is. */
  readonly asMessages?: ReadonlyArray<boolean>
  /** The definitions of the tools that the model had, as JSON text; absent if there are none. */
  readonly tools?: string
  /** Zero-based index into `completions`. */
  readonly bestCompletionIndex: number
  /** What the experts added, with all unknown members. Empty if the result has no object there. */
  readonly annotations: Annotations
  /** The member of the result that seems to list several judgments, and is not read. `annotations` are then empty. */
  readonly unread?: "annotations" | "judgments" | "votes"
  /** Of the input. */
  readonly metadata: Metadata | undefined
  /** The known right answer, if the input has one. */
  readonly gold: Gold | undefined
  /** Whether the item is a gold item that was mixed in to measure experts; such items are not part of the dataset. */
  readonly isCheck: boolean
  /** Where the item was read. */
  readonly origin: Origin
  /** One-based number of the task among the item's tasks. */
  readonly vote: number
  /** When the result was recorded, in epoch milliseconds; absent if the votes were imported. */
  readonly completedAt?: number
  /** The order in which the completions were sent, as indices into `completions`. */
  readonly order: ReadonlyArray<number>
}
