/**
 * prefstream: prompts and completions in, preference pairs out. The public modules,
 * in the order of the flow.
 */
export * as Source from "./source/Source.ts"
export { PromptItem } from "./domain/PromptItem.ts"
export type { Gold, Metadata, Origin, SourceItem } from "./domain/PromptItem.ts"
export { Reject } from "./domain/Reject.ts"

export { AnnotationApi } from "./api/AnnotationApi.ts"
export { ServiceProfile, type ServiceSettings } from "./api/ServiceProfile.ts"
export { TaskRequest, TaskResult } from "./domain/Task.ts"
export { AnnotationClient } from "./task/AnnotationClient.ts"
export { AnnotationClientError } from "./task/AnnotationClientError.ts"
export { Ledger } from "./task/Ledger.ts"
export * as LedgerLocation from "./task/LedgerLocation.ts"
export * as LedgerCare from "./task/LedgerCare.ts"
export type { CheckReport, Finding } from "./task/LedgerCheck.ts"
export { NoSuchCampaign, TermsChanged, type Campaign, type CampaignTerms } from "./task/LedgerModel.ts"
export { NoSuchTask, NotResolvable, TaskIdTaken } from "./task/LedgerResolve.ts"
export { submit, type SubmitOptions } from "./task/Submit.ts"
export { collect, type CollectOptions } from "./task/Collect.ts"
export * as WebhookReceiver from "./task/WebhookReceiver.ts"
export { SignatureRefused, type ReceivedDelivery, type VerifiedDelivery } from "./api/WebhookSignature.ts"

export * as Judgments from "./task/Judgments.ts"
export type { Judgment } from "./domain/Judgment.ts"
export { bestAgainstRest } from "./pair/BestAgainstRest.ts"
export { bestAgainstOne } from "./pair/BestAgainstOne.ts"
export { fullRanking } from "./pair/FullRanking.ts"
export type { PairStrategy } from "./pair/Pairs.ts"
export { PreferencePair } from "./domain/PreferencePair.ts"
export * as Dataset from "./dataset/Dataset.ts"

export * as Pipeline from "./pipeline/Pipeline.ts"
export * as CronJob from "./pipeline/CronJob.ts"
export type { RunReport, RunStatus } from "./pipeline/RunReport.ts"
export * as JobStatus from "./pipeline/JobStatus.ts"

export * as AnnotationService from "./service/AnnotationService.ts"
export * as Expert from "./service/expert/ScriptedExperts.ts"
