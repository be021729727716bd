/** Inputs, outputs and errors of `VoteQueue`. */
import { type Option, type Result, Schema } from "effect"
import type { FlagKind } from "../../domain/Flag.ts"
import type { TaskPrompt } from "../../domain/Task.ts"
import type { Ranking } from "../../domain/Ranking.ts"
import type { Vote } from "../../domain/Vote.ts"

export interface HeldItem {
  readonly itemId: number
  readonly taskId: string
  /** Zero-based. */
  readonly promptIndex: number
  readonly prompt: TaskPrompt
  /** As they were sent, with their rubric. */
  readonly sentGuidelines: string | undefined
  /** The newest version, without the rubric. */
  readonly guidelines: string | undefined
  readonly guidelinesVersion: number
  /** The version that the person saw last, if it is not the newest one. */
  readonly guidelinesChange: { readonly from: number; readonly before: string } | undefined
  /** The order to show: `order[place]` is an index into the prompt's completions. Drawn at random, once for each expert and item. */
  readonly order: ReadonlyArray<number>
  /** What was saved last, as it was given; or the vote that was taken back. */
  readonly draft: Option.Option<string>
  readonly undone: boolean
  /** Epoch milliseconds. */
  readonly heldUntil: number
  readonly promptsInTask: number
  readonly judgedInTask: number
  /** Whether it is an item of the expert's qualification: `prompts` and `judged` count those, and there is no task. */
  readonly isQualification: boolean
}

/** What a person says besides the choice; ratings by place. */
export interface PersonAssessment {
  readonly strength: number | null
  readonly all_bad: boolean
  readonly flags: ReadonlyArray<string>
  /** The best completion, edited. */
  readonly edited: string | null
  readonly aspects: { readonly [name: string]: ReadonlyArray<number | null> }
}

/** A vote in places of the order shown, as a person gives it. */
export interface PersonVote {
  /** The place preferred; of the first group where there is a ranking. */
  readonly best: number | undefined
  readonly ranking: Ranking | undefined
  readonly rationale: string | undefined
  readonly assessment?: PersonAssessment | undefined
  /** The version of the guidelines that the page showed; the newest one where it does not say. */
  readonly guidelinesVersion?: number | undefined
  /** As the page measured it; bounded by the time since the item was shown first. */
  readonly seconds: number
}

/** Why an expert leaves an item to others. */
export type SetAside =
  | { readonly kind: "skip"; readonly reason: string }
  | {
      readonly kind: "flag"
      readonly problem: FlagKind
      /** May be blank. */
      readonly comment: string
    }

/** The expert does not hold the item, or its hold has expired. */
export class NotHeld extends Schema.TaggedError<NotHeld>()("NotHeld", {}) {}
/** There is no vote that can be taken back. */
export class NothingToUndo extends Schema.TaggedError<NothingToUndo>()("NothingToUndo", {}) {}
/** The vote does not name each place once, or names one that is not there. */
export class InvalidVote extends Schema.TaggedError<InvalidVote>()("InvalidVote", { problem: Schema.String }) {}

/** No task is in the group. */
export class NoSuchGroup extends Schema.TaggedError<NoSuchGroup>()("NoSuchGroup", {}) {}
/** The qualification can't be set so, or nobody can qualify at present. */
export class QualificationRefused extends Schema.TaggedError<QualificationRefused>()("QualificationRefused", {
  problem: Schema.String,
}) {}
export class NoSuchExpert extends Schema.TaggedError<NoSuchExpert>()("NoSuchExpert", { expertId: Schema.String }) {}

/** Which items to claim, for which automatic experts. */
export interface ClaimRequest {
  /** Names, in the order in which they are to be asked. */
  readonly experts: ReadonlyArray<string>
  /** Maximum tasks to claim. */
  readonly tasks: number
  /** Only tasks created before this time (epoch milliseconds). */
  readonly createdBefore: number
  /** Whether the expert can be asked now: at all, and about this item. Its place is kept for one that can't. */
  readonly isAvailable: (expert: string, itemId?: number) => boolean
}

/** Items of one task that automatic experts hold, until they are recorded. */
export interface Claim {
  readonly taskId: string
  readonly guidelines: string | undefined
  /** Undefined where there is only one. */
  readonly guidelinesVersion: number | undefined
  readonly prompts: number
  readonly items: ReadonlyArray<{
    readonly itemId: number
    /** Zero-based. */
    readonly promptIndex: number
    readonly prompt: TaskPrompt
    /** All that may vote, in the order given, whether they are available now or not. */
    readonly experts: ReadonlyArray<string>
    /** Votes reserved for these experts, at most as many are recorded. */
    readonly held: number
    /** Missing votes, from any experts. */
    readonly missing: number
  }>
}

export interface Claims {
  readonly claims: ReadonlyArray<Claim>
  /** Tasks that no expert is judging, and that miss votes on `lacking` prompts which none of these experts can give. */
  readonly unanswered: ReadonlyArray<{ readonly taskId: string; readonly lacking: number; readonly prompts: number }>
  /** Set if nothing else can be judged now; `createdAt` is that of the oldest task that is still too new. */
  readonly idle: { readonly createdAt: number | undefined } | undefined
}

/**
 * The answers of automatic experts about one claimed item. Votes still missing return to the queue,
 * as do those of an expert who was deactivated meanwhile.
 */
export interface Judged {
  readonly itemId: number
  /** As in `Claim`. */
  readonly guidelinesVersion?: number | undefined
  readonly answers: ReadonlyArray<{
    readonly expert: string
    /** The vote, or the reason why there is none: the expert is not asked again. */
    readonly vote: Result.Result<Omit<Vote, "expert">, string>
  }>
}
