/**
 * Reports for managers. `items` lists items from new to old. Equal items (see `ItemSummary`) form one entry. The entry
 * has the position of the newest of these items that matches the filter.
 */
import { Effect, Option } from "effect"
import { medianInterval } from "../../domain/Interval.ts"
import * as Tally from "../../domain/Tally.ts"
import type { Ranking } from "../../domain/Ranking.ts"
import type { ExpertDetail } from "../pageApi/ExpertsApi.ts"
import type { GroupDetail } from "../pageApi/GroupsApi.ts"
import type { ItemQuery, ItemState, ItemSummary } from "../pageApi/ItemsApi.ts"
import { Database } from "../database/Database.ts"
import * as Experts from "./Experts.ts"
import { make as makeFilters } from "./ItemFilters.ts"
import { maxPrompts, millisOfDay, promptIndexOf, seqOf } from "../database/TaskTables.ts"
import { TaskRequests } from "./TaskRequests.ts"

const pageSize = 25
const maxPageSize = 200
const maxEqual = 25
const maxCounted = 1_000
const shownDays = 14
const latestVotes = 2_000

interface ItemRow extends Pick<ItemSummary, "task_id" | "group_id" | "prompt" | "votes" | "votes_required"> {
  readonly item_id: number
  readonly status: string
  readonly withdrawn: number
  readonly flagged: number
  readonly agreement: number | null
  readonly content: number
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
  return stateBy(votes, votes_required)
}

const stateBy = (votes: number, required: number): ItemState =>
  votes === required ? "done" : votes === 0 ? "waiting" : "open"
const ofVotes: ReadonlyArray<ItemState> = ["done", "waiting", "open"]

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
  equal: [],
  agreement: row.agreement ?? (row.votes > 1 && row.votes === row.votes_required ? 1 : null),
  decision:
    row.choice === null ? null : { choice: row.choice, rationale: row.rationale!, by: row.operator!, at: row.at! },
})

/** Equal items have the same content and group. Tasks without a group count as one group. */
const keyOf = ({ content, group_id, task_id }: Pick<ItemRow, "content" | "group_id" | "task_id">): string =>
  `${content} ${group_id === task_id ? "" : group_id}`

