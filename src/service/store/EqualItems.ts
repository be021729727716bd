/**
 * Tracks which people have seen which items. Items are equal if they have the same prompt, group, guidelines, and
 * completions in any order. Equal items have the same `content`. A person judges at most one of several equal
 * items, unless they are repeatable: gold items, or all items if `AllowRepeatedVotes` is true. A repeatable item waits
 * for people who have seen equal items less often, unless they are away (`activeWithin`) or cannot judge the item.
 */
import { Context, Duration, Effect } from "effect"
import type { Statement } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { TaskPrompt } from "../../domain/Task.ts"
import * as Sha256 from "../../node/Sha256.ts"
import { Database } from "../database/Database.ts"
import { maxPrompts, promptIndexOf, seqOf } from "../database/TaskTables.ts"
import type { TaskRequests } from "./TaskRequests.ts"

/** The hash of an item, below 2^52. Items of an organization are equal if they have the same hash. */
export const contentOf = (
  organization: string,
  { group, guidelines }: { readonly group?: string | undefined; readonly guidelines?: string | undefined },
  { completions, prompt }: TaskPrompt,
): number =>
  Number.parseInt(
    Sha256.hex(
      JSON.stringify([organization, group ?? null, guidelines ?? null, prompt, ...completions.toSorted()]),
    ).slice(0, 13),
    16,
  )

/** A person who has not used the service for this time is away. No item waits for this person. */
export const activeWithin: Duration.Input = "7 days"

/** Whether people may judge the same content again if nobody else is left. If false, the item waits for new people. */
export const AllowRepeatedVotes = Context.Reference<boolean>("prefstream/service/AllowRepeatedVotes", {
  defaultValue: () => false,
})

/** Whether to close items that no automatic expert can answer. If false, these items wait for people. */
export const EndsUnanswered = Context.Reference<boolean>("prefstream/service/EndsUnanswered", {
  defaultValue: () => false,
})

const maxWaitingRead = 2_000

