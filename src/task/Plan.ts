/**
 * Reads the input into the ledger as planned tasks. Each record counts once: as new, known, duplicate, or rejected.
 * Several transactions write the records. Items wait in memory until their batch (the items of a task) is full. If
 * the source fails, the records before the failure are written. The next run reads the waiting items again.
 */
import { Array as Arr, Duration, Effect, type Latch, Result, type Stream } from "effect"
import * as SteadyClock from "../io/SteadyClock.ts"
import { runAndFlush } from "../io/RunAndFlush.ts"
import { ServiceProfile } from "../api/ServiceProfile.ts"
import type { SourceItem } from "../domain/PromptItem.ts"
import type { Reject } from "../domain/Reject.ts"
import { votersOf } from "../domain/Voters.ts"
import * as Allotment from "./plan/Allotment.ts"
import * as Batch from "./plan/Batch.ts"
import type { Draw, DrawOptions } from "./plan/CompletionDraw.ts"
import type * as GoldItems from "./plan/GoldItems.ts"
import { Ledger } from "./ledger/Ledger.ts"
import { type BatchItem, type Classification, nothingRead, type Run, type RunTerms } from "./ledger/schema/Model.ts"
import type * as RejectLimit from "./plan/RejectLimit.ts"
import { classify } from "./plan/Classify.ts"
import * as SeenItems from "./plan/SeenItems.ts"
import { identify, identifyReordered, newTasks } from "./plan/TaskRequests.ts"
import * as Metrics from "../telemetry/Metrics.ts"
import { plural } from "../io/Values.ts"

export interface PlanOptions extends RunTerms, DrawOptions {
  /**
   * Whether an item without an id is judged again if it occurs with its completions in another order. If false (the
   * default), the later item is a duplicate. Its models, gold answer, and metadata are dropped.
   */
  readonly keepReordered?: boolean | undefined
  /**
   * Maximum number of items that are read, but not sent yet. At this limit, reading waits until items are sent.
   * Default: no limit. If workers share the job, this option has no effect.
   */
  readonly maxPlanned?: number | undefined
  readonly batch?: Batch.BatchLimits | undefined
}

/** Number of records per step. Smaller steps would rewrite parts of the ledger's index of items more often. */
export const stepRecords = 4096
const stepBytes = 4 * 1024 * 1024

/** After this many milliseconds, a step begins even with few records, so that a slow source's items are sent soon. */
const stepMillis = Duration.toMillis("5 seconds")

