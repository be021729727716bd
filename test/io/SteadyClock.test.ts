import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as SteadyClock from "../../src/io/SteadyClock.ts"
import * as WallClock from "../support/wallClock.ts"
import { effectTest } from "../support/effectTest.ts"

const test = effectTest(it.effect)

test("SteadyClock goes on where the wall clock is set back, and follows it forward", function* () {
  const wall = yield* WallClock.make
  const now = wall.provide(SteadyClock.now)
  const start = yield* now
  const since = Effect.map(now, (time) => time - start)
  yield* TestClock.adjust("10 seconds")
  assert.strictEqual(yield* since, 10_000)
  wall.setBack(3_600_000)
  assert.strictEqual(yield* since, 10_000)
  yield* TestClock.adjust("10 seconds")
  assert.strictEqual(yield* since, 20_000)
  wall.setForward(3_600_000 + 5_000)
  assert.strictEqual(yield* since, 25_000)
  wall.setBack(1)
  yield* TestClock.adjust("1 seconds")
  assert.strictEqual(yield* since, 26_000)
})
