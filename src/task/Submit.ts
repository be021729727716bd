/**
 * The first of the two loops over the ledger: items are read, planned as tasks, and sent. It may be stopped at any point
 * and started again.
 *
 * Guarantees: a task whose request may have arrived unanswered is sent again only where the service honors idempotency keys,
 * and remembers this one; elsewhere it is held as in doubt. 400 and 422 refuse one task, unless the service refuses the first
 * tasks of a run; 413 halves it; 401, 402, 403, 407, 426, and an address without a service end the run at once.
 */
/* oxlint-disable max-lines -- one loop: each outcome of a request is met beside the request */
import {
  Cause,
  Clock,
  Data,
  Deferred,
  Duration,
  Effect,
  Exit,
  identity,
  Latch,
  Option,
  type Result,
  Schema,
  type Stream,
} from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { ServiceProfile } from "../api/ServiceProfile.ts"
import type { SourceItem } from "../domain/PromptItem.ts"
import type { Reject } from "../domain/Reject.ts"
import { AnnotationClient } from "./client/AnnotationClient.ts"
import type { AnnotationClientError } from "./client/AnnotationClientError.ts"
import * as FailureStreak from "./client/FailureStreak.ts"
import { firstPollDelay } from "./Collect.ts"
import * as CompletionDraw from "./plan/CompletionDraw.ts"
import { Ledger } from "./ledger/Ledger.ts"
import * as GoldItems from "./plan/GoldItems.ts"
import type { PlannedTask, StoredRequest } from "./ledger/Model.ts"
import type { Replannable } from "./ledger/Resolve.ts"
import { plan, type PlanOptions } from "./Plan.ts"
import * as RejectLimit from "./plan/RejectLimit.ts"
import * as Recheck from "./Recheck.ts"
import { halve } from "./plan/TaskRequests.ts"
import * as Workers from "./Workers.ts"

/**
 * `votes`, `shuffleSeed`, `gold`, `completionsPerItem` and `completionsSeed` are about new items: what is planned stays
 * as it is, so where more votes or completions are asked for than before, earlier items keep what they have.
 */
export interface SubmitOptions extends PlanOptions {
  /** Gold items to be mixed in among the new items. */
  readonly gold?: GoldItems.GoldOptions | undefined
  /**
   * Whether other guidelines, or another task type, than those that the ledger has may begin a
   * new campaign, in which all items are judged anew. Without it they are refused with `TermsChanged`.
   */
  readonly newCampaign?: boolean | undefined
  /**
   * In which states tasks of earlier runs are planned again, and paid for again; none without it.
   * Each is looked at first: what the service then does not say to be dead is not planned again.
   */
  readonly resubmit?: ReadonlyArray<Replannable> | undefined
  /** How often a task's items are sent at the most, the first time included. Defaults to 3. */
  readonly maxAttempts?: number | undefined
  /**
   * Rejected records after which the run stops with `TooManyRejects`: a number, or a share of those that are
   * read, such as `"1%"`. A share is held to at the end of the reading, and before it from the 1,000th record on.
   * What the service refuses counts, too. Without it there is no limit.
   */
  readonly maxRejects?: RejectLimit.RejectLimit | undefined
}

/** The task was sent, or split, since it was seen to be planned. */
class AlreadyClaimed extends Data.TaggedError("AlreadyClaimed") {}

/** The task may have been taken, so long ago that the service may not know it again by its key. */
class KeyExpired extends Data.TaggedError("KeyExpired") {}

export const defaultMaxAttempts = 3

/** An option has a value that it cannot have. */
export class SubmitOptionInvalid extends Schema.TaggedError<SubmitOptionInvalid>()("SubmitOptionInvalid", {
  option: Schema.Literals(["votes", "shuffleSeed", "completionsPerItem", "completionsSeed", "maxRejects"]),
  expected: Schema.String,
  found: Schema.Unknown,
}) {
  override get message() {
    return `${this.option}: expected ${this.expected}, found ${String(this.found)}`
  }
}

