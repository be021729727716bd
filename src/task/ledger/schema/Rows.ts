/** Reads and writes rows of the ledger, in chunks that fit into a statement of any database. */
import { Array as Arr, Effect, Option, Schema } from "effect"
import type { Fragment } from "effect/sql/Statement"
import * as CompletionTexts from "../../../domain/CompletionTexts.ts"
import * as Conversation from "../../../domain/Conversation.ts"
import type { Prompt } from "../../../domain/Message.ts"
import { parseTaskRequest, type TaskPrompt } from "../../../domain/Task.ts"
import { type BatchPlace, ItemDetails, type LedgerContext, type StoredRequest } from "./Model.ts"
import * as JsonText from "../../../domain/JsonText.ts"
import * as CompletionOrder from "./CompletionOrder.ts"
import * as Expected from "./Expected.ts"
import * as Payload from "./Payload.ts"

/** Prefix of the ledger's ids of imported tasks. If the imported result has a `task_id`, judgments show this id. */
export const importedTaskPrefix = "imported_"

/** Maximum rows per statement, for rows of up to ten values. SQLite allows 32,766 values, and PostgreSQL 32,767. */
const rowsPerStatement = 3_200

export const inChunks = <A, B, E, R>(
  rows: ReadonlyArray<A>,
  statement: (rows: Arr.NonEmptyReadonlyArray<A>) => Effect.Effect<B, E, R>,
) => Effect.forEach(Arr.chunksOf(rows, rowsPerStatement), statement)

/** Rows per `INSERT`. The database prepares and caches a separate statement for each number of rows. */
const rowsPerInsert = 128

export const insertRows = (sql: LedgerContext["sql"], table: string, rows: ReadonlyArray<Record<string, unknown>>) =>
  Effect.forEach(Arr.chunksOf(rows, rowsPerInsert), (rows) => sql`INSERT INTO ${sql(table)} ${sql.insert(rows)}`, {
    discard: true,
  })

const decodeItems = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(ItemDetails)))

interface Payloads {
  readonly body: Uint8Array
  readonly items: Uint8Array
}

export const parseRequest = (row: Payloads): Omit<StoredRequest, "body"> => {
  const { prompts } = parseTaskRequest(Payload.decode(row.body))
  const items = decodeItems(Payload.decode(row.items))
  return { prompts: promptsOf(prompts, items), items }
}

const beforePrompt = Buffer.from('{"prompt":')
const beforeCompletions = Buffer.from(',"completions":[')
const afterCompletions = Buffer.from("]}")
const comma = 0x2c

const isAt = (body: Buffer, text: Buffer, at: number): boolean =>
  body.compare(text, 0, text.length, at, at + text.length) === 0

const surrogate = Buffer.from("\\ud")

/** Like `parseRequest`, but decodes a completion only when a caller reads the completion. */
export const parsePrompts = (row: Payloads): Omit<StoredRequest, "body"> => {
  const items = decodeItems(Payload.decode(row.items))
  const bytes = Payload.unpack(row.body)
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const prompts: Array<TaskPrompt> = []
  if (body.includes(surrogate)) return parseRequest(row)
  // `beforePrompt` contains quotes. JSON escapes quotes in strings, so `beforePrompt` never occurs in a string.
  for (let at = body.indexOf(beforePrompt); at !== -1; at = body.indexOf(beforePrompt, at)) {
    const texts = textsOf(body, at + beforePrompt.length)
    if (texts === undefined) return parseRequest(row)
    const prompt = JsonText.decode(body, texts.prompt)
    const order = items[prompts.length]?.order
    const places = order === undefined ? texts.completions : CompletionOrder.undo(texts.completions, order)
    const completions = CompletionTexts.make({ body, prompt: { text: prompt, place: texts.prompt }, places })
    prompts.push({ prompt, completions })
    at = texts.end
  }
  // If the numbers of prompts and items differ, the body does not have the format that prefstream writes.
  return prompts.length === items.length ? { prompts, items } : parseRequest(row)
}

