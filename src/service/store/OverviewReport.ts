/**
 * The report on all work, computed at most every five seconds. No query reads all votes. An item is unassignable if too
 * few experts may still vote on the item. Here, people count as experts even if they are not qualified. To find
 * such items, the report checks only skipped or flagged items, items with void votes, and the oldest 10,000 open items.
 */
import { Clock, Effect } from "effect"
import { medianInterval, wilsonInterval } from "../../domain/Interval.ts"
import { Database } from "../database/Database.ts"
import { maxPrompts, millisOfDay } from "../database/TaskTables.ts"
import type { OverviewReport, StuckWork } from "../pageApi/OverviewApi.ts"
import * as EqualItems from "./EqualItems.ts"
import { Desk } from "./Desk.ts"
import { Experts } from "./Experts.ts"
import { VoteQueue } from "./VoteQueue.ts"
import { dayOf } from "./Voting.ts"

const shownDays = 30
const shownWeeks = 12
const expertDays = 28
const maxExperts = 50
const latestVotes = 100
const maxStuck = 20
const maxGroups = 20
const maxOpenRead = 10_000
const maxCandidates = 1_000

/** Day 0 (1970-01-01) was a Thursday. */
const mondayOf = (day: number): number => Math.floor((day + 3) / 7) * 7 - 3

/** Votes on the same item depend on each other, so the interval is somewhat too narrow. */
const withInterval = <A extends { readonly agreed: number; readonly compared: number }>(row: A) => {
  const { high = null, low = null } = wilsonInterval(row.agreed, row.compared) ?? {}
  return { ...row, low, high }
}

