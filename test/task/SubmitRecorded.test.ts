/** The ledger's account of itself holds at every moment: beside a live reading, and after one that ended early. */
import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Fiber, Latch, Option, Result, Stream } from "effect"
import type { SourceItem } from "../../src/domain/PromptItem.ts"
import type { Reject } from "../../src/domain/Reject.ts"
import * as JobStatus from "../../src/pipeline/JobStatus.ts"
import * as RunReport from "../../src/pipeline/RunReport.ts"
import { LedgerReader } from "../../src/task/ledger/Ledger.ts"
import * as LedgerMaintenance from "../../src/task/ledger/care/LedgerMaintenance.ts"
import * as LedgerLocation from "../../src/task/ledger/LedgerLocation.ts"
import { submit } from "../../src/task/Submit.ts"
import { stepRecords } from "../../src/task/Plan.ts"
import { items } from "../support/items.ts"
import { inProcess, temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { reject } from "./support.ts"

/** Each step of reading leaves items that wait for the next one. */
const batch = { maxPrompts: 47, maxBytes: 1_000_000 }
const portion = 400
const length = 8_800
assert.isAbove(length, 2 * stepRecords)

const good = items(length).map((item) => Result.succeed(item))
const input = (records: ReadonlyArray<Result.Result<SourceItem, Reject>>) =>
  Stream.fromArrays(
    ...Array.from({ length: records.length / portion }, (_, i) => records.slice(portion * i, portion * (i + 1))),
  )

/** A job's folder, at a service that obliges, and what runs an effect as a process of it. */
const job = Effect.gen(function* () {
  const directory = yield* temporaryDirectory
  const service = yield* ScriptedService.make(ScriptedService.obliging)
  return { directory, process: inProcess(directory, service.profile) }
})

/** Finds nothing wrong with the ledger, and gives what a reader is told of its run. */
const account = Effect.fnUntraced(function* (directory: string) {
  const location = yield* LedgerLocation.of({ file: `${directory}/ledger.db` })
  assert.deepStrictEqual((yield* LedgerMaintenance.check(location)).findings, [])
  return yield* Effect.all({ report: RunReport.make({}), run: LedgerReader.use((ledger) => ledger.lastRun) }).pipe(
    Effect.provide(LedgerLocation.layerReadonly(location)),
  )
})

describe("what a reading recorded", () => {
  const rejecting = good.map((record, i) => (i > stepRecords + 1_000 && i % 10 === 0 ? Result.fail(reject(i)) : record))
  const failing = (records: number) => Stream.concat(input(good.slice(0, records)), Stream.fail("the source"))
  for (const [how, records, options, least] of [
    ["too many rejects", input(rejecting), { maxRejects: 9 }, stepRecords],
    ["a source that fails", failing(length), {}, length],
    ["a source that fails before a step is full", failing(portion), {}, portion],
  ] as const) {
    test(`counts what is in the tables, and no more, after ${how}`, function* () {
      const { directory, process } = yield* job
      const exit = yield* Effect.exit(submit(records, { batch, ...options })).pipe(process)
      assert.isTrue(Exit.isFailure(exit))
      const { report, run } = yield* account(directory)
      const { counts } = Option.getOrThrow(run)
      const tasks = Object.values(report.tasks).reduce((sum, { items }) => sum + items, 0)
      assert.deepStrictEqual([counts.new, tasks % batch.maxPrompts], [tasks, 0])
      // Only an incomplete batch is left for the next run.
      assert.isAbove(tasks, least - batch.maxPrompts)
      assert.strictEqual(report.read, report.submitted + report.not_submitted + report.rejected)
      assert.strictEqual(report.submitted + report.not_submitted, tasks)

      // The same command goes on: what had waited is new now, and everything is counted once.
      yield* submit(input(good), { batch }).pipe(process)
      const after = yield* account(directory)
      assert.deepStrictEqual([after.report.read, after.report.known, after.report.submitted], [length, tasks, length])
    })
  }

  test("agrees with the tables at any moment of a live reading, and after it is stopped", function* () {
    const { directory, process } = yield* job
    const over = yield* Latch.make()
    let looks = 0
    const looking = input(good).pipe(
      Stream.mapArrayEffect((records) =>
        Effect.as(
          Effect.tap(account(directory), () => Effect.sync(() => looks++)),
          records,
        ),
      ),
      Stream.concat(Stream.fromEffectDrain(Effect.andThen(over.open, Effect.never))),
    )
    const reading = yield* Effect.forkChild(submit(looking, { batch }).pipe(process))
    yield* Effect.raceFirst(over.await, Fiber.join(reading))
    yield* Fiber.interrupt(reading)
    assert.strictEqual(looks, length / portion)
    const { run } = yield* account(directory)
    const { counts } = Option.getOrThrow(run)
    assert.isAbove(counts.new, 0)
    assert.strictEqual(counts.new % batch.maxPrompts, 0)
  })

  test("holds a step of long conversations before the reading ends", function* () {
    const { directory, process } = yield* job
    const long = items(20, (i) => ({ prompt: [{ role: "user", content: `${i}`.padEnd(1_000_000) }] }))
    const atEnd = Effect.map(account(directory), ({ run }) =>
      Option.match(run, {
        onNone: () => 0,
        onSome: ({ counts }) => counts.read,
      }),
    )
    let recorded = 0
    const records = Stream.concat(
      Stream.fromArrays(...long.map((item) => [Result.succeed(item)])),
      Stream.fromEffectDrain(Effect.tap(atEnd, (read) => Effect.sync(() => void (recorded = read)))),
    )
    yield* submit(records, { batch }).pipe(process)
    // Of 8 MB each.
    assert.isAtLeast(recorded, 8)
  })

  test("is not all, though no task is left, where it failed or was stopped before anything was read", function* () {
    const { directory, process } = yield* job
    const ended = Effect.gen(function* () {
      const location = yield* LedgerLocation.of({ file: `${directory}/ledger.db` })
      const { last_run, status } = yield* JobStatus.make(Option.none()).pipe(
        Effect.provide(LedgerLocation.layerReadonly(location)),
      )
      return { status, run: last_run?.run, read_finished: last_run?.read_finished, failure: last_run?.failure }
    })
    yield* Effect.flip(Effect.asVoid(submit(Stream.fail("the source")))).pipe(process)
    assert.deepStrictEqual(yield* ended, {
      status: "unfinished",
      run: 1,
      read_finished: false,
      failure: "the source",
    })
    const started = yield* Latch.make()
    const reading = yield* Effect.forkChild(
      submit(Stream.fromEffectDrain(Effect.andThen(started.open, Effect.never))).pipe(process),
    )
    yield* started.await
    yield* Fiber.interrupt(reading)
    assert.deepStrictEqual(yield* ended, { status: "unfinished", run: 2, read_finished: false, failure: null })
    yield* submit(input([])).pipe(process)
    assert.deepStrictEqual(yield* ended, { status: "done", run: 3, read_finished: true, failure: null })
  })
})
