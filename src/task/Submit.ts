/**
 * Submits tasks in one run. First, the run decides about tasks that were being sent when an earlier run ended. Then,
 * the run plans and sends concurrently. It can be stopped at any point. After a failure, requests in flight are
 * finished and recorded. The ledger also records the reason of the failure.
 */
/* oxlint-disable max-lines -- options, their checks, and the run */
import {
  Cause,
  Deferred,
  Duration,
  Effect,
  Exit,
  identity,
  Latch,
  Option,
  Predicate,
  type Result,
  Schema,
  Stream,
} from "effect"
import { ServiceProfile } from "../api/ServiceProfile.ts"
import * as Cost from "../domain/Cost.ts"
import * as Prices from "../domain/Prices.ts"
import type { SourceItem } from "../domain/PromptItem.ts"
import type { Reject } from "../domain/Reject.ts"
import { boundOf, peopleWhenForm } from "../domain/Voters.ts"
import * as Kinds from "../io/SettingKinds.ts"
import { describeValue, plural } from "../io/Values.ts"
import * as CompletionDraw from "./plan/CompletionDraw.ts"
import { TaskClient } from "./client/AnnotationClient.ts"
import * as PublishedLimits from "./client/PublishedLimits.ts"
import { type ChooseItems, planFurtherVotes } from "./FurtherVotes.ts"
import { Ledger, type LedgerReader } from "./ledger/Ledger.ts"
import * as GoldItems from "./plan/GoldItems.ts"
import type { Replannable } from "./ledger/writes/Resolve.ts"
import type { ReadCounts, StateCounts } from "./ledger/schema/Model.ts"
import { type SpendingTerms, withTerms } from "./ledger/writes/Spending.ts"
import { plan, type PlanOptions } from "./Plan.ts"
import * as RejectLimit from "./plan/RejectLimit.ts"
import * as Recheck from "./Recheck.ts"
import { send, type SendError } from "./Send.ts"

/** `votes`, `shuffleSeed`, `gold`, `completionsPerItem`, and `completionsSeed` apply to new items only. */
export interface SubmitOptions extends PlanOptions, SpendingTerms {
  /** Gold items to mix into the new items. */
  readonly gold?: GoldItems.GoldOptions | undefined
  /** If guidelines or task type changed, judge all items again in a new campaign. Default: fail with `TermsChanged`. */
  readonly newCampaign?: boolean | undefined
  /**
   * Tasks of earlier runs in these states are sent again, as new, billable tasks. A task with an id
   * is polled first, and is sent again only if the service confirms the failure. Default: no states.
   */
  readonly resubmit?: ReadonlyArray<Replannable> | undefined
  /** Maximum number of times that a task's items are sent, including the first time. Default 3. */
  readonly maxAttempts?: number | undefined
  /**
   * Maximum number of rejected records, or their maximum share of the records read, such as `"1%"`. Above it, the run
   * fails with `TooManyRejects`. A share is checked from the 1,000th record on, and at the end. Items that the service
   * refuses also count. Default: no limit, but a run fails if its first 100,000 records are all rejected.
   */
  readonly maxRejects?: RejectLimit.RejectLimit | undefined
}

export const defaultMaxAttempts = 3

/** The value of an option is invalid. */
export class SubmitOptionInvalid extends Schema.TaggedError<SubmitOptionInvalid>()("SubmitOptionInvalid", {
  /** Name of the option in `SubmitOptions`. */
  option: Schema.Literals([
    "records",
    "votes",
    "votesUpTo",
    "peopleWhen",
    "group",
    "shuffleSeed",
    "completionsPerItem",
    "completionsSeed",
    "batch.maxPrompts",
    "batch.maxBytes",
    "maxPlanned",
    "maxAttempts",
    "maxRejects",
    "price",
    "budget",
  ]),
  /** The allowed values, in words. */
  expected: Schema.String,
  /** The value that was given. */
  found: Schema.Unknown,
}) {
  override get message() {
    return `${this.option}: expected ${this.expected}, found ${Predicate.isObject(this.found) ? JSON.stringify(this.found) : String(this.found)}`
  }
}

