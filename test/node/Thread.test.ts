/** A stage in a thread of its own, and the same stage in this thread: the same answers and failures. */
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import type { Worker } from "node:worker_threads"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Scope } from "effect"
import * as Thread from "../../src/node/Thread.ts"
import type { EchoAsk, EchoSetup } from "./fixtures/EchoStage.ts"
import { column } from "../support/columns.ts"
import { watched } from "../support/threads.ts"
import { fixture } from "./support.ts"

const echoStage = {
  path: "../test/node/fixtures/EchoStage",
  load: () => import("./fixtures/EchoStage.ts"),
} satisfies Thread.StageModule<EchoSetup, EchoAsk, unknown>

/** The threads that were started in this test. */
let workers: Array<Worker> = []
let unwatch = () => {}

beforeAll(() => {
  unwatch = watched((worker) => workers.push(worker))
})
afterAll(() => unwatch())
beforeEach(() => {
  workers = []
})

const missing = "/nowhere/at/all"

const make = Effect.fnUntraced(function* (setup: EchoSetup = {}, ahead = 2) {
  const answers: Array<unknown> = []
  const thread = yield* Thread.make(echoStage, setup, { ahead, onAnswer: (answer) => void answers.push(answer) })
  // From here on it has a thread, if it gets one.
  yield* thread.room
  return { ...thread, answers }
})

/** The typed failure of an effect. */
const failureOf = (effect: Effect.Effect<void, Thread.ThreadFailed>) =>
  Effect.map(Effect.orDie(Effect.flip(effect)), ({ cause, message }) => ({
    cause: cause as NodeJS.ErrnoException,
    message,
  }))

/** The defect of an effect. */
const defectOf = (effect: Effect.Effect<void, Thread.ThreadFailed>) =>
  Effect.map(Effect.exit(effect), (exit) => {
    assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    return Exit.isFailure(exit) ? (Cause.squash(exit.cause) as Error) : new Error("no failure")
  })

describe.each([true, false])("a stage, in a thread: %s", (isInThread) => {
  const live = (name: string, body: () => Effect.fn.Return<void, Thread.ThreadFailed, Scope.Scope>) =>
    it.live(name, () => Effect.provideService(Effect.gen(body), Thread.Threads, isInThread ? "always" : "never"))

  live("answers in order, in the thread that it is to run in", function* () {
    const { answers, drain, room, send } = yield* make()
    const expected: Array<unknown> = [isInThread ? "a thread" : "this thread"]
    send("place")
    for (let i = 0; i < 200; i++) {
      yield* room
      const value = { i, text: "é😀".repeat(i), bytes: Uint8Array.of(i) }
      send({ echo: value })
      expected.push(value)
    }
    yield* drain
    assert.deepStrictEqual(answers, expected)
    assert.strictEqual(workers.length, isInThread ? 1 : 0)
  })

  live("hands over buffers, and gets them back", function* () {
    const { answers, drain, send } = yield* make()
    const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => i)
    const { buffer } = bytes
    send({ bytes }, [buffer])
    assert.strictEqual(buffer.byteLength, isInThread ? 0 : 100_000)
    yield* drain
    assert.deepStrictEqual(answers, [Uint8Array.from({ length: 100_000 }, (_, i) => i)])
  })

  live("waits for room while as many messages as allowed have no answer", function* () {
    const { answers, drain, room, send } = yield* make({}, 3)
    for (let sent = 0; sent < 20; sent++) {
      yield* room
      assert.isBelow(sent - answers.length, 3)
      send(sent % 5 === 0 ? { spinMillis: 20 } : { echo: sent })
      if (isInThread) assert.isAbove(sent + 1 - answers.length, 0)
    }
    yield* drain
    assert.strictEqual(answers.length, 20)
  })

  live("wakes all that wait", function* () {
    const { drain, room, send } = yield* make({}, 1)
    send({ spinMillis: 50 })
    yield* Effect.all([room, drain, room, drain], { concurrency: "unbounded" })
  })

  for (const [when, setup, ask] of [
    ["at a message", {}, { file: missing }],
    ["at the stage's start", { file: missing }, { echo: 1 }],
  ] as const) {
    live(`tells of an error of the system ${when}, with its code and path`, function* () {
      const { drain, room, send } = yield* make(setup)
      send(ask)
      for (const effect of [drain, room]) {
        const { cause, message } = yield* failureOf(effect)
        assert.instanceOf(cause, Error)
        assert.deepInclude(cause, { code: "ENOENT", path: missing, syscall: "open" })
        assert.strictEqual(message, `ENOENT: no such file or directory, open '${missing}'`)
      }
    })
  }

  live("dies of a bug, with the stage's stack", function* () {
    const { drain, send } = yield* make()
    send({ bug: "not so" })
    const defect = yield* defectOf(drain)
    assert.strictEqual(defect.message, "not so")
    assert.match(defect.stack!, /TypeError: not so\n.*EchoStage\.ts:\d+/)
  })

  live("dies where an answer is not taken, whatever the reason", function* () {
    const { drain, send } = yield* Thread.make(
      echoStage,
      {},
      {
        ahead: 1,
        onAnswer: () => {
          throw Object.assign(new Error("no place"), { code: "ENOSPC", syscall: "write" })
        },
      },
    )
    send({ echo: 1 })
    assert.strictEqual((yield* defectOf(drain)).message, "no place")
  })

  const afterFailure = "works on no message after a failure, gives no answer, and stays with the first failure"
  live(afterFailure, function* () {
    const count = new SharedArrayBuffer(4)
    const scope = yield* Scope.make()
    const { answers, drain, room, send } = yield* Scope.provide(make({ count }), scope)
    send({ echo: 1 })
    send({ file: missing })
    send({ echo: 2 })
    send({ bug: "later" })
    assert.strictEqual((yield* failureOf(drain)).cause.code, "ENOENT")
    send({ echo: 3 })
    // Time for answers that should not come.
    yield* Effect.sleep(50)
    assert.strictEqual((yield* failureOf(room)).cause.code, "ENOENT")
    assert.strictEqual((yield* failureOf(drain)).cause.code, "ENOENT")
    yield* Scope.close(scope, Exit.void)
    assert.deepStrictEqual(answers, [1])
    assert.strictEqual(new Int32Array(count)[0], 2)
  })

  live("can be waited for again after an interruption", function* () {
    const { answers, drain, room, send } = yield* make({}, 1)
    send({ spinMillis: 100 })
    for (const effect of [room, drain]) {
      const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
      yield* Fiber.interrupt(fiber)
    }
    assert.deepStrictEqual(answers, isInThread ? [] : [100])
    yield* room
    assert.deepStrictEqual(answers, [100])
  })

  live("ends with the scope, in the middle of a message, too", function* () {
    const exits: Array<unknown> = []
    for (const spinMillis of isInThread ? [undefined, 600_000] : [undefined]) {
      const scope = yield* Scope.make()
      const { drain, send } = yield* Scope.provide(make(), scope)
      send({ echo: 1 })
      yield* drain
      if (spinMillis !== undefined) send({ spinMillis })
      workers.at(-1)?.on("exit", () => exits.push(spinMillis))
      assert.strictEqual(exits.length, workers.length - (isInThread ? 1 : 0))
      yield* Scope.close(scope, Exit.void)
    }
    assert.deepStrictEqual(exits, isInThread ? [undefined, 600_000] : [])
  })
})

