/** Streams of results, rejects, and prompts, in the order of the items. Each stream reads one page at a time. */
import { Array as Arr, Effect, Option, Result, Schema, Stream, Struct } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Prompt } from "../../../domain/Message.ts"
import type { PromptItem } from "../../../domain/PromptItem.ts"
import { Reject } from "../../../domain/Reject.ts"
import {
  type BatchPlace,
  type CompletedTask,
  type ItemDetails,
  type LedgerContext,
  lostStates,
} from "../schema/Model.ts"
import * as Payload from "../schema/Payload.ts"
import { batchColumns, inCampaign, parsePrompts, promptOf } from "../schema/Rows.ts"

interface DroppedItem extends ItemDetails, Pick<PromptItem, "prompt" | "completions"> {}

export interface PlannedItem extends Pick<ItemDetails, "models" | "metadata"> {
  readonly itemId: string
  readonly prompt: Prompt
}

export interface DroppedTask {
  readonly state: "refused" | "given_up"
  readonly reason: string
  readonly items: ReadonlyArray<DroppedItem>
}

/** Rows per page. Pages are small, since a row can contain a task's whole request and result. */
const pageSize = 16

const maxPageSize = 256
const pageBytes = 1_000_000

const maxChunkItems = 64

const smallRows = 1024

const decodeReject = Schema.decodeUnknownSync(Schema.fromJsonString(Reject))

interface CompletedRow extends BatchPlace {
  readonly seq: number
  readonly taskId: string
  readonly completedAt: number | null
  readonly body: Uint8Array
  readonly items: Uint8Array
  readonly result: Uint8Array
}

const inChunks = (rows: Arr.NonEmptyReadonlyArray<CompletedRow>) =>
  Arr.chunksOf(rows, Math.floor(maxChunkItems / Math.max(...rows.map(({ batchItems }) => batchItems))))

