/**
 * The interface of automatic experts.
 *
 * Guarantees: an expert that has no answer says so and does not guess. An expert that fails says whether to retry.
 */
import { type Effect, type Option, Schema } from "effect"
import type { TaskPrompt } from "../../domain/Task.ts"
import type { Ranking } from "../../domain/Ranking.ts"

/** An expert's vote on one prompt. Indices are zero-based and refer to the prompt's completions. */
export interface JudgeVote {
  readonly best_completion_index: number
  /** All completions in groups, best first, if the expert ranks them. The best completion is in the first group. */
  readonly ranking?: Ranking | undefined
  readonly rationale: string
  /** More data to store with the vote, such as a language model's answers in both orders. */
  readonly details?: { readonly [name: string]: Schema.Json } | undefined
  /** The order in which the expert saw the completions. Default: the order of the task. */
  readonly order?: ReadonlyArray<number> | undefined
}

export class JudgeError extends Schema.TaggedError<JudgeError>()("JudgeError", {
  problem: Schema.String,
  /**
   * Whether the expert may answer the same question later. An expert that will never answer it, such as one whose
   * endpoint refuses it for good, leaves the item to other experts.
   */
  isRetryable: Schema.Boolean,
  /** The minimum delay before a retry, in milliseconds, if known. */
  retryAfter: Schema.optionalKey(Schema.Finite),
}) {
  override get message() {
    return this.problem
  }
}

/** Asks an expert about one prompt. Returns none if the expert has no answer. */
export type Judge = (
  prompt: TaskPrompt,
  guidelines: string | undefined,
) => Effect.Effect<Option.Option<JudgeVote>, JudgeError>

export interface Expert {
  /** The name in the votes. It identifies the expert: the service counts votes of the same name together. */
  readonly name: string
  /** Returns the expert's vote, or none if the expert has no answer. */
  readonly judge: Judge
  /**
   * How many prompts the expert judges concurrently, over all tasks. The service stores each vote as soon as it is
   * given, so a sudden end loses at most this many. If undefined, the service assumes that the expert answers
   * immediately. It then passes a whole task at a time and stores the task's votes together.
   */
  readonly concurrency?: number | undefined
}
