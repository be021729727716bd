/**
 * The interface of automatic experts.
 *
 * Guarantees: an expert without an answer says so and does not guess; an expert that fails says whether to retry.
 */
import { type Effect, type Option, Schema } from "effect"
import type { TaskPrompt } from "../../domain/Task.ts"
import type { Ranking } from "../../domain/Ranking.ts"

/** An expert's vote on one prompt. Indices are zero-based, into the prompt's completions. */
export interface JudgeVote {
  readonly best_completion_index: number
  /** All completions, where the expert ranks them; the best is in the first group. */
  readonly ranking?: Ranking | undefined
  readonly rationale: string
  /** More data to store with the vote, such as the answers of a language model in both orders. */
  readonly details?: { readonly [name: string]: Schema.Json } | undefined
  /** The order in which the expert saw the completions. Default: the task's. */
  readonly order?: ReadonlyArray<number> | undefined
}

export class JudgeError extends Schema.TaggedError<JudgeError>()("JudgeError", {
  problem: Schema.String,
  /**
   * Whether the same question may be answered later. An expert that will never answer it
   * (the endpoint refuses it, for good) leaves the item to the others.
   */
  isRetryable: Schema.Boolean,
  /** When to retry at the earliest, in milliseconds from now, if known. */
  retryAfter: Schema.optionalKey(Schema.Finite),
}) {
  override get message() {
    return this.problem
  }
}

/** None where the expert has no answer. */
export type Judge = (
  prompt: TaskPrompt,
  guidelines: string | undefined,
) => Effect.Effect<Option.Option<JudgeVote>, JudgeError>

export interface Expert {
  /** Stands in the votes, and keeps the expert's count: the same name is the same expert. */
  readonly name: string
  /** The expert's vote, or none where it has no answer. */
  readonly judge: Judge
  /**
   * How many prompts the expert judges concurrently, over all tasks. Each vote is stored when it is there, so this is
   * what a sudden end can lose. Without it the expert is taken to answer immediately, and gets a whole task at a time,
   * whose votes are stored together.
   */
  readonly concurrency?: number | undefined
}
