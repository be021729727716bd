/**
 * Selects the completions to send if an item has more than `completionsPerItem`. With the same seed, each run selects
 * the same completions. The gold completion is always selected. Blank and repeated completions are selected only if
 * there are too few others. All other completions are equally likely.
 */
import { Predicate } from "effect"
import * as ItemBytes from "../../domain/ItemBytes.ts"
import type { Metadata, SourceItem } from "../../domain/PromptItem.ts"
import { isBlank } from "../../domain/Text.ts"
import * as Sha256 from "../../node/Sha256.ts"
import { apply } from "../ledger/schema/CompletionOrder.ts"
import type { BatchItem } from "../ledger/schema/Model.ts"

export interface DrawOptions {
  /** Maximum completions to send per item, at least 2. If an item has more, some are drawn at random. Default: all. */
  readonly completionsPerItem?: number | undefined
  /** Seed for drawing completions. Default 0. */
  readonly completionsSeed?: number | undefined
}

export const defaultSeed = 0

export type Draw = (item: BatchItem) => BatchItem

export const make =
  ({ completionsPerItem = Infinity, completionsSeed = defaultSeed }: DrawOptions): Draw =>
  (whole) => {
    const { completionLists = [], completionOrigins, item } = whole
    if (ItemBytes.count(whole.bytes) <= completionsPerItem) return whole
    const drawn = indices(completionsSeed, whole)
      .slice(0, completionsPerItem)
      .toSorted((a, b) => a - b)
    const { as_messages, completions, gold, metadata = {}, models } = item
    const picked = {
      ...item,
      completions: apply(completions, drawn),
      ...(models === undefined ? undefined : { models: apply(models, drawn) }),
      ...(as_messages === undefined ? undefined : { as_messages: apply(as_messages, drawn) }),
      ...(gold === undefined
        ? undefined
        : { gold: { ...gold, best_completion_index: drawn.indexOf(gold.best_completion_index) } }),
      metadata: withDrawn(
        completionLists.reduce((rest, path) => pickAt(rest, path, drawn, completions.length), metadata),
        drawn,
      ),
    }
    const bytes = ItemBytes.make(whole.prompt, picked.completions)
    return {
      ...whole,
      item: picked,
      completionOrigins: completionOrigins && apply(completionOrigins, drawn),
      bytes,
      sentHash: Sha256.hex(bytes.utf8),
    }
  }

const indices = (seed: number, { item: { completions, gold, models }, itemId }: BatchItem): ReadonlyArray<number> => {
  const seenModels = new Map<string, number>()
  const ranks = completions.map((_, i) => {
    const model = models?.[i]
    if (model === undefined) return Sha256.hex(JSON.stringify([seed, itemId, i]))
    const before = seenModels.get(model) ?? 0
    seenModels.set(model, before + 1)
    return Sha256.hex(JSON.stringify([seed, itemId, model, before]))
  })
  const best = gold?.best_completion_index
  const byRank = [...completions.keys()].toSorted((a, b) =>
    a === best ? -1 : b === best ? 1 : ranks[a]! < ranks[b]! ? -1 : 1,
  )
  const firsts = new Map(byRank.toReversed().map((i) => [completions[i]!, i]))
  const place = (i: number) =>
    i === best ? 0 : firsts.get(completions[i]!) !== i ? 2 : isBlank(completions[i]!) ? 1 : 0
  return byRank.toSorted((a, b) => place(a) - place(b))
}

type Lists = NonNullable<SourceItem["completionLists"]>

const pickAt = (metadata: Metadata, path: Lists[number], drawn: ReadonlyArray<number>, count: number): Metadata => {
  const pick = (value: unknown, [step, ...rest]: Lists[number]): unknown => {
    if (step === undefined) return Array.isArray(value) && value.length === count ? apply(value, drawn) : value
    if (Array.isArray(value)) return value.map((element: unknown, i) => (i === step ? pick(element, rest) : element))
    return Predicate.isObject(value) ? pickMember(value, step, rest) : value
  }
  const pickMember = (object: object, step: string | number, rest: Lists[number]): Metadata =>
    Object.fromEntries(
      Object.entries(object).map(([name, member]) => [name, name === step ? pick(member, rest) : member]),
    )
  const [step, ...rest] = path
  return step === undefined ? metadata : pickMember(metadata, step, rest)
}

const drawnName = "drawn_completions"

const withDrawn = (metadata: Metadata, drawn: ReadonlyArray<number>): Metadata => ({
  ...metadata,
  [Object.hasOwn(metadata, drawnName) ? `completions[].${drawnName}` : drawnName]: drawn,
})