export const readStreams = ({ job, sql }: LedgerContext) => {
  const here = sql`job = ${job}`

  const pages = <Row extends { readonly seq: number }, A>(
    page: (after: number, limit: number) => Effect.Effect<ReadonlyArray<Row>, SqlError>,
    decode: (row: Row) => A,
    limitAfter: (rows: ReadonlyArray<Row>) => number = () => pageSize,
  ): Stream.Stream<A, SqlError> =>
    Stream.paginate<readonly [number, number], A, SqlError>([-1, pageSize], ([after, limit]) =>
      Effect.map(page(after, limit), (rows) => {
        const last = rows.at(-1)
        const next = last === undefined ? Option.none() : Option.some([last.seq, limitAfter(rows)] as const)
        return [rows.map(decode), next] as const
      }),
    )

  const isElsewhere = sql.onDialectOrElse({ pg: () => true, orElse: () => false })

  /** In a PostgreSQL snapshot, where no new rows can appear, reads the next page while the current one is processed. */
  const readAhead = <A, E, R>(pages: Stream.Stream<A, E, R>): Stream.Stream<A, E, R> =>
    Stream.unwrap(
      Effect.map(Effect.serviceOption(sql.transactionService), (snapshot) =>
        isElsewhere && Option.isSome(snapshot) ? Stream.bufferArray(pages, { capacity: 1 }) : pages,
      ),
    )

  const completedOf = (campaign: Option.Option<number>): Stream.Stream<CompletedTask, SqlError> =>
    pages(
      (after, limit) => sql<CompletedRow>`SELECT t.seq, t.task_id AS "taskId", ${sql.literal(batchColumns)},
        CASE WHEN t.submitted_at IS NULL THEN NULL ELSE t.completed_at END AS "completedAt",
        q.body, q.items, r.body AS result FROM task t
      JOIN task_request q ON q.job = t.job AND q.seq = t.seq
      JOIN task_result r ON r.job = t.job AND r.seq = t.seq
      WHERE t.job = ${job} AND t.state = 'completed' AND ${inCampaign(sql, campaign)} AND t.seq > ${after}
      ORDER BY t.seq LIMIT ${limit}`,
      (row) => row,
      (rows) => {
        const bytes = rows.reduce((sum, { body, items, result }) => sum + body.length + items.length + result.length, 0)
        return Math.max(pageSize, Math.min(maxPageSize, Math.floor((rows.length * pageBytes) / bytes)))
      },
    ).pipe(
      readAhead,
      Stream.mapArray(inChunks),
      Stream.flattenArray,
      Stream.map(({ body, ...row }) => ({ ...row, ...parsePrompts({ body, items: row.items }) })),
    )

  const rejects = (run: number): Stream.Stream<Reject, SqlError> =>
    pages(
      (after) => sql<{ seq: number; record: string }>`SELECT ordinal AS seq, record FROM reject
        WHERE ${here} AND run = ${run} AND ordinal > ${after} ORDER BY ordinal LIMIT ${pageSize}`,
      (row) => decodeReject(row.record),
    )

  const placesOpen = Effect.fnUntraced(function* ({ batch, batchItems, votes }: BatchPlace) {
    const rows =
      votes === 1
        ? []
        : yield* sql<{ seq: number; vote: number; items: number }>`
      SELECT seq, vote, item_count AS items FROM task WHERE ${here} AND seq >= ${batch}
        AND seq < ${batch + votes * batchItems} AND NOT ${sql.in("state", lostStates)}`
    return rows.map(({ items, seq, vote }) => {
      const first = seq - (vote - 1) * batchItems
      return { first, end: first + items }
    })
  })

  const resultsOfOtherVotes = Effect.fnUntraced(function* (seq: number) {
    // These are two queries. Until PostgreSQL has statistics about the tables, a join would read all completed tasks.
    const [place] = yield* sql<BatchPlace>`SELECT ${sql.literal(batchColumns)} FROM task WHERE ${here} AND seq = ${seq}`
    if (place === undefined || place.votes === 1) return []
    const { batch, batchItems, vote, votes } = place
    const rows = yield* sql<{ taskId: string; result: Uint8Array }>`
      SELECT t.task_id AS "taskId", r.body AS result FROM task t JOIN task_result r ON r.job = t.job AND r.seq = t.seq
      WHERE t.job = ${job} AND t.seq >= ${batch} AND t.seq < ${batch + votes * batchItems} AND t.vote <> ${vote}
        AND t.state = 'completed' ORDER BY t.seq`
    return rows.flatMap(({ result, taskId }) =>
      Result.match(
        Result.try(() => Payload.decode(result)),
        { onFailure: () => [], onSuccess: (text) => [{ taskId, result: text }] },
      ),
    )
  })

  const dropped = (campaign: Option.Option<number>): Stream.Stream<DroppedTask, SqlError> =>
    pages(
      (after) => sql<
        BatchPlace & {
          seq: number
          state: "refused" | "given_up"
          reason: string | null
          body: Uint8Array
          items: Uint8Array
        }
      >`SELECT t.seq, t.state, t.reason, ${sql.literal(batchColumns)}, q.body, q.items FROM task t
      JOIN task_request q ON q.job = t.job AND q.seq = t.seq
      WHERE t.job = ${job} AND ${sql.in("t.state", lostStates)} AND t.vote = 1
        AND ${inCampaign(sql, campaign)} AND t.seq > ${after} ORDER BY t.seq LIMIT ${pageSize}`,
      (row) => row,
    ).pipe(
      Stream.mapEffect(
        Effect.fnUntraced(function* (row) {
          const open = yield* placesOpen(row)
          const { items, prompts } = parsePrompts(row)
          const isLost = (i: number) => {
            const at = row.seq + i
            return items[i]!.check !== true && !open.some(({ end, first }) => first <= at && at < end)
          }
          return {
            state: row.state,
            reason: row.reason ?? "",
            items: items.flatMap((details, i): ReadonlyArray<DroppedItem> => {
              const { completions, prompt } = prompts[i]!
              return isLost(i) ? [{ ...details, prompt: promptOf(prompt, details), completions }] : []
            }),
          }
        }),
      ),
    )

  /** The planned items of all campaigns, whether judged or not. Pruned items and mixed-in gold items are left out. */
  const prompts: Stream.Stream<PlannedItem, SqlError> = pages(
    (after) => sql<{ seq: number; body: Uint8Array; items: Uint8Array }>`SELECT t.seq, q.body, q.items FROM task t
      JOIN task_request q ON q.job = t.job AND q.seq = t.seq
      WHERE t.job = ${job} AND t.vote = 1 AND t.seq > ${after} ORDER BY t.seq LIMIT ${pageSize}`,
    (row) => {
      const { items, prompts } = parsePrompts(row)
      return items.flatMap((details, i) =>
        details.check === true
          ? []
          : [
              {
                itemId: details.item_id,
                prompt: promptOf(prompts[i]!.prompt, details),
                ...Struct.pick(details, ["models", "metadata"]),
              },
            ],
      )
    },
  ).pipe(Stream.flattenIterable)

  const turnarounds = (campaign: Option.Option<number>): Stream.Stream<number, SqlError> =>
    pages(
      (after) => sql<{
        seq: number
        millis: number
      }>`SELECT t.seq, t.completed_at - t.submitted_at AS millis FROM task t
        WHERE t.job = ${job} AND t.state = 'completed' AND t.submitted_at IS NOT NULL
          AND ${inCampaign(sql, campaign)} AND t.seq > ${after}
        ORDER BY t.seq LIMIT ${smallRows}`,
      ({ millis }) => millis,
    )

  return {
    completed: completedOf(Option.none()),
    completedOf,
    resultsOfOtherVotes,
    rejects,
    dropped,
    prompts,
    turnarounds,
  }
}
