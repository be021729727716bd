/**
 * The durable record of tasks: requests, status, results. An organization's idempotency key always leads to the same
 * task, even after a restart. An organization sees only its own tasks. `RequestLimits` validates requests.
 */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import type { SqlError } from "effect/sql/SqlError"
import type { TaskStatus } from "../../api/AnnotationApi.ts"
import { IdempotencyKeyReused } from "../../api/Problems.ts"
import * as Sha256 from "../../node/Sha256.ts"
import * as Zstd from "../../node/Zstd.ts"
import type { Voters } from "../../domain/Voters.ts"
import type { Webhooks } from "../webhook/Webhooks.ts"
import { contentOf } from "./EqualItems.ts"
import * as Audit from "../database/Audit.ts"
import { Database } from "../database/Database.ts"
import * as ExpertOrder from "./ExpertOrder.ts"
import * as TaskReports from "./TaskReports.ts"
import { type TaskContent, TaskRequests } from "./TaskRequests.ts"
import { maxSearchedChars } from "../database/DeskTables.ts"
import { itemIdOf, itemsOf, toStorableText } from "../database/TaskTables.ts"
import { VoteQueue } from "./VoteQueue.ts"
import * as Voting from "./Voting.ts"

/** A task's status is `completed` only when its votes can no longer be taken back. */
export interface TaskState {
  readonly taskId: string
  readonly status: TaskStatus
}

export interface FoundTask extends TaskState {
  readonly answer: Option.Option<Uint8Array>
  readonly waiting: number
}

export interface NewTask {
  readonly organization: string
  readonly idempotencyKey: string | undefined
  /** The original bytes of the request body, which must be a valid `TaskRequest`. */
  readonly body: Uint8Array
  readonly content: TaskContent
  readonly votes: number
  readonly voters?: Voters | undefined
  /** The task's group. If undefined, the task is a group of its own. */
  readonly group?: { readonly id: string; readonly size?: number | undefined } | undefined
}