/** The options or the job have a budget, but no price per vote. */
export class PriceMissing extends Schema.TaggedError<PriceMissing>()("PriceMissing", {
  /** The budget as a decimal number. */
  budget: Schema.String,
}) {
  override get message() {
    return `a budget of ${this.budget} requires a price per vote: set \`price\``
  }
}

/** The option `peopleWhen` needs both `voters` and enough votes in one task, but the service does not declare both. */
export class VotersNotTaken extends Schema.TaggedError<VotersNotTaken>()("VotersNotTaken", {
  /** The identity of the service. */
  service: Schema.String,
  /** The number of judges' votes per item, and the service's limit per task. Absent if the service lacks `voters`. */
  jury: Schema.optionalKey(Schema.Struct({ votes: Schema.Int, maxVotes: Schema.Int })),
}) {
  override get message() {
    if (this.jury !== undefined) {
      const { maxVotes, votes } = this.jury
      return `\`peopleWhen\` requires a service that accepts ${votes} votes in one task, but the openapi.json of ${this.service} ${maxVotes === 0 ? "declares no number of votes" : `allows at most ${plural(maxVotes, "one vote", `${maxVotes} votes`)}`} for a task. Lower \`votes\`, or raise the service's limit`
    }
    return `\`peopleWhen\` requires a service that declares \`voters\` for a task in its openapi.json, but ${this.service} does not: omit \`peopleWhen\`, or use an annotation service that declares \`voters\`, such as prefstream serve`
  }
}

/** Budget and prices of a run. Missing ones come from the job's earlier runs. @param ledger undefined for a new job */
export const spendingTerms = Effect.fnUntraced(function* (
  ledger: Pick<(typeof LedgerReader)["Service"], "spendingTerms"> | undefined,
  options: SpendingTerms,
) {
  const terms = withTerms(options, ledger === undefined ? undefined : yield* ledger.spendingTerms)
  return Option.isSome(terms.budget) && Option.isNone(terms.prices)
    ? yield* new PriceMissing({ budget: Cost.format(terms.budget.value) })
    : terms
})

export const groupForm = "a text of 1 to 255 characters, not blank"

export const isGroup = (text: string): boolean => text.trim() !== "" && text.length <= 255

const kinds = {
  ...Kinds.all(Kinds.anyText, "guidelines taskType group peopleWhen"),
  ...Kinds.all(Kinds.object, "batch gold"),
  resubmit: Kinds.texts,
}

const isAtLeast = (least: number, value: number): boolean => Number.isSafeInteger(value) && value >= least

const isCount = (value: number): boolean => isAtLeast(1, value)

const checkOptions = ({
  batch: { maxBytes = 1, maxPrompts = 1 } = {},
  budget = "none",
  completionsPerItem = 2,
  completionsSeed = 0,
  group = "a",
  maxAttempts = 1,
  maxPlanned = 1,
  maxRejects = 0,
  peopleWhen,
  price = 1,
  shuffleSeed = false,
  votes = 1,
  votesUpTo = votes,
}: SubmitOptions): Effect.Effect<void, SubmitOptionInvalid> => {
  const rules = [
    ["votes", votes, "a whole number of at least 1", isCount(votes)],
    ["votesUpTo", votesUpTo, `a whole number that is not less than \`votes\` (${votes})`, isAtLeast(votes, votesUpTo)],
    ["peopleWhen", peopleWhen, peopleWhenForm, peopleWhen === undefined || Option.isSome(boundOf(peopleWhen))],
    [
      "peopleWhen",
      peopleWhen,
      "`votesUpTo` to be greater than `votes` (judges give the first `votes` votes on an item, and people give further votes), or no `peopleWhen`",
      peopleWhen === undefined || votesUpTo > votes,
    ],
    ["group", group, groupForm, isGroup(group)],
    [
      "shuffleSeed",
      shuffleSeed,
      "a whole number, or false",
      shuffleSeed === false || Number.isSafeInteger(shuffleSeed),
    ],
    ["completionsPerItem", completionsPerItem, "a whole number of at least 2", isAtLeast(2, completionsPerItem)],
    ["completionsSeed", completionsSeed, "a whole number", Number.isSafeInteger(completionsSeed)],
    ["batch.maxPrompts", maxPrompts, "a whole number of at least 1", isCount(maxPrompts)],
    ["batch.maxBytes", maxBytes, "a whole number of at least 1", isCount(maxBytes)],
    [
      "maxPlanned",
      maxPlanned,
      "a whole number of at least 1, or Infinity",
      isCount(maxPlanned) || maxPlanned === Infinity,
    ],
    ["maxAttempts", maxAttempts, "a whole number of at least 1", isCount(maxAttempts)],
    ["maxRejects", maxRejects, "a whole number, or a percentage up to 100%", RejectLimit.isLimit(maxRejects)],
    ["price", price, Prices.form, Option.isSome(Prices.parse(price))],
    ["budget", budget, `${Cost.amountForm}, or none`, budget === "none" || Option.isSome(Cost.parse(budget))],
  ] as const
  const wrong = rules.find(([, , , isRight]) => !isRight)
  return wrong === undefined
    ? Effect.void
    : Effect.fail(new SubmitOptionInvalid({ option: wrong[0], found: wrong[1], expected: wrong[2] }))
}

