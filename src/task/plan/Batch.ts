/**
 * Packs items into batches, which become tasks. A batch has at most `maxPrompts` items and `maxBytes` bytes. An item
 * above `maxBytes` gets its own batch. No batch contains a prompt twice. Items are packed in the order of the input,
 * and go to the first open batch with room. Therefore, a restarted run builds the same batches.
 */
import { Array as Arr } from "effect"
import * as ItemBytes from "../../domain/ItemBytes.ts"
import { LazyItem } from "../../domain/LazyItem.ts"
import type { BatchItem } from "../ledger/schema/Model.ts"

/** Limits of a task. */
export interface BatchLimits {
  /** Maximum prompts of a task. Default 20. */
  readonly maxPrompts?: number | undefined
  /** Maximum size of the prompts and completions of a task, as JSON in UTF-8 bytes. Default 1 MiB. */
  readonly maxBytes?: number | undefined
}

export const defaultLimits = { maxPrompts: 20, maxBytes: 1024 * 1024 }

export type Batch = Arr.NonEmptyReadonlyArray<BatchItem>

interface OpenBatch {
  readonly items: Array<BatchItem>
  readonly prompts: Set<string>
  bytes: number
}

/** Maximum number of open batches. If one more is opened, the fullest batch is closed, so that memory stays bounded. */
export const maxOpenBatches = 256

const maxOpenBytes = 64 * 1024 * 1024

export const make = (
  { maxBytes = defaultLimits.maxBytes, maxPrompts = defaultLimits.maxPrompts }: BatchLimits = {},
  openLimit = maxOpenBytes,
) => {
  const open: Array<OpenBatch> = []
  let openBytes = 0
  let closed: Array<Batch> = []

  const close = (batch: OpenBatch) => {
    open.splice(open.indexOf(batch), 1)
    openBytes -= batch.bytes
    if (Arr.isArrayNonEmpty(batch.items)) closed.push(batch.items)
  }

  /** Returns false and adds nothing if the prompt is already in the batch, or the item and its gold item do not fit. */
  const takes = (batch: OpenBatch, item: BatchItem): boolean => {
    const { items, prompts } = batch
    if (prompts.has(item.prompt)) return false
    const together = [item, ...goldFor(item, prompts)]
    const bytes = together.reduce((sum, { bytes }) => sum + bytes.utf8.length, 0)
    const isAlone = items.length === 0 && together.length === 1
    if (!isAlone && (items.length + together.length > maxPrompts || batch.bytes + bytes > maxBytes)) return false
    for (const each of together) {
      items.push(each)
      prompts.add(each.prompt)
    }
    batch.bytes += bytes
    openBytes += bytes
    if (items.length >= maxPrompts || batch.bytes >= maxBytes) close(batch)
    return true
  }

  const isTooMuch = () => open.length > maxOpenBatches || openBytes > Math.max(openLimit, maxBytes)

  const fullness = ({ bytes, items }: OpenBatch) => Math.max(items.length / maxPrompts, bytes / maxBytes)

  const fullest = () => open.reduce((most, batch) => (fullness(batch) > fullness(most) ? batch : most))

  const begin = (item: BatchItem) => {
    const batch: OpenBatch = { items: [], prompts: new Set(), bytes: 0 }
    open.push(batch)
    if (!takes(batch, item)) {
      close(batch)
      closed.push([item], ...goldFor(item, batch.prompts).map((gold) => [gold] as const))
    }
  }

  const place = (item: BatchItem) => {
    if (!open.some((batch) => takes(batch, item))) begin(item)
    while (isTooMuch()) close(fullest())
  }

  const removeClosed = (): ReadonlyArray<Batch> => {
    const batches = closed
    closed = []
    return batches
  }

  return {
    add: (items: Iterable<BatchItem>): ReadonlyArray<Batch> => {
      for (const item of items) place(item)
      for (const { items } of open) {
        items.forEach((item, i) => {
          const bytes = ItemBytes.detached(item.bytes)
          if (bytes !== item.bytes) items[i] = { ...item, item: LazyItem.withBytes(item.item, bytes), bytes }
        })
      }
      return removeClosed()
    },
    end: (): ReadonlyArray<Batch> => {
      while (open.length > 0) close(open[0]!)
      return removeClosed()
    },
    waiting: (): ReadonlyArray<BatchItem> =>
      open.flatMap(({ items }) => items.filter(({ isCheck }) => isCheck !== true)),
  }
}

const goldFor = ({ gold, prompt }: BatchItem, prompts: ReadonlySet<string>): ReadonlyArray<BatchItem> => {
  for (const other of gold ?? []) {
    if (other.prompt !== prompt && !prompts.has(other.prompt)) return [other]
  }
  return []
}
