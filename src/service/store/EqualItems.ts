/**
 * Tracks which automatic experts have judged, or are judging, items of the same content (see `Contents`).
 *
 * Guarantees: the time for an item does not grow with the number of items, because only the nearest `maxNear` items of
 * its content on each side are read. Votes of a canceled task count only if it may be opened again.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { itemsOf, maxPrompts } from "../database/TaskTables.ts"

const maxNear = 50

interface EqualItem {
  readonly item_id: number
  readonly other_id: number
  /** An expert who has voted on the other item, or null if nobody has. */
  readonly expert_no: number | null
}

/** Selects items whose content is that of an item of the task, with one row per vote. */
export const equalItemsOf = (sql: SqlClient.SqlClient, seq: number) => {
  const near = (side: "<" | ">", order: "ASC" | "DESC") => sql`SELECT item_id FROM (
    SELECT near.item_id FROM item AS near INDEXED BY item_of_content
    WHERE near.content = item.content AND near.item_id ${sql.literal(side)} item.item_id
    ORDER BY near.item_id ${sql.literal(order)} LIMIT ${maxNear})`
  return sql<EqualItem>`SELECT item.item_id, other.item_id AS other_id, vote.expert_no
    FROM item CROSS JOIN item AS other ON other.item_id IN (${near("<", "DESC")} UNION ALL ${near(">", "ASC")})
    CROSS JOIN task ON task.seq = other.item_id / ${maxPrompts} AND (task.status <> 'cancelled' OR task.unanswered = 1)
    LEFT JOIN vote INDEXED BY vote_on_item ON vote.item_id = other.item_id
    WHERE item.${itemsOf(sql, seq)}`
}

export const make = (sql: SqlClient.SqlClient) => {
  /** The experts whose votes on a claimed item are on the way. The claims end with the process, and so does this. */
  const expected = new Map<number, ReadonlyArray<number>>()

  const equalOf = (seq: number) =>
    Effect.map(equalItemsOf(sql, seq), (rows) => Map.groupBy(rows, ({ item_id }) => item_id))

  /** Returns a function that puts experts with the fewest votes on an item's content first, and keeps their order otherwise. */
  const orderFor = Effect.fnUntraced(function* (seq: number) {
    const equal = yield* equalOf(seq)
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

  /** Returns a function that tells whether an expert has judged an item's content, and counts the vote as given. */
  const repeatsOf = Effect.fnUntraced(function* (seq: number) {
    const equal = yield* equalOf(seq)
    const judged = new Set<string>()
    return (itemId: number, expertNo: number) => {
      judged.add(`${itemId} ${expertNo}`)
      return (equal.get(itemId) ?? []).some(
        ({ expert_no, other_id }) => expert_no === expertNo || judged.has(`${other_id} ${expertNo}`),
      )
    }
  })

  return { expected, orderFor, repeatsOf }
}
