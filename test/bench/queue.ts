/**
 * Whether the queue of votes stays fast when much is stored: by default 20,000 tasks of 50 prompts
 * that ask for two votes each, and an expert who has voted on 100,000 of them that still miss the other vote.
 *
 *     node --conditions=prefstream-source test/bench/queue.ts [TASKS] [PROMPTS] [VOTES]      (about 5 minutes, 1 GB of disk)
 *
 * Without HTTP: the store by itself, over a file, each write committed.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NodeRuntime } from "@effect/platform-node"
import { Clock, Duration, Effect, Layer, Option } from "effect"
import * as SqliteClient from "../../src/node/SqliteClient.ts"
import { Database } from "../../src/service/database/Database.ts"
import { Experts } from "../../src/service/store/Experts.ts"
import { TaskStore } from "../../src/service/store/TaskStore.ts"
import { VoteQueue } from "../../src/service/store/VoteQueue.ts"
import { Webhooks } from "../../src/service/webhook/Webhooks.ts"

const [tasks, prompts, votes] = [20_000, 50, 100_000].map((usual, i) => Number(process.argv[2 + i] ?? usual)) as [
  number,
  number,
  number,
]
const scratch = mkdtempSync(join(tmpdir(), "prefstream-bench-"))
const filename = join(scratch, "service.db")

const store = Layer.merge(TaskStore.layer, Experts.layer).pipe(
  Layer.provideMerge(VoteQueue.layer()),
  Layer.provideMerge(Webhooks.layer()),
  Layer.provideMerge(Database.layer),
  Layer.provideMerge(SqliteClient.layer({ filename, synchronous: "normal" })),
)

const rows: Array<Record<string, string | number>> = []
const measure = Effect.fnUntraced(function* <A, E, R>(what: string, times: number, effect: Effect.Effect<A, E, R>) {
  const millis: Array<number> = []
  for (let i = 0; i < times; i++) {
    const start = yield* Clock.currentTimeNanos
    yield* effect
    millis.push(Number((yield* Clock.currentTimeNanos) - start) / 1e6)
  }
  millis.sort((a, b) => a - b)
  const at = (share: number) => millis[Math.min(times - 1, Math.floor(times * share))]!.toFixed(2)
  rows.push({ what, times, "p50 ms": at(0.5), "p99 ms": at(0.99), "max ms": at(1) })
})

const body = (task: number) => ({
  task_type: "rlhf_ranking",
  prompts: Array.from({ length: prompts }, (_, i) => ({
    prompt: `Prompt ${i} of task ${task}?`,
    completions: [`An answer to ${task}.${i}`, `Another answer to ${task}.${i}, a little longer`],
  })),
})

const filled = Effect.gen(function* () {
  const store = yield* TaskStore
  const { sql, write } = yield* Database
  yield* Effect.forEach(
    Array.from({ length: tasks }, (_, i) => i),
    (i) => {
      const content = body(i)
      const bytes = new TextEncoder().encode(JSON.stringify(content))
      return store.create({ organization: "default", idempotencyKey: undefined, body: bytes, content, votes: 2 })
    },
    { concurrency: 256, discard: true },
  )
  const { expert_id: expertId } = yield* (yield* Experts).create("the old hand")
  // As `vote` would leave it, in one go.
  yield* write(
    Effect.gen(function* () {
      yield* sql`INSERT INTO vote (item_id, expert_no, choice, body, shown_at, given_at)
        SELECT item_id, 1, 0, '{"order":[0,1],"seconds":5}', 0, 0 FROM item ORDER BY item_id LIMIT ${votes}`
      yield* sql`UPDATE item SET votes = 1, open = 1 WHERE item_id IN (SELECT item_id FROM vote)`
      yield* sql`INSERT INTO seen_content (content, expert_no, items)
        SELECT content, 1, COUNT(*) FROM item JOIN vote USING (item_id) GROUP BY content`
      yield* sql`UPDATE expert SET judged = ${votes}, item_cursor = (SELECT MAX(item_id) FROM vote)`
      yield* sql`UPDATE task SET votes_given = (SELECT COUNT(*) FROM vote WHERE item_id / 1048576 = seq),
        status = 'in_progress' WHERE seq <= ${Math.ceil(votes / prompts)}`
    }),
  )
  return expertId
}).pipe(Effect.provide(store))

const program = Effect.gen(function* () {
  const [took, oldHand] = yield* Effect.timed(filled)
  console.log(
    `${tasks} tasks of ${prompts} prompts stored in ${Duration.toSeconds(took).toFixed(1)} s; ${Math.round(statSync(filename).size / 1e6)} MB`,
  )

  yield* measure("start", 3, Effect.provide(Effect.void, Layer.fresh(store), { local: true }))
  yield* Effect.gen(function* () {
    const queue = yield* VoteQueue
    const store = yield* TaskStore
    const experts = yield* Experts
    const { expert_id: newcomer } = yield* experts.create("the newcomer")
    const { expert_id: hesitant } = yield* experts.create("the hesitant")
    const judge = Effect.fnUntraced(function* (expertId: string) {
      const item = Option.getOrThrow(yield* queue.next(expertId))
      yield* queue.vote(expertId, item.item_id, { best: 0, ranking: null, rationale: "r", seconds: 1 })
    })
    const skip = Effect.gen(function* () {
      const item = Option.getOrThrow(yield* queue.next(hesitant))
      yield* queue.setAside(hesitant, item.item_id, { kind: "skip", reason: "" })
    })
    yield* measure("the old hand: next and vote", 500, judge(oldHand))
    yield* measure("the newcomer: next and vote", 500, judge(newcomer))
    yield* measure("the hesitant: next and skip", 500, skip)
    yield* measure("the old hand, after 500 items came back", 100, judge(oldHand))
    const { expert_id: thorough } = yield* experts.create("who has met all that the old hand has judged")
    const { sql, write } = yield* Database
    yield* write(sql`INSERT INTO seen_content (content, expert_no, items)
      SELECT content, (SELECT expert_no FROM expert WHERE expert_id = ${thorough}), 1 FROM seen_content WHERE expert_no = 1`)
    yield* measure(`the thorough: next, past ${votes} items for others`, 1, queue.next(thorough))
    yield* measure("the thorough: next and vote", 500, judge(thorough))
    yield* measure("progress", 500, queue.progress(oldHand))
    yield* measure("overview", 500, store.overview)
    yield* measure("the queue's groups and tasks", 100, queue.groups())
    yield* measure("newest tasks", 100, store.list({}))
    yield* measure("tasks in progress, in the middle", 100, store.list({ status: "in_progress", before: tasks / 20 }))
    const { tasks: listed } = yield* store.list({ before: Math.max(tasks / 20, 2) })
    yield* measure("one task", 100, store.detail(listed[0]!.task_id, 0))
    yield* experts.ensure("machine")
    const asking = { experts: ["machine"], tasks: 1, createdBefore: Infinity, isAvailable: () => true }
    yield* measure("claim", 500, queue.claim(asking))
  }).pipe(Effect.provide(Layer.fresh(store), { local: true }))
  console.table(rows)
  console.log(`peak RSS ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`)
  rmSync(scratch, { recursive: true })
})

NodeRuntime.runMain(program)
