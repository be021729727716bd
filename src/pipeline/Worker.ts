/**
 * A worker is one of several processes that share a job in PostgreSQL. One worker at a time reads the input and plans
 * votes, so tasks and dataset are the same as with one process. Each part of the tasks belongs to one worker, which
 * sends and polls these tasks (`task/ledger/writes/Parts`). If a worker is lost, others take its parts. All workers
 * share the limit of requests per second. A worker runs until it is stopped. It then finishes its requests.
 */
import {
  Cause,
  Deferred,
  Duration,
  Effect,
  Fiber,
  type FileSystem,
  Latch,
  Layer,
  Predicate,
  Queue,
  References,
  Result,
  Schedule,
  Schema,
} from "effect"
import type { HttpClient } from "effect/http"
import { Singleton } from "effect/cluster"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import * as SteadyClock from "../io/SteadyClock.ts"
import { ServiceProfile } from "../api/ServiceProfile.ts"
import { causeMessage } from "../io/Values.ts"
import * as Cluster from "../node/Cluster.ts"
import { FileLockError } from "../node/FileLock.ts"
import * as PostgresClient from "../node/PostgresClient.ts"
import { collect } from "../task/Collect.ts"
import { Ledger } from "../task/ledger/Ledger.ts"
import * as LedgerLocation from "../task/ledger/LedgerLocation.ts"
import { readerPart } from "../task/ledger/writes/Parts.ts"
import * as RejectLimit from "../task/plan/RejectLimit.ts"
import * as PublishedLimits from "../task/client/PublishedLimits.ts"
import * as FailureStreak from "../task/client/FailureStreak.ts"
import { send, type SendError } from "../task/Send.ts"
import * as SharedBudget from "../task/SharedBudget.ts"
import * as WebhookReceiver from "../task/webhook/WebhookReceiver.ts"
import { planRounds } from "./AdaptiveVotes.ts"
import * as JobFolder from "./JobFolder.ts"
import * as LostLedger from "./LostLedger.ts"
import { readAndSubmit, warn } from "./Reading.ts"
import * as RejectsFile from "./RejectsFile.ts"
import { checked, type Pipeline, type ServiceOf, type Settings } from "./Settings.ts"
import * as Watchdog from "./Watchdog.ts"

export type { CannotListen } from "../task/webhook/WebhookReceiver.ts"
export { WorkerStalled } from "./Watchdog.ts"

/** Options of `run`. */
export interface WorkerOptions {
  /** The worker's address for other workers. Default: the address of its database connection, and any free port. */
  readonly address?: { readonly host?: string | undefined; readonly port?: number | undefined } | undefined
  /** Other workers take over if a worker does not answer for this time: at least 5 seconds. Default: `defaultLease`. */
  readonly lease?: Duration.Input | undefined
  /** Number of parts into which a new job's tasks are split. Use at least 8 parts per worker. Default 64. */
  readonly parts?: number | undefined
  /** Called with the worker's name before the worker joins the other workers. */
  readonly onBegin?: ((name: string) => Effect.Effect<void>) | undefined
  /** Called if the worker stalls. May exit the process. Default: `run` waits for open operations, and then fails. */
  readonly onStalled?: ((failure: Watchdog.WorkerStalled) => Effect.Effect<never, Watchdog.WorkerStalled>) | undefined
}

/** The default of `lease`: 35 seconds. */
export const defaultLease = Duration.seconds(35)

const refreshInterval = Duration.seconds(2)

/** Delay before a restart. It doubles with each failure without progress, and stays below `Watchdog.stallLimit`. */
const restartInterval = Duration.seconds(15)
const maxRestartInterval = Duration.minutes(5)

const restartSendingInterval = Duration.seconds(30)

const renewInterval = Duration.seconds(5)

const invalidOptions = ["SubmitOptionInvalid", "PriceMissing", "UnusableGold", "VotersNotTaken"]

/** Failures for which a retry does not help. After an `SqlError`, the worker has to reconnect to the ledger. */
const permanentFailures = ["SqlError", "OtherService", "TermsChanged", "TooManyRejects", ...invalidOptions]

const retrying = Effect.fnUntraced(function* <A, E, R>(
  what: string,
  effect: Effect.Effect<A, E, R>,
  progress?: () => number,
) {
  let [seen, failures] = [progress?.(), 0]
  while (true) {
    const result = yield* Effect.result(effect)
    if (Result.isSuccess(result)) return result.success
    const { failure } = result
    if (permanentFailures.some((tag) => Predicate.isTagged(failure, tag))) return yield* Effect.fail(failure)
    failures = progress !== undefined && progress() === seen ? failures + 1 : 1
    seen = progress?.()
    const delay = Duration.min(Duration.times(restartInterval, 2 ** (failures - 1)), maxRestartInterval)
    yield* Effect.logWarning(`${what} failed (restart in ${Duration.format(delay)}): ${causeMessage(failure)}`)
    yield* Effect.sleep(delay)
  }
})