/** What a program may set wrongly. */
const checkOptions = ({
  completionsPerItem = 2,
  completionsSeed = 0,
  maxRejects = 0,
  shuffleSeed = false,
  votes = 1,
}: SubmitOptions): Effect.Effect<void, SubmitOptionInvalid> => {
  const rules = [
    ["votes", votes, "a whole number of at least 1", Number.isSafeInteger(votes) && votes >= 1],
    [
      "shuffleSeed",
      shuffleSeed,
      "a whole number, or false",
      shuffleSeed === false || Number.isSafeInteger(shuffleSeed),
    ],
    [
      "completionsPerItem",
      completionsPerItem,
      "a whole number of at least 2",
      Number.isSafeInteger(completionsPerItem) && completionsPerItem >= 2,
    ],
    ["completionsSeed", completionsSeed, "a whole number", Number.isSafeInteger(completionsSeed)],
    ["maxRejects", maxRejects, "a whole number, or a percentage up to 100%", RejectLimit.isLimit(maxRejects)],
  ] as const
  const wrong = rules.find(([, , , isRight]) => !isRight)
  return wrong === undefined
    ? Effect.void
    : Effect.fail(new SubmitOptionInvalid({ option: wrong[0], found: wrong[1], expected: wrong[2] }))
}

export type SubmitError = SqlError | AnnotationClientError

/** Why a run failed, in words; none where it was stopped. */
const reasonOf = (cause: Cause.Cause<unknown>): string | undefined => {
  if (Cause.hasInterruptsOnly(cause)) return undefined
  const failure = Cause.squash(cause)
  return failure instanceof Error && failure.message !== "" ? failure.message : String(failure)
}

/**
 * Reads `records` into the ledger and sends what is planned, until both are done.
 * When one of the two fails, requests under way are finished and recorded first.
 *
 * Fails with what the records fail with, with `TooManyRejects`, with `TermsChanged` where a
 * new campaign would begin that was not asked for, with `SubmitOptionInvalid`, with `UnusableGold`, or with the
 * `AnnotationClientError` that no other task could have escaped.
 */
export const submit = Effect.fn("Submit.submit")(function* <E, R>(
  records: Stream.Stream<Result.Result<SourceItem, Reject>, E, R>,
  options: SubmitOptions & {
    /** Opened when what earlier runs left is settled, and a collector may begin. */
    readonly settled?: Latch.Latch | undefined
  } = {},
) {
  const { maxRejects } = options
  yield* checkOptions(options)
  const ledger = yield* Ledger
  const profile = yield* ServiceProfile
  const draw = CompletionDraw.make(options)
  const mix = options.gold === undefined ? identity : yield* GoldItems.make(options.gold, draw)
  yield* ledger.bindService(profile.identity, profile.moved)
  yield* ledger.settleInterrupted(
    profile.idempotencyKey === "honored" ? "planned" : "in_doubt",
    Duration.fromInputUnsafe(profile.idempotencyKeyLifetime),
  )
  const run = yield* ledger.startRun(options)
  const { maxAttempts = defaultMaxAttempts, resubmit = [] } = options
  const again = yield* ledger.replannable(run.campaign, resubmit, maxAttempts).pipe(
    Effect.flatMap(Recheck.dead),
    Effect.flatMap((dead) => ledger.replan(run.campaign, resubmit, maxAttempts, dead)),
    Effect.onError((cause) => Effect.ignore(ledger.endRun(run, { failure: reasonOf(cause) }))),
  )
  if (again > 0) yield* Effect.logInfo(`sent again, as new tasks: ${again} of earlier runs`)
  if (options.settled !== undefined) yield* options.settled.open
  const halt = yield* Deferred.make<never, E | SubmitError | RejectLimit.TooManyRejects>()
  const readingDone = yield* Latch.make()
  const counter = RejectLimit.counter(maxRejects)
  const reader = plan(run, records, { ...options, draw, mix }, counter).pipe(
    Effect.raceFirst(Deferred.await(halt)),
    Effect.catchCause((cause) => Effect.asVoid(Deferred.failCause(halt, cause))),
    Effect.ensuring(readingDone.open),
  )
  yield* Effect.all([reader, send(readingDone, halt, counter)], { concurrency: 2, discard: true }).pipe(
    Effect.ensuring(
      Effect.gen(function* () {
        const exit = (yield* Deferred.isDone(halt)) ? yield* Effect.exit(Deferred.await(halt)) : Exit.void
        const failure = Exit.isFailure(exit) ? reasonOf(exit.cause) : undefined
        yield* Effect.ignore(
          ledger.endRun(run, {
            maxRejects: counter.isTooMany() && maxRejects !== undefined ? String(maxRejects) : undefined,
            failure,
          }),
        )
      }),
    ),
  )
  return (yield* Deferred.isDone(halt)) ? yield* Deferred.await(halt) : run.run
})

