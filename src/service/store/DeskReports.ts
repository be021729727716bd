/**
 * Reads for managers: items by filters, one expert, one group.
 *
 * Guarantees: a page of items reads no request. Filters are checked item by item, newest first, until the page is full;
 * `disputed` items have a table of their own. A group's page reads all its votes.
 */
import { Effect, Option } from "effect"
import type { Statement } from "effect/sql"
import type { ExpertDetail, GroupDetail, ItemState, ItemSummary } from "../pageApi/DeskApi.ts"
import { Database } from "../database/Database.ts"
import { type ItemFilter, make as makeFilters } from "./ItemFilters.ts"
import { maxPrompts, promptIndexOf } from "../database/TaskTables.ts"

const pageSize = 25
const maxPageSize = 200
const shownDays = 14
const latestVotes = 2_000
const millisOfDay = 24 * 60 * 60 * 1000

interface ItemRow {
  readonly item_id: number
  readonly task_id: string
  readonly group_id: string
  readonly prompt: string
  readonly status: string
  readonly votes: number
  readonly votes_required: number
  readonly withdrawn: number
  readonly flagged: number
  readonly agreement: number | null
  readonly choice: number | null
  readonly rationale: string | null
  readonly operator: string | null
  readonly at: number | null
}

const stateOf = ({ agreement, choice, status, votes, votes_required, withdrawn }: ItemRow): ItemState => {
  if (status === "cancelled") return "cancelled"
  if (withdrawn === 1) return "withdrawn"
  if (choice !== null) return "decided"
  if (agreement !== null) return "disputed"
  if (votes === votes_required) return "done"
  return votes === 0 ? "waiting" : "open"
}

const toSummary = (row: ItemRow): ItemSummary => ({
  item_no: row.item_id,
  task_id: row.task_id,
  group_id: row.group_id,
  index: promptIndexOf(row.item_id),
  prompt: row.prompt,
  state: stateOf(row),
  votes: row.votes,
  votes_required: row.votes_required,
  flagged: row.flagged === 1,
  agreement: row.agreement ?? (row.votes > 1 && row.votes === row.votes_required ? 1 : null),
  decision:
    row.choice === null ? null : { choice: row.choice, rationale: row.rationale!, by: row.operator!, at: row.at! },
})

