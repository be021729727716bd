/** The interface of automatic experts. `Option.none` means no answer. A failure says whether to retry. */
import { type Effect, type Option, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Assessment } from "../../domain/Assessment.ts"
import type { PaidRequests } from "../../domain/JudgeUsage.ts"
import type { Rubric } from "../../domain/Rubric.ts"
import type { Vote } from "../../domain/Vote.ts"
import type { TaskPrompt } from "../../domain/Task.ts"
import type { Ranking } from "../../domain/Ranking.ts"

/** An expert's vote on one prompt. Indices are zero-based and refer to the prompt's completions. */
export interface JudgeVote {
  /** The completion that the expert prefers. */
  readonly best_completion_index: number
  /** All completions in groups, best first. Undefined if the expert does not rank them. */
  readonly ranking?: Ranking | undefined
  /** Why the expert prefers this completion. */
  readonly rationale: string
  /** The answers to the questions of the rubric. */
  readonly assessment?: (Assessment & Pick<Vote, "flags">) | undefined
  /** Other data to store with the vote, such as a language model's answers in both orders. */
  readonly details?: { readonly [name: string]: Schema.Json } | undefined
  /** The order in which the expert saw the completions. Default: the order of the task. */
  readonly order?: ReadonlyArray<number> | undefined
}

/** An expert could not judge a prompt. */
export class JudgeError extends Schema.TaggedError<JudgeError>()("JudgeError", {
  /** The reason, as part of a sentence. */
  problem: Schema.String,
  /** Whether the expert may answer the question later. If false, the service leaves the item to other experts. */
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
  /** Questions to answer in addition to the choice. Undefined if there are none. */
  rubric?: Rubric,
  /** Identifies the item among all items of all services: task and index. */
  item?: string,
) => Effect.Effect<Option.Option<JudgeVote>, JudgeError>

/** An automatic expert. */
export interface Expert {
  /** The expert's name in votes. Experts with the same name count as one. */
  readonly name: string
  /** The kind of the expert in votes. Default: `automatic`. */
  readonly kind?: "judge" | undefined
  /** Asks the expert about one prompt. Returns none if the expert has no answer. */
  readonly judge: Judge
  /**
   * Maximum number of prompts that the expert judges concurrently, over all tasks. The votes on a prompt are stored
   * when all experts who were asked about this prompt have answered. A crash loses the votes that are not stored yet.
   * Leave this undefined for an expert that answers immediately. The service then asks the expert about all prompts of
   * a task, and stores the votes together.
   */
  readonly concurrency?: number | undefined
  /** Batches that the endpoint may or may not have. They are not sent again. `since` is in epoch milliseconds. */
  readonly doubts?: (() => ReadonlyArray<{ readonly name: string; readonly since: number }>) | undefined
  /** All paid requests of language models, as the expert's file of answers records them. */
  readonly paid?: Effect.Effect<ReadonlyArray<PaidRequests>, SqlError> | undefined
}
