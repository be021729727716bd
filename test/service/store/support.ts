/** The service's store by itself, over a real SQLite file, with webhooks that are only written down. */
import { assert } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { agreesWithOthers } from "../../../src/domain/Tally.ts"
import type { TaskPrompt } from "../../../src/domain/Task.ts"
import type { Voters } from "../../../src/domain/Voters.ts"
import * as SqliteClient from "../../../src/node/SqliteClient.ts"
import { Database } from "../../../src/service/database/Database.ts"
import { AllowRepeatedVotes, EndsUnanswered } from "../../../src/service/store/Contents.ts"
import { Desk } from "../../../src/service/store/Desk.ts"
import { Experts } from "../../../src/service/store/Experts.ts"
import type { Qualification } from "../../../src/service/store/Qualification.ts"
import { TaskStore } from "../../../src/service/store/TaskStore.ts"
import { VoteQueue, type VoteQueueOptions } from "../../../src/service/store/VoteQueue.ts"
import type { Draft, HeldItem, Submission } from "../../../src/service/pageApi/AnnotateApi.ts"
import { type GroupCompleted, Webhooks } from "../../../src/service/webhook/Webhooks.ts"

/** Group events in the order in which they were stored. */
export const makeEvents = () => {
  const events: Array<GroupCompleted> = []
  const layer = Layer.mock(Webhooks, {
    enqueue: (event) => Effect.sync(() => void events.push(event)),
    exists: Effect.succeed(true),
    withdraw: () => Effect.void,
    wake: Effect.void,
  })
  return { events, layer }
}

export type Store = Database | Desk | Experts | Qualification | SqlClient.SqlClient | TaskStore | VoteQueue

interface StoreOptions extends VoteQueueOptions {
  readonly webhooks?: Layer.Layer<Webhooks>
  readonly allowRepeatedVotes?: boolean
  readonly endsUnanswered?: boolean
}

/**
 * Over a database that is there. Tasks are completed with their last vote, unless a grace time is given. One person may
 * judge the same prompt in several tasks, unless repeated votes are not allowed.
 */
export const storeOver = ({ allowRepeatedVotes = true, endsUnanswered = false, ...options }: StoreOptions = {}) =>
  Layer.mergeAll(TaskStore.layer, Experts.layer, Desk.layer).pipe(
    Layer.provideMerge(VoteQueue.layer({ undoGrace: 0, ...options })),
    Layer.provideMerge(options.webhooks ?? makeEvents().layer),
    Layer.provideMerge(Database.layer),
    Layer.provide(Layer.succeed(AllowRepeatedVotes, allowRepeatedVotes)),
    Layer.provide(Layer.succeed(EndsUnanswered, endsUnanswered)),
  )

/** @param filename `:memory:` where nothing has to outlive the layer */
export const store = (filename: string, options: StoreOptions = {}): Layer.Layer<Store, unknown> =>
  storeOver(options).pipe(Layer.provideMerge(SqliteClient.layer({ filename, synchronous: "off" })))

export interface TaskOptions {
  readonly votes?: number
  readonly group?: string
  readonly groupSize?: number
  readonly key?: string
  readonly guidelines?: string
  readonly organization?: string
  readonly voters?: Voters | undefined
}

/** Creates a task of prompts with the given completions. */
export const create = Effect.fnUntraced(function* (
  prompts: ReadonlyArray<readonly [prompt: string, ...completions: ReadonlyArray<string>]>,
  { group, groupSize, guidelines, key, organization = "default", voters, votes = 1 }: TaskOptions = {},
) {
  const content = {
    prompts: prompts.map(([prompt, ...completions]): TaskPrompt => ({ prompt, completions })),
    ...(guidelines !== undefined && { guidelines }),
  }
  const { taskId } = yield* (yield* TaskStore).create({
    organization,
    idempotencyKey: key,
    body: new TextEncoder().encode(JSON.stringify({ task_type: "rlhf_ranking", ...content })),
    content,
    votes,
    voters,
    group: group === undefined ? undefined : { id: group, size: groupSize },
  })
  return taskId
})

/** A vote for the completion with this text, whatever the order shown; with a ranking of all where texts are given in groups. */
export const voteFor = (
  { completions }: Pick<HeldItem, "completions">,
  best: string | ReadonlyArray<ReadonlyArray<string>>,
  rationale = "",
): Submission => {
  const placeOf = (text: string) => completions.indexOf(text)
  return {
    best: typeof best === "string" ? placeOf(best) : null,
    ranking:
      typeof best === "string"
        ? null
        : best.map((group) => group.map(placeOf) as unknown as readonly [number, ...Array<number>]),
    rationale,
    seconds: 5,
  }
}

