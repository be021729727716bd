/**
 * The whole flow: source, tasks, judgments, pairs, dataset.
 *
 * Guarantees: a run may be stopped at any point and started again with the same job folder; it then finishes the
 * remaining work and submits nothing twice. The dataset depends only on the ledger and the dataset's settings.
 *
 * `run` executes `submit` and `collect` concurrently, and then `exportDataset`. Each of the three may also run alone,
 * in other processes and on other days.
 */
import { Cause, type Duration, Effect, Exit, Latch, Layer, Option } from "effect"
import type { HttpClient } from "effect/http"
import type { ServiceProfile } from "../api/ServiceProfile.ts"
import type { Source } from "../source/Source.ts"
import { collect as collectLoop, type CollectOptions } from "../task/Collect.ts"
import { Ledger, type LedgerReader } from "../task/ledger/Ledger.ts"
import * as LedgerLocation from "../task/ledger/LedgerLocation.ts"
import type { AnnotationClient } from "../task/client/AnnotationClient.ts"
import * as SharedBudget from "../task/SharedBudget.ts"
import { noteWanted, planFurtherVotes } from "../task/FurtherVotes.ts"
import { sendPlanned, type SubmitOptions } from "../task/Submit.ts"
import * as WebhookReceiver from "../task/webhook/WebhookReceiver.ts"
import { choose } from "./AdaptiveVotes.ts"
import { type DatasetSettings, validate } from "./DatasetSettings.ts"
import * as JobFolder from "./JobFolder.ts"
import * as LostLedger from "./LostLedger.ts"
import { readAndSubmit, warn } from "./Reading.ts"
import { exportDataset } from "./Reexport.ts"
import * as RejectsFile from "./RejectsFile.ts"
import * as RunReport from "./RunReport.ts"
import * as Stop from "./Stop.ts"

export { LedgerLost } from "./LostLedger.ts"
export { type DatasetSettings, DatasetSettingsInvalid, type ResultsSettings } from "./DatasetSettings.ts"
export { ThresholdsExceeded } from "./Export.ts"
export {
  datasetLeaderboards,
  GroupsInvalid,
  leaderboard,
  type LeaderboardGroup,
  leaderboards,
  type LeaderboardSettings,
} from "./Leaderboard.ts"
export { NoDataset } from "./DatasetVotes.ts"
export type { RunReport, RunStatus } from "./RunReport.ts"
export * as CronJob from "./CronJob.ts"
export * as Inspection from "./Inspection.ts"
export * as JobStatus from "./JobStatus.ts"
export * as VoteTable from "./VoteTable.ts"
export { exportDataset }
export {
  NothingToPlan,
  pilot,
  type PilotExpert,
  type VotePlan,
  votePlan,
  type VotePlanRow,
  type VotePlanSettings,
} from "./VotePlan.ts"
export { importVotes, type ImportReport, type ImportSettings, layer as layerImport } from "./ImportVotes.ts"

/** The settings of a pipeline: job folder, source, ledger, submission, and dataset. */
export interface Settings extends SubmitOptions, LedgerLocation.LedgerSettings, DatasetSettings {
  /** The job folder: ledger (unless it is elsewhere), rejects and dataset. It is created if missing. */
  readonly directory: string
  /**
   * Whether to begin a new ledger if the ledger of a used job folder is gone. This submits all items again. Default
   * false: fails with `LedgerLost`.
   */
  readonly newLedger?: boolean | undefined
  /** The items: `Source.files`, `Source.join`, `Source.make`, or a custom source. */
  readonly source: Source
  /** Time after which a run stops waiting for results. Without it, a run waits as long as necessary. */
  readonly timeout?: Duration.Input | undefined
  /**
   * Time for in-flight requests to finish after the timeout; the next run settles the others. Default: the service's
   * `requestTimeout` plus 5 seconds.
   */
  readonly grace?: Duration.Input | undefined
  /** Whether to poll each outstanding task once instead of waiting, and to write the dataset of the results so far. */
  readonly once?: boolean | undefined
  /**
   * Where to receive the service's webhooks during the wait for results. Without it, results are found only by polling.
   */
  readonly webhook?: WebhookReceiver.ListenOptions | undefined
}

