/** The steps that `run`, `submit`, and `collect` share. */
import { Cause, Console, Context, type Duration, Effect, Layer, Option, Schedule, Schema, type Stdio } from "effect"
import type { Command } from "effect/cli"
import type { HttpServerError } from "effect/http"
import { ServiceProfile } from "../../api/ServiceProfile.ts"
import { ThresholdsExceeded } from "../../pipeline/Export.ts"
import * as Preview from "../../pipeline/Preview.ts"
import * as Pipeline from "../../pipeline/Pipeline.ts"
import { checkOwner } from "../../pipeline/Reexport.ts"
import * as RunReport from "../../pipeline/RunReport.ts"
import * as Stop from "../../pipeline/Stop.ts"
import type { Source } from "../../source/Source.ts"
import { Ledger, LedgerReader } from "../../task/ledger/Ledger.ts"
import * as LedgerLocation from "../../task/ledger/LedgerLocation.ts"
import { AnnotationClientError } from "../../task/client/AnnotationClientError.ts"
import { printDetected } from "../flags/InputFlags.ts"
import { jobFlags } from "../flags/JobFlags.ts"
import { monitor, monitored } from "../flags/MonitorFlag.ts"
import { ledgerFlags, type Place, placeOf } from "../flags/LedgerFlags.ts"
import { endOfDryRun, type Loaded, loadPipeline, reported } from "../flags/PipelineFile.ts"
import { check } from "../flags/FlagCombinations.ts"
import { addressOf, fromEnvironment, serviceFlags, serviceOf, serviceRequired } from "../flags/ServiceFlags.ts"
import * as Settings from "../settings/Settings.ts"
import * as ExitStatus from "../output/ExitStatus.ts"
import { isBusy, messageOf } from "../output/Failure.ts"
import { inRejects } from "../output/Flags.ts"
import * as Progress from "../output/Progress.ts"
import * as Quiet from "../output/Quiet.ts"
import * as Summary from "../output/Summary.ts"
import * as DryRunSummary from "../output/DryRunSummary.ts"
import { printable, say } from "../output/Text.ts"

export const commonFlags = { ...serviceFlags, ...jobFlags, ...ledgerFlags, monitor }

type Flags = Command.Command.Config.Infer<typeof commonFlags>

interface Job<F extends Flags = Flags> {
  readonly flags: F
  readonly pipeline: Loaded | undefined
  readonly place: Place
}

export const prepare = Effect.fnUntraced(function* <F extends Flags>(
  commandFlags: F,
  pipelineFile: string | undefined,
) {
  const pipeline = pipelineFile === undefined ? undefined : yield* loadPipeline(pipelineFile)
  const flags = pipeline === undefined ? yield* fromEnvironment(commandFlags) : commandFlags
  yield* check(flags, pipeline)
  yield* addressOf(flags)
  yield* Settings.announceFromLastRun
  return { flags, pipeline, place: yield* placeOf(flags, pipeline) } satisfies Job
})

export const timeLimitsOf = ({ flags, pipeline }: Job) => ({
  timeout: flags.timeout ?? pipeline?.timeout,
  grace: flags.grace ?? pipeline?.grace,
})

export const checkedService = Effect.fnUntraced(function* (
  { flags }: Job,
  pipelineService: Loaded["service"] | undefined,
) {
  const service = serviceOf(
    flags,
    pipelineService === undefined ? serviceRequired : reported(pipelineService, ServiceProfile),
  )
  if (pipelineService === undefined || flags.baseUrl !== undefined) yield* Effect.scoped(Layer.build(service))
  yield* endOfDryRun()
  return service
})

export const announceInput = Effect.fnUntraced(function* (source: Source, { directory }: Place) {
  yield* Console.error(`Reading ${source.description}; the job folder is ${directory}/`)
  yield* printDetected(source)
})

