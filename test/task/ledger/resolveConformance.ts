/** What every ledger must do with what a person, or a person's rule, decides about tasks. */
import { assert, describe } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Sha256 from "../../../src/node/Sha256.ts"
import { Ledger } from "../../../src/task/ledger/Ledger.ts"
import { TaskState } from "../../../src/task/ledger/schema/Model.ts"
import * as Payload from "../../../src/task/ledger/schema/Payload.ts"
import { column, columns } from "../../support/columns.ts"
import { bring, newTasks, plan, split, type LedgerTest } from "../support.ts"

/** One task of two items, in a state. */
const one = Effect.fnUntraced(function* (state: TaskState) {
  yield* plan(newTasks([2]))
  yield* TestClock.setTime(100)
  yield* bring(0, state)
  yield* TestClock.setTime(200)
})

const task = Effect.gen(function* () {
  const ledger = yield* Ledger
  const [task] = yield* ledger.tasksOf([1])
  const { attempt, idempotencyKey, reason, sentAt, state, taskId } = task!
  return { attempt, idempotencyKey, reason, sentAt, state, taskId }
})

const issueStates = ["in_doubt", "failed", "invalid", "refused"] as const
const every = TaskState.literals

export const resolveConformance = (test: LedgerTest) =>
  describe("decisions", () => {
    test("name tasks by the ordinal of their first item, from 1 on", function* (ledger) {
      yield* plan(newTasks([3, 2, 4]))
      assert.deepStrictEqual(columns(yield* ledger.tasksOf([6, 1]), "number", "seq", "items"), [
        [6, 5, 4],
        [1, 0, 3],
      ])
      const failure = yield* Effect.flip(ledger.tasksOf([1, 2]))
      assert(failure._tag === "NoSuchTask")
      assert.strictEqual(failure.message, "the ledger has no task 2")
    })

    describe("to adopt", () => {
      test("a task in doubt: its result is asked for at once, under the id that was found", function* (ledger) {
        yield* one("in_doubt")
        const before = yield* task
        yield* ledger.adopt([1], ["found"])
        assert.deepStrictEqual(yield* task, { ...before, state: "submitted", taskId: "found", reason: null })
        const { tasks } = yield* ledger.due(10, Option.none())
        // Its age is counted from when it was sent.
        assert.deepStrictEqual(columns(tasks, "seq", "taskId", "submittedAt"), [[0, "found", 100]])
        assert.deepStrictEqual(yield* ledger.attempts(1), [])
      })

      for (const state of ["failed", "invalid", "refused"] as const) {
        test(`a task that is ${state}: as another attempt, and the one before is kept`, function* (ledger) {
          yield* one(state)
          const before = yield* task
          yield* ledger.adopt([1], ["found"])
          const after = yield* task
          assert.deepStrictEqual([after.state, after.taskId, after.attempt], ["submitted", "found", 2])
          assert.notStrictEqual(after.idempotencyKey, before.idempotencyKey)
          assert.deepStrictEqual(yield* ledger.attempts(1), [
            { attempt: 1, state, taskId: before.taskId, reason: before.reason, sentAt: 100, endedAt: 200 },
          ])
        })
      }

      test("a failed task under its own id: it is asked for again", function* (ledger) {
        yield* one("failed")
        yield* ledger.adopt([1], ["task_0"])
        const { attempt, state, taskId } = yield* task
        assert.deepStrictEqual([state, taskId, attempt], ["submitted", "task_0", 1])
      })

      test("an id that another task has, or had, is refused", function* (ledger) {
        yield* plan(newTasks([1, 1, 1]))
        yield* bring(0, "in_doubt")
        yield* bring(1, "completed")
        yield* bring(2, "failed")
        yield* ledger.sendAgain([3])
        const before = yield* ledger.counts
        for (const [taken, number] of [
          ["task_1", 2],
          ["task_2", 3],
        ] as const) {
          const failure = yield* Effect.flip(ledger.adopt([1], [taken]))
          assert(failure._tag === "TaskIdTaken")
          assert.strictEqual(failure.number, number)
        }
        assert.deepStrictEqual(yield* ledger.counts, before)
      })
    })

    describe("to send again", () => {
      test("a task in doubt: under the same key, as the same attempt", function* (ledger) {
        yield* one("in_doubt")
        const before = yield* task
        yield* ledger.planned.close
        yield* ledger.sendAgain([1])
        assert.deepStrictEqual(yield* task, { ...before, state: "planned", reason: null, sentAt: null })
        assert.isTrue(ledger.planned.isOpen())
        const { idempotencyKey } = before
        assert.deepStrictEqual(yield* ledger.plannedAfter(-1), [
          { seq: 0, part: 0, itemCount: 2, vote: 1, idempotencyKey, sentAt: undefined, wasDoubted: false },
        ])
      })

      for (const state of ["failed", "invalid", "refused"] as const) {
        test(`a task that is ${state}: under another key, and each attempt before is kept`, function* (ledger) {
          yield* one(state)
          const keys = new Set<string>()
          for (const attempt of [1, 2, 3]) {
            const before = yield* task
            assert.strictEqual(before.attempt, attempt)
            keys.add(before.idempotencyKey)
            yield* ledger.sendAgain([1])
            const after = yield* task
            assert.deepStrictEqual(after, {
              ...before,
              idempotencyKey: after.idempotencyKey,
              attempt: attempt + 1,
              state: "planned",
              reason: null,
              sentAt: null,
              taskId: null,
            })
            keys.add(after.idempotencyKey)
            yield* bring(0, state)
          }
          assert.strictEqual(keys.size, 4)
          assert.deepStrictEqual(
            columns(yield* ledger.attempts(1), "attempt", "state"),
            [1, 2, 3].map((attempt) => [attempt, state]),
          )
        })
      }

      test("gives the same key for the same attempt, whenever it is decided", function* (ledger) {
        yield* plan(newTasks([1]))
        const first = (yield* task).idempotencyKey
        yield* bring(0, "failed")
        yield* ledger.sendAgain([1])
        const second = (yield* task).idempotencyKey
        assert.match(second, /^[0-9a-f]{64}$/)
        assert.strictEqual(second, Sha256.hex(JSON.stringify([first, 2])))
      })

      test("does not take the result of an attempt before for its own", function* (ledger) {
        yield* one("failed")
        yield* ledger.sendAgain([1])
        // A look at the first attempt that began before it was given up ends now.
        yield* ledger.markCompleted(0, '{"late":true}', "task_0")
        yield* ledger.markInvalid(0, "", "late", "task_0")
        yield* ledger.markFailed(0, "late", "task_0")
        assert.strictEqual((yield* task).state, "planned")
        const [again] = yield* ledger.plannedAfter(-1)
        yield* ledger.claim(again!)
        yield* ledger.markSubmitted(0, "task_again", 0)
        yield* ledger.markCompleted(0, '{"late":true}', "task_0")
        assert.strictEqual((yield* task).state, "submitted")
        yield* ledger.markCompleted(0, '{"late":false}', "task_again")
        const completed = yield* Stream.runCollect(ledger.completed)
        assert.deepStrictEqual(
          completed.map(({ result, taskId }) => [taskId, Payload.decode(result)]),
          [["task_again", '{"late":false}']],
        )
      })
    })

    describe("to give up", () => {
      for (const state of ["planned", "submitted", "superseded", ...issueStates] as const) {
        test(`a task that is ${state}: it is not sent, nor waited for, nor asked for again`, function* (ledger) {
          yield* one(state)
          const before = yield* task
          yield* ledger.giveUp([1])
          const after = yield* task
          assert.strictEqual(after.state, "given_up")
          assert.include(after.reason, before.reason ?? state.replace("_", " "))
          yield* ledger.settleInterrupted("planned")
          yield* ledger.recheck
          yield* ledger.makeDue
          yield* ledger.startRun()
          assert.strictEqual(yield* ledger.replan(1, ["failed", "invalid", "refused"], 9), 0)
          assert.strictEqual((yield* ledger.counts).given_up.tasks, 1)
          assert.deepStrictEqual((yield* ledger.due(10, Option.none())).tasks, [])
          assert.deepStrictEqual(yield* ledger.issues(10), [])
          const dropped = yield* Stream.runCollect(ledger.dropped(Option.some(1)))
          assert.deepStrictEqual(
            dropped.map(({ items, reason, state }) => [state, reason, items.length]),
            [["given_up", after.reason, 2]],
          )
          assert.deepStrictEqual(yield* Stream.runCollect(ledger.dropped(Option.some(2))), [])
          assert.strictEqual(yield* ledger.itemsIn(1, ["given_up"]), 2)

          // It may still be decided otherwise.
          yield* ledger.sendAgain([1])
          const again = yield* task
          assert.strictEqual(again.state, "planned")
          const hasOwnKey = state === "planned" || state === "superseded" || state === "in_doubt"
          assert.strictEqual(again.attempt, hasOwnKey ? 1 : 2)
          assert.strictEqual(again.idempotencyKey === before.idempotencyKey, hasOwnKey)
          yield* ledger.giveUp([1])
          yield* ledger.adopt([1], ["found"])
          assert.strictEqual((yield* task).taskId, "found")
        })
      }

      test("a task that was just being polled: it stays given up, whatever the answer", function* (ledger) {
        yield* one("submitted")
        yield* ledger.giveUp([1])
        const given = yield* task
        yield* ledger.markCompleted(0, "{}", "task_0")
        yield* ledger.markInvalid(0, "{}", "odd", "task_0")
        yield* ledger.markFailed(0, "gone", "task_0")
        yield* ledger.markOpen(0, "task_0")
        assert.deepStrictEqual(yield* task, given)
      })
    })

    const allowed = {
      adopt: [...issueStates, "given_up"],
      resend: [...issueStates, "given_up"],
      "give up": ["planned", "submitted", "superseded", ...issueStates],
    } as const
    for (const [verb, states] of Object.entries(allowed)) {
      test(`that can't be carried out are refused: ${verb}`, function* (ledger) {
        yield* plan(newTasks(every.length))
        // Superseding takes all that is planned, so it comes first, and the run goes back after it.
        for (const [seq, state] of every.entries()) if (state !== "superseded") yield* bring(seq, state)
        const others = every.filter(
          (state) => !(states as ReadonlyArray<string>).includes(state) && state !== "superseded",
        )
        for (const state of others) {
          const number = every.indexOf(state) + 1
          const before = yield* ledger.counts
          const decided = {
            adopt: ledger.adopt([number], ["x"]),
            resend: ledger.sendAgain([6, number]),
            "give up": ledger.giveUp([6, number]),
          }[verb]!
          const failure = yield* Effect.flip(decided)
          assert(failure._tag === "NotResolvable", String(failure))
          assert.deepStrictEqual([failure.number, failure.state], [number, state])
          assert.match(failure.message, new RegExp(`^cannot ${verb} task ${number}: `))
          // Nothing happened to the others that were named.
          assert.deepStrictEqual(yield* ledger.counts, before)
        }
      })
    }

    describe("by a rule", () => {
      test("plan again what failed, of one campaign, as long as attempts are left", function* (ledger) {
        yield* plan(newTasks([1, 1, 1, 1]))
        yield* bring(0, "failed")
        yield* bring(1, "invalid")
        yield* bring(2, "refused")
        yield* bring(3, "completed")
        const counts = Effect.map(ledger.counts, ({ failed, invalid, planned, refused }) => [
          planned.tasks,
          failed.tasks,
          invalid.tasks,
          refused.tasks,
        ])
        assert.strictEqual(yield* ledger.replan(1, [], 3), 0)
        assert.strictEqual(yield* ledger.replan(2, ["failed"], 3), 0)
        assert.strictEqual(yield* ledger.replan(1, ["failed"], 1), 0)
        assert.deepStrictEqual(yield* counts, [0, 1, 1, 1])
        yield* ledger.planned.close
        assert.strictEqual(yield* ledger.replan(1, ["failed", "refused"], 2), 2)
        assert.isTrue(ledger.planned.isOpen())
        assert.deepStrictEqual(yield* counts, [2, 0, 1, 0])
        yield* bring(0, "failed")
        assert.strictEqual(yield* ledger.replan(1, ["failed"], 2), 0)
        assert.strictEqual(yield* ledger.replan(1, ["failed"], 3, new Set([1, 2])), 0)
        assert.deepStrictEqual(column(yield* ledger.replannable(1, ["failed", "invalid"], 3), "seq"), [0, 1])
        assert.deepStrictEqual(yield* ledger.replannable(1, [], 3), [])
        assert.strictEqual(yield* ledger.replan(1, ["failed"], 3, new Set([0])), 1)
      })

      test("plan again more tasks than a statement takes, each under a key of its own", function* (ledger) {
        const n = 600
        yield* plan(newTasks(n))
        for (let page = yield* ledger.plannedAfter(-1); page.length > 0; page = yield* ledger.plannedAfter(-1)) {
          for (const task of page) {
            yield* ledger.claim(task)
            yield* ledger.markRefused(task.seq, "no")
          }
        }
        const before = (yield* ledger.issues(n)).map(({ idempotencyKey }) => idempotencyKey)
        assert.strictEqual(yield* ledger.replan(1, ["refused"], 3), n)
        const after = (yield* ledger.issues(n, ["planned"])).map(({ idempotencyKey }) => idempotencyKey)
        assert.strictEqual(new Set([...before, ...after]).size, 2 * n)
      })
    })

    test("a task that is halved keeps its campaign and its attempt", function* (ledger) {
      yield* one("failed")
      yield* ledger.sendAgain([1])
      yield* split(0)
      assert.deepStrictEqual(columns(yield* ledger.tasksOf([1, 2]), "campaign", "attempt", "items"), [
        [1, 2, 1],
        [1, 2, 1],
      ])
    })

    describe("after a crash, where keys are", () => {
      test("said to be ignored: what may have been sent, when they were said to be honored, is in doubt", function* (ledger) {
        yield* plan(newTasks([1, 1]))
        yield* ledger.settleInterrupted("planned")
        yield* bring(0, "submitting")
        yield* ledger.settleInterrupted("planned")
        assert.strictEqual((yield* ledger.counts).planned.tasks, 2)
        yield* ledger.settleInterrupted("in_doubt")
        assert.deepStrictEqual(columns(yield* ledger.issues(9), "number", "state"), [[1, "in_doubt"]])
      })

      test("ignored: what was given back unsent is not in doubt, whatever keys were said to be before", function* (ledger) {
        yield* plan(newTasks([1]))
        for (const outcome of ["in_doubt", "planned"] as const) {
          yield* ledger.settleInterrupted(outcome)
          yield* bring(0, "submitting")
          yield* ledger.release(0)
          yield* ledger.settleInterrupted("in_doubt")
          assert.deepStrictEqual([(yield* task).state, (yield* task).sentAt], ["planned", null])
        }
      })
    })

    test("progress tells what came in, what waits longest, and when it is looked at", function* (ledger) {
      yield* plan(newTasks([2, 3, 4, 5]))
      const hour = 3_600_000
      for (const [i, task] of (yield* ledger.plannedAfter(-1)).entries()) {
        yield* TestClock.setTime(i + 1)
        yield* ledger.claim(task)
        yield* ledger.markSubmitted(task.seq, `task_${task.seq}`, task.seq === 9 ? 50 * hour : 60 * hour)
      }
      yield* TestClock.setTime(hour)
      yield* ledger.markCompleted(0, "{}")
      yield* TestClock.setTime(24 * hour)
      yield* ledger.markCompleted(2, "{}")
      yield* TestClock.setTime(25 * hour - 1)
      const { counts, countsOf, inputOf, ...progress } = yield* ledger.progress
      assert.deepStrictEqual(countsOf(1), counts)
      assert.deepStrictEqual(inputOf(1), counts)
      assert.deepStrictEqual(progress, {
        votes: 1,
        gold: 0,
        waiting: { tasks: 0, items: 0 },
        waitingForJudges: { tasks: 0, items: 0 },
        firstSubmittedAt: Option.some(1),
        oldestOutstanding: Option.some({ number: 6, taskId: "task_5", submittedAt: 3 }),
        nextPollAt: Option.some(50 * hour + 4),
        lastResultAt: Option.some(24 * hour),
        lastHour: { tasks: 1, items: 3 },
        lastDay: { tasks: 2, items: 5 },
        pace: Option.some({ since: hour - 1, tasks: 2, items: 5, lastAt: 24 * hour }),
      })
    })
  })
