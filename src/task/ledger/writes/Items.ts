/** Classifies, records, and counts the items of the input. A step of reading is recorded completely or not at all. */
/* oxlint-disable max-lines -- the reads and writes concern the same rows */
import { Effect, type Latch } from "effect"
import * as SteadyClock from "../../../io/SteadyClock.ts"
import * as ItemBytes from "../../../domain/ItemBytes.ts"
import { usesTools } from "../../../domain/Message.ts"
import type { Voters } from "../../../domain/Voters.ts"
import * as Model from "../schema/Model.ts"
import type { Parts } from "./Parts.ts"
import * as Payload from "../schema/Payload.ts"
import {
  completedAt,
  inChunks,
  insertRows,
  insertTasks,
  isAskedBy,
  parseRequest,
  setSetting,
  settingOf,
  withPayload,
} from "../schema/Rows.ts"
import { type AllottedTasks, votesLeft } from "./Spending.ts"
import * as SeqSet from "../schema/SeqSet.ts"

const detailsOf = (
  { completionOrigins, isCheck, item, itemId, origin }: Model.BatchItem,
  order: ReadonlyArray<number> | undefined,
): Model.ItemDetails => ({
  item_id: itemId,
  origin,
  ...(isCheck === true ? { check: true } : {}),
  ...(order === undefined ? {} : { order }),
  ...(item.metadata === undefined ? {} : { metadata: item.metadata }),
  ...(item.gold === undefined ? {} : { gold: item.gold }),
  ...(item.models === undefined ? {} : { models: item.models }),
  ...(completionOrigins === undefined ? {} : { completion_origins: completionOrigins }),
  ...(typeof item.prompt === "string" ? {} : { conversation: true }),
  ...(item.as_messages === undefined ? {} : { as_messages: item.as_messages }),
  ...(item.tools === undefined ? {} : { tools: item.tools }),
})

const toRow = ({
  asks = 1,
  body,
  idempotencyKey,
  items,
  leastVotes,
  orders,
  vote = 1,
  voters,
  votes = 1,
}: Model.NewTask) =>
  withPayload({
    body,
    idempotencyKey,
    items: items.map((item, i) => detailsOf(item, orders?.[i])),
    prompts: items.map(({ bytes, prompt }) => ({ prompt, completions: { length: ItemBytes.count(bytes) } })),
    of: items,
    vote,
    votes,
    leastVotes,
    asks,
    voters: voters ?? null,
  })

type TaskRow = ReturnType<typeof toRow>

const hasConversation = ({ items }: TaskRow): boolean =>
  items.some(
    ({ as_messages, check, conversation }) => (conversation === true || as_messages !== undefined) && check !== true,
  )

const hasTools = ({ of }: TaskRow): boolean =>
  of.some(
    ({ isCheck, item: { as_messages, prompt, tools } }) =>
      isCheck !== true &&
      (as_messages !== undefined || tools !== undefined || (typeof prompt !== "string" && prompt.some(usesTools))),
  )

export const importPrefix = "import:"

const importOf = (run: number): string => `${importPrefix}${run}`

/** Name of a setting. The setting exists if any planned prompt or completion of the job is a list of messages. */
const conversations = "conversations"

/** Name of a setting. The setting exists if any planned item has tool calls, tool results, or tool definitions. */
const tools = "tools"

