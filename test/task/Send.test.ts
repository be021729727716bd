/** What `send` does when it is called again after a streak of failures, as a worker does. */
import { assert } from "@effect/vitest"
import { Deferred, Effect, Latch } from "effect"
import * as FailureStreak from "../../src/task/client/FailureStreak.ts"
import type { TooManyRejects } from "../../src/task/plan/RejectLimit.ts"
import * as RejectLimit from "../../src/task/plan/RejectLimit.ts"
import { send, type SendError } from "../../src/task/Send.ts"
import { inProcess, temporaryDirectory, test } from "../support/job.ts"
import * as ScriptedService from "../support/ScriptedService.ts"
import { newTasks, plan } from "./support.ts"

const tasks = 20

for (const [what, broken, sent] of [
  // As many as are under way when the fifth fails have been sent, too.
  ["without a usable id", { status: 201, body: { ok: true } }, 5 + 7],
  ["with the id of another task", { status: 201, body: { task_id: "same" } }, 6 + 7],
] as const) {
  test(`after answers ${what}, sends one task at a time until one is accepted`, function* () {
    const directory = yield* temporaryDirectory
    let isBroken = true
    const service = yield* ScriptedService.make(
      (request, before) => (isBroken ? broken : ScriptedService.obliging(request, before)),
      { concurrency: 8, requestsPerSecond: 1000 },
    )
    const streak = FailureStreak.make("")
    const sendAll = Effect.gen(function* () {
      const halt = yield* Deferred.make<never, SendError | TooManyRejects>()
      yield* send(yield* Latch.make(true), halt, RejectLimit.counter(undefined), { earlier: streak })
      return yield* Deferred.isDone(halt)
    })
    yield* Effect.gen(function* () {
      yield* plan(newTasks(tasks))
      const posts = () => service.received.length
      assert.isTrue(yield* sendAll)
      assert.isAtMost(posts(), sent)
      for (let time = 0; time < 3; time++) {
        const before = posts()
        yield* sendAll
        assert.strictEqual(posts() - before, 1)
      }
      const before = posts()
      isBroken = false
      const accepted = streak.count()
      assert.isFalse(yield* sendAll)
      assert.strictEqual(streak.count() - accepted, tasks - before)
      assert.strictEqual(posts(), tasks)
    }).pipe(inProcess(directory, service.profile))
  })
}