const medianOf = (values: ReadonlyArray<number>): number | null => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  if (sorted.length === 0) return null
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export const make = Effect.gen(function* () {
  const { sql } = yield* Database

  const { conditionsOf, isFlagged, required } = makeFilters(sql)

  const items = Effect.fn("Desk.items")(function* (filter: ItemFilter) {
    const limit = Math.min(Math.max(filter.limit ?? pageSize, 1), maxPageSize)
    const before = filter.before ?? Number.MAX_SAFE_INTEGER
    const isDisputed = filter.state === "disputed" || filter.maxAgreement !== undefined
    const isLead = filter.state === "decided" || filter.state === "withdrawn"
    // Few items are disputed, decided or withdrawn: the join begins with them.
    const from = isDisputed
      ? sql`disputed CROSS JOIN item USING (item_id) LEFT JOIN decision USING (item_id)`
      : isLead
        ? sql`decision CROSS JOIN item USING (item_id) LEFT JOIN disputed USING (item_id)`
        : sql`item LEFT JOIN decision USING (item_id) LEFT JOIN disputed USING (item_id)`
    const first = isDisputed ? sql`disputed.item_id` : isLead ? sql`decision.item_id` : sql`item.item_id`
    const rows = yield* sql<ItemRow>`
      SELECT ${first} AS item_id, task_id, group_id, COALESCE(item_text.prompt, '') AS prompt, status, item.votes,
        ${required} AS votes_required, ${isFlagged} AS flagged, decision.item_id IS NOT NULL AND choice IS NULL AS withdrawn,
        disputed.agreement, decision.choice, decision.rationale, decision.operator, decision.at
      FROM ${from} CROSS JOIN task ON task.seq = item.item_id / ${maxPrompts}
        LEFT JOIN item_text ON item_text.item_id = item.item_id
      WHERE ${sql.and([sql`${first} < ${before}`, ...conditionsOf(filter)])}
      ORDER BY ${first} DESC LIMIT ${limit + 1}`
    const shown = rows.slice(0, limit)
    return { items: shown.map(toSummary), next: rows.length > limit ? shown.at(-1)!.item_id : null }
  })

  const daysOf = (votes: Statement.Fragment) => sql<{ day: number; votes: number }>`
    SELECT given_at / ${millisOfDay} * ${millisOfDay} AS day, COUNT(*) AS votes FROM ${votes}
    GROUP BY 1 ORDER BY 1 DESC LIMIT ${shownDays}`

  const expert = Effect.fn("Desk.expert")(function* (expertId: string) {
    const [row] = yield* sql<{
      expert_no: number
      expert_id: string
      name: string
      kind: ExpertDetail["kind"]
      active: number
      judged: number
      agreed: number
      compared: number
      gold_right: number
      gold_judged: number
    }>`SELECT expert_no, expert_id, name, kind, active, judged, agreed, compared, gold_right, gold_judged
      FROM expert WHERE expert_id = ${expertId}`
    if (row === undefined) return Option.none()
    const latest = yield* sql<{ completions: number; place: number; seconds: number }>`
      SELECT json_array_length(body, '$.order') AS completions, body ->> '$.seconds' AS seconds,
        (SELECT key FROM json_each(body, '$.order') WHERE value = choice) AS place
      FROM vote WHERE expert_no = ${row.expert_no} ORDER BY n DESC LIMIT ${latestVotes}`
    const places = Array.from(Map.groupBy(latest, ({ completions }) => completions))
      .toSorted(([a], [b]) => a - b)
      .map(([completions, votes]) => ({
        completions,
        chosen: Array.from({ length: completions }, (_, i) => votes.filter(({ place }) => place === i).length),
      }))
    const voidings = yield* sql<ExpertDetail["voidings"][number]>`
      SELECT voiding_id, reason, operator AS by, at, undone_by, undone_at,
        (SELECT COUNT(*) FROM voided_vote WHERE voided_vote.voiding_id = voiding.voiding_id) AS votes
      FROM voiding WHERE expert_no = ${row.expert_no} ORDER BY voiding_id DESC`
    return Option.some({
      expert_id: row.expert_id,
      name: row.name,
      kind: row.kind,
      active: row.active === 1,
      judged: row.judged,
      majority: { agreed: row.agreed, of: row.compared },
      gold: { right: row.gold_right, of: row.gold_judged },
      days: yield* daysOf(sql`vote WHERE expert_no = ${row.expert_no}`),
      latest: { votes: latest.length, median_seconds: medianOf(latest.map(({ seconds }) => seconds)), places },
      voidings,
    } satisfies ExpertDetail)
  })

  const group = Effect.fn("Desk.group")(function* (groupId: string) {
    const [counts] = yield* sql<{
      open: number
      completed: number
      cancelled: number
      prompts: number
      prompts_done: number
      votes: number
      votes_required: number
    }>`SELECT COUNT(*) FILTER (WHERE status IN ('pending', 'in_progress')) AS open,
      COUNT(*) FILTER (WHERE status = 'completed') AS completed,
      COUNT(*) FILTER (WHERE status = 'cancelled') AS cancelled,
      SUM(prompts) AS prompts, SUM(prompts_done) AS prompts_done, SUM(votes_given) AS votes,
      SUM(prompts * votes_required + extra_votes - votes_spared) AS votes_required
      FROM task WHERE group_id = ${groupId} AND group_id <> task_id`
    const { cancelled, completed, open, ...sums } = counts!
    if (open + completed + cancelled === 0) return Option.none()
    const within = (table: string) => sql`task CROSS JOIN ${sql(table)}
      ON ${sql(table)}.item_id BETWEEN task.seq * ${maxPrompts} AND task.seq * ${maxPrompts} + ${maxPrompts - 1}
      WHERE group_id = ${groupId} AND group_id <> task_id`
    const [special] = yield* sql<{ disputed: number; decided: number; withdrawn: number; flagged: number }>`SELECT
      (SELECT COUNT(*) FROM ${within("disputed")}
        AND NOT EXISTS (SELECT 1 FROM decision WHERE decision.item_id = disputed.item_id)) AS disputed,
      (SELECT COUNT(choice) FROM ${within("decision")}) AS decided,
      (SELECT COUNT(*) FROM ${within("decision")} AND choice IS NULL) AS withdrawn,
      (SELECT COUNT(DISTINCT item_id) FROM ${within("flagged_item")}) AS flagged`
    const paused = yield* sql`SELECT 1 FROM lane WHERE group_id = ${groupId} AND paused = 1`
    const experts = yield* sql<GroupDetail["experts"][number]>`
      SELECT expert.expert_id, expert.name, given.votes, given.agreed, given.compared, given.gold_right, given.gold_judged
      FROM (SELECT expert_no, COUNT(*) AS votes, COALESCE(SUM(agreed), 0) AS agreed, COUNT(agreed) AS compared,
        COALESCE(SUM(correct), 0) AS gold_right, COUNT(correct) AS gold_judged FROM ${within("vote")} GROUP BY expert_no)
        AS given JOIN expert USING (expert_no)
      ORDER BY given.votes DESC, expert.expert_no`
    return Option.some({
      group_id: groupId,
      tasks: { open, completed, cancelled },
      ...sums,
      ...special!,
      paused: paused.length > 0,
      days: yield* daysOf(within("vote")),
      experts,
    } satisfies GroupDetail)
  })

  return { items, expert, group }
})
