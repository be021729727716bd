/**
 * The queue of votes: assigns items to experts and records their votes.
 *
 * Guarantees: votes and holds of an item never exceed its requested votes; an expert votes once on an item, and a
 * person once on the same content while others have not seen it (`Contents`); abandoned items return to the queue; a
 * completed task's results and its group's event are stored in the same commit. An assigned group goes to its experts only, and a paused one to nobody (`Lanes`).
 * A person who has to qualify first, or is paused, gets nothing (`Qualification`).
 * For people by priority of their groups, then oldest tasks first, and returned items before that. Finding the next item takes constant time; see `TaskTables`.
 */
import { Context, type Duration, Effect, Layer, type Option, Schedule } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as FullDisk from "../database/FullDisk.ts"
import type { Webhooks } from "../webhook/Webhooks.ts"
import * as AutomaticQueue from "./AutomaticQueue.ts"
import * as Completions from "./Completions.ts"
import * as Qualification from "./Qualification.ts"
import type { Database } from "../database/Database.ts"
import type { Queue } from "../pageApi/GroupsApi.ts"
import type * as Lanes from "./Lanes.ts"
import * as PersonQueue from "./PersonQueue.ts"
import { TaskRequests } from "./TaskRequests.ts"
import * as Voting from "./Voting.ts"
import type * as Model from "./VoteQueueModel.ts"

export interface VoteQueueOptions extends Voting.VotingOptions {
  /** How long an item is held for an idle person. Default 30 minutes. */
  readonly hold?: Duration.Input | undefined
  /** The items of the gold file, for the qualification of people; undefined: there is no such file. */
  readonly goldItems?: ReadonlyArray<Qualification.GoldItem> | undefined
}

const make = Effect.fnUntraced(function* (options: VoteQueueOptions) {
  const voting = yield* Voting.make({ ...options, undoGrace: options.undoGrace ?? VoteQueue.defaultUndoGrace })
  yield* Completions.make(voting)
  const automatic = yield* AutomaticQueue.make(voting)
  const { releaseExpired, ...persons } = yield* PersonQueue.make({
    voting,
    hold: options.hold ?? VoteQueue.defaultHold,
    onReturned: automatic.reconsider,
    onAssigned: automatic.reconsiderAll,
  })
  yield* releaseExpired.pipe(
    Effect.tapCause((cause) => FullDisk.logError("Items that were held too long could not be returned", cause)),
    Effect.ignore,
    Effect.repeat(Schedule.spaced("1 minute")),
    Effect.forkScoped,
  )
  return { ...persons, ...automatic, releaseExpired }
})

export class VoteQueue extends Context.Service<
  VoteQueue,
  {
    /**
     * The item that the expert holds, with its hold renewed, or else the next item; none if nothing is left for this
     * expert. Ids of qualification items are negative.
     */
    readonly next: (expertId: string) => Effect.Effect<Option.Option<Model.HeldItem>, SqlError>
    /** Saves a draft, and renews the hold. */
    readonly saveDraft: (
      expertId: string,
      itemId: number,
      draft: string,
    ) => Effect.Effect<void, Model.NotHeld | SqlError>
    /** The expert has seen this version of the guidelines of the item, which he or she holds. */
    readonly acknowledge: (expertId: string, itemId: number, version: number) => Effect.Effect<void, SqlError>
    readonly vote: (
      expertId: string,
      itemId: number,
      vote: Model.PersonVote,
    ) => Effect.Effect<void, Model.NotHeld | Model.InvalidVote | SqlError>
    /** The item goes to others; a flag is shown to the operator, and goes into the task's result. */
    readonly setAside: (
      expertId: string,
      itemId: number,
      why: Model.SetAside,
    ) => Effect.Effect<void, Model.NotHeld | SqlError>
    /** Takes back the expert's last vote, if its task is open. `draft` makes the draft of it, in places. */
    readonly undo: (
      expertId: string,
      draft: (vote: Model.PersonVote) => string,
    ) => Effect.Effect<Model.HeldItem, Model.NothingToUndo | SqlError>
    readonly progress: (expertId: string) => Effect.Effect<Model.ExpertProgress, SqlError>
    /** Returns what a deactivated expert holds to the queue. */
    readonly release: (expertId: string) => Effect.Effect<void, SqlError>
    /** Returns expired holds to the queue, and stops waiting for absent people. Also runs every minute. */
    readonly releaseExpired: Effect.Effect<void, SqlError>
    /** The item goes to all experts again, also to those who set it aside; its flags stay. */
    readonly returnItem: (taskId: string, promptIndex: number) => Effect.Effect<void, SqlError>
    /** Groups and tasks without one that are open, in the order of the queue; of the latter those after a number. */
    readonly groups: (after?: number) => Effect.Effect<Queue, SqlError>
    /** What others than its experts hold of the group returns to the queue. */
    readonly setGroup: (
      settings: Lanes.GroupSettings,
    ) => Effect.Effect<void, Model.NoSuchGroup | Model.NoSuchExpert | SqlError>
    /** Nobody gets any of the group, or of a task without one, until it goes on; what people hold of it returns to the queue. */
    readonly pauseGroup: (groupId: string, isPaused: boolean) => Effect.Effect<void, Model.NoSuchGroup | SqlError>
    /** Claims items of the oldest tasks that one of these automatic experts can judge now. */
    readonly claim: (asking: Model.ClaimRequest) => Effect.Effect<Model.Claims, SqlError>
    /** Stores what automatic experts said of items that were claimed, and returns the items to the queue. */
    readonly record: (judged: ReadonlyArray<Model.Judged>) => Effect.Effect<void, SqlError>
    /** Makes automatic experts check these items again. */
    readonly reconsider: (itemIds: Iterable<number>) => void
    /** Makes automatic experts check all items again, because who may judge has changed. Call it within the write that changes it. */
    readonly reconsiderAll: () => void
    /** Waits until an item was created or returned to the queue since the last `claim`. */
    readonly awaitWork: Effect.Effect<void>
    /** Announces a new task. Part of the write that creates it. */
    readonly wake: Effect.Effect<void>
  }
>()("prefstream/service/VoteQueue") {
  static readonly defaultHold: Duration.Input = "30 minutes"
  static readonly defaultUndoGrace: Duration.Input = "30 seconds"

  static readonly layer = (
    options: VoteQueueOptions = {},
  ): Layer.Layer<VoteQueue | Qualification.Qualification, SqlError, Database | Webhooks> =>
    Layer.effect(VoteQueue, make(options)).pipe(
      Layer.provide(TaskRequests.layer),
      Layer.provideMerge(Qualification.Qualification.layer(options.goldItems)),
    )
}
