/** What every ledger must do with deliveries that come in numbers. */
import { assert, describe } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { maxPollsPerMinute } from "../../../src/task/ledger/writes/Hints.ts"
import { Ledger } from "../../../src/task/ledger/Ledger.ts"
import { submitted, type LedgerTest } from "../support.ts"

const deliver = Effect.fnUntraced(function* (id: string, taskIds?: ReadonlyArray<string>) {
  const ledger = yield* Ledger
  return yield* ledger.recordDelivery({ id, sentAt: 1, taskIds: Option.fromNullishOr(taskIds) })
})

export const deliveryConformance = (test: LedgerTest) =>
  describe("many webhook deliveries", () => {
    test("have no task looked at all the time, and keep none from being looked at", function* (ledger) {
      yield* submitted(3, 60_000)
      const looks: Array<{ readonly taskId: string; readonly at: number }> = []
      const lastDelivery = 119_000
      // A look a second, after which a task would have an hour if it were not for the hints.
      for (let at = 0; at <= lastDelivery + 60_000; at += 1_000) {
        yield* TestClock.setTime(at)
        if (at <= lastDelivery) {
          for (const again of [1, 2]) yield* deliver(`${at}.${again}`, ["task_0"])
          yield* deliver(`${at}.all`)
        }
        const [task] = (yield* ledger.due(1, Option.none())).tasks
        if (task === undefined) continue
        looks.push({ taskId: task.taskId, at })
        yield* ledger.postpone(task.seq, 3_600_000)
      }
      for (const taskId of ["task_0", "task_1", "task_2"]) {
        const times = looks.filter((look) => look.taskId === taskId).map(({ at }) => at)
        assert.isAtMost(times.length, 3 * 2 * (maxPollsPerMinute + 1), taskId)
        for (const [i, at] of times.entries()) assert.isAtMost(at - (times[i - 1] ?? 0), 70_000, taskId)
        assert.isAtLeast(times.at(-1) ?? 0, lastDelivery, taskId)
      }
    })

    test("have a task looked at once more where the last of them came while it was looked at", function* (ledger) {
      yield* submitted(2, 60_000)
      yield* TestClock.setTime(1_000)
      const ids = Effect.map(ledger.due(10, Option.none()), ({ tasks }) => tasks.map(({ taskId }) => taskId))
      for (let i = 0; i < maxPollsPerMinute; i++) {
        yield* deliver(`${i}`, ["task_0"])
        for (const task of (yield* ledger.due(10, Option.none())).tasks) yield* ledger.postpone(task.seq, 3_600_000)
      }
      yield* TestClock.setTime(60_500)
      yield* ledger.makeDue
      const looking = (yield* ledger.due(10, Option.none())).tasks
      assert.lengthOf(looking, 2)
      yield* deliver("during", ["task_0"])
      yield* Effect.forEach(looking, (task) => ledger.postpone(task.seq, 3_600_000))
      assert.deepStrictEqual(yield* ids, [])
      yield* TestClock.setTime(1_000 + 60_000)
      assert.deepStrictEqual(yield* ids, ["task_0"])
    })
  })
