/**
 * How the items of the input stand, over all their votes.
 *
 * Guarantees: each item of a campaign counts once, by the task of it that has come furthest; gold items that were
 * mixed in do not count.
 */
import { Effect, Option } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type { LedgerContext } from "./Model.ts"

/** From the furthest on. `pruned` has had a result; of `refused` and `given_up`, every task is one of the two. */
export const itemOutcomes = [
  "judged",
  "pruned",
  "waiting",
  "not_submitted",
  "in_doubt",
  "invalid",
  "failed",
  "refused",
  "given_up",
] as const
export type ItemOutcome = (typeof itemOutcomes)[number]

/** How many items stand so. */
export type OutcomeCounts = (standing: ItemOutcome) => number

export const make = ({ partition, sql }: LedgerContext) => {
  const inCampaign = (campaign: Option.Option<number>): Fragment =>
    Option.match(campaign, { onNone: () => sql`1 = 1`, onSome: (campaign) => sql`t.campaign = ${campaign}` })

  /** How many items of a campaign, or of all, stand so. */
  const itemsByOutcome = Effect.fn("Ledger.itemsByOutcome")(function* (campaign: Option.Option<number>) {
    const rows = yield* sql<{ standing: number; items: number }>`SELECT standing, COUNT(*) AS items FROM (
        SELECT item.seq, MIN(CASE t.state
          WHEN 'completed' THEN CASE WHEN t.pruned_at IS NULL THEN 0 ELSE 1 END
          WHEN 'submitted' THEN 2 WHEN 'in_doubt' THEN 4 WHEN 'invalid' THEN 5 WHEN 'failed' THEN 6
          WHEN 'refused' THEN 7 WHEN 'given_up' THEN 8 ELSE 3 END) AS standing
        FROM task t JOIN item ON item.partition_id = t.partition_id AND item.batch = t.batch
          AND item.seq >= t.seq - (t.vote - 1) * t.batch_items
          AND item.seq < t.seq - (t.vote - 1) * t.batch_items + t.item_count
        WHERE t.partition_id = ${partition} AND ${inCampaign(campaign)}
        GROUP BY item.seq) AS stood GROUP BY standing`
    const counts = new Map(rows.map(({ items, standing }) => [Number(standing), Number(items)]))
    const itemsAt: OutcomeCounts = (standing) => counts.get(itemOutcomes.indexOf(standing)) ?? 0
    return itemsAt
  })

  return { itemsByOutcome }
}