/** Sends planned tasks until none is left and the reading is done, or until `halt` is set. */
const send = Effect.fnUntraced(function* <E>(
  readingDone: Latch.Latch,
  halt: Deferred.Deferred<never, E | SubmitError | RejectLimit.TooManyRejects>,
  counter: RejectLimit.Counter,
) {
  const ledger = yield* Ledger
  const client = yield* AnnotationClient
  const profile = yield* ServiceProfile
  const lifetime = Duration.fromInputUnsafe(profile.idempotencyKeyLifetime)

  /**
   * A request that is under way is finished and recorded, also when the run is interrupted;
   * an interruption comes through while it waits to be sent, or sent again.
   */
  const sendOne: (task: PlannedTask) => Effect.Effect<void, SqlError> = Effect.fnUntraced(function* (task) {
    if (yield* Deferred.isDone(halt)) return
    const question = yield* ledger.request(task.seq)
    // Claimed when its turn has come, so that only what is being sent can come to be in doubt.
    // The halves of a split task can also turn up among the planned ones: then they are taken.
    let claimed = false
    /** Whether this attempt may have been taken: by a try of this run, or of one before. */
    let doubtful = task.sentAt !== undefined
    let sentAt = task.sentAt
    const doubt = Effect.sync(() => void (doubtful = true))
    /** Not where what may have been taken may have been forgotten since. */
    const repeat = Effect.flatMap(Clock.currentTimeMillis, (now) =>
      doubtful && sentAt !== undefined && now - sentAt > Duration.toMillis(lifetime)
        ? Effect.fail(new KeyExpired())
        : Effect.void,
    )
    const claim = Effect.andThen(repeat, ledger.claim(task)).pipe(
      Effect.filterOrFail(Boolean, () => new AlreadyClaimed()),
      Effect.andThen(Clock.currentTimeMillis),
      Effect.tap((now) =>
        Effect.sync(() => {
          claimed = true
          if (!doubtful) sentAt = now
        }),
      ),
    )
    const giveBack = Effect.suspend(() => (doubtful ? ledger.markPlanned(task.seq) : ledger.release(task.seq)))
    const release = Effect.andThen(
      giveBack,
      Effect.sync(() => void (claimed = false)),
    )
    yield* client
      .create(question.body, task.idempotencyKey, { isDoubtful: task.wasDoubted, claim, repeat, doubt, release })
      .pipe(
        Effect.onInterrupt(() => (claimed ? Effect.orDie(release) : Effect.void)),
        Effect.tap(() => Effect.sync(breakdown.taken)),
        Effect.flatMap((taskId) => record(task, taskId)),
        Effect.catchTags({
          AnnotationClientError: (failure) => settle(task, question, failure, doubtful),
          AlreadyClaimed: () => Effect.void,
          KeyExpired: () => ledger.markKeyExpired(task.seq, lifetime),
        }),
      )
  }, Effect.uninterruptible)

  /** Why the last of the tasks that are left for the next run was not taken. */
  let left: AnnotationClientError | undefined

  const breakdown = FailureStreak.make(profile.baseUrl)
  const end = (failure: AnnotationClientError | undefined) =>
    failure === undefined ? Effect.void : Effect.asVoid(Deferred.fail(halt, failure))

  const record = Effect.fnUntraced(function* (task: PlannedTask, taskId: string) {
    const shared = yield* ledger.markSubmitted(task.seq, taskId, firstPollDelay(profile))
    if (Option.isSome(shared)) yield* end(breakdown.shared(taskId, shared.value))
  })

  const refuse = Effect.fnUntraced(function* (task: PlannedTask, why: string, status: number, detail: string) {
    yield* ledger.markRefused(task.seq, why)
    const rejected = yield* ledger.itemsLostWith(task.seq)
    yield* counter.add({ read: 0, rejected }).pipe(Effect.catch((tooMany) => Deferred.fail(halt, tooMany)))
    yield* end(breakdown.refused(status, detail))
  })

  /** What becomes of a task that was not taken. */
  const settle = Effect.fnUntraced(function* (
    task: PlannedTask,
    question: StoredRequest,
    failure: AnnotationClientError,
    doubtful: boolean,
  ) {
    const { reason } = failure
    switch (reason._tag) {
      case "Refused":
        return yield* refuse(task, failure.message, reason.status, reason.detail)
      case "TooLarge": {
        if (question.items.length === 1) {
          return yield* refuse(task, `refused (413): ${reason.detail}`, 413, reason.detail)
        }
        const halves = halve(question, task.vote)
        yield* ledger.split(task.seq, halves)
        let seq = task.seq
        for (const half of halves) {
          yield* sendOne({ ...task, seq, idempotencyKey: half.idempotencyKey, sentAt: undefined, wasDoubted: false })
          seq += half.items.length
        }
        return
      }
      case "UnusableAnswer":
        yield* ledger.markInDoubt(task.seq, failure.message)
        return yield* end(breakdown.lost(failure))
      case "Unavailable":
        // It may also be what another request was answered while this one waited for its turn.
        if (!reason.maybeDone || !doubtful) break
        if (profile.idempotencyKey === "ignored") {
          yield* ledger.markInDoubt(task.seq, failure.message)
        } else {
          // Others may pass; this one is sent again, under its key, by the next run.
          left = failure
          yield* ledger.markPlanned(task.seq)
          yield* Effect.logWarning(
            `a task of ${question.items.length} items is left for the next run: ${failure.message}`,
          )
        }
        return yield* end(breakdown.lost(failure))
    }
    yield* doubtful ? ledger.markPlanned(task.seq) : ledger.release(task.seq)
    yield* Deferred.fail(halt, failure)
  })

  let page: ReadonlyArray<PlannedTask> = []
  let seq = -1
  /** The next planned task; waits for one while the input is being read. None where the sending ends. */
  const next = Effect.gen(function* () {
    while (!(yield* Deferred.isDone(halt))) {
      const [task, ...rest] = page
      if (task !== undefined) {
        page = rest
        seq = task.seq
        return Option.some(task)
      }
      const done = readingDone.isOpen()
      yield* ledger.planned.close
      page = yield* ledger.plannedAfter(seq)
      if (page.length > 0) continue
      if (done) break
      yield* Effect.raceAllFirst([ledger.planned.await, readingDone.await, Effect.exit(Deferred.await(halt))])
    }
    return Option.none<PlannedTask>()
  })

  // Once the run is to end, nobody waits for a turn any more.
  yield* Workers.run(profile.concurrency, next, sendOne).pipe(Effect.raceFirst(Effect.exit(Deferred.await(halt))))
  if (left !== undefined) yield* Deferred.fail(halt, left)
})