/** Finds the texts of the prompt at `start`. Returns undefined if the body is not in prefstream's format. */
const textsOf = (body: Buffer, start: number) => {
  const prompt: JsonText.Place = [start, JsonText.endOf(body, start)]
  const completions: Array<JsonText.Place> = []
  let [, end] = prompt
  if (!isAt(body, beforeCompletions, end)) return undefined
  end += beforeCompletions.length - 1
  do {
    const next = end + 1
    if (body[next] !== 0x22) return undefined
    end = JsonText.endOf(body, next)
    completions.push([next, end])
  } while (body[end] === comma)
  return isAt(body, afterCompletions, end) ? { prompt, completions, end: end + afterCompletions.length } : undefined
}

export const promptsOf = (
  sent: ReadonlyArray<TaskPrompt>,
  items: ReadonlyArray<Pick<ItemDetails, "order">>,
): ReadonlyArray<TaskPrompt> =>
  sent.map((prompt, i) => {
    const order = items[i]?.order
    return order === undefined ? prompt : { ...prompt, completions: CompletionOrder.undo(prompt.completions, order) }
  })

export const promptOf = (sent: string, { conversation }: Pick<ItemDetails, "conversation">): Prompt =>
  conversation === true ? Option.getOrElse(Conversation.parse(sent), () => sent) : sent

export const fits = (
  { as_messages, completion_origins, conversation, models, order }: ItemDetails,
  { completions, prompt }: TaskPrompt,
): boolean =>
  [as_messages, completion_origins, models, order].every(
    (each) => each === undefined || each.length === completions.length,
  ) &&
  (conversation !== true || Option.contains(Option.map(Conversation.parse(prompt), Conversation.render), prompt))

export const withPayload = <
  Task extends Pick<StoredRequest, "body" | "items"> & { readonly prompts: Parameters<typeof Expected.encode>[0] },
>(
  task: Task,
) => ({
  ...task,
  payload: {
    expected: Expected.encode(task.prompts),
    items: Payload.encode(JSON.stringify(task.items)),
    body: task.body,
  },
})

type PlannedRow = ReturnType<typeof withPayload> &
  BatchPlace & {
    readonly seq: number
    readonly campaign: number
    readonly part: number
    readonly attempt?: number
    readonly leastVotes?: number | null | undefined
    readonly resendAt?: number | null
    /** Default: the job's current price list. */
    readonly priceList?: number | null
    readonly idempotencyKey: string
    readonly plannedAt: number
  }

/** Name of the setting with the number of the price list for new tasks (column `list` of the table `price_list`). */
export const priceListSetting = "price_list"

export const priceListOf = (here: Pick<LedgerContext, "job" | "sql">) =>
  Effect.map(settingOf(here, priceListSetting), (list) => (list === undefined ? null : Number(list)))

export const insertTasks = Effect.fnUntraced(function* (
  { job, sql }: Pick<LedgerContext, "job" | "sql">,
  tasks: ReadonlyArray<PlannedRow>,
) {
  if (tasks.length === 0) return
  const present = yield* priceListOf({ job, sql })
  const rows = tasks.map((task) => ({
    job,
    seq: task.seq,
    campaign: task.campaign,
    attempt: task.attempt ?? 1,
    item_count: task.items.length,
    new_items: task.vote === 1 ? task.items.filter(({ check }) => check !== true).length : 0,
    gold_items:
      task.vote === 1 ? task.items.filter(({ check, gold }) => check !== true && gold !== undefined).length : 0,
    batch: task.batch,
    batch_items: task.batchItems,
    vote: task.vote,
    votes: task.votes,
    asks: task.asks,
    voters: task.voters,
    least_votes: task.leastVotes ?? null,
    part: task.part,
    idempotency_key: task.idempotencyKey,
    state: "planned",
    planned_at: task.plannedAt,
    resend_at: task.resendAt ?? null,
    price_list: task.priceList === undefined ? present : task.priceList,
  }))
  yield* insertRows(sql, "task", rows)
  const requests = tasks.map(({ payload, seq }) => ({ job, seq, ...payload }))
  yield* insertRows(sql, "task_request", requests)
})

