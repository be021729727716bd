import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Clock, Duration, Effect, FileSystem, Option, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as SqliteClient from "../../../../src/node/SqliteClient.ts"
import * as Zstd from "../../../../src/node/Zstd.ts"
import { Ledger, LedgerReader } from "../../../../src/task/ledger/Ledger.ts"
import * as LedgerMaintenance from "../../../../src/task/ledger/care/LedgerMaintenance.ts"
import type { IntegrityIssue } from "../../../../src/task/ledger/care/LedgerCheck.ts"
import * as LedgerLocation from "../../../../src/task/ledger/LedgerLocation.ts"
import * as Payload from "../../../../src/task/ledger/schema/Payload.ts"
import { temporaryPath } from "../../../node/support.ts"
import { batchItems, newTasks, plan, recordStep, reject, submitted } from "../../support.ts"
import { effectTest } from "../../../support/effectTest.ts"

const newLocation = Effect.flatMap(temporaryPath("ledger.db"), (file) => LedgerLocation.of({ file }))
const pathOf = (location: LedgerLocation.LedgerLocation) => (location as { readonly path: string }).path

/** A result for the items of a task, as the service would send it. */
const resultOf = (taskId: string, first: number, n: number) =>
  JSON.stringify({
    task_id: taskId,
    status: "completed",
    results: batchItems(first, n).map(({ item }) => ({
      prompt: item.prompt,
      best_completion_index: 0,
      annotations: {},
    })),
  })

/** Tasks of 2, 3, 1, 1 and 1 items: two completed, one submitted, one refused, one planned; and two runs' rejects. */
const work = Effect.gen(function* () {
  const ledger = yield* Ledger
  const run = yield* plan(newTasks([2, 3, 1, 1, 1]))
  yield* recordStep(run, { read: 10, new: 8, rejected: 2 }, { rejects: [reject(1), reject(2)] })
  const tasks = yield* ledger.plannedAfter(-1)
  yield* Effect.forEach(tasks.slice(0, 4), ledger.claim)
  for (const [seq, taskId] of [
    [0, "task_a"],
    [2, "task_b"],
    [5, "task_c"],
  ] as const) {
    yield* ledger.markSubmitted(seq, taskId, 0)
  }
  yield* ledger.markRefused(6, "no")
  yield* ledger.markCompleted(0, resultOf("task_a", 0, 2))
  yield* TestClock.adjust("10 days")
  yield* ledger.markCompleted(2, resultOf("task_b", 2, 3))
  yield* ledger.recordDelivery({ id: "d", sentAt: 0, taskIds: Option.some(["task_c"]) })
  yield* recordStep(yield* ledger.startRun(), { read: 1, rejected: 1 }, { rejects: [reject(3)] })
})

const worked = Effect.gen(function* () {
  const location = yield* newLocation
  yield* work.pipe(Effect.provide(LedgerLocation.layer(location)))
  return location
})

/** Changes the ledger behind prefstream's back. */
const spoil = (
  location: LedgerLocation.LedgerLocation,
  of: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>,
) => Effect.flatMap(SqlClient.SqlClient, of).pipe(Effect.provide(SqliteClient.layer({ filename: pathOf(location) })))

const look = Effect.gen(function* () {
  const ledger = yield* LedgerReader
  return {
    counts: yield* ledger.counts,
    completed: (yield* Stream.runCollect(ledger.completed)).map(({ result, ...task }) => ({
      ...task,
      result: Payload.decode(result),
    })),
    rejects: [yield* Stream.runCollect(ledger.rejects(1)), yield* Stream.runCollect(ledger.rejects(2))],
    lastRun: yield* ledger.lastRun,
  }
})

const read = (location: LedgerLocation.LedgerLocation) =>
  look.pipe(Effect.provide(LedgerLocation.layerReadonly(location)))

const ofTask = (number: number) => new RegExp(`task ${number}\\b`)

