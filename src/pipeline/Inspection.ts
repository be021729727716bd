/**
 * Inspects a source without a ledger or a service, and writes nothing. An item is identified by its id, or by its
 * content if it has no id. Always, `read = items + known + duplicates + rejected`. Memory: two hashes per item.
 */
import { Array as Arr, Effect, identity, Result, Stream } from "effect"
import { type ItemLimits, unlimited } from "../api/ServiceProfile.ts"
import type { SourceItem } from "../domain/PromptItem.ts"
import type { Reject } from "../domain/Reject.ts"
import * as Kinds from "../io/SettingKinds.ts"
import type { Source } from "../source/Source.ts"
import * as Allotment from "../task/plan/Allotment.ts"
import * as Batch from "../task/plan/Batch.ts"
import type { BatchItem } from "../task/ledger/schema/Model.ts"
import * as CompletionDraw from "../task/plan/CompletionDraw.ts"
import { classify } from "../task/plan/Classify.ts"
import type * as GoldItems from "../task/plan/GoldItems.ts"
import { identify, identifyReordered, tasksPerBatch } from "../task/plan/TaskRequests.ts"
import * as RejectLimit from "../task/plan/RejectLimit.ts"
import * as SeenItems from "../task/plan/SeenItems.ts"
import * as RejectCounts from "./RejectCounts.ts"

/** Options of `inspect`. */
export interface InspectionOptions<E = never, R = never> extends CompletionDraw.DrawOptions {
  /** Maximum number of prompts and bytes per task. Default: the limits of a run. */
  readonly batch?: Batch.BatchLimits | undefined
  /** Whether items that differ only in the order of completions are all judged. Default false: they are duplicates. */
  readonly keepReordered?: boolean | undefined
  /** The service's limits for an item. Default: none. */
  readonly limits?: ItemLimits | undefined
  /** Number of votes per item. Default 1. */
  readonly votes?: number | undefined
  /** If `votes` is at most this number, one task has all votes. Otherwise, each vote has its own task. Default 0. */
  readonly maxTaskVotes?: number | undefined
  /** Mixes gold items into the input. Default: no gold items. @internal */
  readonly mix?: GoldItems.Mix | undefined
  /** Maximum number of votes that the budget allows. Default: no limit. */
  readonly votesLeft?: number | undefined
  /** Maximum number of items in `first`. Default 3. */
  readonly show?: number | undefined
  /** Whether to continue even if none of the first 100,000 records can be used. */
  readonly readAll?: boolean | undefined
  /** Content hashes by item id, for the items that an earlier run has read. Default: none. @internal */
  readonly recorded?:
    | ((items: ReadonlyArray<BatchItem>) => Effect.Effect<ReadonlyMap<string, { readonly contentHash: string }>, E, R>)
    | undefined
  /** Called for each reject, in the order of the input. */
  readonly onReject?: ((reject: Reject) => Effect.Effect<void, E, R>) | undefined
}

/** The counts of a source, and of the tasks that a run would submit. */
export interface Inspection {
  /** Records read. */
  readonly read: number
  /** Whether reading ended early, because none of the first 100,000 records could be used. */
  readonly stopped: boolean
  /** Items that earlier runs did not read. */
  readonly items: number
  /** Number of items that the budget does not allow. */
  readonly over_budget: number
  /** Items that earlier runs have read. */
  readonly known: number
  /** New items with more completions than `completionsPerItem`. A random selection of their completions is sent. */
  readonly drawn: number
  /** Repeated records: their item was already read from this input. Includes `reordered` records. */
  readonly duplicates: number
  /** Records that repeat an item of this input or of an earlier run, with the completions in another order. */
  readonly reordered: number
  /** Records that cannot be used. */
  readonly rejected: number
  /** The rejected records by reason, the most frequent reason first. */
  readonly rejects: ReadonlyArray<RejectCounts.RejectCount>
  /** Number of tasks that a run would submit for all votes on the new items. */
  readonly tasks: number
  /** Number of votes in these tasks, including votes on gold items that are mixed in. */
  readonly new_votes: number
  /** Number of votes per item. */
  readonly votes: number
  /** Number of items with a known right answer. */
  readonly gold: number
  /** Number of items with the names of the models that wrote the completions. */
  readonly models: number
  /** Number of prompts that are conversations. */
  readonly conversations: number
  /** Number of items by number of completions, fewest completions first. */
  readonly completions: ReadonlyArray<{ readonly completions: number; readonly items: number }>
  /** The first items, at most `show`. */
  readonly first: ReadonlyArray<SourceItem>
}

const kinds = {
  ...Kinds.all(Kinds.object, "batch limits"),
  ...Kinds.all(Kinds.number, "completionsPerItem votes maxTaskVotes votesLeft show"),
  ...Kinds.all(Kinds.fn, "mix recorded onReject"),
}