/** The reason why a run failed; undefined if it was stopped. */
export const reasonOf = (cause: Cause.Cause<unknown>): string | undefined => {
  if (Cause.hasInterruptsOnly(cause)) return undefined
  const failure = Cause.squash(cause)
  return failure instanceof Error && failure.message !== "" ? failure.message : String(failure)
}

/** Counts of a run's input, and the states of the ledger's tasks. */
export interface Submitted extends ReadCounts {
  /** Number of the run in its job, from 1. */
  readonly run: number
  /** Number of the campaign that the run's items belong to, from 1. */
  readonly campaign: number
  /** All tasks of the ledger by state, at the end of the run. */
  readonly tasks: StateCounts
}

export interface RunOptions extends SubmitOptions {
  /** Opens when each interrupted task of earlier runs is `planned` or `in_doubt`. Then, polling can start. */
  readonly settled?: Latch.Latch | undefined
  /** Chooses the items of earlier runs that get another vote. Default: no item gets one. */
  readonly chooseFurther?: ChooseItems | undefined
  /** Name of the job. If the service declares groups, the default group is, for example, `NAME, campaign 1`. */
  readonly jobName?: string | undefined
  /** Called before the run plans tasks. Without a group, `group` is undefined. */
  readonly onGroup?: ((group: string | undefined) => Effect.Effect<void>) | undefined
}

/**
 * Reads `records` into the ledger and sends planned tasks, until both are done. If workers share the job, they send,
 * and this function only reads. Returns the counts of the input and of all tasks.
 *
 * Fails with the error of `records`, `TooManyRejects`, `TermsChanged`, `SubmitOptionInvalid`, `PriceMissing`,
 * `UnusableGold`, `MembersUnknown`, or `VotersNotTaken`. Fails with an `AnnotationClientError` if the error affects
 * every task. Fails with `FileLockError` if another process reads the job's input.
 */
export const submit = <E, R>(
  records: Stream.Stream<Result.Result<SourceItem, Reject>, E, R>,
  options: SubmitOptions = {},
) => submitRun(records, options)