const spoils: ReadonlyArray<
  readonly [what: string, code: IntegrityIssue["code"], says: RegExp, spoil: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>]
> = [
  ["a task is gone", "tasks_overlap", ofTask(6), (sql) => sql`DELETE FROM task WHERE seq = 2`],
  ["two tasks overlap", "tasks_overlap", ofTask(3), (sql) => sql`UPDATE task SET item_count = 3 WHERE seq = 0`],
  ["a task has another vote", "votes_inconsistent", ofTask(3), (sql) => sql`UPDATE task SET vote = 2, votes = 2 WHERE seq = 2`],
  ["a vote is gone", "votes_inconsistent", /batch that begins with task 3/, (sql) => sql`UPDATE task SET votes = 2 WHERE seq = 2`],
  ["a task says of more items that they are new", "items_astray", ofTask(3), (sql) => sql`UPDATE task SET new_items = 2 WHERE seq = 2`],
  ["an item is gone", "items_astray", ofTask(3), (sql) => sql`DELETE FROM item WHERE seq = 3`],
  ["an item stands in the place of another", "items_astray", ofTask(3), (sql) => sql`UPDATE item SET seq = 2 WHERE seq = 3`],
  ["an item is of another campaign", "items_astray", ofTask(1), (sql) => sql`UPDATE item SET campaign = 2 WHERE seq = 1`],
  ["an item is in no task", "items_astray", /item-7 is in no task/, (sql) => sql`UPDATE item SET seq = 99 WHERE seq = 7`],
  ["a campaign is gone", "campaign_unknown", /campaign 1/, (sql) => sql`DELETE FROM campaign`],
  ["a state is unknown", "state_inconsistent", /task 8 has the state lost/, (sql) => sql`UPDATE task SET state = 'lost' WHERE seq = 7`],
  ["a submitted task has no id", "state_inconsistent", ofTask(6), (sql) => sql`UPDATE task SET task_id = NULL WHERE seq = 5`],
  ["a request is gone", "request_missing", ofTask(8), (sql) => sql`DELETE FROM task_request WHERE seq = 7`],
  ["a result is gone", "result_missing", /task 1 \(task_a\)/, (sql) => sql`DELETE FROM task_result WHERE seq = 0`],
  ["a result is of no task", "rows_orphaned", /task_result.*task 78/, (sql) => sql`UPDATE task_result SET seq = 77 WHERE seq = 0`],
  ["what a result must fit is not what was asked", "request_unreadable", ofTask(1), (sql) =>
    sql`UPDATE task_request SET expected = '{}' WHERE seq = 0`],
  ["a request can't be unpacked", "request_unreadable", ofTask(1), (sql) => sql`UPDATE task_request SET body = x'28b52ffd00' WHERE seq = 0`],
  ["a request is another task's", "request_unreadable", ofTask(1), (sql) =>
    sql`UPDATE task_request SET (body, items) = (SELECT body, items FROM task_request WHERE seq = 2) WHERE seq = 0`],
  ["items have changed places", "request_unreadable", /item-[01] has different positions/, (sql) =>
    sql`UPDATE item SET seq = 1 - seq WHERE seq < 2`],
  ["a result does not fit", "result_unusable", /task_b.*expected 3 results/, (sql) =>
    sql`UPDATE task_result SET body = ${Zstd.compress(Buffer.from(resultOf("task_b", 2, 2)))} WHERE seq = 2`],
  ["a result can't be unpacked", "result_unusable", /task_b/, (sql) => sql`UPDATE task_result SET body = x'00' WHERE seq = 2`],
  ["two tasks have one id", "task_id_repeated", /2 tasks have the same service id, task_a/, (sql) =>
    sql`INSERT INTO task_attempt (job, seq, attempt, idempotency_key, task_id, state, ended_at) VALUES (1, 2, 0, 'k', 'task_a', 'failed', 0)`],
  ["two tasks have one key", "key_repeated", ofTask(1), (sql) =>
    sql`UPDATE task SET idempotency_key = (SELECT idempotency_key FROM task WHERE seq = 0) WHERE seq = 2`],
  ["an attempt is later than the last", "attempts_inconsistent", ofTask(1), (sql) =>
    sql`INSERT INTO task_attempt (job, seq, attempt, idempotency_key, state, ended_at) VALUES (1, 0, 2, 'k', 'failed', 0)`],
  ["a run's counts do not add up", "counts_disagree", /in run 1, 11 records/, (sql) => sql`UPDATE run SET read_count = 11 WHERE run = 1`],
  ["a reject is gone", "counts_disagree", /run 1 rejected 2 records, but the ledger has 1/, (sql) => sql`DELETE FROM reject WHERE run = 1 AND ordinal = 1`],
  ["the last run's rejects are gone", "counts_disagree", /run 2 rejected 1 record, but the ledger has 0/, (sql) => sql`DELETE FROM reject WHERE run = 2`],
  ["items were never found by a run", "counts_disagree", /found 7 new items, but the ledger has 8/, (sql) =>
    sql`UPDATE run SET new_count = 7, known_count = 1 WHERE run = 1`],
] // prettier-ignore

