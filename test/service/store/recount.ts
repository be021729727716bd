/** What all counters of the store must say, recounted from the votes. */
import { assert } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { agreesWithOthers } from "../../../src/domain/Tally.ts"
import type { VoteQueueOptions } from "../../../src/service/store/VoteQueue.ts"
import { type Body, testOver } from "../../support/effectTest.ts"
import { makeEvents, type Store, store } from "./support.ts"

interface ItemRow {
  readonly item_id: number
  readonly open: number
  readonly votes: number
  readonly claimed: number
  readonly holds: number
  readonly given: number
  readonly required: number
  /** Null: withdrawn; -1: there is no decision. */
  readonly decision: number | null
  readonly status: string
}

const unfinished = (status: string) => status === "pending" || status === "in_progress"

/** What experts have seen of items: votes and refusals on canceled tasks do not count, so that they may be asked again. */
export const meetings = `SELECT item_id, expert_no FROM (
    SELECT item_id, expert_no FROM vote UNION SELECT item_id, expert_no FROM voided_vote
    UNION SELECT item_id, expert_no FROM set_aside
  ) AS given JOIN task ON seq = given.item_id / 1048576 WHERE NOT (status = 'cancelled' AND unanswered = 0)
  UNION SELECT item_id, expert_no FROM hold WHERE held_until IS NOT NULL`