const make = Effect.gen(function* () {
  const { sql, write } = yield* Database
  const random = yield* SecureRandom.SecureRandom
  const requests = yield* TaskRequests
  const queue = yield* VoteQueue
  const voting = yield* Voting.make({})
  const reports = yield* TaskReports.make(voting)

  /** A client that repeats a key gets the same id, even if the service has lost its database. */
  const makeTaskId = (organization: string, idempotencyKey: string | undefined) =>
    (idempotencyKey === undefined
      ? Effect.map(random.randomBytes(16), Hex.encode)
      : Effect.succeed(Sha256.hex(JSON.stringify([organization, idempotencyKey])).slice(0, 32))
    ).pipe(Effect.map((id) => `task_${id}`))

  const joinGroup = (
    organization: string,
    { id: group_id, size }: NonNullable<NewTask["group"]>,
    task: { readonly first_open: number; readonly votes_needed: number; readonly items: number },
  ) =>
    sql`INSERT INTO task_group ${sql.insert({ organization, group_id, size: size ?? null, tasks: 1, open: 1, all_needed: task.votes_needed, ...task })}
      ON CONFLICT DO UPDATE SET tasks = tasks + 1, open = open + 1, votes_needed = votes_needed + excluded.votes_needed,
        items = items + excluded.items, all_needed = all_needed + excluded.all_needed,
        first_open = COALESCE(first_open, excluded.first_open),
        size = MAX(COALESCE(size, excluded.size), COALESCE(excluded.size, size))`.pipe(
      Effect.andThen(voting.withdraw(organization, group_id)),
    )

  /** Stores a task. A repeated call returns the task that the first call stored, with its current status. */
  const create = Effect.fnUntraced(function* (task: NewTask) {
    const { content, group, organization, voters, votes } = task
    const task_id = yield* makeTaskId(organization, task.idempotencyKey)
    const row = {
      task_id,
      organization,
      group_id: group?.id ?? task_id,
      body_hash: Sha256.hex(task.body),
      status: "pending" as TaskStatus,
      prompts: content.prompts.length,
      votes_required: votes,
      voters: voters ?? null,
      created_at: yield* Clock.currentTimeMillis,
    }
    const body = Zstd.compress(task.body)
    const keyed = content.prompts.map(
      (prompt) =>
        [
          contentOf(organization, { group: group?.id, guidelines: content.guidelines }, prompt),
          queue.hasGoldAnswer(prompt) ? 1 : 0,
        ] as const,
    )
    const contents = JSON.stringify(keyed)
    const texts = JSON.stringify(content.prompts.map(({ prompt }) => toStorableText(prompt.slice(0, maxSearchedChars))))
    const stored = yield* write(
      Effect.gen(function* () {
        const inserted = yield* sql<{ seq: number }>`
          INSERT INTO task ${sql.insert(row)} ON CONFLICT DO NOTHING RETURNING seq`
        if (inserted.length === 0) {
          const rows = yield* sql<{ body_hash: string; status: TaskStatus }>`
            SELECT body_hash, status FROM task WHERE task_id = ${task_id}`
          return rows[0]!
        }
        const { seq } = inserted[0]!
        yield* sql`INSERT INTO task_request ${sql.insert({ seq, body })}`
        const lane = group === undefined ? undefined : yield* voting.lanes.laneOf(organization, group.id)
        yield* sql`INSERT INTO item (item_id, open, content, repeatable, lane, for_judges)
          SELECT ${itemIdOf(seq, 0)} + key, ${votes}, value ->> 0, value ->> 1, ${lane?.lane ?? 0}, ${voters === "judges" ? 1 : 0} FROM json_each(${contents})`
        // Older items with the same `content` may have been stored before the gold answer was known.
        if (keyed.some(([, repeatable]) => repeatable === 1)) {
          yield* sql`UPDATE item INDEXED BY item_of_content SET repeatable = 1
            WHERE content IN (SELECT value ->> 0 FROM json_each(${contents}) WHERE value ->> 1 = 1)`
        }
        yield* sql`INSERT INTO item_text (item_id, prompt)
          SELECT ${itemIdOf(seq, 0)} + key, value FROM json_each(${texts})`
        if (group !== undefined) {
          yield* ExpertOrder.mark(sql, seq)
          yield* joinGroup(organization, group, {
            first_open: seq,
            votes_needed: row.prompts * votes,
            items: row.prompts,
          })
        }
        requests.keep(seq, content, task.body.length)
        yield* queue.wake
        return row
      }),
    )
    if (stored.body_hash !== row.body_hash) {
      const detail = `This Idempotency-Key was already used for ${task_id} with a different body. Use a new key for each task.`
      return yield* new IdempotencyKeyReused({ detail })
    }
    return { taskId: task_id, status: stored.status } satisfies TaskState
  })

  // Clients poll many tasks, so the counts of all tasks come from one query.
  const waiting = yield* Effect.cachedWithTTL(voting.equalItems.waiting, "2 seconds")

  const find = Effect.fnUntraced(function* (organization: string, taskId: string) {
    // Clients get the stored answer unchanged. Reading it as text would decode the answer and then encode it again.
    const rows = yield* sql<{ seq: number; status: TaskStatus; answer: Uint8Array | null }>`
      SELECT task.seq, task.status, CAST(task_result.answer AS BLOB) AS answer FROM task LEFT JOIN task_result USING (seq)
      WHERE task.task_id = ${taskId} AND task.organization = ${organization}`
    const [task] = rows
    if (task === undefined) return Option.none<FoundTask>()
    const { answer, seq, status } = task
    const counts = status === "pending" || status === "in_progress" ? yield* waiting : undefined
    return Option.some<FoundTask>({
      taskId,
      status,
      answer: Option.fromNullOr(answer),
      waiting: counts?.get(seq) ?? 0,
    })
  })

  const cancelTask = Effect.fnUntraced(function* (taskId: string, unanswered: boolean) {
    const now = yield* Clock.currentTimeMillis
    return yield* voting.writeEnding(
      Effect.gen(function* () {
        const rows = yield* sql<{ seq: number }>`SELECT seq FROM task WHERE task_id = ${taskId}`
        const task = rows[0] && (yield* voting.openTask(rows[0].seq))
        // A task with all its votes will be completed, so it is not canceled as `unanswered`.
        if (task === undefined || (unanswered && task.prompts_done === task.prompts)) return false
        yield* voting.cancel(task, unanswered, now)
        yield* Audit.record(sql, "task.cancel", taskId)
        return true
      }),
      (cancelled) => cancelled,
    )
  })

  /** Returns false if the task does not exist or has ended. */
  const cancel = Effect.fn("TaskStore.cancel")((taskId: string) => cancelTask(taskId, false))

  /** Cancels a task that no expert can answer. The next start of the service opens it again. */
  const cancelUnanswered = (taskId: string) => cancelTask(taskId, true)

  /**
   * Closes the prompts in `itemIds`, by default those that an expert set aside. The prompts keep their votes. If no
   * prompt can be closed, or the task would end without any vote, the task is canceled.
   */
  const endUnanswered = Effect.fnUntraced(function* (taskId: string, itemIds?: ReadonlyArray<number>) {
    const now = yield* Clock.currentTimeMillis
    const shortened = voting.writeEnding(
      Effect.gen(function* () {
        const [row] = yield* sql<{ seq: number }>`SELECT seq FROM task WHERE task_id = ${taskId}`
        const task = row && (yield* voting.openTask(row.seq))
        if (task === undefined) return undefined
        const items = yield* sql<{ item_id: number }>`SELECT item_id FROM item
          WHERE ${itemsOf(sql, task.seq)} AND open > 0 AND ${
            itemIds === undefined
              ? sql`EXISTS (SELECT 1 FROM set_aside WHERE set_aside.item_id = item.item_id)`
              : sql`item_id IN (SELECT value FROM json_each(${JSON.stringify(itemIds)}))`
          }`
        const isAll = task.votes_given === 0 && task.prompts_done + items.length === task.prompts
        if (items.length === 0 || isAll) return undefined
        return yield* voting.closeUnanswered(
          task.seq,
          items.map(({ item_id }) => item_id),
          now,
        )
      }),
      (hasEnded) => hasEnded === true,
    )
    if ((yield* shortened) !== undefined) return "shortened"
    return (yield* cancelUnanswered(taskId)) ? "cancelled" : undefined
  })

  return { create, find, cancel, cancelUnanswered, endUnanswered, ...reports }
})

export class TaskStore extends Context.Service<TaskStore, Effect.Success<typeof make>>()(
  "prefstream/service/TaskStore",
) {
  static readonly layer: Layer.Layer<TaskStore, SqlError, Database | VoteQueue | Webhooks> = Layer.effect(
    TaskStore,
    make,
  ).pipe(Layer.provide([SecureRandom.layerWebCrypto, TaskRequests.layer]))
}
