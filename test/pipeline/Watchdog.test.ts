import { assert, describe } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { clockTest } from "../support/job.ts"
import { watch } from "../../src/pipeline/Watchdog.ts"

/** A worker whose requests, answers and due tasks the test says, and those of others. */
const watched = Effect.fnUntraced(function* (isDue: Effect.Effect<boolean>) {
  const state = { requests: 0, answers: 0, isDue, othersAnsweredAt: 0, answeredAt: 0, progressedAt: 0 }
  const fiber = yield* Effect.forkChild(
    Effect.flip(
      watch({
        done: state,
        isDue: Effect.suspend(() => state.isDue),
        othersAnsweredWithin: (millis) =>
          Effect.map(Clock.currentTimeMillis, (now) => state.othersAnsweredAt > now - millis),
        limit: Duration.minutes(25),
        onCheck: (answeredAt, progressedAt) => void Object.assign(state, { answeredAt, progressedAt }),
      }),
    ),
  )
  return { state, fiber }
})

const isAlive = (fiber: Fiber.Fiber<unknown, unknown>) => fiber.pollUnsafe() === undefined

const hours = (count: number) => Duration.toMillis(Duration.hours(count))

describe("a worker", () => {
  clockTest("that is answered goes on, however much is due, and one with nothing to do, however long", function* () {
    const { fiber, state } = yield* watched(Effect.succeed(true))
    for (let i = 0; i < 6; i++) {
      state.requests++
      state.answers++
      yield* TestClock.adjust("20 minutes")
    }
    assert.isTrue(isAlive(fiber))
    state.isDue = Effect.succeed(false)
    yield* TestClock.adjust("3 days")
    assert.isTrue(isAlive(fiber))
    assert.strictEqual(state.progressedAt, hours(3 * 24 + 2))
    assert.isBelow(state.answeredAt, hours(2))
  })

  for (const [what, isDue] of [
    ["sends nothing though tasks are due", Effect.succeed(true)],
    ["hears nothing of its ledger", Effect.never],
  ] as const) {
    clockTest(`that ${what} is stalled after the limit, and says for how long`, function* () {
      const { fiber, state } = yield* watched(Effect.succeed(false))
      yield* TestClock.adjust("1 hour")
      state.isDue = isDue
      yield* TestClock.adjust("24 minutes")
      assert.isTrue(isAlive(fiber))
      yield* TestClock.adjust("3 minutes")
      const failure = yield* Fiber.join(fiber)
      assert(failure._tag === "WorkerStalled")
      assert.match(failure.message, /^for 25m.*, nothing was sent or polled/)
      assert.strictEqual(state.progressedAt, hours(1))
    })
  }

  clockTest(
    "whose requests fail waits while those of others do, and is stalled once the others are answered",
    function* () {
      const { fiber, state } = yield* watched(Effect.succeed(true))
      const sendFor = Effect.fnUntraced(function* (minutes: number) {
        for (let i = 0; i < minutes; i++) {
          state.requests++
          yield* TestClock.adjust("1 minute")
        }
      })
      yield* sendFor(10)
      // The last answers before the service was down.
      state.answers++
      state.othersAnsweredAt = yield* Clock.currentTimeMillis
      yield* sendFor(120)
      assert.isTrue(isAlive(fiber))
      // It answered others for a while, and they have nothing more to send.
      state.othersAnsweredAt = yield* Clock.currentTimeMillis
      yield* sendFor(1)
      const failure = yield* Fiber.join(fiber)
      assert(failure._tag === "WorkerStalled")
      assert.match(
        failure.message,
        /^the service has not answered this worker for 2h.*, but has answered other workers/,
      )
    },
  )

  clockTest("whose machine slept for hours goes on when it wakes", function* () {
    const clock = yield* Clock.Clock
    let slept = 0
    // A test's clock goes through all that is to happen meanwhile, and a machine that sleeps does not.
    const jumping: Clock.Clock = Object.assign(Object.create(clock), {
      currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + slept),
    })
    const { fiber, state } = yield* watched(Effect.succeed(true)).pipe(Effect.provideService(Clock.Clock, jumping))
    yield* TestClock.adjust("1 minute")
    slept = hours(3)
    yield* TestClock.adjust("1 minute")
    assert.isTrue(isAlive(fiber))
    state.requests++
    state.answers++
    yield* TestClock.adjust("1 minute")
    assert.isAtLeast(state.progressedAt, hours(3))
  })
})
