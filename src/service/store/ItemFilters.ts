/** SQL conditions for filters of items. */
import { Struct } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { ItemQuery, ItemState } from "../pageApi/ItemsApi.ts"

type ItemFilter = Omit<ItemQuery, "before" | "limit">

const containing = (text: string): string => `%${text.replace(/[%_\\]/g, String.raw`\$&`)}%`

export const make = (sql: SqlClient.SqlClient) => {
  const required = sql.literal("votes_required + item.extra_votes")
  const isFlagged = sql.literal("EXISTS (SELECT 1 FROM flagged_item WHERE flagged_item.item_id = item.item_id)")
  const states: Record<ItemState, Statement.Fragment> = {
    waiting: sql`status IN ('pending', 'in_progress') AND item.votes = 0 AND decision.item_id IS NULL`,
    open: sql`status IN ('pending', 'in_progress') AND item.votes < ${required} AND decision.item_id IS NULL`,
    done: sql`status <> 'cancelled' AND item.votes = ${required} AND decision.item_id IS NULL`,
    disputed: sql`status <> 'cancelled' AND disputed.item_id IS NOT NULL AND decision.item_id IS NULL`,
    decided: sql`status <> 'cancelled' AND decision.choice IS NOT NULL`,
    withdrawn: sql`status <> 'cancelled' AND decision.item_id IS NOT NULL AND decision.choice IS NULL`,
    cancelled: sql`status = 'cancelled'`,
  }
  const conditions: { readonly [K in keyof ItemFilter]-?: (value: NonNullable<ItemFilter[K]>) => Statement.Fragment } =
    {
      state: (state) => states[state],
      text: (text) => sql`item_text.prompt LIKE ${containing(text)} ESCAPE ${"\\"}`,
      group: (group) => sql`group_id = ${group} AND group_id <> task_id`,
      task: (task) => sql`task_id = ${task}`,
      expert: (expert) => sql`EXISTS (SELECT 1 FROM vote INDEXED BY vote_on_item WHERE vote.item_id = item.item_id
      AND vote.expert_no = (SELECT expert_no FROM expert WHERE expert_id = ${expert}))`,
      flagged: () => isFlagged,
      max_agreement: (percent) => sql`disputed.agreement <= ${percent / 100}`,
    }

  const conditionsOf = (filter: ItemFilter): ReadonlyArray<Statement.Fragment> =>
    Struct.keys(conditions).flatMap((name) =>
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the condition has the type of its filter's value
      (filter[name] ?? "") === "" ? [] : [(conditions[name] as (value: unknown) => Statement.Fragment)(filter[name])],
    )

  return { conditionsOf, isFlagged, required }
}
