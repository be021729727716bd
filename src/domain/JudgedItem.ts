/**
 * A prompt item with all judgments of it.
 *
 * Guarantees: the judgments are of the same prompt and completions, and completion indices refer to the input's order.
 */
import type { Array as Arr } from "effect"
import type { Judgment } from "./Judgment.ts"
import type { Prompt } from "./Message.ts"
import type { Origin } from "./Origin.ts"
import type { Gold, Metadata } from "./PromptItem.ts"

/** An item with all of its judgments, of which there is at least one. */
export interface JudgedItem {
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
  /** Of the input. */
  readonly metadata: Metadata | undefined
  /** The known right answer, if the input has one. */
  readonly gold: Gold | undefined
  /** Whether it is a gold item that was mixed in to measure experts; such items are not part of the dataset. */
  readonly isCheck: boolean
  /** Where the item was read. */
  readonly origin: Origin
  /** One per task, in the order of the tasks. */
  readonly judgments: Arr.NonEmptyReadonlyArray<Judgment>
}