/** A pipeline: its settings and its annotation service. `E` and `R` are the service layer's errors and requirements. */
export interface Pipeline<E = never, R = never> extends Settings {
  readonly _tag: "Pipeline"
  /**
   * The annotation service: a service at an address (`ServiceProfile.layer`) or an embedded one
   * (`AnnotationService.layerEmbedded`).
   */
  readonly service: Layer.Layer<ServiceProfile, E, R>
  /**
   * The client for a service with another interface: `AnnotationClient.layerProtocol`. Default:
   * `AnnotationClient.layer`.
   */
  readonly client?: Layer.Layer<AnnotationClient, never, ServiceProfile | HttpClient.HttpClient> | undefined
}

type Places<E, R> = Pick<Pipeline<E, R>, "directory" | "ledger" | "job" | "newLedger" | "service" | "client">

/** Makes a pipeline value, which `run` or `prefstream run FILE` executes. */
export const make = <E, R>(settings: Omit<Pipeline<E, R>, "_tag">): Pipeline<E, R> => ({
  _tag: "Pipeline",
  ...settings,
})

/**
 * Everything that a run needs in addition to the platform: the job's ledger, and a client for the pipeline's service.
 */
export const layer = <E, R>(pipeline: Places<E, R>) => layerOver(LedgerLocation.layer, pipeline)

/** Like `layer`, but also works while workers process the job. For `submit`, which then only reads the input. */
export const layerAlongsideWorkers = <E, R>(pipeline: Places<E, R>) =>
  layerOver(LedgerLocation.layerAlongsideWorkers, pipeline)

const layerOver = <E, R, E2, R2>(
  open: (location: LedgerLocation.LedgerLocation) => Layer.Layer<Ledger | LedgerReader, E2, R2>,
  { client, service, ...where }: Places<E, R>,
) =>
  SharedBudget.client(client).pipe(
    Layer.provideMerge(Layer.unwrap(Effect.map(LostLedger.locate(where), open))),
    Layer.provideMerge(service),
    Layer.provide(Layer.effectDiscard(JobFolder.create(where.directory))),
  )

/** Runs a pipeline to its end: reads the input, submits tasks, waits for the results, and writes the dataset. */
export const run = Effect.fn("Pipeline.run")(function* (settings: Settings) {
  const [elapsed, ended] = yield* Effect.timed(
    Effect.gen(function* () {
      yield* validate(settings)
      const submittingDone = yield* Latch.make()
      let stopped = true
      const settled = yield* Latch.make()
      const once = settings.once === true
      // A run that waits for results plans further votes only after all of them are in, so that a stop does not change
      // the choice.
      const chooseFurther = once ? choose(settings) : undefined
      const submitting = readAndSubmit({ ...settings, settled, chooseFurther }).pipe(
        Effect.tap(() => Effect.sync(() => void (stopped = false))),
        Effect.ensuring(submittingDone.open),
      )
      // Tasks of earlier runs must be settled before any of them is polled.
      const collecting = Effect.andThen(settled.await, collectLoop({ submittingDone }))
      const loops = once
        ? Effect.all([submitting, collectLoop({ once })]).pipe(Effect.tap(noteWanted(choose(settings))))
        : Effect.all([submitting, collecting], { concurrency: 2 }).pipe(Effect.tap(thenFurtherVotes(settings)))
      const ended = yield* loops.pipe(stoppable(settings), listening(settings.webhook), thenWriteRejects(settings))
      const [reading] = Option.getOrElse(ended.value, () => [undefined])
      if (reading !== undefined) yield* warn(reading)
      const read = { rejects: ended.rejects, run: reading?.run, stopped }
      return !once && (stopped || (yield* RunReport.outstanding) > 0)
        ? read
        : { ...read, ...(yield* exportDataset(settings)) }
    }),
  )
  return yield* RunReport.make({ elapsed, ...ended })
})

