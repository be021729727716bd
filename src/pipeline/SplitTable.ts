/**
 * Assigns a split to each item before any row is written. An item's split depends on its prompt and on earlier prompts.
 * New items and results therefore do not change earlier splits, unless items are split by a metadata field. If an item
 * is pruned, its near-duplicates may change their split. A `SplitTable` is valid only for the ledger snapshot that
 * `make` has read. Memory: 8 bytes per item, and the memory of `Splits`.
 */
import { Effect, Stream } from "effect"
import * as Dataset from "../dataset/Dataset.ts"
import type { JudgedItem } from "../domain/Judgment.ts"
import type { QualityReport } from "../domain/QualityReport.ts"
import { type Split, splits } from "../domain/Split.ts"
import * as FieldPath from "../io/FieldPath.ts"
import { defined } from "../io/Values.ts"
import * as Sha256 from "../node/Sha256.ts"
import * as NumberList from "../pair/stats/NumberList.ts"
import * as Splits from "../pair/text/Splits.ts"
import { LedgerReader } from "../task/ledger/Ledger.ts"
import { fieldOf } from "./Leaderboard.ts"
import { SettingInvalid } from "../io/SettingInvalid.ts"

interface Planned extends Pick<JudgedItem, "itemId" | "prompt"> {}

export interface SplitTableOptions extends Splits.SplitsOptions {
  /** A metadata field: items with the same value are in one split. */
  readonly by?: string | undefined
}

const keyOf = ({ itemId, prompt }: Planned): number => Sha256.leading52Bits(JSON.stringify([itemId, prompt]))

export interface SplitReport extends Pick<
  QualityReport,
  "cross_split_near_duplicates" | "split_groups" | "split_shares"
> {}

export interface SplitTable {
  /** Returns an item's split. If the table is from `make`, pass the items in the order in which they were planned. */
  readonly splitOf: (item: Planned) => Split
  readonly planned: number
  readonly report: SplitReport
}

export const unsplit: SplitReport = { cross_split_near_duplicates: null, split_groups: null, split_shares: null }

/** If a split deviates from its requested share by more than this, a warning is logged. */
const accepted = 0.05

const warnOfShares = Effect.fnUntraced(function* (
  shares: Splits.Shares,
  items: number,
  splitOf: Splits.Assignment["splitOf"],
  by: string,
) {
  const counts = new Map<Split | undefined, number>()
  for (let ordinal = 0; ordinal < items; ordinal++) {
    const split = splitOf(ordinal)
    counts.set(split, (counts.get(split) ?? 0) + 1)
  }
  const percent = (share: number) => `${Math.round(100 * share)}%`
  const missed = splits.flatMap((split) => {
    const [share, requested] = [(counts.get(split) ?? 0) / items, shares[split]]
    if (requested === undefined || (share > 0 && Math.abs(share - requested) <= accepted)) return []
    return [`${split} has ${percent(share)} of the items, not ${percent(requested)}`]
  })
  if (missed.length === 0) return
  yield* Effect.logWarning(
    `the splits differ from the requested shares: ${missed.join(", ")}. All items with the same ${by} are in one split, together with their near-duplicates. For splits closer to the requested shares, set \`splitBy\` to a field with fewer items per value`,
  )
})

export const make = Effect.fnUntraced(function* ({ by, ...options }: SplitTableOptions) {
  const ledger = yield* LedgerReader
  const table = yield* Splits.make(options)
  const expected = "a field of the items' metadata"
  const path = yield* Effect.catchTag(fieldOf(by), "GroupsInvalid", ({ by }) =>
    Effect.fail(
      new SettingInvalid({
        setting: "splitBy",
        expected,
        found: `${JSON.stringify(by)}; write a nested field as source.user`,
      }),
    ),
  )
  const keys = NumberList.make(Float64Array)
  yield* Stream.runForEachArray(ledger.prompts, (planned) => {
    for (const item of planned) keys.push(keyOf(item))
    const groups = path && planned.map(({ metadata }) => FieldPath.textAt(path, metadata))
    return table.add(
      planned.map(({ prompt }) => prompt),
      groups,
    )
  })
  const { crossSplitNearDuplicates, groups, splitOf } = yield* table.assign
  if (by !== undefined && groups === undefined && keys.length() > 0) {
    return yield* new SettingInvalid({ setting: "splitBy", expected, found: `${by}; no item has this field` })
  }
  if (groups !== undefined) yield* warnOfShares(options.shares, keys.length(), splitOf, by!)
  const all = keys.view()

  let next = 0
  return {
    splitOf: (item) => {
      const at = all.indexOf(keyOf(item), next)
      const split = splitOf(at)
      if (split === undefined) throw new Error(`item ${item.itemId} was not planned when the splits were assigned`)
      next = at + 1
      return split
    },
    planned: keys.length(),
    report: {
      cross_split_near_duplicates: crossSplitNearDuplicates,
      split_groups: groups === undefined ? null : { field: by!, ...groups, of: keys.length() },
      split_shares: defined(options.shares),
    },
  } satisfies SplitTable
})

/** Reads the splits from a dataset. An item without pairs counts as `train`. Memory: 8 bytes per pair. */
export const ofDataset = Effect.fnUntraced(function* (directory: string, { splits }: Dataset.Manifest) {
  const inSplits = yield* Effect.forEach(
    splits,
    Effect.fnUntraced(function* ({ split }) {
      const hashes = NumberList.make(Float64Array)
      yield* Stream.runForEach(Dataset.read(directory, { split }), ({ item_id }) =>
        Effect.sync(() => hashes.push(Sha256.leading52Bits(item_id))),
      )
      return { split, hashes: hashes.view().toSorted() }
    }),
  )
  const splitOf = ({ itemId }: Planned): Split => {
    const hash = Sha256.leading52Bits(itemId)
    return inSplits.find(({ hashes }) => hashes[NumberList.firstFrom(hashes, hash)] === hash)?.split ?? "train"
  }
  return { splitOf, planned: 0, report: unsplit } satisfies SplitTable
})
