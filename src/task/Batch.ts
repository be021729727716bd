/**
 * Prompt items gathered into tasks, by count and by bytes.
 *
 * Guarantees: order is kept; no batch exceeds a limit, except that an item which
 * alone exceeds `maxBytes` is a batch of its own; no prompt occurs twice in a batch, so
 * that results can be told apart in whatever order they come; the same items with the same
 * limits give the same batches, however they arrive (so a run that was broken
 * off and started again builds the tasks that the undisturbed run builds).
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
  /** The element of the task's `prompts`. */
  readonly json: string
  /** `json` as UTF-8. */
  readonly utf8: Uint8Array
}

export interface Cut {
  readonly batches: ReadonlyArray<Arr.NonEmptyReadonlyArray<BatchItem>>
  /** Items at the end that do not fill a batch yet. */
  readonly rest: ReadonlyArray<BatchItem>
}

/** Cuts `items` into full batches. */
export const cut = (items: ReadonlyArray<BatchItem>, limits: BatchLimits): Cut => {
  const batches: Array<Arr.NonEmptyReadonlyArray<BatchItem>> = []
  let start = 0
  let bytes = 0
  const prompts = new Set<string>()
  const close = (end: number) => {
    const batch = items.slice(start, end)
    if (Arr.isReadonlyArrayNonEmpty(batch)) batches.push(batch)
    start = end
    bytes = 0
    prompts.clear()
  }
  for (let i = 0; i < items.length; i++) {
    const { item, utf8 } = items[i]!
    const size = utf8.length
    if (i > start && (i - start === limits.maxPrompts || bytes + size > limits.maxBytes || prompts.has(item.prompt))) {
      close(i)
    }
    bytes += size
    prompts.add(item.prompt)
  }
  if (items.length - start === limits.maxPrompts) close(items.length)
  return { batches, rest: items.slice(start) }
}
