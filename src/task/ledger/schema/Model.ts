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
 *  └→ superseded                               no budget for the task, or another campaign began before it was sent;
 *                                              a run of its campaign plans it again, if the budget allows it
 * ```
 *
 * A request can end without a usable response, for example if the process is killed. The task then gets one of these
 * states:
 * - `planned`, if the service certainly did not create the task.
 * - `planned`, if the service may have created the task, but recognizes a second request by the idempotency key.
 * - `in_doubt`, if the service ignores the key, or may have forgotten the key.
 * - `in_doubt`, if the service answered with a 2xx status, but the response is unusable.
 *
 * A person may give up a task, unless the task is completed or is being sent. A person may resend a task that is in
 * doubt, failed, invalid, refused, or given up.
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

/** Tasks in these states get a result only if a person resends them or a run resubmits them. */
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
  /** SHA-256 of the task type and the guidelines. It is unique among the campaigns of a job. */
  readonly fingerprint: string
  /** Start of the campaign, in epoch milliseconds. */
  readonly startedAt: number
}

export const defaultShuffleSeed = 0

export interface RunTerms extends CampaignTerms {
  /**
   * Number of votes for each new item, by different experts. If the service declares `votes`, one task asks for all
   * votes on its items. Otherwise, each vote needs its own task. Without this option, requests do not contain `votes`,
   * and a task counts as one vote on each of its items, even if the service collects more votes.
   */
  readonly votes?: number | undefined
  /** Maximum number of votes for each new item. Uncertain items get more than `votes` votes. Default: `votes`. */
  readonly votesUpTo?: number | undefined
  /**
   * An item gets more votes, up to `votesUpTo`, until its leading completion is the best one with at least this
   * probability. The probability is estimated from the reliabilities of the experts. Default 0.95. A run that
   * sets neither `confidence` nor `votes` keeps the confidence of the run before.
   */
  readonly confidence?: number | undefined
  /**
   * With this rule, language models (judges) give the first `votes` votes on each item. A rule such as `jury<0.9` sets
   * a minimum for the judges' certainty about the best completion. If the judges are less certain, people vote, too,
   * until the item reaches `confidence` or has `votesUpTo` votes in total. The service must accept `voters` in a task.
   * Later runs keep the rule. If a later run sets `votes` without `peopleWhen`, the rule is removed.
   */
  readonly peopleWhen?: PeopleWhen | undefined
  /**
   * Group for a campaign's tasks at the service. A campaign that has tasks keeps its group. Default: the job's name and
   * the campaign's number, if the service declares groups.
   */
  readonly group?: string | undefined
  /** Seed for shuffling completions; false sends them in the order of the input. Default 0. */
  readonly shuffleSeed?: number | false | undefined
}

export interface Run {
  readonly run: number
  readonly campaign: number
  /** Undefined if the campaign's tasks have no group. */
  readonly group?: string | undefined
}

export interface BatchItem extends SourceItem {
  /** The item's own id, or else a hash of its content. */
  readonly itemId: string
  readonly contentHash: string
  readonly prompt: string
  readonly bytes: ItemBytes
  /** Hash of the prompt and the completions that are sent. Undefined if all completions of the item are sent. */
  readonly sentHash?: string | undefined
  readonly isCheck?: boolean | undefined
  /** Gold items that may be sent with this item. The first one whose prompt is not yet in the batch is sent. */
  readonly gold?: Iterable<BatchItem> | undefined
}

/** Item data that the request does not contain. The request contains the prompt and the completions. */
export const ItemDetails = Schema.Struct({
  item_id: Schema.String,
  origin: Origin,
  metadata: Schema.optionalKey(Metadata),
  gold: Schema.optionalKey(Gold),
  models: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The origin of each completion, if it differs from that of the item. */
  completion_origins: Schema.optionalKey(Schema.Array(Origin)),
  /** True if the prompt was a conversation, which is sent as text that `Conversation.parse` reads. */
  conversation: Schema.optionalKey(Schema.Literal(true)),
  /** For each completion, whether it was a list of messages. Absent if none was. */
  as_messages: Schema.optionalKey(Schema.Array(Schema.Boolean)),
  /** The model's tools, as JSON text. */
  tools: Schema.optionalKey(Schema.String),
  /** For each completion that was sent, its index in the input. Absent if the order of the input was kept. */
  order: Schema.optionalKey(Schema.Array(Schema.Int)),
  /** True for a gold item that was mixed in, which is not an item of the input. */
  check: Schema.optionalKey(Schema.Literal(true)),
})
export type ItemDetails = typeof ItemDetails.Type

export interface NewTask {
  readonly idempotencyKey: string
  /** The body of the request that creates the task, as UTF-8. */
  readonly body: Uint8Array
  readonly items: Arr.NonEmptyReadonlyArray<BatchItem>
  readonly orders?: ReadonlyArray<ReadonlyArray<number> | undefined> | undefined
  /** Number of the vote, from 1. Default 1. In a list, the tasks of a batch are adjacent and sorted by this number. */
  readonly vote?: number | undefined
  /** Maximum number of votes of the batch. Default 1. */
  readonly votes?: number | undefined
  /** Number of votes that are planned at first. More may follow, up to `votes` in all. Default: `votes`. */
  readonly leastVotes?: number | undefined
  /** Number of votes that the task asks for on each item. The first of these votes has the number `vote`. Default 1. */
  readonly asks?: number | undefined
  readonly voters?: Voters | undefined
}

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
  /** When this attempt was first sent, in epoch milliseconds. Undefined if the service certainly did not accept it. */
  readonly sentAt: number | undefined
  readonly wasDoubted: boolean
}

export interface OpenTask {
  readonly seq: number
  readonly taskId: string
  readonly idempotencyKey: string
  /** Whether the task is completed, failed, or invalid. Such a task is polled in case the service has corrected it. */
  readonly isRecheck: boolean
  /** Whether the task is completed. The poll of a completed task checks whether the service has changed the result. */
  readonly hasResult: boolean
  readonly submittedAt: number
  /** Time of the next poll, in epoch milliseconds; 0 if a webhook or a command asked for a poll. */
  readonly dueAt: number
  readonly voters: Voters | null
}

/** A webhook delivery with a verified signature. */
export interface Delivery {
  /** The delivery's id. If the service sends the delivery again, the id is the same. */
  readonly id: string
  /**
   * Signed time of the delivery, in epoch milliseconds. 0 if the delivery has an id, but no signed time: a second
   * delivery with this id is ignored. Without an id and a signed time, `sentAt` is the time of receipt.
   */
  readonly sentAt: number
  /** None if the delivery may concern any task. */
  readonly taskIds: Option.Option<ReadonlyArray<string>>
}

/** `due`: the delivery makes tasks due. `unknown`: the ledger knows no task that the delivery names. */
export type DeliveryOutcome = "due" | "unknown" | "repeated"

/** A task's request. In `prompts`, completions have the input's order. `items[i]` belongs to `prompts[i]`. */
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

/** A batch is a list of items that are planned together. A task asks for one or more votes on some or all of them. */
export interface BatchPlace {
  /** The `seq` of the batch's first task. */
  readonly batch: number
  readonly batchItems: number
  readonly vote: number
  /** Maximum number of votes on each item of the batch. */
  readonly votes: number
  readonly asks: number
  readonly voters: Voters | null
}

export interface Issue {
  /** Number by which users refer to the task: `seq + 1`. */
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

/** Number of tasks in each state, and number of their items. */
export type StateCounts = { readonly [State in TaskState]: { readonly tasks: number; readonly items: number } }

export type Classification = "new" | "known" | "duplicate" | "conflict"

/** Counts of a run's input. `read` is `new + known + duplicates + rejected`, plus new items that exceed the budget. */
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
  /** Number of records that were rejected, by the source or by the run. */
  readonly rejected: number
}

export const nothingRead: ReadCounts = { read: 0, new: 0, known: 0, duplicates: 0, reordered: 0, rejected: 0 }

/** The rejects and the progress of one step of reading. `counts` has the totals of the run so far. */
export interface ReadingStep {
  readonly rejects: ReadonlyArray<Reject>
  readonly counts: ReadCounts
  readonly finished: boolean
}

export interface LedgerContext extends Job {
  readonly sql: SqlClient.SqlClient
  /** Runs changes in a transaction, which is committed before the effect succeeds. */
  readonly write: Write
  readonly bodies: BodyCache
}
