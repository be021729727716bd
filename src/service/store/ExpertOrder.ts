/** Sorts the automatic experts for an item. Experts with fewer votes on items with the same `content` come first. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { itemsOf, maxPrompts } from "../database/TaskTables.ts"

const maxNear = 50

/** Selects the items that equal an open item of the task. An item with several votes has several rows. */
export const equalItemsOf = (sql: SqlClient.SqlClient, seq: number) => {
  const near = (side: "<" | ">", order: "ASC" | "DESC") => sql`SELECT item_id FROM (
    SELECT near.item_id FROM item AS near INDEXED BY item_of_content
    WHERE near.content = item.content AND near.item_id ${sql.literal(side)} item.item_id
    ORDER BY near.item_id ${sql.literal(order)} LIMIT ${maxNear})`
  return sql<{ item_id: number; other_id: number; expert_no: number | null }>`
    SELECT item.item_id, other.item_id AS other_id, vote.expert_no
    FROM item CROSS JOIN item AS other ON other.item_id IN (${near("<", "DESC")} UNION ALL ${near(">", "ASC")})
    CROSS JOIN task ON task.seq = other.item_id / ${maxPrompts} AND (task.status <> 'cancelled' OR task.unanswered = 1)
    LEFT JOIN vote INDEXED BY vote_on_item ON vote.item_id = other.item_id
    WHERE item.${itemsOf(sql, seq)} AND item.open > 0`
}

/** If an item equals an older item, sets `has_equal_items` on this task and on the task of the oldest equal item. */
export const mark = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, seq: number) {
  const first = yield* sql<{ seq: number }>`SELECT DISTINCT first / ${maxPrompts} AS seq FROM (
      SELECT item_id, (SELECT MIN(other.item_id) FROM item AS other INDEXED BY item_of_content
        WHERE other.content = item.content) AS first FROM item WHERE ${itemsOf(sql, seq)}) WHERE first < item_id`
  if (first.length === 0) return
  const tasks = JSON.stringify([seq, ...first.map((row) => row.seq)])
  yield* sql`UPDATE task SET has_equal_items = 1 WHERE seq IN (SELECT value FROM json_each(${tasks}))`
})

export const make = (sql: SqlClient.SqlClient) => {
  /** Maps a claimed item's id to the experts who may be judging it. Not stored, because claims end with the process. */
  const expected = new Map<number, ReadonlyArray<number>>()

  const orderFor = Effect.fnUntraced(function* (seq: number) {
    const equal = Map.groupBy(yield* equalItemsOf(sql, seq), ({ item_id }) => item_id)
    return <A extends { readonly expert_no: number }>(itemId: number, experts: ReadonlyArray<A>) => {
      const rows = equal.get(itemId)
      if (rows === undefined) return experts
      const votes = new Map<number, number>()
      const add = (expert: number) => votes.set(expert, (votes.get(expert) ?? 0) + 1)
      for (const { expert_no } of rows) if (expert_no !== null) add(expert_no)
      for (const other of new Set(rows.map(({ other_id }) => other_id))) expected.get(other)?.forEach(add)
      return experts.toSorted((a, b) => (votes.get(a.expert_no) ?? 0) - (votes.get(b.expert_no) ?? 0))
    }
  })

  return { expected, orderFor }
}
