/** The service's store by itself, over a real SQLite file, with webhooks that are only written down. */
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { TaskPrompt } from "../../../src/domain/Task.ts"
import type { Voters } from "../../../src/domain/Voters.ts"
import * as SqliteClient from "../../../src/node/SqliteClient.ts"
import { Database } from "../../../src/service/database/Database.ts"
import { AllowRepeatedVotes, EndsUnanswered } from "../../../src/service/store/EqualItems.ts"
import { Desk } from "../../../src/service/store/Desk.ts"
import { Experts } from "../../../src/service/store/Experts.ts"
import { Qualification } from "../../../src/service/store/Qualification.ts"
import { TaskStore } from "../../../src/service/store/TaskStore.ts"
import { VoteQueue, type VoteQueueOptions } from "../../../src/service/store/VoteQueue.ts"
import type { Draft, HeldItem, Submission } from "../../../src/service/pageApi/AnnotateApi.ts"
import { type GroupCompleted, Webhooks } from "../../../src/service/webhook/Webhooks.ts"

/** Group events in the order in which they were stored. */
export const makeEvents = () => {
  const events: Array<GroupCompleted> = []
  let wakes = 0
  const layer = Layer.mock(Webhooks, {
    enqueue: (event) => Effect.sync(() => void events.push(event)),
    exists: Effect.succeed(true),
    withdraw: () => Effect.void,
    wake: Effect.sync(() => void wakes++),
  })
  return { events, layer, wakes: () => wakes }
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

/** The expert votes for what is shown first, until nothing is left. The items. */
export const judgeAll = Effect.fnUntraced(function* (expertId: string) {
  const queue = yield* VoteQueue
  const items: Array<HeldItem> = []
  for (let item = yield* queue.next(expertId); Option.isSome(item); item = yield* queue.next(expertId)) {
    yield* queue.vote(expertId, item.value.item_id, voteFor(item.value, item.value.completions[0]!))
    items.push(item.value)
  }
  return items
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

/** The store's services, and the id of a new expert for each name. */
export const crew = <const Name extends string>(...names: ReadonlyArray<Name>) =>
  Effect.map(
    Effect.all({
      desk: Desk,
      experts: Experts,
      ids: Effect.forEach(names, person),
      qualification: Qualification,
      queue: VoteQueue,
      sql: SqlClient.SqlClient,
      taskStore: TaskStore,
    }),
    ({ ids, ...services }) => ({
      ...services,
      ...(Object.fromEntries(names.map((name, i) => [name, ids[i]])) as Record<Name, string>),
    }),
  )
