/** Inputs, outputs and errors of `VoteQueue`. */
import type { Result } from "effect"
import type { FlagKind } from "../../domain/Flag.ts"
import type { TaskPrompt } from "../../domain/Task.ts"
import type { Vote } from "../../domain/Vote.ts"
import { conflict } from "../pageApi/WebProblems.ts"

/** The reason why an expert leaves an item to others. */
export type SetAside =
  | { readonly kind: "skip"; readonly reason: string }
  | {
      readonly kind: "flag"
      readonly problem: FlagKind
      readonly comment: string
    }

export const notHeld = () =>
  conflict(
    "You no longer hold this item: it was held for too long, a manager paused or withdrew it, or its task has ended.",
  )

/** Limits a claim: which automatic experts ask, for how many tasks. */
export interface ClaimRequest {
  /** Names of the experts, in the order in which the service asks them. */
  readonly experts: ReadonlyArray<string>
  readonly tasks: number
  /** Claims only tasks created before this time (epoch milliseconds). */
  readonly createdBefore: number
  /**
   * Whether the expert can be asked now, in general or about this item. The queue reserves the vote of an expert that
   * can't.
   */
  readonly isAvailable: (expert: string, itemId?: number) => boolean
}

/** Items of one task that automatic experts hold until their votes are recorded. */
export interface Claim {
  readonly taskId: string
  readonly guidelines: string | undefined
  /** Undefined while the guidelines have only one version. */
  readonly guidelinesVersion: number | undefined
  readonly prompts: number
  readonly items: ReadonlyArray<{
    readonly itemId: number
    readonly promptIndex: number
    readonly prompt: TaskPrompt
    /** All experts that may vote on the item, in the order of the request, available or not. */
    readonly experts: ReadonlyArray<string>
    /** The number of votes reserved for these experts. The queue records at most this many. */
    readonly held: number
    /** The number of votes that the item still misses, from any experts. */
    readonly missing: number
  }>
}

export interface Claims {
  readonly claims: ReadonlyArray<Claim>
  /**
   * Tasks that no expert is judging now, and in which `lacking` prompts miss votes that none of these experts can give.
   */
  readonly unanswered: ReadonlyArray<{ readonly taskId: string; readonly lacking: number; readonly prompts: number }>
  /**
   * Set if nothing else can be judged now. `createdAt` is the time of the oldest task that is still too new, if there
   * is one.
   */
  readonly idle: { readonly createdAt: number | undefined } | undefined
}

/**
 * The answers of automatic experts about one claimed item. Votes that are still missing return to the queue. So do the
 * votes of an expert that was deactivated in the meantime.
 */
export interface Judged {
  readonly itemId: number
  /** The same version as in the `Claim`. */
  readonly guidelinesVersion?: number | undefined
  readonly answers: ReadonlyArray<{
    readonly expert: string
    /** The vote, or the reason why the expert gave none. The queue does not ask that expert about the item again. */
    readonly vote: Result.Result<Omit<Vote, "expert">, string>
  }>
}
