import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { watch } from "../../src/pipeline/Watchdog.ts"

/** A worker whose requests and due tasks the test says. */
const watched = Effect.fnUntraced(function* (isDue: Effect.Effect<boolean>) {
  const state = { requests: 0, isDue, progressedAt: 0 }
  const fiber = yield* Effect.forkChild(
    Effect.flip(
      watch({
        requests: () => state.requests,
        isDue: Effect.suspend(() => state.isDue),
        limit: Duration.minutes(25),
        onProgress: (now) => void (state.progressedAt = now),
      }),
    ),
  )
  return { state, fiber }
})

const isAlive = (fiber: Fiber.Fiber<unknown, unknown>) => fiber.pollUnsafe() === undefined

describe("a worker", () => {
  it.effect("that sends goes on, however much is due, and one with nothing to do, however long", () =>
    Effect.gen(function* () {
      const { fiber, state } = yield* watched(Effect.succeed(true))
      for (let i = 0; i < 6; i++) {
        state.requests++
        yield* TestClock.adjust("20 minutes")
      }
      assert.isTrue(isAlive(fiber))
      state.isDue = Effect.succeed(false)
      yield* TestClock.adjust("3 days")
      assert.isTrue(isAlive(fiber))
      assert.strictEqual(state.progressedAt, Duration.toMillis("3 days") + Duration.toMillis("2 hours"))
    }),
  )

  for (const [what, isDue] of [
    ["sends nothing though tasks are due", Effect.succeed(true)],
    ["hears nothing of its ledger", Effect.never],
  ] as const) {
    it.effect(`that ${what} is stalled after the limit, and says for how long`, () =>
      Effect.gen(function* () {
        const { fiber, state } = yield* watched(Effect.succeed(false))
        yield* TestClock.adjust("1 hour")
        state.isDue = isDue
        yield* TestClock.adjust("24 minutes")
        assert.isTrue(isAlive(fiber))
        yield* TestClock.adjust("3 minutes")
        const failure = yield* Fiber.join(fiber)
        assert(failure._tag === "WorkerStalled")
        assert.match(failure.message, /^nothing was sent or polled for 25m/)
        assert.strictEqual(state.progressedAt, Duration.toMillis("1 hour"))
      }),
    )
  }
})
