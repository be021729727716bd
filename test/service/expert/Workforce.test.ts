import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Fiber, Latch, Layer, Logger, Option, Scope } from "effect"
import { TestClock } from "effect/testing"
import { type Expert, JudgeError, type JudgeVote } from "../../../src/service/expert/Expert.ts"
import { Database } from "../../../src/service/database/Database.ts"
import { Experts } from "../../../src/service/store/Experts.ts"
import { TaskStore } from "../../../src/service/store/TaskStore.ts"
import { VoteQueue } from "../../../src/service/store/VoteQueue.ts"
import * as Workforce from "../../../src/service/expert/Workforce.ts"
import { create, detailOf, prompts, results, statusOf, store, waitingIn } from "../store/support.ts"
import { platform, temporaryFile } from "../support.ts"
import { testOver } from "../../support/effectTest.ts"

const expert = (name: string, judge: Expert["judge"], concurrency?: number): Expert => ({ name, judge, concurrency })
const choose = (best_completion_index: number): JudgeVote => ({ best_completion_index, rationale: "I say so." })
const always = (name: string, index: number): Expert => expert(name, () => Effect.succeedSome(choose(index)))

/** Experts at work on what the test creates. */
const working = Effect.fnUntraced(function* (options: Workforce.WorkforceOptions) {
  yield* Layer.build(Layer.fresh(Workforce.layer(options)))
})

const until = <E, R>(condition: Effect.Effect<boolean, E, R>) =>
  Effect.yieldNow.pipe(Effect.andThen(condition), Effect.repeat({ until: (holds) => holds }))
const ends = (task: string, status = "completed") => until(Effect.map(statusOf(task), (found) => found === status))

const lines: Array<string> = []
const log = Logger.layer([
  Logger.make(({ logLevel, message }) => {
    const line = [message].flat().map(String).join(" ")
    // On a busy machine, the test's clock warns.
    if (["Warn", "Error"].includes(logLevel) && !line.includes("A test is using time")) lines.push(line)
  }),
])
const test = testOver(Layer.provideMerge(store(":memory:"), log))
const said = (text: string) => lines.filter((line) => line.includes(text))

const itemOf = (task: string, index = 0) => Effect.map(detailOf(task, index), ({ items }) => items[0]!)

test("experts are told of a task whose creation nobody waits for any more", function* () {
  const { write } = yield* Database
  const store = yield* TaskStore
  yield* working({ experts: [always("one", 0)] })
  yield* ends(yield* create([["p", "a", "b"]]))
  const released = yield* Latch.make()
  yield* Effect.forkChild(write(released.await))
  const creation = yield* Effect.forkChild(create([["p", "a", "b"]]))
  yield* Effect.repeat(Effect.yieldNow, { times: 50 })
  const interrupted = yield* Effect.forkChild(Fiber.interrupt(creation))
  yield* released.open
  yield* Fiber.join(interrupted)
  yield* until(Effect.map(store.overview, ({ tasks }) => tasks.completed === 2))
})

describe("a database that fails", () => {
  const broken = Effect.gen(function* () {
    const { sql } = yield* Database
    lines.length = 0
    yield* sql`ALTER TABLE expert RENAME TO mislaid`
    yield* (yield* VoteQueue).wake
    yield* until(Effect.sync(() => said("cannot reach the task store").length > 0))
  })

  test("does not keep the experts from ending", function* () {
    const scope = yield* Scope.make()
    yield* working({ experts: [always("one", 0)] }).pipe(Scope.provide(scope))
    yield* ends(yield* create([["p", "a", "b"]]))
    yield* broken
    yield* Scope.close(scope, Exit.void)
  })

  test("is asked again until it answers", function* () {
    const { sql } = yield* Database
    yield* working({ experts: [always("one", 0)] })
    yield* ends(yield* create([["p", "a", "b"]]))
    yield* broken
    const task = yield* create([["p", "a", "b"]])
    yield* sql`ALTER TABLE mislaid RENAME TO expert`
    yield* TestClock.adjust("1 minute")
    yield* ends(task)
  })
})

test("slow experts do not hold up other tasks, and each vote is stored when it is there", function* () {
  const released = yield* Latch.make()
  let under = 0
  let most = 0
  const slow = expert(
    "slow",
    ({ prompt }) =>
      Effect.gen(function* () {
        under++
        most = Math.max(most, under)
        yield* prompt === "p1" ? released.await : Effect.repeat(Effect.yieldNow, { times: 20 })
        under--
        return Option.some(choose(0))
      }),
    3,
  )
  yield* working({ experts: [slow] })
  const stuck = yield* create(prompts(2))
  const others = yield* Effect.forEach(Array.from({ length: 60 }), () => create([["quick", "a", "b"]]))
  yield* Effect.forEach(others, (task) => ends(task))
  assert.strictEqual(yield* statusOf(stuck), "in_progress")
  assert.lengthOf((yield* itemOf(stuck, 0)).votes, 1)
  assert.deepStrictEqual((yield* itemOf(stuck, 1)).held_by, ["slow"])
  assert.strictEqual(most, 3)
  yield* released.open
  yield* ends(stuck)
})

