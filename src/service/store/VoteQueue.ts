/**
 * The queue of votes. An item is never given to more experts than the number of votes that it needs. An expert votes on
 * an item at most once. One commit stores the results of a completed task, and the webhook event if the task's group is
 * complete. People get the items of groups with higher priority first (`Lanes`). Within a group, items that came back
 * to the queue come first. The other items follow from old to new.
 */
import { Clock, Context, Duration, Effect, Layer, Option, Schedule } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { TaskPrompt } from "../../domain/Task.ts"
import * as FullDisk from "../database/FullDisk.ts"
import type { Webhooks } from "../webhook/Webhooks.ts"
import * as AutomaticQueue from "./AutomaticQueue.ts"
import * as Qualification from "./Qualification.ts"
import { Database, retryForever } from "../database/Database.ts"
import * as PersonQueue from "./PersonQueue.ts"
import { TaskRequests } from "./TaskRequests.ts"
import * as Voting from "./Voting.ts"

export interface VoteQueueOptions extends Voting.VotingOptions {
  readonly hold?: Duration.Input | undefined
  readonly goldItems?: ReadonlyArray<Qualification.GoldItem> | undefined
}

const defaultUndoGrace: Duration.Input = "30 seconds"

/** The clock is read at least this often, because the system time may change. */
const maxSleep = Duration.toMillis("10 minutes")

/**
 * Completes a task some time after its last vote. During this grace time, people can undo their last vote, so an undo
 * never changes a published result. If only automatic experts voted, the last vote completes the task immediately.
 */
const completeAfterGrace = Effect.fnUntraced(function* (voting: Voting.Voting) {
  const { write } = yield* Database
  const completeDue = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    voting.writeEnding(voting.completeDue(now), (completed) => completed > 0),
  ).pipe(Effect.repeat({ until: (completed) => completed === 0 }))

  const round = Effect.gen(function* () {
    yield* voting.completing.close
    yield* completeDue
    // An unfinished transaction may have opened the latch before `close`. `write` waits until this transaction ends.
    const next = yield* write(voting.nextCompletion)
    if (next === undefined) return yield* voting.completing.await
    const wait = Math.min(next - (yield* Clock.currentTimeMillis), maxSleep)
    return yield* Effect.asVoid(Effect.timeoutOption(voting.completing.await, Math.max(1, wait)))
  })

  yield* round.pipe(
    Effect.tapCause((cause) =>
      FullDisk.logError("Tasks that have all their votes could not be completed; retrying", cause),
    ),
    Effect.retry(retryForever),
    Effect.forever,
    Effect.forkScoped,
  )
})

const make = Effect.fnUntraced(function* (options: VoteQueueOptions) {
  const voting = yield* Voting.make({ ...options, undoGrace: options.undoGrace ?? defaultUndoGrace })
  yield* completeAfterGrace(voting)
  const automatic = yield* AutomaticQueue.make(voting)
  const { releaseExpired, ...persons } = yield* PersonQueue.make({
    voting,
    hold: options.hold,
    onReturned: automatic.reconsider,
    onAssigned: automatic.reconsiderAll,
  })
  const hasGoldAnswer = (prompt: TaskPrompt) =>
    options.goldAnswer !== undefined && Option.isSome(options.goldAnswer(prompt))
  // Settings and gold answers may have changed since the last run. Items return to the queue if people may now judge
  // them.
  yield* (yield* Database).write(
    Effect.gen(function* () {
      if (options.goldAnswer !== undefined) yield* voting.equalItems.allowRepeatsOf(voting.requests, hasGoldAnswer)
      yield* voting.equalItems.awaitFewer
    }),
  )
  yield* releaseExpired.pipe(
    Effect.tapCause((cause) =>
      FullDisk.logError(
        "The service could not return items to the queue after people had held them for too long. The service tries again in 1 minute",
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
