/** The ledger's data model: the states and the data of tasks. */
import { type Array as Arr, type Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { ItemBytes } from "../../../domain/ItemBytes.ts"
import { Origin } from "../../../domain/Origin.ts"
import { Gold, Metadata, type SourceItem } from "../../../domain/PromptItem.ts"
import type { Reject } from "../../../domain/Reject.ts"
import type { TaskPrompt } from "../../../domain/Task.ts"
import type { PeopleWhen, Voters } from "../../../domain/Voters.ts"
import type { BodyCache } from "./BodyCache.ts"
import type { Job } from "./Jobs.ts"
import type { Write } from "../../../sql/GroupCommit.ts"

/**
 * ```
 * planned → submitting → submitted → completed
 *  │ ↑          │            ├─────→ invalid   the result does not fit the task; the next run polls it again
 *  │ └──────────┤            └─────→ failed    the service ended the task without a result
 *  │            ├→ refused                     the service refused the task and did not create it
 *  │            └→ in_doubt                    the service may have created it; a person has to resolve it
 *  └→ superseded                               another campaign began before it was sent, or it exceeds the budget;
 *                                              a run of its campaign plans it again, if the budget allows it
 * ```
 *
 * `task/Send` decides the next state after a request, even without a response. `Submit` and `Collect` decide after a
 * crash, and `pipeline/Worker` for a lost worker. The ledger records the decision. A person may give up any task
 * (`given_up`) that is neither completed nor being sent. A person may resend a task that is in doubt, failed, invalid,
 * refused, or given up.
 */
export const TaskState = Schema.Literals([
  "planned",
  "submitting",
  "submitted",
  "completed",
  "invalid",
  "failed",
  "refused",
  "in_doubt",
  "superseded",
  "given_up",
])
export type TaskState = typeof TaskState.Type

/** States without a result, in which a task stays unless a person resends it or a run resubmits it. */
export const lostStates: ReadonlyArray<TaskState> = ["refused", "given_up"]

/** The terms under which experts judge. Under the same terms, an item is judged once. */
export interface CampaignTerms {
  /** Free-text instructions for the experts. */
  readonly guidelines?: string | undefined
  /** The contract's `task_type`. Default: `rlhf_ranking`, the only type that the contract names. */
  readonly taskType?: string | undefined
}

/** All runs under the same terms. An item is judged once in each campaign. */
export interface Campaign {
  /** Number of the campaign, from 1. */
  readonly campaign: number
  /** The contract's `task_type`, such as `rlhf_ranking`. */
  readonly taskType: string
  /** Undefined if the campaign has no guidelines. */
  readonly guidelines: string | undefined
  /** Equal terms have the same fingerprint. */
  readonly fingerprint: string
  /** Start of the campaign, in epoch milliseconds. */
  readonly startedAt: number
}

export const defaultShuffleSeed = 0

export interface RunTerms extends CampaignTerms {
  /**
   * Number of votes that are planned for each new item, each by another expert. If the service declares `votes`, one
   * task asks for all of them. If it does not, each vote has its own task. If this option is not set, tasks do not ask
   * for a number of votes and count as one vote, even if the service's default is higher.
   */
  readonly votes?: number | undefined
  /** Maximum number of votes for each new item. Votes above `votes` are planned as results arrive. Default: `votes`. */
  readonly votesUpTo?: number | undefined
  /**
   * Threshold for further votes: the probability that an item's leading completion is the best, given its votes and the
   * experts' reliabilities. An item at or above the threshold gets no further votes. Other items get up to `votesUpTo`
   * votes. Default 0.95. The job keeps the threshold until a run sets `votes`.
   */
  readonly confidence?: number | undefined
  /**
   * Rule that sends items from judges (language models) to people. The first `votes` votes on each new item are by
   * judges. If the judges are less certain than the rule requires, a person votes on the item. While the item's
   * confidence is below `confidence`, more people vote, up to `votesUpTo` votes in total. Needs a service that accepts
   * `voters` in a task. The job keeps the rule until a run sets `votes`.
   */
  readonly peopleWhen?: PeopleWhen | undefined
  /**
   * Name of the service's group for the campaign's tasks. Default: the job's name and the campaign's number, if the
   * service declares groups. A campaign keeps its group.
   */
  readonly group?: string | undefined
  /** Seed for shuffling completions. False sends them in the order of the input. */
  readonly shuffleSeed?: number | false | undefined
}

export interface Run {
  readonly run: number
  readonly campaign: number
  /** The group of the campaign's tasks. Undefined if they have none. */
  readonly group?: string | undefined
}

export interface BatchItem extends SourceItem {
  /** The id from the input. Default: the hash of the content. */
  readonly itemId: string
  readonly contentHash: string
  readonly prompt: string
  /** The item as an element of the task's `prompts`: JSON in UTF-8. */
  readonly bytes: ItemBytes
  /** Hash of the content to send, if only some of the completions are sent. */
  readonly sentHash?: string | undefined
  /** Whether the item is a gold item that was mixed in, not an item of the input. */
  readonly isCheck?: boolean | undefined
  /** Gold items, in order of preference. One of them is sent with this item. */
  readonly gold?: Iterable<BatchItem> | undefined
}

/** The details of an item. Its prompt and completions are in the request. */
export const ItemDetails = Schema.Struct({
  item_id: Schema.String,
  origin: Origin,
  metadata: Schema.optionalKey(Metadata),
  gold: Schema.optionalKey(Gold),
  models: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The origin of each completion, if it differs from that of the item. */
  completion_origins: Schema.optionalKey(Schema.Array(Origin)),
  /** Set if the prompt was a conversation. It is sent as text, which `Conversation.parse` reads. */
  conversation: Schema.optionalKey(Schema.Literal(true)),
  /** For each completion, whether it was a list of messages. Absent if no completion was. */
  as_messages: Schema.optionalKey(Schema.Array(Schema.Boolean)),
  /** The definitions of tools, as JSON text. */
  tools: Schema.optionalKey(Schema.String),
  /** The order in which the completions were sent, as indices in the input. Absent if it is the order of the input. */
  order: Schema.optionalKey(Schema.Array(Schema.Int)),
  /** Set if the item is a gold item that was mixed in, not an item of the input. */
  check: Schema.optionalKey(Schema.Literal(true)),
})
export type ItemDetails = typeof ItemDetails.Type

export interface NewTask {
  readonly idempotencyKey: string
  /** The body of `POST /tasks`, as UTF-8. */
  readonly body: Uint8Array
  readonly items: Arr.NonEmptyReadonlyArray<BatchItem>
  /** The order of each item's completions in the body. Undefined if it is the order of the input. */
  readonly orders?: ReadonlyArray<ReadonlyArray<number> | undefined> | undefined
  /** Number of the vote in its batch, from 1. The tasks of a batch are adjacent. Default 1. */
  readonly vote?: number | undefined
  /** Maximum number of votes of the batch. Default 1. */
  readonly votes?: number | undefined
  /** Number of votes that are planned at first. Further votes, up to `votes`, may follow. Default: `votes`. */
  readonly leastVotes?: number | undefined
  /** Number of votes on each item that this task asks for, beginning with `vote`. Default 1. */
  readonly asks?: number | undefined
  /** The only experts who may vote. Default: anyone. */
  readonly voters?: Voters | undefined
}

/**
 * Votes that experts gave elsewhere. The ledger stores `result` like a response of the service.
 */
export interface ImportedResult {
  readonly taskId: string
  readonly result: string
}

export interface PlannedTask {
  readonly seq: number
  readonly part: number
  readonly itemCount: number
  /** The number of the vote in its batch, from 1. */
  readonly vote: number
  readonly idempotencyKey: string
  /** Time of the first request of this attempt that may have created the task, in epoch milliseconds. */
  readonly sentAt: number | undefined
  /** Whether the task was in doubt before. */
  readonly wasDoubted: boolean
}

export interface OpenTask {
  readonly seq: number
  readonly taskId: string
  readonly idempotencyKey: string
  /** Whether the task is failed, invalid, or completed, and is polled only once more. */
  readonly isRecheck: boolean
  /** Whether the task is completed. If so, a poll checks whether the service has changed the result. */
  readonly hasResult: boolean
  /** Time of submission, in epoch milliseconds. */
  readonly submittedAt: number
  /** Time of the next poll, in epoch milliseconds. 0 if a webhook or a command asked for a poll. */
  readonly dueAt: number
  /** The only experts whom the task asks for votes. Null: any. */
  readonly voters: Voters | null
}

/** A webhook delivery whose signature was verified. */
export interface Delivery {
  /** Id of the delivery. All attempts of the service to send it have the same id. */
  readonly id: string
  /** Time of this attempt by the service's clock, in epoch milliseconds; 0 if unknown. */
  readonly sentAt: number
  /** The tasks that the delivery names. None if it may concern any task. */
  readonly taskIds: Option.Option<ReadonlyArray<string>>
}

/** A delivery is `due` if it makes tasks of this ledger due, and `unknown` if all of its task ids are unknown. */
export type DeliveryOutcome = "due" | "unknown" | "repeated"

/** A task's request. In `prompts`, completions have the order of the input. `items[i]` belongs to `prompts[i]`. */
export interface StoredRequest {
  readonly body: Uint8Array
  readonly prompts: ReadonlyArray<TaskPrompt>
  readonly items: ReadonlyArray<ItemDetails>
}

export interface CompletedTask extends Omit<StoredRequest, "body">, BatchPlace {
  readonly seq: number
  readonly taskId: string
  /** The body of the response to `GET /tasks/{task_id}`, in the format of `Payload`. */
  readonly result: Uint8Array
  readonly completedAt: number | null
}

/**
 * A task's position in its batch. A batch is a list of items that are sent together. For each vote, the list is sent
 * again: in one task, or in several if a task was split. A task may ask for several votes at once.
 */
export interface BatchPlace {
  /** The `seq` of the batch's first task. */
  readonly batch: number
  /** Number of items in the batch. */
  readonly batchItems: number
  readonly vote: number
  /** The maximum number of votes on each item of the batch. */
  readonly votes: number
  /** Number of votes on each item that the task asks for. `vote` is the first of them. */
  readonly asks: number
  /** The only experts who may vote. Null: anyone. */
  readonly voters: Voters | null
}

export interface Issue {
  /** The task's number for users: the ordinal of its first item, from 1. */
  readonly number: number
  readonly seq: number
  readonly campaign: number
  readonly state: TaskState
  /** Number of the attempt, from 1. It increases when the task's items are planned again. */
  readonly attempt: number
  readonly taskId: string | null
  readonly idempotencyKey: string
  readonly items: number
  readonly reason: string | null
  /** Time of the attempt's first request that may have created the task, in epoch milliseconds. */
  readonly sentAt: number | null
}

/** Number of tasks by state, and of their items. */
export type StateCounts = { readonly [State in TaskState]: { readonly tasks: number; readonly items: number } }

export type Classification = "new" | "known" | "duplicate" | "conflict"

/** Counts of a run's input: `read = new + known + duplicates + rejected`, plus new items that exceed the budget. */
export interface ReadCounts {
  /** Number of records of the input. */
  readonly read: number
  /** Items that were new to the campaign, and within the budget. */
  readonly new: number
  /** Items that an earlier run had planned. */
  readonly known: number
  /** Records that repeat an item of this run's input. */
  readonly duplicates: number
  /** Duplicates that differ from an earlier item only in the order of completions. */
  readonly reordered: number
  /** Records that the source or the run rejected. */
  readonly rejected: number
}

export const nothingRead: ReadCounts = { read: 0, new: 0, known: 0, duplicates: 0, reordered: 0, rejected: 0 }

/** One step of reading, without its tasks. `counts` are the counts of the run so far. */
export interface ReadingStep {
  readonly rejects: ReadonlyArray<Reject>
  readonly counts: ReadCounts
  readonly finished: boolean
}

export interface LedgerContext extends Job {
  readonly sql: SqlClient.SqlClient
  /** Runs statements in a transaction that is committed before the effect succeeds. */
  readonly write: Write
  readonly bodies: BodyCache
}
