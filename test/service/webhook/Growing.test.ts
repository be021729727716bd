import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Database } from "../../../src/service/database/Database.ts"
import { TaskStore } from "../../../src/service/store/TaskStore.ts"
import { VoteQueue } from "../../../src/service/store/VoteQueue.ts"
import { Webhooks } from "../../../src/service/webhook/Webhooks.ts"
import { create } from "../store/support.ts"
import {
  attempted,
  complete,
  detail,
  once,
  type Receiver,
  receiver,
  requests,
  sessions,
  set,
  settle,
  silent,
  subscriber,
  temporaryFile,
  webhooks,
  webhooksThrough,
} from "./support.ts"
import { testOver } from "../../support/effectTest.ts"

const test = testOver(webhooks())

const grown = (taskIds: ReadonlyArray<string>) => complete("g", taskIds, true)
const withdraw = Effect.gen(function* () {
  const { write } = yield* Database
  yield* write((yield* Webhooks).withdraw("default", "g"))
})
/** What has arrived: ids of messages, and of tasks. */
const arrived = ({ received }: Receiver) =>
  received.map(({ body, headers }) => [headers["webhook-id"], JSON.parse(body).data.task_ids])

describe("the event of a group that may grow", () => {
  test("waits for a quiet time, and a later one takes its place meanwhile", function* () {
    const target = yield* subscriber()
    const id = yield* grown(["a"])
    yield* TestClock.setTime(1_999)
    yield* settle
    assert.strictEqual(yield* grown(["a", "b"]), id)
    const { delivery } = yield* detail(id)
    assert.deepInclude(delivery, { tasks: 2, created_at: 1_999, next_attempt_at: 3_999, attempts: 0 })
    yield* TestClock.setTime(3_998)
    yield* settle
    assert.lengthOf(target.received, 0)
    yield* TestClock.setTime(3_999)
    const { attempts } = yield* attempted(id, 1)
    assert.strictEqual(attempts[0]!.at, 3_999)
    assert.deepStrictEqual(arrived(target), [[id, ["a", "b"]]])
    assert.lengthOf((yield* (yield* Webhooks).deliveries({})).deliveries, 1)
  })

  test("is not sent where the group gets another task meanwhile", function* () {
    const target = yield* subscriber()
    yield* grown(["a"])
    yield* complete("other", ["z"], true)
    yield* withdraw
    yield* TestClock.adjust("2 seconds")
    yield* requests(target, 1)
    const id = yield* grown(["a", "b"])
    yield* TestClock.adjust("2 seconds")
    yield* attempted(id, 1)
    assert.deepStrictEqual(
      arrived(target).map(([, tasks]) => tasks),
      [["z"], ["a", "b"]],
    )
  })

  testOver(webhooks({ quiet: "1 minute" }))("waits as long as is asked for, unless it is resent", function* () {
    yield* subscriber()
    const first = yield* grown(["a"])
    yield* TestClock.adjust("1 minute")
    assert.strictEqual((yield* attempted(first, 1)).attempts[0]!.at, 60_000)
    const second = yield* grown(["a", "b"])
    yield* (yield* Webhooks).resend(second)
    assert.strictEqual((yield* attempted(second, 1)).attempts[0]!.at, 60_000)
  })

  test("goes on waiting for its quiet time when the URL is set anew", function* () {
    const target = yield* subscriber()
    const id = yield* grown(["a"])
    yield* set(target.url)
    assert.strictEqual((yield* detail(id)).delivery.next_attempt_at, 2_000)
    yield* TestClock.setTime(2_000)
    assert.strictEqual((yield* attempted(id, 1)).attempts[0]!.at, 2_000)
  })

  test("that failed with the webhook's removal is nobody's to change", function* () {
    const target = yield* subscriber()
    const first = yield* grown(["a"])
    yield* (yield* Webhooks).remove
    yield* set(target.url)
    yield* withdraw
    assert.notStrictEqual(yield* grown(["a", "b"]), first)
    assert.strictEqual((yield* detail(first)).delivery.state, "failed")
  })

  test("that is being attempted stays what it is; a later one is a message of its own", function* () {
    let answer: () => void = () => {}
    const target = yield* subscriber(
      once((response) => {
        answer = () => response.writeHead(200).end()
      }),
    )
    const first = yield* grown(["a"])
    yield* TestClock.adjust("2 seconds")
    yield* requests(target, 1)
    yield* withdraw
    const second = yield* grown(["a", "b"])
    assert.notStrictEqual(second, first)
    yield* Effect.sync(() => answer())
    assert.strictEqual((yield* attempted(first, 1)).delivery.state, "delivered")
    yield* TestClock.adjust("2 seconds")
    assert.strictEqual((yield* attempted(second, 1)).delivery.state, "delivered")
    assert.deepStrictEqual(arrived(target), [
      [first, ["a"]],
      [second, ["a", "b"]],
    ])
  })

  testOver(Layer.empty)("has one body under its id, also if the service ended during its attempt", function* () {
    const file = yield* temporaryFile
    const target = yield* receiver(() => silent)
    const during = sessions(file)
    const first = yield* during(function* () {
      yield* set(target.url)
      const id = yield* grown(["a"])
      yield* TestClock.adjust("2 seconds")
      yield* requests(target, 1)
      return id
    })
    target.react = () => ({ status: 200 })
    yield* during(function* () {
      const second = yield* grown(["a", "b"])
      assert.notStrictEqual(second, first)
      assert.strictEqual((yield* attempted(first, 1)).delivery.attempts, 1)
      yield* TestClock.adjust("2 seconds")
      yield* attempted(second, 1)
      assert.deepStrictEqual(arrived(target), [
        [first, ["a"]],
        [first, ["a"]],
        [second, ["a", "b"]],
      ])
    })
  })

  testOver(Layer.empty)("that another takes the place of in the moment of its attempt is not sent", function* () {
    const reached = yield* Deferred.make<void>()
    const opened = yield* Deferred.make<void>()
    let closed = false
    const layer = webhooksThrough((write) =>
      Effect.suspend(() =>
        closed
          ? Deferred.succeed(reached, undefined).pipe(Effect.andThen(Deferred.await(opened)), Effect.andThen(write))
          : write,
      ),
    )
    const target = yield* receiver()
    yield* Effect.gen(function* () {
      yield* set(target.url)
      const id = yield* grown(["a"])
      closed = true
      yield* TestClock.adjust("2 seconds")
      yield* Deferred.await(reached)
      closed = false
      assert.strictEqual(yield* grown(["a", "b"]), id)
      yield* Deferred.succeed(opened, undefined)
      yield* settle
      yield* TestClock.adjust("2 seconds")
      const { attempts } = yield* attempted(id, 1)
      assert.strictEqual(attempts[0]!.at, 4_000)
      assert.deepStrictEqual(arrived(target), [[id, ["a", "b"]]])
    }).pipe(Effect.provide(layer))
  })
})

