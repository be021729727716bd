/** Tasks that came to nothing at the service, and are sent again by choice. */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"
import type { ServiceSettings } from "../../src/api/ServiceProfile.ts"
import * as Pipeline from "../../src/pipeline/Pipeline.ts"
import { Ledger } from "../../src/task/ledger/Ledger.ts"
import { column } from "../support/columns.ts"
import { pairsOf } from "../support/datasetReaders.ts"
import { items, records } from "../support/items.ts"
import { inProcess, temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"

type Fate = (
  received: ScriptedService.Received,
  before: ReadonlyArray<ScriptedService.Received>,
) => ScriptedService.Answer | Promise<ScriptedService.Answer>

const idOf = ({ path }: ScriptedService.Received) => path.split("/").at(-1)!

const makeJob = Effect.fnUntraced(function* (
  fate: Fate,
  isHit: (id: string) => boolean = (id) => id === "task_0",
  atCreation = false,
  settings: Partial<ServiceSettings> = {},
) {
  const directory = yield* temporaryDirectory
  const service = yield* ScriptedService.make(
    (received, before) => {
      const posts = before.filter(({ method }) => method === "POST").length
      const id = received.method === "POST" ? `task_${posts}` : idOf(received)
      return isHit(id) && atCreation === (received.method === "POST")
        ? fate(received, before)
        : ScriptedService.obliging(received, before)
    },
    { concurrency: 1, ...settings },
  )
  return {
    service,
    posts: () => service.received.filter(ScriptedService.isPost),
    dataset: pairsOf(directory),
    attempts: Ledger.use((ledger) => ledger.attempts(1)).pipe(inProcess(directory, service.profile)),
    run: (settings: Partial<Pipeline.Settings> = {}) =>
      Pipeline.run(
        Pipeline.make({
          directory,
          service: service.profile,
          source: { description: "memory", records: records(items(4)) },
          batch: { maxPrompts: 2 },
          ...settings,
        }),
      ),
  }
})

const answersOf = (received: ScriptedService.Received) => ({
  unknown: { status: 404, body: { title: "no such task", status: 404 } },
  odd: { status: 200, body: { oops: 1 } },
  cancelled: { status: 200, body: { task_id: idOf(received), status: "cancelled" } },
  misfit: { status: 200, body: { task_id: idOf(received), status: "completed", results: [] } },
  open: { status: 200, body: { task_id: idOf(received), status: "in_progress" } },
  broken: { status: 500, body: { title: "oops", status: 500 } },
  // A status that is about the request, so that the task is not split.
  refused: { status: 415, body: { title: "no", status: 415 } },
})

const keyOf = ({ headers }: ScriptedService.Received) => String(headers["idempotency-key"])

describe("--resubmit", () => {
  for (const [what, state] of [
    ["cancelled", "failed"],
    ["unknown", "failed"],
    ["misfit", "invalid"],
    ["refused", "refused"],
  ] as const) {
    test(`a task that is ${what} is sent again, as a new task, only where that was chosen`, function* () {
      const job = yield* makeJob((received) => answersOf(received)[what], undefined, state === "refused")
      const first = yield* job.run()
      assert.strictEqual(first.tasks[state].tasks, 1)
      yield* job.run()
      yield* job.run({ resubmit: state === "failed" ? ["invalid"] : ["failed"] })
      assert.strictEqual(job.posts().length, 2)

      const again = yield* job.run({ resubmit: [state] })
      assert.strictEqual(again.status, "done")
      assert.strictEqual(again.tasks.completed.tasks, 2)
      const [dead, , alive, ...more] = job.posts()
      assert.deepStrictEqual(more, [])
      assert.strictEqual(alive!.body, dead!.body)
      assert.notStrictEqual(keyOf(alive!), keyOf(dead!))
      assert.strictEqual(again.read, again.submitted + again.duplicates + again.rejected)
      assert.deepStrictEqual(column(yield* job.dataset, "task_id"), ["task_2", "task_2", "task_1", "task_1"])
      const attempts = yield* job.attempts
      assert.deepStrictEqual(
        attempts.map(({ attempt, state, taskId }) => [attempt, state, taskId]),
        [[1, state, state === "refused" ? null : "task_0"]],
      )
    })
  }

  test("what fails each time is sent three times at the most, or as often as is said", function* () {
    const job = yield* makeJob(
      (received) => answersOf(received).cancelled,
      (id) => id !== "task_1",
    )
    const sent: Array<number> = []
    for (let i = 0; i < 5; i++) {
      yield* job.run({ resubmit: ["failed"] })
      sent.push(job.posts().length)
    }
    assert.deepStrictEqual(sent, [2, 3, 4, 4, 4])
    yield* job.run({ resubmit: ["failed"], maxAttempts: 4 })
    assert.strictEqual(job.posts().length, 5)
    assert.strictEqual(new Set(job.posts().map(keyOf)).size, 5)
  })

  for (const [what, state, now] of [
    ["unknown", "failed", "broken"],
    ["cancelled", "failed", "open"],
    ["odd", "invalid", "broken"],
    ["misfit", "invalid", "odd"],
  ] as const) {
    test(`a result that is there after all is taken, and not paid for again: ${what} before`, function* () {
      let isOver = false
      const job = yield* makeJob(
        (received, before) =>
          isOver ? ScriptedService.completedBy(before, idOf(received)) : answersOf(received)[what],
        () => true,
      )
      const first = yield* job.run()
      assert.strictEqual(first.tasks[state].tasks, 2)
      isOver = true
      const again = yield* job.run({ once: true, resubmit: ["failed", "invalid"] })
      assert.strictEqual(again.status, "done")
      assert.strictEqual(job.posts().length, 2)
    })

    test(`what the service does not say to be dead is not sent again: ${what} before, ${now} now`, function* () {
      let isOver = false
      const job = yield* makeJob((received) => answersOf(received)[isOver ? now : what], undefined, false, {
        retries: 0,
        downAfter: 100,
      })
      const first = yield* job.run()
      assert.strictEqual(first.tasks[state].tasks, 1)
      isOver = true
      const again = yield* job.run({ once: true, resubmit: ["failed", "invalid"] })
      assert.strictEqual(job.posts().length, 2)
      assert.strictEqual(again.tasks.completed.tasks, 1)
      // Without an answer of the service it stays what it was; one that can't be read is told apart.
      const after = { broken: state, odd: "invalid", open: "submitted" } as const
      assert.strictEqual(again.tasks[after[now]].tasks, 1)
    })
  }

  test("a task that failed is sent again after a run that was stopped before it looked at it once more", function* () {
    const asked = yield* Latch.make()
    let isSilent = false
    const { posts, run } = yield* makeJob((received) => {
      if (!isSilent) return answersOf(received).cancelled
      asked.openUnsafe()
      return new Promise(() => {})
    })
    assert.strictEqual((yield* run()).tasks.failed.tasks, 1)
    isSilent = true
    const stopped = yield* Effect.forkChild(run())
    yield* asked.await
    yield* Fiber.interrupt(stopped)
    isSilent = false
    yield* run({ resubmit: ["failed"] })
    assert.lengthOf(posts(), 3)
  })

  test("why a task failed tells what the service said from what it no longer knows", function* () {
    const reasons: Array<string | null> = []
    for (const what of ["unknown", "cancelled"] as const) {
      const job = yield* makeJob((received) => answersOf(received)[what])
      yield* job.run()
      yield* job.run({ resubmit: ["failed"] })
      reasons.push(...(yield* job.attempts).map(({ reason }) => reason))
    }
    assert.deepStrictEqual(reasons, [
      "the service does not know the task (404): no such task",
      "the service reports the status cancelled",
    ])
  })

  test("a task that failed and completed late after all is taken, where it was not sent again", function* () {
    let isOver = false
    const job = yield* makeJob((received, before) =>
      isOver ? ScriptedService.completedBy(before, "task_0") : answersOf(received).unknown,
    )
    yield* job.run()
    isOver = true
    const again = yield* job.run()
    assert.strictEqual(again.status, "done")
    assert.strictEqual(job.posts().length, 2)
  })
})