type Failure = SqlError | Effect.Error<ReturnType<typeof readAndSubmit<never, never>>>

const isFileLockError = Schema.is(FileLockError)
const isTooManyRejects = Schema.is(RejectLimit.TooManyRejects)

const work = Effect.fn("Worker.work")(function* <E, R>(
  settings: Settings<E, R>,
  cluster: Omit<Cluster.ClusterOptions, "prefix">,
  { onStalled = Effect.fail }: Pick<WorkerOptions, "onStalled">,
) {
  const ledger = yield* Ledger
  const { baseUrl, idempotencyKey, pollInterval, requestTimeout } = yield* ServiceProfile
  /** After this many renewals, a lease is over. By then, a worker that lost a part has stopped working on this part. */
  const leaseRenewals = Math.ceil(Duration.toMillis(cluster.lease) / Duration.toMillis(renewInterval)) + 1
  const lost = yield* Deferred.make<never, Failure | E>()
  const logLevel = yield* References.MinimumLogLevel
  const task = <R>(effect: Effect.Effect<unknown, Failure | E, R>) =>
    Effect.catchCause(effect, (cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.asVoid(Deferred.failCause(lost, cause)),
    ).pipe(Effect.provideService(References.MinimumLogLevel, logLevel))

  // All restarts of `sending` share one count of failures, which limits the retries of billable requests.
  const streak = FailureStreak.make(baseUrl)
  const sending = retrying(
    "sending",
    Effect.gen(function* () {
      const halt = yield* Deferred.make<never, SendError | RejectLimit.TooManyRejects>()
      yield* send(yield* Latch.make(), halt, RejectLimit.counter(undefined), { earlier: streak })
      return yield* Deferred.await(halt)
    }),
    streak.count,
  )
  const collecting = retrying(
    "polling",
    Effect.flatMap(Latch.make(), (submittingDone) => collect({ submittingDone })),
    () => ledger.requestsDone.answers,
  )

  const refreshing = Effect.gen(function* () {
    yield* ledger.settleAbandoned(
      idempotencyKey === "honored" ? "planned" : "in_doubt",
      Duration.toMillis(Duration.fromInputUnsafe(requestTimeout)),
    )
    yield* ledger.countWorkers
    yield* ledger.notifyAll
  }).pipe(Effect.repeat(Schedule.spaced(refreshInterval)))
  const listening = Effect.gen(function* () {
    const messages = yield* PostgresClient.listen(cluster, yield* ledger.channel)
    while (true) yield* ledger.onNotification((yield* Queue.take(messages)).payload)
  })
  const restarting = Effect.repeat(ledger.restartSending, Schedule.spaced(restartSendingInterval))
  let [answeredAt, progressedAt] = [0, yield* SteadyClock.now]
  const renewing = Effect.gen(function* () {
    yield* ledger.checkVersion
    const now = yield* SteadyClock.now
    yield* ledger.renewParts(now - progressedAt, now - answeredAt, leaseRenewals)
  }).pipe(Effect.repeat(Schedule.spaced(renewInterval)))
  const watched = Watchdog.watch({
    done: ledger.requestsDone,
    isDue: ledger.isDue,
    othersAnsweredWithin: ledger.othersAnsweredWithin,
    limit: Duration.sum(Duration.fromInputUnsafe(requestTimeout), Watchdog.stallLimit),
    onCheck: (...times) => void ([answeredAt, progressedAt] = times),
  }).pipe(Effect.catchTag("WorkerStalled", onStalled))

  const parts = Array.from({ length: ledger.partCount }, (_, part) =>
    Singleton.make(
      `part ${part}`,
      task(
        ledger.takePart(part).pipe(
          // The part's previous worker may have polled less often. The next polls must come within `pollInterval.max`.
          Effect.andThen(ledger.dueWithin(Duration.toMillis(Duration.fromInputUnsafe(pollInterval.max)))),
          Effect.andThen(Effect.never),
          Effect.scoped,
        ),
      ),
    ),
  )
  // `resubmit` is empty: reading may restart many times, and the service would bill each resubmitted task again.
  const reading = readAndSubmit({ ...settings, resubmit: [] }).pipe(
    Effect.ensuring(
      RejectsFile.write(settings.directory).pipe(
        Effect.catch((failure) =>
          Effect.logWarning(`cannot write the rejects file (its records are in the ledger): ${causeMessage(failure)}`),
        ),
      ),
    ),
  )
  const reader = Singleton.make(
    "reader",
    task(
      ledger.takePart(readerPart).pipe(
        Effect.andThen(retrying("reading", reading)),
        Effect.tap(({ run }) => Effect.logInfo(`run ${run}: finished reading the input`)),
        Effect.tap(warn),
        Effect.catchIf(isTooManyRejects, ({ message }) => Effect.logError(`reading stopped: ${message}`)),
        Effect.andThen(retrying("planning further votes", planRounds(settings, refreshInterval))),
        Effect.scoped,
      ),
    ),
  )
  // Job numbers are unique in a schema, but the prefix must be unique in the database. The last 8 characters of the
  // channel's name are a hash of the schema and the job.
  const prefix = `prefstream_job_${ledger.job}_${(yield* ledger.channel).slice(-8)}`
  const singletons = Layer.mergeAll(reader, ...parts).pipe(Layer.provide(Cluster.layer({ ...cluster, prefix })))
  if (settings.webhook !== undefined) yield* Layer.build(WebhookReceiver.layer(settings.webhook))
  const loops = yield* Effect.all([sending, collecting, refreshing, listening, restarting, renewing, watched], {
    concurrency: "unbounded",
    discard: true,
  }).pipe(Effect.forkScoped)
  // The layer built last is closed first, so other workers can take this worker's parts while its last requests finish.
  yield* Layer.build(singletons)
  return yield* Effect.raceFirst(Fiber.join(loops), Deferred.await(lost))
}, Effect.scoped)

const patient = Layer.effect(
  ServiceProfile,
  Effect.map(ServiceProfile, (profile) => ({ ...profile, patience: Duration.infinity })),
)

const rejoinInterval = Duration.seconds(2)

const finalReasons = [
  "AuthenticationError",
  "AuthorizationError",
  "ConstraintError",
  "SqlSyntaxError",
  "UniqueViolation",
]

const runUnchecked = Effect.fn("Worker.run")(function* <E, R, E1, R1, E2 = never, R2 = never>(
  pipeline: Settings<E, R> & ServiceOf<E1, R1, E2, R2>,
  workerOptions: WorkerOptions,
) {
  const { client, service, ...settings } = pipeline
  const { address, lease, onBegin = () => Effect.void, parts, ...options } = workerOptions
  const location = yield* LostLedger.locate(settings)
  if (location._tag === "File") {
    return yield* new LedgerLocation.LedgerLocationError({
      message:
        "a worker needs a PostgreSQL ledger, which several machines can reach: set `ledger` to postgres://user@host/database",
    })
  }
  const { url } = location
  const host = address?.host ?? (yield* Cluster.addressTowards(url))
  const port = address?.port ?? (yield* Cluster.freePort)
  const name = `${host}:${port}`
  yield* onBegin(name)
  const cluster = {
    url,
    password: yield* LedgerLocation.password,
    host,
    port,
    lease: Duration.max(Duration.fromInputUnsafe(lease ?? defaultLease), Cluster.minLease),
  }
  let hasJoined = false
  const isLost = (cause: Cause.Cause<unknown>) => {
    const failure = Cause.squash(cause)
    if (isSqlError(failure)) return hasJoined && !finalReasons.includes(failure.reason._tag)
    // While this worker was disconnected, a command may have locked the ledger. The worker retries until the lock ends.
    return hasJoined && isFileLockError(failure)
  }
  return yield* Effect.sync(() => void (hasJoined = true)).pipe(
    Effect.andThen(work(settings, cluster, options)),
    Effect.provide(
      SharedBudget.client(client).pipe(
        Layer.provideMerge(LedgerLocation.layerWorker(location, name, parts)),
        Layer.provideMerge(Layer.provide(patient, PublishedLimits.layer(service, client !== undefined))),
        Layer.provide(Layer.effectDiscard(JobFolder.create(settings.directory))),
      ),
    ),
    Effect.sandbox,
    Effect.tapError((cause) =>
      isLost(cause)
        ? Effect.logWarning(
            `lost the connection to the ledger, or another command has locked the ledger; reconnecting: ${causeMessage(Cause.squash(cause))}`,
          )
        : Effect.void,
    ),
    Effect.retry({ while: isLost, schedule: Schedule.spaced(rejoinInterval) }),
    Effect.catch(Effect.failCause),
  )
})

/**
 * Processes the pipeline's job alongside other workers until it is interrupted, and reconnects to a lost ledger. Fails
 * with `LedgerLocationError` if the ledger is not in PostgreSQL, and with failures for which a retry does not help.
 */
export const run = <E, R>(pipeline: Pipeline<E, R>, options: WorkerOptions = {}) =>
  checked<R | FileSystem.FileSystem | HttpClient.HttpClient>()(pipeline, () => runUnchecked(pipeline, options))
