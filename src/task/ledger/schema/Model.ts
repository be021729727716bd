/** The ledger's data model: what it records of a task, and the states of a task. */
import { type Array as Arr, type Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { ItemBytes } from "../../../domain/ItemBytes.ts"
import { Origin } from "../../../domain/Origin.ts"
import { Gold, Metadata, type SourceItem } from "../../../domain/PromptItem.ts"
import type { Reject } from "../../../domain/Reject.ts"
import type { TaskPrompt } from "../../../domain/Task.ts"
import type { BodyCache } from "./BodyCache.ts"
import type { Job } from "./Jobs.ts"
import type { Write } from "../../../sql/GroupCommit.ts"

/**
 * ```
 * planned → submitting → submitted → completed
 *  │ ↑          │            ├─────→ invalid   the result does not fit the task; polled again by the next run
 *  │ └──────────┤            └─────→ failed    the service gave the task up
 *  │            ├→ refused                     the service refused it; it was not created
 *  │            └→ in_doubt                    it may have been created; held for a person to resolve
 *  └→ superseded                               another campaign began before it was sent, or the budget does not allow it;
 *                                              planned again when a run returns to its campaign, and may spend more
 * ```
 *
 * What follows an answer, or the lack of one, `task/Send` decides; after a crash `Submit` and `Collect`, and for a lost
 * worker `pipeline/Worker`. The ledger records it. A person may make any that is not completed `given_up`, and send
 * again what is in doubt, failed, invalid, refused or given up.
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

/** Final states without a result, unless a person resolves the task. */
export const lostStates: ReadonlyArray<TaskState> = ["refused", "given_up"]

/** What the experts are asked. Items are judged once under the same terms. */
export interface CampaignTerms {
  /** Free-text instructions for the experts. */
  readonly guidelines?: string | undefined
  /** Defaults to `rlhf_ranking`, the one type that the contract names. */
  readonly taskType?: string | undefined
}

/** All runs under the same terms: in each campaign of a ledger, an item is judged once. */
export interface Campaign {
  /** From 1 on. */
  readonly campaign: number
  /** The contract's `task_type`, such as `rlhf_ranking`. */
  readonly taskType: string
  /** Undefined if its tasks have none. */
  readonly guidelines: string | undefined
  /** The same for the same terms. */
  readonly fingerprint: string
  /** Epoch milliseconds. */
  readonly startedAt: number
}

/** The seed of the orders of completions, unless a run has its own. */
export const defaultShuffleSeed = 0

/** The terms that the ledger notes of a run. */
export interface RunTerms extends CampaignTerms {
  /** How many tasks ask for each new item. Default 1. */
  readonly votes?: number | undefined
  /** How many tasks may ask for each new item in the end, where more are planned as results come in. Default: `votes`. */
  readonly votesUpTo?: number | undefined
  /**
   * Probability of an item's best completion, by its votes and the experts' reliabilities, from which it gets no more votes
   * than `votes`, up to `votesUpTo`. Default 0.95. The job keeps it, until another run has `votes`.
   */
  readonly confidence?: number | undefined
  /** From which the orders of completions are drawn; false where they are sent as in the input. */
  readonly shuffleSeed?: number | false | undefined
}

/** One execution over a ledger, in its campaign. */
export interface Run {
  readonly run: number
  readonly campaign: number
}

/** An item with its identity and with its bytes in a task. */
export interface BatchItem extends SourceItem {
  /** The user's id, or else the hash of the content. */
  readonly itemId: string
  /** Hash of the content, hexadecimal. */
  readonly contentHash: string
  /** The prompt as it is sent. */
  readonly prompt: string
  /** The element of the task's `prompts`, as UTF-8. */
  readonly bytes: ItemBytes
  /** Hash of what is sent, where that is a draw of the completions. */
  readonly sentHash?: string | undefined
  /** Whether it is a gold item that is mixed in, and no item of the input. */
  readonly isCheck?: boolean | undefined
  /** Gold items of which one is to go along with it, the one that is wanted most first. */
  readonly gold?: Iterable<BatchItem> | undefined
}

/** An item without its prompt and completions, which are in the request. */
export const ItemDetails = Schema.Struct({
  item_id: Schema.String,
  origin: Origin,
  metadata: Schema.optionalKey(Metadata),
  gold: Schema.optionalKey(Gold),
  models: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Where each completion was read, where that is not the origin. */
  completion_origins: Schema.optionalKey(Schema.Array(Origin)),
  /** Set where the prompt was a conversation, and the text that was sent is what `Conversation.parse` reads. */
  conversation: Schema.optionalKey(Schema.Literal(true)),
  /** Which completions were messages, and the texts that were sent are what `Conversation.parse` reads; absent if none was. */
  as_messages: Schema.optionalKey(Schema.Array(Schema.Boolean)),
  /** The definitions of tools, as JSON text. */
  tools: Schema.optionalKey(Schema.String),
  /** The order in which the completions were sent, as indices into those of the input; absent where it is the same. */
  order: Schema.optionalKey(Schema.Array(Schema.Int)),
  /** Set where it is no item of the input, but a gold item that was mixed in. */
  check: Schema.optionalKey(Schema.Literal(true)),
})
export type ItemDetails = typeof ItemDetails.Type

export interface NewTask {
  readonly idempotencyKey: string
  /** The body of `POST /tasks`, as UTF-8. */
  readonly body: Uint8Array
  readonly items: Arr.NonEmptyReadonlyArray<BatchItem>
  /** The order of each item's completions in the body; undefined where as in the input. */
  readonly orders?: ReadonlyArray<ReadonlyArray<number> | undefined> | undefined
  /** Which of the batch's tasks it is, from 1 on. Those of a batch follow one another. Default 1. */
  readonly vote?: number | undefined
  /** How many votes the batch has at most. Default 1. */
  readonly votes?: number | undefined
  /** How many of them are planned with the batch, where not all are. */
  readonly leastVotes?: number | undefined
}

/** The result of a task that was never sent, in the shape of an answer: its item's votes were given elsewhere. */
export interface ImportedResult {
  readonly taskId: string
  readonly result: string
}

export interface PlannedTask {
  readonly seq: number
  /** Which part of the job it belongs to. */
  readonly part: number
  readonly itemCount: number
  /** Which of its batch's tasks it is, from 1 on. */
  readonly vote: number
  readonly idempotencyKey: string
  /** When the first request of this attempt that may have created the task was sent, in epoch milliseconds. */
  readonly sentAt: number | undefined
  /** Whether it was in doubt because of what earlier tries were answered. */
  readonly wasDoubted: boolean
}

export interface OpenTask {
  readonly seq: number
  readonly taskId: string
  readonly idempotencyKey: string
  /** Whether it is failed, invalid, or completed. */
  readonly isRecheck: boolean
  /** Whether it is completed, and the service may have changed the result. */
  readonly hasResult: boolean
  /** Epoch milliseconds. */
  readonly submittedAt: number
  /** Epoch milliseconds; 0 where it is due for another reason than its age. */
  readonly dueAt: number
}

/** A webhook delivery whose signature was verified. */
export interface Delivery {
  /** Stays the same when the service sends the delivery again. */
  readonly id: string
  /** Epoch milliseconds, by the service's clock; another one each time it is sent. Where that is not known, 0. */
  readonly sentAt: number
  /** The tasks that it names; none means any. */
  readonly taskIds: Option.Option<ReadonlyArray<string>>
}

/**
 * What a delivery did: `due` if it named tasks of this ledger, which are due now;
 * `unknown` if it named none of them; `repeated` where it is recorded already.
 */
export type DeliveryOutcome = "due" | "unknown" | "repeated"

/** A request's prompts with their completions in the input's order, and the items' details in the same order. */
export interface StoredRequest {
  /** The body of the request, as UTF-8. */
  readonly body: Uint8Array
  readonly prompts: ReadonlyArray<TaskPrompt>
  readonly items: ReadonlyArray<ItemDetails>
}

export interface CompletedTask extends Omit<StoredRequest, "body">, BatchPlace {
  readonly seq: number
  readonly taskId: string
  /** The body of the answer to `GET /tasks/{task_id}`, as `Payload` keeps it. */
  readonly result: Uint8Array
  readonly completedAt: number | null
}

/**
 * Where a task is among those of its batch: the same items are asked for once in each vote, in
 * the same order, and a vote is one task or, where the service refused one so large, several.
 */
export interface BatchPlace {
  /** The number in order (`seq`) at which the batch's first task began. */
  readonly batch: number
  /** Items of the batch, once. */
  readonly batchItems: number
  /** From 1 on. */
  readonly vote: number
  /** How many votes were planned of each item of the batch. */
  readonly votes: number
}

/** A task that waits for a person, or that a person has resolved. */
export interface Issue {
  /** How a person names the task: the ordinal of its first item, from 1 on. */
  readonly number: number
  readonly seq: number
  readonly campaign: number
  readonly state: TaskState
  /** From 1 on; grows when the task's items are planned again. */
  readonly attempt: number
  readonly taskId: string | null
  readonly idempotencyKey: string
  readonly items: number
  readonly reason: string | null
  /** When its request began to be sent, in epoch milliseconds. */
  readonly sentAt: number | null
}

/** Tasks by state, and the items in them. */
export type StateCounts = { readonly [State in TaskState]: { readonly tasks: number; readonly items: number } }

/** How an input record relates to earlier records. */
export type Classification = "new" | "known" | "duplicate" | "conflict"

/** What a run has read and recorded. `read = new + known + duplicates + rejected`. */
export interface ReadCounts {
  /** Records of the input. */
  readonly read: number
  /** Items that no earlier run had seen. */
  readonly new: number
  /** Items that an earlier run over this ledger had planned. */
  readonly known: number
  /** Items that were in this run's input before. */
  readonly duplicates: number
  /** How many of the duplicates are an item that has the same completions in another order. */
  readonly reordered: number
  /** Records that could not be used. */
  readonly rejected: number
}

/** One step of reading, without its tasks; `counts` are of the run so far. */
export interface ReadingStep {
  readonly rejects: ReadonlyArray<Reject>
  readonly counts: ReadCounts
  readonly finished: boolean
}

/** What the ledger's modules share: the job, the connection, group commits, and cached request bodies. */
export interface LedgerContext extends Job {
  readonly sql: SqlClient.SqlClient
  /** Carries out statements in a transaction that is committed before the effect succeeds. */
  readonly write: Write
  readonly bodies: BodyCache
}
