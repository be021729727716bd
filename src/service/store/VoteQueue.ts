/**
 * The queue of votes. An item's votes and holds never exceed the votes requested. An expert votes on an item at most
 * once. One commit stores the results of a completed task, and the event of its group. People get items by the group's
 * priority (`Lanes`). Within a group, they get returned items first, and then older items before newer ones.
 */
import { Context, type Duration, Effect, Layer, Option, Schedule } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { TaskPrompt } from "../../domain/Task.ts"
import * as FullDisk from "../database/FullDisk.ts"
import type { Webhooks } from "../webhook/Webhooks.ts"
import * as AutomaticQueue from "./AutomaticQueue.ts"
import * as Completions from "./Completions.ts"
import * as Qualification from "./Qualification.ts"
import { Database } from "../database/Database.ts"
import * as PersonQueue from "./PersonQueue.ts"
import { TaskRequests } from "./TaskRequests.ts"
import * as Voting from "./Voting.ts"

export interface VoteQueueOptions extends Voting.VotingOptions {
  readonly hold?: Duration.Input | undefined
  readonly goldItems?: ReadonlyArray<Qualification.GoldItem> | undefined
}

const defaultUndoGrace: Duration.Input = "30 seconds"

const make = Effect.fnUntraced(function* (options: VoteQueueOptions) {
  const voting = yield* Voting.make({ ...options, undoGrace: options.undoGrace ?? defaultUndoGrace })
  yield* Completions.make(voting)
  const automatic = yield* AutomaticQueue.make(voting)
  const { releaseExpired, ...persons } = yield* PersonQueue.make({
    voting,
    hold: options.hold,
    onReturned: automatic.reconsider,
    onAssigned: automatic.reconsiderAll,
  })
  const hasGoldAnswer = (prompt: TaskPrompt) =>
    options.goldAnswer !== undefined && Option.isSome(options.goldAnswer(prompt))
  // After a change of settings or gold items, some deferred items need not wait any longer.
  yield* (yield* Database).write(
    Effect.gen(function* () {
      if (options.goldAnswer !== undefined) yield* voting.contents.allowRepeatsOf(voting.requests, hasGoldAnswer)
      yield* voting.contents.awaitFewer
    }),
  )
  yield* releaseExpired.pipe(
    Effect.tapCause((cause) =>
      FullDisk.logError(
        "Items that were held too long could not be returned to the queue; trying again in 1 minute",
        cause,
      ),
    ),
    Effect.ignore,
    Effect.repeat(Schedule.spaced("1 minute")),
    Effect.forkScoped,
  )
  return { ...persons, ...automatic, releaseExpired, hasGoldAnswer }
})

export class VoteQueue extends Context.Service<VoteQueue, Effect.Success<ReturnType<typeof make>>>()(
  "prefstream/service/VoteQueue",
) {
  static readonly layer = (
    options: VoteQueueOptions = {},
  ): Layer.Layer<VoteQueue | Qualification.Qualification, SqlError, Database | Webhooks> =>
    Layer.effect(VoteQueue, make(options)).pipe(
      Layer.provide(TaskRequests.layer),
      Layer.provideMerge(Qualification.Qualification.layer(options.goldItems)),
    )
}
