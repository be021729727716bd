/**
 * prefstream turns prompts with completions into preference pairs. This module exports one namespace per step of the
 * work, and the types that the steps share. Each namespace also has a subpath, such as `prefstream/source`, which loads
 * only the code of its step. Three subpaths are not part of this module: `prefstream/promises` (without Effect),
 * `prefstream/worker` (Effect Cluster), and `prefstream/testing`.
 */
export * as Source from "./source/Source.ts"
export * as Tasks from "./task/Tasks.ts"
export * as Webhooks from "./task/webhook/Webhooks.ts"
export * as Pairs from "./pair/Pairs.ts"
export * as Dataset from "./dataset/Dataset.ts"
export * as TrainerFormats from "./dataset/format/TrainerFormats.ts"
export * as Pipeline from "./pipeline/Pipeline.ts"
export * as Job from "./pipeline/Job.ts"
export * as AnnotationService from "./service/AnnotationService.ts"

export { PromptItem } from "./domain/PromptItem.ts"
export type { Gold, Metadata, SourceItem } from "./domain/PromptItem.ts"
export { Origin } from "./domain/Origin.ts"
export { Reject } from "./domain/Reject.ts"
export { Message, Prompt, type ToolCall } from "./domain/Message.ts"
export * as Conversation from "./domain/Conversation.ts"
export { TaskRequest, TaskResult } from "./domain/Task.ts"
export type { Judgment } from "./domain/Judgment.ts"
export type { JudgedItem } from "./domain/Judgment.ts"
export { type PreferencePair, PreferencePairSchema } from "./domain/PreferencePair.ts"
export type { QualityReport } from "./domain/QualityReport.ts"
