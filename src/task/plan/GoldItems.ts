/**
 * Mixes gold items into the input, to measure how well experts judge. Requests do not mark gold items, and the dataset
 * contains none. The seed and the id of an input item decide whether a gold item follows it, and which one. If the
 * prompt of this gold item is already in the batch, the next gold item takes its place. With few gold items, their
 * share can be below the rate.
 */
import { Array as Arr, Effect, identity, Option, Predicate, Schema } from "effect"
import * as IdLimit from "../../domain/IdLimit.ts"
import * as Origin from "../../domain/Origin.ts"
import { PromptItem, type SourceItem } from "../../domain/PromptItem.ts"
import * as Kinds from "../../io/SettingKinds.ts"
import { describeValue, isObject } from "../../io/Values.ts"
import * as Sha256 from "../../node/Sha256.ts"
import type { BatchItem } from "../ledger/schema/Model.ts"
import type { Draw } from "./CompletionDraw.ts"
import * as Shuffle from "./Shuffle.ts"
import { identify } from "./TaskRequests.ts"

/** Gold items to mix in, and their share. */
export interface GoldOptions {
  /** The gold items. Each has a `gold` answer. */
  readonly items: ReadonlyArray<SourceItem | PromptItem>
  /** Share of gold items among the items that experts judge: above 0, at most 0.5. Default 0.05. */
  readonly rate?: number | undefined
  /** Seed for choosing gold items. Default 0. */
  readonly seed?: number | undefined
}

export const defaultRate = 0.05

/** At most one gold item is sent for each input item. */
export const maxRate = 0.5

/** The gold items or their rate cannot be used. */
export class UnusableGold extends Schema.TaggedError<UnusableGold>()("UnusableGold", {
  /** Index in the list, from 0. Absent if the problem concerns the whole list. */
  index: Schema.optionalKey(Schema.Int),
  /** Origin of the item, if known. */
  origin: Schema.optionalKey(Origin.Origin),
  /** The expected value, and the value found. */
  problem: Schema.String,
}) {
  override get message() {
    const item = this.index === undefined ? "" : `.items[${this.index}]`
    return `gold${item}${this.origin === undefined ? "" : ` (${Origin.describe(this.origin)})`}: ${this.problem}`
  }
}

/** Adds gold items to a random share of the input items. At most one gold item is sent with each input item. */
export type Mix = (item: BatchItem) => BatchItem

const decode = Schema.decodeUnknownOption(PromptItem)

const kinds = { items: Kinds.list, ...Kinds.all(Kinds.number, "rate seed") }

export const make = Effect.fn("GoldItems.make")(function* (
  options: GoldOptions,
  draw: Draw = identity,
): Effect.fn.Return<Mix, UnusableGold> {
  const wrong = Kinds.wrongIn(options, kinds, ["items"])
  if (wrong !== undefined) return yield* new UnusableGold({ problem: Kinds.describe(wrong) })
  const { items, rate = defaultRate, seed = 0 } = options
  if (!(rate > 0 && rate <= maxRate)) {
    return yield* new UnusableGold({ problem: `expected a rate above 0 and at most ${maxRate}, found ${rate}` })
  }
  const goldItems = yield* Effect.forEach(
    items,
    Effect.fnUntraced(function* (entry, index) {
      const whole: unknown = Predicate.hasProperty(entry, "item") ? entry.item : entry
      if (!isObject(whole)) {
        return yield* new UnusableGold({ index, problem: `expected a prompt item, found ${describeValue(whole)}` })
      }
      const sourceItem = "item" in entry ? entry : { item: entry, origin: { file: "memory", line: index + 1 } }
      const place = { index, ...("item" in entry ? { origin: entry.origin } : {}) }
      if (sourceItem.item.gold === undefined) {
        return yield* new UnusableGold({ ...place, problem: "gold: expected the right answer, found nothing" })
      }
      if (Option.isNone(decode(sourceItem.item))) {
        return yield* new UnusableGold({ ...place, problem: "expected a prompt item" })
      }
      return draw(identify(sourceItem))
    }),
  )
  if (!Arr.isReadonlyArrayNonEmpty(goldItems)) {
    return yield* new UnusableGold({ problem: "expected at least one item, found none" })
  }

  const along = (gold: BatchItem, { itemId }: BatchItem): BatchItem => {
    const id = `gold:${gold.itemId}:${itemId}`
    return { ...gold, isCheck: true, itemId: IdLimit.fits(id) ? id : `gold:${Sha256.hex(id)}` }
  }

  // `rate` is the share of gold items among all items. `perItem` is the number of gold items per input item.
  const perItem = rate / (1 - rate)
  return (item) => {
    const { share, which } = Shuffle.chance(seed, JSON.stringify(["gold", item.itemId]), goldItems.length)
    if (share >= perItem) return item
    const gold = function* () {
      for (let i = 0; i < goldItems.length; i++) yield along(goldItems[(which + i) % goldItems.length]!, item)
    }
    return { ...item, gold: { [Symbol.iterator]: gold } }
  }
})
