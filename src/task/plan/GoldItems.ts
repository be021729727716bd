/**
 * Gold items that are mixed in among those of the input, to see how well experts judge; the dataset leaves them out.
 *
 * Guarantees: whether one goes along with an item, and which, follows from the seed and the item's id alone. Nothing that is
 * sent tells a gold item from another, and none is twice in a task: with few gold items, their share is smaller.
 */
import { Array as Arr, Effect, identity, Option, Schema } from "effect"
import * as IdLimit from "../../domain/IdLimit.ts"
import * as Origin from "../../domain/Origin.ts"
import { PromptItem, type SourceItem } from "../../domain/PromptItem.ts"
import * as Sha256 from "../../node/Sha256.ts"
import type { BatchItem } from "../ledger/schema/Model.ts"
import type { Draw } from "./CompletionDraw.ts"
import * as Shuffle from "./Shuffle.ts"
import { identify } from "./TaskRequests.ts"

/** Gold items to mix in, and how often. */
export interface GoldOptions {
  /** Each has a `gold` answer. */
  readonly items: ReadonlyArray<SourceItem | PromptItem>
  /** The share of gold items among those that experts judge: above 0, at most 0.5. Default 0.05. */
  readonly rate?: number | undefined
  /** Default 0. */
  readonly seed?: number | undefined
}

export const defaultRate = 0.05

/** Then every other item is a gold item. */
export const maxRate = 0.5

/** What is to be mixed in can't be. */
export class UnusableGold extends Schema.TaggedError<UnusableGold>()("UnusableGold", {
  /** The place in the list, from 0 on; absent where the whole is meant. */
  index: Schema.optionalKey(Schema.Int),
  /** Where it was read, where that is known. */
  origin: Schema.optionalKey(Origin.Origin),
  /** What was expected, and what was found. */
  problem: Schema.String,
}) {
  override get message() {
    const item = this.index === undefined ? "" : `.items[${this.index}]`
    return `gold${item}${this.origin === undefined ? "" : ` (${Origin.describe(this.origin)})`}: ${this.problem}`
  }
}

/** An item of the input, with the gold items of which one goes along with it, if one does. */
export type Mix = (item: BatchItem) => BatchItem

const decode = Schema.decodeUnknownOption(PromptItem)

/** Fails where an item has no gold answer, or is none. */
export const make = Effect.fn("GoldItems.make")(function* (
  { items, rate = defaultRate, seed = 0 }: GoldOptions,
  draw: Draw = identity,
): Effect.fn.Return<Mix, UnusableGold> {
  if (!(rate > 0 && rate <= maxRate)) {
    return yield* new UnusableGold({ problem: `expected a rate above 0, at most ${maxRate}, found ${rate}` })
  }
  const known = yield* Effect.forEach(
    items,
    Effect.fnUntraced(function* (given, index) {
      const found = "item" in given ? given : { item: given, origin: { file: "memory", line: index + 1 } }
      const place = { index, ...("item" in given ? { origin: given.origin } : {}) }
      if (found.item.gold === undefined) {
        return yield* new UnusableGold({ ...place, problem: "gold: expected the right answer, found nothing" })
      }
      if (Option.isNone(decode(found.item))) {
        return yield* new UnusableGold({ ...place, problem: "expected a prompt item" })
      }
      return draw(identify(found))
    }),
  )
  if (!Arr.isReadonlyArrayNonEmpty(known)) {
    return yield* new UnusableGold({ problem: "expected at least one item, found none" })
  }

  const along = (gold: BatchItem, { itemId }: BatchItem): BatchItem => {
    const id = `gold:${gold.itemId}:${itemId}`
    return { ...gold, isCheck: true, itemId: IdLimit.fits(id) ? id : `gold:${Sha256.hex(id)}` }
  }

  // So that the share is of all that is judged, and not of the input.
  const perItem = rate / (1 - rate)
  return (item) => {
    const { share, which } = Shuffle.chance(seed, JSON.stringify(["gold", item.itemId]), known.length)
    if (share >= perItem) return item
    const gold = function* () {
      for (let i = 0; i < known.length; i++) yield along(known[(which + i) % known.length]!, item)
    }
    return { ...item, gold: { [Symbol.iterator]: gold } }
  }
})
