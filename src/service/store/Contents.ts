/**
 * Tracks who has seen which content: the same prompt and completions, in any order. Several tasks of an organization may
 * have the same content.
 *
 * Guarantees: a person who has seen a prompt and its completions is not shown them again until everyone active in the last
 * seven days has seen them; after that, the remaining items are judged by people who know them. A deferred item returns to
 * the queue when that changes. Automatic experts are asked about every item. Contents are identified by 52 bits of a hash;
 * a collision only delays a vote.
 */
import { Duration, Effect } from "effect"
import type { Statement } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { TaskPrompt } from "../../domain/Task.ts"
import * as Sha256 from "../../node/Sha256.ts"
import { Database } from "../database/Database.ts"

/** A key of the content within an organization, as SQLite and JSON keep it: an integer below 2^52. */
export const contentOf = (organization: string, { completions, prompt }: TaskPrompt): number =>
  Number.parseInt(Sha256.hex(JSON.stringify([organization, prompt, ...completions.toSorted()])).slice(0, 13), 16)

/** People who were absent for longer are not waited for. */
export const activeWithin: Duration.Input = "7 days"

/** Statements for use within one write of `Database`. */
export const make = Effect.gen(function* () {
  const { sql } = yield* Database

  /** Active people who have not seen the content, and may judge items of the lane. */
  const awaited = (content: Statement.Fragment, lane: Statement.Fragment) => sql`
    SELECT 1 FROM expert AS other INDEXED BY expert_awaited
    WHERE other.kind = 'person' AND other.active = 1 AND other.away = 0
      AND (NOT EXISTS (SELECT 1 FROM lane WHERE lane.lane = ${lane} AND assigned = 1)
        OR EXISTS (SELECT 1 FROM lane_expert WHERE lane_expert.lane = ${lane} AND lane_expert.expert_no = other.expert_no))
      AND NOT EXISTS (SELECT 1 FROM seen_content WHERE seen_content.content = ${content} AND seen_content.expert_no = other.expert_no)`

  const laneOfDeferred = sql`(SELECT own.lane FROM item AS own WHERE own.item_id = deferred_item.item_id)`

  /** Whether the row of `item` is for others first. */
  const isDeferred = (expertNo: number) => sql`
    (EXISTS (SELECT 1 FROM seen_content WHERE seen_content.content = item.content AND seen_content.expert_no = ${expertNo})
      AND EXISTS (${awaited(sql`item.content`, sql`item.lane`)}))`

  /** These rows of `deferred_item` return to the queue, for whoever passed them; what is not open returns when it is. */
  const offerAgain = (rows: Statement.Fragment): Effect.Effect<void, SqlError> =>
    Effect.gen(function* () {
      yield* sql`INSERT OR REPLACE INTO returned_item (item_id)
        SELECT item_id FROM deferred_item JOIN item USING (item_id) WHERE open > 0 AND ${rows} ORDER BY item_id`
      yield* sql`DELETE FROM deferred_item WHERE ${rows}`
    })

  /** A person is shown an item. */
  const markSeen = Effect.fnUntraced(function* (itemId: number, expertNo: number) {
    const [met] = yield* sql<{ content: number; items: number }>`
      INSERT INTO seen_content (content, expert_no, items) SELECT content, ${expertNo}, 1 FROM item WHERE item_id = ${itemId}
      ON CONFLICT DO UPDATE SET items = items + 1 RETURNING content, items`
    const { content, items } = met!
    if (items > 1) return
    const last = yield* sql`SELECT 1 FROM deferred_item
      WHERE content = ${content} AND NOT EXISTS (${awaited(sql`${content}`, laneOfDeferred)}) LIMIT 1`
    if (last.length > 0) yield* offerAgain(sql`deferred_item.content = ${content}`)
  })

  /** People have not met these items after all. Automatic experts, who meet nothing, are passed over. */
  const unmarkSeen = Effect.fnUntraced(function* (
    holds: ReadonlyArray<{ readonly item_id: number; readonly expert_no: number }>,
  ) {
    for (const { expert_no, item_id } of holds) {
      const [met] = yield* sql<{ content: number; items: number }>`UPDATE seen_content SET items = items - 1
        WHERE content = (SELECT content FROM item WHERE item_id = ${item_id}) AND expert_no = ${expert_no}
        RETURNING content, items`
      if (met === undefined || met.items > 0) continue
      yield* sql`DELETE FROM seen_content WHERE content = ${met.content} AND expert_no = ${expert_no}`
      yield* offerAgain(sql`deferred_item.content = ${met.content}`)
    }
  })

  /** Fewer people are awaited than before. */
  const awaitFewer = offerAgain(sql`NOT EXISTS (${awaited(sql`deferred_item.content`, laneOfDeferred)})`)

  /** Stops waiting for people who are absent, until they return, and for inactive ones. */
  const awaitNoLonger = Effect.fnUntraced(function* (now: number) {
    const away = yield* sql`UPDATE expert SET away = 1 WHERE kind = 'person' AND away = 0
      AND COALESCE(last_seen_at, created_at) <= ${now - Duration.toMillis(activeWithin)} RETURNING expert_no`
    if (away.length > 0) yield* awaitFewer
  })

  return { isDeferred, markSeen, unmarkSeen, awaitFewer, awaitNoLonger }
})
