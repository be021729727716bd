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
 * `task/Send` decides the next state after a request, `Submit` and `Collect` after a crash, and `pipeline/Worker` for a
 * lost worker. A person may give up any task (`given_up`) that is neither completed nor being sent, and resend one that
 * is in doubt, failed, invalid, refused, or given up.
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

/** Without a result, unless a person resends the task or a run resubmits it. */
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
   * Number of votes planned for each new item, each by another expert: by one task if the service declares `votes`,
   * else by one task each. Without it, tasks do not ask for a number, and count as one vote, even if the service's
   * default is higher.
   */
  readonly votes?: number | undefined
  /** Maximum number of votes for each new item. Votes above `votes` are planned as results arrive. Default: `votes`. */
  readonly votesUpTo?: number | undefined
  /**
   * An item gets up to `votesUpTo` votes until the probability that its leading completion is the best, by the experts'
   * reliabilities, reaches this threshold. Default 0.95. The job keeps it until a run sets `votes`.
   */
  readonly confidence?: number | undefined
  /**
   * Sends items from judges (language models) to people. The first `votes` votes are by judges. If they are less
   * certain than the rule requires, people vote until `confidence` is reached, up to `votesUpTo` votes in total. Needs
   * a service that accepts `voters` in a task. The job keeps the rule until a run sets `votes`.
   */
  readonly peopleWhen?: PeopleWhen | undefined
  /**
   * The service's group for a campaign's tasks, which the campaign keeps. Default: the job's name and the campaign's
   * number, if the service declares groups.
   */
  readonly group?: string | undefined
  /** Seed for shuffling completions; false sends them in the order of the input. Default 0. */
  readonly shuffleSeed?: number | false | undefined
}

export interface Run {
  readonly run: number
  readonly campaign: number
  /** Undefined if the campaign's tasks have none. */
  readonly group?: string | undefined
}

export interface BatchItem extends SourceItem {
  /** Default: the hash of the content. */
  readonly itemId: string
  readonly contentHash: string
  readonly prompt: string
  /** An element of the task's `prompts`: JSON in UTF-8. */
  readonly bytes: ItemBytes
  /** Hash of the content to send, if only some of the completions are sent. */
  readonly sentHash?: string | undefined
  readonly isCheck?: boolean | undefined
  /** Gold items in order of preference, of which one is sent with this item. */
  readonly gold?: Iterable<BatchItem> | undefined
}

/** Prompt and completions are in the request. */
export const ItemDetails = Schema.Struct({
  item_id: Schema.String,
  origin: Origin,
  metadata: Schema.optionalKey(Metadata),
  gold: Schema.optionalKey(Gold),
  models: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The origin of each completion, if it differs from that of the item. */
  completion_origins: Schema.optionalKey(Schema.Array(Origin)),
  /** The prompt was a conversation, and is sent as text that `Conversation.parse` reads. */
  conversation: Schema.optionalKey(Schema.Literal(true)),
  /** Whether each completion was a list of messages. Absent if none was. */
  as_messages: Schema.optionalKey(Schema.Array(Schema.Boolean)),
  /** JSON text. */
  tools: Schema.optionalKey(Schema.String),
  /** Indices in the input. Absent if completions were sent in its order. */
  order: Schema.optionalKey(Schema.Array(Schema.Int)),
  /** A gold item that was mixed in, not an item of the input. */
  check: Schema.optionalKey(Schema.Literal(true)),
})
export type ItemDetails = typeof ItemDetails.Type

export interface NewTask {
  readonly idempotencyKey: string
  /** For `POST /tasks`, as UTF-8. */
  readonly body: Uint8Array
  readonly items: Arr.NonEmptyReadonlyArray<BatchItem>
  readonly orders?: ReadonlyArray<ReadonlyArray<number> | undefined> | undefined
  /** Number of the vote in its batch, from 1; the tasks of a batch are adjacent. Default 1. */
  readonly vote?: number | undefined
  /** Maximum number of votes of the batch. Default 1. */
  readonly votes?: number | undefined
  /** Number of votes planned at first; more, up to `votes`, may follow. Default: `votes`. */
  readonly leastVotes?: number | undefined
  /** Votes on each item that this task asks for, from `vote` on. Default 1. */
  readonly asks?: number | undefined
  readonly voters?: Voters | undefined
}

/** Votes that experts gave elsewhere, stored like a response of the service. */
export interface ImportedResult {
  readonly taskId: string
  readonly result: string
}

export interface PlannedTask {
  readonly seq: number
  readonly part: number
  readonly itemCount: number
  readonly vote: number
  readonly idempotencyKey: string
  /** Epoch milliseconds of the attempt's first request that may have created the task. */
  readonly sentAt: number | undefined
  /** Was the task in doubt before? */
  readonly wasDoubted: boolean
}

export interface OpenTask {
  readonly seq: number
  readonly taskId: string
  readonly idempotencyKey: string
  /** Failed, invalid, or completed: polled only once more. */
  readonly isRecheck: boolean
  /** Completed: a poll checks whether the service has changed the result. */
  readonly hasResult: boolean
  readonly submittedAt: number
  /** In epoch milliseconds; 0 if a webhook or a command asked for a poll. */
  readonly dueAt: number
  readonly voters: Voters | null
}

/** A webhook delivery with a verified signature. */
export interface Delivery {
  /** All attempts of the service to send it have the same id. */
  readonly id: string
  /** This attempt by the service's clock, in epoch milliseconds; 0 if unknown. */
  readonly sentAt: number
  /** None if it may concern any task. */
  readonly taskIds: Option.Option<ReadonlyArray<string>>
}

/** `due`: it makes tasks of this ledger due; `unknown`: all of its task ids are unknown. */
export type DeliveryOutcome = "due" | "unknown" | "repeated"

/** Completions have the order of the input, and `items[i]` belongs to `prompts[i]`. */
export interface StoredRequest {
  readonly body: Uint8Array
  readonly prompts: ReadonlyArray<TaskPrompt>
  readonly items: ReadonlyArray<ItemDetails>
}

export interface CompletedTask extends Omit<StoredRequest, "body">, BatchPlace {
  readonly seq: number
  readonly taskId: string
  /** The body of `GET /tasks/{task_id}`, in the format of `Payload`. */
  readonly result: Uint8Array
  readonly completedAt: number | null
}

/** A list of items sent together, again for each vote. A task may be a part of it, or ask for several votes. */
export interface BatchPlace {
  /** The `seq` of the first task. */
  readonly batch: number
  readonly batchItems: number
  readonly vote: number
  /** Maximum number of votes on each item of the batch. */
  readonly votes: number
  readonly asks: number
  readonly voters: Voters | null
}

export interface Issue {
  /** For users: the ordinal of the task's first item, from 1. */
  readonly number: number
  readonly seq: number
  readonly campaign: number
  readonly state: TaskState
  /** Number of the attempt, from 1; it increases when the items are planned again. */
  readonly attempt: number
  readonly taskId: string | null
  readonly idempotencyKey: string
  readonly items: number
  readonly reason: string | null
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

/** A step of reading, without its tasks. `counts` are those of the run so far. */
export interface ReadingStep {
  readonly rejects: ReadonlyArray<Reject>
  readonly counts: ReadCounts
  readonly finished: boolean
}

export interface LedgerContext extends Job {
  readonly sql: SqlClient.SqlClient
  /** Commits before the effect succeeds. */
  readonly write: Write
  readonly bodies: BodyCache
}
