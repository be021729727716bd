/**
 * What was read: runs, the items that they saw, the tasks planned from them, and the
 * records that were refused.
 *
 * Guarantees: a step of reading is recorded whole or not at all, so the items of a task
 * become known together with it, and the counts always agree with what is recorded: an item
 * that waits for its task to fill counts with the step that plans it, a record of a reading that
 * ended before that not at all.
 */
import { Array as Arr, Clock, Effect, type Latch, Option } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type { Reject } from "../domain/Reject.ts"
import type { BatchItem } from "./Batch.ts"
import type { ItemDetails, LedgerContext, NewTask, ReadCounts, Run, Sighting, TaskState } from "./LedgerModel.ts"
import { inPortions, insertTask, withPayload } from "./LedgerRows.ts"

const detailsOf = ({ item, itemId, origin }: BatchItem): ItemDetails => ({
  item_id: itemId,
  origin,
  ...(item.metadata === undefined ? {} : { metadata: item.metadata }),
  ...(item.gold === undefined ? {} : { gold: item.gold }),
})

const toRow = ({ body, idempotencyKey, items, utf8 }: NewTask) =>
  withPayload({ body, idempotencyKey, items: items.map(detailsOf), of: items }, utf8)

type TaskRow = ReturnType<typeof toRow>

export const make = ({ partition, questions, sql, write }: LedgerContext, planned: Latch.Latch) => {
  const here = sql`partition_id = ${partition}`

  const sight = Effect.fnUntraced(function* (
    { campaign, run }: Run,
    items: ReadonlyArray<Pick<BatchItem, "itemId" | "contentHash">>,
  ) {
    const rows = yield* inPortions(
      items,
      (items) => sql<{ item_id: string; content_hash: string | null; run: number }>`
        SELECT item_id, content_hash, run FROM item WHERE ${here} AND campaign = ${campaign} AND ${sql.in(
          "item_id",
          items.map((item) => item.itemId),
        )}`,
    )
    const seen = new Map(rows.flat().map((row) => [row.item_id, row]))
    return items.map((item): Sighting => {
      const row = seen.get(item.itemId)
      if (row === undefined) return "new"
      if ((row.content_hash ?? row.item_id) !== item.contentHash) return "conflict"
      return Number(row.run) === run ? "duplicate" : "known"
    })
  })

  const markSeen = ({ campaign, run }: Run, itemIds: ReadonlyArray<string>) =>
    inPortions(
      itemIds,
      (ids) => sql`UPDATE item SET run = ${run} WHERE ${here} AND campaign = ${campaign} AND ${sql.in("item_id", ids)}`,
    )

  const insertTasks = Effect.fnUntraced(function* ({ campaign, run }: Run, tasks: ReadonlyArray<TaskRow>) {
    const now = yield* Clock.currentTimeMillis
    const rows = yield* sql<{ next: number }>`
      SELECT seq + item_count AS next FROM task WHERE ${here} ORDER BY seq DESC LIMIT 1`
    let seq = Number(rows[0]?.next ?? 0)
    const placed: Array<readonly [seq: number, task: TaskRow]> = []
    for (const task of tasks) {
      const first = seq
      const rows = Arr.map(task.of, (item, i) => ({
        partition_id: partition,
        campaign,
        item_id: item.itemId,
        content_hash: item.contentHash === item.itemId ? null : item.contentHash,
        seq: first + i,
        run,
      }))
      yield* inPortions(rows, (rows) => sql`INSERT INTO item ${sql.insert(rows)}`)
      yield* insertTask({ partition, sql }, { ...task, seq, campaign, plannedAt: now })
      placed.push([seq, task])
      seq += task.items.length
    }
    return placed
  })

  /** One step of reading: all of it is recorded, or nothing. */
  const record = Effect.fn("Ledger.record")(function* (
    run: Run,
    step: {
      readonly tasks: ReadonlyArray<NewTask>
      readonly known: ReadonlyArray<string>
      readonly rejects: ReadonlyArray<Reject>
      readonly counts: ReadCounts
      readonly finished: boolean
    },
  ) {
    const tasks = step.tasks.map(toRow)
    const placed = yield* write(
      Effect.gen(function* () {
        const placed = yield* insertTasks(run, tasks)
        yield* markSeen(run, step.known)
        const rejects = step.rejects.map((reject, i) => ({
          partition_id: partition,
          run: run.run,
          ordinal: step.counts.rejected - step.rejects.length + i,
          record: JSON.stringify(reject),
        }))
        yield* inPortions(rejects, (rows) => sql`INSERT INTO reject ${sql.insert(rows)}`)
        yield* sql`UPDATE run SET read_count = ${step.counts.read}, new_count = ${step.counts.new},
          known_count = ${step.counts.known}, duplicate_count = ${step.counts.duplicates},
          rejected_count = ${step.counts.rejected}, read_finished = ${step.finished ? 1 : 0}
          WHERE ${here} AND run = ${run.run}`
        return placed
      }),
    )
    for (const [seq, { body, items, of, size }] of placed) {
      const prompts = of.map(({ item: { completions, prompt } }) => ({ prompt, completions }))
      questions.add(seq, { body, prompts, items }, size)
    }
    if (step.tasks.length > 0) yield* planned.open
  })

  /** How many items of a run's input stand in tasks of these states. */
  const itemsIn = Effect.fn("Ledger.itemsIn")(function* (run: number, states: ReadonlyArray<TaskState>) {
    const rows = yield* sql<{ items: number }>`SELECT COUNT(*) AS items FROM task
      JOIN item ON item.partition_id = task.partition_id AND item.seq >= task.seq AND item.seq < task.seq + task.item_count
      WHERE task.partition_id = ${partition} AND ${sql.in("task.state", states)} AND item.run = ${run}`
    return Number(rows[0]!.items)
  })

  const runWhere = Effect.fnUntraced(function* (condition: Fragment) {
    const rows = yield* sql<
      Record<
        | "run"
        | "campaign"
        | "read_count"
        | "new_count"
        | "known_count"
        | "duplicate_count"
        | "rejected_count"
        | "read_finished",
        number
      > & { readonly max_rejects: number | null }
    >`SELECT * FROM run WHERE ${here} AND ${condition} ORDER BY run DESC LIMIT 1`
    return Option.map(Option.fromNullishOr(rows[0]), (row) => ({
      run: Number(row.run),
      campaign: Number(row.campaign),
      /** Whether its input was read to the end. */
      readFinished: Number(row.read_finished) === 1,
      /** How many rejects it allowed, where it ended because there were more. */
      maxRejects: Option.map(Option.fromNullishOr(row.max_rejects), Number),
      counts: {
        read: Number(row.read_count),
        new: Number(row.new_count),
        known: Number(row.known_count),
        duplicates: Number(row.duplicate_count),
        rejected: Number(row.rejected_count),
      } satisfies ReadCounts,
    }))
  })

  /** What a run has read. */
  const runOf = Effect.fn("Ledger.runOf")((run: number) => runWhere(sql`run = ${run}`))

  /** The last run that has read anything. */
  const lastRun = runWhere(sql`read_count > 0`).pipe(Effect.withSpan("Ledger.lastRun"))

  return { sight, record, itemsIn, runOf, lastRun }
}