describe("an expert that fails", () => {
  const failing = (times: number, error: { isRetryable: boolean; retryAfter?: number }) => {
    const calls: Array<string> = []
    return {
      calls,
      expert: expert("shaky", ({ prompt }) =>
        Effect.suspend(() => {
          calls.push(prompt)
          return calls.length <= times
            ? Effect.fail(new JudgeError({ problem: "no connection", ...error }))
            : Effect.succeedSome(choose(1))
        }),
      ),
    }
  }

  test("is asked again later, keeps its place, and is named in the log once", function* () {
    lines.length = 0
    const shaky = failing(2, { isRetryable: true })
    yield* working({ experts: [shaky.expert, always("fallback", 0)] })
    const task = yield* create([["p", "a", "b"]])
    yield* until(Effect.sync(() => shaky.calls.length === 1))
    // A minute holds the second try, after ten seconds, and the third, after twenty more.
    for (const [seconds, calls] of [
      [9, 1],
      [2, 2],
      [18, 2],
      [2, 3],
    ] as const) {
      yield* TestClock.adjust(`${seconds} seconds`)
      yield* until(Effect.sync(() => shaky.calls.length === calls))
    }
    yield* ends(task)
    assert.strictEqual((yield* results(task))[0].annotations.votes[0].expert, "shaky")
    assert.lengthOf(said("no connection"), 1)
    assert.include(said("no connection")[0], task)
  })

  for (const [cancelUnanswered, said] of [
    [
      true,
      /^Task \S+ is cancelled: .* votes are needed on 1 of 1 prompts, but no automatic expert can give them \(shaky: no connection\); the next run asks the automatic experts again$/,
    ],
    [
      false,
      /^Task \S+ stays open: .* \(shaky: no connection\); people can still vote, and a restart of the service asks/,
    ],
  ] as const) {
    test(`for good, and is the only one, is named in one message (${cancelUnanswered ? "cancelled" : "open"})`, function* () {
      lines.length = 0
      yield* working({ experts: [failing(Infinity, { isRetryable: false }).expert], cancelUnanswered })
      yield* create([["p", "a", "b"]])
      yield* until(Effect.sync(() => lines.length > 0))
      yield* Effect.repeat(Effect.yieldNow, { times: 1_000 })
      assert.lengthOf(lines, 1)
      assert.match(lines[0]!, said)
    })
  }

  test("is left alone for as long as it says", function* () {
    const shaky = failing(1, { isRetryable: true, retryAfter: 120_000 })
    yield* working({ experts: [shaky.expert] })
    const tasks = yield* Effect.forEach([1, 2, 3], () => create(prompts(3)))
    yield* until(Effect.sync(() => shaky.calls.length === 1))
    yield* TestClock.adjust("119 seconds")
    assert.lengthOf(shaky.calls, 1)
    yield* TestClock.adjust("2 seconds")
    yield* Effect.forEach(tasks, (task) => ends(task))
    assert.lengthOf(shaky.calls, 10)
  })

  test("always, is asked less and less often", function* () {
    const shaky = failing(Infinity, { isRetryable: true })
    yield* working({ experts: [shaky.expert] })
    yield* Effect.forEach(Array.from({ length: 100 }), () => create(prompts(5)))
    yield* until(Effect.sync(() => shaky.calls.length >= 4))
    const after = Effect.fnUntraced(function* (hours: number) {
      for (let i = 0; i < hours * 360; i++) yield* TestClock.adjust("10 seconds")
      return shaky.calls.length
    })
    const first = yield* after(1)
    const second = yield* after(1)
    // Each pause ends with one question, of five minutes each in the end.
    assert.isAtMost(first, 40)
    assert.isAtMost(second - first, 13)
    assert.isAtLeast(second - first, 10)
  })

  test("by a breakdown, leaves the item after the third, while its other work goes on", function* () {
    lines.length = 0
    let broke = 0
    const fragile = expert("fragile", ({ prompt }) =>
      prompt === "poison" ? Effect.die(new Error(`crash ${++broke}`)) : Effect.succeedSome(choose(0)),
    )
    yield* working({ experts: [fragile] })
    const poisoned = yield* create([
      ["poison", "a", "b"],
      ["p", "a", "b"],
    ])
    yield* ends(yield* create(prompts(3)))
    yield* until(Effect.map(itemOf(poisoned, 1), ({ votes }) => votes.length === 1))
    for (let i = 0; i < 10; i++) yield* TestClock.adjust("10 seconds")
    yield* until(Effect.map(itemOf(poisoned), (item) => item.set_aside.length === 1))
    assert.strictEqual(broke, 3)
    assert.include((yield* itemOf(poisoned)).set_aside[0]!.reason, "crash 3")
    assert.lengthOf(said("more votes are needed on 1 of 2 prompts, but no automatic expert can give them"), 1)
  })

  for (const calls of [
    ["die", "fail", "die", "die"],
    ["die", "die", "fail", "die"],
  ]) {
    test(`leaves the item after its third breakdown: ${calls.join(", ")}`, function* () {
      let asked = 0
      const fragile = expert("fragile", () =>
        Effect.suspend(() =>
          calls[asked++] === "fail"
            ? Effect.fail(new JudgeError({ problem: "busy", isRetryable: true }))
            : Effect.die(new Error("crash")),
        ),
      )
      yield* working({ experts: [fragile, always("other", 0)] })
      const task = yield* create([["p", "a", "b"]])
      for (let i = 0; i < 20; i++) yield* TestClock.adjust("10 seconds")
      yield* ends(task)
      assert.strictEqual(asked, 4)
    })
  }

  test("and is deactivated meanwhile, leaves what it was kept to the others", function* () {
    const shaky = failing(Infinity, { isRetryable: true })
    yield* working({ experts: [shaky.expert, always("fallback", 0)] })
    const tasks = yield* Effect.forEach(Array.from({ length: 50 }), () => create(prompts(3)))
    yield* until(Effect.sync(() => shaky.calls.length >= 4))
    yield* Effect.repeat(Effect.yieldNow, { times: 1_000 })
    assert.strictEqual(yield* statusOf(tasks[49]!), "pending")
    yield* (yield* Experts).setActive("shaky", false)
    yield* Effect.forEach(tasks, (task) => ends(task))
  })

  test("by naming a completion that is not there, has broken down", function* () {
    lines.length = 0
    yield* working({ experts: [always("wild", 7)] })
    const task = yield* create([["p", "a", "b"]])
    yield* until(
      Effect.sync(() => said("invalid vote on 2 completions: expected best_completion_index from 0 to 1").length === 1),
    )
    assert.strictEqual(yield* statusOf(task), "in_progress")
    assert.lengthOf((yield* itemOf(task)).votes, 0)
  })
})

