/** A job between its runs, as a program reads it, decides about its tasks, and keeps its ledger. */
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem, Stream } from "effect"
import { Job, Pipeline, Source, Tasks } from "prefstream"
import { temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

/** Four tasks of one item each, and a record that is rejected: one task is done, one is in doubt, two are refused. */
const submitted = Effect.gen(function* () {
  const directory = yield* temporaryDirectory
  const service = yield* ScriptedService.make((request, before) => {
    if (request.body.includes("Prompt 1")) return "reset"
    if (/Prompt [23]/.test(request.body)) return { status: 422, body: { detail: "too odd" } }
    return ScriptedService.obliging(request, before)
  })
  const records = [0, 1, 2, 3].map((n) => ({ id: `item-${n}`, prompt: `Prompt ${n}`, completions: ["a", "b"] }))
  const pipeline = Pipeline.make({
    directory,
    source: Source.make([...records, { id: "odd", prompt: "", completions: [] }]),
    service: service.profile,
    batch: { maxPrompts: 1 },
  })
  yield* Pipeline.submit(pipeline)
  yield* Pipeline.collect({ ...pipeline, once: true })
  return { directory, pipeline }
})

describe("a job", () => {
  test("tells its status, tasks that need attention, rejects, votes, and judgments, also without the service", function* () {
    const { directory } = yield* submitted
    const status = yield* Job.status({ directory })
    assert.deepStrictEqual(
      [status.tasks.completed.tasks, status.tasks.in_doubt.tasks, status.tasks.refused.tasks, status.rejected],
      [1, 1, 2, 3],
    )
    const reading = Effect.provide(Job.layerReadonly({ directory }))
    const issues = yield* reading(Job.issues)
    assert.deepStrictEqual(
      issues.map(({ places, state, task }) => [task, state, places?.[0]?.item_id]),
      [
        [2, "in_doubt", "item-1"],
        [3, "refused", "item-2"],
        [4, "refused", "item-3"],
      ],
    )
    const rejects = yield* reading(Stream.runCollect(Job.rejects))
    assert.deepStrictEqual(
      rejects.map(({ code }) => code),
      ["invalid_shape", "refused_by_service", "refused_by_service"],
    )
    const votes = yield* reading(Stream.runCollect(Job.votes()))
    const judgments = yield* reading(Stream.runCollect(Tasks.judgments()))
    assert.deepStrictEqual(
      votes.map(({ item_id }) => item_id),
      judgments.map(({ itemId }) => itemId),
    )
    assert.deepStrictEqual(
      judgments.map(({ itemId }) => itemId),
      ["item-0"],
    )
  })

  test("records decisions about all of the named tasks, or about none", function* () {
    const { directory } = yield* submitted
    const deciding = Effect.provide(Job.layer({ directory }))
    assert.strictEqual((yield* deciding(Effect.flip(Job.adopt(2, ""))))._tag, "TaskIdInvalid")
    const adopted = yield* deciding(Job.adopt(2, "task_elsewhere"))
    assert.deepStrictEqual(
      adopted.map(({ state, task, task_id }) => [task, state, task_id]),
      [[2, "submitted", "task_elsewhere"]],
    )
    const failure = yield* deciding(Effect.flip(Job.giveUp([3, 1])))
    assert.strictEqual(failure._tag, "NotResolvable")
    assert.strictEqual((yield* Job.status({ directory })).tasks.given_up.tasks, 0)
    assert.deepStrictEqual(
      (yield* deciding(Job.giveUp([3]))).map(({ state }) => state),
      ["given_up"],
    )
    assert.deepStrictEqual(
      (yield* deciding(Job.sendAgain([4]))).map(({ attempt, state }) => [attempt, state]),
      [[2, "planned"]],
    )
  })

  test("replaces a submitted task after it was given up, as the refusal to send it again says", function* () {
    const { directory } = yield* submitted
    const deciding = Effect.provide(Job.layer({ directory }))
    yield* deciding(Job.adopt(2, "task_elsewhere"))
    const failure = yield* deciding(Effect.flip(Job.sendAgain([2])))
    assert.strictEqual(
      failure.message,
      "cannot resend task 2: it is submitted. To replace it with a new, billable task, use `Job.giveUp`, then `Job.sendAgain`.",
    )
    yield* deciding(Job.giveUp([2]))
    assert.deepStrictEqual(
      (yield* deciding(Job.sendAgain([2]))).map(({ attempt, state }) => [attempt, state]),
      [[2, "planned"]],
    )
    assert.strictEqual((yield* Job.status({ directory })).tasks.planned.tasks, 1)
  })

  test("has a ledger to check, to back up, to compress, and to prune", function* () {
    const { directory } = yield* submitted
    const fs = yield* FileSystem.FileSystem
    assert.deepStrictEqual((yield* Job.check({ directory })).findings, [])
    const copy = `${directory}/copy.db`
    const backup = yield* Job.backup({ directory }, copy)
    assert.strictEqual(backup.tasks, 4)
    assert.strictEqual((yield* Job.status({ directory, ledger: copy })).tasks.refused.tasks, 2)
    assert.strictEqual((yield* Effect.flip(Job.backup({ directory }, copy)))._tag, "BackupExists")
    const { after } = yield* Job.compact({ directory })
    assert.isAtMost(after, Number((yield* fs.stat(`${directory}/ledger.db`)).size))
    const pruned = yield* Job.prune({ directory }, { before: Date.now() + 1000, results: true, dryRun: true })
    assert.deepStrictEqual(pruned.results, { tasks: 1, items: 1 })
    const nowhere = { directory: `${directory}/nowhere` }
    assert.strictEqual((yield* Effect.flip(Job.status(nowhere)))._tag, "LedgerMissing")
    const opened = yield* Effect.flip(Effect.provide(Job.giveUp([1]), Job.layer(nowhere)))
    assert.strictEqual(opened._tag, "LedgerMissing")
    assert.isFalse(yield* fs.exists(nowhere.directory))
  })
})
