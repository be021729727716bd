/**
 * Rows of a task as they are written and read: the payloads compressed.
 */
import { Effect, Schema } from "effect"
import * as Zstd from "../node/Zstd.ts"
import { ItemDetails, type LedgerContext, type TaskQuestion } from "./LedgerModel.ts"

const decodeItems = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(ItemDetails)))

export const readQuestion = (row: { readonly body: Uint8Array; readonly items: Uint8Array }): TaskQuestion => ({
  body: Zstd.decompressText(row.body),
  items: decodeItems(Zstd.decompressText(row.items)),
})

/** Inserts a planned task with what it asks. */
export const insertTask = Effect.fnUntraced(function* (
  { partition, sql }: Pick<LedgerContext, "partition" | "sql">,
  task: TaskQuestion & { readonly seq: number; readonly idempotencyKey: string; readonly plannedAt: number },
) {
  yield* sql`INSERT INTO task ${sql.insert({
    partition_id: partition,
    seq: task.seq,
    item_count: task.items.length,
    idempotency_key: task.idempotencyKey,
    state: "planned",
    planned_at: task.plannedAt,
  })}`
  yield* sql`INSERT INTO task_request ${sql.insert({
    partition_id: partition,
    seq: task.seq,
    body: Zstd.compress(task.body),
    items: Zstd.compress(JSON.stringify(task.items)),
  })}`
})
