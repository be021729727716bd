/**
 * Rows of the ledger as they are written and read: payloads compressed, and no more
 * rows in a statement than any database takes.
 */
import { Array as Arr, Effect, Schema } from "effect"
import { parseTaskRequest } from "../domain/Task.ts"
import * as Zstd from "../node/Zstd.ts"
import { ItemDetails, type LedgerContext, type ReadQuestion, type TaskQuestion } from "./LedgerModel.ts"

/** SQLite takes 32,766 values in a statement, the client of PostgreSQL 32,767; a row has six at the most. */
const rowsPerStatement = 4096

/** Runs a statement for a few thousand rows at a time; not at all where there are none. */
export const inPortions = <A, B, E, R>(
  rows: ReadonlyArray<A>,
  statement: (rows: Arr.NonEmptyReadonlyArray<A>) => Effect.Effect<B, E, R>,
) => Effect.forEach(Arr.chunksOf(rows, rowsPerStatement), statement)

const decodeItems = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(ItemDetails)))

export const readQuestion = (row: { readonly body: Uint8Array; readonly items: Uint8Array }): ReadQuestion => {
  const body = Zstd.decompressText(row.body)
  return { body, prompts: parseTaskRequest(body).prompts, items: decodeItems(Zstd.decompressText(row.items)) }
}

/** A task with what it asks, compressed beside the main thread and before a transaction waits for it. */
export const pack = Effect.fnUntraced(function* <Task extends TaskQuestion>(
  task: Task,
  utf8: Uint8Array | string = task.body,
) {
  const details = JSON.stringify(task.items)
  const body = yield* Zstd.compressAside(utf8)
  const items = yield* Zstd.compressAside(details)
  return { ...task, size: task.body.length + details.length, packed: { body, items } }
})

/** Inserts a planned task with what it asks. */
export const insertTask = Effect.fnUntraced(function* (
  { partition, sql }: Pick<LedgerContext, "partition" | "sql">,
  task: Effect.Success<ReturnType<typeof pack>> & {
    readonly seq: number
    readonly campaign: number
    readonly attempt?: number
    readonly wantedAt?: number | null
    readonly idempotencyKey: string
    readonly plannedAt: number
  },
) {
  yield* sql`INSERT INTO task ${sql.insert({
    partition_id: partition,
    seq: task.seq,
    campaign: task.campaign,
    attempt: task.attempt ?? 1,
    item_count: task.items.length,
    idempotency_key: task.idempotencyKey,
    state: "planned",
    planned_at: task.plannedAt,
    wanted_at: task.wantedAt ?? null,
  })}`
  yield* sql`INSERT INTO task_request ${sql.insert({
    partition_id: partition,
    seq: task.seq,
    ...task.packed,
  })}`
})

/** What the ledger remembers under a name. */
export const settingOf = ({ partition, sql }: Pick<LedgerContext, "partition" | "sql">, name: string) =>
  Effect.map(
    sql<{ value: string }>`SELECT value FROM setting WHERE partition_id = ${partition} AND name = ${name}`,
    (rows) => rows[0]?.value,
  )

/** Remembers it, in place of what was there. */
export const setSetting = ({ partition, sql }: Pick<LedgerContext, "partition" | "sql">, name: string, value: string) =>
  sql`INSERT INTO setting (partition_id, name, value) VALUES (${partition}, ${name}, ${value})
    ON CONFLICT (partition_id, name) DO UPDATE SET value = excluded.value`
