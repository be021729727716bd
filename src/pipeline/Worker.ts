/**
 * One of several processes that work a job together, over one ledger in PostgreSQL.
 *
 * Guarantees: one worker at a time reads the input, so the tasks are those that one process would plan. Each part of the
 * tasks is sent and polled by one worker, and by another when that one is lost; only the owner of its part claims a task
 * (`task/ledger/Parts`), so no task is sent by two. The dataset does not depend on the workers.
 *
 * All workers together keep to the limits of requests per second and at once, but each may send one. Does not: end by
 * itself (`prefstream status` says when all is done); recover from a lost session of the database, which ends it with a
 * failure; work on over a ledger that a newer version of prefstream has changed.
 */
import { Cause, Clock, Deferred, Duration, Effect, Latch, Layer, Queue, Schedule } from "effect"
import { Singleton } from "effect/cluster"
import type { SqlError } from "effect/sql/SqlError"
import { ServiceProfile } from "../api/ServiceProfile.ts"
import { causeMessage } from "../io/Values.ts"
import * as Cluster from "../node/Cluster.ts"
import * as PostgresClient from "../node/PostgresClient.ts"
import { collect } from "../task/Collect.ts"
import { Ledger } from "../task/ledger/Ledger.ts"
import { readerPart } from "../task/ledger/Parts.ts"
import * as RejectLimit from "../task/plan/RejectLimit.ts"
import { send, type SendError } from "../task/Send.ts"
import * as WebhookReceiver from "../task/webhook/WebhookReceiver.ts"
import type { Settings } from "./Pipeline.ts"
import { readAndSubmit } from "./Reading.ts"
import * as RejectsFile from "./RejectsFile.ts"
import * as Watchdog from "./Watchdog.ts"

/** How a worker finds the others, and what it reads where it is its turn to read. */
export interface WorkerSettings extends Settings {
  readonly cluster: Omit<Cluster.ClusterOptions, "prefix">
  /**
   * What follows where the worker gets nothing done; by default it fails, once what hangs has ended. A process had better
   * end itself.
   */
  readonly onStalled?: (failure: Watchdog.WorkerStalled) => Effect.Effect<never, Watchdog.WorkerStalled>
}

/** How often a worker looks for what others have left behind, and for news that it was not told. */
const lookInterval = Duration.seconds(2)

const restartInterval = Duration.seconds(5)

const lookAgainInterval = Duration.seconds(30)

/** How long it may get nothing done, beyond the patience with the service. */
const stallLimit = Duration.minutes(10)

/** How often it says that it is there. */
const renewInterval = Duration.seconds(5)

/** Failures that no repetition changes. */
const final = ["SqlError", "OtherService", "TermsChanged", "SubmitOptionInvalid", "UnusableGold", "TooManyRejects"]

/** Starts again what failed for a reason that may pass. */
const again =
  (what: string) =>
  <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) => {
    const mayPass = (failure: E) => !final.includes(failure._tag)
    return effect.pipe(
      Effect.tapError((failure) =>
        mayPass(failure)
          ? Effect.logWarning(
              `${what} failed, and starts again in ${Duration.format(restartInterval)}: ${causeMessage(failure)}`,
            )
          : Effect.void,
      ),
      Effect.retry({ while: mayPass, schedule: Schedule.spaced(restartInterval) }),
    )
  }

type Failure = SqlError | Effect.Error<ReturnType<typeof readAndSubmit>>

/** Works parts of the job for as long as the scope is open. Fails where the ledger is lost. */
export const work = Effect.fn("Worker.work")(function* (settings: WorkerSettings) {
  const ledger = yield* Ledger
  const { idempotencyKey, patience } = yield* ServiceProfile
  const lost = yield* Deferred.make<never, Failure>()
  /** What a singleton runs; its failure is that of the worker. */
  const task = <R>(effect: Effect.Effect<unknown, Failure, R>) =>
    Effect.catchCause(effect, (cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.asVoid(Deferred.failCause(lost, cause)),
    )

  const sending = Effect.gen(function* () {
    const halt = yield* Deferred.make<never, SendError | RejectLimit.TooManyRejects>()
    yield* send(yield* Latch.make(), halt, RejectLimit.counter(undefined))
    return yield* Deferred.await(halt)
  }).pipe(again("sending"))
  const collecting = Effect.flatMap(Latch.make(), (submittingDone) => collect({ submittingDone })).pipe(
    again("polling"),
  )

  const looking = Effect.gen(function* () {
    yield* ledger.settleAbandoned(idempotencyKey === "honored" ? "planned" : "in_doubt")
    yield* ledger.wake
  }).pipe(Effect.repeat(Schedule.spaced(lookInterval)))
  const told = Effect.gen(function* () {
    const messages = yield* PostgresClient.listen(settings.cluster, yield* ledger.channel)
    while (true) yield* ledger.hear((yield* Queue.take(messages)).payload)
  })
  // Also for what a request left to be sent once more.
  const looksAgain = Effect.repeat(ledger.lookAgain, Schedule.spaced(lookAgainInterval))
  let progressedAt = yield* Clock.currentTimeMillis
  const renewing = Effect.repeat(
    Effect.andThen(
      ledger.checkVersion,
      Effect.suspend(() => ledger.renewParts(progressedAt)),
    ),
    Schedule.spaced(renewInterval),
  )
  const watched = Watchdog.watch({
    requests: ledger.requestsTaken,
    isDue: ledger.isDue,
    limit: Duration.sum(Duration.fromInputUnsafe(patience), stallLimit),
    onProgress: (now) => void (progressedAt = now),
  }).pipe(Effect.catchTag("WorkerStalled", settings.onStalled ?? Effect.fail))

  const parts = Array.from({ length: ledger.partCount }, (_, part) =>
    Singleton.make(`part ${part}`, task(Effect.scoped(Effect.andThen(ledger.takePart(part), Effect.never)))),
  )
  const reading = readAndSubmit(settings).pipe(
    Effect.ensuring(
      RejectsFile.write(settings.directory).pipe(
        Effect.catch((failure) =>
          Effect.logWarning(`the rejects are in the ledger, but not in a file: ${causeMessage(failure)}`),
        ),
      ),
    ),
  )
  const reader = Singleton.make(
    "reader",
    task(
      ledger.takePart(readerPart).pipe(
        Effect.andThen(again("reading")(reading)),
        Effect.tap((run) => Effect.logInfo(`run ${run}: the input is read`)),
        Effect.andThen(Effect.never),
        Effect.scoped,
      ),
    ),
  )
  const placed = Layer.mergeAll(reader, ...parts).pipe(
    Layer.provide(Cluster.layer({ ...settings.cluster, prefix: `prefstream_job_${ledger.job}` })),
  )
  const received = settings.webhook === undefined ? Layer.empty : WebhookReceiver.layer(settings.webhook)
  return yield* Effect.all([sending, collecting, looking, told, looksAgain, renewing, watched, Deferred.await(lost)], {
    concurrency: "unbounded",
    discard: true,
  }).pipe(Effect.provide(Layer.merge(placed, received)))
}, Effect.scoped)
