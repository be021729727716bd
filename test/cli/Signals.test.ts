/** What `Stopping.test.ts` cannot see of a real process: see there for the rest. */
import { Console as NodeConsole } from "node:console"
import { Writable } from "node:stream"
import { assert, describe } from "@effect/vitest"
import { Console, Duration, Effect, Exit, Fiber, type Option, Queue } from "effect"
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

/** A command that cannot be broken off. */
const finishing = Effect.uninterruptible(Effect.never)
const requests = Stop.withOptions({ inFlight: Effect.succeedSome("3 requests") })

describe("a signal", () => {
  clockTest("a second one ends it at once, with the status of the first", function* () {
    const { said, send, status } = yield* supervised(requests(finishing))
    yield* send("SIGTERM")
    yield* TestClock.adjust("1 second")
    yield* send("SIGINT")
    assert.strictEqual(yield* status, 143)
    assert.match(said().at(-1)!, /SIGINT: ended immediately; left unfinished: 3 requests;/)
  })

  clockTest("that npm or a terminal delivers twice is one", function* () {
    const { fiber, send, status } = yield* supervised(requests(finishing))
    yield* send("SIGINT")
    yield* send("SIGINT")
    yield* TestClock.adjust("499 millis")
    yield* send("SIGINT")
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    yield* send("SIGINT")
    assert.strictEqual(yield* status, 130)
  })

  clockTest("is not held up by a command that can't say what is under way", function* () {
    const mute: Effect.Effect<Option.Option<string>> = Effect.never
    const { said, send, status } = yield* supervised(
      Stop.withOptions({ inFlight: mute, grace: Duration.seconds(3) })(finishing),
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
