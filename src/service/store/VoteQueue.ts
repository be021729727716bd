/**
 * The queue of votes: which expert judges which item, and what they said.
 *
 * Guarantees: an item never has more votes and holds together than its task asks votes for, so
 * two experts never hold the same vote; an expert votes once on an item; what an expert holds and
 * leaves alone returns to the queue; votes are stored with the order that was shown; when the
 * last vote of a task is stored, its results are, and its group's event, in the same commit.
 * Oldest tasks first, prompts in their order.
 */
import { Context, type Duration, type Effect, type Option, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { TaskPrompt } from "../../domain/Task.ts"
import type { Ranking, Vote } from "../../domain/Vote.ts"

/** An item that an expert holds. */
export interface HeldItem {
  readonly itemId: number
  readonly taskId: string
  /** Zero-based. */
  readonly promptIndex: number
  readonly prompt: TaskPrompt
  readonly guidelines: string | undefined
  /** The order to show: `order[place]` is an index into the prompt's completions. Drawn at random, once for each expert and item. */
  readonly order: ReadonlyArray<number>
  /** What was saved last, as it was given; or the vote that was taken back. */
  readonly draft: Option.Option<string>
  readonly undone: boolean
  /** Epoch milliseconds. */
  readonly heldUntil: number
  readonly promptsInTask: number
  readonly judgedInTask: number
}

/** A vote in places of the order shown, as a person gives it. */
export interface PersonVote {
  /** The place preferred; of the first group where there is a ranking. */
  readonly best: number | undefined
  readonly ranking: Ranking | undefined
  readonly rationale: string | undefined
  /** As the page measured it; bounded by the time since the item was shown first. */
  readonly seconds: number
}

export interface ExpertProgress {
  readonly judged: number
  readonly judgedToday: number
  readonly votesNeeded: number
  readonly undoable: boolean
}

/** The expert does not hold the item, or no longer. */
export class NotHeld extends Schema.TaggedError<NotHeld>()("NotHeld", {}) {}
/** There is no vote that can be taken back. */
export class NothingToUndo extends Schema.TaggedError<NothingToUndo>()("NothingToUndo", {}) {}
/** The vote does not name each place once, or names one that is not there. */
export class InvalidVote extends Schema.TaggedError<InvalidVote>()("InvalidVote", { problem: Schema.String }) {}

/** Items of one task that automatic experts hold; see `claim`. */
export interface Claim {
  readonly taskId: string
  readonly guidelines: string | undefined
  readonly items: ReadonlyArray<{
    readonly itemId: number
    readonly prompt: TaskPrompt
    /** Experts, of those that asked, that may vote, as many as votes are missing or more, in the order given. */
    readonly experts: ReadonlyArray<string>
    readonly votesMissing: number
  }>
}

export class VoteQueue extends Context.Service<
  VoteQueue,
  {
    /** What the expert holds, or else the next item. None where nothing is left for this expert. */
    readonly next: (expertId: string) => Effect.Effect<Option.Option<HeldItem>, SqlError>
    /** Holds the item for longer, too. */
    readonly saveDraft: (expertId: string, itemId: number, draft: string) => Effect.Effect<void, NotHeld | SqlError>
    readonly vote: (
      expertId: string,
      itemId: number,
      vote: PersonVote,
    ) => Effect.Effect<void, NotHeld | InvalidVote | SqlError>
    /** The item goes to others; a flag is shown to the operator. */
    readonly setAside: (
      expertId: string,
      itemId: number,
      why: { readonly kind: "skip" | "flag"; readonly reason: string },
    ) => Effect.Effect<void, NotHeld | SqlError>
    /** Takes back the expert's last vote, if its task is open. `draft` makes the draft of it, in places. */
    readonly undo: (
      expertId: string,
      draft: (vote: PersonVote) => string,
    ) => Effect.Effect<HeldItem, NothingToUndo | SqlError>
    readonly progress: (expertId: string) => Effect.Effect<ExpertProgress, SqlError>
    /** What the expert holds returns to the queue: when it is deactivated. */
    readonly release: (expertId: string) => Effect.Effect<void, SqlError>
    /** What was held too long returns to the queue. Run now and then. */
    readonly releaseExpired: Effect.Effect<void, SqlError>
    /** Skips and flags of an item are forgotten. */
    readonly returnItem: (taskId: string, promptIndex: number) => Effect.Effect<void, SqlError>
    /** Takes the open items of the oldest task that is due and has any for one of these automatic experts. */
    readonly claim: (
      experts: ReadonlyArray<string>,
      createdBefore: number,
    ) => Effect.Effect<Option.Option<Claim>, SqlError>
    /** Stores votes of automatic experts, for items that were claimed; an expert without an answer sets the item aside. */
    readonly record: (
      votes: ReadonlyArray<{ readonly itemId: number; readonly expert: string; readonly vote: Option.Option<Vote> }>,
    ) => Effect.Effect<void, SqlError>
  }
>()("prefstream/service/VoteQueue") {
  static readonly defaultHold: Duration.Input = "30 minutes"
}
