/** Inputs, outputs and errors of `VoteQueue`. */
import { type Option, type Result, Schema } from "effect"
import type { FlagKind } from "../../domain/Flag.ts"
import type { TaskPrompt } from "../../domain/Task.ts"
import type { Ranking } from "../../domain/Ranking.ts"
import type { Vote } from "../../domain/Vote.ts"

export interface HeldItem {
  readonly itemId: number
  readonly taskId: string
  /** The zero-based index of the item's prompt in its task. */
  readonly promptIndex: number
  readonly prompt: TaskPrompt
  /** The guidelines as the client sent them, with their rubric. */
  readonly sentGuidelines: string | undefined
  /** The newest version of the guidelines, without the rubric. */
  readonly guidelines: string | undefined
  readonly guidelinesVersion: number
  /** The version that the person saw last. It is undefined if that is the newest version. */
  readonly guidelinesChange: { readonly from: number; readonly before: string } | undefined
  /**
   * The order in which the page shows the completions: `order[place]` is an index into the prompt's completions. The
   * queue shuffles it once for each expert and item.
   */
  readonly order: ReadonlyArray<number>
  /** The draft that the person saved last, unchanged. After an undo, it is the vote that was taken back. */
  readonly draft: Option.Option<string>
  readonly undone: boolean
  /** Epoch milliseconds at which the hold expires. */
  readonly heldUntil: number
  readonly promptsInTask: number
  readonly judgedInTask: number
  /**
   * Whether the item belongs to the expert's qualification. Then there is no task, and `promptsInTask` and
   * `judgedInTask` count qualification items.
   */
  readonly isQualification: boolean
}

/** The parts of a person's judgment besides the choice. `aspects` has one rating for each place. */
export interface PersonAssessment {
  readonly strength: number | null
  readonly all_bad: boolean
  readonly flags: ReadonlyArray<string>
  /** The person's edited text of the best completion. */
  readonly edited: string | null
  readonly aspects: { readonly [name: string]: ReadonlyArray<number | null> }
}

/** A person's vote. It names completions by their place in the order shown. */
export interface PersonVote {
  /** The preferred place. In a ranking, it belongs to the first group. */
  readonly best: number | undefined
  readonly ranking: Ranking | undefined
  readonly rationale: string | undefined
  readonly assessment?: PersonAssessment | undefined
  /** The version of the guidelines that the page showed. Undefined means the newest version. */
  readonly guidelinesVersion?: number | undefined
  /** The time that the page measured, in seconds. The queue limits it to the time since the item was first shown. */
  readonly seconds: number
}

/** The reason why an expert leaves an item to others. */
export type SetAside =
  | { readonly kind: "skip"; readonly reason: string }
  | {
      readonly kind: "flag"
      readonly problem: FlagKind
      /** The expert's explanation, which may be blank. */
      readonly comment: string
    }

/** The expert does not hold the item, or its hold has expired. */
export class NotHeld extends Schema.TaggedError<NotHeld>()("NotHeld", {}) {}
/** The expert has no vote that can be taken back. */
export class NothingToUndo extends Schema.TaggedError<NothingToUndo>()("NothingToUndo", {}) {}
/** The vote does not name each place exactly once, or it names a place that does not exist. */
export class InvalidVote extends Schema.TaggedError<InvalidVote>()("InvalidVote", { problem: Schema.String }) {}

/** The group does not exist or has no task. */
export class NoSuchGroup extends Schema.TaggedError<NoSuchGroup>()("NoSuchGroup", {}) {}
/** The qualification settings are not acceptable, or nobody can qualify at present. */
export class QualificationRefused extends Schema.TaggedError<QualificationRefused>()("QualificationRefused", {
  problem: Schema.String,
}) {}
export class NoSuchExpert extends Schema.TaggedError<NoSuchExpert>()("NoSuchExpert", { expertId: Schema.String }) {}

/** Limits a claim: which automatic experts ask, for how many tasks. */
export interface ClaimRequest {
  /** Names of the experts, in the order in which the service asks them. */
  readonly experts: ReadonlyArray<string>
  /** The maximum number of tasks to claim. */
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
    /** The zero-based index of the item's prompt in its task. */
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
