/**
 * What the ledger gives out as streams, page by page in bounded memory, in the order
 * of the items.
 */
import { Effect, Option, Schema, Stream } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { Reject } from "../domain/Reject.ts"
import type { CompletedTask, LedgerContext, ReadQuestion } from "./LedgerModel.ts"
import { readQuestion } from "./LedgerRows.ts"
import * as Payload from "./Payload.ts"

/** Small, since a row of `completed` holds a task's whole request and result. */
const pageSize = 16

const decodeReject = Schema.decodeUnknownSync(Schema.fromJsonString(Reject))

export const make = ({ partition, sql }: LedgerContext) => {
  const here = sql`partition_id = ${partition}`

  /** Pages through rows by a growing key, in arrays, in bounded memory. */
  const pages = <Row extends object, A>(
    page: (after: number) => Effect.Effect<ReadonlyArray<Row>, SqlError>,
    keyOf: (row: Row) => number,
    decode: (row: Row) => A,
  ): Stream.Stream<A, SqlError> =>
    Stream.paginate(-1, (after) =>
      Effect.map(page(after), (rows) => {
        const last = rows.at(-1)
        return [rows.map(decode), last === undefined ? Option.none() : Option.some(keyOf(last))] as const
      }),
    )

  const inCampaign = (campaign: Option.Option<number>) =>
    Option.match(campaign, { onNone: () => sql.literal("1 = 1"), onSome: (campaign) => sql`t.campaign = ${campaign}` })

  /** Tasks with their results: of one campaign, or of all. */
  const completedOf = (campaign: Option.Option<number>): Stream.Stream<CompletedTask, SqlError> =>
    pages(
      (after) => sql<{ seq: number; task_id: string; body: Uint8Array; items: Uint8Array; result: Uint8Array }>`
      SELECT t.seq, t.task_id, q.body, q.items, r.body AS result FROM task t
      JOIN task_request q ON q.partition_id = t.partition_id AND q.seq = t.seq
      JOIN task_result r ON r.partition_id = t.partition_id AND r.seq = t.seq
      WHERE t.partition_id = ${partition} AND t.state = 'completed' AND ${inCampaign(campaign)} AND t.seq > ${after}
      ORDER BY t.seq LIMIT ${pageSize}`,
      (row) => Number(row.seq),
      (row) => ({
        seq: Number(row.seq),
        taskId: row.task_id,
        ...readQuestion(row),
        result: Payload.decode(row.result),
      }),
    )

  const rejects = (run: number): Stream.Stream<Reject, SqlError> =>
    pages(
      (after) => sql<{ ordinal: number; record: string }>`SELECT ordinal, record FROM reject
        WHERE ${here} AND run = ${run} AND ordinal > ${after} ORDER BY ordinal LIMIT ${pageSize}`,
      (row) => Number(row.ordinal),
      (row) => decodeReject(row.record),
    )

  /** Tasks of a campaign that the service refused, or a person gave up, with what was asked. */
  const dropped = (
    campaign: Option.Option<number>,
  ): Stream.Stream<{ readonly state: "refused" | "given_up"; readonly reason: string } & ReadQuestion, SqlError> =>
    pages(
      (after) => sql<{
        seq: number
        state: "refused" | "given_up"
        reason: string | null
        body: Uint8Array
        items: Uint8Array
      }>`
      SELECT t.seq, t.state, t.reason, q.body, q.items FROM task t
      JOIN task_request q ON q.partition_id = t.partition_id AND q.seq = t.seq
      WHERE t.partition_id = ${partition} AND ${sql.in("t.state", ["refused", "given_up"])}
        AND ${inCampaign(campaign)} AND t.seq > ${after} ORDER BY t.seq LIMIT ${pageSize}`,
      (row) => Number(row.seq),
      (row) => ({ state: row.state, reason: row.reason ?? "", ...readQuestion(row) }),
    )

  return { completed: completedOf(Option.none()), completedOf, rejects, dropped }
}
