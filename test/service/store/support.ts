/** The service's store by itself, over a real SQLite file, with webhooks that are only written down. */
import { assert } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import type { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
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

/** The expert votes for these texts, each on the item that comes next. */
export const judge = Effect.fnUntraced(function* (expertId: string, ...texts: ReadonlyArray<string>) {
  const queue = yield* VoteQueue
  for (const text of texts) {
    const item = yield* next(expertId)
    yield* queue.vote(expertId, item.item_id, voteFor(item, text, `${text} is right`))
  }
})

/** What the dashboard shows of a task, from that prompt on. */
export const detailOf = (taskId: string, from = 0) =>
  TaskStore.use((tasks) => Effect.flatMap(tasks.detail(taskId, from), Effect.fromOption))

/** A new expert's id. */
export const person = (name: string) =>
  Experts.use((experts) => Effect.map(experts.create(name), ({ expert_id }) => expert_id))

/** What the counters must say, from the votes alone. */
export const assertCounters = Effect.gen(function* () {
  const { sql } = yield* Database
  const wrong = yield* sql`SELECT item_id FROM item JOIN task ON seq = item_id / 1048576
    WHERE votes <> (SELECT COUNT(*) FROM vote WHERE vote.item_id = item.item_id)
      OR (open > 0) <> (status <> 'cancelled' AND votes + claimed + (SELECT COUNT(*) FROM hold
        WHERE hold.item_id = item.item_id AND held_until IS NOT NULL) < votes_required + item.extra_votes
        AND NOT EXISTS (SELECT 1 FROM decision WHERE decision.item_id = item.item_id))`
  assert.deepStrictEqual(wrong, [])
  const tasks = yield* sql`SELECT task_id FROM task WHERE votes_given <>
    (SELECT COUNT(*) FROM vote WHERE item_id / 1048576 = seq)
    OR extra_votes <> (SELECT SUM(extra_votes) FROM item WHERE item_id / 1048576 = seq)
    OR prompts_done <> (SELECT COUNT(*) FROM item LEFT JOIN decision USING (item_id) WHERE item_id / 1048576 = seq
      AND (votes = task.votes_required + item.extra_votes OR decision.item_id IS NOT NULL))`
  assert.deepStrictEqual(tasks, [])
  const counted = yield* sql`SELECT name FROM expert WHERE
    judged <> (SELECT COUNT(*) FROM vote WHERE vote.expert_no = expert.expert_no)
    OR compared <> (SELECT COUNT(agreed) FROM vote WHERE vote.expert_no = expert.expert_no)
    OR expert.agreed <> (SELECT COALESCE(SUM(agreed), 0) FROM vote WHERE vote.expert_no = expert.expert_no)
    OR gold_judged <> (SELECT COUNT(correct) FROM vote WHERE vote.expert_no = expert.expert_no)
    OR judged_on_day <> judged`
  assert.deepStrictEqual(counted, [])
  const days = yield* sql`SELECT given_at / 86400000 AS day, expert_no, COUNT(*) AS votes,
    COALESCE(SUM(agreed), 0) AS agreed, COUNT(agreed) AS compared FROM vote GROUP BY 1, 2 ORDER BY 1, 2`
  assert.deepStrictEqual(yield* sql`SELECT * FROM vote_day WHERE votes > 0 ORDER BY day, expert_no`, days)
  assert.isEmpty(yield* sql`SELECT * FROM vote_day WHERE votes < 0 OR (votes = 0 AND (agreed <> 0 OR compared <> 0))`)
  const groups = yield* sql`SELECT group_id FROM task_group WHERE (items, items_done, all_votes, all_needed) <> (
    SELECT SUM(prompts), SUM(prompts_done), SUM(votes_given), SUM(prompts * votes_required + extra_votes - votes_spared)
    FROM task WHERE task.organization = task_group.organization AND task.group_id = task_group.group_id
      AND task.group_id <> task_id AND status <> 'cancelled')`
  assert.deepStrictEqual(groups, [])
  const total =
    yield* sql`SELECT status FROM task_count WHERE tasks <> (SELECT COUNT(*) FROM task WHERE task.status = task_count.status)
    OR prompts <> (SELECT COALESCE(SUM(prompts), 0) FROM task WHERE task.status = task_count.status)
    OR prompts_done <> (SELECT COALESCE(SUM(prompts_done), 0) FROM task WHERE task.status = task_count.status)
    OR votes_given <> (SELECT COALESCE(SUM(votes_given), 0) FROM task WHERE task.status = task_count.status)
    OR votes_required <> (SELECT COALESCE(SUM(CASE WHEN decision.item_id IS NULL
        THEN task.votes_required + item.extra_votes ELSE votes END), 0)
      FROM item JOIN task ON seq = item.item_id / 1048576 LEFT JOIN decision ON decision.item_id = item.item_id
      WHERE task.status = task_count.status)`
  assert.deepStrictEqual(total, [])
})
