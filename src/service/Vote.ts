/**
 * One expert's judgment of one prompt, and the way to come to it.
 *
 * Guarantees: an expert without an answer gives none; it does not guess.
 */
import type { Effect, Option } from "effect"
import type { TaskPrompt } from "../domain/Task.ts"

export interface Vote {
  /** Zero-based index into the prompt's completions. */
  readonly best_completion_index: number
  readonly rationale: string
}

export type Judge = (prompt: TaskPrompt, guidelines: string | undefined) => Effect.Effect<Option.Option<Vote>>
