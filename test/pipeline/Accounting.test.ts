/**
 * Whatever the service does to tasks, and whatever a person decides about them, over several
 * runs and campaigns: every record that was read is counted once, every item stands in one task
 * of its campaign for each of its votes, and no vote of an item has two results in it.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Option, Result, Stream } from "effect"
import { SqlClient } from "effect/sql"
import fc from "fast-check"
import type { FunnelStep } from "../../src/domain/QualityReport.ts"
import * as SqliteClient from "../../src/node/SqliteClient.ts"
import * as Funnel from "../../src/pipeline/Funnel.ts"
import * as RunReport from "../../src/pipeline/RunReport.ts"
import { AnnotationClient } from "../../src/task/client/AnnotationClient.ts"
import { collect } from "../../src/task/Collect.ts"
import * as Results from "../../src/task/Results.ts"
import { defaultJob, Ledger } from "../../src/task/ledger/Ledger.ts"
import * as LedgerCheck from "../../src/task/ledger/care/LedgerCheck.ts"
import { TaskState } from "../../src/task/ledger/schema/Model.ts"
import { submit } from "../../src/task/Submit.ts"
import { cases } from "../support/cases.ts"
import { platform } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { reject } from "../task/support.ts"

const verbs = ["sendAgain", "giveUp", "adopt"] as const

const decisions = fc.array(
  fc.record({
    verb: fc.constantFrom(...verbs),
    state: fc.constantFrom<TaskState>("in_doubt", "failed", "invalid", "refused", "given_up", "planned", "submitted"),
    /** Of the tasks in that state. */
    which: fc.nat(5),
  }),
  { maxLength: 4 },
)

const runs = fc.array(
  fc.record({
    /** Records that are read: numbers of items, which repeat; -1 is one that the source refuses. */
    records: fc.array(fc.integer({ min: -1, max: 14 }), { maxLength: 25 }),
    campaign: fc.constantFrom("one", "two"),
    resubmit: fc.subarray(["failed", "invalid", "refused"] as const),
    batch: fc.integer({ min: 1, max: 4 }),
    votes: fc.integer({ min: 1, max: 3 }),
    withGold: fc.boolean(),
    collects: fc.boolean(),
    decisions,
  }),
  { minLength: 1, maxLength: 4 },
)

/** What becomes of each creation, and of each look, one after another and around. */
const creations = fc.array(fc.constantFrom("taken", "taken", "refused", "large", "reset", "unusable"), {
  minLength: 1,
  maxLength: 7,
})
const looks = fc.array(fc.constantFrom("completed", "completed", "open", "cancelled", "vanished", "odd"), {
  minLength: 1,
  maxLength: 7,
})

type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never

const answers = (created: Drawn<typeof creations>, looked: Drawn<typeof looks>) => {
  let posts = 0
  let gets = 0
  return (
    received: ScriptedService.Received,
    before: ReadonlyArray<ScriptedService.Received>,
  ): ScriptedService.Answer => {
    if (received.method === "POST") {
      switch (created[posts++ % created.length]!) {
        case "refused":
          return { status: 422, body: { title: "no", status: 422 } }
        case "large":
          return { status: 413, body: { title: "too large", status: 413 } }
        case "reset":
          return "reset"
        case "unusable":
          return { status: 201, body: { status: "pending" } }
        case "taken":
          return ScriptedService.obliging(received, before)
      }
    }
    const id = received.path.split("/").at(-1)!
    switch (looked[gets++ % looked.length]!) {
      case "open":
        return { status: 200, body: { task_id: id, status: "pending" } }
      case "cancelled":
        return { status: 200, body: { task_id: id, status: "cancelled" } }
      case "vanished":
        return { status: 404, body: { title: "no such task", status: 404 } }
      case "odd":
        return { status: 200, body: { task_id: id, status: "completed", results: [] } }
      case "completed":
        return id.startsWith("task_")
          ? ScriptedService.completedBy(before, id)
          : { status: 404, body: { title: "no such task", status: 404 } }
    }
  }
}

const recordOf = (n: number, line: number) =>
  n < 0
    ? Result.fail(reject(line))
    : Result.succeed({
        item: { id: `id-${n}`, prompt: `prompt ${n}`, completions: ["a", "b"] },
        origin: { file: "memory", line },
      })

const gold = Array.from({ length: 3 }, (_, i) => ({
  prompt: `gold ${i}`,
  completions: ["right", "wrong"],
  gold: { best_completion_index: 0 },
}))

