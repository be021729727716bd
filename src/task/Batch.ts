/**
 * Prompt items gathered into tasks, by count and by bytes.
 *
 * Guarantees: order is kept; no batch exceeds a limit, except that an item which
 * alone exceeds `maxBytes` is a batch of its own; no prompt occurs twice in a batch, so
 * that results can be told apart in whatever order they come; the same items with the same
 * limits give the same batches, however they arrive (so a run that was broken
 * off and started again builds the tasks that the undisturbed run builds).
 *
 * The gold item of an item stands behind it in the same batch, unless they don't fit into one:
 * then each is a batch of its own. One whose prompt is in the batch already gives way to another,
 * and is left out where there is none.
 */
import { Array as Arr } from "effect"
import type { SourceItem } from "../domain/PromptItem.ts"

export interface BatchLimits {
  /** Prompts per task. */
  readonly maxPrompts: number
  /** UTF-8 bytes of the prompts and completions of a task, as JSON. */
  readonly maxBytes: number
}

export const defaultLimits: BatchLimits = { maxPrompts: 20, maxBytes: 1024 * 1024 }

/** An item with its identity and with the JSON text that stands for it in a task. */
export interface BatchItem extends SourceItem {
  /** The user's id, or else the hash of the content. */
  readonly itemId: string
  /** Hash of the content, hexadecimal. */
  readonly contentHash: string
  /** The prompt as it is sent. */
  readonly prompt: string
  /** The element of the task's `prompts`. */
  readonly json: string
  /** `json` as UTF-8. */
  readonly utf8: Uint8Array
  /** Whether it is a gold item that is mixed in, and no item of the input. */
  readonly isCheck?: boolean | undefined
  /** Gold items of which one is to go along with it, the one that is wanted most first. */
  readonly gold?: Iterable<BatchItem> | undefined
}

export interface Cut {
  readonly batches: ReadonlyArray<Arr.NonEmptyReadonlyArray<BatchItem>>
  /** Items at the end that do not fill a batch yet. */
  readonly rest: ReadonlyArray<BatchItem>
}

/**
 * Cuts `items` into full batches.
 *
 * @param finished whether what is left is a batch, too, since no more items come
 */
export const cut = (items: ReadonlyArray<BatchItem>, limits: BatchLimits, finished = false): Cut => {
  const batches: Array<Arr.NonEmptyReadonlyArray<BatchItem>> = []
  let batch: Array<BatchItem> = []
  let start = 0
  let bytes = 0
  const prompts = new Set<string>()
  const close = (end: number) => {
    if (Arr.isArrayNonEmpty(batch)) batches.push(batch)
    batch = []
    start = end
    bytes = 0
    prompts.clear()
  }
  const add = (item: BatchItem) => {
    batch.push(item)
    bytes += item.utf8.length
    prompts.add(item.prompt)
  }
  const fit = (together: ReadonlyArray<BatchItem>) =>
    batch.length + together.length <= limits.maxPrompts &&
    together.reduce((sum, { utf8 }) => sum + utf8.length, bytes) <= limits.maxBytes
  for (let i = 0; i < items.length; i++) {
    const item = items[i]!
    const isRepeated = prompts.has(item.prompt)
    if (batch.length > 0 && (isRepeated || !fit([item, ...goldFor(item, prompts)]))) close(i)
    add(item)
    for (const gold of goldFor(item, prompts)) {
      const alone = !fit([gold])
      if (alone) close(i)
      add(gold)
      // What follows must not depend on it: a run that goes on begins with the next item.
      if (alone) close(i + 1)
    }
  }
  if (finished || batch.length === limits.maxPrompts) close(items.length)
  return { batches, rest: items.slice(start) }
}

/** The first of the item's gold items whose prompt is neither the item's nor among these. */
const goldFor = ({ gold, prompt }: BatchItem, prompts: ReadonlySet<string>): ReadonlyArray<BatchItem> => {
  for (const other of gold ?? []) {
    if (other.prompt !== prompt && !prompts.has(other.prompt)) return [other]
  }
  return []
}
