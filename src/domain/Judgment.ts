/**
 * A result item joined to its prompt item: what was asked, and what an expert answered.
 *
 * Guarantees: `bestCompletionIndex` points into `completions`.
 */
import type { Annotations } from "./Task.ts"
import type { Gold, Metadata, Origin } from "./PromptItem.ts"

export interface Judgment {
  readonly taskId: string
  /** The user's id, or the hash of the content. */
  readonly itemId: string
  readonly prompt: string
  readonly completions: ReadonlyArray<string>
  /** Zero-based index into `completions`. */
  readonly bestCompletionIndex: number
  readonly annotations: Annotations
  readonly metadata: Metadata | undefined
  readonly gold: Gold | undefined
  readonly origin: Origin
}