export const make = Effect.gen(function* () {
  const { sql } = yield* Database
  const requests = yield* TaskRequests

  const { conditionsOf, isFlagged, required } = makeFilters(sql)

  const items = Effect.fn("Desk.items")(function* (filter: ItemQuery) {
    const limit = Math.min(Math.max(filter.limit ?? pageSize, 1), maxPageSize)
    const before = filter.before ?? Number.MAX_SAFE_INTEGER
    const isDisputed = filter.state === "disputed" || filter.max_agreement !== undefined
    const isLead = filter.state === "decided" || filter.state === "withdrawn"
    // The tables `disputed` and `decision` are small. If the filter needs one of them, SQLite reads this table first.
    const from = isDisputed
      ? sql`disputed CROSS JOIN item USING (item_id) LEFT JOIN decision USING (item_id)`
      : isLead
        ? sql`decision CROSS JOIN item USING (item_id) LEFT JOIN disputed USING (item_id)`
        : sql`item LEFT JOIN decision USING (item_id) LEFT JOIN disputed USING (item_id)`
    const first = isDisputed ? sql`disputed.item_id` : isLead ? sql`decision.item_id` : sql`item.item_id`
    const rowsBefore = (before: number, limit: number) => sql<ItemRow>`
      SELECT ${first} AS item_id, task_id, group_id, COALESCE(item_text.prompt, '') AS prompt, status, item.votes, content,
        ${required} AS votes_required, ${isFlagged} AS flagged, decision.item_id IS NOT NULL AND choice IS NULL AS withdrawn,
        disputed.agreement, decision.choice, decision.rationale, decision.operator, decision.at
      FROM ${from} CROSS JOIN task ON task.seq = item.item_id / ${maxPrompts}
        LEFT JOIN item_text ON item_text.item_id = item.item_id
      WHERE ${sql.and([sql`${first} < ${before}`, ...conditionsOf(filter)])}
      ORDER BY ${first} DESC LIMIT ${limit}`
    const shown: Array<ItemRow> = []
    for (let last = before; shown.length <= limit;) {
      const rows = yield* rowsBefore(last, limit + 1)
      const newest = new Set(yield* newestOf(rows, filter))
      shown.push(...rows.filter(({ item_id }) => newest.has(item_id)))
      if (rows.length <= limit) break
      last = rows.at(-1)!.item_id
    }
    const page = shown.slice(0, limit)
    const next = shown.length > limit ? page.at(-1)!.item_id : null
    return { items: yield* withEqual(page), next, disagreements: yield* disagreements(filter) }
  })

  const disagreements = Effect.fnUntraced(function* (filter: ItemQuery) {
    const [row] = yield* sql<{ items: number }>`SELECT COUNT(*) AS items FROM (
      SELECT DISTINCT content, CASE group_id WHEN task_id THEN '' ELSE group_id END
      FROM disputed CROSS JOIN item USING (item_id) LEFT JOIN decision USING (item_id)
        CROSS JOIN task ON task.seq = item.item_id / ${maxPrompts} LEFT JOIN item_text ON item_text.item_id = item.item_id
      WHERE ${sql.and(conditionsOf({ ...filter, state: "disputed" }))} LIMIT ${maxCounted})`
    return row!.items
  })

  const newestOf = Effect.fnUntraced(function* (rows: ReadonlyArray<ItemRow>, filter: ItemQuery) {
    const matching = yield* sql<{ item_id: number }>`SELECT MAX(item.item_id) AS item_id
      FROM item INDEXED BY item_of_content CROSS JOIN task ON task.seq = item.item_id / ${maxPrompts}
        LEFT JOIN decision ON decision.item_id = item.item_id LEFT JOIN disputed ON disputed.item_id = item.item_id
        LEFT JOIN item_text ON item_text.item_id = item.item_id
      WHERE ${sql.and([
        sql`content IN (SELECT value FROM json_each(${JSON.stringify(rows.map(({ content }) => content))}))`,
        ...conditionsOf(filter),
      ])}
      GROUP BY content, CASE group_id WHEN task_id THEN '' ELSE group_id END, status = 'cancelled'`
    return matching.map(({ item_id }) => item_id)
  })

  const withEqual = Effect.fnUntraced(function* (rows: ReadonlyArray<ItemRow>) {
    type Equal = Pick<ItemRow, "item_id" | "task_id" | "group_id" | "content" | "votes" | "votes_required" | "flagged">
    const all =
      yield* sql<Equal>`SELECT item.item_id, task_id, group_id, content, votes, ${required} AS votes_required, ${isFlagged} AS flagged
      FROM item INDEXED BY item_of_content CROSS JOIN task ON task.seq = item.item_id / ${maxPrompts}
      WHERE status <> 'cancelled'
        AND content IN (SELECT value FROM json_each(${JSON.stringify(rows.map(({ content }) => content))}))
      ORDER BY item.item_id DESC`
    const equalTo = Map.groupBy(all, keyOf)
    return yield* Effect.forEach(rows, (row) => {
      const own = toSummary(row)
      const equal = row.status === "cancelled" ? [] : (equalTo.get(keyOf(row)) ?? [])
      if (equal.length < 2) return Effect.succeed(own)
      const sum = (of: "votes" | "votes_required") => equal.reduce((sum, item) => sum + item[of], 0)
      const [votes, votes_required] = [sum("votes"), sum("votes_required")]
      const others = equal.filter(({ item_id }) => item_id !== row.item_id).slice(0, maxEqual)
      return Effect.map(votes === votes_required ? agreementOn(equal) : Effect.succeed(null), (agreement) => ({
        ...own,
        state: ofVotes.includes(own.state) ? stateBy(votes, votes_required) : own.state,
        votes,
        votes_required,
        flagged: equal.some(({ flagged }) => flagged === 1),
        equal: others.map(({ item_id, task_id }) => ({ task_id, index: promptIndexOf(item_id) })),
        agreement,
      }))
    })
  })

  /** Computes the agreement of all votes on equal items, whose completions may be in different orders. */
  const agreementOn = Effect.fnUntraced(function* (items: ReadonlyArray<{ readonly item_id: number }>) {
    const ids = JSON.stringify(items.map(({ item_id }) => item_id))
    const votes = yield* sql<{ item_id: number; choice: number; ranking: string | null }>`
      SELECT item_id, choice, body -> '$.ranking' AS ranking FROM vote INDEXED BY vote_on_item
      WHERE item_id IN (SELECT value FROM json_each(${ids})) ORDER BY n`
    let completions: ReadonlyArray<string> = []
    const ballots: Array<Tally.Ballot> = []
    for (const { choice, item_id, ranking } of votes) {
      const { prompts } = yield* requests.of(seqOf(item_id))
      const own = prompts[promptIndexOf(item_id)]!.completions
      if (ballots.length === 0) completions = own
      const indexOf = (index: number) => completions.indexOf(own[index]!)
      ballots.push({
        choice: indexOf(choice),
        ...(ranking !== null && {
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `Voting.give`
          ranking: (JSON.parse(ranking) as Ranking).map(
            ([head, ...rest]) => [indexOf(head), ...rest.map(indexOf)] as const,
          ),
        }),
      })
    }
    return ballots.length < 2 ? null : Tally.tally(completions, ballots).agreement
  })

  const expert = Effect.fn("Desk.expert")(function* (expertId: string) {
    const [expert] = yield* sql<Experts.Row & { expert_no: number }>`
      SELECT expert_no, ${sql.literal(Experts.rowColumns)} FROM expert WHERE expert_id = ${expertId}`
    if (expert === undefined) return Option.none()
    const { expert_no, ...row } = expert
    const latest = yield* sql<{ completions: number; place: number; seconds: number }>`
      SELECT json_array_length(body, '$.order') AS completions, body ->> '$.seconds' AS seconds,
        (SELECT key FROM json_each(body, '$.order') WHERE value = choice) AS place
      FROM vote INDEXED BY vote_of_expert WHERE expert_no = ${expert_no} ORDER BY n DESC LIMIT ${latestVotes}`
    const places = Array.from(Map.groupBy(latest, ({ completions }) => completions))
      .toSorted(([a], [b]) => a - b)
      .map(([completions, votes]) => ({
        completions,
        chosen: Array.from({ length: completions }, (_, i) => votes.filter(({ place }) => place === i).length),
      }))
    const voidings = yield* sql<ExpertDetail["voidings"][number]>`
      SELECT voiding_id, reason, operator AS by, at, undone_by, undone_at,
        (SELECT COUNT(*) FROM voided_vote WHERE voided_vote.voiding_id = voiding.voiding_id) AS votes
      FROM voiding WHERE expert_no = ${expert_no} ORDER BY voiding_id DESC`
    return Option.some({
      ...Experts.toSummary(row),
      days: yield* sql<ExpertDetail["days"][number]>`SELECT day * ${millisOfDay} AS day, votes
        FROM vote_day INDEXED BY vote_day_of_expert WHERE expert_no = ${expert_no} AND votes > 0
        ORDER BY vote_day.day DESC LIMIT ${shownDays}`,
      latest: {
        votes: latest.length,
        median_seconds: medianInterval(latest.map(({ seconds }) => seconds))?.median ?? null,
        places,
      },
      voidings,
    } satisfies ExpertDetail)
  })

  const group = Effect.fn("Desk.group")(function* (groupId: string) {
    type Sums = Pick<GroupDetail, "prompts" | "prompts_done" | "votes" | "votes_required">
    const [counts] = yield* sql<
      GroupDetail["tasks"] & Sums
    >`SELECT COUNT(*) FILTER (WHERE status IN ('pending', 'in_progress')) AS open,
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
      days: yield* sql<GroupDetail["days"][number]>`
        SELECT given_at / ${millisOfDay} * ${millisOfDay} AS day, COUNT(*) AS votes FROM ${within("vote")}
        GROUP BY 1 ORDER BY 1 DESC LIMIT ${shownDays}`,
      experts,
    } satisfies GroupDetail)
  })

  return { items, disagreements, expert, group }
})