export const readItems = ({ job, sql }: Model.LedgerContext) => {
  const isAskedByTask = (task: "t" | "v") => sql.literal(isAskedBy(task))

  /** SQL condition: the run has read the item. The item was new in this run, or known from an earlier run. */
  const isOf = (run: number) => sql`(item.run = ${run} OR item.seq < (SELECT k.end_seq FROM known k
    WHERE k.job = item.job AND k.run = ${run} AND k.first_seq <= item.seq
    ORDER BY k.first_seq DESC LIMIT 1))`

  /** May be false in a ledger of an older version, which did not record whether an item is a conversation. */
  const hasConversations = Effect.map(settingOf({ job, sql }, conversations), (value) => value !== undefined).pipe(
    Effect.withSpan("Ledger.hasConversations"),
  )

  const hasTools = Effect.map(settingOf({ job, sql }, tools), (value) => value !== undefined).pipe(
    Effect.withSpan("Ledger.hasTools"),
  )

  const itemsOfTasks = sql`FROM task t JOIN item ON item.job = t.job AND ${isAskedByTask("t")}
    WHERE t.job = ${job}`

  const first = (rows: ReadonlyArray<{ readonly items: number }>) => rows[0]!.items

  const itemsIn = Effect.fn("Ledger.itemsIn")((run: number, states: ReadonlyArray<Model.TaskState>) =>
    Effect.map(
      sql<{ items: number }>`SELECT COUNT(*) AS items ${itemsOfTasks}
        AND ${sql.in("t.state", states)} AND ${isOf(run)}
        AND NOT EXISTS (SELECT 1 FROM task v WHERE v.job = t.job
          AND v.batch = t.batch AND v.seq >= t.batch AND v.seq < t.seq AND v.vote < t.vote AND ${sql.in("v.state", states)} AND ${isAskedByTask("v")})`,
      first,
    ),
  )

  /** SQL condition: `t` asks for the item's first vote, and each task for a later vote was refused or given up. */
  const isLost = sql`t.vote = 1 AND NOT EXISTS (SELECT 1 FROM task v WHERE v.job = t.job
    AND v.batch = t.batch AND v.seq > t.seq AND v.seq < t.batch + t.votes * t.batch_items AND v.vote > 1
    AND NOT ${sql.in("v.state", Model.lostStates)} AND ${isAskedByTask("v")})`

  const itemsLost = Effect.fn("Ledger.itemsLost")((run: number) =>
    Effect.map(
      sql<{ items: number }>`SELECT COUNT(*) AS items ${itemsOfTasks}
        AND ${sql.in("t.state", Model.lostStates)} AND ${isOf(run)} AND ${isLost}`,
      first,
    ),
  )

  const recorded = Effect.fnUntraced(function* (
    campaign: number,
    items: ReadonlyArray<Pick<Model.BatchItem, "itemId">>,
  ) {
    const rows = yield* inChunks(
      items,
      (items) => sql<{ itemId: string; contentHash: string; seq: number; run: number }>`
        SELECT item_id AS "itemId", COALESCE(content_hash, item_id) AS "contentHash", seq, run FROM item WHERE job = ${job} AND campaign = ${campaign} AND ${sql.in(
          "item_id",
          items.map((item) => item.itemId),
        )}`,
    )
    return new Map(rows.flat().map((row) => [row.itemId, row]))
  })

  const importedTasks = Effect.fnUntraced(function* (taskIds: ReadonlyArray<string>) {
    const rows = yield* inChunks(
      taskIds,
      (taskIds) => sql<{ seq: number; taskId: string; body: Uint8Array; items: Uint8Array; result: Uint8Array }>`
        SELECT t.seq, t.task_id AS "taskId", q.body, q.items, r.body AS result FROM task t
        JOIN task_request q ON q.job = t.job AND q.seq = t.seq
        JOIN task_result r ON r.job = t.job AND r.seq = t.seq
        WHERE t.job = ${job} AND t.submitted_at IS NULL AND t.state = 'completed' AND ${sql.in("t.task_id", taskIds)}`,
    )
    return rows.flat().map(({ result, seq, taskId, ...payloads }) => ({
      seq,
      taskId,
      ...parseRequest(payloads),
      result: Payload.decode(result),
    }))
  })

  const isImport = (run: number) => Effect.map(settingOf({ job, sql }, importOf(run)), (value) => value !== undefined)

  return { hasConversations, hasTools, itemsIn, itemsLost, recorded, importedTasks, isImport }
}