export const preview = Effect.fnUntraced(function* (
  { flags, place }: Job,
  settings: Parameters<typeof Preview.preview>[0],
) {
  yield* Console.error(`Reading ${settings.source.description}; nothing is sent or recorded`)
  yield* printDetected(settings.source)
  const preview = yield* Layer.build(LedgerLocation.layerReadonly(place.location)).pipe(
    Effect.map((context) => Option.some(Context.get(context, LedgerReader))),
    Effect.catchTag("LedgerMissing", () => Effect.succeedNone),
    Effect.flatMap((ledger) => Preview.preview(settings, ledger)),
    Effect.scoped,
  )
  yield* Console.log(flags.json ? JSON.stringify(inRejects(preview)) : printable(DryRunSummary.text(preview)))
})

export const savingSettings = Effect.fnUntraced(function* <E, R>(
  work: Effect.Effect<RunReport.RunReport, E, R>,
  { directory }: Place,
) {
  yield* checkOwner(directory)
  // If workers share the ledger, the settings are not saved, because other processes may also write to the folder.
  if (!(yield* Ledger).isShared) yield* Settings.save(directory)
  return yield* work
})

export const runAndReport = <E, R, E2, R2>(
  { flags, pipeline, place }: Job,
  service: Layer.Layer<ServiceProfile, E2, R2>,
  work: Effect.Effect<RunReport.RunReport, E, R>,
  {
    finish = Summary.finish,
    judgeCache,
    later,
    layer = Pipeline.layer,
    newLedger,
  }: {
    readonly finish?: typeof Summary.finish
    readonly judgeCache?: string | undefined
    readonly later?: string
    readonly layer?: typeof Pipeline.layer
    readonly newLedger?: boolean | undefined
  } = {},
) =>
  Progress.during(work).pipe(
    reportExpectedFailures,
    Effect.provide(
      Layer.unwrap(
        Effect.map(Settings.mayBeNew(newLedger, place.directory), (newLedger) =>
          layer({ directory: place.directory, ledger: place.location, newLedger, service, client: pipeline?.client }),
        ),
      ),
    ),
    Effect.flatMap((report) => finish(report, { ...place, json: flags.json, judgeCache, later })),
    waitForOthers(flags.lockWait),
  )

const isFinished = Schema.is(ExitStatus.Finished)
const isClientError = Schema.is(AnnotationClientError)
const isThresholdsExceeded = Schema.is(ThresholdsExceeded)

export const reportExpectedFailures = <E, R>(effect: Effect.Effect<RunReport.RunReport, E, R>) =>
  effect.pipe(
    Effect.catch(
      Effect.fnUntraced(function* (failure: E) {
        if (!isThresholdsExceeded(failure) && !isClientError(failure)) return yield* Effect.fail(failure)
        const report = yield* RunReport.make({})
        if (isClientError(failure) && report.status !== "in_doubt") return yield* Effect.fail(failure)
        yield* say(messageOf(failure))
        return isThresholdsExceeded(failure) ? { ...report, status: "thresholds_exceeded" as const } : report
      }),
    ),
  )

const waitForOthers =
  (lockWait: Duration.Duration | undefined) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    if (lockWait === undefined) return effect
    let wasReported = false
    return effect.pipe(
      Effect.tapError((failure) => {
        if (wasReported || !isBusy(failure)) return Effect.void
        wasReported = true
        return Console.error(`Waiting: ${messageOf(failure)}`)
      }),
      Effect.retry({
        while: isBusy,
        schedule: Schedule.spaced("250 millis").pipe(Schedule.upTo({ duration: lockWait })),
      }),
    )
  }

const isWaiting = (failure: unknown): boolean => isFinished(failure) && failure.status === ExitStatus.waiting

const isNews = (cause: Cause.Cause<unknown>): boolean => !isWaiting(Cause.squash(cause))

export const withJobFlags = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  flags: Pick<Flags, "grace" | "quiet" | "waitingOk" | "json" | "monitor"> & { readonly dryRun?: boolean | undefined },
): Effect.Effect<void, E | HttpServerError.ServeError, R | Stdio.Stdio> =>
  Effect.asVoid(
    flags.quiet ? Quiet.holdBackUnless(effect, isNews, { stdout: !flags.json && flags.dryRun !== true }) : effect,
  ).pipe(
    Effect.catch((failure) => (flags.waitingOk && isWaiting(failure) ? Effect.void : Effect.fail(failure))),
    monitored(flags.monitor),
    Stop.withOptions({ grace: flags.grace ?? Stop.defaultGrace }),
  )
