/**
 * Turns prompt items into judgments: `submit` reads a stream of items into tasks, `collect` waits for their results,
 * `judgments` and `judgedItems` are streams of the ledger's results.
 *
 * Needs a `Ledger` (`LedgerLocation.layer`). Submitting and collecting also need an `AnnotationClient` of the service
 * that a `ServiceProfile` describes.
 */
import type { Effect } from "effect"
import { AnnotationClient as Client } from "./client/AnnotationClient.ts"
import { Ledger as JobLedger, LedgerReader as JobLedgerReader } from "./ledger/Ledger.ts"

/**
 * A client of the service. `layer` speaks the contract's protocol, `layerProtocol` a custom one. Both claim each task
 * in the ledger before it is sent, and keep the limits of the `ServiceProfile`.
 */
export const AnnotationClient = { layer: Client.layer, layerProtocol: Client.layerProtocol }
export type AnnotationClient = Client
export type { AnnotationClient as AnnotationClientService } from "./client/AnnotationClient.ts"

/** The members that `LedgerReader.use` offers: status, tasks with their requests, rejects, and results of a job. */
export type LedgerReads = Pick<
  (typeof JobLedgerReader)["Service"],
  | ("campaigns" | "counts" | "progress" | "runOf" | "lastRun" | "issues" | "spending")
  | ("tasksOf" | "attempts" | "storedRequest" | "storedResult")
  | ("rejects" | "dropped" | "completed" | "completedOf" | "snapshot")
>

/**
 * The members that `Ledger.use` offers: those for reading, and decisions about tasks that wait for a person. Only
 * `submit` and `collect` can write anything else.
 */
export type LedgerDecisions = LedgerReads & Pick<(typeof JobLedger)["Service"], "adopt" | "sendAgain" | "giveUp">

/** The durable record of a job, for the process that runs the job. */
export const Ledger = {
  layer: JobLedger.layer,
  layerFile: JobLedger.layerFile,
  layerPostgres: JobLedger.layerPostgres,
  use: <A, E, R>(use: (ledger: LedgerDecisions) => Effect.Effect<A, E, R>) => JobLedger.use(use),
}
export type Ledger = JobLedger
export type {
  Ledger as LedgerService,
  LedgerOptions,
  LedgerPostgresOptions,
  LedgerReader as LedgerReaderService,
  LedgerSharingOptions,
  LedgerSharer,
} from "./ledger/Ledger.ts"

/** The record of a job for reading, even while another process runs the job. */
export const LedgerReader = {
  layer: JobLedgerReader.layer,
  layerFile: JobLedgerReader.layerFile,
  snapshot: JobLedgerReader.snapshot,
  use: <A, E, R>(use: (ledger: LedgerReads) => Effect.Effect<A, E, R>) => JobLedgerReader.use(use),
}
export type LedgerReader = JobLedgerReader

export type { Call, CreateCall, Http, PollAnswer, PollCall, Protocol } from "./client/Protocol.ts"
export type { CompletionReference, PromptResult, RankingReferences } from "./client/PromptResult.ts"
export type { Authorize } from "./client/Transport.ts"
export type { AnnotationPaths } from "../api/AnnotationPaths.ts"
export { AnnotationApi } from "../api/AnnotationApi.ts"
export { ServiceProfile, type ServiceSettings, ServiceSettingsError } from "../api/ServiceProfile.ts"
export { MalformedSecret } from "../api/WebhookSecret.ts"
export {
  InvalidWebhookSetting,
  type ReceivedDelivery,
  SignatureRefused,
  type VerifiedDelivery,
} from "../api/WebhookSignature.ts"
export {
  AccessDenied,
  AnnotationClientError,
  Down,
  NoSuchService,
  Refused,
  ServiceBlocked,
  TasksRefused,
  TaskUnknown,
  TooLarge,
  Unavailable,
  UnusableAnswer,
} from "./client/AnnotationClientError.ts"
export { collect, type Collected, type CollectOptions } from "./Collect.ts"
export { type ImportCounts, type ImportOptions, importVotes } from "./ImportVotes.ts"
export { ExpertKeyMissing, ExpertNames } from "./ExpertNames.ts"
export type { ChooseItems, ItemChoice } from "./FurtherVotes.ts"
export type { CheckReport, IntegrityIssue, LedgerCheckOptions } from "./ledger/care/LedgerCheck.ts"
export * as LedgerLocation from "./ledger/LedgerLocation.ts"
export * as LedgerMaintenance from "./ledger/care/LedgerMaintenance.ts"
export type { Campaign, CampaignTerms, ReadCounts, StateCounts } from "./ledger/schema/Model.ts"
export { NoSuchCampaign, OtherService, TermsChanged } from "./ledger/schema/WrongLedger.ts"
export { PartsDiffer } from "./ledger/schema/Jobs.ts"
export { NoSuchTask, NotResolvable, TaskIdTaken } from "./ledger/schema/NotResolved.ts"
export { type GoldOptions, UnusableGold } from "./plan/GoldItems.ts"
export { type RejectLimit, TooManyRejects } from "./plan/RejectLimit.ts"
export { FileLockError } from "../node/FileLock.ts"
export { DatabaseForeign, DatabaseInUse, DatabaseOccupied, DatabaseTooNew } from "../sql/Migrations.ts"
export { items as judgedItems, type JudgmentsError, ofCampaign as judgments } from "./Results.ts"
export { PriceMissing, submit, SubmitOptionInvalid, type SubmitOptions, type Submitted } from "./Submit.ts"
export * as WebhookReceiver from "./webhook/WebhookReceiver.ts"
