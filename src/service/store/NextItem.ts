/** Finds the next item that a person may judge, in the order of `VoteQueue`. Call it inside a `Database.write`. */
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import { Database } from "../database/Database.ts"
import type { Lane } from "./Lanes.ts"
import type { Voting } from "./Voting.ts"

export type ExpertCursors = Pick<Lane, "item_cursor" | "returned_cursor"> & { readonly expert_no: number }

export const make = Effect.fnUntraced(function* ({
  equalItems,
  lanes: { openTo },
}: Pick<Voting, "equalItems" | "lanes">) {
  const { sql } = yield* Database

  const notMine = (expertNo: number) => sql`
    NOT EXISTS (SELECT 1 FROM vote INDEXED BY vote_on_item
      WHERE vote.item_id = item.item_id AND vote.expert_no = ${expertNo})
    AND NOT EXISTS (SELECT 1 FROM voided_vote
      WHERE voided_vote.item_id = item.item_id AND voided_vote.expert_no = ${expertNo})
    AND NOT EXISTS (SELECT 1 FROM set_aside WHERE set_aside.item_id = item.item_id AND set_aside.expert_no = ${expertNo})`

  /** Returns the first of `items` that the expert may judge now, and adds the items before it to `deferred_item`. */
  const firstOpen = Effect.fnUntraced(function* (
    expertNo: number,
    place: Statement.Fragment,
    items: Statement.Fragment,
  ) {
    const open = sql`${items} AND item.open > 0 AND item.for_judges = 0 AND ${notMine(expertNo)}`
    const isDeferred = equalItems.isDeferred(expertNo)
    const columns = sql`${place} AS place, item.item_id`
    const [first] = yield* sql<{ place: number; item_id: number; isDeferred: number }>`
      SELECT ${columns}, ${isDeferred} AS "isDeferred" FROM ${open} ORDER BY ${place} LIMIT 1`
    if (first === undefined || first.isDeferred === 0) return first
    const [next] = yield* sql<{ place: number; item_id: number }>`
      SELECT ${columns} FROM ${open} AND NOT ${isDeferred} ORDER BY ${place} LIMIT 1`
    yield* equalItems.defer(expertNo, sql`${open} AND ${place} < ${next?.place ?? Number.MAX_SAFE_INTEGER}`)
    return next
  })

  const toEnd = sql`COALESCE((SELECT MAX(item_id) FROM item), 0)`

  const advance = Effect.fnUntraced(function* (
    expertNo: number,
    { lane, item_cursor }: Lane,
    to: { readonly item: Statement.Fragment } | { readonly returned: number },
  ) {
    const item = "item" in to ? to.item : sql`${item_cursor}`
    const returned = "item" in to ? sql`COALESCE((SELECT MAX(n) FROM returned_item), 0)` : sql`${to.returned}`
    yield* lane === 0
      ? sql`UPDATE expert SET item_cursor = ${item}, returned_cursor = ${returned} WHERE expert_no = ${expertNo}`
      : sql`INSERT OR REPLACE INTO lane_cursor (expert_no, lane, item_cursor, returned_cursor)
          VALUES (${expertNo}, ${lane}, ${item}, ${returned})`
  })

  const nextInLane = Effect.fnUntraced(function* (expertNo: number, at: Lane) {
    const { item_cursor, lane, returned_cursor } = at
    // First, search `returned_item` for items up to `item_cursor`. Then, search all items after `item_cursor`.
    const returned = yield* firstOpen(
      expertNo,
      sql`returned_item.n`,
      sql`returned_item CROSS JOIN item USING (item_id)
        WHERE returned_item.n > ${returned_cursor} AND item.item_id <= ${item_cursor} AND item.lane = ${lane}`,
    )
    if (returned !== undefined) return { at, itemId: returned.item_id, to: { returned: returned.place } }
    const inLane =
      lane === 0
        ? sql`item INDEXED BY item_open WHERE item.lane = 0`
        : sql`item INDEXED BY item_open_in_lane WHERE item.lane = ${lane} AND item.lane > 0`
    const next = yield* firstOpen(expertNo, sql`item.item_id`, sql`${inLane} AND item.item_id > ${item_cursor}`)
    if (next !== undefined) return { at, itemId: next.item_id, to: { item: sql`${next.item_id}` } }
    yield* advance(expertNo, at, { item: toEnd })
    return undefined
  })

  const nextOpen = Effect.fnUntraced(function* ({ expert_no, ...cursors }: ExpertCursors) {
    const lanes = [{ lane: 0, priority: 0, ...cursors }, ...(yield* openTo(expert_no))]
    const byPriority = Map.groupBy(lanes, ({ priority }) => priority)
    for (const [, equal] of [...byPriority].toSorted(([a], [b]) => b - a)) {
      const candidates = yield* Effect.forEach(equal, (lane) => nextInLane(expert_no, lane))
      const [first] = candidates.filter((next) => next !== undefined).toSorted((a, b) => a.itemId - b.itemId)
      if (first === undefined) continue
      yield* advance(expert_no, first.at, first.to)
      return first.itemId
    }
    return undefined
  })

  return nextOpen
})