/** What must hold at any moment between two steps. */
const check = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* Ledger
  const report = yield* RunReport.make({})
  assert.strictEqual(report.read, report.submitted + report.not_submitted + report.duplicates + report.rejected)
  for (const count of [report.submitted, report.not_submitted, report.duplicates, report.rejected]) {
    assert.isAtLeast(count, 0)
  }
  const tasks = yield* sql<{
    readonly campaign: number
    readonly seq: number
    readonly state: TaskState
    readonly vote: number
    readonly votes: number
  }>`SELECT campaign, seq, state, vote, votes FROM task`
  // Each item by its id, with the states of its tasks by their votes: as the requests say, whatever the numbers are.
  const items = new Map<string, Map<number, TaskState>>()
  for (const { campaign, seq, state, vote } of tasks) {
    for (const { check, item_id } of (yield* ledger.request(seq)).items) {
      assert.strictEqual(check === true, item_id.startsWith("gold:"))
      if (check === true) continue
      const states = items.get(`${campaign}:${item_id}`) ?? new Map<number, TaskState>()
      assert.isFalse(states.has(vote), "an item has two tasks for one vote")
      items.set(`${campaign}:${item_id}`, states.set(vote, state))
    }
  }
  const rows = yield* sql<{ campaign: number; item_id: string; seq: number; run: number; votes: number }>`
    SELECT item.campaign, item_id, item.seq, run, votes FROM item JOIN task ON item.seq >= task.seq AND item.seq < task.seq + item_count`
  assert.sameMembers(
    rows.map(({ campaign, item_id }) => `${campaign}:${item_id}`),
    [...items.keys()],
  )
  for (const { campaign, item_id, votes } of rows) {
    assert.sameMembers(
      [...items.get(`${campaign}:${item_id}`)!.keys()],
      Array.from({ length: votes }, (_, i) => i + 1),
    )
  }
  const last = yield* ledger.lastRun
  if (Option.isSome(last)) {
    const { counts, run } = last.value
    const again = yield* sql<{
      first_seq: number
      end_seq: number
    }>`SELECT first_seq, end_seq FROM known WHERE run = ${run}`
    const own = rows
      .filter(
        (row) => row.run === run || again.some(({ end_seq, first_seq }) => first_seq <= row.seq && row.seq < end_seq),
      )
      .map(({ campaign, item_id }) => [...items.get(`${campaign}:${item_id}`)!.values()])
    const all = (states: ReadonlyArray<TaskState>) =>
      own.filter((votes) => votes.every((state) => states.includes(state))).length
    const some = (states: ReadonlyArray<TaskState>) =>
      own.filter((votes) => votes.some((state) => states.includes(state))).length
    assert.strictEqual(report.rejected, counts.rejected + all(["refused", "given_up"]))
    assert.strictEqual(report.not_submitted, some(["planned", "submitting", "superseded"]))
    assert.strictEqual(counts.new + counts.known, own.length)
    for (const state of TaskState.literals) {
      assert.strictEqual(yield* ledger.itemsIn(run, [state]), some([state]))
    }
    const listed = yield* Stream.runCollect(ledger.dropped(Option.some(last.value.campaign)))
    const lost = [...items].filter(
      ([key, votes]) =>
        key.startsWith(`${last.value.campaign}:`) &&
        [...votes.values()].every((state) => state === "refused" || state === "given_up"),
    )
    assert.sameMembers(
      listed.flatMap(({ items }) => items.map(({ item_id }) => `${last.value.campaign}:${item_id}`)),
      lost.map(([key]) => key),
    )
  }
  assert.deepStrictEqual((yield* LedgerCheck.check({ job: defaultJob })).findings, [])
  for (const { campaign } of yield* ledger.campaigns) {
    const judgments = yield* Stream.runCollect(Results.ofCampaign(campaign))
    const judged = judgments.map(({ itemId, vote }) => `${vote}:${itemId}`)
    assert.strictEqual(new Set(judged).size, judged.length)
    const byItem = yield* Stream.runCollect(Results.items(campaign))
    assert.strictEqual(new Set(byItem.map(({ itemId }) => itemId)).size, byItem.length)
    assert.sameDeepMembers(
      byItem.flatMap(({ judgments }) => judgments),
      judgments,
    )
    const kept = byItem.filter(({ isCheck }) => !isCheck).length
    const written = { rows: 0, omitted: { count: 0, first: [] } }
    const standing = yield* ledger.itemsByOutcome(Option.some(campaign))
    const funnel = yield* Funnel.make(Option.some(campaign), standing, {
      judged: kept,
      kept,
      pairs: 0,
      withdrawn: 0,
      unanswered: 0,
      unusable: 0,
      lost: [],
      written,
    })
    const [read, submitted, judgedStep] = funnel
    const lost = ({ lost }: FunnelStep) => lost.reduce((sum, { count }) => sum + count, 0)
    const inRun = yield* ledger.lastRunIn(campaign)
    const unread = Option.match(inRun, { onNone: () => 0, onSome: ({ counts }) => counts.duplicates + counts.rejected })
    const ofCampaign = [...items.keys()].filter((key) => key.startsWith(`${campaign}:`)).length
    assert.strictEqual(read!.count, ofCampaign + unread)
    assert.strictEqual(submitted!.count, read!.count - lost(submitted!))
    assert.strictEqual(judgedStep!.count, submitted!.count - lost(judgedStep!))
    for (const step of funnel) assert.isTrue(step.lost.every(({ count }) => count > 0))
  }
  const keys = yield* sql<{ key: string }>`SELECT idempotency_key AS key FROM task UNION ALL
    SELECT idempotency_key FROM task_attempt a WHERE NOT EXISTS (
      SELECT 1 FROM task t WHERE t.seq = a.seq AND t.attempt = a.attempt)`
  assert.strictEqual(new Set(keys.map(({ key }) => key)).size, keys.length)
})

