/**
 * A pipeline as a value, and functions that execute it: `run`, or its steps `submit`, `collect`, and `exportDataset`,
 * even in different processes. Each function checks the settings, and then opens the job's ledger.
 */
import { Effect, type FileSystem, Layer, type Path } from "effect"
import type { HttpClient } from "effect/http"
import type { ServiceProfile } from "../api/ServiceProfile.ts"
import type { Source } from "../source/Source.ts"
import * as PublishedLimits from "../task/client/PublishedLimits.ts"
import type { Ledger, LedgerReader } from "../task/ledger/Ledger.ts"
import * as LedgerLocation from "../task/ledger/LedgerLocation.ts"
import * as SharedBudget from "../task/SharedBudget.ts"
import * as Flow from "./Flow.ts"
import * as JobFolder from "./JobFolder.ts"
import * as LostLedger from "./LostLedger.ts"
import * as Reexport from "./Reexport.ts"
import * as Settings from "./Settings.ts"

export type { DatasetSettings, ResultsSettings } from "./DatasetSettings.ts"
export { SettingInvalid } from "../io/SettingInvalid.ts"
export { type Exported, ThresholdsExceeded } from "./Export.ts"
export {
  datasetLeaderboards,
  GroupsInvalid,
  leaderboard,
  type LeaderboardGroup,
  leaderboards,
  type LeaderboardSettings,
} from "./Leaderboard.ts"
export { diff } from "./Diff.ts"
export { type Rebuilt, type RebuildOptions, verifyFromVotes } from "./Rebuild.ts"
export { audit, type AuditSettings } from "./Audit.ts"
export { evaluate, type EvaluateOptions } from "./Evaluate.ts"
export type { ScoreEndpoint } from "./evaluation/ScoreEndpoint.ts"
export { ScoresInvalid } from "./evaluation/ScoreFile.ts"
export type { Evaluation } from "../domain/Evaluation.ts"
export { NoDataset } from "./DatasetVotes.ts"
export type { RejectCount } from "./RejectCounts.ts"
export type { EarlierCounts, IssueReport, RunReport, RunStatus } from "./RunReport.ts"
export type { KindCost, SpendingReport, VotesCost } from "../domain/SpendingReport.ts"
export * as CronJob from "./CronJob.ts"
export * as Inspection from "./Inspection.ts"
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
export type { CollectSettings } from "./Flow.ts"
export type { ExportOptions } from "./Reexport.ts"
export type { Pipeline, ServiceOf, Settings } from "./Settings.ts"
export type { Shares, SplitsInvalid } from "../pair/text/Splits.ts"
export type { CannotListen, ListenOptions } from "../task/webhook/WebhookReceiver.ts"

/** The platform services that every pipeline needs: `NodeServices.layer` and a layer of `effect/http`. */
export type Platform = FileSystem.FileSystem | Path.Path | HttpClient.HttpClient

type Places<E1, R1, E2, R2> = Pick<Settings.Settings, "directory" | "ledger" | "job" | "newLedger"> &
  Settings.ServiceOf<E1, R1, E2, R2>

/** Makes a pipeline for `run` or `prefstream run FILE`. Its type includes the errors and requirements of its parts. */
export const make = <E, R, E1 = never, R1 = never, E2 = never, R2 = never>(
  settings: Omit<Settings.Settings, "source"> & { readonly source: Source<E, R> } & Settings.ServiceOf<E1, R1, E2, R2>,
): Settings.Pipeline<E | E1 | E2, R | R1 | Exclude<R2, ServiceProfile | HttpClient.HttpClient>> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type check cannot add what Exclude removed
  ({ ...settings, _tag: "Pipeline" }) as Settings.Pipeline<
    E | E1 | E2,
    R | R1 | Exclude<R2, ServiceProfile | HttpClient.HttpClient>
  >

/** The job's ledger, and a client for the pipeline's service, for programs that call `Tasks`. */
export const layer = <E1, R1, E2 = never, R2 = never>(pipeline: Places<E1, R1, E2, R2>) =>
  layerOver(LedgerLocation.layer, pipeline)

/** Like `layer`, for a job that workers also process. `submit` then only reads, and the workers send the tasks. */
export const layerAlongsideWorkers = <E1, R1, E2 = never, R2 = never>(pipeline: Places<E1, R1, E2, R2>) =>
  layerOver(LedgerLocation.layerAlongsideWorkers, pipeline)

const layerOver = <E1, R1, E2, R2, E3, R3>(
  open: (location: LedgerLocation.LedgerLocation) => Layer.Layer<Ledger | LedgerReader, E3, R3>,
  pipeline: Places<E1, R1, E2, R2>,
) =>
  Layer.unwrap(
    Effect.map(LostLedger.checkPlace(pipeline), () => {
      const { client, service, ...where } = pipeline
      return SharedBudget.client(client).pipe(
        Layer.provideMerge(Layer.unwrap(Effect.map(LostLedger.locate(where), open))),
        Layer.provideMerge(PublishedLimits.layer(service, client !== undefined)),
        Layer.provide(Layer.effectDiscard(JobFolder.create(where.directory))),
      )
    }),
  )

/** Runs a pipeline until its dataset is written. It can be stopped at any point and started again. */
export const run = <E, R>(pipeline: Settings.Pipeline<E, R>) =>
  Settings.checked<R | Platform>()(pipeline, () => Effect.provide(Flow.run(pipeline), layer(pipeline)))

/** Reads the source and submits new items. If the job has workers, they send the tasks. Does not wait for results. */
export const submit = <E, R>(pipeline: Settings.Pipeline<E, R>) =>
  Settings.checked<R | Exclude<Platform, Path.Path>>()(pipeline, () =>
    Effect.provide(Flow.submit(pipeline), layerAlongsideWorkers(pipeline)),
  )

/** Waits for the results of submitted tasks. If `once` is set, polls each outstanding task once instead. */
export const collect = <E, R>(
  pipeline: Settings.Pipeline<E, R>,
  options: Pick<Flow.CollectSettings, "recheckCompleted"> = {},
) =>
  Settings.checked<R | Exclude<Platform, Path.Path>>()(pipeline, () =>
    Effect.provide(Flow.collect({ ...pipeline, ...options }), layer(pipeline)),
  )

/**
 * Writes the dataset from all results so far, unless there are none, or the dataset is up to date. Needs neither source
 * nor service. Another process can run the job meanwhile. Fails with `ThresholdsExceeded` if a value exceeds its
 * threshold. Fails with `LedgerMissing` if the job has no ledger.
 */
export const exportDataset = <E, R>(pipeline: Settings.Pipeline<E, R>, options: Reexport.ExportOptions = {}) =>
  Settings.checked<FileSystem.FileSystem | Path.Path>()(pipeline, () =>
    Effect.provide(
      Reexport.exportDataset({ ...pipeline, ...options }),
      Layer.unwrap(Effect.map(LostLedger.locate(pipeline), LedgerLocation.layerReadonly)),
    ),
  )
