import { Console as NodeConsole } from "node:console"
import { Writable } from "node:stream"
import { assert, describe } from "@effect/vitest"
import { Console, Duration, Effect, Exit, Fiber, Latch, type Option, Queue } from "effect"
import { TestClock } from "effect/testing"
import { clockTest } from "../support/job.ts"
import * as Signals from "../../src/cli/Signals.ts"
import * as Stop from "../../src/pipeline/Stop.ts"

/** A command under supervision, on the test's clock; what it says; and how to send it signals. */
const supervised = Effect.fnUntraced(function* <E>(command: Effect.Effect<number, E>) {
  const received = yield* Queue.unbounded<Signals.Signal>()
  let said = ""
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => {
      said += chunk.toString()
      done()
    },
  })
  const fiber = yield* Signals.supervise(command, received).pipe(
    Effect.provideService(Console.Console, new NodeConsole(stream, stream)),
    Effect.forkChild,
  )
  yield* Effect.yieldNow
  return {
    fiber,
    said: () => said.trimEnd().split("\n"),
    send: (signal: Signals.Signal) => Effect.andThen(Queue.offer(received, signal), TestClock.adjust(0)),
    status: Effect.map(Fiber.await(fiber), (exit) => (Exit.isSuccess(exit) ? exit.value : exit)),
  }
})

/** A command with something under way that takes its time to end, and can't be broken off. */
const finishing = (latch: Latch.Latch) =>
  Effect.as(Effect.uninterruptible(latch.await), 0).pipe(
    Effect.andThen(Effect.never),
    Stop.withOptions({ inFlight: Effect.succeedSome("3 requests") }),
  )

describe("a signal", () => {
  for (const [signal, expected] of [
    ["SIGHUP", 129],
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    clockTest(`${signal} ends a command that has nothing under way with ${expected}, at once`, function* () {
      const { said, send, status } = yield* supervised(Effect.never)
      yield* send(signal)
      assert.strictEqual(yield* status, expected)
      assert.deepStrictEqual(said(), ["prefstream: stopped; the next run continues where this one stopped"])
    })
  }

  clockTest("lets what is under way finish, and says what it waits for", function* () {
    const latch = yield* Latch.make()
    const { said, send, status } = yield* supervised(finishing(latch))
    yield* send("SIGTERM")
    yield* TestClock.adjust("5 seconds")
    assert.deepStrictEqual(said(), [
      "prefstream: SIGTERM: waiting for 3 requests to finish, at most 1m 5s; a second signal ends the process immediately",
    ])
    yield* latch.open
    assert.strictEqual(yield* status, 143)
    assert.match(said().at(-1)!, /stopped; the next run continues where this one stopped/)
  })

  clockTest("ends the command when its grace time is over, and says what is left", function* () {
    const { fiber, said, send, status } = yield* supervised(
      Stop.withOptions({ grace: Duration.seconds(3) })(finishing(yield* Latch.make())),
    )
    yield* send("SIGINT")
    yield* TestClock.adjust("2999 millis")
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    assert.strictEqual(yield* status, 130)
    assert.strictEqual(
      said().at(-1),
      "prefstream: the grace period is over; left unfinished: 3 requests; the next run continues where this one stopped",
    )
  })

  clockTest("a second one ends it at once, with the status of the first", function* () {
    const { said, send, status } = yield* supervised(finishing(yield* Latch.make()))
    yield* send("SIGTERM")
    yield* TestClock.adjust("1 second")
    yield* send("SIGINT")
    assert.strictEqual(yield* status, 143)
    assert.match(said().at(-1)!, /SIGINT: ended immediately; left unfinished: 3 requests;/)
  })

  clockTest("that npm or a terminal delivers twice is one", function* () {
    const { fiber, send, status } = yield* supervised(finishing(yield* Latch.make()))
    yield* send("SIGINT")
    yield* send("SIGINT")
    yield* TestClock.adjust("499 millis")
    yield* send("SIGINT")
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    yield* send("SIGINT")
    assert.strictEqual(yield* status, 130)
  })

  clockTest("is the normal end of what has no end of its own; but not of what it is doing just then", function* () {
    const server = yield* supervised(Stop.withOptions({ isNormalEnd: true })(Effect.never))
    yield* server.send("SIGTERM")
    assert.strictEqual(yield* server.status, 0)
    assert.deepStrictEqual(server.said(), ["prefstream: stopped"])
    const atWork = yield* supervised(
      Effect.never.pipe(Stop.withOptions({ isNormalEnd: false }), Stop.withOptions({ isNormalEnd: true })),
    )
    yield* atWork.send("SIGTERM")
    assert.strictEqual(yield* atWork.status, 143)
  })

  clockTest("is not held up by a command that can't say what is under way", function* () {
    const mute: Effect.Effect<Option.Option<string>> = Effect.never
    const { said, send, status } = yield* supervised(
      Effect.uninterruptible(Effect.never).pipe(Stop.withOptions({ inFlight: mute, grace: Duration.seconds(3) })),
    )
    yield* send("SIGTERM")
    yield* TestClock.adjust("6 seconds")
    assert.strictEqual(yield* status, 143)
    assert.match(said()[0]!, /waiting for work in flight to finish/)
  })

  clockTest("does not hide a failure that stopping brought about", function* () {
    const { fiber, send } = yield* supervised(
      Effect.never.pipe(Effect.onInterrupt(() => Effect.die("a bug in what is done at the end"))),
    )
    yield* send("SIGTERM")
    const exit = yield* Fiber.await(fiber)
    assert(Exit.isFailure(exit))
    assert.include(String(exit.cause), "a bug in what is done at the end")
  })
})