/** Run these statements inside one `Database.write`. */
export const make = Effect.gen(function* () {
  const { sql } = yield* Database
  const allowsRepeats = yield* AllowRepeatedVotes
  const endsUnanswered = yield* EndsUnanswered
  const isRepeatable = (row: "item" | "deferred_item") =>
    allowsRepeats
      ? sql`1 = 1`
      : sql`(SELECT repeatable FROM item AS own WHERE own.item_id = ${sql.literal(row)}.item_id) = 1`

  const timesSeen = (
    content: Statement.Fragment,
    expert: Statement.Fragment,
  ) => sql`COALESCE((SELECT items FROM seen_content
    WHERE seen_content.content = ${content} AND seen_content.expert_no = ${expert}), 0)`

  const inLane = (kinds: ReadonlyArray<string>, lane: Statement.Fragment) => sql`
    SELECT 1 FROM expert AS other INDEXED BY expert_awaited
    WHERE ${sql.in("other.kind", kinds)} AND other.active = 1 AND other.away = 0
      AND (NOT EXISTS (SELECT 1 FROM lane WHERE lane.lane = ${lane} AND assigned = 1)
        OR EXISTS (SELECT 1 FROM lane_expert WHERE lane_expert.lane = ${lane} AND lane_expert.expert_no = other.expert_no))`

  /**
   * Selects active experts who have no vote on the item (not even a void one), do not hold it, and have not set it
   * aside.
   */
  const eligible = (kinds: ReadonlyArray<string>, row: string, lane: Statement.Fragment) => {
    const itemId = sql.literal(`${row}.item_id`)
    const met = (table: string) =>
      sql`SELECT 1 FROM ${sql(table)} AS met WHERE met.item_id = ${itemId} AND met.expert_no = other.expert_no`
    return sql`${inLane(kinds, lane)} AND NOT EXISTS (${met("vote")}) AND NOT EXISTS (${met("voided_vote")}) AND NOT EXISTS (${met("set_aside")})
      AND NOT EXISTS (${met("hold")} AND met.held_until IS NOT NULL)`
  }

  /** The item waits for these people: they may judge it, and have seen equal items fewer than `times` times. */
  const awaited = (row: string, lane: Statement.Fragment, times: Statement.Fragment) =>
    sql`${eligible(["person"], row, lane)} AND ${timesSeen(sql.literal(`${row}.content`), sql`other.expert_no`)} < ${times}`

  const isDeferred = (expertNo: number) => {
    const times = timesSeen(sql`item.content`, sql`${expertNo}`)
    return sql`(${times} > 0 AND (NOT ${isRepeatable("item")} OR EXISTS (${awaited("item", sql`item.lane`, times)})))`
  }

  const defer = (expertNo: number, items: Statement.Fragment) => sql`
    INSERT INTO deferred_item (item_id, content, items)
    SELECT item.item_id, item.content, ${timesSeen(sql`item.content`, sql`${expertNo}`)} FROM ${items}
    ON CONFLICT DO UPDATE SET items = MIN(items, excluded.items)`

  const laneOfDeferred = sql`(SELECT own.lane FROM item AS own WHERE own.item_id = deferred_item.item_id)`

  const isAwaited = sql`(NOT ${isRepeatable("deferred_item")} OR EXISTS (${awaited(
    "deferred_item",
    laneOfDeferred,
    sql`deferred_item.items`,
  )}))`

  const mayAsk = sql`CASE WHEN ${isRepeatable("item")} THEN ${Number.MAX_SAFE_INTEGER} ELSE 1 END`

  /** Counts, per task, the items that wait for an additional expert. Reads at most 2 × `maxWaitingRead` items. */
  const waiting = Effect.map(
    sql<{ seq: number; items: number }>`SELECT item_id / ${maxPrompts} AS seq, COUNT(*) AS items FROM (
        SELECT item_id FROM (SELECT item_id FROM deferred_item LIMIT ${maxWaitingRead})
        UNION SELECT item_id FROM (SELECT item_id, content, votes, for_judges FROM item INDEXED BY item_open WHERE open > 0
            ORDER BY item_id LIMIT ${maxWaitingRead}) AS opened
          WHERE votes > 0 OR for_judges = 1 OR EXISTS (SELECT 1 FROM set_aside WHERE set_aside.item_id = opened.item_id)
            OR EXISTS (SELECT 1 FROM seen_content WHERE seen_content.content = opened.content))
        JOIN item USING (item_id) JOIN task ON task.seq = item_id / ${maxPrompts}
      WHERE open > 0 AND claimed = 0 AND CASE for_judges
          WHEN 1 THEN NOT EXISTS (${eligible(["judge"], "item", sql`item.lane`)})
            AND NOT EXISTS (${inLane(["judge"], sql`item.lane`)} AND EXISTS (SELECT 1 FROM set_aside
              WHERE set_aside.item_id = item.item_id AND set_aside.expert_no = other.expert_no))
          ELSE NOT EXISTS (${awaited("item", sql`item.lane`, mayAsk)}) AND (voters IS 'people'
            OR NOT EXISTS (${eligible(["judge", "automatic"], "item", sql`item.lane`)})) END
        AND (voters IS 'people' OR ${endsUnanswered ? 0 : 1})
        AND NOT EXISTS (SELECT 1 FROM lane WHERE lane.lane = item.lane AND paused = 1)
      GROUP BY 1`,
    (rows) => new Map(rows.map(({ items, seq }) => [seq, items])),
  )

  const offerAgain = (rows: Statement.Fragment): Effect.Effect<void, SqlError> =>
    Effect.gen(function* () {
      yield* sql`INSERT OR REPLACE INTO returned_item (item_id)
        SELECT item_id FROM deferred_item JOIN item USING (item_id) WHERE open > 0 AND ${rows} ORDER BY item_id`
      yield* sql`DELETE FROM deferred_item WHERE ${rows}`
    })

  const markSeen = Effect.fnUntraced(function* (itemId: number, expertNo: number) {
    const [met] = yield* sql<{ content: number }>`
      INSERT INTO seen_content (content, expert_no, items) SELECT content, ${expertNo}, 1 FROM item WHERE item_id = ${itemId}
      ON CONFLICT DO UPDATE SET items = items + 1 RETURNING content`
    yield* offerAgain(sql`deferred_item.content = ${met!.content} AND NOT ${isAwaited}`)
  })

  const unmarkSeen = Effect.fnUntraced(function* (
    holds: ReadonlyArray<{ readonly item_id: number; readonly expert_no: number }>,
  ) {
    for (const { expert_no, item_id } of holds) {
      const [met] = yield* sql<{ content: number; items: number }>`UPDATE seen_content SET items = items - 1
        WHERE content = (SELECT content FROM item WHERE item_id = ${item_id}) AND expert_no = ${expert_no}
        RETURNING content, items`
      if (met === undefined) continue
      if (met.items === 0)
        yield* sql`DELETE FROM seen_content WHERE content = ${met.content} AND expert_no = ${expert_no}`
      yield* offerAgain(sql`deferred_item.content = ${met.content}`)
    }
  })

  const hasJudged = Effect.fnUntraced(function* (itemId: number, expertNo: number) {
    // Votes on canceled tasks do not count, except on `unanswered` tasks: the next start of the service reopens them.
    const votes = yield* sql`SELECT 1 FROM item JOIN item AS other INDEXED BY item_of_content
      ON other.content = item.content AND other.item_id <> item.item_id
      JOIN task ON task.seq = other.item_id / ${maxPrompts} AND (status <> 'cancelled' OR unanswered = 1)
      WHERE item.item_id = ${itemId} AND EXISTS (SELECT 1 FROM vote INDEXED BY vote_on_item
        WHERE vote.item_id = other.item_id AND vote.expert_no = ${expertNo}) LIMIT 1`
    return votes.length > 0
  })

  /** Call this when a person can no longer judge. Repeatable items return to the queue if they now wait for nobody. */
  const awaitFewer = offerAgain(sql`NOT ${isAwaited}`)

  /** Marks open gold items as `repeatable`, so that one person can judge several equal items. */
  const allowRepeatsOf = Effect.fnUntraced(function* (
    requests: (typeof TaskRequests)["Service"],
    hasGoldAnswer: (prompt: TaskPrompt) => boolean,
  ) {
    const items = yield* sql<{ item_id: number }>`SELECT item_id FROM item INDEXED BY item_open
      WHERE open > 0 AND repeatable = 0 AND EXISTS (SELECT 1 FROM item AS other INDEXED BY item_of_content
        WHERE other.content = item.content AND other.item_id <> item.item_id)`
    for (const { item_id } of items) {
      const { prompts } = yield* requests.of(seqOf(item_id))
      if (!hasGoldAnswer(prompts[promptIndexOf(item_id)]!)) continue
      yield* sql`UPDATE item SET repeatable = 1 WHERE item_id = ${item_id}`
    }
  })

  const awaitNoLonger = Effect.fnUntraced(function* (now: number) {
    const away = yield* sql`UPDATE expert SET away = 1 WHERE kind = 'person' AND away = 0
      AND COALESCE(last_seen_at, created_at) <= ${now - Duration.toMillis(activeWithin)} RETURNING expert_no`
    if (away.length > 0) yield* awaitFewer
  })

  return { isDeferred, defer, waiting, hasJudged, markSeen, unmarkSeen, allowRepeatsOf, awaitFewer, awaitNoLonger }
})
