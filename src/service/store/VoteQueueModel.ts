/** Inputs, outputs, and errors of `VoteQueue`. */
import type { Result } from "effect"
import type { FlagKind } from "../../domain/Flag.ts"
import type { Rubric } from "../../domain/Rubric.ts"
import type { TaskPrompt } from "../../domain/Task.ts"
import type { Vote } from "../../domain/Vote.ts"
import type { Voters } from "../../domain/Voters.ts"
import { conflict } from "../pageApi/WebProblems.ts"

export type SetAside =
  | { readonly kind: "skip"; readonly reason: string }
  | {
      readonly kind: "flag"
      readonly problem: FlagKind
      readonly comment: string
    }

export const notHeld = () =>
  conflict(
    "This item is no longer yours: you held it for too long, a manager paused or withdrew it, or its task has ended.",
  )

export interface ClaimRequest {
  /** Names of the experts, in the order in which the service asks them. */
  readonly experts: ReadonlyArray<string>
  readonly tasks: number
  /** Once this number of items is claimed, no further task is claimed. Default: no limit. */
  readonly items?: number
  /** Tasks created after this time (epoch milliseconds) are not claimed. */
  readonly createdBefore: number
  /** Whether the service can ask the expert now. A claim reserves votes for unavailable experts, too. */
  readonly isAvailable: (expert: string, itemId?: number) => boolean
}

export interface Claim {
  readonly taskId: string
  /** The kind of experts who may vote. Null: all experts. */
  readonly voters: Voters | null
  readonly guidelines: string | undefined
  readonly rubric: Rubric
  /** Undefined if the guidelines have only one version. */
  readonly guidelinesVersion: number | undefined
  readonly prompts: number
  readonly items: ReadonlyArray<{
    readonly itemId: number
    readonly promptIndex: number
    readonly prompt: TaskPrompt
    /** All experts that may vote on the item, whether available or not, in the order of the request. */
    readonly experts: ReadonlyArray<string>
    /** The number of votes reserved for `experts`. The caller records at most this number of votes. */
    readonly held: number
    /** The number of votes that the item still needs, from any experts. */
    readonly missing: number
  }>
}

export interface LackingTask extends Pick<Claim, "taskId" | "voters"> {
  readonly lacking: number
  readonly prompts: number
}

export interface Claims {
  readonly claims: ReadonlyArray<Claim>
  /** Tasks without a claimable item. `lacking` counts the open prompts on which none of the experts may vote. */
  readonly unanswered: ReadonlyArray<LackingTask>
  /**
   * Tasks on which only judges may vote, and in which `claim` has just closed prompts. A closed prompt needs more
   * votes, but no judge can vote on the prompt anymore. `lacking` is the number of closed prompts.
   */
  readonly shortened: ReadonlyArray<LackingTask>
  /** Present if no further task can be claimed now. `createdAt`: creation time of the next task, if there is one. */
  readonly idle: { readonly createdAt: number | undefined } | undefined
}

/** The answers on a claimed item. If they contain fewer votes than were claimed, the rest returns to the queue. */
export interface Judged {
  readonly itemId: number
  readonly guidelinesVersion?: number | undefined
  readonly answers: ReadonlyArray<{
    readonly expert: string
    /** The vote, or why there is none. In both cases, the queue does not ask this expert about the item again. */
    readonly vote: Result.Result<Omit<Vote, "expert">, string>
  }>
}
