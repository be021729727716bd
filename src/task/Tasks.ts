/**
 * Turns prompt items into judgments. `submit` sends the items as tasks, and `collect` waits for the results.
 * `judgments` and `judgedItems` are streams of the judgments. All need a `Ledger` (`Pipeline.layer` or `Job.layer`).
 * `submit` and `collect` also need a `ServiceProfile` and an `AnnotationClient`, which `Pipeline.layer` provides.
 */
export { AnnotationClient } from "./client/AnnotationClient.ts"
export type { Ledger, LedgerReader } from "./ledger/LedgerIds.ts"
export type { Call, CreateCall, Http, PollAnswer, PollCall, Protocol } from "./client/Protocol.ts"
export type { CompletionReference, PromptResult, PromptVote, RankingReferences } from "./client/PromptResult.ts"
export type { Authorize } from "./client/Transport.ts"
export type { AnnotationPaths } from "../api/AnnotationPaths.ts"
export { AnnotationApi } from "../api/AnnotationApi.ts"
export type { ResultPaths } from "../api/ContractSettings.ts"
export {
  type ItemLimits,
  ServiceProfile,
  type ServiceSettings,
  ServiceSettingsError,
  type WebhookProfile,
} from "../api/ServiceProfile.ts"
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
export type { Amount } from "../domain/Cost.ts"
export type { Price } from "../domain/Prices.ts"
export { collect, type Collected, type CollectOptions } from "./Collect.ts"
export { type ImportCounts, type ImportOptions, importVotes } from "./ImportVotes.ts"
export { ExpertKeyMissing, ExpertNames } from "./ExpertNames.ts"
export type { Campaign, CampaignTerms, ReadCounts, StateCounts } from "./ledger/schema/Model.ts"
export type { Replannable } from "./ledger/writes/Resolve.ts"
export type { BatchLimits } from "./plan/Batch.ts"
export { NoSuchCampaign, OtherService, TermsChanged } from "./ledger/schema/WrongLedger.ts"
export { type GoldOptions, UnusableGold } from "./plan/GoldItems.ts"
export { type RejectLimit, TooManyRejects } from "./plan/RejectLimit.ts"
export { DatabaseForeign, DatabaseInUse, DatabaseOccupied, DatabaseTooNew } from "../sql/Migrations.ts"
export { items as judgedItems, type JudgmentsError, ofCampaign as judgments } from "./Results.ts"
export { MembersUnknown } from "./client/PublishedLimits.ts"
export {
  PriceMissing,
  submit,
  SubmitOptionInvalid,
  type SubmitOptions,
  type Submitted,
  VotersNotTaken,
} from "./Submit.ts"
export * as WebhookReceiver from "./webhook/WebhookReceiver.ts"