export const batchColumns = 'batch, batch_items AS "batchItems", vote, votes, asks, voters'

/** SQL condition: `task` asks for a vote on `item`, either the first vote or a later one. */
export const isAskedBy = (task: string): string =>
  `item.batch = ${task}.batch AND item.seq >= ${task}.seq - (${task}.vote - 1) * ${task}.batch_items AND ` +
  `item.seq < ${task}.seq - (${task}.vote - 1) * ${task}.batch_items + ${task}.item_count`

export const inCampaign = (sql: LedgerContext["sql"], campaign: Option.Option<number>) =>
  Option.match(campaign, { onNone: () => sql`1 = 1`, onSome: (campaign) => sql`t.campaign = ${campaign}` })

/** `ORDER BY` makes PostgreSQL use the index. Otherwise, it might read all tasks. */
export const isAny = (sql: LedgerContext["sql"], condition: Fragment) =>
  Effect.map(sql`SELECT 1 FROM task WHERE ${condition} ORDER BY due_at LIMIT 1`, (rows) => rows.length > 0)

/** Locks the selected rows in PostgreSQL. SQLite has only one writer, so it needs no locks. */
export const forUpdate = (sql: LedgerContext["sql"], others: "" | "SKIP LOCKED" = "") =>
  sql.literal(sql.onDialectOrElse({ pg: () => `FOR UPDATE ${others}`, orElse: () => "" }))

/**
 * Makes unsent tasks `superseded` if their campaign is not the campaign of the last run. A task does not change if
 * a person asked to resend it. Locks the job, so that no other run begins until the transaction ends.
 */
export const supersede = Effect.fnUntraced(function* (
  { job, sql }: Pick<LedgerContext, "job" | "sql">,
  some: Fragment,
) {
  const here = sql`job = ${job}`
  yield* sql`SELECT 1 FROM job WHERE ${here} ${forUpdate(sql)}`
  const [last] = yield* sql<{ campaign: number }>`SELECT campaign FROM run WHERE ${here} ORDER BY run DESC LIMIT 1`
  if (last === undefined) return
  yield* sql`UPDATE task SET state = 'superseded', reason = ${`campaign ${last.campaign} began before it was sent`}
    WHERE ${here} AND ${some} AND state = 'planned' AND sent_at IS NULL AND resend_at IS NULL
      AND campaign <> ${last.campaign}`
})

/** Replaces NUL, because PostgreSQL cannot store it in a text column. */
export const storable = (reason: string | null): string | null => reason?.replaceAll("\0", "\uFFFD") ?? null

/** The `seq` of another task that has this id at the service, or had it in an earlier attempt. */
export const ownerOf = ({ job, sql }: Pick<LedgerContext, "job" | "sql">, taskId: string, seq: number) => {
  const others = sql`job = ${job} AND task_id = ${taskId} AND seq <> ${seq}`
  return Effect.map(
    sql<{ seq: number }>`SELECT seq FROM task WHERE ${others}
      UNION ALL SELECT seq FROM task_attempt WHERE ${others} LIMIT 1`,
    (rows) => Option.map(Option.fromUndefinedOr(rows[0]), ({ seq }) => seq),
  )
}

export const settingOf = ({ job, sql }: Pick<LedgerContext, "job" | "sql">, name: string) =>
  Effect.map(
    sql<{ value: string }>`SELECT value FROM setting WHERE job = ${job} AND name = ${name}`,
    (rows) => rows[0]?.value,
  )

/** Completion time of a new result. It is always later than the time of the replaced result: see `Fingerprint`. */
export const completedAt = (sql: LedgerContext["sql"], now: number) =>
  sql`CASE WHEN completed_at >= ${now} THEN completed_at + 1 ELSE CAST(${now} AS BIGINT) END`

export const setSetting = ({ job, sql }: Pick<LedgerContext, "job" | "sql">, name: string, value: string) =>
  sql`INSERT INTO setting (job, name, value) VALUES (${job}, ${name}, ${value})
    ON CONFLICT (job, name) DO UPDATE SET value = excluded.value`