it.layer(NodeServices.layer)("LedgerMaintenance", (it) => {
  const test = effectTest(it.effect)
  for (const [what, code, says, statement] of spoils) {
    test(`finds out where ${what}`, function* () {
      const location = yield* worked
      yield* spoil(location, statement)
      const { findings } = yield* LedgerMaintenance.check(location)
      assert.isTrue(
        findings.some((finding) => finding.code === code && says.test(finding.message)),
        JSON.stringify(findings),
      )
    })
  }

  test("finds damaged pages, wherever they are, and does not fall over them", function* () {
    const fs = yield* FileSystem.FileSystem
    const location = yield* worked
    yield* plan(Array.from({ length: 40 }, (_, i) => newTasks([20], 100 + 20 * i)[0]!)).pipe(
      Effect.provide(LedgerLocation.layer(location)),
    )
    const whole = yield* fs.readFile(pathOf(location))
    // Its header has the size of a page in two bytes, of which 1 stands for 65,536.
    const stored = whole[16]! * 256 + whole[17]!
    const pageBytes = stored === 1 ? 65_536 : stored
    const pages = whole.length / pageBytes
    assert.isAbove(pages, 30)
    let found = 0
    for (let page = 1; page < pages; page++) {
      const damaged = Uint8Array.from(whole)
      damaged.fill(0x5a, page * pageBytes, (page + 1) * pageBytes)
      yield* fs.writeFile(pathOf(location), damaged)
      const exit = yield* Effect.result(LedgerMaintenance.check(location))
      if (exit._tag === "Failure") {
        assert.strictEqual(exit.failure._tag, "SqlError", String(exit.failure))
        found++
      } else if (exit.success.findings.length > 0) found++
    }
    // Pages that hold nothing are no loss.
    assert.isAtLeast(found, pages - 3)
  })

  test("removes the results of an item's votes together", function* () {
    const location = yield* newLocation
    const [first] = newTasks([2])
    const start = yield* Clock.currentTimeMillis
    yield* Effect.gen(function* () {
      const ledger = yield* Ledger
      const tasks = [1, 2].map((vote) => ({ ...first!, vote, votes: 2, idempotencyKey: `key ${vote}` }))
      yield* plan(tasks, { votes: 2 })
      for (const [i, task] of (yield* ledger.plannedAfter(-1)).entries()) {
        yield* ledger.claim(task)
        yield* ledger.markSubmitted(task.seq, `task_${i}`, 0)
        yield* ledger.markCompleted(task.seq, resultOf(`task_${i}`, 0, 2))
        yield* TestClock.adjust("10 days")
      }
    }).pipe(Effect.provide(LedgerLocation.layer(location)))
    const day = Duration.toMillis("1 day")
    const early = yield* LedgerMaintenance.prune(location, { before: start + 5 * day, results: true })
    assert.deepStrictEqual(early.results, { tasks: 0, items: 0 })
    const late = yield* LedgerMaintenance.prune(location, { before: start + 15 * day, results: true })
    assert.deepStrictEqual(late.results, { tasks: 2, items: 2 })
    assert.deepInclude(yield* LedgerMaintenance.check(location), {
      findings: [],
      tasks: 2,
      items: 2,
      results: 0,
      pruned: { tasks: 2, items: 2 },
    })
  })

  test("checks a ledger that is being worked, and sees one moment of it", function* () {
    const location = yield* newLocation
    yield* Effect.gen(function* () {
      const working = Effect.forEach(
        Array.from({ length: 25 }, (_, i) => i),
        (i) => plan(newTasks([3, 2], 5 * i)),
        { discard: true },
      )
      const checking = Effect.repeat(LedgerMaintenance.check(location), {
        until: ({ findings, tasks }) => tasks === 50 || findings.length > 0,
      })
      const [, last] = yield* Effect.all([working, checking], { concurrency: 2 })
      assert.deepInclude(last, { findings: [], items: 125 })
    }).pipe(Effect.provide(LedgerLocation.layer(location)))
  })

  test("copies a ledger that is being worked", function* () {
    const fs = yield* FileSystem.FileSystem
    const location = yield* newLocation
    const copy = yield* temporaryPath("copy.db")
    const before = yield* Effect.gen(function* () {
      yield* work
      const before = yield* look
      const report = yield* LedgerMaintenance.backup(location, copy)
      assert.deepInclude(report, { path: copy, tasks: 5, items: 8, results: 2 })
      yield* plan(newTasks([1], 50))
      return before
    }).pipe(Effect.provide(LedgerLocation.layer(location)))
    const { mode } = yield* fs.stat(copy)
    assert.strictEqual(mode & 0o777, 0o600)
    const copied = yield* LedgerLocation.of({ file: copy })
    assert.deepStrictEqual(yield* read(copied), before)
    assert.strictEqual((yield* Effect.flip(LedgerMaintenance.backup(location, copy)))._tag, "BackupExists")
    assert.deepStrictEqual(yield* read(copied), before)
    // It can be gone on from.
    yield* plan(newTasks([1], 50)).pipe(Effect.provide(LedgerLocation.layer(copied)))
  })

  test("does not keep a copy of a ledger that is not whole", function* () {
    const fs = yield* FileSystem.FileSystem
    const location = yield* worked
    yield* spoil(location, (sql) => sql`DELETE FROM task_result WHERE seq = 2`)
    const copy = yield* temporaryPath("copy.db")
    assert.match((yield* Effect.flip(LedgerMaintenance.backup(location, copy))).message, /integrity errors.*task 3/)
    assert.isFalse(yield* fs.exists(copy))
    assert.isFalse(yield* fs.exists(`${copy}.partial`))
  })

  test("compacts and prunes only what nobody works", function* () {
    const location = yield* newLocation
    yield* Effect.gen(function* () {
      for (const care of [
        Effect.asVoid(LedgerMaintenance.compact(location)),
        Effect.asVoid(LedgerMaintenance.prune(location, {})),
      ]) {
        const failure = yield* Effect.flip(care)
        assert(failure._tag === "FileLockError" && failure.reason._tag === "FileLocked")
      }
    }).pipe(Effect.provide(LedgerLocation.layer(location)))
  })

  test("prunes rejects of earlier runs, and deliveries that are over", function* () {
    const location = yield* worked
    yield* TestClock.adjust("3 hours")
    const before = yield* read(location)
    const expected = { rejects: 2, deliveries: 1, results: { tasks: 0, items: 0 } }
    assert.deepStrictEqual(yield* LedgerMaintenance.prune(location, { dryRun: true }), expected)
    assert.deepStrictEqual(yield* read(location), before)
    // A limit that is before the first run.
    assert.deepInclude(yield* LedgerMaintenance.prune(location, { before: -1 }), { rejects: 0 })
    assert.deepInclude(yield* LedgerMaintenance.prune(location, {}), { rejects: 2 })
    assert.deepStrictEqual(yield* read(location), { ...before, rejects: [[], before.rejects[1]!] })
    assert.deepStrictEqual((yield* LedgerMaintenance.check(location)).findings, [])
  })

  test("prunes results that are old, tells how many, and knows their items ever after", function* () {
    const location = yield* worked
    const before = yield* read(location)
    const now = yield* Clock.currentTimeMillis
    assert.deepInclude(yield* LedgerMaintenance.prune(location, { before: now }), {
      results: { tasks: 0, items: 0 },
    })
    const old = { before: now, results: true }
    const { results } = yield* LedgerMaintenance.prune(location, { ...old, dryRun: true })
    assert.deepStrictEqual(results, { tasks: 1, items: 2 })
    assert.deepStrictEqual(yield* read(location), { ...before, rejects: [[], before.rejects[1]!] })
    assert.deepInclude(yield* LedgerMaintenance.prune(location, old), { results })
    const after = yield* read(location)
    assert.deepStrictEqual(after.counts, before.counts)
    assert.deepStrictEqual(after.completed, before.completed.slice(1))
    assert.deepInclude(yield* LedgerMaintenance.check(location), { findings: [], results: 1, pruned: results })
    assert.deepInclude(yield* LedgerMaintenance.prune(location, old), { results: { tasks: 0, items: 0 } })
    yield* Effect.gen(function* () {
      const ledger = yield* Ledger
      assert.strictEqual(yield* ledger.prunedItems, 2)
      const run = yield* ledger.startRun()
      assert.deepStrictEqual(yield* ledger.classify(run, batchItems(0, 2)), ["known", "known"])
    }).pipe(Effect.provide(LedgerLocation.layer(location)))
  })

  test("prunes more tasks than go into one transaction, and gives their space back", function* () {
    const location = yield* newLocation
    const n = 603
    yield* Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* submitted(n)
      for (let seq = 0; seq < n; seq++) yield* ledger.markCompleted(seq, resultOf(`task_${seq}`, seq, 1))
    }).pipe(Effect.provide(LedgerLocation.layer(location)))
    yield* TestClock.adjust("1 second")
    const { results } = yield* LedgerMaintenance.prune(location, {
      before: yield* Clock.currentTimeMillis,
      results: true,
    })
    assert.deepStrictEqual(results, { tasks: n, items: n })
    const { after, before } = yield* LedgerMaintenance.compact(location)
    // At least its request and its result.
    assert.isBelow(after, before - 400 * n)
    assert.deepInclude(yield* LedgerMaintenance.check(location), { findings: [], results: 0, pruned: results })
  })

  test("compacts: packs all that was asked and answered, which is then read as before", function* () {
    const location = yield* worked
    const before = yield* read(location)
    yield* LedgerMaintenance.compact(location)
    const payloads = SqlClient.SqlClient.use(
      (sql) => sql<{ body: Uint8Array }>`SELECT body FROM task_request UNION ALL
        SELECT items FROM task_request UNION ALL SELECT body FROM task_result`,
    ).pipe(Effect.provide(SqliteClient.layer({ filename: pathOf(location), readonly: true })))
    const packed = yield* payloads
    assert.lengthOf(packed, 12)
    for (const { body } of packed) Zstd.decompressText(body)
    assert.deepStrictEqual((yield* LedgerMaintenance.check(location)).findings, [])
    assert.deepStrictEqual(yield* read(location), before)
    yield* LedgerMaintenance.compact(location)
    assert.deepStrictEqual(yield* payloads, packed)
  })
})