const property = Effect.fnUntraced(function* (
  drawn: Drawn<typeof runs>,
  created: Drawn<typeof creations>,
  looked: Drawn<typeof looks>,
) {
  const service = yield* ScriptedService.make(answers(created, looked), {
    concurrency: 2,
    retries: 0,
    patience: "1 minute",
  })
  yield* Effect.gen(function* () {
    const ledger = yield* Ledger
    let adopted = 0
    for (const { batch, campaign, collects, decisions, records, resubmit, votes, withGold } of drawn) {
      const input = Stream.fromIterable(records.map(recordOf))
      const options = {
        guidelines: campaign,
        newCampaign: true,
        resubmit,
        batch: { maxPrompts: batch, maxBytes: 1_000_000 },
        votes,
        gold: withGold ? { items: gold, rate: 0.3 } : undefined,
      }
      // A service that breaks off too often ends the run; the ledger must be right all the same.
      const run = yield* Effect.option(submit(input, options))
      yield* check
      if (Option.isSome(run)) {
        const report = yield* RunReport.make({ run: run.value.run })
        const distinct = new Set(records.filter((n) => n >= 0))
        assert.deepStrictEqual([report.read, report.not_submitted], [records.length, 0])
        assert.strictEqual(report.duplicates, records.filter((n) => n >= 0).length - distinct.size)
      }
      if (collects) yield* collect({ once: true })
      yield* check
      for (const { state, verb, which } of decisions) {
        const found = yield* ledger.issues(6, [state])
        const task = found[which % Math.max(1, found.length)]
        if (task === undefined) continue
        const decided =
          verb === "adopt"
            ? ledger.adopt([task.number], [`found_${adopted++}`])
            : verb === "giveUp"
              ? ledger.giveUp([task.number])
              : ledger.sendAgain([task.number])
        const before = yield* ledger.counts
        const refused = yield* decided.pipe(
          Effect.as(false),
          Effect.catchTag("NotResolvable", () => Effect.succeed(true)),
        )
        if (refused) assert.deepStrictEqual(yield* ledger.counts, before)
        yield* check
      }
    }
  }).pipe(
    Effect.provide(
      Layer.mergeAll(Ledger.layer(), AnnotationClient.layer).pipe(
        Layer.provideMerge(Layer.merge(service.profile, SqliteClient.layer({ filename: ":memory:" }))),
      ),
    ),
  )
})

it.live("accounts are right after any run, whatever became of its tasks and was decided about them", () =>
  Effect.gen(function* () {
    const context = yield* Effect.context<Layer.Success<typeof platform>>()
    const holds = fc.asyncProperty(runs, creations, looks, (...drawn) =>
      Effect.runPromiseWith(context)(Effect.scoped(property(...drawn))),
    )
    yield* Effect.promise(() => fc.assert(holds, { numRuns: cases(8, 40) }))
  }).pipe(Effect.provide(platform)),
)