export const make = Effect.gen(function* () {
  const { sql } = yield* Database
  const desk = yield* Desk
  const experts = yield* Experts
  const equalItems = yield* EqualItems.make
  const { holdMillis } = yield* VoteQueue

  type Progress = OverviewReport["total"]
  const groups = sql<Progress & { group_id: string }>`
    SELECT group_id, items, items_done, all_votes AS votes, all_needed AS votes_needed
    FROM task_group INDEXED BY task_group_open WHERE first_open IS NOT NULL ORDER BY first_open LIMIT ${maxGroups}`

  const usage = Effect.flatMap(
    Effect.suspend(() => experts.staff().paid),
    (paid) => sql<OverviewReport["judges"][number]>`SELECT expert_id, name, judged AS votes,
        value ->> 'requests' AS requests, value ->> 'prompt_tokens' AS prompt_tokens,
        value ->> 'completion_tokens' AS completion_tokens, value ->> 'cost' AS cost
      FROM json_each(${JSON.stringify(paid)}) JOIN expert ON name = 'judge:' || (value ->> 'model') AND kind = 'judge'
      ORDER BY name LIMIT ${maxExperts}`,
  )

  const votesSince = (day: number) => sql<{
    day: number
    kind: string
    votes: number
    agreed: number
    compared: number
  }>`
    SELECT vote_day.day, kind, SUM(votes) AS votes, SUM(vote_day.agreed) AS agreed, SUM(vote_day.compared) AS compared
    FROM vote_day JOIN expert USING (expert_no) WHERE vote_day.day > ${day} GROUP BY vote_day.day, kind`

  const expertsSince = Effect.fnUntraced(function* (day: number) {
    type Row = Pick<OverviewReport["experts"][number], "expert_id" | "name" | "votes" | "agreed" | "compared">
    const rows = yield* sql<Row & { expert_no: number }>`
      SELECT expert_no, expert_id, name, SUM(votes) AS votes, SUM(vote_day.agreed) AS agreed,
        SUM(vote_day.compared) AS compared
      FROM vote_day JOIN expert USING (expert_no) WHERE vote_day.day > ${day}
      GROUP BY expert_no HAVING SUM(votes) > 0 ORDER BY 4 DESC LIMIT ${maxExperts}`
    return yield* Effect.forEach(rows, ({ expert_no, ...row }) =>
      Effect.map(
        sql<{ seconds: number }>`SELECT body ->> '$.seconds' AS seconds FROM vote INDEXED BY vote_of_expert
          WHERE expert_no = ${expert_no} AND shown_at IS NOT NULL ORDER BY n DESC LIMIT ${latestVotes}`,
        (votes) => ({ ...withInterval(row), seconds: medianInterval(votes.map(({ seconds }) => seconds)) }),
      ),
    )
  })

  const ofItem = sql`task_id AS id, item_id % ${maxPrompts} AS "index"`
  const itsTask = sql`JOIN task ON task.seq = item_id / ${maxPrompts}`

  const held = (now: number) => sql<StuckWork>`
    SELECT 'held' AS kind, ${ofItem}, name, shown_at AS at
    FROM hold INDEXED BY hold_until JOIN expert USING (expert_no) ${itsTask}
    WHERE held_until IS NOT NULL AND shown_at <= ${now - holdMillis} ORDER BY shown_at LIMIT ${maxStuck}`
  const deferred = Effect.flatMap(
    equalItems.waiting,
    (itemsByTask) => sql<StuckWork>`SELECT 'deferred' AS kind, task_id AS id, (
        SELECT MIN(item_id % ${maxPrompts}) FROM deferred_item JOIN item USING (item_id)
        WHERE open > 0 AND item_id BETWEEN task.seq * ${maxPrompts} AND (task.seq + 1) * ${maxPrompts} - 1) AS "index", '' AS name, task.created_at AS at
      FROM task WHERE seq IN (SELECT value FROM json_each(${JSON.stringify([...itemsByTask.keys()])})) AND voters IS NOT 'judges'
      ORDER BY seq LIMIT ${maxStuck}`,
  )
  const paused = sql<StuckWork>`
    SELECT 'paused' AS kind, lane.group_id AS id, CASE WHEN task.seq IS NULL THEN NULL ELSE 0 END AS "index", '' AS name,
      NULL AS at
    FROM lane LEFT JOIN task_group USING (organization, group_id)
      LEFT JOIN task ON task.task_id = lane.group_id AND task.group_id = task.task_id
        AND task.organization = lane.organization AND status IN ('pending', 'in_progress')
    WHERE paused = 1 AND (first_open IS NOT NULL OR task.seq IS NOT NULL) LIMIT ${maxStuck}`
  const webhook = sql<StuckWork>`SELECT 'webhook' AS kind, '' AS id, NULL AS "index", '' AS name, since AS at
    FROM webhook_endpoint LEFT JOIN webhook_failure USING (endpoint_id)
    WHERE since IS NOT NULL OR disabled_reason IS NOT NULL`

  /** Counting the experts of an item is slow, so the query does it only for items that may lack experts. */
  const unassignable = (employed: ReadonlyArray<string>) => {
    const works = sql`expert.active = 1 AND (expert.kind = 'person'
      OR expert_id IN (SELECT value FROM json_each(${JSON.stringify(employed)})))`
    const mayJudge = (
      lane: string,
    ) => sql`(NOT EXISTS (SELECT 1 FROM lane WHERE lane.lane = ${sql(lane)}.lane AND assigned = 1)
      OR EXISTS (SELECT 1 FROM lane_expert WHERE lane_expert.lane = ${sql(lane)}.lane AND lane_expert.expert_no = expert.expert_no))`
    const hasMet = (table: string, isActive = sql`1`) => sql`EXISTS (SELECT 1 FROM ${sql(table)} AS met
      WHERE met.item_id = item.item_id AND met.expert_no = expert.expert_no AND ${isActive})`
    return sql<StuckWork>`WITH crew AS MATERIALIZED (
        SELECT own.lane, (SELECT COUNT(*) FROM expert WHERE ${works} AND ${mayJudge("own")}) AS experts
        FROM (SELECT 0 AS lane UNION ALL SELECT lane FROM lane WHERE paused = 0) AS own),
      candidate AS (SELECT * FROM (SELECT item_id FROM (SELECT item_id, lane, for_judges, open + votes AS votes
            FROM item INDEXED BY item_open WHERE open > 0 ORDER BY item_id LIMIT ${maxOpenRead})
          JOIN crew USING (lane) WHERE votes > experts OR for_judges = 1 LIMIT ${maxCandidates})
        UNION SELECT item_id FROM set_aside UNION SELECT item_id FROM voided_vote)
      SELECT 'unassignable' AS kind, task_id AS id, MIN(item.item_id % ${maxPrompts}) AS "index", '' AS name,
        task.created_at AS at
      FROM candidate CROSS JOIN item USING (item_id) CROSS JOIN task ON task.seq = item.item_id / ${maxPrompts}
      WHERE open > 0 AND NOT EXISTS (SELECT 1 FROM lane WHERE lane.lane = item.lane AND paused = 1)
        AND open > (SELECT COUNT(*) FROM expert WHERE ${works} AND ${mayJudge("item")}
          AND (item.for_judges = 0 OR expert.kind = 'judge') AND NOT ${hasMet("vote")}
          AND NOT ${hasMet("voided_vote")} AND NOT ${hasMet("set_aside")}
          AND NOT ${hasMet("hold", sql`met.held_until IS NOT NULL`)})
      GROUP BY task.seq ORDER BY task.seq LIMIT ${maxStuck}`
  }

  const report = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const { doubts, names, outages } = experts.staff()
    const today = dayOf(now)
    const [total] = yield* sql<Progress>`SELECT SUM(prompts) AS items, SUM(prompts_done) AS items_done,
      SUM(votes_given) AS votes, SUM(votes_required) AS votes_needed FROM task_count WHERE status <> 'cancelled'`
    const rows = yield* votesSince(mondayOf(today) - 7 * (shownWeeks - 1) - 1)
    const votesOn = (day: number, isAutomatic: boolean) =>
      rows
        .filter((row) => row.day === day && (row.kind !== "person") === isAutomatic)
        .reduce((sum, { votes }) => sum + votes, 0)
    const weeks = Map.groupBy(rows, ({ day }) => mondayOf(day))
    const sum = (of: typeof rows, member: "agreed" | "compared") => of.reduce((sum, row) => sum + row[member], 0)
    const stuck = (kind: "outage" | "doubt", id: string, name: string, at: number): StuckWork => {
      return { kind, id, index: null, name, at }
    }
    const failing = outages(now).map(({ name, until }) => stuck("outage", name, name, until))
    const doubtful = doubts().map(({ expert, name, since }) => stuck("doubt", expert, name, since))
    return {
      total: total!,
      groups: yield* groups,
      disagreements: yield* desk.disagreements({}),
      days: Array.from({ length: shownDays }, (_, i) => today - shownDays + 1 + i).map((day) => ({
        day: day * millisOfDay,
        people: votesOn(day, false),
        automatic: votesOn(day, true),
      })),
      weeks: [...weeks]
        .toSorted(([a], [b]) => a - b)
        .map(([day, of]) => ({ week: day * millisOfDay, agreed: sum(of, "agreed"), compared: sum(of, "compared") }))
        .filter(({ compared }) => compared > 0)
        .map(withInterval),
      experts: yield* expertsSince(today - expertDays),
      judges: yield* usage,
      stuck: [
        ...(yield* held(now)),
        ...(yield* unassignable(names)),
        ...(yield* deferred),
        ...(yield* paused),
        ...failing.slice(0, maxStuck),
        ...doubtful.slice(0, maxStuck),
        ...(yield* webhook),
      ],
    } satisfies OverviewReport
  }).pipe(Effect.withSpan("OverviewReport"))

  return yield* Effect.cachedWithTTL(report, "5 seconds")
})