export const writeItems = (
  { bodies, job, partCount, sql, tell, write }: Model.LedgerContext & Pick<Parts, "tell">,
  planned: Latch.Latch,
  { recorded }: Pick<ReturnType<typeof readItems>, "recorded">,
) => {
  const here = sql`job = ${job}`

  let reread = { run: -1, seqs: SeqSet.make() }
  const knownOf = (run: number) => {
    if (reread.run !== run) reread = { run, seqs: SeqSet.make() }
    return reread.seqs
  }

  const classify = Effect.fnUntraced(function* (
    { campaign, run }: Model.Run,
    items: ReadonlyArray<Pick<Model.BatchItem, "itemId" | "contentHash">>,
  ) {
    const seen = yield* recorded(campaign, items)
    return items.map((item): Model.Classification => {
      const row = seen.get(item.itemId)
      if (row === undefined) return "new"
      if (row.contentHash !== item.contentHash) return "conflict"
      return row.run === run || knownOf(run).has(row.seq) ? "duplicate" : "known"
    })
  })

  const insertKnown = Effect.fnUntraced(function* ({ campaign, run }: Model.Run, itemIds: ReadonlyArray<string>) {
    if (itemIds.length === 0) return []
    const rows = yield* inChunks(
      itemIds,
      (ids) => sql<{ seq: number }>`
        SELECT seq FROM item WHERE ${here} AND campaign = ${campaign} AND ${sql.in("item_id", ids)}`,
    )
    const seqs = rows.flat().map(({ seq }) => seq)
    const spans = SeqSet.spansOf(seqs).map(({ end, first }) => ({
      job,
      run,
      first_seq: first,
      end_seq: end,
    }))
    yield* sql`DELETE FROM known WHERE ${here} AND run < ${run}`
    yield* insertRows(sql, "known", spans)
    return seqs
  })

  const planTasks = Effect.fnUntraced(function* ({ campaign, run }: Model.Run, tasks: ReadonlyArray<TaskRow>) {
    const now = yield* SteadyClock.now
    const rows = yield* sql<{ next: number; part: number }>`
      SELECT batch + votes * batch_items AS next, part FROM task WHERE ${here} ORDER BY seq DESC LIMIT 1`
    let next = rows[0]?.next ?? 0
    let batch = next
    let part = rows[0]?.part ?? -1
    const placed = tasks.map((task) => {
      const batchItems = task.items.length
      if (task.vote === 1) {
        batch = next
        next += task.votes * batchItems
        part = (part + 1) % partCount
      }
      return { ...task, batch, part, batchItems, seq: batch + (task.vote - 1) * batchItems, campaign, plannedAt: now }
    })
    const items = placed.flatMap((task) =>
      task.vote === 1
        ? task.of.flatMap((item, i) =>
            item.isCheck === true
              ? []
              : [
                  {
                    job,
                    campaign,
                    item_id: item.itemId,
                    content_hash: item.contentHash === item.itemId ? null : item.contentHash,
                    batch: task.batch,
                    seq: task.seq + i,
                    run,
                  },
                ],
          )
        : [],
    )
    // Inserts that are sorted by the primary key take a third less time.
    const inOrder = items.toSorted((a, b) => (a.item_id < b.item_id ? -1 : 1))
    yield* insertRows(sql, "item", inOrder)
    yield* insertTasks({ job, sql }, placed)
    return placed
  })

  const recordReading = Effect.fnUntraced(function* (
    { run }: Model.Run,
    { counts, finished, rejects }: Model.ReadingStep,
  ) {
    const rows = rejects.map((reject, i) => ({
      job,
      run,
      ordinal: counts.rejected - rejects.length + i,
      record: JSON.stringify(reject),
    }))
    yield* insertRows(sql, "reject", rows)
    yield* sql`UPDATE run SET read_count = ${counts.read}, new_count = ${counts.new},
      known_count = ${counts.known}, duplicate_count = ${counts.duplicates},
      reordered_count = ${counts.reordered}, rejected_count = ${counts.rejected}, read_finished = ${finished ? 1 : 0}
      WHERE ${here} AND run = ${run}`
  })

  const noted = new Set<string>()

  /** Returns the names of the stored settings. The caller adds them to `noted` after the commit. */
  const note = Effect.fnUntraced(function* (rows: ReadonlyArray<TaskRow>) {
    const settingNames = [
      ...(!noted.has(conversations) && rows.some(hasConversation) ? [conversations] : []),
      ...(!noted.has(tools) && rows.some(hasTools) ? [tools] : []),
    ]
    yield* Effect.forEach(settingNames, (name) => setSetting({ job, sql }, name, "true"), { discard: true })
    return settingNames
  })

  const allotted = Effect.fnUntraced(function* (
    allot: (votesLeft: number) => AllottedTasks,
    voters: Voters | null = null,
  ) {
    const { beyond, tasks } = allot(yield* votesLeft({ job, sql }, voters))
    return { tasks: tasks.map(toRow), beyond }
  })

  /** Returns the new items beyond the budget. `record` does not count them as new. Later steps must not count them. */
  const record = Effect.fn("Ledger.record")(function* (
    run: Model.Run,
    step: Model.ReadingStep & {
      /** The tasks, or a function that selects them by the number of votes that the budget still allows. */
      readonly tasks: ReadonlyArray<Model.NewTask> | ((votesLeft: number) => AllottedTasks)
      readonly voters?: Voters | undefined
      readonly known: ReadonlyArray<string>
      /** Number of new items that earlier steps left out because of the budget. */
      readonly overBudget?: number | undefined
    },
  ) {
    const { overBudget = 0, tasks, voters } = step
    const allowed =
      typeof tasks === "function" ? allotted(tasks, voters) : Effect.succeed({ tasks: tasks.map(toRow), beyond: [] })
    const { beyond, knownSeqs, placed, settingNames } = yield* write(
      Effect.gen(function* () {
        const { beyond, tasks } = yield* allowed
        const placed = yield* planTasks(run, tasks)
        const settingNames = yield* note(tasks)
        const knownSeqs = yield* insertKnown(run, step.known)
        yield* recordReading(run, { ...step, counts: { ...step.counts, new: step.counts.new - beyond.length } })
        yield* sql`UPDATE run SET over_budget_count = ${overBudget + beyond.length} WHERE ${here} AND run = ${run.run}`
        if (placed.length > 0) yield* tell("planned")
        return { beyond, knownSeqs, placed, settingNames }
      }),
    )
    knownSeqs.forEach(knownOf(run.run).add)
    settingNames.forEach((name) => noted.add(name))
    for (const { body, seq } of placed) bodies.add(seq, body)
    if (placed.length > 0) yield* planned.open
    return beyond
  })

  const recordImport = Effect.fn("Ledger.recordImport")(function* (
    run: Model.Run,
    step: Model.ReadingStep & {
      readonly tasks: ReadonlyArray<Model.NewTask & Model.ImportedResult>
      readonly changed: ReadonlyArray<Pick<Model.ImportedResult, "result"> & { readonly seq: number }>
    },
  ) {
    const now = yield* SteadyClock.now
    const tasks = step.tasks.map(toRow)
    const settingNames = yield* write(
      Effect.gen(function* () {
        const placed = yield* planTasks(run, tasks)
        const settingNames = yield* note(tasks)
        for (const [i, { seq }] of placed.entries()) {
          yield* sql`UPDATE task SET state = 'completed', task_id = ${step.tasks[i]!.taskId}, completed_at = ${now}
            WHERE ${here} AND seq = ${seq}`
        }
        const results = placed.map(({ seq }, i) => ({ job, seq, body: Payload.encode(step.tasks[i]!.result) }))
        yield* insertRows(sql, "task_result", results)
        for (const { result, seq } of step.changed) {
          yield* sql`UPDATE task_result SET body = ${Payload.encode(result)} WHERE ${here} AND seq = ${seq}`
          yield* sql`UPDATE task SET completed_at = ${completedAt(sql, now)} WHERE ${here} AND seq = ${seq}`
        }
        yield* setSetting({ job, sql }, importOf(run.run), "true")
        yield* recordReading(run, step)
        return settingNames
      }),
    )
    settingNames.forEach((name) => noted.add(name))
  })

  const itemsLostWith = Effect.fn("Ledger.itemsLostWith")((seq: number) =>
    Effect.map(
      sql<{ items: number }>`SELECT COUNT(*) AS items FROM task lost
        JOIN item ON item.job = lost.job AND ${sql.literal(isAskedBy("lost"))}
        WHERE lost.job = ${job} AND lost.seq = ${seq} AND NOT EXISTS (SELECT 1 FROM task v
          WHERE v.job = lost.job AND v.batch = lost.batch AND v.seq >= lost.batch
            AND v.seq < lost.batch + lost.votes * lost.batch_items
            AND NOT ${sql.in("v.state", Model.lostStates)} AND ${sql.literal(isAskedBy("v"))})`,
      (rows) => rows[0]!.items,
    ),
  )

  return { classify, record, recordImport, itemsLostWith }
}