/** Reads the whole source. Fails with the source's error. */
export const inspect = Effect.fn("Inspection.inspect")(function* <E, R, E2 = never, R2 = never>(
  source: Pick<Source<E, R>, "records">,
  options: InspectionOptions<E2, R2> = {},
) {
  yield* Kinds.check({ source }, { source: Kinds.source }, ["source"])
  yield* Kinds.check(options, kinds)
  const {
    batch = Batch.defaultLimits,
    completionsPerItem,
    completionsSeed,
    keepReordered = false,
    limits = unlimited,
    maxTaskVotes = 0,
    mix = identity,
    onReject,
    readAll = false,
    recorded = () => Effect.succeed(new Map()),
    show = 3,
    votes = 1,
    votesLeft = Infinity,
  } = options
  const seen = SeenItems.make()
  const rejects = RejectCounts.make()
  const sizes = new Map<number, number>()
  const first: Array<SourceItem> = []
  const batches = Batch.make(batch)
  const draw = CompletionDraw.make({ completionsPerItem, completionsSeed })
  const counts = {
    drawn: 0,
    read: 0,
    items: 0,
    over_budget: 0,
    known: 0,
    votes: 0,
    duplicates: 0,
    reordered: 0,
    tasks: 0,
    gold: 0,
    models: 0,
    conversations: 0,
  }

  const seenIn =
    (before: ReadonlyMap<string, { readonly contentHash: string }>) =>
    ({ contentHash, itemId }: BatchItem) => {
      const here = seen.classify({ contentHash, itemId })
      if (here !== undefined) return here
      const earlier = before.get(itemId)?.contentHash
      return earlier === undefined ? "new" : earlier === contentHash ? "known" : "conflict"
    }

  const see = (read: BatchItem, seenAs: ReturnType<typeof seenIn>): ReadonlyArray<Result.Result<BatchItem, Reject>> => {
    const classification = classify(read, seenAs, { draw, keepReordered, limits })
    switch (classification._tag) {
      case "Rejected":
        return [Result.fail(classification.reject)]
      case "Duplicate":
        counts.duplicates++
        if (classification.isReordered) counts.reordered++
        return []
      case "Known":
        counts.known++
        seen.add(classification.item)
        return []
      case "New": {
        const { completionOrigins, item, origin, sentHash } = classification.item
        seen.add(classification.item)
        counts.items++
        if (sentHash !== undefined) counts.drawn++
        if (item.gold !== undefined) counts.gold++
        if (item.models !== undefined) counts.models++
        if (typeof item.prompt !== "string") counts.conversations++
        sizes.set(item.completions.length, (sizes.get(item.completions.length) ?? 0) + 1)
        if (first.length < show) first.push({ item, origin, completionOrigins })
        return [Result.succeed(mix(classification.item))]
      }
    }
  }

  const plan = (closed: ReadonlyArray<Batch.Batch>) => {
    const { batches, beyond } = Allotment.within(closed, votes, votesLeft - counts.votes)
    counts.tasks += batches.length * tasksPerBatch({ votes, maxTaskVotes })
    counts.votes += batches.reduce((sum, { length }) => sum + length, 0) * votes
    counts.over_budget += beyond.length
  }

  const isHopeless = () => !readAll && RejectLimit.isHopeless({ read: counts.read, rejected: rejects.total() })
  const records = Stream.takeWhile(Stream.chunks(source.records), () => !isHopeless())
  const inspectChunk = Effect.fnUntraced(function* (records: ReadonlyArray<Result.Result<SourceItem, Reject>>) {
    counts.read += records.length
    const read = records.map((record) => Result.map(record, identify))
    const items = Arr.getSuccesses(read)
    const seenAs = seenIn(yield* recorded(keepReordered ? [...items, ...items.map(identifyReordered)] : items))
    const results = read.flatMap((record) =>
      Result.isFailure(record) ? [Result.fail(record.failure)] : see(record.success, seenAs),
    )
    const refused = Arr.getFailures(results)
    refused.forEach(rejects.add)
    plan(batches.add(Arr.getSuccesses(results)))
    if (onReject !== undefined) yield* Effect.forEach(refused, onReject, { discard: true })
  })
  yield* Stream.runForEach(records, inspectChunk)
  plan(batches.end())
  const { votes: newVotes, ...sums } = counts
  const inspection: Inspection = {
    ...sums,
    stopped: isHopeless(),
    rejected: rejects.total(),
    rejects: rejects.byCode(),
    votes,
    new_votes: newVotes,
    completions: [...sizes].toSorted(([a], [b]) => a - b).map(([completions, items]) => ({ completions, items })),
    first,
  }
  return inspection
})