/** Recounts everything from the votes. @param withdrawn items that are, where a test knows them */
export const assertCountersWith = Effect.fnUntraced(function* (withdrawn?: ReadonlySet<number>) {
  const sql = yield* SqlClient.SqlClient
  const items = yield* sql<ItemRow>`
    SELECT item_id, open, votes, claimed, task.votes_required + item.extra_votes AS required, task.status,
      CASE WHEN decision.item_id IS NULL THEN -1 ELSE choice END AS decision,
      (SELECT COUNT(*) FROM hold WHERE hold.item_id = item.item_id AND held_until IS NOT NULL) AS holds,
      (SELECT COUNT(*) FROM vote WHERE vote.item_id = item.item_id) AS given
    FROM item JOIN task ON task.seq = item.item_id / 1048576 LEFT JOIN decision USING (item_id)`
  for (const item of items) {
    const said = JSON.stringify(item)
    assert.strictEqual(item.votes, item.given, said)
    if (withdrawn !== undefined) assert.strictEqual(item.decision === null, withdrawn.has(item.item_id), said)
    if (unfinished(item.status) && item.decision === -1) {
      assert.strictEqual(item.open + item.votes + item.claimed + item.holds, item.required, said)
      assert.isAtLeast(Math.min(item.open, item.claimed), 0, said)
    } else {
      assert.deepStrictEqual([item.open, item.claimed, item.holds], [0, 0, 0], said)
      if (item.status === "completed" && item.decision === -1) assert.strictEqual(item.votes, item.required, said)
    }
  }
  const twice = yield* sql`SELECT 1 FROM hold JOIN vote USING (item_id, expert_no)`
  assert.lengthOf(twice, 0, "an expert holds an item that he or she has voted on")

  const met = yield* sql`SELECT content, expert_no, items FROM seen_content ORDER BY content, expert_no`
  const remet =
    yield* sql`SELECT content, expert_no, COUNT(*) AS items FROM item JOIN (${sql.literal(meetings)}) USING (item_id) JOIN expert USING (expert_no) WHERE kind = 'person'
    GROUP BY content, expert_no ORDER BY content, expert_no`
  assert.deepStrictEqual(met, remet)

  const left = yield* sql`SELECT 1 FROM deferred_item JOIN task ON task.seq = item_id / 1048576
    WHERE finished_at IS NOT NULL`
  assert.lengthOf(left, 0, "an item of a task that is over is remembered as left to others")

  // Counts
  const votes = yield* sql<{
    item_id: number
    expert_no: number
    choice: number
    body: string
    correct: number | null
  }>`
    SELECT item_id, expert_no, choice, body, correct FROM vote ORDER BY item_id, n`
  const done = new Map(
    items.map(({ decision, item_id, required, votes }) => [
      item_id,
      votes > 1 && (votes === required || (decision !== null && decision >= 0)),
    ]),
  )
  const agreed = new Map<number, Array<boolean>>()
  for (const [itemId, given] of Map.groupBy(votes, (vote) => vote.item_id)) {
    if (done.get(itemId) !== true) continue
    const ballots = given.map(({ body, choice }) => ({ choice, ...JSON.parse(body) }))
    const texts = [...ballots[0].order.keys()].map(String)
    const agreements = agreesWithOthers(texts, ballots)
    given.forEach(({ expert_no }, i) =>
      agreed.set(
        expert_no,
        [...(agreed.get(expert_no) ?? []), agreements[i]].filter((agrees) => agrees !== undefined),
      ),
    )
  }
  const experts = yield* sql<Record<string, number>>`
    SELECT expert_no, judged, agreed, compared, gold_judged, gold_right FROM expert`
  for (const expert of experts) {
    const own = votes.filter((vote) => vote.expert_no === expert["expert_no"])
    const known = own.filter(({ correct }) => correct !== null)
    const compared = agreed.get(expert["expert_no"]!) ?? []
    assert.deepStrictEqual(expert, {
      expert_no: expert["expert_no"],
      judged: own.length,
      agreed: compared.filter(Boolean).length,
      compared: compared.length,
      gold_judged: known.length,
      gold_right: known.filter(({ correct }) => correct === 1).length,
    } as never)
  }
  const waiting = yield* sql`SELECT 1 FROM task
    WHERE (completes_at IS NOT NULL) <> (status = 'in_progress' AND prompts_done = prompts)`
  assert.lengthOf(waiting, 0, "a task has all its votes and will not be completed, or will be without them")
  const early = yield* sql`SELECT 1 FROM task
    WHERE (status = 'completed' AND prompts_done < prompts) OR (status = 'pending' AND prompts_done > 0)`
  assert.lengthOf(early, 0, "a task is completed without all its votes, or has some and is pending")
  const unpublished = yield* sql`SELECT 1 FROM task LEFT JOIN task_result USING (seq)
    WHERE (status = 'completed' AND answer IS NULL) OR (status IN ('pending', 'cancelled') AND answer IS NOT NULL)`
  assert.lengthOf(unpublished, 0, "a completed task has no result, or one that is not completed has one")
  const tasks = yield* sql<Record<string, number>>`SELECT task.seq, prompts_done, votes_given,
      (SELECT COUNT(*) FROM item LEFT JOIN decision USING (item_id) WHERE item.item_id / 1048576 = task.seq
        AND (item.votes = task.votes_required + item.extra_votes OR decision.item_id IS NOT NULL)) AS done,
      task.extra_votes, (SELECT SUM(extra_votes) FROM item WHERE item.item_id / 1048576 = task.seq) AS extra,
      (SELECT COUNT(*) FROM vote WHERE vote.item_id / 1048576 = task.seq) AS votes FROM task`
  for (const task of tasks) {
    assert.strictEqual(task["prompts_done"], task["done"])
    assert.strictEqual(task["votes_given"], task["votes"])
    assert.strictEqual(task["extra_votes"], task["extra"])
  }
  const counts = yield* sql`SELECT * FROM task_count WHERE tasks > 0 ORDER BY status`
  const recount = yield* sql`SELECT status, COUNT(*) AS tasks, SUM(prompts) AS prompts,
    SUM(prompts_done) AS prompts_done, SUM(votes_given) AS votes_given,
    SUM((SELECT SUM(CASE WHEN decision.item_id IS NULL THEN task.votes_required + item.extra_votes ELSE item.votes END)
      FROM item LEFT JOIN decision USING (item_id) WHERE item.item_id / 1048576 = task.seq)) AS votes_required,
    SUM((voters IS 'judges') * (prompts * votes_required + extra_votes - votes_spared - votes_given)) AS needed_of_judges
    FROM task GROUP BY status ORDER BY status`
  assert.deepStrictEqual(counts, recount)
  const groups =
    yield* sql`SELECT group_id, tasks, open, votes, votes_needed, first_open, items, items_done, all_votes, all_needed FROM task_group ORDER BY organization, group_id`
  const isKept = sql.literal("(status <> 'cancelled')")
  const isOpen = sql.literal("status IN ('pending', 'in_progress')")
  const regrouped = yield* sql`SELECT group_id, COUNT(*) AS tasks, SUM(finished_at IS NULL) AS open,
      SUM(${isOpen} * votes_given) AS votes,
      SUM(${isOpen} * (prompts * votes_required + extra_votes - votes_spared)) AS votes_needed,
      MIN(seq) FILTER (WHERE ${isOpen}) AS first_open, SUM(${isKept} * prompts) AS items,
      SUM(${isKept} * prompts_done) AS items_done, SUM(${isKept} * votes_given) AS all_votes,
      SUM(${isKept} * (prompts * votes_required + extra_votes - votes_spared)) AS all_needed
    FROM task WHERE group_id <> task_id GROUP BY organization, group_id ORDER BY organization, group_id`
  assert.deepStrictEqual(groups, regrouped)
  const days = yield* sql`SELECT given_at / 86400000 AS day, expert_no, COUNT(*) AS votes,
    COALESCE(SUM(agreed), 0) AS agreed, COUNT(agreed) AS compared FROM vote GROUP BY 1, 2 ORDER BY 1, 2`
  assert.deepStrictEqual(yield* sql`SELECT * FROM vote_day WHERE votes > 0 ORDER BY day, expert_no`, days)
  assert.isEmpty(yield* sql`SELECT * FROM vote_day WHERE votes < 0 OR (votes = 0 AND (agreed <> 0 OR compared <> 0))`)
})

/** Tests of the store that end with a recount, and the events that it has stored for webhooks. */
export const counted = (options: VoteQueueOptions = {}) => {
  const { events, layer: webhooks } = makeEvents()
  const run = testOver(store(":memory:", { webhooks, ...options }))
  const test = (name: string, body: Body<Store | Scope.Scope>) =>
    run(name, function* () {
      events.length = 0
      yield* body()
      yield* assertCountersWith()
    })
  return { events, test }
}