/** A draft with this rationale. */
export const draftOf = (rationale: string): Draft => ({ mode: "best", best: null, ranking: [], rationale, seconds: 0 })

/** The order in which an item's completions were shown. */
export const orderOf = Effect.fnUntraced(function* ({ item_id }: Pick<HeldItem, "item_id">) {
  const { sql } = yield* Database
  const [hold] = yield* sql<{ shown_order: string }>`SELECT shown_order FROM hold WHERE item_id = ${item_id}`
  return JSON.parse(hold!.shown_order) as ReadonlyArray<number>
})

/** What an expert gets next; fails where nothing is left. */
export const next = (expertId: string) =>
  VoteQueue.use((queue) => Effect.flatMap(queue.next(expertId), Effect.fromOption))

/** The number of a task's items that wait for another expert, as a client is told. */
export const waitingIn = Effect.fnUntraced(function* (taskId: string) {
  // The service answers from a cache until then.
  yield* TestClock.adjust("2 seconds")
  const task = yield* Effect.flatMap((yield* TaskStore).find("default", taskId), Effect.fromOption)
  return task.waiting
})

/** The results of a task, decoded; fails where it is not completed. */
export const results = Effect.fnUntraced(function* (taskId: string) {
  const found = yield* Effect.flatMap((yield* TaskStore).find("default", taskId), Effect.fromOption)
  const bytes = yield* Effect.fromOption(found.answer)
  // oxlint-disable-next-line typescript/no-explicit-any
  return (JSON.parse(new TextDecoder().decode(bytes)) as { readonly results: ReadonlyArray<any> }).results
})

export const statusOf = Effect.fnUntraced(function* (taskId: string) {
  const found = yield* (yield* TaskStore).find("default", taskId)
  return Option.map(found, ({ status }) => status).pipe(Option.getOrUndefined)
})

export const experts = Effect.suspend(() => Effect.forEach(["Ann", "Bob", "Cleo", "Dan"], person))

/** The expert votes for these texts, each on the item that comes next. The last item. */
export const judge = Effect.fnUntraced(function* (expertId: string, ...texts: readonly [string, ...Array<string>]) {
  const queue = yield* VoteQueue
  const items: Array<HeldItem> = []
  for (const text of texts) {
    const item = yield* next(expertId)
    yield* queue.vote(expertId, item.item_id, voteFor(item, text, `${text} is right`))
    items.push(item)
  }
  return items.at(-1)!
})

/** Prompts with two completions. */
export const prompts = (n: number) => Array.from({ length: n }, (_, i) => [`p${i}`, "a", "b"] as const)

export const colors = [
  ["sky", "blue", "green"],
  ["grass", "green", "blue"],
] as const

/** What the dashboard shows of a task, from that prompt on. */
export const detailOf = (taskId: string, from = 0) =>
  TaskStore.use((tasks) => Effect.flatMap(tasks.detail(taskId, from), Effect.fromOption))

/** A new expert's id. */
export const person = (name: string) =>
  Experts.use((experts) => Effect.map(experts.create(name), ({ expert_id }) => expert_id))

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
    yield* sql`SELECT group_id, tasks, open, votes, votes_needed, first_open, items, items_done, all_votes, all_needed FROM task_group ORDER BY group_id`
  const isKept = sql.literal("(status <> 'cancelled')")
  const isOpen = sql.literal("status IN ('pending', 'in_progress')")
  const regrouped = yield* sql`SELECT group_id, COUNT(*) AS tasks, SUM(finished_at IS NULL) AS open,
      SUM(${isOpen} * votes_given) AS votes,
      SUM(${isOpen} * (prompts * votes_required + extra_votes - votes_spared)) AS votes_needed,
      MIN(seq) FILTER (WHERE ${isOpen}) AS first_open, SUM(${isKept} * prompts) AS items,
      SUM(${isKept} * prompts_done) AS items_done, SUM(${isKept} * votes_given) AS all_votes,
      SUM(${isKept} * (prompts * votes_required + extra_votes - votes_spared)) AS all_needed
    FROM task WHERE group_id <> task_id GROUP BY group_id ORDER BY group_id`
  assert.deepStrictEqual(groups, regrouped)
  const days = yield* sql`SELECT given_at / 86400000 AS day, expert_no, COUNT(*) AS votes,
    COALESCE(SUM(agreed), 0) AS agreed, COUNT(agreed) AS compared FROM vote GROUP BY 1, 2 ORDER BY 1, 2`
  assert.deepStrictEqual(yield* sql`SELECT * FROM vote_day WHERE votes > 0 ORDER BY day, expert_no`, days)
  assert.isEmpty(yield* sql`SELECT * FROM vote_day WHERE votes < 0 OR (votes = 0 AND (agreed <> 0 OR compared <> 0))`)
})

export const assertCounters = assertCountersWith()