describe("what no expert has an answer to", () => {
  test("is no fault if all experts have voted, and people are to give more votes", function* () {
    lines.length = 0
    yield* working({ experts: [always("one", 0)] })
    const tasks = yield* Effect.forEach([1, 2, 3], () => create(prompts(2), { votes: 3 }))
    yield* until(Effect.map(itemOf(tasks[2]!), (item) => item.votes.length === 1))
    assert.deepStrictEqual(lines, [])
  })

  testOver(store(":memory:", { endsUnanswered: true }))("waits for nobody where it is ended", function* () {
    const answered = yield* Latch.make()
    const judge: Expert["judge"] = ({ prompt }) =>
      prompt === "p0" ? Effect.succeedNone : Effect.as(answered.await, Option.some(choose(0)))
    yield* working({ experts: [expert("one", judge, 2)], cancelUnanswered: true })
    const task = yield* create(prompts(2))
    yield* until(Effect.map(itemOf(task), (item) => item.set_aside.length === 1))
    assert.strictEqual(yield* waitingIn(task), 0)
    yield* answered.open
    yield* ends(task)
  })

  test("is cancelled where there are no experts at all", function* () {
    yield* working({ experts: [], cancelUnanswered: true })
    const tasks = yield* Effect.forEach(Array.from({ length: 120 }), () => create(prompts(1)))
    yield* Effect.forEach(tasks, (task) => ends(task, "cancelled"))
  })

  testOver(platform)("is cancelled at each start anew, with the votes that it has", function* () {
    const file = yield* temporaryFile("service.db")
    const session = Effect.fnUntraced(
      function* (experts: ReadonlyArray<Expert>, status: string, task?: string) {
        yield* working({ experts, cancelUnanswered: true })
        const id = task ?? (yield* create([["p", "a", "b"]], { group: "g", votes: 2 }))
        yield* ends(id, status)
        return id
      },
      (effect) => effect.pipe(Effect.scoped, Effect.provide(store(file), { local: true })),
    )
    const one = always("one", 0)
    const task = yield* session([one], "cancelled")
    yield* session([one], "cancelled", task)
    yield* session([], "cancelled", task)
    yield* session([one, always("two", 0)], "completed", task)
  })
})
