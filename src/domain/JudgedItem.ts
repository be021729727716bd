/**
 * A prompt item with all that was judged of it.
 *
 * Guarantees: the judgments are of the same prompt and completions, with the completions'
 * indices as the input had them.
 */
import type { Array as Arr } from "effect"
import type { Judgment } from "./Judgment.ts"
import type { Prompt } from "./Message.ts"
import type { Origin } from "./Origin.ts"
import type { Gold, Metadata } from "./PromptItem.ts"

export interface JudgedItem {
  /** The user's id, or the hash of the content. */
  readonly itemId: string
  readonly prompt: Prompt
  readonly completions: ReadonlyArray<string>
  /** Who wrote each of the completions, in their order. */
  readonly models: ReadonlyArray<string> | undefined
  readonly metadata: Metadata | undefined
  readonly gold: Gold | undefined
  /** Whether it was mixed in to see how well experts judge: it is no part of the dataset. */
  readonly isCheck: boolean
  readonly origin: Origin
  /** One for each task that judged it, in the order of the tasks. */
  readonly judgments: Arr.NonEmptyReadonlyArray<Judgment>
}