describe("a thread", () => {
  const threaded = Effect.provideService(Thread.Threads, "always")

  it.live("that is killed fails what waits and what comes later", () =>
    Effect.gen(function* () {
      const { answers, drain, room, send } = yield* make({}, 1)
      send({ spinMillis: 600_000 })
      const waiting = yield* Effect.forkChild(Effect.all([failureOf(room), failureOf(drain)], { concurrency: 2 }))
      yield* Effect.sleep(50)
      const [worker] = workers
      yield* Effect.promise(() => worker!.terminate())
      const ended = "the thread ../test/node/fixtures/EchoStage ended before its work was done"
      assert.deepStrictEqual(column(yield* Fiber.join(waiting), "message"), [ended, ended])
      send({ echo: 1 })
      assert.strictEqual((yield* failureOf(drain)).message, ended)
      assert.strictEqual((yield* failureOf(room)).message, ended)
      assert.deepStrictEqual(answers, [])
    }).pipe(Effect.scoped, threaded),
  )

  it.live("that is killed before its first message fails it", () =>
    Effect.gen(function* () {
      const { drain, send } = yield* make()
      const [worker] = workers
      yield* Effect.promise(() => once(worker!, "online"))
      yield* Effect.promise(() => worker!.terminate())
      send({ echo: 1 })
      assert.include((yield* failureOf(drain)).message, "ended before its work was done")
    }).pipe(Effect.scoped, threaded),
  )

  it.live("whose fiber is interrupted while it waits has ended", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(
        Effect.scoped(
          Effect.gen(function* () {
            const { drain, send } = yield* make()
            send({ spinMillis: 600_000 })
            yield* drain
          }),
        ),
        { startImmediately: true },
      )
      const [worker] = workers
      let hasEnded = false
      worker!.on("exit", () => (hasEnded = true))
      yield* Effect.sleep(50)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(hasEnded)
    }).pipe(threaded),
  )
})

it.live("a stage with a few messages, for which nobody waited, runs in this thread", () =>
  Effect.gen(function* () {
    const answers: Array<unknown> = []
    const thread = yield* Thread.make(echoStage, {}, { ahead: 2, onAnswer: (answer) => void answers.push(answer) })
    thread.send({ echo: 1 })
    thread.send("place")
    yield* thread.drain
    assert.deepStrictEqual(answers, [1, "this thread"])
    assert.lengthOf(workers, 0)
  }).pipe(Effect.scoped, Effect.provideService(Thread.Threads, "large")),
)

describe("Threads", () => {
  it.each([
    ["0", "this thread"],
    ["1", "a thread"],
  ])("PREFSTREAM_THREADS=%s: the stage runs in %s", (value, place) => {
    const env = { ...process.env, PREFSTREAM_THREADS: value }
    const output = execFileSync(process.execPath, ["--no-warnings", fixture("echoPlace.ts")], { encoding: "utf8", env })
    assert.strictEqual(output, `${place}\n`)
  })

  it("a program that is an argument, with its type, has threads", () => {
    const program = `await import(${JSON.stringify(fixture("echoPlace.ts"))})`
    const args = ["--no-warnings", "--input-type=module", "--eval", program]
    const env = { ...process.env, PREFSTREAM_THREADS: "1" }
    assert.strictEqual(execFileSync(process.execPath, args, { encoding: "utf8", env }), "a thread\n")
  })
})