/**
 * After all results are in: plans further votes, sends them and waits for their results, until no item needs another
 * vote.
 */
const thenFurtherVotes = Effect.fnUntraced(function* (settings: Settings) {
  const { shuffleSeed } = settings
  while ((yield* planFurtherVotes(choose(settings), { shuffleSeed })) > 0) {
    const submittingDone = yield* Latch.make()
    const sending = Effect.ensuring(sendPlanned, submittingDone.open)
    yield* Effect.all([sending, collectLoop({ submittingDone })], { concurrency: 2, discard: true })
  }
})

/** Reads the source and submits new items. Does not wait for results. */
export const submit = Effect.fn("Pipeline.submit")(function* (settings: Settings) {
  const [elapsed, { rejects, value }] = yield* Effect.timed(
    readAndSubmit({ ...settings, chooseFurther: choose(settings) }).pipe(
      stoppable(settings),
      thenWriteRejects(settings),
    ),
  )
  const reading = Option.getOrUndefined(value)
  if (reading !== undefined) yield* warn(reading)
  return yield* RunReport.make({
    elapsed,
    rejects,
    run: reading?.run,
    stopped: Option.isNone(value),
    sharedWithWorkers: (yield* Ledger).isShared,
  })
})

/** Waits for the results of submitted tasks, or with `once` polls each outstanding task once. */
export const collect = Effect.fn("Pipeline.collect")(function* (
  options: Pick<Settings, "timeout" | "grace" | "webhook" | "annotationPaths"> &
    Pick<CollectOptions, "once" | "recheckCompleted">,
) {
  const [elapsed] = yield* Effect.timed(
    collectLoop({ once: options.once, recheckCompleted: options.recheckCompleted }).pipe(
      Effect.tap(noteWanted(choose(options))),
      stoppable(options),
      listening(options.webhook),
    ),
  )
  return yield* RunReport.make({ elapsed })
})

/**
 * Ends the effect after its timeout without a failure; the ledger shows what is left to do. It also sets the stop
 * options that a supervisor, such as the command line, reads.
 */
const stoppable =
  ({ grace, timeout }: Pick<Settings, "timeout" | "grace">) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<Option.Option<A>, E, R | Ledger | ServiceProfile> =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const options: Stop.StopOptions = {
        ...(yield* Stop.CurrentOptions),
        grace: yield* Stop.graceOf(grace),
        inFlight: ledger.counts.pipe(
          Effect.map(({ submitting: { tasks } }) =>
            tasks === 0 ? Option.none() : Option.some(tasks === 1 ? "1 request" : `${tasks} requests`),
          ),
          Effect.orElseSucceed(() => Option.none()),
        ),
      }
      const supervised = Stop.withOptions(options)(effect)
      if (timeout === undefined) return yield* Effect.asSome(supervised)
      const stop = Effect.as(Effect.sleep(timeout), "timeout")
      const { exit, reason } = yield* Stop.until(supervised, { stop, options, announce: Effect.logInfo })
      if (exit === undefined) return Option.none()
      // The effect may have ended by itself, successfully or not, just when the timeout came.
      if (Option.isSome(reason) && Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)) return Option.none()
      return Option.some(yield* exit)
    })

const listening =
  (webhook: WebhookReceiver.ListenOptions | undefined) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provide(effect, webhook === undefined ? Layer.empty : WebhookReceiver.layer(webhook))

const thenWriteRejects =
  ({ directory }: Pick<Settings, "directory">) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.onError(() => Effect.ignore(RejectsFile.write(directory))),
      Effect.flatMap((value) => Effect.map(RejectsFile.write(directory), (rejects) => ({ value, rejects }))),
    )