export const plan = Effect.fnUntraced(function* <E, R>(
  run: Run,
  records: Stream.Stream<Result.Result<SourceItem, Reject>, E, R>,
  options: PlanOptions & {
    readonly draw: Draw
    readonly mix: GoldItems.Mix
    readonly maxTaskVotes: number
  },
  counter: RejectLimit.Counter,
  starved: Latch.Latch,
) {
  const ledger = yield* Ledger
  const limits = yield* ServiceProfile
  const { keepReordered = false } = options
  const maxBytes = stepBytes / (options.votes ?? 1)
  let counts = nothingRead
  const batches = Batch.make(options.batch)
  const beyondBudget = SeenItems.make()
  let overBudget = 0

  const allot = (closed: ReadonlyArray<Batch.Batch>) => (votesLeft: number) => {
    const { batches, beyond } = Allotment.within(closed, options.votes ?? 1, votesLeft)
    return { tasks: batches.flatMap((batch) => newTasks(batch, options)), beyond }
  }

  const step = Effect.fnUntraced(function* (
    records: ReadonlyArray<Result.Result<BatchItem, Reject>>,
    finished: boolean,
  ) {
    const [items, rejects] = Arr.partition(records, (record) => record)
    const identities = keepReordered ? [...items, ...items.map(identifyReordered)] : items
    const classified = yield* ledger.classify(run, identities)
    const keyOf = ({ contentHash, itemId }: BatchItem) => `${contentHash}:${itemId}`
    const inLedger = new Map(identities.map((item, i) => [keyOf(item), classified[i]!]))
    const hashes = new Map(batches.waiting().map((item) => [item.itemId, item.contentHash]))
    const seenAs = (item: BatchItem): Classification => {
      const before = hashes.get(item.itemId)
      if (before !== undefined) return before === item.contentHash ? "duplicate" : "conflict"
      return beyondBudget.classify(item) ?? inLedger.get(keyOf(item))!
    }
    const fresh: Array<BatchItem> = []
    const existingIds: Array<string> = []
    let duplicates = 0
    let reordered = 0
    for (const read of items) {
      const outcome = classify(read, seenAs, { draw: options.draw, keepReordered, limits })
      switch (outcome._tag) {
        case "New":
          fresh.push(options.mix(outcome.item))
          hashes.set(outcome.item.itemId, outcome.item.contentHash)
          break
        case "Known":
          existingIds.push(outcome.item.itemId)
          hashes.set(outcome.item.itemId, outcome.item.contentHash)
          break
        case "Duplicate":
          duplicates++
          if (outcome.isReordered) reordered++
          break
        case "Rejected":
          rejects.push(outcome.reject)
      }
    }
    counts = {
      read: counts.read + records.length,
      new: counts.new + fresh.length,
      known: counts.known + existingIds.length,
      duplicates: counts.duplicates + duplicates,
      reordered: counts.reordered + reordered,
      rejected: counts.rejected + rejects.length,
    }
    const closed = [...batches.add(fresh), ...(finished ? batches.end() : [])]
    // Items of an incomplete batch are not in the ledger yet, so `recorded` leaves them out.
    const waiting = batches.waiting().length
    const recorded = { ...counts, read: counts.read - waiting, new: counts.new - waiting }
    const beyond = yield* ledger.record(run, {
      tasks: allot(closed),
      voters: votersOf(options),
      known: existingIds,
      rejects,
      counts: recorded,
      overBudget,
      finished,
    })
    beyond.forEach(beyondBudget.add)
    overBudget += beyond.length
    counts = { ...counts, new: counts.new - beyond.length }
    yield* Metrics.countRecords({
      new: fresh.length,
      known: existingIds.length,
      duplicate: duplicates,
      rejected: rejects.length,
    })
    yield* counter.add({ read: records.length, rejected: rejects.length })
  })

  let gathered: Array<Result.Result<BatchItem, Reject>> = []
  let bytes = 0
  let flushedAt = yield* SteadyClock.now
  // Half of `maxPlanned`: `starved` may open while one half is still being sent, so two halves can be unsent at a time.
  const maxAhead = ledger.isShared ? Infinity : (options.maxPlanned ?? Infinity) / 2
  let ahead = 0
  const flush = Effect.fnUntraced(function* () {
    const records = gathered
    gathered = []
    bytes = 0
    yield* starved.close
    yield* step(records, false)
    ahead += records.length
    if (ahead >= maxAhead) {
      yield* starved.await
      ahead = 0
    }
    flushedAt = yield* SteadyClock.now
  })
  yield* runAndFlush(
    records,
    Effect.fnUntraced(function* (records) {
      for (const record of records) {
        // Without the copy that `identify` makes, the record's text would keep a whole chunk of the input in memory.
        const identified = Result.map(record, identify)
        gathered.push(identified)
        bytes += sizeOf(identified)
        if (gathered.length >= maxAhead) yield* flush()
      }
      const isFull = gathered.length >= stepRecords || bytes >= maxBytes
      if (isFull || (yield* SteadyClock.now) - flushedAt >= stepMillis) yield* flush()
    }),
    // `step` does not wait for the sender. If the source has failed, the run must end without sending further tasks.
    () => step(gathered, false),
  )
  yield* counter.end
  yield* step([], true)
  if (overBudget > 0) {
    yield* Effect.logWarning(
      `the budget is used up, so ${overBudget} new ${plural(overBudget, "item is", "items are")} not planned: raise \`budget\`, and run again with the same input`,
    )
  }
})

const sizeOf = (record: Result.Result<BatchItem, Reject>): number =>
  Result.match(record, {
    onSuccess: ({ bytes }) => bytes.utf8.length,
    onFailure: ({ raw = "", raw_base64 = "" }) => raw.length + raw_base64.length,
  })
