/**
 * A result joined to its prompt item. `bestCompletionIndex` is an index into `completions`, in the input's order. In
 * results of the built-in service, `annotations.ranking` and `annotations.votes` contain indices into `completions`.
 */
import type { Array as Arr } from "effect"
import type { Annotations } from "./Task.ts"
import type { Prompt } from "./Message.ts"
import type { Origin } from "./Origin.ts"
import type { Gold, Metadata } from "./PromptItem.ts"

export interface LedgerItem {
  /** The id that the input gives the item, or the hash of the item's content. */
  readonly itemId: string
  /** Text, or messages as in the input. */
  readonly prompt: Prompt
  /** The completions in the order of the input. */
  readonly completions: ReadonlyArray<string>
  /** The name of the model that wrote each completion, in the same order. */
  readonly models?: ReadonlyArray<string> | undefined
  /** For each completion, true if the input gives it as messages with tool calls. Absent if all would be false. */
  readonly asMessages?: ReadonlyArray<boolean>
  /** The definitions of the tools that the model had, as JSON text; absent if there are none. */
  readonly tools?: string
  readonly metadata?: Metadata | undefined
  /** The known right answer, if the input has one. */
  readonly gold?: Gold | undefined
  /** Whether the item is a gold item that was mixed in to measure experts; such items are not part of the dataset. */
  readonly isCheck: boolean
  readonly origin: Origin
}

/** A result without a judgment: the prompt was withdrawn, or the answer is missing or cannot be used. */
export interface NoJudgment extends Pick<Judgment, "taskId" | "itemId" | "isCheck" | "gold"> {
  readonly reason: "withdrawn" | "unanswered" | "unusable"
}

/** The result of a task for one item. If the task asks for several votes, each vote is one judgment. */
export interface Judgment extends LedgerItem {
  /** The task's id at the service. */
  readonly taskId: string
  /** Zero-based index into `completions`. */
  readonly bestCompletionIndex: number
  /** The annotations of the result, including unknown members. Empty if `annotations` is not an object. */
  readonly annotations: Annotations
  /** A member that seems to be a list of judgments in an unknown form. The result counts as one vote. */
  readonly unread?: "annotations" | "judgments" | "votes"
  /** The number of votes that the task asked for but the result does not contain. Absent if no votes are missing. */
  readonly missingVotes?: number
  /** One-based number of the vote among the item's votes in all tasks. */
  readonly vote: number
  /** When the result was recorded, in epoch milliseconds; absent if the votes were imported. */
  readonly completedAt?: number
  /** The order in which the completions were sent, as indices into `completions`. */
  readonly order: ReadonlyArray<number>
}

/** An item with all of its judgments. All judgments are of the same prompt and completions. */
export interface JudgedItem extends LedgerItem {
  /** One judgment per task, or one per vote if a task asks for several votes. They are in the order of the votes. */
  readonly judgments: Arr.NonEmptyReadonlyArray<Judgment>
}