describe("a group of tasks", () => {
  const over = (filename?: string) =>
    TaskStore.layer.pipe(Layer.provideMerge(VoteQueue.layer()), Layer.provideMerge(webhooks({}, filename)))
  const layer = over()
  const tasks = Array.from({ length: 50 }, (_, i) => i)
  const make = create([["p", "a", "b"]], { group: "g" })
  const announced = Effect.gen(function* () {
    const { deliveries } = yield* (yield* Webhooks).deliveries({})
    return deliveries.map((delivery) => delivery.tasks)
  })

  testOver(layer)("without a size is told of once, though each finishes when no other is open", function* () {
    const target = yield* subscriber()
    const store = yield* TaskStore
    const ids = yield* Effect.forEach(tasks, () => Effect.tap(make, store.cancel))
    yield* TestClock.adjust("2 seconds")
    yield* requests(target, 1)
    assert.deepStrictEqual(arrived(target)[0]![1], ids)
    assert.deepStrictEqual(yield* announced, [50])
  })

  testOver(layer)("without a size is not told of while a new task is open", function* () {
    yield* subscriber()
    const store = yield* TaskStore
    yield* Effect.tap(make, store.cancel)
    assert.deepStrictEqual(yield* announced, [1])
    const second = yield* make
    assert.deepStrictEqual(yield* announced, [])
    yield* store.cancel(second)
    assert.deepStrictEqual(yield* announced, [2])
  })

  testOver(Layer.empty)("without a size is not told of when an unanswered task is opened again", function* () {
    const file = yield* temporaryFile
    const target = yield* receiver()
    yield* Effect.gen(function* () {
      yield* set(target.url)
      const store = yield* TaskStore
      yield* Effect.tap(make, store.cancelUnanswered)
      assert.deepStrictEqual(yield* announced, [1])
    }).pipe(Effect.provide(over(file), { local: true }))
    assert.deepStrictEqual(yield* Effect.provide(announced, over(file), { local: true }), [])
  })

  testOver(layer)("with its size is told of at once", function* () {
    const target = yield* subscriber()
    const store = yield* TaskStore
    const sized = create([["p", "a", "b"]], { group: "g", groupSize: 50 })
    yield* Effect.forEach(tasks, () => Effect.tap(sized, store.cancel))
    yield* requests(target, 1)
    assert.deepStrictEqual(yield* announced, [50])
    // More than it should be: from here on it may grow.
    yield* Effect.forEach(tasks.slice(0, 3), () => Effect.tap(sized, store.cancel))
    assert.deepStrictEqual(yield* announced, [53, 50])
  })
})