export const submitRun = Effect.fn("Submit.submit")(function* <E, R>(
  records: Stream.Stream<Result.Result<SourceItem, Reject>, E, R>,
  options: RunOptions,
) {
  if (!Stream.isStream(records)) {
    const expected = "a stream of items, such as `Source.files(…).records`"
    return yield* new SubmitOptionInvalid({ option: "records", expected, found: describeValue(records) })
  }
  yield* Kinds.check(options, kinds)
  const { maxRejects } = options
  yield* checkOptions(options)
  const ledger = yield* Ledger
  yield* ledger.readAlone
  const profile = yield* ServiceProfile
  const draw = CompletionDraw.make(options)
  const mix = options.gold === undefined ? identity : yield* GoldItems.make(options.gold, draw)
  yield* ledger.bindService(profile.identity, profile.moved)
  yield* ledger.settleInterrupted(
    profile.idempotencyKey === "honored" ? "planned" : "in_doubt",
    Duration.fromInputUnsafe(profile.idempotencyKeyLifetime),
  )
  yield* spendingTerms(ledger, options)
  const { mayMisreadStatus: hasContract } = yield* TaskClient
  const members = yield* PublishedLimits.membersFor(options, hasContract)
  if (options.peopleWhen !== undefined && members.voters !== true) {
    return yield* new VotersNotTaken({ service: profile.identity })
  }
  const { votes: jury = 1 } = options
  if (options.peopleWhen !== undefined && jury > Math.max(1, members.maxVotes)) {
    return yield* new VotersNotTaken({
      service: profile.identity,
      jury: { votes: jury, maxVotes: members.maxVotes },
    })
  }
  const { group, jobName } = options
  const before = yield* ledger.lastCampaign
  const run = yield* ledger.startRun(options, (campaign) =>
    group !== undefined || jobName === undefined || !members.group ? group : `${jobName}, campaign ${campaign}`,
  )
  if (options.onGroup !== undefined) yield* options.onGroup(run.group)
  if (options.newCampaign === true && Option.contains(before, run.campaign)) {
    yield* Effect.logWarning(
      `\`newCampaign\` has no effect, because guidelines and task type have not changed: campaign ${run.campaign} continues, and only new items are judged`,
    )
  }
  if (group !== undefined && group !== run.group) {
    yield* Effect.logWarning(
      `the tasks of campaign ${run.campaign} stay ${run.group === undefined ? "without a group" : `in the group ${JSON.stringify(run.group)}`}: a change of \`group\` takes effect in a new campaign`,
    )
  }
  yield* Effect.annotateCurrentSpan({ "prefstream.run": run.run, "prefstream.campaign": run.campaign })
  const { maxAttempts = defaultMaxAttempts, resubmit = [] } = options
  const again = yield* ledger.replannable(run.campaign, resubmit, maxAttempts).pipe(
    Effect.flatMap(Recheck.findResubmittable),
    Effect.flatMap((taskSeqs) => ledger.replan(run.campaign, resubmit, maxAttempts, taskSeqs)),
    Effect.onError((cause) => Effect.ignore(ledger.endRun(run, { failure: reasonOf(cause) }))),
  )
  if (again > 0)
    yield* Effect.logInfo(`resubmitted ${again} ${plural(again, "task")} from earlier runs as new, billable tasks`)
  if (options.chooseFurther !== undefined) {
    yield* planFurtherVotes(options.chooseFurther, { ...options, campaign: run.campaign }).pipe(
      Effect.onError((cause) => Effect.ignore(ledger.endRun(run, { failure: reasonOf(cause) }))),
    )
  }
  if (options.settled !== undefined) yield* options.settled.open
  const halt = yield* Deferred.make<never, E | SendError | RejectLimit.TooManyRejects>()
  const readingDone = yield* Latch.make()
  const counter = RejectLimit.counter(maxRejects)
  const starved = yield* Latch.make()
  const reader = plan(
    run,
    records,
    { ...options, group: run.group, maxTaskVotes: members.maxVotes, draw, mix },
    counter,
    starved,
  ).pipe(
    Effect.raceFirst(Deferred.await(halt)),
    Effect.catchCause((cause) => Effect.asVoid(Deferred.failCause(halt, cause))),
    Effect.ensuring(readingDone.open),
  )
  const sender = ledger.isShared ? Effect.void : send(readingDone, halt, counter, { starved })
  yield* Effect.all([reader, sender], { concurrency: 2, discard: true }).pipe(
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
  if (yield* Deferred.isDone(halt)) return yield* Deferred.await(halt)
  const { counts } = Option.getOrThrow(yield* ledger.runOf(run.run))
  const submitted: Submitted = { run: run.run, campaign: run.campaign, ...counts, tasks: yield* ledger.counts }
  return submitted
}, Effect.scoped)

/** Sends the planned tasks, and reads no input. */
export const sendPlanned = Effect.gen(function* () {
  const halt = yield* Deferred.make<never, SendError | RejectLimit.TooManyRejects>()
  yield* send(yield* Latch.make(true), halt, RejectLimit.counter(undefined))
  if (yield* Deferred.isDone(halt)) return yield* Deferred.await(halt)
}).pipe(Effect.withSpan("Submit.sendPlanned"))
